"""Credible balls: how far from a partition most of the posterior reaches, and what stands at the rim."""

import math
from dataclasses import dataclass

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.stats.partition_losses import distances_to_draws, named_loss

TIE = 1e-9
"""Distances nearer than this are equal: the rest is the order of a sum."""


@dataclass(frozen=True, eq=False)
class CredibleBall:
    """The smallest ball around a partition that holds a share of the draws.

    Attributes
    ----------
    center : int64 array of shape (n_items,)
    level : float
        The share asked for.
    loss : str
        "vi" or "binder", the distance.
    radius : float
        The smallest distance within which at least that share of the draws lies.
    share_inside : float
        The share of draws that do lie within it.
    horizontal : int64 array of shape (n_bounds, n_items)
        The draws in the ball farthest from the center; several when they are equally far.
    upper, lower : int64 array of shape (n_bounds, n_items)
        Of the draws in the ball with the fewest (upper) or the most clusters (lower), the farthest.
    """

    center: np.ndarray
    level: float
    loss: str
    radius: float
    share_inside: float
    horizontal: np.ndarray
    upper: np.ndarray
    lower: np.ndarray

    def __repr__(self) -> str:
        return (
            f"CredibleBall(level={self.level:g}, radius={self.radius:.4g}, share_inside={self.share_inside:.4g}, "
            f"n_clusters={_n_clusters(self.upper[0])}..{_n_clusters(self.lower[0])}, loss={self.loss!r})"
        )


def ball_around(draws: np.ndarray, center: np.ndarray, level: float, loss: str) -> CredibleBall:
    """The credible ball of a share of the draws, with the bounds of Wade and Ghahramani (2018), section 4.

    Draws (n_draws, n_items) are as `relabel_draws` gives them, the center is numbered by first appearance.
    """
    if not 0.0 < level <= 1.0:
        raise InvalidSettingError(f"level is a share of the draws above 0 and at most 1, got {level}. Try 0.95.")
    measure = named_loss(loss, draws.shape[1])
    distance = distances_to_draws(center[np.newaxis].astype(np.int32), draws, measure)[0]
    # Rounding before the ceiling: 0.95 * 20 is 19.000000000000004 or 19 by luck.
    needed = math.ceil(round(level * distance.size, 9))
    radius = float(np.partition(distance, needed - 1)[needed - 1])
    inside = distance <= radius + TIE
    kept, distance = draws[inside], distance[inside]
    n_clusters = kept.max(axis=1) + 1
    everywhere = np.ones(len(kept), bool)
    return CredibleBall(
        center=center,
        level=level,
        loss=loss,
        radius=radius,
        share_inside=float(inside.mean()),
        horizontal=_farthest(kept, distance, everywhere),
        upper=_farthest(kept, distance, n_clusters == n_clusters.min()),
        lower=_farthest(kept, distance, n_clusters == n_clusters.max()),
    )


def _farthest(draws: np.ndarray, distance: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The different partitions at the largest distance among some draws."""
    largest = distance[among].max()
    return np.unique(draws[among & (distance >= largest - TIE)], axis=0).astype(np.int64)


def _n_clusters(labels: np.ndarray) -> int:
    return int(labels.max()) + 1
