"""What a margin costs by chance: normalisers of the penalties "chance" and "chance-max" (ours, not the paper's).

| symbol | here |
|---|---|
| C | `strength` |
| eps0 | `margin` |
| nu0 | `scale`, prior standard deviation of a discriminant's coordinates |
| g_n, g_{n,j} | exp of what these functions give |
"""

import math

import numpy as np
from scipy.special import erfcx, log_ndtr, logsumexp

N_POINTS = 401
REACH = 7.0
"""The trapezium rule runs over [-REACH, REACH] standard deviations."""
N_ROWS_AT_ONCE = 4096


def log_mean_discount(strength: float, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """log E[exp(-2C max(0, zeta))] for zeta ~ N(mean, spread^2), elementwise.

    With b = mean/spread - 2C spread the closed form is Phi(-mean/spread) + exp(-2C mean + 2C^2 spread^2) Phi(b). Where
    b is negative the exponent and log Phi(b) are both huge and cancel; erfcx holds their sum.
    """
    mean, spread = np.broadcast_arrays(np.asarray(mean, float), np.asarray(spread, float))
    flat = ~(spread > 1e-140)  # the square of mean / spread must not overflow
    safe = np.where(flat, 1.0, spread)
    ratio = mean / safe
    shifted = ratio - 2.0 * strength * safe
    below = np.log(erfcx(-np.minimum(shifted, 0.0) / math.sqrt(2.0)) / 2.0) - ratio**2 / 2.0
    above = -2.0 * strength * mean + 2.0 * (strength * safe) ** 2 + log_ndtr(np.maximum(shifted, 0.0))
    log_unmet = np.where(shifted < 0.0, below, above)
    return np.where(flat, -2.0 * strength * np.maximum(mean, 0.0), np.logaddexp(log_ndtr(-ratio), log_unmet))


def log_chance_of_pairs(data: np.ndarray, strength: float, margin: float, scale: float) -> np.ndarray:
    """log g_n of one constraint of each datum, shape (n,)."""
    spread = math.sqrt(2.0) * scale * np.linalg.norm(data, axis=1)
    return log_mean_discount(strength, np.full(len(data), margin), spread)


def log_chance_of_levels(
    data: np.ndarray, strength: float, margin: float, scale: float, most_siblings: int
) -> np.ndarray:
    """log g_{n,j} of one level with j siblings, shape (n, most_siblings + 1); nothing is asked without siblings.

    g_{n,j} = int j phi(t) Phi(t)^(j-1) e(eps0 + s t) dt, s = nu0 |x_n|, where e is the mean discount over the own
    node of the datum and t the best of its j siblings; in logs, because a large C makes every term tiny.
    """
    points = np.linspace(-REACH, REACH, N_POINTS)
    log_step = np.full(N_POINTS, math.log(points[1] - points[0]))
    log_step[[0, -1]] -= math.log(2.0)
    log_density = log_step - points**2 / 2.0 - math.log(2.0 * math.pi) / 2.0
    out = np.zeros((len(data), most_siblings + 1))
    for first in range(0, len(data), N_ROWS_AT_ONCE):
        rows = slice(first, first + N_ROWS_AT_ONCE)
        spread = scale * np.linalg.norm(data[rows], axis=1)[:, None]
        terms = log_density + log_mean_discount(strength, margin + spread * points, spread)
        for j in range(1, most_siblings + 1):
            log_below = (j - 1) * log_ndtr(points)
            # the density of the best sums to 1 within 1e-11 on these points; so divided, C = 0 costs exactly nothing
            out[rows, j] = logsumexp(terms + log_below, axis=1) - logsumexp(log_density + log_below)
    return out
