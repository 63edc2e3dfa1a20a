"""Gaps between two groups of rows: whether the rows thin out between them, on the axis that separates them best.

An axis that was fitted to rows separates these very rows too well: in 30 columns, two halves of one cloud of 40 rows
seem to be far apart. Each row is therefore placed on the axis that the other rows give (leave-one-out linear
discriminant analysis, in closed form): 0 is the mean of the first group, 1 that of the second.
"""

import math

import numpy as np
from scipy.special import bdtr

N_WINDOWS = 10
LEAST_SPREAD, LEAST_WIDTH = 1e-6, 1e-12
"""Shares of the mean variance, and of the distance between the groups, that are added to axes: rows may coincide."""
CENTRES = (np.arange(N_WINDOWS - 1) + 0.5) / (N_WINDOWS - 1)
"""Of windows between the medians of the two groups, in units of their distance."""
SLOPES = np.arange(-20.0, 20.05, 0.1)
SLOPED = np.exp(SLOPES[:, np.newaxis] * (CENTRES - 0.5))
LOG_SLOPED = np.log(SLOPED / SLOPED.sum(axis=1, keepdims=True))
"""Log probabilities of the windows under log-linear densities, which have no valley."""


def places_between(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the rows of two groups on the axis that separates them best without the row; NaN if all are one."""
    gap = second.mean(axis=0) - first.mean(axis=0)
    deviations = first - first.mean(axis=0), second - second.mean(axis=0)
    within = sum(own.T @ own for own in deviations)
    within[np.diag_indices_from(within)] += LEAST_SPREAD * np.trace(within) / gap.size + LEAST_WIDTH * (gap @ gap)
    if min(len(first), len(second)) < 2 or not np.trace(within) > 0.0:
        return np.full(len(first), np.nan), np.full(len(second), np.nan)
    precision = np.linalg.inv(within)
    axis = precision @ gap
    own = places_on(deviations[0], precision, axis, gap @ axis)
    return own, 1.0 - places_on(deviations[1], precision, -axis, gap @ axis)


def places_on(deviations: np.ndarray, precision: np.ndarray, axis: np.ndarray, distance: float) -> np.ndarray:
    """Places of rows of one group, 0 at its mean without the row, 1 at the mean of the other group.

    Without a row of deviation u, the mean of n rows moves by -u / (n - 1) and the scatter loses n / (n - 1) u u', so
    that its inverse follows from Sherman and Morrison.
    """
    n = len(deviations)
    grown, moved = n / (n - 1), 1.0 / (n - 1)
    own = np.einsum("ij,ij->i", deviations @ precision, deviations)
    along = deviations @ axis
    step = along + moved * own
    lift = grown / np.maximum(1.0 - grown * own, 1e-12)
    return grown * step * (1.0 + lift * own) / (distance + 2.0 * moved * along + moved**2 * own + lift * step**2)


def gap_probability(first: np.ndarray, second: np.ndarray) -> float:
    """How likely so deep a gap between two groups of rows were if there were none, over all windows."""
    a, b = places_between(first, second)
    low, high = np.median(a), np.median(b)
    if not high > low:
        return 1.0
    width = (high - low) / (N_WINDOWS - 1)
    edges = low - 0.5 * width + width * np.arange(N_WINDOWS + 1)
    counts = np.histogram(np.concatenate([a, b]), edges)[0]
    left, right = np.maximum.accumulate(counts)[:-2], np.maximum.accumulate(counts[::-1])[::-1][2:]
    inner = counts[1:-1]
    least = bdtr(inner.astype(float), inner + np.minimum(left, right), 0.5).min()
    return float(min(1.0, (N_WINDOWS - 2) * least))


def valley_gain(first: np.ndarray, second: np.ndarray, sizes: np.ndarray, spread: np.ndarray) -> float:
    """Log likelihood of rows between two groups under two Gaussians less that under the best log-linear density.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows, d)
    sizes, spread : ndarray of shape (2,)
        Weights of the two Gaussians, and their standard deviations in units of the distance between them.
    """
    a, b = places_between(first, second)
    low, high = np.median(a), np.median(b)
    if not high > low:
        return -math.inf
    counts = np.histogram((np.concatenate([a, b]) - low) / (high - low), CENTRES.size, (0.0, 1.0))[0]
    scaled = (CENTRES[:, np.newaxis] - np.array([0.0, 1.0])) / spread
    density = np.exp(-0.5 * scaled**2) @ (sizes / spread)
    return float(counts @ np.log(density / density.sum()) - (LOG_SLOPED @ counts).max())
