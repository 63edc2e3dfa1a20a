"""Gaussian rows with unknown mean and full covariance under a normal-inverse-Wishart prior.

covariance ~ InverseWishart(dof, scale), mean ~ Normal(mean, covariance / strength). A row of statistics holds
[count, mean (d), scatter (d * d)], centred. With n rows of mean m and scatter C: strength_n = strength + n,
dof_n = dof + n, scale_n = scale + C + (strength n / strength_n) (m - mean)(m - mean)', and

log marginal = -(n d / 2) log pi + lG_d(dof_n / 2) - lG_d(dof / 2) + (dof / 2) log|scale| - (dof_n / 2)
log|scale_n|
             + (d / 2) log(strength / strength_n), lG_d the log multivariate gamma function.

Rows are complete or missing as a whole (first cell NaN). Cells known to within their rounding (`grain`, the variance of
the rounding of each column) each add their grain to the diagonal of C: by Jensen's inequality a lower bound on the
expected log marginal of the cells before they were rounded.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import (
    IN_USE,
    ContinuousLikelihood,
    Encoding,
    column_moments,
    per_column_numbers,
    plain,
    refuse_cells,
    rounding_variance,
)
from bayesgrove.likelihoods.matrices import scale_matrix
from bayesgrove.stats.dense import cholesky, difference, dot, log_determinant, solve_lower
from bayesgrove.stats.special import LOG_PI, digamma, log_multivariate_gamma_ratio

EXACT = np.zeros(0)
"""The grain of rows none of whose cells is rounded."""
ALL_COLUMNS = np.zeros(0, np.int64)


class GaussianFullPrior(NamedTuple):
    """Hyperparameters of a normal-inverse-Wishart prior: mean (d,), strength, dof > d - 1, scale (d, d).

    Made by `full_prior`, and given another scale by `with_scale`, which look after the determinant.
    """

    mean: np.ndarray
    strength: float
    dof: float
    scale: np.ndarray
    log_determinant: float
    """Of the scale, so that a log marginal factors one matrix instead of two."""
    grain: np.ndarray
    """(d,) variance of a cell's rounding; empty where all cells are exact."""
    columns: np.ndarray
    """(d,) columns of the table that rows are made of; empty where all are."""


def full_prior(
    mean: np.ndarray,
    strength: float,
    dof: float,
    scale: np.ndarray,
    grain: np.ndarray = EXACT,
    columns: np.ndarray = ALL_COLUMNS,
) -> GaussianFullPrior:
    """A prior of these hyperparameters."""
    return with_scale(GaussianFullPrior(mean, strength, dof, scale, math.nan, grain, columns), scale)


def with_scale(prior: GaussianFullPrior, scale: np.ndarray) -> GaussianFullPrior:
    """The prior with another scale matrix."""
    return prior._replace(scale=scale, log_determinant=float(np.linalg.slogdet(scale)[1]))


@kernel
def cells_in_use(prior, x):
    """The cells of a row that belong to it."""
    if prior.columns.size == 0:
        return x
    out = np.empty(prior.columns.size)
    for i in range(out.size):
        out[i] = x[prior.columns[i]]
    return out


@kernel
def full_scale(row, mean, strength, scale):
    """scale_n of the module's formula."""
    n, size = row[0], mean.size
    weight = strength * n / (strength + n)
    out = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            pull = weight * (row[1 + i] - mean[i]) * (row[1 + j] - mean[j])
            out[i, j] = scale[i, j] + row[1 + size + i * size + j] + pull
    return out


@kernel
def full_mean(row, mean, strength):
    """Posterior mean."""
    out = np.empty(mean.size)
    for i in range(mean.size):
        out[i] = (strength * mean[i] + row[0] * row[1 + i]) / (strength + row[0])
    return out


@borrower
def shift_scatter(row, delta, weight):
    """Add weight * delta delta' to the scatter."""
    size = delta.size
    for i in range(size):
        for j in range(size):
            row[1 + size + i * size + j] += weight * delta[i] * delta[j]


@borrower
def shift_diagonal(row, grain, weight):
    """Add weight * grain to the diagonal of the scatter."""
    size = grain.size
    for i in range(size):
        row[1 + size + i * size + i] += weight * grain[i]


@borrower
def clear_from(row, start):
    """Zeros from `start` on."""
    for i in range(start, row.size):
        row[i] = 0.0


@contract.n_stats.register(GaussianFullPrior)
def n_stats(prior):
    """Count, mean and scatter."""
    return 1 + prior.mean.size + prior.mean.size**2


@contract.add.register(GaussianFullPrior)
def add(prior, row, x):
    """Welford's update of mean and scatter."""
    x = cells_in_use(prior, x)
    if math.isnan(x[0]):
        return
    row[0] += 1.0
    delta = difference(x, 0, row[1 : 1 + x.size])
    for i in range(x.size):
        row[1 + i] += delta[i] / row[0]
    shift_scatter(row, delta, (row[0] - 1.0) / row[0])
    shift_diagonal(row, prior.grain, 1.0)


@contract.remove.register(GaussianFullPrior)
def remove(prior, row, x):
    """Welford's update backwards; exact zeros when the last row leaves, no scatter when one is left."""
    x = cells_in_use(prior, x)
    if math.isnan(x[0]):
        return
    row[0] -= 1.0
    if row[0] <= 0.0:
        clear_from(row, 0)
        return
    delta = difference(x, 0, row[1 : 1 + x.size])
    for i in range(x.size):
        row[1 + i] -= delta[i] / row[0]
    shift_scatter(row, delta, -(row[0] + 1.0) / row[0])
    shift_diagonal(row, prior.grain, -1.0)
    if row[0] == 1.0:
        clear_from(row, 1 + x.size)
        shift_diagonal(row, prior.grain, 1.0)


@contract.merge.register(GaussianFullPrior)
def merge(prior, out, a, b):
    """Chan, Golub and LeVeque's centred merge."""
    n_a, n_b, size = a[0], b[0], prior.mean.size
    n = n_a + n_b
    delta = difference(b, 1, a[1 : 1 + size])
    for i in range(1, 1 + size):
        out[i] = (n_a * a[i] + n_b * b[i]) / max(n, 1.0)
    for i in range(1 + size, out.size):
        out[i] = a[i] + b[i]
    shift_scatter(out, delta, n_a * n_b / max(n, 1.0))
    out[0] = n


@contract.log_marginal.register(GaussianFullPrior)
def log_marginal(prior, row):
    """The module's formula."""
    n, size = row[0], prior.mean.size
    if n == 0.0:
        return 0.0
    dof_n = prior.dof + n
    after = log_determinant(full_scale(row, prior.mean, prior.strength, prior.scale))
    return (
        log_multivariate_gamma_ratio(0.5 * prior.dof, n, size)
        + 0.5 * (prior.dof * prior.log_determinant - dof_n * after)
        - 0.5 * size * (n * LOG_PI + math.log1p(n / prior.strength))
    )


@contract.log_predictive.register(GaussianFullPrior)
def log_predictive(prior, row, x):
    """Multivariate t density, by the determinant of a rank-one change; of a rounded row, the bound of the marginal."""
    x = cells_in_use(prior, x)
    if math.isnan(x[0]):
        return 0.0
    size, strength_n, dof_n = x.size, prior.strength + row[0], prior.dof + row[0]
    factor = full_scale(row, prior.mean, prior.strength, prior.scale)
    log_widening = 0.0
    if prior.grain.size > 0:
        wide = factor.copy()
        for i in range(size):
            wide[i, i] += prior.grain[i]
        log_widening = cholesky(factor)
        factor = wide
    log_determinant = cholesky(factor)
    if prior.grain.size > 0:
        log_widening -= log_determinant
    distance = solve_lower(factor, difference(x, 0, full_mean(row, prior.mean, prior.strength)))
    return (
        math.lgamma(0.5 * (dof_n + 1.0))
        - math.lgamma(0.5 * (dof_n + 1.0 - size))
        - 0.5 * size * (LOG_PI + math.log1p(1.0 / strength_n))
        - 0.5 * log_determinant
        - 0.5 * (dof_n + 1.0) * math.log1p(distance * strength_n / (strength_n + 1.0))
        + 0.5 * dof_n * log_widening
    )


@contract.log_gradient.register(GaussianFullPrior)
def log_gradient(prior, row, out):
    """By log strength, log dof and the log of a factor on scale."""
    n, size = row[0], prior.mean.size
    if n == 0.0:
        return
    dof_n, shrink = prior.dof + n, n / (prior.strength + n)
    before = prior.scale.copy()
    log_ratio = cholesky(before)
    after = full_scale(row, prior.mean, prior.strength, prior.scale)
    log_ratio -= cholesky(after)
    trace, rise = 0.0, 0.0
    for j in range(size):
        trace += solve_lower(after, before[:, j].copy())  # trace of scale_n^-1 scale, by their factors
        rise += digamma(0.5 * (dof_n - j)) - digamma(0.5 * (prior.dof - j))
    distance = solve_lower(after, difference(row, 1, prior.mean))
    out[0] += 0.5 * size * shrink - 0.5 * dof_n * prior.strength * shrink**2 * distance
    out[1] += 0.5 * prior.dof * (rise + log_ratio)
    out[2] += 0.5 * (size * prior.dof - dof_n * trace)


@contract.n_params.register(GaussianFullPrior)
def n_params(prior):
    """Mean and covariance."""
    return prior.mean.size + prior.mean.size**2


@contract.draw_params.register(GaussianFullPrior)
def draw_params(prior, rng, row, out):
    """Mean, then the covariance row by row.

    With L L' = scale_n and Bartlett's lower factor A of a standard Wishart, covariance = (L A'^-1)(L A'^-1)'.
    """
    size, strength_n = prior.mean.size, prior.strength + row[0]
    lower = full_scale(row, prior.mean, prior.strength, prior.scale)
    cholesky(lower)
    bartlett = np.zeros((size, size))
    for i in range(size):
        bartlett[i, i] = math.sqrt(2.0 * rng.gamma(0.5 * (prior.dof + row[0] - i), 1.0))
        for j in range(i):
            bartlett[i, j] = rng.normal(0.0, 1.0)
    factor = np.empty((size, size))  # its row i solves A @ factor[i] = lower[i]
    for i in range(size):
        for j in range(size):
            factor[i, j] = lower[i, j]
        solve_lower(bartlett, factor[i])
    noise = np.empty(size)
    for i in range(size):
        noise[i] = rng.normal(0.0, 1.0) / math.sqrt(strength_n)
    mean = full_mean(row, prior.mean, prior.strength)
    for i in range(size):
        out[i] = mean[i] + dot(factor[i], noise)
        for j in range(size):
            out[size + i * size + j] = dot(factor[i], factor[j])


@contract.draw_data.register(GaussianFullPrior)
def draw_data(prior, rng, params, out):
    """One normal vector; cells of columns that are not in use stay as they are."""
    size = prior.mean.size
    factor = params[size:].copy().reshape((size, size))
    cholesky(factor)
    noise = np.empty(size)
    for i in range(size):
        noise[i] = rng.normal(0.0, 1.0)
    for i in range(size):
        place = i if prior.columns.size == 0 else prior.columns[i]
        out[place] = params[i] + dot(factor[i], noise)


@contract.hyper.register(GaussianFullPrior)
def hyper(prior):
    """Strength, dof (which must stay above d - 1) and one factor on scale."""
    room = prior.dof - (prior.mean.size - 1)
    smallest = (prior.mean.size - 1 + min(0.1, 0.5 * room)) / prior.dof
    return (("strength", 1e-3, 1e3), ("dof", smallest, 1e2), ("scale", 1e-4, 1e2))


@contract.with_hyper.register(GaussianFullPrior)
def with_hyper(prior, factors):
    """Scale the three."""
    strength, dof = float(prior.strength * factors[0]), float(prior.dof * factors[1])
    determinant = prior.log_determinant + prior.mean.size * math.log(factors[2])
    scale = prior.scale * factors[2]
    return GaussianFullPrior(prior.mean, strength, dof, scale, determinant, prior.grain, prior.columns)


@dataclass(frozen=True)
class GaussianFull(ContinuousLikelihood):
    """Gaussian rows, each cluster with its own mean and full covariance.

    Parameters
    ----------
    mean : number, one per column, None or "auto"
        Centre of the clusters' means. Default the columns' means.
    strength : number, None or "auto"
        The cluster's mean is Normal(mean, covariance / strength). Default 0.1.
    dof, scale : number and (d, d) matrix (or the number on its diagonal), None or "auto"
        The covariance is InverseWishart(dof, scale). Default d + 2, and a quarter of the columns' variances,
        so that a quarter of them is expected within a cluster.
    grain : number, one per column, or None
        The step to which cells are rounded, as for `GaussianDiagonal`.
    columns : tuple of int, or None
        Set by models that leave out columns without information: numbers of the columns in use.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> likelihood = GaussianFull(mean=0, strength=1, dof=3, scale=[[1, 0], [0, 1]])
    >>> round(log_marginal(likelihood, [[0.0, 0.0]]), 6)  # the logarithm of 1 / (2 pi)
    -1.837877
    """

    per_column: ClassVar[bool] = False
    learnable: ClassVar[tuple[str, ...]] = ("strength", "dof", "scale")

    mean: Any = None
    strength: Any = None
    dof: Any = None
    scale: Any = None
    grain: Any = None
    columns: Any = None

    def check_cells(self, table: Table) -> None:
        """Rows are complete or missing as a whole, but for columns without any information."""
        missing = np.isnan(table.values)
        seen = ~missing.all(axis=0) if self.columns is None else np.isin(np.arange(table.n_columns), self.columns)
        partly = missing & seen & ~missing[:, seen].all(axis=1, keepdims=True)
        remedy = "Drop or fill such rows, or use GaussianDiagonal, which takes missing cells."
        refuse_cells(table, partly, "a row of GaussianFull must be complete", remedy)

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> GaussianFullPrior:
        """Moments of the columns where nothing is given."""
        used = encoding.ignored == IN_USE
        own = Encoding(*(part[used] for part in encoding))
        refuse_empty_columns(table, used)
        mean, variance = (moment[used] for moment in column_moments(values))
        dof = float(per_column_numbers("dof", self.dof, np.array(mean.size + 2.0)))
        if dof <= mean.size - 1:
            raise InvalidLikelihoodError(
                f"dof must be greater than the number of columns - 1 = {mean.size - 1}, got {dof}."
            )
        return full_prior(
            per_column_numbers("mean", self.mean, mean, positive=False, encode=own.apply),
            float(per_column_numbers("strength", self.strength, np.array(0.1))),
            dof,
            scale_matrix(self.scale, np.diag(variance / 4), own),
            EXACT if self.grain is None else rounding_variance(self.grain, own),
            ALL_COLUMNS if used.all() else np.flatnonzero(used),
        )

    def learned_columns(self, n_columns: int, free: tuple[str, ...]) -> list[bool]:
        """All or none."""
        return [bool(free)] * n_columns

    def unknown_grain(self, n_columns: int) -> list[bool]:
        """All columns or none."""
        return [self.grain is None] * n_columns

    def described_by(self, prior: GaussianFullPrior, encoding: Encoding) -> "GaussianFull":
        """The hyperparameters in the table's units."""
        own, columns = encoding, None
        if prior.columns.size:
            own, columns = Encoding(*(part[prior.columns] for part in encoding)), tuple(prior.columns.tolist())
        scale = np.ldexp(prior.scale, own.exponent + own.exponent[:, None])
        grain = plain(np.sqrt(12.0 * own.grow(prior.grain))) if prior.grain.size else None
        return GaussianFull(tuple(own.undo(prior.mean).tolist()), prior.strength, prior.dof, scale, grain, columns)


def refuse_empty_columns(table: Table, used: np.ndarray) -> None:
    """Refuse a column in use without any cell beside one that has some: no row would be complete."""
    missing = np.isnan(table.values)
    empty = missing.all(axis=0) & used
    if not (missing | ~used).all():
        bad = empty & ~missing[:, used].all(axis=1, keepdims=True)
        refuse_cells(table, bad, "a row of GaussianFull must be complete", "Leave out columns without a cell.")
