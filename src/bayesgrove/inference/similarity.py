"""What draws say about pairs of items: certainty of a partition item by item, and how far chains disagree."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.stats.partitions import co_clustering

MAX_SAMPLED_ITEMS = 500
SAMPLE_SEED = 20_180_101
"""Fixed, so that two looks at a run watch the same items."""


@dataclass(frozen=True, eq=False)
class Certainty:
    """How firmly each item belongs to its cluster of a given partition.

    Attributes
    ----------
    own : float array of shape (n_items,)
        Mean similarity of the item with the others of its cluster; of an item alone in its cluster, the share of
        draws in which it is alone.
    alternative : int64 array of shape (n_items,)
        The other cluster with whose items it has the greatest mean similarity; -1 when there is no other cluster.
    alternative_similarity : float array of shape (n_items,)
        That mean similarity; 0 when there is no other cluster.
    """

    own: np.ndarray
    alternative: np.ndarray
    alternative_similarity: np.ndarray


def cohesion(draws: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Share of draws in which two rows of a cluster are together, by cluster of `labels`; 1 for a cluster of one.

    The mean over all pairs of the cluster, without a matrix of pairs.
    """
    sizes = np.bincount(labels)
    together = np.zeros(sizes.size)
    for draw in draws:
        met, counts = np.unique(draw.astype(np.int64) * sizes.size + labels, return_counts=True)
        together += np.bincount(met % sizes.size, counts * (counts - 1.0), minlength=sizes.size)
    n_pairs = np.maximum(sizes * (sizes - 1.0), 1.0) * len(draws)
    return np.where(sizes > 1, together / n_pairs, 1.0)


def pairs_between(draws: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Pairs of items from two clusters of `labels` that are together, summed over draws: (n_clusters, n_clusters).

    Divided by the number of draws and the sizes of two clusters, the share of draws in which an item of the one is
    together with an item of the other. The diagonal counts every item with itself.
    """
    n_clusters = int(labels.max()) + 1
    together = np.zeros((n_clusters, n_clusters))
    for draw in draws:
        own = draw.astype(np.int64)
        met = np.bincount(own * n_clusters + labels, minlength=(int(own.max()) + 1) * n_clusters)
        table = met.reshape(-1, n_clusters).astype(float)
        together += table.T @ table
    return together


def certainty_of(draws: np.ndarray, labels: np.ndarray) -> Certainty:
    """Certainty of each item's place; both arguments with labels 0, 1, ... by first appearance."""
    n_items = labels.size
    sizes = np.bincount(labels)
    affinity, alone = cluster_affinities(draws, labels, sizes.size)
    rows = np.arange(n_items)
    own_size = sizes[labels]
    # The item itself agrees in every draw and is no evidence.
    own = (affinity[rows, labels] - 1.0) / np.maximum(own_size - 1, 1)
    own = np.where(own_size == 1, alone, own)
    mean = affinity / sizes
    mean[rows, labels] = -1.0
    if sizes.size == 1:
        return Certainty(own, np.full(n_items, NULL), np.zeros(n_items))
    alternative = np.argmax(mean, axis=1)
    return Certainty(own, alternative, mean[rows, alternative])


@kernel
def cluster_affinities(draws: np.ndarray, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum of similarities of each item with each cluster's items, and the share of draws in which it is alone."""
    n_draws, n_items = draws.shape
    affinity = np.zeros((n_items, n_clusters))
    alone = np.zeros(n_items)
    counts = np.zeros((n_items, n_clusters), np.int64)
    sizes = np.zeros(n_items, np.int64)
    for draw in range(n_draws):
        n_blocks = 0
        for i in range(n_items):
            block = draws[draw, i]
            n_blocks = max(n_blocks, block + 1)
            counts[block, labels[i]] += 1
            sizes[block] += 1
        for i in range(n_items):
            block = draws[draw, i]
            alone[i] += sizes[block] == 1
            for k in range(n_clusters):
                affinity[i, k] += counts[block, k]
        for block in range(n_blocks):
            sizes[block] = 0
            for k in range(n_clusters):
                counts[block, k] = 0
    return affinity / n_draws, alone / n_draws


@dataclass(frozen=True)
class ChainDistance:
    """How much the similarity matrices of chains differ, and how much they would by chance."""

    mean: float
    largest: float
    """`mean` and `largest`: mean and largest absolute difference of two chains' similarities, over pairs of items,
    averaged over pairs of chains (`mean`) or the largest of them (`largest`)."""
    expected_mean: float
    expected_largest: float
    """`expected_mean` and `expected_largest`: the same for chains of one distribution, from the differences of the two
    halves of each chain: halves have twice the variance, so that their differences are divided by the root of 2."""
    n_items: int
    """Items looked at: all, or a fixed sample of 500."""

    def __str__(self) -> str:
        return (
            f"Similarities of two chains differ by {self.mean:.3f} on average ({self.expected_mean:.3f} expected from "
            f"the halves of chains) and by {self.largest:.2f} at most ({self.expected_largest:.2f} expected), "
            f"{self.n_items} items."
        )


def sample_items(n_items: int) -> np.ndarray:
    """All items, or the same 500 of them each time."""
    if n_items <= MAX_SAMPLED_ITEMS:
        return np.arange(n_items)
    return np.sort(generator(SAMPLE_SEED, 0).permutation(n_items)[:MAX_SAMPLED_ITEMS])


def half_similarities(labels: np.ndarray) -> np.ndarray:
    """Similarity of each half of each chain, shape (n_chains, 2, n_items, n_items); labels (chain, draw, item)."""
    half = labels.shape[1] // 2
    return np.array([[co_clustering(chain[:half]), co_clustering(chain[-half:])] for chain in labels])


def chain_distance(halves: np.ndarray) -> ChainDistance | None:
    """Distance of chains from the similarities of their halves; None for a single chain or a single item."""
    n_chains, _, n_items, _ = halves.shape
    if n_chains < 2 or n_items < 2:
        return None
    pairs = np.tril_indices(n_items, -1)
    values = halves[:, :, pairs[0], pairs[1]]
    whole = values.mean(axis=1)
    between = [np.abs(whole[a] - whole[b]) for a, b in combinations(range(n_chains), 2)]
    within = np.abs(values[:, 0] - values[:, 1]) / np.sqrt(2.0)
    return ChainDistance(
        mean=float(np.mean(between)),
        largest=float(np.max(between)),
        expected_mean=float(within.mean()),
        expected_largest=float(within.max()),
        n_items=n_items,
    )


def matrix_error(halves: np.ndarray) -> float | None:
    """What the similarities of two runs like this one would differ by, on average over pairs; None for one item.

    Similarities of a whole run vary less than those of a chain by the root of the number of chains. Of a single chain
    the halves tell.
    """
    found = chain_distance(halves)
    if found is not None:
        return found.mean / np.sqrt(len(halves))
    n_items = halves.shape[2]
    if n_items < 2:
        return None
    pairs = np.tril_indices(n_items, -1)
    return float(np.abs(halves[0, 0] - halves[0, 1])[pairs].mean() / np.sqrt(2.0))
