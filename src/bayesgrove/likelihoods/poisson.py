"""Columns of counts with a gamma prior on their mean.

Per column, mean ~ Gamma(shape, rate). A row of statistics holds [count, sum, sum of lgamma(x + 1)] of each
column: log marginal = lgamma(shape + sum) - lgamma(shape) + shape log(rate) - (shape + sum) log(rate + count)
- sum lgamma(x + 1).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import (
    Encoding,
    Likelihood,
    column_moments,
    per_column_numbers,
    plain,
    refuse_uncountable,
)
from bayesgrove.likelihoods.counts import digamma_rise, merge_sums
from bayesgrove.stats.special import log_rising

HYPER = (("shape", 1e-3, 1e3), ("rate", 1e-3, 1e3))
COUNT, SUM, LOG_FACTORIALS = 0, 1, 2
WIDTH = 3


class PoissonPrior(NamedTuple):
    """Gamma numbers, one per column."""

    shape: np.ndarray
    rate: np.ndarray


@kernel
def add_count(row, at, x):
    """Count one cell; a NaN is not counted."""
    if not math.isnan(x):
        row[at + COUNT] += 1.0
        row[at + SUM] += x
        row[at + LOG_FACTORIALS] += math.lgamma(x + 1.0)


@kernel
def remove_count(row, at, x):
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


@kernel
def poisson_log_predictive(row, at, x, shape, rate):
    """Negative binomial: the marginal of one cell under the posterior's numbers."""
    shape, rate = shape + row[at + SUM], rate + row[at + COUNT]
    return gamma_log_marginal(1.0, x, shape, rate) - math.lgamma(x + 1.0)


@kernel
def poisson_log_marginal(row, at, shape, rate):
    """Log marginal of one column."""
    return gamma_log_marginal(row[at + COUNT], row[at + SUM], shape, rate) - row[at + LOG_FACTORIALS]


@kernel
def poisson_log_gradient(row, at, shape, rate):
    """Derivatives of the log marginal by log shape and log rate."""
    n, total = row[at + COUNT], row[at + SUM]
    by_shape = digamma_rise(shape, total) - shape * math.log1p(n / rate)
    return by_shape, shape - (shape + total) * rate / (rate + n)


@kernel
def poisson_draw_mean(rng, row, at, shape, rate):
    """Draw the mean of one column from the posterior."""
    return rng.gamma(shape + row[at + SUM], 1.0) / (rate + row[at + COUNT])


@contract.n_stats.register(PoissonPrior)
def n_stats(prior):
    """Count, sum and log factorials of each column."""
    return WIDTH * prior.shape.size


@contract.add.register(PoissonPrior)
def add(prior, row, x):
    """Count each observed cell."""
    for j in range(x.size):
        add_count(row, WIDTH * j, x[j])


@contract.remove.register(PoissonPrior)
def remove(prior, row, x):
    """Take the cells out of the sums."""
    for j in range(x.size):
        remove_count(row, WIDTH * j, x[j])


@contract.merge.register(PoissonPrior)
def merge(prior, out, a, b):
    """All statistics add."""
    merge_sums(out, a, b, 0, out.size)


@contract.log_marginal.register(PoissonPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.shape.size):
        total += poisson_log_marginal(row, WIDTH * j, prior.shape[j], prior.rate[j])
    return total


@contract.log_predictive.register(PoissonPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            total += poisson_log_predictive(row, WIDTH * j, x[j], prior.shape[j], prior.rate[j])
    return total


@contract.log_gradient.register(PoissonPrior)
def log_gradient(prior, row, out):
    """By log shape and log rate, summed over columns."""
    for j in range(prior.shape.size):
        by_shape, by_rate = poisson_log_gradient(row, WIDTH * j, prior.shape[j], prior.rate[j])
        out[0] += by_shape
        out[1] += by_rate


@contract.n_params.register(PoissonPrior)
def n_params(prior):
    """The mean of each column."""
    return prior.shape.size


@contract.draw_params.register(PoissonPrior)
def draw_params(prior, rng, row, out):
    """Gamma draws."""
    for j in range(prior.shape.size):
        out[j] = poisson_draw_mean(rng, row, WIDTH * j, prior.shape[j], prior.rate[j])


@contract.draw_data.register(PoissonPrior)
def draw_data(prior, rng, params, out):
    """One Poisson number per column."""
    for j in range(out.size):
        out[j] = float(rng.poisson(params[j]))


@contract.hyper.register(PoissonPrior)
def hyper(prior):
    """Shape and rate each get one factor shared by all columns."""
    return HYPER


@contract.with_hyper.register(PoissonPrior)
def with_hyper(prior, factors):
    """Scale both arrays."""
    return PoissonPrior(prior.shape * factors[0], prior.rate * factors[1])


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
        """The prior's numbers."""
        return replace(self, shape=plain(prior.shape), rate=plain(prior.rate))
