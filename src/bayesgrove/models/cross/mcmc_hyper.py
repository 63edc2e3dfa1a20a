"""Learning numbers: slices and grids for the columns' priors, Escobar and West or slices for concentrations (9.4)."""

import math

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import BERNOULLI, column_log_marginal
from bayesgrove.models.cross.mcmc_coordinates import coordinate_of, log_hyperprior, n_coordinates, set_coordinate
from bayesgrove.models.cross.mcmc_target import fill_tables
from bayesgrove.stats.sampling import draw_log_categorical, draw_slice

WIDTH = 1.0
"""Of the first interval of a slice; stepping out goes on until the density is low, so no cap needs correcting for."""


@kernel
def total_log_marginal(family, stats, n_clusters, first, last, p):
    """Log marginal of a column over its clusters; Gamma functions are computed as its numbers change."""
    if family == BERNOULLI:
        return total_beta(stats, n_clusters, first, p[0], p[1])
    total = 0.0
    for k in range(n_clusters):
        total += column_log_marginal(family, stats[k], first, last, p)
    return total


@kernel
def total_beta(stats, n_clusters, first, a, b):
    """The same of a Bernoulli column: Gamma functions of the prior's own numbers are taken once."""
    total = n_clusters * (math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    for k in range(n_clusters):
        failures, successes = stats[k, first], stats[k, first + 1]
        total += math.lgamma(a + successes) + math.lgamma(b + failures) - math.lgamma(a + b + failures + successes)
    return total


@kernel
def log_slice_density(family, stats, n_clusters, first, last, p, which, value, centre, spread, beta):
    """Log density of one coordinate at a value; `p` is changed."""
    set_coordinate(family, p, which, value)
    log_prior, log_jacobian = log_hyperprior(family, which, value, centre, spread)
    return beta * (total_log_marginal(family, stats, n_clusters, first, last, p) + log_prior) + log_jacobian


@kernel(inline="always")
def slice_coordinate(rng, family, stats, n_clusters, first, last, p, which, centre, spread, beta):
    """One slice-sampling step of a coordinate, in place."""
    start = coordinate_of(family, p, which)
    now = log_slice_density(family, stats, n_clusters, first, last, p, which, start, centre, spread, beta)
    level = now - rng.standard_exponential()
    low = start - WIDTH * rng.random()
    high = low + WIDTH
    while log_slice_density(family, stats, n_clusters, first, last, p, which, low, centre, spread, beta) > level:
        low -= WIDTH
    while log_slice_density(family, stats, n_clusters, first, last, p, which, high, centre, spread, beta) > level:
        high += WIDTH
    while True:
        value = low + (high - low) * rng.random()
        if log_slice_density(family, stats, n_clusters, first, last, p, which, value, centre, spread, beta) >= level:
            return  # which has set it
        if value < start:
            low = value
        else:
            high = value


@kernel
def n_learned(learned, j):
    """How many coordinates of a column are learned."""
    n = 0
    for which in range(learned.shape[1]):
        n += learned[j, which]
    return n


@kernel
def slice_columns(rng, target, hyperpriors, views, params, tables, beta, share):
    """All learned coordinates of a random share of the columns that have any."""
    for j in range(target.family.size):
        if n_learned(hyperpriors.learned, j) > 0 and (share >= 1.0 or rng.random() < share):
            family, first, last = target.family[j], target.start[j], target.start[j + 1]
            n_clusters = views.n_clusters[views.of_column[j]]
            for which in range(n_coordinates(family)):
                centre, spread = hyperpriors.centre[j, which], hyperpriors.spread[j, which]
                if hyperpriors.learned[j, which]:
                    slice_coordinate(
                        rng, family, views.stats, n_clusters, first, last, params[j], which, centre, spread, beta
                    )
            fill_tables(family, target.n_codes[j], target.table_at[j], params[j], tables)


@kernel
def choose_numbers(rng, target, views, params, tables, beta, j, candidates):
    """Numbers of column j from a list (n_candidates, 4), all alike a priori, by their exact conditional."""
    n_clusters, logs = views.n_clusters[views.of_column[j]], np.empty(len(candidates))
    for c in range(len(candidates)):
        logs[c] = beta * total_log_marginal(
            target.family[j], views.stats, n_clusters, target.start[j], target.start[j + 1], candidates[c]
        )
    chosen = draw_log_categorical(rng, logs)
    for q in range(params.shape[1]):
        params[j, q] = candidates[chosen, q]
    fill_tables(target.family[j], target.n_codes[j], target.table_at[j], params[j], tables)


# A few numbers per sweep: plain Python is as fast as the way into a kernel.


def log_concentration_density(
    log_alpha: float, beta: float, shape: float, rate: float, n_blocks: int, n_items: np.ndarray
) -> float:
    """Log density of log alpha under the tempered law of alpha, given so many blocks in groups of so many items."""
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
