"""Columns of counts with a gamma prior on their mean.

Per column, mean ~ Gamma(shape, rate). A row of statistics holds [count, sum, sum of lgamma(x + 1)] of each
column: log marginal = lgamma(shape + sum) - lgamma(shape) + shape log(rate) - (shape + sum) log(rate + count)
- sum lgamma(x + 1).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import (
    Encoding,
    Likelihood,
    column_moments,
    per_column_numbers,
    plain,
    refuse_uncountable,
)
from bayesgrove.likelihoods.columnwise import TABLES
from bayesgrove.likelihoods.counts import digamma_rise, merge_sums
from bayesgrove.likelihoods.family import COUNTS, SPREAD, Coordinates, Family
from bayesgrove.stats.special import log_rising

HYPER = (("shape", 1e-3, 1e3), ("rate", 1e-3, 1e3))
COUNT, SUM, LOG_FACTORIALS = 0, 1, 2
WIDTH = 3
NEGLIGIBLE = 1e-13
"""Mass of a term's predictive that is left out at the top."""


class PoissonPrior(NamedTuple):
    """Gamma numbers, one per column."""

    shape: np.ndarray
    rate: np.ndarray


@borrower
def add_count(row, at, x, fixed):
    """Count one cell, not a NaN; nothing is fixed."""
    if not math.isnan(x):
        row[at + COUNT] += 1.0
        row[at + SUM] += x
        row[at + LOG_FACTORIALS] += math.lgamma(x + 1.0)


@borrower
def remove_count(row, at, x, fixed):
    """Take a cell out; exact zeros where no cell or nothing but zeros is left."""
    if math.isnan(x):
        return
    row[at + COUNT] -= 1.0
    row[at + SUM] -= x
    row[at + LOG_FACTORIALS] -= math.lgamma(x + 1.0)
    if row[at + SUM] == 0.0:
        row[at + LOG_FACTORIALS] = 0.0


@kernel
def gamma_log_marginal(n, total, shape, rate):
    """Log marginal of n counts without their factorials."""
    return log_rising(shape, total) - shape * math.log1p(n / rate) - total * math.log(rate + n)


@dataclass(frozen=True)
class Poisson(Likelihood):
    """Columns of counts, each with its own mean in a cluster.

    Parameters
    ----------
    shape, rate : number, one per column, None or "auto"
        The mean is Gamma(shape, rate). Default shape 1 and rate 1 / (column mean).

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> round(log_marginal(Poisson(shape=1, rate=1), [[0]]), 6)  # the logarithm of 1/2
    -0.693147
    """

    takes_sparse: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("shape", "rate")

    shape: Any = None
    rate: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are whole numbers of at least 0, or missing."""
        refuse_uncountable(table, "Poisson counts")

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> PoissonPrior:
        """An exponential prior around the column's mean; around 1 where that is 0 or unknown."""
        mean, _ = column_moments(values)
        mean[mean == 0] = 1.0
        shape = per_column_numbers("shape", self.shape, np.ones(mean.size))
        return PoissonPrior(shape, per_column_numbers("rate", self.rate, 1.0 / mean))

    def described_by(self, prior: PoissonPrior, encoding: Encoding) -> "Poisson":
        """The hyperparameters."""
        return replace(self, shape=plain(prior.shape), rate=plain(prior.rate))


@borrower
def column_log_marginal(row, start, stop, p):
    """Log marginal of one column."""
    return gamma_log_marginal(row[start + COUNT], row[start + SUM], p[0], p[1]) - row[start + LOG_FACTORIALS]


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Negative binomial: the marginal of one cell under the posterior's numbers."""
    shape, rate = p[0] + row[start + SUM], p[1] + row[start + COUNT]
    return gamma_log_marginal(1.0, x, shape, rate) - math.lgamma(x + 1.0)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log shape and log rate."""
    n, total, shape, rate = row[start + COUNT], row[start + SUM], p[0], p[1]
    by_shape = digamma_rise(shape, total) - shape * math.log1p(n / rate)
    return by_shape, shape - (shape + total) * rate / (rate + n), 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The mean."""
    out[start] = rng.gamma(p[0] + row[start + SUM], 1.0) / (p[1] + row[start + COUNT])


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A Poisson number."""
    return float(rng.poisson(params[start]))


@borrower
def predictive_moments(row, width, p):
    """Of a negative binomial distribution."""
    mean = (p[0] + row[SUM]) / (p[1] + row[COUNT])
    return mean, mean * (1.0 + 1.0 / (p[1] + row[COUNT]))


@borrower
def column_n_values(log_weight, row, width, p):
    """Values 0 .. n - 1 that hold all but a negligible mass of a term.

    Beyond the mean ratios of neighbouring probabilities stay below `ratio`, so the rest is at most a geometric series.
    """
    shape, rate = p[0] + row[SUM], p[1] + row[COUNT]
    limit = 1.0 / (1.0 + rate)
    x = math.floor(shape / rate) + 1.0
    log_p = log_weight + column_log_predictive(row, 0, width, x, p)
    while True:
        ratio = max(limit, (shape + x) / (x + 1.0) * limit)
        if ratio < 1.0 and log_p - math.log(1.0 - ratio) < math.log(NEGLIGIBLE):
            return int(x)
        log_p += math.log((shape + x) / (x + 1.0) * limit)
        x += 1.0


@borrower
def coordinate(p, which):
    """log(shape / rate), log shape."""
    return math.log(p[0]) - math.log(p[1]) if which == 0 else math.log(p[0])


@borrower
def assign(p, which, value):
    """Change one of them."""
    mean = math.exp(value if which == 0 else coordinate(p, 0))
    if which == 1:
        p[0] = math.exp(value)
    p[1] = p[0] / mean


def normals(cells: np.ndarray, mean: float, variance: float) -> list[tuple[float, float]]:
    """The log mean lies about that of the column."""
    return [(math.log(mean + 0.5), SPREAD), (0.0, SPREAD)]


FAMILY = Family(
    name="poisson",
    prior=PoissonPrior,
    likelihood=Poisson,
    width=WIDTH,
    support=COUNTS,
    hyper=HYPER,
    add=add_count,
    remove=remove_count,
    merge=merge_sums,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    n_values=column_n_values,
    coordinates=Coordinates(("shape", "rate"), coordinate, assign, normals),
)
TABLES.register(FAMILY)
