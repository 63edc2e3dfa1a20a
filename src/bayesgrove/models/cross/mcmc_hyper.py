"""Learning hyperparameters: slices for the columns' priors, Escobar and West or slices for concentrations.

See docs/theory/cross-clustering.md, Hyperpriors.
"""

import math

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.columns import column_log_marginal
from bayesgrove.likelihoods.families import BERNOULLI
from bayesgrove.models.cross.mcmc_coordinates import (
    coordinate_of,
    log_hyperprior,
    log_jacobian_of,
    n_coordinates,
    set_coordinate,
)
from bayesgrove.models.cross.mcmc_lanes import LANES
from bayesgrove.models.cross.mcmc_target import fill_tables
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_log_gamma, stand_alone
from bayesgrove.stats.sampling import draw_slice

WIDTH = 1.0
"""Of the first interval of a slice; stepping out goes on until the density is low, so no cap needs correcting for."""


@kernel
def make_counts(capacity):
    """Room for `gather_counts` of so many clusters, and for a log Gamma function of each count."""
    return np.zeros((6, (capacity // LANES + 1) * LANES))


@borrower
def gather_counts(family, stats, n_clusters, first, counts):
    """Successes, failures and cells of a Bernoulli column side by side, zeros after the last cluster."""
    if family == BERNOULLI:
        for k in range(counts.shape[1]):
            counts[0, k] = stats[k, first + 1] if k < n_clusters else 0.0
            counts[1, k] = stats[k, first] if k < n_clusters else 0.0
            counts[2, k] = counts[0, k] + counts[1, k]


@borrower
def total_log_marginal(family, stats, n_clusters, first, last, p, counts):
    """Log marginal of a column over its clusters; Gamma functions are computed as its numbers change."""
    if family == BERNOULLI:
        return total_beta(counts, n_clusters, p[0], p[1])
    total = 0.0
    for k in range(n_clusters):
        total += column_log_marginal(family, stats[k], first, last, p)
    return total


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def take_log_gammas(counts, row, n_lanes, number):
    """lgamma(number + count) of a row of counts, three rows below it."""
    stand_alone()
    for k in range(n_lanes):
        counts[row + 3, k] = fast_log_gamma(number + counts[row, k])


@borrower
def total_beta(counts, n_clusters, a, b):
    """The same of a Bernoulli column; the prior's own term stands at the place of an empty cluster."""
    for row, number in enumerate((a, b, a + b)):
        take_log_gammas(counts, row, (n_clusters // LANES + 1) * LANES, number)
    total = -n_clusters * (counts[3, n_clusters] + counts[4, n_clusters] - counts[5, n_clusters])
    for k in range(n_clusters):
        total += counts[3, k] + counts[4, k] - counts[5, k]
    return total


@borrower
def log_slice_density(family, stats, n_clusters, first, last, p, which, value, centre, spread, beta, counts):
    """Log density of one coordinate at a value; `p` is changed."""
    set_coordinate(family, p, which, value)
    log_prior = log_hyperprior(family, which, value, centre, spread)
    log_jacobian = log_jacobian_of(family, which, value)
    log_p = total_log_marginal(family, stats, n_clusters, first, last, p, counts)
    return beta * (log_p + log_prior) + log_jacobian


@kernel(inline="always")
def slice_coordinate(rng, family, stats, n_clusters, first, last, p, which, centre, spread, beta, counts):
    """One slice-sampling step of a coordinate, in place."""
    start = coordinate_of(family, p, which)
    now = log_slice_density(family, stats, n_clusters, first, last, p, which, start, centre, spread, beta, counts)
    level = now - rng.standard_exponential()
    low = start - WIDTH * rng.random()
    high = low + WIDTH
    for step in (-WIDTH, WIDTH):
        at = low if step < 0.0 else high
        while (
            log_slice_density(family, stats, n_clusters, first, last, p, which, at, centre, spread, beta, counts)
            > level
        ):
            at += step
        low, high = (at, high) if step < 0.0 else (low, at)
    while True:
        at = low + (high - low) * rng.random()
        if (
            log_slice_density(family, stats, n_clusters, first, last, p, which, at, centre, spread, beta, counts)
            >= level
        ):
            return  # which has set it
        low, high = (at, high) if at < start else (low, at)


@borrower
def n_learned(learned, j):
    """How many coordinates of a column are learned."""
    n = 0
    for which in range(learned.shape[1]):
        n += learned[j, which]
    return n


@kernel
def slice_columns(rng, target, hyperpriors, views, params, tables, beta, share):
    """All learned coordinates of a random share of the columns that have any."""
    counts = make_counts(views.stats.shape[0])
    for j in range(target.family.size):
        if n_learned(hyperpriors.learned, j) > 0 and (share >= 1.0 or rng.random() < share):
            family, first, last = target.family[j], target.start[j], target.start[j + 1]
            n_clusters = views.n_clusters[views.of_column[j]]
            gather_counts(family, views.stats, n_clusters, first, counts)
            for which in range(n_coordinates(family)):
                centre, spread = hyperpriors.centre[j, which], hyperpriors.spread[j, which]
                if hyperpriors.learned[j, which]:
                    slice_coordinate(
                        rng, family, views.stats, n_clusters, first, last, params[j], which, centre, spread, beta,
                        counts,
                    )  # fmt: skip
            fill_tables(family, target.n_codes[j], target.table_at[j], params[j], tables)


# A few numbers per sweep: plain Python is as fast as the way into a kernel.


def log_concentration_density(
    log_alpha: float, beta: float, shape: float, rate: float, n_blocks: int, n_items: np.ndarray
) -> float:
    """Log density of log alpha under the tempered distribution of alpha, given the blocks in groups of given sizes."""
    alpha = math.exp(log_alpha)
    groups = float(n_items.size * math.lgamma(alpha) - gammaln(alpha + n_items).sum())
    return beta * ((shape - 1.0 + n_blocks) * log_alpha - rate * alpha + groups) + log_alpha


def slice_concentration(
    rng: np.random.Generator, alpha: float, beta: float, shape: float, rate: float, n_blocks: int, n_items: np.ndarray
) -> float:
    """One slice-sampling step of log alpha."""
    return math.exp(
        draw_slice(
            rng,
            math.log(alpha),
            lambda at: log_concentration_density(at, beta, shape, rate, n_blocks, n_items),
            width=WIDTH,
        )
    )


def escobar_west(
    rng: np.random.Generator, alpha: float, shape: float, rate: float, n_blocks: int, n_items: np.ndarray
) -> float:
    """Escobar and West's step with one auxiliary pair per group: partitions of `n_items` with `n_blocks` in all."""
    log_eta, n_fewer = 0.0, 0
    for n in n_items.tolist():
        log_eta += math.log(rng.beta(alpha + 1.0, n))
        n_fewer += rng.random() * (n + alpha) < n
    return rng.gamma(shape + n_blocks - n_fewer, 1.0) / (rate - log_eta)
