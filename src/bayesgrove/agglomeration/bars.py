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
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

DEGREE = 3
"""Of the polynomial that bends the bar."""
MOST_MISPLACED = 0.1
SIGNIFICANCE = 0.001
"""Of the bend; some ten neighbours of a component are looked at."""
RIDGE = 1e-9
"""Share of the variance of all rows that is added to each axis: rows may lie on a line."""


class Pieces(NamedTuple):
    """Components of a partition, and what all bars made of two of them need."""

    rows: Sequence[np.ndarray]
    """(n_rows, d) of each."""
    means: np.ndarray
    """(k, d)"""
    covariances: np.ndarray
    """(k, d, d)"""
    log_likelihood: np.ndarray
    """(k,) of the rows of each under the Gaussian that fits them best."""
    ridge: float


class Bar(NamedTuple):
    """The bar that two pieces make."""

    log_gain: float
    """Log likelihood of the bar less that of two Gaussians."""
    first: np.ndarray
    """(n_rows, d) of the first piece: place along the bar, then deviations from its middle."""
    second: np.ndarray


def pieces_of(rows: Sequence[np.ndarray]) -> Pieces:
    """Pieces with these complete rows each."""
    everything = np.concatenate(rows)
    ridge = RIDGE * float(everything.var(axis=0).sum())
    means = np.array([own.mean(axis=0) for own in rows])
    covariances = np.array([(own - mean).T @ (own - mean) / len(own) for own, mean in zip(rows, means, strict=True)])
    n_rows = np.array([len(own) for own in rows])
    return Pieces(rows, means, covariances, gaussian_log_likelihood(n_rows, covariances, ridge), ridge)


def gaussian_log_likelihood(n_rows: np.ndarray | int, covariance: np.ndarray, ridge: float) -> np.ndarray:
    """Of rows with this covariance, or several of them, under the Gaussian that fits them best."""
    d = covariance.shape[-1]
    log_determinant = np.linalg.slogdet(2.0 * np.pi * (covariance + ridge * np.eye(d)))[1]
    return -0.5 * n_rows * (log_determinant + d)


def bar_of(pieces: Pieces, a: int, b: int, *, bent: bool = True) -> Bar | None:
    """The bar of two pieces that lie end to end and are bent; None where they are not, or have too few rows to tell.

    With `bent` false it may be straight.
    """
    first, second = pieces.rows[a], pieces.rows[b]
    d, n_first, n = first.shape[1], len(first), len(first) + len(second)
    if d == 1 or min(n_first, n - n_first) <= d + DEGREE or not pieces.ridge > 0.0:
        return None
    share = n_first / n
    gap = pieces.means[b] - pieces.means[a]
    inside = share * pieces.covariances[a] + (1.0 - share) * pieces.covariances[b]
    variances, axes = np.linalg.eigh(inside + share * (1.0 - share) * np.outer(gap, gap))
    placed = (np.concatenate([first, second]) - (pieces.means[a] + (1.0 - share) * gap)) @ axes
    along, across = placed[:, -1], placed[:, :-1]
    log_along = even_log_likelihood(along[:n_first], along[n_first:])
    if log_along is None:
        return None
    powers = np.vander(along / np.abs(along).max(), DEGREE + 1)
    coefficients = np.linalg.lstsq(powers.T @ powers, powers.T @ across, rcond=None)[0]
    off_bar = across - powers @ coefficients
    log_across = float(gaussian_log_likelihood(n, off_bar.T @ off_bar / n, pieces.ridge))
    log_straight = float(gaussian_log_likelihood(n, np.diag(variances[:-1]), pieces.ridge))
    if bent and gammaincc(0.5 * (d - 1) * (DEGREE - 1), max(0.0, log_across - log_straight)) > SIGNIFICANCE:
        return None  # twice the difference has a chi-squared distribution where nothing is bent
    log_two = float(pieces.log_likelihood[a] + pieces.log_likelihood[b])
    log_two += n_first * math.log(share) + (n - n_first) * math.log(1.0 - share)
    placed[:, :-1] = off_bar
    placed = placed[:, ::-1]
    return Bar(log_along + log_across - log_two, placed[:n_first], placed[n_first:])


def even_log_likelihood(first: np.ndarray, second: np.ndarray) -> float | None:
    """Log likelihood of places that are even on either side of the boundary that misplaces fewest of them.

    None if that is more than one in ten of the smaller piece.
    """
    places = np.concatenate([first, second])
    if first.sum() * second.size > second.sum() * first.size:
        places = np.concatenate([second, first])
        first, second = second, first
    order = np.argsort(places, kind="stable")
    places, n = places[order], places.size
    n_left = np.cumsum(order < first.size)[:-1]  # of the first piece, up to each place
    misplaced = first.size - n_left + np.arange(1, n) - n_left
    k = int(misplaced.argmin()) + 1
    if misplaced[k - 1] > MOST_MISPLACED * min(first.size, second.size):
        return None
    boundary = 0.5 * (places[k - 1] + places[k])
    lengths = boundary - places[0], places[-1] - boundary
    if not min(lengths) > 0.0:
        return None
    return sum(count * math.log(count / n / length) for count, length in zip((k, n - k), lengths, strict=True))
