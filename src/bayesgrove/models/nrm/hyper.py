"""Learning the likelihood's own numbers: slice sampling of the log factors that `contract.hyper` names.

Each factor on the numbers the fit began with has a log-normal hyperprior, log factor ~ Normal(0, 2), cut off at the
family's bounds. Statistics do not depend on these numbers, so a density costs one marginal per cluster, not per point.
"""

import functools
import math
from typing import Any

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import hyper, log_marginal, with_hyper
from bayesgrove.stats.sampling import draw_slice

PRIOR_SD = 2.0
SLICE_WIDTH = 0.5


@kernel
def total_log_marginal(prior, rows, n_clusters):
    """Sum over the clusters."""
    total = 0.0
    for k in range(n_clusters):
        total += log_marginal(prior, rows[k])
    return total


def free_places(prior: Any, names: tuple[str, ...]) -> np.ndarray:
    """Where the factors to be learned stand among all of the family's."""
    every = [name for name, _, _ in hyper(prior)]
    return np.array([every.index(name) for name in names], np.int64)


def log_limits(prior: Any) -> list[tuple[float, float]]:
    """Bounds of all log factors."""
    return [(math.log(low), math.log(high)) for _, low, high in hyper(prior)]


def scaled(prior: Any, places: np.ndarray, log_factors: np.ndarray) -> Any:
    """The prior with its learned factors."""
    if places.size == 0:
        return prior
    factors = np.ones(len(hyper(prior)))
    factors[places] = np.exp(log_factors)
    return with_hyper(prior, factors)


@functools.cache
def directions(n_factors: int) -> tuple[np.ndarray, ...]:
    """Each factor alone and each pair together: shape and rate, or a and b, are strongly correlated."""
    single = np.eye(n_factors)
    pairs = [single[i] + single[j] for i in range(n_factors) for j in range(i)]
    return (*single, *pairs)


def step_limits(
    log_factors: np.ndarray, direction: np.ndarray, limits: list[tuple[float, float]]
) -> tuple[float, float]:
    """How far one can go along a direction of zeros and ones, backwards and forwards."""
    moving = np.flatnonzero(direction)
    return (
        max(limits[k][0] - log_factors[k] for k in moving),
        min(limits[k][1] - log_factors[k] for k in moving),
    )


def draw_factors(
    rng: np.random.Generator, prior: Any, places: np.ndarray, log_factors: np.ndarray, rows: np.ndarray, n_clusters: int
) -> np.ndarray:
    """The log factors after one slice-sampling step along a direction chosen at random."""
    choices, every = directions(places.size), log_limits(prior)
    direction = choices[int(rng.integers(len(choices)))]
    factors = np.ones(len(every))

    def log_density(step: float) -> float:
        moved = log_factors + step * direction
        factors[places] = np.exp(moved)
        log_prior = -0.5 * float(moved @ moved) / PRIOR_SD**2
        return log_prior + float(total_log_marginal(with_hyper(prior, factors), rows, n_clusters))

    limits = step_limits(log_factors, direction, [every[place] for place in places])
    return log_factors + draw_slice(rng, 0.0, log_density, width=SLICE_WIDTH, limits=limits) * direction
