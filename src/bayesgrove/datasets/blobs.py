"""Gaussian clusters whose truth is known: nested ones, and the five kinds of the benchmarks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed


class BlobsTree(NamedTuple):
    """Points, their leaf cluster, and their cluster on each level (coarsest first)."""

    X: np.ndarray
    labels: np.ndarray
    level_labels: np.ndarray


def make_blobs_tree(
    n_samples: int = 300,
    depth: int = 2,
    branching: int = 3,
    *,
    n_features: int = 2,
    spread: float = 20.0,
    shrink: float = 0.25,
    noise: float = 1.0,
    random_state: Any = None,
) -> BlobsTree:
    """A hierarchy of Gaussian clusters: centres scatter around their parent's centre, less on each level.

    Parameters
    ----------
    n_samples : int
        Points, spread over the leaf clusters as evenly as can be.
    depth, branching : int
        Levels of clusters, and children of each; there are branching ** depth leaf clusters.
    n_features : int
        Columns.
    spread, shrink : float
        Standard deviation of the first level's centres, and its factor from level to level.
    noise : float
        Standard deviation of points around their leaf's centre.
    random_state : int, Generator or None

    Returns
    -------
    BlobsTree
        `X` (n_samples, n_features), `labels` (n_samples,), `level_labels` (n_samples, depth), rows shuffled.

    Examples
    --------
    >>> make_blobs_tree(90, depth=2, branching=3, random_state=0).level_labels.max(axis=0).tolist()
    [2, 8]
    """
    if min(n_samples, depth, branching, n_features) < 1:
        raise InvalidSettingError(
            "n_samples, depth, branching and n_features must be at least 1, "
            f"got {n_samples}, {depth}, {branching}, {n_features}."
        )
    rng = generator(resolve_seed(random_state))
    centres = np.zeros((1, n_features))
    for level in range(depth):
        steps = rng.normal(0, spread * shrink**level, (len(centres) * branching, n_features))
        centres = np.repeat(centres, branching, axis=0) + steps
    labels = rng.permutation(np.arange(n_samples) % len(centres))
    points = centres[labels] + rng.normal(0, noise, (n_samples, n_features))
    levels = [labels // branching ** (depth - 1 - level) for level in range(depth)]
    return BlobsTree(points, labels, np.stack(levels, axis=1))


class Blobs(NamedTuple):
    """Points and the cluster each was drawn from (-1: an outlier)."""

    X: np.ndarray
    labels: np.ndarray


def make_benchmark_blobs(kind: str, n: int, d: int = 10, random_state: Any = None) -> Blobs:
    """One of the five kinds of data on which randomized BHC is measured.

    Parameters
    ----------
    kind : {"separated", "outliers", "skewed", "nested", "overlapping"}
        40 clusters with centres N(0, 12^2) and unit noise; the same with 1% uniform outliers (label -1);
        60 clusters with sizes like k ** -1.5; 5 groups of 6 clusters; 20 strongly overlapping clusters.
    n, d : int
        Rows and columns.
    random_state : int, Generator or None

    Examples
    --------
    >>> make_benchmark_blobs("separated", 100, random_state=0).X.shape
    (100, 10)
    """
    if kind not in _KINDS:
        raise InvalidSettingError(f"kind is one of {', '.join(_KINDS)}, got {kind!r}.")
    if n < 1 or d < 1:
        raise InvalidSettingError(f"n and d must be at least 1, got {n} and {d}.")
    return _KINDS[kind](generator(resolve_seed(random_state)), n, d)


def _draw(rng: np.random.Generator, centres: np.ndarray, labels: np.ndarray) -> Blobs:
    points = rng.standard_normal((len(labels), centres.shape[1]))
    points += centres[labels]
    return Blobs(points, labels)


def _separated(rng: np.random.Generator, n: int, d: int) -> Blobs:
    return _draw(rng, rng.normal(0, 12, (40, d)), rng.integers(0, 40, n))


def _outliers(rng: np.random.Generator, n: int, d: int) -> Blobs:
    points, labels = _separated(rng, n, d)
    stray = rng.permutation(n)[: n // 100]
    points[stray] = rng.uniform(-40, 40, (len(stray), d))
    labels[stray] = -1
    return Blobs(points, labels)


def _skewed(rng: np.random.Generator, n: int, d: int) -> Blobs:
    weights = np.arange(1, 61) ** -1.5
    labels = rng.choice(60, n, p=weights / weights.sum())
    return _draw(rng, rng.normal(0, 12, (60, d)), labels)


def _nested(rng: np.random.Generator, n: int, d: int) -> Blobs:
    centres = np.repeat(rng.normal(0, 20, (5, d)), 6, axis=0) + rng.normal(0, 4, (30, d))
    return _draw(rng, centres, rng.integers(0, 30, n))


def _overlapping(rng: np.random.Generator, n: int, d: int) -> Blobs:
    return _draw(rng, rng.normal(0, 1.5, (20, d)), rng.integers(0, 20, n))


_KINDS: dict[str, Callable[[np.random.Generator, int, int], Blobs]] = {
    "separated": _separated,
    "outliers": _outliers,
    "skewed": _skewed,
    "nested": _nested,
    "overlapping": _overlapping,
}
