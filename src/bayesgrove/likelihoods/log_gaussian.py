"""Positive columns whose logs are Gaussian, under the normal-gamma prior of `gaussian_diagonal`.

Per column, with y = log x, precision ~ Gamma(shape, rate), mean ~ Normal(mean, 1 / (strength * precision)) and
y ~ Normal(mean, 1 / precision). Densities are those of x: the log marginal is the Gaussian one of the logs minus their
sum, so that evidences compare with those of Gaussian columns. A row of statistics holds [count, mean and spread of the
logs, rounding].

A cell that is rounded to multiples of a step is known to within step / x on the log scale. With a `grain`, it adds
v = (step / x)^2 / 12, at most 1 / 12, to the rounding, which is part of the spread. The mean log density of cells that
are spread evenly over their rounding intervals has one more term of this order, -E log(x + u) = -log x + v / 2; it is
part of the log marginal too.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import (
    Encoding,
    Likelihood,
    RowsInBrief,
    column_moments,
    per_column_numbers,
    plain,
    refuse_cells,
    rounding_variance,
)
from bayesgrove.likelihoods.family import REAL, SPREAD, Coordinates, Family, Grained
from bayesgrove.likelihoods.gaussian_diagonal import (
    FACTORS,
    HYPER,
    LIMITS,
    assign,
    cell_draw_params,
    cell_log_gradient,
    cell_log_marginal,
    cell_log_predictive,
    coordinate,
    posterior_rate,
)
from bayesgrove.likelihoods.moments import added, merge_columns, removed

ROUNDING = 3
"""Place of the variances of the roundings, summed, after the count, mean and spread of the logs."""
WIDTH = 4
MOST_ROUNDING = 1.0 / 12.0
"""Of the log of a cell: that of the smallest multiple of the step."""
LARGEST_LOG = 700.0
"""Of a cell that is drawn or expected: exp of more is infinite."""


class LogGaussianPrior(NamedTuple):
    """Normal-gamma hyperparameters of the logs, one per column, and the variance of a cell's (not a log's) rounding."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    rate: np.ndarray
    grain: np.ndarray


@kernel
def log_rounding(x, grain):
    """Variance of the log of a rounded cell."""
    return min(grain / (x * x), MOST_ROUNDING)


@borrower
def add_log(row, at, x, fixed):
    """Put a cell in; a NaN is not counted."""
    row[at], row[at + 1], row[at + 2] = added(row[at], row[at + 1], row[at + 2], math.log(x))


@borrower
def remove_log(row, at, x, fixed):
    """Take a cell out; exact zeros when the last one leaves."""
    row[at], row[at + 1], row[at + 2] = removed(row[at], row[at + 1], row[at + 2], math.log(x))


@borrower
def add_log_rounding(row, at, x, grain):
    """Bring the rounding of a cell in."""
    if not math.isnan(x):
        row[at + ROUNDING] += log_rounding(x, grain)


@borrower
def remove_rounded_log(row, at, x, grain):
    """Take a cell and its rounding out."""
    if not math.isnan(x):
        remove_log(row, at, x, 0.0)
        row[at + ROUNDING] = max(0.0, row[at + ROUNDING] - log_rounding(x, grain)) if row[at] > 0.0 else 0.0


@borrower
def merge_logs(out, a, b, start, stop):
    """Merge the moments of the logs; all that stands after them adds."""
    merge_columns(out, a, b, start, start + ROUNDING)
    for i in range(start + ROUNDING, stop):
        out[i] = a[i] + b[i]


@borrower
def column_log_marginal(row, start, stop, p):
    """That of the logs, minus their sum."""
    n, m, rounding = row[start], row[start + 1], row[start + ROUNDING]
    own = cell_log_marginal(n, m, row[start + 2] + rounding, p[0], p[1], p[2], p[3])
    return own - n * m + 0.5 * rounding


@borrower
def grained_log_predictive(row, start, x, p, grain):
    """That of the log, minus the log; of a rounded cell, what it adds to the log marginal."""
    y, rounding = math.log(x), log_rounding(x, grain)
    spread = row[start + 2] + row[start + ROUNDING]
    own = cell_log_predictive(row[start], row[start + 1], spread, y, p[0], p[1], p[2], p[3], rounding)
    return own - y + 0.5 * rounding


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Of an exact cell."""
    return grained_log_predictive(row, start, x, p, 0.0)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log strength, log shape and log rate."""
    spread = row[start + 2] + row[start + ROUNDING]
    return cell_log_gradient(row[start], row[start + 1], spread, p[0], p[1], p[2], p[3])


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """Mean and variance of the logs."""
    spread = row[start + 2] + row[start + ROUNDING]
    out[start], out[start + 1] = cell_draw_params(rng, row[start], row[start + 1], spread, p[0], p[1], p[2], p[3])


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """The exponential of a normal number."""
    y = params[start] + math.sqrt(params[start + 1]) * rng.normal(0.0, 1.0)
    return math.exp(max(-LARGEST_LOG, min(LARGEST_LOG, y)))


@borrower
def predictive_moments(row, width, p):
    """Of a log-normal number with the expected precision: the predictive itself, a log-t, has no mean."""
    n, strength, shape = row[0], p[1] + row[0], p[2] + 0.5 * row[0]
    mean = (p[1] * p[0] + n * row[1]) / strength
    rate = posterior_rate(n, row[1], row[2] + row[ROUNDING], p[0], p[1], p[3])
    variance = rate * (strength + 1.0) / (shape * strength)
    expected = math.exp(min(mean + 0.5 * variance, 0.4 * LARGEST_LOG))
    return expected, expected * expected * math.expm1(min(variance, 0.1 * LARGEST_LOG))


def log_moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the logs of the positive cells of each column."""
    if isinstance(values, RowsInBrief):  # of which only the moments of the cells are known: as if they were log-normal
        mean, variance = values.moments
        mean = np.maximum(mean, 1e-300)
        spread = np.log1p(variance / mean**2)
        return np.log(mean) - 0.5 * spread, np.maximum(spread, 1e-6)
    with np.errstate(all="ignore"):
        return column_moments(np.log(np.where(values > 0.0, values, np.nan)))


def refuse_nonpositive(table: Table, least: str, bad: np.ndarray) -> None:
    """Refuse cells that have no log."""
    refuse_cells(table, bad, f"cells of a column on the log scale must be {least}", "Use a Gaussian likelihood.")


@dataclass(frozen=True)
class LogGaussian(Likelihood):
    """Positive columns, each with its own mean and variance of the logarithm in a cluster.

    Parameters
    ----------
    mean, strength : number, one per column, None or "auto"
        The cluster's mean of the logs is Normal(mean, variance / strength). Default the mean of the column's logs, and
        0.1.
    shape, rate : number, one per column, None or "auto"
        1 / variance of the logs is Gamma(shape, rate). Default 2, and a quarter of the variance of the column's logs.
    grain : number, one per column, or None
        The step to which cells (not their logs) are rounded; 0 takes them as exact. By default the median gap between
        the distinct values of a column where BHC learns its hyperparameters, and 0 elsewhere.

    Notes
    -----
    The predictive distribution of a cell is a log-t distribution, which has no mean. Models of views estimate a missing
    cell by the mean of the log-normal distribution with the expected precision; intervals are exact.

    Examples
    --------
    >>> from bayesgrove.likelihoods import GaussianDiagonal, log_marginal
    >>> numbers = {"mean": 0, "strength": 1, "shape": 2, "rate": 1}
    >>> round(log_marginal(LogGaussian(**numbers), [[2.0], [0.5]]), 6)  # their logs sum to 0
    -2.87108
    >>> round(log_marginal(GaussianDiagonal(**numbers), [[0.693147], [-0.693147]]), 6)
    -2.87108
    """

    learnable: ClassVar[tuple[str, ...]] = ("strength", "shape", "rate")

    mean: Any = None
    strength: Any = None
    shape: Any = None
    rate: Any = None
    grain: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are positive, or missing."""
        refuse_nonpositive(table, "positive", table.values <= 0.0)

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> LogGaussianPrior:
        """Moments of the logs where nothing is given."""
        mean, variance = log_moments(values)
        return LogGaussianPrior(
            per_column_numbers("mean", self.mean, mean, positive=False, encode=np.asarray),
            per_column_numbers("strength", self.strength, np.full(mean.size, 0.1)),
            per_column_numbers("shape", self.shape, np.full(mean.size, 2.0)),
            per_column_numbers("rate", self.rate, variance / 4),
            rounding_variance(self.grain, encoding),
        )

    def unknown_grain(self, n_columns: int) -> list[bool]:
        """All columns or none."""
        return [self.grain is None] * n_columns

    def described_by(self, prior: LogGaussianPrior, encoding: Encoding) -> "LogGaussian":
        """The prior's hyperparameters; only the grain has a unit."""
        mean, strength, shape, rate = (plain(part) for part in prior[:4])
        grain = plain(np.sqrt(12.0 * prior.grain))
        return type(self)(mean=mean, strength=strength, shape=shape, rate=rate, grain=grain)


def normals(cells: np.ndarray, mean: float, variance: float) -> list[tuple[float, float]]:
    """About the moments of the logs and the defaults."""
    centre, spread = (float(part[0]) for part in log_moments(cells.reshape(-1, 1)))
    return [
        (centre, math.sqrt(spread)),
        (math.log(0.1), SPREAD),
        (math.log(2.0), 1.0),
        (math.log(spread / 4.0), SPREAD),
    ]


COORDINATES = Coordinates(("mean", "strength", "shape", "rate"), coordinate, assign, normals, one_by_one=True)
FAMILY = Family(
    name="log-gaussian",
    prior=LogGaussianPrior,
    likelihood=LogGaussian,
    width=WIDTH,
    support=REAL,
    hyper=HYPER,
    limits=LIMITS,
    factors=FACTORS,
    signed=("mean",),
    add=add_log,
    remove=remove_log,
    merge=merge_logs,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    grained=Grained(add_log_rounding, remove_rounded_log, grained_log_predictive),
    on_logs=True,
    coordinates=COORDINATES,
)
