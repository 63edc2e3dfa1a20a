"""Dendrogram heights from log merge odds, which themselves are not monotone."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel


def odds_offset(item: np.ndarray, log_merge_odds: np.ndarray) -> float:
    """The height at which a merge has probability 1/2: the largest finite log odds, at least 0."""
    finite = np.isfinite(log_merge_odds) & (item == NULL)
    return max(0.0, float(np.max(log_merge_odds, where=finite, initial=-np.inf)))


def heights_from_odds(parent: np.ndarray, item: np.ndarray, log_merge_odds: np.ndarray) -> np.ndarray:
    """Offset plus the running maximum over descendants of -log odds; leaves lie at 0.

    A parent's odds may exceed a child's (72 of 300 random tables), so -log odds alone is no height. The
    offset makes heights non-negative; merges certain for or against (infinite odds) are drawn at the
    nearest finite height of the same tree.
    """
    return _heights(parent, item, log_merge_odds, odds_offset(item, log_merge_odds))


@kernel
def _heights(parent: np.ndarray, item: np.ndarray, log_merge_odds: np.ndarray, offset: float) -> np.ndarray:
    lowest = 0.0
    for node in range(parent.size):
        if item[node] == NULL and np.isfinite(log_merge_odds[node]):
            lowest = min(lowest, log_merge_odds[node])
    height = np.zeros(parent.size)
    for node in range(parent.size):
        if item[node] == NULL:
            height[node] = max(height[node], offset - min(max(log_merge_odds[node], lowest), offset))
        if parent[node] != NULL:
            height[parent[node]] = max(height[parent[node]], height[node])
    return height
