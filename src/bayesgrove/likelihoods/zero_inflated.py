"""Columns of zeros and positive numbers: a point mass at 0, and logs of the positive cells that are Gaussian.

Per column, the probability of a positive cell ~ Beta(1/2, 1/2), and positive cells are as in `log_gaussian`. A row of
statistics holds those of the positive cells and the number of zeros. With n positive cells and z zeros,

log marginal = B(1/2 + n, 1/2 + z) - B(1/2, 1/2) + the log marginal of the positive cells,

where B is the log beta function: a probability for zeros, a density for the others.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import log_gaussian
from bayesgrove.likelihoods.base import Encoding
from bayesgrove.likelihoods.counts import beta_log_marginal
from bayesgrove.likelihoods.family import REAL, Family, Grained
from bayesgrove.likelihoods.gaussian_diagonal import FACTORS, HYPER, LIMITS
from bayesgrove.likelihoods.log_gaussian import (
    COORDINATES,
    LogGaussian,
    add_log,
    add_log_rounding,
    merge_logs,
    refuse_nonpositive,
    remove_log,
    remove_rounded_log,
)

ZEROS = 4
WIDTH = 5
WEIGHT = 0.5
"""Of zeros and of positive cells: Jeffreys' prior."""


class ZeroInflatedPrior(NamedTuple):
    """Normal-gamma hyperparameters of the logs of positive cells, one per column, and the variance of a rounding."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    rate: np.ndarray
    grain: np.ndarray


@borrower
def add_cell(row, at, x, fixed):
    """Put a cell in; a NaN is not counted."""
    if x == 0.0:
        row[at + ZEROS] += 1.0
    else:
        add_log(row, at, x, fixed)


@borrower
def remove_cell(row, at, x, fixed):
    """Take a cell out."""
    if x == 0.0:
        row[at + ZEROS] -= 1.0
    else:
        remove_log(row, at, x, fixed)


@borrower
def add_rounding(row, at, x, grain):
    """Zeros are exact."""
    if x > 0.0:
        add_log_rounding(row, at, x, grain)


@borrower
def remove_rounded(row, at, x, grain):
    """Take a cell and its rounding out."""
    if x == 0.0:
        row[at + ZEROS] -= 1.0
    else:
        remove_rounded_log(row, at, x, grain)


@borrower
def column_log_marginal(row, start, stop, p):
    """The closed form of the module."""
    share = beta_log_marginal(row[start + ZEROS], row[start], WEIGHT, WEIGHT)
    return share + log_gaussian.column_log_marginal(row, start, stop, p)


@borrower
def grained_log_predictive(row, start, x, p, grain):
    """The log probability of a zero, or the log density of a positive cell."""
    own = row[start + ZEROS] if x == 0.0 else row[start]
    share = math.log((own + WEIGHT) / (row[start] + row[start + ZEROS] + 2.0 * WEIGHT))
    return share if x == 0.0 else share + log_gaussian.grained_log_predictive(row, start, x, p, grain)


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Of an exact cell."""
    return grained_log_predictive(row, start, x, p, 0.0)


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """Mean and variance of the logs, and the probability of a positive cell."""
    log_gaussian.column_draw_params(rng, row, start, stop, p, out)
    out[start + 2] = rng.beta(WEIGHT + row[start], WEIGHT + row[start + ZEROS])


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A zero, or a log-normal number."""
    positive = rng.random() < params[start + 2]
    return log_gaussian.column_draw_cell(rng, params, start, stop, p) if positive else 0.0


@borrower
def predictive_moments(row, width, p):
    """Of a number that is 0 with some probability."""
    share = (row[0] + WEIGHT) / (row[0] + row[ZEROS] + 2.0 * WEIGHT)
    mean, variance = log_gaussian.predictive_moments(row, width, p)
    return share * mean, share * (variance + (1.0 - share) * mean * mean)


@dataclass(frozen=True)
class ZeroInflated(LogGaussian):
    """Columns of zeros and positive numbers; a cluster has its own share of zeros, mean and variance of the logarithm.

    The probability of a zero has Jeffreys' prior, Beta(1/2, 1/2).

    Parameters
    ----------
    mean, strength : number, one per column, None or "auto"
        The cluster's mean of the logs of positive cells is Normal(mean, variance / strength). Default the mean of the
        logs in the column, and 0.1.
    shape, rate : number, one per column, None or "auto"
        1 / variance of these logs is Gamma(shape, rate). Default 2, and a quarter of their variance in the column.
    grain : number, one per column, or None
        The step to which positive cells are rounded; 0 takes them as exact. By default the median gap between the
        distinct values of a column where BHC learns its hyperparameters, and 0 elsewhere.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> likelihood = ZeroInflated(mean=0, strength=1, shape=2, rate=1)
    >>> round(log_marginal(likelihood, [[0], [0]]), 6)  # the logarithm of 3/8
    -0.980829
    """

    takes_sparse: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("strength", "shape", "rate")

    def check_cells(self, table: Table) -> None:
        """Cells are at least 0, or missing."""
        refuse_nonpositive(table, "at least 0", table.values < 0.0)

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> ZeroInflatedPrior:  # type: ignore[override]
        """Moments of the logs of positive cells where nothing is given."""
        return ZeroInflatedPrior(*super().prior(values, encoding, table))


FAMILY = Family(
    name="zero-inflated",
    prior=ZeroInflatedPrior,
    likelihood=ZeroInflated,
    width=WIDTH,
    support=REAL,
    hyper=HYPER,
    limits=LIMITS,
    factors=FACTORS,
    signed=("mean",),
    has_zeros=True,
    add=add_cell,
    remove=remove_cell,
    merge=merge_logs,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=log_gaussian.column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    grained=Grained(add_rounding, remove_rounded, grained_log_predictive),
    coordinates=COORDINATES,
)
