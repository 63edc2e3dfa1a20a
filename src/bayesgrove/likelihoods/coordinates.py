"""What a tree learns of a prior: log factors on its hyperparameters, column by column where columns can differ.

Columns differ in how far clusters lie apart in them, so that one factor for all would let columns of noise blur those
that tell clusters apart. Strength and rate of Gaussian columns, and every hyperparameter of a mixed table, are learned
for each column. The shape of an all-Gaussian table is shared: scores then need one logarithm for all columns. Tables of
counts share their factors, for theirs are looked up in tables of log Gamma functions that would not fit the cache.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.generic import generic
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.binomial import BinomialPrior
from bayesgrove.likelihoods.categorical import LIMITS as CATEGORICAL_LIMITS
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_gradient
from bayesgrove.likelihoods.families import FAMILIES, N_HYPER
from bayesgrove.likelihoods.gaussian_diagonal import FACTORS, LIMITS, GaussianDiagonalPrior, cell_log_gradient
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.likelihoods.moments import COUNT, MEAN, SPREAD, WIDTH
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.likelihoods.poisson import PoissonPrior


class Coordinate(NamedTuple):
    """A log factor that is learned, with its limits; the column is NULL where all columns share it."""

    name: str
    column: int
    low: float
    high: float


@generic
def coordinates(prior):
    """All coordinates of a prior, in the order of `coordinate_gradient`. Plain Python only."""


@generic
def with_coordinates(prior, factors):
    """The prior with its hyperparameters multiplied by factors (not logs). Plain Python only."""


@generic
def n_coordinates(prior):
    """Number of coordinates."""


@generic
def coordinate_gradient(prior, row, out):
    """Add to `out` the derivative of the log marginal of a cluster by each coordinate."""


def between(low: float, high: float) -> tuple[float, float]:
    """Limits of a log factor; always as far as where it starts."""
    return min(math.log(low), 0.0), max(math.log(high), 0.0)


def around(value: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Limits of a log factor on a hyperparameter that has absolute ones."""
    low, high = (limit / value for limit in limits)
    return between(low, high)


@coordinates.register(GaussianDiagonalPrior)
def diagonal_coordinates(prior):
    """Strengths, then rates, then the factor on all shapes."""
    strengths = [
        Coordinate("strength", j, *around(value, LIMITS["strength"])) for j, value in enumerate(prior.strength.tolist())
    ]
    rates = [Coordinate("rate", j, *between(*FACTORS["rate"])) for j in range(prior.rate.size)]
    return [*strengths, *rates, Coordinate("shape", NULL, *around(float(prior.shape[0]), LIMITS["shape"]))]


@with_coordinates.register(GaussianDiagonalPrior)
def diagonal_with_coordinates(prior, factors):
    """Scale the three arrays."""
    d = prior.mean.size
    return prior._replace(
        strength=prior.strength * factors[:d], rate=prior.rate * factors[d : 2 * d], shape=prior.shape * factors[2 * d]
    )


@n_coordinates.register(GaussianDiagonalPrior)
def diagonal_n_coordinates(prior):
    """Two per column and one."""
    return 2 * prior.mean.size + 1


@coordinate_gradient.register(GaussianDiagonalPrior)
def diagonal_coordinate_gradient(prior, row, out):
    """As `contract.log_gradient`, column by column."""
    mean, strength, shape, rate, _ = prior
    d = mean.size
    for j in range(d):
        n, m, spread = row[WIDTH * j + COUNT], row[WIDTH * j + MEAN], row[WIDTH * j + SPREAD]
        by_strength, by_shape, by_rate = cell_log_gradient(n, m, spread, mean[j], strength[j], shape[j], rate[j])
        out[j] += by_strength
        out[d + j] += by_rate
        out[2 * d] += by_shape


def column_limits(code: int, name: str, value: float) -> tuple[float, float]:
    """Limits of a factor on a hyperparameter of one column of a mixed table."""
    family = FAMILIES[code]
    if name in family.limits:
        return around(value, family.limits[name])
    low, high = next((low, high) for known, low, high in family.hyper if known == name)
    return between(*family.factors.get(name, (low, high)))


def column_places(prior: ColumnsPrior) -> list[tuple[int, int, str, int]]:
    """Column, family code, name and place in `params` of every learnable hyperparameter of a mixed table."""
    return [
        (j, int(code), name, FAMILIES[code].place(name))
        for j, code in enumerate(prior.family)
        for name, _, _ in FAMILIES[code].hyper
    ]


@coordinates.register(ColumnsPrior)
def mixed_coordinates(prior):
    """Column after column, named like "gaussian.rate"."""
    return [
        Coordinate(f"{FAMILIES[code].name}.{name}", j, *column_limits(code, name, float(prior.params[j, k])))
        for j, code, name, k in column_places(prior)
    ]


@with_coordinates.register(ColumnsPrior)
def mixed_with_coordinates(prior, factors):
    """Scale each column's own."""
    params = prior.params.copy()
    for factor, (j, _, _, k) in zip(factors, column_places(prior), strict=True):
        params[j, k] *= factor
    return prior._replace(params=params)


@n_coordinates.register(ColumnsPrior)
def mixed_n_coordinates(prior):
    """One to three per column."""
    total = 0
    for code in prior.family:
        total += N_HYPER[code]
    return total


@coordinate_gradient.register(ColumnsPrior)
def mixed_coordinate_gradient(prior, row, out):
    """Column after column."""
    at = 0
    for j in range(prior.family.size):
        parts = column_log_gradient(prior.family[j], row, prior.start[j], prior.start[j + 1], prior.params[j])
        for k in range(N_HYPER[prior.family[j]]):
            out[at] += parts[k]
            at += 1


def shared_coordinates(prior):
    """One factor for all columns on each hyperparameter."""
    found = []
    for name, low, high in contract.hyper(prior):
        limits = between(low, high)
        if name in CATEGORICAL_LIMITS:  # of categories and of documents
            limits = around(float(np.max(getattr(prior, name))), CATEGORICAL_LIMITS[name])
        found.append(Coordinate(name, NULL, *limits))
    return found


def shared_with_coordinates(prior, factors):
    """As `contract.with_hyper`."""
    return contract.with_hyper(prior, factors)


def shared_gradient(prior, row, out):
    """As `contract.log_gradient`."""
    contract.log_gradient(prior, row, out)


def one_coordinate(prior):
    """A pseudo-count."""
    return 1


def two_coordinates(prior):
    """Both hyperparameters of a conjugate family."""
    return 2


def three_coordinates(prior):
    """Strength, degrees of freedom and scale."""
    return 3


SHARED = {
    GaussianKnownVariancePrior: two_coordinates,
    GaussianFullPrior: three_coordinates,
    BernoulliPrior: two_coordinates,
    BinomialPrior: two_coordinates,
    CategoricalPrior: one_coordinate,
    MultinomialPrior: one_coordinate,
    PoissonPrior: two_coordinates,
}
for _kind, _count in SHARED.items():
    coordinates.register(_kind)(shared_coordinates)
    with_coordinates.register(_kind)(shared_with_coordinates)
    coordinate_gradient.register(_kind)(shared_gradient)
    n_coordinates.register(_kind)(_count)


def column_grain(cells: np.ndarray) -> float:
    """The step to which the observed cells of a column seem to be rounded: the median gap between distinct values.

    Values closer together than a billionth of their range count as one, so that rounding errors are not taken for
    steps.
    """
    values = np.unique(cells[~np.isnan(cells)])
    if values.size < 2:
        return 0.0
    gaps = np.diff(values)
    gaps = gaps[gaps > 1e-9 * (values[-1] - values[0])]
    return float(np.median(gaps))


def with_grain(prior, values: np.ndarray, is_open: tuple[bool, ...]):
    """The prior with the grain of the Gaussian columns for which it is left to the data, from some encoded rows."""
    if not any(is_open) or not isinstance(prior, GaussianDiagonalPrior | GaussianFullPrior | ColumnsPrior):
        return prior
    found = np.array([column_grain(values[:, j]) ** 2 / 12.0 if is_open[j] else 0.0 for j in range(len(is_open))])
    if isinstance(prior, GaussianFullPrior):
        return prior._replace(grain=found[prior.columns] if prior.columns.size else found)
    known = prior.grain if prior.grain.size else np.zeros(found.size)
    return prior._replace(grain=np.where(is_open, found, known))
