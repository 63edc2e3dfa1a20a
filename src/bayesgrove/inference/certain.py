"""The largest set of items whose clustering among themselves is certain (after CHIPS)."""

import math
from dataclasses import dataclass

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.stats.partitions import relabel


@dataclass(frozen=True, eq=False)
class CertainItems:
    """Items that a posterior divides in one way with a given probability."""

    labels: np.ndarray
    """(n_items,): clusters of the certain items, consecutive from 0 in the order of each cluster's first item; -1 for
    the others."""
    probability: float
    """Share of the draws in which the certain items are divided like this."""

    @property
    def items(self) -> np.ndarray:
        """The certain items."""
        return np.flatnonzero(self.labels != NULL)

    def __repr__(self) -> str:
        n_clusters = int(self.labels.max()) + 1
        return f"CertainItems(n_items={self.items.size}, n_clusters={n_clusters}, probability={self.probability:.4g})"


def certain_items(seed: int, draws: np.ndarray, probability: float, n_starts: int) -> CertainItems:
    """See `Posterior.certain`."""
    if not 0.0 < probability <= 1.0:
        raise InvalidSettingError(f"probability lies above 0 and is at most 1, got {probability}. Try 0.95.")
    if n_starts < 1:
        raise InvalidSettingError(f"n_starts must be at least 1, got {n_starts}. Leave it out for the default.")
    n_draws, n_items = draws.shape
    least = max(1, math.ceil(probability * n_draws - 1e-9))
    rng, n_blocks = generator(seed), int(draws.max()) + 1
    first = rng.permutation(n_items)[:n_starts]
    best, most = np.full(n_items, NULL), (0, 0)
    for item in first:
        labels, n_kept = grow_certain(draws, n_blocks, rng.permutation(n_items), int(item), least)
        size = (int(np.count_nonzero(labels != NULL)), int(n_kept))
        if size > most:
            best, most = labels, size
    is_certain = best != NULL
    best[is_certain] = relabel(best[is_certain])
    return CertainItems(best, most[1] / n_draws)


@kernel
def open_cluster(
    draws: np.ndarray, kept: np.ndarray, item: int, cluster: int, of_block: np.ndarray, counts: np.ndarray
) -> None:
    """A new cluster with an item: in each draw kept, its block is that cluster, and its items may follow."""
    for d in range(draws.shape[0]):
        if kept[d]:
            block = draws[d, item]
            of_block[d, block] = cluster
            for i in range(draws.shape[1]):
                if draws[d, i] == block:
                    counts[i, 0] -= 1
                    counts[i, cluster] += 1


@kernel
def wider_counts(counts: np.ndarray) -> np.ndarray:
    """Room for twice as many clusters."""
    wider = np.zeros((counts.shape[0], 2 * counts.shape[1]), np.int64)
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            wider[i, k] = counts[i, k]
    return wider


@kernel
def grow_certain(draws: np.ndarray, n_blocks: int, order: np.ndarray, first: int, least: int) -> tuple[np.ndarray, int]:
    """Add items greedily while at least `least` draws are kept; labels (-1: not certain) and the draws kept.

    `counts[i, c]` is the number of draws kept in which item i is in cluster c; c = 0 is none of the clusters yet.
    Ties are broken by `order`. Each draw is dropped once and each cluster opened once, so that the tables cost items x
    draws x clusters in all.
    """
    n_draws, n_items = draws.shape
    labels, kept = np.full(n_items, NULL), np.ones(n_draws, np.bool_)
    of_block, counts = np.zeros((n_draws, n_blocks), np.int64), np.zeros((n_items, 8), np.int64)
    for i in range(n_items):
        counts[i, 0] = n_draws
    n_kept, n_clusters, item, place = n_draws, 0, first, 0
    while True:
        is_new = place == 0
        for d in range(n_draws):
            if kept[d] and of_block[d, draws[d, item]] != place:
                kept[d] = False
                n_kept -= 1
                for i in range(n_items):
                    counts[i, of_block[d, draws[d, i]]] -= 1
        if is_new:
            n_clusters += 1
            place = n_clusters
            if n_clusters == counts.shape[1]:
                counts = wider_counts(counts)
            open_cluster(draws, kept, item, place, of_block, counts)
        labels[item] = place - 1
        item, place, most = -1, 0, least - 1
        for i in order:
            if labels[i] == NULL:
                for k in range(n_clusters + 1):
                    if counts[i, k] > most:
                        item, place, most = i, k, counts[i, k]
        if item < 0:
            return labels, n_kept
