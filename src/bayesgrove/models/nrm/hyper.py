"""Learning the likelihood's own numbers: slice sampling of the log factors that `contract.hyper` names.

Each factor on the numbers the fit began with has a log-normal hyperprior, log factor ~ Normal(0, 2), cut off at the
family's bounds. Statistics do not depend on these numbers, so a density costs one marginal per cluster, not per point.
"""

import math
from collections.abc import Callable
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


def draw_slice(
    rng: np.random.Generator, start: float, log_density: Callable[[float], float], limits: tuple[float, float]
) -> float:
    """One step of slice sampling with stepping out, inside limits."""
    level = log_density(start) - rng.standard_exponential()
    low = start - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    while low > limits[0] and log_density(low) > level:
        low -= SLICE_WIDTH
    while high < limits[1] and log_density(high) > level:
        high += SLICE_WIDTH
    low, high = max(low, limits[0]), min(high, limits[1])
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density(proposed) >= level:
            return proposed
        if proposed < start:
            low = proposed
        else:
            high = proposed


def draw_factor(
    rng: np.random.Generator, prior: Any, places: np.ndarray, log_factors: np.ndarray, rows: np.ndarray, n_clusters: int
) -> np.ndarray:
    """The log factors with one of them, chosen at random, drawn anew."""
    which = int(rng.integers(places.size))
    moved = log_factors.copy()

    def log_density(value: float) -> float:
        moved[which] = value
        log_prior = -0.5 * (value / PRIOR_SD) ** 2
        return log_prior + float(total_log_marginal(scaled(prior, places, moved), rows, n_clusters))

    value = draw_slice(rng, float(log_factors[which]), log_density, log_limits(prior)[places[which]])
    moved[which] = value
    return moved
