"""Sets of points of many shapes whose clusters, and the valleys of density between them, are known."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed

NOISE_MARGIN = 0.25
"""Background noise reaches this share of the range beyond the points on either side."""
CURVE_WIDTH = 0.08


class Shapes(NamedTuple):
    """Points, the cluster of each (-1: background noise), and the depth of the valley between clusters."""

    X: np.ndarray
    labels: np.ndarray
    saddle_ratio: float
    """Lowest density on the best path between two clusters over the lower of their peaks, without the noise: 1 for a
    set that is one cluster, NaN where no closed form is known."""


def gaussian(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Correlated columns."""
    return rng.normal(size=(n, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d)) / math.sqrt(d))


def banana(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """The second column bends with the first."""
    points = rng.normal(size=(n, d))
    points[:, 1] = 0.5 * points[:, 1] + points[:, 0] ** 2
    return points


def ring(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """A circle in the first two columns."""
    angle = rng.uniform(0.0, 2.0 * math.pi, n)
    return on_curve(rng, np.column_stack([np.cos(angle), np.sin(angle)]), d)


def curve(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """One period of a sine wave in the first two columns."""
    place = rng.uniform(-math.pi, math.pi, n)
    return on_curve(rng, np.column_stack([place, np.sin(place)]), d)


def on_curve(rng: np.random.Generator, plane: np.ndarray, d: int) -> np.ndarray:
    """Points of a curve with some width, in so many columns."""
    points = rng.normal(0.0, CURVE_WIDTH, (len(plane), d))
    points[:, :2] += plane
    return points


ONE: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "gaussian": gaussian,
    "uniform": lambda rng, n, d: rng.uniform(-1.0, 1.0, (n, d)),
    "t3": lambda rng, n, d: rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3.0, (n, 1)) / 3.0),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "gamma": lambda rng, n, d: rng.gamma(2.0, size=(n, d)),
    "log-normal": lambda rng, n, d: np.exp(0.5 * rng.normal(size=(n, d))),
    "banana": banana,
    "ring": ring,
    "curve": curve,
}
"""Sets of one cluster."""


NARROW = 1.0 / 3.0
"""Width of the second of two Gaussians of unequal density."""


def shifted(points: np.ndarray, labels: np.ndarray, separation: float) -> np.ndarray:
    """The second cluster so far from the first, along the first column."""
    points[:, 0] += separation * labels
    return points


def unequal(rng: np.random.Generator, labels: np.ndarray, d: int) -> np.ndarray:
    """Gaussians of width 1 and NARROW."""
    return rng.normal(size=(labels.size, d)) * np.where(labels == 1, NARROW, 1.0)[:, np.newaxis]


def moons(rng: np.random.Generator, labels: np.ndarray, d: int) -> np.ndarray:
    """Two interleaved half circles."""
    angle = rng.uniform(0.0, math.pi, labels.size)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)])
    return on_curve(rng, np.where((labels == 1)[:, np.newaxis], lower, upper), d)


def circles(rng: np.random.Generator, labels: np.ndarray, d: int) -> np.ndarray:
    """Two rings around one centre."""
    angle = rng.uniform(0.0, 2.0 * math.pi, labels.size)
    radius = np.where(labels == 1, 0.4, 1.0)
    return on_curve(rng, radius[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)]), d)


def normal_density(x: np.ndarray, width: float = 1.0, d: int = 1) -> np.ndarray:
    """Of a Gaussian of d columns along one of them, up to a factor that depends on d only."""
    return np.exp(-0.5 * (x / width) ** 2) / width**d


def gamma_density(x: np.ndarray, d: int = 1) -> np.ndarray:
    """Of a gamma variable of shape 2; other columns are at their mode."""
    return np.where(x > 0.0, x * np.exp(-x), 0.0)


TWO: dict[str, Callable[[np.random.Generator, np.ndarray, int], np.ndarray]] = {
    "two gaussians": lambda rng, labels, d: rng.normal(size=(labels.size, d)),
    "two widths": unequal,
    "two skewed": lambda rng, labels, d: rng.gamma(2.0, size=(labels.size, d)),
    "two cubes": lambda rng, labels, d: rng.uniform(size=(labels.size, d)),
    "moons": moons,
    "circles": circles,
}
"""Sets of two clusters; `separation` moves the second of all but the last two."""
ALONG: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "two gaussians": (lambda x, d: normal_density(x), lambda x, d: normal_density(x)),
    "two widths": (lambda x, d: normal_density(x, 1.0, d), lambda x, d: normal_density(x, NARROW, d)),
    "two skewed": (gamma_density, gamma_density),
    "two cubes": (lambda x, d: 1.0 * ((x > 0) & (x < 1)), lambda x, d: 1.0 * ((x > 0) & (x < 1))),
}
"""Densities of the two clusters along the line on which their saddle lies."""
CURVED = ("moons", "circles", "ring", "curve", "banana")
"""At least two columns."""


def saddle_ratio(kind: str, separation: float, share: float, d: int) -> float:
    """Depth of the valley between two clusters, from their densities along the first column."""
    first, second = ALONG[kind]
    x = np.linspace(-6.0, separation + 12.0, 20_001)
    density = (1.0 - share) * first(x, d) + share * second(x - separation, d)
    rims = np.minimum(np.maximum.accumulate(density), np.maximum.accumulate(density[::-1])[::-1])
    return float(np.min(density[rims > 0.0] / rims[rims > 0.0]))


def make_shapes(
    kind: str = "two gaussians",
    n_samples: int = 300,
    n_features: int = 2,
    *,
    separation: float = 5.0,
    share: float = 0.5,
    noise: float = 0.0,
    random_state: Any = None,
) -> Shapes:
    """Points in clusters of a given shape, with the depth of the valley of density between them.

    Made to measure how often a rule for clusters splits one cluster or joins two.

    Parameters
    ----------
    kind : str
        One cluster: "gaussian", "uniform", "t3", "exponential", "gamma", "log-normal", "banana", "ring", "curve". Two:
        "two gaussians", "two widths" (one three times as wide as the other), "two skewed", "two cubes", "moons",
        "circles".
    n_samples : int
        Number of points, noise included.
    n_features : int
        Number of columns, at least 2 for "banana", "ring", "curve", "moons" and "circles".
    separation : float
        Distance between two clusters along the first column, in units of their width; of no effect on other kinds.
    share : float
        Of the points, in the second of two clusters.
    noise : float
        Share of points that are uniform background noise, labelled -1.
    random_state : int, Generator or None

    Returns
    -------
    Shapes
        `X` (n_samples, n_features), `labels` (n_samples,), `saddle_ratio`, rows shuffled.

    Examples
    --------
    >>> shapes = make_shapes("two gaussians", 100, separation=4.0, random_state=0)
    >>> shapes.X.shape, round(shapes.saddle_ratio, 2)
    ((100, 2), 0.27)
    >>> make_shapes("banana", 100, random_state=0).saddle_ratio
    1.0
    """
    check_shape(kind, n_samples, n_features, share, noise)
    rng = generator(resolve_seed(random_state))
    n_noise = round(noise * n_samples)
    n = n_samples - n_noise
    labels = (np.arange(n) >= round((1.0 - share) * n)).astype(np.int64) if kind in TWO else np.zeros(n, np.int64)
    points = TWO[kind](rng, labels, n_features) if kind in TWO else ONE[kind](rng, n, n_features)
    points = shifted(points, labels, separation) if kind in ALONG else points
    low, high = points.min(axis=0), points.max(axis=0)
    margin = NOISE_MARGIN * (high - low)
    background = rng.uniform(low - margin, high + margin, (n_noise, n_features))
    order = rng.permutation(n_samples)
    every = np.concatenate([labels, np.full(n_noise, -1)])
    depth = saddle_ratio(kind, separation, share, n_features) if kind in ALONG else math.nan if kind in TWO else 1.0
    return Shapes(np.vstack([points, background])[order], every[order], depth)


def check_shape(kind: str, n_samples: int, n_features: int, share: float, noise: float) -> None:
    """Refuse settings out of range."""
    if kind not in ONE and kind not in TWO:
        raise InvalidSettingError(f"kind is one of {', '.join((*ONE, *TWO))}, got {kind!r}.")
    least = 2 if kind in CURVED else 1
    if n_samples < 2 or n_features < least:
        raise InvalidSettingError(
            f"{kind!r} needs at least 2 points and {least} column(s), got {n_samples} and {n_features}."
        )
    if not 0.0 < share < 1.0 or not 0.0 <= noise < 1.0:
        raise InvalidSettingError(f"share lies between 0 and 1 and noise from 0 to below 1, got {share} and {noise}.")
