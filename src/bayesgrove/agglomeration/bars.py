"""Bars: rows spread evenly along a bent line, which Gaussian components cover piece by piece.

Gaussians that cover a band of even density end to end make valleys that are not there: a piece of length l has the
standard deviation l / sqrt(12), so that two of them have the density 2 exp(-3 / 2) = .446 of their peaks where they
meet. If the band is thin and bent, each Gaussian also misses the ends of its arc sideways, by sqrt(5) of its standard
deviations: 2 exp(-4) = .037 is left, however many pieces there are. No threshold on valleys tells that from a gap. What
tells is the shape of the pieces: two of them are one bent bar if

- they lie end to end: along the first principal axis of both, at most one row in ten is on the other's side;
- together they are bent: a cubic fits them better than a straight line, significantly;
- a bar is more likely than two Gaussians, all at their maxima. Along the bar each piece has an even density; across it
  rows have a Gaussian distribution around the cubic. The bar has fewer parameters than the two Gaussians, in any number
  of columns. (Coordinates along and across are those of the rows, sheared: volumes, and so likelihoods, compare.)

Whether rows show a gap between the pieces is for the caller to ask, in the coordinates of the bar.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

DEGREE = 3
"""Of the polynomial that bends the bar."""
MOST_MISPLACED = 0.1
SIGNIFICANCE = 0.001
"""Of the bend; some ten neighbours of a component are looked at."""
RIDGE = 1e-9
"""Share of the variance that is added to each axis: rows may lie on a line."""


class Bar(NamedTuple):
    """The bar that two pieces make."""

    log_gain: float
    """Log likelihood of the bar less that of two Gaussians."""
    first: np.ndarray
    """(n_rows, d) of the first piece: place along the bar, then deviations from its middle."""
    second: np.ndarray


def bar_of(first: np.ndarray, second: np.ndarray) -> Bar | None:
    """The bar of two pieces that lie end to end and are bent; None where they are not, or have too few rows to tell.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows, d)
        Complete rows of the two components.
    """
    d, n_first = first.shape[1], len(first)
    if d == 1 or min(n_first, len(second)) <= d + DEGREE:
        return None
    rows = np.vstack([first, second])
    centred = rows - rows.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(rows))
    ridge = RIDGE * variances.sum()
    along, across = centred @ axes[:, -1], centred @ axes[:, :-1]
    log_along = even_log_density(along[:n_first], along[n_first:])
    if log_along is None or not ridge > 0.0:
        return None
    powers = np.linalg.qr(np.vander(along / np.abs(along).max(), DEGREE + 1))[0]
    straight, across = across, across - powers @ (powers.T @ across)
    log_across = gaussian_log_likelihood(across, ridge)
    bend = log_across - gaussian_log_likelihood(straight, ridge)
    if gammaincc(0.5 * (d - 1) * (DEGREE - 1), bend) > SIGNIFICANCE:  # twice the bend has a chi-squared distribution
        return None
    bent = np.column_stack([along, across])
    gain = log_along + log_across - two_gaussians(first, second, ridge)
    return Bar(gain, bent[:n_first], bent[n_first:])


def even_log_density(first: np.ndarray, second: np.ndarray) -> float | None:
    """Log likelihood of places that are even on either side of the boundary that misplaces fewest of them."""
    if first.mean() > second.mean():
        first, second = second, first
    places = np.sort(np.concatenate([first, second]))
    between = 0.5 * (places[:-1] + places[1:])
    misplaced = first.size - np.searchsorted(np.sort(first), between) + np.searchsorted(np.sort(second), between)
    k, n = int(misplaced.argmin()) + 1, places.size
    if misplaced[k - 1] > MOST_MISPLACED * min(first.size, second.size):
        return None
    lengths = between[k - 1] - places[0], places[-1] - between[k - 1]
    if not min(lengths) > 0.0:
        return None
    return sum(count * math.log(count / n / length) for count, length in zip((k, n - k), lengths, strict=True))


def gaussian_log_likelihood(rows: np.ndarray, ridge: float) -> float:
    """Of rows under the Gaussian that fits them best."""
    n, d = rows.shape
    centred = rows - rows.mean(axis=0)
    covariance = centred.T @ centred / n + ridge * np.eye(d)
    return -0.5 * n * float(np.linalg.slogdet(2.0 * np.pi * covariance)[1] + d)


def two_gaussians(first: np.ndarray, second: np.ndarray, ridge: float) -> float:
    """Log likelihood of the rows of two components, each under its own Gaussian."""
    n = len(first) + len(second)
    return sum(len(part) * math.log(len(part) / n) + gaussian_log_likelihood(part, ridge) for part in (first, second))
