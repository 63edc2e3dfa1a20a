"""Gaussian columns with unknown mean and variance under a normal-gamma prior, independent given the cluster.

Per column, precision ~ Gamma(shape, rate), mean ~ Normal(mean, 1 / (strength * precision)). With n cells
of mean m and sum of squared deviations SS: strength_n = strength + n, shape_n = shape + n / 2,
rate_n = rate + SS / 2 + strength n (m - mean)^2 / (2 strength_n), and

log marginal = lgamma(shape_n) - lgamma(shape) + shape log(rate) - shape_n log(rate_n)
             + (log strength - log strength_n) / 2 - n log(2 pi) / 2.

Cells that are rounded to multiples of a step are known to within that step only. With a `grain`, every observed cell
adds step^2 / 12, the variance of its rounding, to SS. By Jensen's inequality the log marginal is then at most the
expected log marginal of cells that are spread evenly over their rounding intervals, and columns of few values cannot
drive variances to 0.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import (
    ContinuousLikelihood,
    Encoding,
    column_moments,
    per_column_numbers,
    plain,
    rounding_variance,
)
from bayesgrove.likelihoods.columnwise import register_hyper
from bayesgrove.likelihoods.family import REAL, Coordinates, Family, Grained
from bayesgrove.likelihoods.family import SPREAD as LOG_SPREAD
from bayesgrove.likelihoods.moments import (
    COUNT,
    MEAN,
    SPREAD,
    WIDTH,
    add_cell,
    add_grain,
    add_grained_cells,
    merge_columns,
    remove_cell,
    remove_grained_cell,
    remove_grained_cells,
)
from bayesgrove.stats.special import LOG_2PI, digamma

HYPER = (("strength", 1e-3, 1e3), ("shape", 0.25, 16.0), ("rate", 1e-4, 1e2))
LIMITS = {"strength": (1e-4, 100.0), "shape": (0.5, 32.0)}
"""Least and largest values while a tree learns, of hyperparameters without a unit."""
FACTORS = {"rate": (0.01, 25.0)}
"""Limits of factors while a tree learns: the rate starts at a quarter of the column's variance."""


class GaussianDiagonalPrior(NamedTuple):
    """Normal-gamma hyperparameters, one per column, and the variance of a cell's rounding."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    rate: np.ndarray
    grain: np.ndarray


@kernel
def posterior_rate(n, m, spread, mean, strength, rate):
    """rate_n of the module's formula."""
    return rate + 0.5 * spread + 0.5 * strength * n / (strength + n) * (m - mean) ** 2


@kernel
def size_part(n, strength, shape):
    """The terms of the log marginal that depend on the number of cells only."""
    gammas = math.lgamma(shape + 0.5 * n) - math.lgamma(shape)
    return gammas + 0.5 * (math.log(strength) - math.log(strength + n)) - 0.5 * n * LOG_2PI


@kernel
def rate_part(n, m, spread, mean, strength, shape, rate):
    """The other terms."""
    rate_n = posterior_rate(n, m, spread, mean, strength, rate)
    return shape * math.log(rate) - (shape + 0.5 * n) * math.log(rate_n)


@kernel
def cell_log_marginal(n, m, spread, mean, strength, shape, rate):
    """Log marginal of the n observed cells of one column."""
    if n == 0.0:
        return 0.0
    return size_part(n, strength, shape) + rate_part(n, m, spread, mean, strength, shape, rate)


@kernel
def cell_log_predictive(n, m, spread, x, mean, strength, shape, rate, grain):
    """Student-t density with 2 shape_n degrees of freedom; of a rounded cell, the bound that the log marginal uses."""
    strength_n = strength + n
    mean_n = (strength * mean + n * m) / strength_n
    shape_n = shape + 0.5 * n
    rate_n = posterior_rate(n, m, spread, mean, strength, rate)
    wide = rate_n + 0.5 * grain
    scale = 2.0 * wide * (strength_n + 1.0) / strength_n  # degrees of freedom times squared scale
    density = (
        math.lgamma(shape_n + 0.5)
        - math.lgamma(shape_n)
        - 0.5 * math.log(math.pi * scale)
        - (shape_n + 0.5) * math.log1p((x - mean_n) ** 2 / scale)
    )
    return density if grain == 0.0 else density + shape_n * math.log(rate_n / wide)


@kernel
def cell_log_gradient(n, m, spread, mean, strength, shape, rate):
    """Derivatives of `cell_log_marginal` by log strength, log shape and log rate."""
    if n == 0.0:
        return 0.0, 0.0, 0.0
    shape_n = shape + 0.5 * n
    rate_n = posterior_rate(n, m, spread, mean, strength, rate)
    shrink = n / (strength + n)
    by_strength = 0.5 * shrink - shape_n / rate_n * 0.5 * strength * shrink**2 * (m - mean) ** 2
    by_shape = shape * (digamma(shape_n) - digamma(shape) + math.log(rate) - math.log(rate_n))
    by_rate = shape - shape_n * rate / rate_n
    return by_strength, by_shape, by_rate


@kernel
def cell_draw_params(rng, n, m, spread, mean, strength, shape, rate):
    """Draw (mean, variance) of one column from the posterior."""
    rate_n = posterior_rate(n, m, spread, mean, strength, rate)
    precision = rng.gamma(shape + 0.5 * n, 1.0) / rate_n
    mean_n = (strength * mean + n * m) / (strength + n)
    return mean_n + rng.normal(0.0, 1.0) / math.sqrt((strength + n) * precision), 1.0 / precision


@contract.n_stats.register(GaussianDiagonalPrior)
def n_stats(prior):
    """Count, mean and spread of each column."""
    return WIDTH * prior.mean.size


@contract.add.register(GaussianDiagonalPrior)
def add(prior, row, x):
    """Welford's update in each observed column."""
    add_grained_cells(row, x, prior.grain)


@contract.remove.register(GaussianDiagonalPrior)
def remove(prior, row, x):
    """Welford's update backwards."""
    remove_grained_cells(row, x, prior.grain)


@contract.merge.register(GaussianDiagonalPrior)
def merge(prior, out, a, b):
    """Chan, Golub and LeVeque's centred merge in each column."""
    merge_columns(out, a, b, 0, out.size)


@contract.log_marginal.register(GaussianDiagonalPrior)
def log_marginal(prior, row):
    """Sum over columns; neighbours alike in size and prior share their gamma functions."""
    mean, strength, shape, rate, _ = prior
    total, by_size, seen = 0.0, 0.0, -1
    for j in range(mean.size):
        n, m, spread = row[WIDTH * j + COUNT], row[WIDTH * j + MEAN], row[WIDTH * j + SPREAD]
        if n > 0.0:
            if seen < 0 or n != row[WIDTH * seen] or shape[j] != shape[seen] or strength[j] != strength[seen]:
                by_size, seen = size_part(n, strength[j], shape[j]), j
            total += by_size + rate_part(n, m, spread, mean[j], strength[j], shape[j], rate[j])
    return total


@contract.log_predictive.register(GaussianDiagonalPrior)
def log_predictive(prior, row, x):
    """Sum of Student-t log densities over the observed columns."""
    mean, strength, shape, rate, grain = prior
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            n, m, spread = row[WIDTH * j + COUNT], row[WIDTH * j + MEAN], row[WIDTH * j + SPREAD]
            total += cell_log_predictive(n, m, spread, x[j], mean[j], strength[j], shape[j], rate[j], grain[j])
    return total


@contract.log_gradient.register(GaussianDiagonalPrior)
def log_gradient(prior, row, out):
    """By log strength, log shape, log rate, summed over columns."""
    for j in range(prior.mean.size):
        at = WIDTH * j
        by_strength, by_shape, by_rate = cell_log_gradient(
            row[at + COUNT],
            row[at + MEAN],
            row[at + SPREAD],
            prior.mean[j],
            prior.strength[j],
            prior.shape[j],
            prior.rate[j],
        )
        out[0] += by_strength
        out[1] += by_shape
        out[2] += by_rate


@contract.n_params.register(GaussianDiagonalPrior)
def n_params(prior):
    """Mean and variance of each column."""
    return 2 * prior.mean.size


@contract.draw_params.register(GaussianDiagonalPrior)
def draw_params(prior, rng, row, out):
    """Mean and variance of each column."""
    for j in range(prior.mean.size):
        at = WIDTH * j
        out[2 * j], out[2 * j + 1] = cell_draw_params(
            rng,
            row[at + COUNT],
            row[at + MEAN],
            row[at + SPREAD],
            prior.mean[j],
            prior.strength[j],
            prior.shape[j],
            prior.rate[j],
        )


@contract.draw_data.register(GaussianDiagonalPrior)
def draw_data(prior, rng, params, out):
    """One normal number per column."""
    for j in range(out.size):
        out[j] = params[2 * j] + math.sqrt(params[2 * j + 1]) * rng.normal(0.0, 1.0)


@dataclass(frozen=True)
class GaussianDiagonal(ContinuousLikelihood):
    """Gaussian columns, each with its own mean and variance in a cluster.

    Parameters
    ----------
    mean, strength : number, one per column, None or "auto"
        The cluster's mean is Normal(mean, variance / strength). Default the column's mean, and 0.1.
    shape, rate : number, one per column, None or "auto"
        1 / variance is Gamma(shape, rate). Default 2, and a quarter of the column's variance.
    grain : number, one per column, or None
        The step to which cells are rounded; 0 takes them as exact. By default the median gap between the distinct
        values of a column where BHC learns its hyperparameters, and 0 elsewhere.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> likelihood = GaussianDiagonal(mean=0, strength=1, shape=2, rate=1)
    >>> round(log_marginal(likelihood, [[0.5], [-0.5]]), 6)
    -2.363467
    """

    learnable: ClassVar[tuple[str, ...]] = ("strength", "shape", "rate")

    mean: Any = None
    strength: Any = None
    shape: Any = None
    rate: Any = None
    grain: Any = None

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> GaussianDiagonalPrior:
        """Moments of the columns where nothing is given."""
        mean, variance = column_moments(values)
        return GaussianDiagonalPrior(
            per_column_numbers("mean", self.mean, mean, positive=False, encode=encoding.apply),
            per_column_numbers("strength", self.strength, np.full(mean.size, 0.1)),
            per_column_numbers("shape", self.shape, np.full(mean.size, 2.0)),
            per_column_numbers("rate", self.rate, variance / 4, encode=encoding.shrink),
            rounding_variance(self.grain, encoding),
        )

    def unknown_grain(self, n_columns: int) -> list[bool]:
        """All columns or none."""
        return [self.grain is None] * n_columns

    def described_by(self, prior: GaussianDiagonalPrior, encoding: Encoding) -> "GaussianDiagonal":
        """The hyperparameters in the table's units."""
        return GaussianDiagonal(
            mean=plain(encoding.undo(prior.mean)),
            strength=plain(prior.strength),
            shape=plain(prior.shape),
            rate=plain(encoding.grow(prior.rate)),
            grain=plain(np.sqrt(12.0 * encoding.grow(prior.grain))),
        )


@borrower
def column_log_marginal(row, start, stop, p):
    """`cell_log_marginal`."""
    return cell_log_marginal(row[start], row[start + 1], row[start + 2], p[0], p[1], p[2], p[3])


@borrower
def column_log_predictive(row, start, stop, x, p):
    """`cell_log_predictive` of an exact cell."""
    return cell_log_predictive(row[start], row[start + 1], row[start + 2], x, p[0], p[1], p[2], p[3], 0.0)


@borrower
def grained_log_predictive(row, start, x, p, grain):
    """`cell_log_predictive` of a rounded cell."""
    return cell_log_predictive(row[start], row[start + 1], row[start + 2], x, p[0], p[1], p[2], p[3], grain)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log strength, log shape and log rate."""
    return cell_log_gradient(row[start], row[start + 1], row[start + 2], p[0], p[1], p[2], p[3])


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """Mean and variance."""
    out[start], out[start + 1] = cell_draw_params(
        rng, row[start], row[start + 1], row[start + 2], p[0], p[1], p[2], p[3]
    )


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A normal number."""
    return params[start] + math.sqrt(params[start + 1]) * rng.normal(0.0, 1.0)


@borrower
def column_student(row, p):
    """Student's t."""
    strength, shape = p[1] + row[COUNT], p[2] + 0.5 * row[COUNT]
    mean = (p[1] * p[0] + row[COUNT] * row[MEAN]) / strength
    rate = posterior_rate(row[COUNT], row[MEAN], row[SPREAD], p[0], p[1], p[3])
    return mean, rate * (strength + 1.0) / (shape * strength), 2.0 * shape


@borrower
def predictive_moments(row, width, p):
    """Of Student's t: no variance for two degrees of freedom and fewer."""
    mean, scale, freedom = column_student(row, p)
    return mean, scale * freedom / (freedom - 2.0) if freedom > 2.0 else np.inf


@borrower
def coordinate(p, which):
    """The mean, and the logs of strength, shape and rate."""
    return p[0] if which == 0 else math.log(p[which])


@borrower
def assign(p, which, value):
    """Change one of them."""
    p[which] = value if which == 0 else math.exp(value)


def normals(cells: np.ndarray, mean: float, variance: float) -> list[tuple[float, float]]:
    """About the column's moments and the defaults."""
    return [
        (mean, math.sqrt(variance)),
        (math.log(0.1), LOG_SPREAD),
        (math.log(2.0), 1.0),
        (math.log(variance / 4.0), LOG_SPREAD),
    ]


FAMILY = Family(
    name="gaussian",
    prior=GaussianDiagonalPrior,
    likelihood=GaussianDiagonal,
    width=WIDTH,
    support=REAL,
    hyper=HYPER,
    limits=LIMITS,
    factors=FACTORS,
    signed=("mean",),
    add=add_cell,
    remove=remove_cell,
    merge=merge_columns,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    student=column_student,
    grained=Grained(add_grain, remove_grained_cell, grained_log_predictive),
    coordinates=Coordinates(("mean", "strength", "shape", "rate"), coordinate, assign, normals, one_by_one=True),
)
register_hyper(FAMILY)
