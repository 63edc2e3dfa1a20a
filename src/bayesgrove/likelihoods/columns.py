"""Mixed tables: every column has its own family, independent given the cluster.

The families' own scalar kernels are chosen by an integer code in a plain if-chain. Column j keeps its
statistics at row[start[j]:start[j + 1]] and its prior's numbers in params[j], in the order of the fields
of its family's prior (a categorical column has its pseudo_count there and start[j + 1] - start[j]
categories). Drawn parameters stand at the same places as the statistics; unused places are 0.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods import (
    bernoulli,
    binomial,
    categorical,
    contract,
    counts,
    gaussian_diagonal,
    gaussian_known,
    moments,
    poisson,
)

GAUSSIAN_KNOWN, GAUSSIAN, BERNOULLI, BINOMIAL, CATEGORICAL, POISSON = range(6)
N_FAMILIES = 6
N_PARAMS = 4


class Family(NamedTuple):
    """What a column's family code stands for; width 0 is one number per category."""

    name: str
    prior: Any
    width: int
    hyper: tuple[tuple[str, float, float], ...]


FAMILIES = (
    Family(
        "gaussian-known-variance",
        gaussian_known.GaussianKnownVariancePrior,
        moments.WIDTH,
        gaussian_known.HYPER,
    ),
    Family("gaussian", gaussian_diagonal.GaussianDiagonalPrior, moments.WIDTH, gaussian_diagonal.HYPER),
    Family("bernoulli", bernoulli.BernoulliPrior, bernoulli.WIDTH, bernoulli.HYPER),
    Family("binomial", binomial.BinomialPrior, binomial.WIDTH, binomial.HYPER),
    Family("categorical", categorical.CategoricalPrior, 0, categorical.HYPER),
    Family("poisson", poisson.PoissonPrior, poisson.WIDTH, poisson.HYPER),
)
N_HYPER = np.array([len(family.hyper) for family in FAMILIES])


class ColumnsPrior(NamedTuple):
    """Family code and numbers of each column, and where its statistics start."""

    family: np.ndarray
    params: np.ndarray
    start: np.ndarray


@kernel
def column_add(family, row, at, x, n_trials):
    """Put a cell, NaN or not, into the statistics of one column; `n_trials` is read where it is binomial."""
    if family in (GAUSSIAN, GAUSSIAN_KNOWN):
        row[at], row[at + 1], row[at + 2] = moments.added(row[at], row[at + 1], row[at + 2], x)
    elif family == BINOMIAL:
        binomial.add_successes(row, at, x, n_trials)
    elif family == POISSON:
        poisson.add_count(row, at, x)
    else:
        counts.add_code(row, at, x)


@kernel
def column_remove(family, row, at, x, n_trials):
    """Take a cell out of the statistics of one column."""
    if family in (GAUSSIAN, GAUSSIAN_KNOWN):
        row[at], row[at + 1], row[at + 2] = moments.removed(row[at], row[at + 1], row[at + 2], x)
    elif family == BINOMIAL:
        binomial.remove_successes(row, at, x, n_trials)
    elif family == POISSON:
        poisson.remove_count(row, at, x)
    else:
        counts.remove_code(row, at, x)


@kernel
def column_merge(family, out, a, b, start, stop):
    """Write the union of one column's statistics in two clusters to `out`, which may be `a` or `b`."""
    if family in (GAUSSIAN, GAUSSIAN_KNOWN):
        moments.merge_cells(out, a, b, start, 1)
    else:
        counts.merge_sums(out, a, b, start, stop)


@kernel
def column_log_marginal(family, row, start, stop, p):
    """Log marginal of one column; `p` holds its prior's numbers."""
    if family == GAUSSIAN_KNOWN:
        return gaussian_known.known_log_marginal(row, start, p[0], p[1], p[2])
    if family == GAUSSIAN:
        return gaussian_diagonal.cell_log_marginal(row[start], row[start + 1], row[start + 2], p[0], p[1], p[2], p[3])
    if family == BERNOULLI:
        return counts.beta_log_marginal(row[start], row[start + 1], p[0], p[1])
    if family == BINOMIAL:
        return binomial.binomial_log_marginal(row, start, p[1], p[2])
    if family == CATEGORICAL:
        return counts.dirichlet_log_marginal(row, start, stop, p, 0, 0)
    return poisson.poisson_log_marginal(row, start, p[0], p[1])


@kernel
def column_log_predictive(family, row, start, stop, x, p):
    """Log density of an observed cell in one column."""
    if family == GAUSSIAN_KNOWN:
        return gaussian_known.known_log_predictive(row, start, x, p[0], p[1], p[2])
    if family == GAUSSIAN:
        return gaussian_diagonal.cell_log_predictive(
            row[start], row[start + 1], row[start + 2], x, p[0], p[1], p[2], p[3]
        )
    if family == BERNOULLI:
        return counts.beta_log_marginal(1.0 - x, x, p[0] + row[start + 1], p[1] + row[start])
    if family == BINOMIAL:
        return binomial.binomial_log_predictive(row, start, x, p[0], p[1], p[2])
    if family == CATEGORICAL:
        return counts.dirichlet_log_predictive(row, start, stop, int(x), p, 0, 0)
    return poisson.poisson_log_predictive(row, start, x, p[0], p[1])


@kernel
def column_log_gradient(family, row, start, stop, p):
    """Derivatives by the log of each learnable number of the family; unused places are 0."""
    third = 0.0
    second = 0.0
    if family == GAUSSIAN_KNOWN:
        first, second = gaussian_known.known_log_gradient(row, start, p[0], p[1], p[2])
    elif family == GAUSSIAN:
        first, second, third = gaussian_diagonal.cell_log_gradient(
            row[start], row[start + 1], row[start + 2], p[0], p[1], p[2], p[3]
        )
    elif family == BERNOULLI:
        first, second = counts.beta_log_gradient(row[start], row[start + 1], p[0], p[1])
    elif family == BINOMIAL:
        first, second = counts.beta_log_gradient(row[start], row[start + 1], p[1], p[2])
    elif family == CATEGORICAL:
        first = counts.dirichlet_log_gradient(row, start, stop, p, 0, 0)
    else:
        first, second = poisson.poisson_log_gradient(row, start, p[0], p[1])
    return first, second, third


@kernel
def column_draw_params(rng, family, row, start, stop, p, out):
    """Draw the parameters of one column to out[start:stop]."""
    out[start:stop] = 0.0
    if family == GAUSSIAN_KNOWN:
        out[start] = gaussian_known.known_draw_mean(rng, row, start, p[0], p[1], p[2])
    elif family == GAUSSIAN:
        out[start], out[start + 1] = gaussian_diagonal.cell_draw_params(
            rng, row[start], row[start + 1], row[start + 2], p[0], p[1], p[2], p[3]
        )
    elif family == BERNOULLI:
        out[start] = rng.beta(p[0] + row[start + 1], p[1] + row[start])
    elif family == BINOMIAL:
        out[start] = rng.beta(p[1] + row[start + 1], p[2] + row[start])
    elif family == CATEGORICAL:
        counts.draw_dirichlet(rng, row, start, stop, p, 0, 0, out)
    else:
        out[start] = poisson.poisson_draw_mean(rng, row, start, p[0], p[1])


@kernel
def column_draw_cell(rng, family, params, start, stop, p):
    """Draw one cell given the column's parameters."""
    if family == GAUSSIAN_KNOWN:
        return params[start] + math.sqrt(p[0]) * rng.normal(0.0, 1.0)
    if family == GAUSSIAN:
        return params[start] + math.sqrt(params[start + 1]) * rng.normal(0.0, 1.0)
    if family == BERNOULLI:
        return 1.0 if rng.random() < params[start] else 0.0
    if family == BINOMIAL:
        return float(rng.binomial(int(p[0]), params[start]))
    if family == CATEGORICAL:
        return counts.draw_code(rng, params, start, stop)
    return float(rng.poisson(params[start]))


@kernel
def hyper_start(family):
    """Where the factors of each family present stand; one factor per family and learnable number."""
    present = np.zeros(N_FAMILIES, np.int64)
    for code in family:
        present[code] = 1
    start = np.zeros(N_FAMILIES, np.int64)
    for code in range(1, N_FAMILIES):
        start[code] = start[code - 1] + present[code - 1] * N_HYPER[code - 1]
    return start


@contract.n_stats.register(ColumnsPrior)
def n_stats(prior):
    """All columns' statistics side by side."""
    return prior.start[prior.start.size - 1]


@contract.add.register(ColumnsPrior)
def add(prior, row, x):
    """Each column's own update."""
    for j in range(x.size):
        column_add(prior.family[j], row, prior.start[j], x[j], prior.params[j, 0])


@contract.remove.register(ColumnsPrior)
def remove(prior, row, x):
    """Each column's own update backwards."""
    for j in range(x.size):
        column_remove(prior.family[j], row, prior.start[j], x[j], prior.params[j, 0])


@contract.merge.register(ColumnsPrior)
def merge(prior, out, a, b):
    """Moments merge centred, everything else adds."""
    for j in range(prior.family.size):
        column_merge(prior.family[j], out, a, b, prior.start[j], prior.start[j + 1])


@contract.log_marginal.register(ColumnsPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.family.size):
        total += column_log_marginal(prior.family[j], row, prior.start[j], prior.start[j + 1], prior.params[j])
    return total


@contract.log_predictive.register(ColumnsPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            total += column_log_predictive(
                prior.family[j], row, prior.start[j], prior.start[j + 1], x[j], prior.params[j]
            )
    return total


@contract.log_gradient.register(ColumnsPrior)
def log_gradient(prior, row, out):
    """Summed over the columns of each family."""
    at = hyper_start(prior.family)
    for j in range(prior.family.size):
        family = prior.family[j]
        first, second, third = column_log_gradient(family, row, prior.start[j], prior.start[j + 1], prior.params[j])
        out[at[family]] += first
        if N_HYPER[family] > 1:
            out[at[family] + 1] += second
        if N_HYPER[family] > 2:
            out[at[family] + 2] += third


@contract.n_params.register(ColumnsPrior)
def n_params(prior):
    """As many places as statistics."""
    return prior.start[prior.start.size - 1]


@contract.draw_params.register(ColumnsPrior)
def draw_params(prior, rng, row, out):
    """Each column's own draw."""
    for j in range(prior.family.size):
        column_draw_params(rng, prior.family[j], row, prior.start[j], prior.start[j + 1], prior.params[j], out)


@contract.draw_data.register(ColumnsPrior)
def draw_data(prior, rng, params, out):
    """One cell per column."""
    for j in range(out.size):
        out[j] = column_draw_cell(rng, prior.family[j], params, prior.start[j], prior.start[j + 1], prior.params[j])


def present_families(prior: ColumnsPrior) -> list[int]:
    """Codes of the families that occur, in order."""
    return [int(code) for code in np.unique(prior.family)]


@contract.hyper.register(ColumnsPrior)
def hyper(prior):
    """One factor per family present and learnable number, named like "gaussian.rate"."""
    return tuple(
        (f"{FAMILIES[code].name}.{name}", smallest, largest)
        for code in present_families(prior)
        for name, smallest, largest in FAMILIES[code].hyper
    )


@contract.with_hyper.register(ColumnsPrior)
def with_hyper(prior, factors):
    """Scale each family's numbers in its columns."""
    params = prior.params.copy()
    left = list(factors)
    for code in present_families(prior):
        for name, _, _ in FAMILIES[code].hyper:
            params[prior.family == code, FAMILIES[code].prior._fields.index(name)] *= left.pop(0)
    return prior._replace(params=params)
