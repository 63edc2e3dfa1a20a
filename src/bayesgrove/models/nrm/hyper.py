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


def scaled(prior: Any, places: np.ndarray, log_factors: np.ndarray) -> Any:
    """The prior with its learned factors."""
    if places.size == 0:
        return prior
    factors = np.ones(len(hyper(prior)))
    factors[places] = np.exp(log_factors)
    return with_hyper(prior, factors)


@functools.cache
def directions(n_factors: int) -> np.ndarray:
    """Each factor alone and each pair together: shape and rate, or a and b, are strongly correlated."""
    single = np.eye(n_factors)
    return np.array([*single, *(single[i] + single[j] for i in range(n_factors) for j in range(i))])


@functools.cache
def log_limits_of(limits: tuple[tuple[str, float, float], ...]) -> np.ndarray:
    """Bounds of all log factors, (2, n_factors)."""
    return np.log([(low, high) for _, low, high in limits]).T


def draw_factors(
    rng: np.random.Generator,
    prior: Any,
    places: np.ndarray,
    log_factors: np.ndarray,
    rows: np.ndarray,
    n_clusters: int,
    n_steps: int,
) -> np.ndarray:
    """The log factors after slice-sampling steps, each along a direction chosen at random."""
    drawn = log_factors.copy()
    slice_factors(
        rng, prior, places, drawn, log_limits_of(hyper(prior)), directions(places.size), rows, n_clusters, n_steps
    )
    return drawn


@kernel
def slice_factors(rng, prior, places, log_factors, limits, choices, rows, n_clusters, n_steps):
    """Neal's slice sampling (2003) in place: stepping out without a cap, then shrinking, inside the bounds."""
    factors = np.ones(limits.shape[1])
    for _ in range(n_steps):
        direction = choices[rng.integers(0, choices.shape[0])]
        lowest, highest = step_limits(log_factors, direction, limits, places)
        level = log_density(prior, places, log_factors, direction, 0.0, factors, rows, n_clusters)
        level -= rng.standard_exponential()
        low = -SLICE_WIDTH * rng.random()
        high = low + SLICE_WIDTH
        while (
            low > lowest and log_density(prior, places, log_factors, direction, low, factors, rows, n_clusters) > level
        ):
            low -= SLICE_WIDTH
        while (
            high < highest
            and log_density(prior, places, log_factors, direction, high, factors, rows, n_clusters) > level
        ):
            high += SLICE_WIDTH
        low, high = max(low, lowest), min(high, highest)
        step = low + (high - low) * rng.random()
        while not log_density(prior, places, log_factors, direction, step, factors, rows, n_clusters) >= level:
            low, high = (step, high) if step < 0.0 else (low, step)
            step = low + (high - low) * rng.random()
        for k in range(places.size):
            log_factors[k] += step * direction[k]


@kernel
def step_limits(log_factors, direction, limits, places):
    """How far one can go along a direction of zeros and ones, backwards and forwards."""
    lowest, highest = -np.inf, np.inf
    for k in range(places.size):
        if direction[k] > 0.0:
            lowest = max(lowest, limits[0, places[k]] - log_factors[k])
            highest = min(highest, limits[1, places[k]] - log_factors[k])
    return lowest, highest


@kernel
def log_density(prior, places, log_factors, direction, step, factors, rows, n_clusters):
    """Of the log factors moved along a direction; `factors` are overwritten."""
    squares = 0.0
    for k in range(places.size):
        moved = log_factors[k] + step * direction[k]
        factors[places[k]] = math.exp(moved)
        squares += moved * moved
    return total_log_marginal(with_hyper(prior, factors), rows, n_clusters) - 0.5 * squares / PRIOR_SD**2
