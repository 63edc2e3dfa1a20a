"""Gaussian columns with a known variance and a Gaussian prior on the mean, independent given the cluster.

Per column, mean ~ Normal(prior_mean, prior_variance), x ~ Normal(mean, variance). With n cells of mean m
and sum of squared deviations SS, and wide = variance + n prior_variance:

log marginal = -n log(2 pi variance) / 2 - SS / (2 variance) + (log variance - log wide) / 2
             - n (m - prior_mean)^2 / (2 wide).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import (
    ContinuousLikelihood,
    Encoding,
    column_moments,
    per_column_numbers,
    plain,
)
from bayesgrove.likelihoods.columnwise import TABLES
from bayesgrove.likelihoods.family import REAL, Family, no_coordinates
from bayesgrove.likelihoods.moments import (
    COUNT,
    MEAN,
    SPREAD,
    WIDTH,
    add_cell,
    merge_columns,
    remove_cell,
)
from bayesgrove.stats.special import LOG_2PI

HYPER = (("variance", 1e-4, 1e2), ("prior_variance", 1e-2, 1e3))


class GaussianKnownVariancePrior(NamedTuple):
    """The variance within a cluster, and mean and variance of the clusters' means; one number per column."""

    variance: np.ndarray
    prior_mean: np.ndarray
    prior_variance: np.ndarray


@borrower
def known_posterior(row, at, p):
    """Mean and variance of the cluster's mean given its cells."""
    n, variance, prior_mean, prior_variance = row[at + COUNT], p[0], p[1], p[2]
    wide = variance + n * prior_variance
    mean = (variance * prior_mean + n * prior_variance * row[at + MEAN]) / wide
    return mean, prior_variance * (variance / wide)


@dataclass(frozen=True)
class GaussianKnownVariance(ContinuousLikelihood):
    """Gaussian columns whose variance is the same in all clusters; each cluster has its own mean.

    Parameters
    ----------
    variance : number, one per column, None or "auto"
        Variance within a cluster. Default a quarter of the column's variance.
    prior_mean, prior_variance : number, one per column, None or "auto"
        Mean and variance of the clusters' means. Default those of the column.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> likelihood = GaussianKnownVariance(variance=0.5, prior_mean=0, prior_variance=0.5)
    >>> round(log_marginal(likelihood, [[0.0]]), 6)  # the standard normal density at 0
    -0.918939
    """

    learnable: ClassVar[tuple[str, ...]] = ("variance", "prior_variance")

    variance: Any = None
    prior_mean: Any = None
    prior_variance: Any = None

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> GaussianKnownVariancePrior:
        """Moments of the columns where nothing is given."""
        mean, variance = column_moments(values)
        return GaussianKnownVariancePrior(
            per_column_numbers("variance", self.variance, variance / 4, encode=encoding.shrink),
            per_column_numbers("prior_mean", self.prior_mean, mean, positive=False, encode=encoding.apply),
            per_column_numbers("prior_variance", self.prior_variance, variance, encode=encoding.shrink),
        )

    def described_by(self, prior: GaussianKnownVariancePrior, encoding: Encoding) -> "GaussianKnownVariance":
        """The hyperparameters in the table's units."""
        return GaussianKnownVariance(
            variance=plain(encoding.grow(prior.variance)),
            prior_mean=plain(encoding.undo(prior.prior_mean)),
            prior_variance=plain(encoding.grow(prior.prior_variance)),
        )


@borrower
def column_log_marginal(row, start, stop, p):
    """Log marginal of the observed cells of one column."""
    n, variance, prior_mean, prior_variance = row[start + COUNT], p[0], p[1], p[2]
    wide = variance + n * prior_variance
    return (
        -0.5 * n * (LOG_2PI + math.log(variance))
        - 0.5 * row[start + SPREAD] / variance
        - 0.5 * math.log1p(n * prior_variance / variance)
        - 0.5 * n * (row[start + MEAN] - prior_mean) ** 2 / wide
    )


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Normal density around the posterior mean."""
    mean, mean_variance = known_posterior(row, start, p)
    wide = p[0] + mean_variance
    return -0.5 * (LOG_2PI + math.log(wide) + (x - mean) ** 2 / wide)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log variance and log prior_variance."""
    n, variance, prior_mean, prior_variance = row[start + COUNT], p[0], p[1], p[2]
    wide = variance + n * prior_variance
    shrink = n * prior_variance / wide
    pull = 0.5 * n * (row[start + MEAN] - prior_mean) ** 2 / wide
    by_variance = -0.5 * n + 0.5 * row[start + SPREAD] / variance + 0.5 * shrink + pull * (variance / wide)
    return by_variance, shrink * (pull - 0.5), 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The mean."""
    mean, mean_variance = known_posterior(row, start, p)
    out[start] = mean + math.sqrt(mean_variance) * rng.normal(0.0, 1.0)


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A normal number."""
    return params[start] + math.sqrt(p[0]) * rng.normal(0.0, 1.0)


@borrower
def column_student(row, p):
    """A normal distribution: infinite degrees of freedom."""
    mean, variance = known_posterior(row, 0, p)
    return mean, p[0] + variance, np.inf


@borrower
def predictive_moments(row, width, p):
    """Of a normal distribution."""
    mean, variance, _ = column_student(row, p)
    return mean, variance


FAMILY = Family(
    name="gaussian-known-variance",
    prior=GaussianKnownVariancePrior,
    likelihood=GaussianKnownVariance,
    width=WIDTH,
    support=REAL,
    hyper=HYPER,
    signed=("prior_mean",),
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
    coordinates=no_coordinates(),
)
TABLES.register(FAMILY)
