"""Draws that compile inside kernels; `rng` is a numpy Generator passed in, nothing else draws numbers."""

import math
from collections.abc import Callable

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.stats.special import log_sum

NEGLIGIBLE = -45.0
"""Log weights this far below the largest change no draw of a 53-bit uniform number."""


@kernel
def draw_categorical(rng, weights):
    """Index drawn with probability proportional to weights >= 0; NULL when all are 0 or one is not finite."""
    total = 0.0
    for weight in weights:
        total += weight
    if not (0.0 < total < np.inf):
        return NULL
    left = rng.random() * total
    chosen = NULL
    for index in range(len(weights)):
        if weights[index] > 0.0:
            chosen = index  # rounding may leave a rest after the last weight: it keeps the last possible one
            left -= weights[index]
            if left < 0.0:
                break
    return chosen


@borrower
def draw_log_categorical(rng, log_weights):
    """Index drawn with probability proportional to exp(log_weights); NULL when none is possible.

    NULL stands for all -inf, or any nan or +inf: the caller's numbers are broken.
    """
    top = -np.inf
    for value in log_weights:
        if math.isnan(value):
            return NULL
        top = max(top, value)
    if not math.isfinite(top):
        return NULL
    total = 0.0
    for value in log_weights:
        if value - top > NEGLIGIBLE:
            total += math.exp(value - top)
    left = rng.random() * total
    chosen = NULL
    for index in range(len(log_weights)):
        if log_weights[index] - top > NEGLIGIBLE:
            chosen = index
            left -= math.exp(log_weights[index] - top)
            if left < 0.0:
                break
    return chosen


@borrower
def draw_log_gamma(rng, shape):
    """Log of a Gamma(shape, 1) variate; finite however small the shape.

    Notes
    -----
    Gamma(a) = Gamma(a + 1) U^(1/a), and -log U is exponential: below shape 0.001 most variates themselves
    underflow to 0, their logs do not.
    """
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


@kernel
def draw_log_dirichlet(rng, concentrations, out):
    """Fill `out` with log probabilities of a Dirichlet draw, exact for tiny concentrations too."""
    for index in range(len(concentrations)):
        out[index] = draw_log_gamma(rng, concentrations[index])
    total = log_sum(out)
    for index in range(len(out)):
        out[index] -= total


@kernel
def draw_dirichlet(rng, concentrations, out):
    """Fill `out` with a Dirichlet draw; it sums to 1 whatever the concentrations."""
    draw_log_dirichlet(rng, concentrations, out)
    total = 0.0
    for index in range(len(out)):
        out[index] = math.exp(out[index])
        total += out[index]
    for index in range(len(out)):
        out[index] /= total


def draw_slice(
    rng: np.random.Generator,
    start: float,
    log_density: Callable[[float], float],
    *,
    width: float,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> float:
    """One step of slice sampling (Neal 2003): stepping out without a cap, then shrinking, inside limits.

    Without a cap the step is reversible whatever the density; it ends because densities fall to 0.
    """
    level = log_density(start) - rng.standard_exponential()
    low = start - width * rng.random()
    high = low + width
    while low > limits[0] and log_density(low) > level:
        low -= width
    while high < limits[1] and log_density(high) > level:
        high += width
    low, high = max(low, limits[0]), min(high, limits[1])
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density(proposed) >= level:
            return proposed
        if proposed < start:
            low = proposed
        else:
            high = proposed
