"""Columns of category codes 0 .. K - 1 with a symmetric Dirichlet prior on their probabilities.

Column j keeps its K_j counts at row[start[j]:start[j + 1]]; the log marginal stands in `counts.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.counts import (
    add_code,
    dirichlet_log_gradient,
    dirichlet_log_marginal,
    dirichlet_log_predictive,
    draw_code,
    draw_dirichlet,
    merge_sums,
    remove_code,
)

HYPER = (("pseudo_count", 1e-2, 1e3),)


class CategoricalPrior(NamedTuple):
    """The weight of every category, one number per column, and where each column's counts start."""

    pseudo_count: np.ndarray
    start: np.ndarray


@contract.n_stats.register(CategoricalPrior)
def n_stats(prior):
    """One count per category of each column."""
    return prior.start[prior.start.size - 1]


@contract.add.register(CategoricalPrior)
def add(prior, row, x):
    """Count each observed cell."""
    for j in range(x.size):
        add_code(row, prior.start[j], x[j])


@contract.remove.register(CategoricalPrior)
def remove(prior, row, x):
    """Take the cells out of the counts."""
    for j in range(x.size):
        remove_code(row, prior.start[j], x[j])


@contract.merge.register(CategoricalPrior)
def merge(prior, out, a, b):
    """Counts add."""
    merge_sums(out, a, b, 0, out.size)


@contract.log_marginal.register(CategoricalPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.pseudo_count.size):
        total += dirichlet_log_marginal(row, prior.start[j], prior.start[j + 1], prior.pseudo_count, j, 0)
    return total


@contract.log_predictive.register(CategoricalPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            start, stop = prior.start[j], prior.start[j + 1]
            total += dirichlet_log_predictive(row, start, stop, int(x[j]), prior.pseudo_count, j, 0)
    return total


@contract.log_gradient.register(CategoricalPrior)
def log_gradient(prior, row, out):
    """By log pseudo_count, summed over columns."""
    for j in range(prior.pseudo_count.size):
        out[0] += dirichlet_log_gradient(row, prior.start[j], prior.start[j + 1], prior.pseudo_count, j, 0)


@contract.n_params.register(CategoricalPrior)
def n_params(prior):
    """One probability per category of each column."""
    return prior.start[prior.start.size - 1]


@contract.draw_params.register(CategoricalPrior)
def draw_params(prior, rng, row, out):
    """Dirichlet draws."""
    for j in range(prior.pseudo_count.size):
        draw_dirichlet(rng, row, prior.start[j], prior.start[j + 1], prior.pseudo_count, j, 0, out)


@contract.draw_data.register(CategoricalPrior)
def draw_data(prior, rng, params, out):
    """One code per column."""
    for j in range(out.size):
        out[j] = draw_code(rng, params, prior.start[j], prior.start[j + 1])


@contract.hyper.register(CategoricalPrior)
def hyper(prior):
    """One factor on the weights of all columns."""
    return HYPER


@contract.with_hyper.register(CategoricalPrior)
def with_hyper(prior, factors):
    """Scale the weights."""
    return prior._replace(pseudo_count=prior.pseudo_count * factors[0])
