"""Random small tables for every scorer, and the library's greedy tree over them."""

import math

import numpy as np

from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.poisson import PoissonPrior
from conftest import COLUMNS, draw_mixed


def merges_of(prior, values, concentration=1.0, **options):
    """The library's tree over raw rows."""
    log_concentration = math.log(concentration)
    atoms = atoms_of_rows(prior, values, log_concentration)
    return agglomerate(prior, atoms, log_concentration, complete=not np.isnan(values).any(), **options)


def standard_prior(d):
    return GaussianDiagonalPrior(np.zeros(d), np.full(d, 0.1), np.full(d, 2.0), np.full(d, 0.25), np.zeros(d))


def gaussian_table(rng, n):
    d = int(rng.choice([1, 2, 3, 4, 5, 8, 9, 17, 35]))
    prior = GaussianDiagonalPrior(
        rng.normal(size=d),
        np.full(d, rng.uniform(0.05, 1)),
        np.full(d, rng.uniform(1, 3)),
        rng.uniform(0.2, 2, d),
        rng.choice([0.0, 1.0 / 12.0], d),
    )
    values = rng.normal(size=(n, d)) + 3 * rng.integers(0, 4, (n, 1))
    return prior, values.round() if rng.random() < 0.3 else values


def bernoulli_table(rng, n):
    d = int(rng.integers(1, 9))
    prior = BernoulliPrior(np.full(d, rng.choice([0.5, 1.0])), np.full(d, rng.choice([0.5, 0.7])))
    return prior, (rng.random((n, d)) < rng.choice([0.1, 0.5, 0.9], (n, 1))).astype(float)


def categorical_table(rng, n):
    sizes = rng.integers(2, 5, int(rng.integers(1, 6)))
    prior = CategoricalPrior(rng.choice([0.5, 0.8], sizes.size), np.concatenate([[0], np.cumsum(sizes)]))
    values = rng.integers(0, sizes, (n, sizes.size)).astype(float)
    return prior, np.where(rng.random(values.shape) < 0.2, np.nan, values)


def poisson_table(rng, n):
    d = int(rng.integers(1, 5))
    return PoissonPrior(np.full(d, 1.3), np.full(d, 0.4)), rng.poisson(rng.choice([1, 6], (n, 1)), (n, d)).astype(float)


def columns_table(rng, n):
    values = np.asarray(draw_mixed(rng, n), float)
    return COLUMNS, np.where(rng.random(values.shape) < 0.15, np.nan, values)


FAMILIES = {
    "gaussian": gaussian_table,
    "bernoulli": bernoulli_table,
    "categorical": categorical_table,
    "poisson": poisson_table,
    "columns": columns_table,
}
