"""Draws that compile inside kernels; `rng` is a numpy Generator passed in, nothing else draws numbers."""

import math
from collections.abc import Callable

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower

NEGLIGIBLE = -45.0
"""Log weights this far below the largest change no draw of a 53-bit uniform number."""
FEW_EXPECTED = 10.0
"""Binomial draws with fewer expected successes invert the distribution from 0 upwards; rejection is not valid there."""
NO_MASS = 1e-30
"""Far below what a uniform number can tell from 0."""


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

    Gamma(a) = Gamma(a + 1) U^(1/a), and -log U is exponential: below shape 0.001 most variates themselves
    underflow to 0, their logs do not.
    """
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


def draw_log_dirichlet(rng: np.random.Generator, concentrations: np.ndarray) -> np.ndarray:
    """Log probabilities of Dirichlet draws, rows along the last axis; exact for tiny concentrations too.

    Cells of concentration 0 get -inf. A row needs one that is not.
    """
    cells = np.asarray(concentrations, float)
    free = cells > 0.0
    shapes = cells[free]
    logs = np.log(rng.standard_gamma(np.where(shapes < 1.0, shapes + 1.0, shapes)))
    small = shapes < 1.0  # as in `draw_log_gamma`
    with np.errstate(over="ignore"):  # below 1e-305 or so a cell gets -inf
        logs[small] -= rng.standard_exponential(np.count_nonzero(small)) / shapes[small]
    found = np.full(cells.shape, -np.inf)
    found[free] = logs
    found -= found.max(axis=-1, keepdims=True)
    found -= np.log(np.exp(found).sum(axis=-1, keepdims=True))
    return found


def draw_dirichlet(rng: np.random.Generator, concentrations: np.ndarray) -> np.ndarray:
    """Dirichlet draws, rows along the last axis; each sums to 1 whatever its concentrations, 0 where they are 0."""
    found = np.exp(draw_log_dirichlet(rng, concentrations))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


@borrower
def draw_binomial(rng, size, probability):
    """Number of successes in `size` trials; numpy's own takes the compiler about three times as long.

    Exact but for the rounding of the distribution itself, which grows with the size of lgamma.
    """
    rare = min(probability, 1.0 - probability)
    if size * rare < FEW_EXPECTED:
        found = binomial_by_inversion(rng, size, rare)
    else:
        found = binomial_by_rejection(rng, size, rare)
    return found if probability <= 0.5 else size - found


@borrower
def binomial_by_inversion(rng, size, probability):
    """One uniform number taken through the distribution from 0 upwards, for few expected successes."""
    odds = probability / (1.0 - probability)
    none = math.exp(size * math.log1p(-probability))
    while True:  # again in the rare case that rounding leaves a rest behind the last mass
        left, mass, found = rng.random(), none, 0
        while mass > NO_MASS:
            if left < mass:
                return found
            left -= mass
            mass *= odds * (size - found) / (found + 1.0)
            found += 1


@borrower
def binomial_by_rejection(rng, size, probability):
    """Transformed rejection with a squeeze, for a probability of at most 1/2 and at least 10 expected successes.

    References
    ----------
    W. Hormann, The generation of binomial random variates, J. Stat. Comput. Simul. 46, 1993: algorithm BTRS.
    """
    deviation = math.sqrt(size * probability * (1.0 - probability))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * probability
    centre, squeeze = size * probability + 0.5, 0.92 - 4.2 / b
    scale, log_odds = (2.83 + 5.1 / b) * deviation, math.log(probability / (1.0 - probability))
    mode = np.floor((size + 1.0) * probability)
    top = math.lgamma(mode + 1.0) + math.lgamma(size - mode + 1.0)
    while True:
        offset, height = rng.random() - 0.5, rng.random()
        edge = 0.5 - abs(offset)
        if edge <= 0.0:
            continue
        found = np.floor((2.0 * a / edge + b) * offset + centre)
        if edge >= 0.07 and height <= squeeze:
            return int(found)
        if found < 0.0 or found > size:
            continue
        log_height = math.log(height * scale / (a / (edge * edge) + b))
        if log_height <= top - math.lgamma(found + 1.0) - math.lgamma(size - found + 1.0) + (found - mode) * log_odds:
            return int(found)


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
