"""What pictures and reports show of a result, as plain arrays: pairs, certainty, number of clusters, ranks, a plane."""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.description import Description, spread
from bayesgrove.inference.result import Result
from bayesgrove.inference.similarity import cohesion
from bayesgrove.stats.partitions import co_clustering
from bayesgrove.trees import cluster_count_law, neighbours_together, together_below
from bayesgrove.trees.consensus import consensus_tree
from bayesgrove.trees.cuts import node_labels

MOST_PAIR_DRAWS = 2_000
"""Draws, evenly spread, that a similarity to be drawn is computed from."""


class PairSample(NamedTuple):
    """How often rows are together, for rows in an order that shows it."""

    items: np.ndarray
    """Rows, in the order to draw."""
    similarity: np.ndarray
    """(n, n), between 0 and 1."""
    is_sampled: bool
    """Whether from draws; else from the partitions that the tree allows."""


def pair_sample(result: Result, most: int) -> PairSample | None:
    """Similarities of all rows, or of `most` of them, evenly spread; None for a tree without odds or draws.

    Draws are ordered by their consensus tree, cluster by cluster as the result's tree has them.
    """
    tree = result.tree
    places = spread(tree.n_leaves, most)
    items = tree.leaf_order[places]
    posterior = result.draws_of_clusters
    if posterior is not None:
        draws = posterior.labels.reshape(-1, posterior.n_items)
        draws = draws[np.ix_(spread(len(draws), MOST_PAIR_DRAWS), items)]
        inside = consensus_tree(draws).leaf_order
        first = np.unique(result.labels[tree.leaf_order], return_index=True)[1]
        order = inside[np.argsort(first[result.labels[items[inside]]], kind="stable")]
        return PairSample(items[order], co_clustering(draws[:, order]), True)
    if tree.log_merge_odds is None:
        return None
    return PairSample(items, pairs_of_places(neighbours_together(tree), places), False)


def pairs_of_places(neighbours: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The least of the neighbours' probabilities between every two places."""
    m = places.size
    pairs = np.ones((m, m))
    if m > 1:
        steps = np.minimum.reduceat(neighbours, places[:-1])  # the last one runs to the end
        steps[-1] = neighbours[places[-2] : places[-1]].min()
        for i in range(m - 1):
            pairs[i, i + 1 :] = np.minimum.accumulate(steps[i:])
    lower = np.tril_indices(m, -1)
    pairs[lower] = pairs.T[lower]
    return pairs


def cluster_certainty(result: Result) -> np.ndarray | None:
    """Mean probability that two rows of a cluster are together, by cluster; 1 for a cluster of one row.

    None for a tree without odds or draws.
    """
    posterior = result.draws_of_clusters
    if posterior is not None:
        draws = posterior.labels.reshape(-1, posterior.n_items)
        return cohesion(draws[spread(len(draws), MOST_PAIR_DRAWS)], result.labels)
    return None if result.tree.log_merge_odds is None else _tree_certainty(result)


def _tree_certainty(result: Result) -> np.ndarray:
    """Every pair of rows is counted at the lowest node that has both; nan for a cluster that is no branch."""
    tree, labels = result.tree, result.labels
    sizes = np.bincount(labels).astype(np.float64)
    squares = np.bincount(tree.parent[:-1], tree.size[:-1] ** 2.0, minlength=tree.n_nodes)
    n_pairs = np.where(tree.item == NULL, (tree.size**2.0 - squares) / 2.0, 0.0)
    of_node = node_labels(tree, labels)
    inside = of_node != NULL
    own = of_node[inside]
    pairs_found = np.bincount(own, n_pairs[inside], minlength=sizes.size)
    total = np.bincount(own, (n_pairs * together_below(tree))[inside], minlength=sizes.size)
    wanted = sizes * (sizes - 1.0) / 2.0
    mean = total / np.maximum(wanted, 1.0)
    return np.where(sizes == 1, 1.0, np.where(pairs_found == wanted, mean, np.nan))


class CountDistribution(NamedTuple):
    """Probabilities of numbers of clusters."""

    counts: np.ndarray
    probability: np.ndarray
    is_sampled: bool

    def interval(self, level: float = 0.9) -> tuple[int, int]:
        """The shortest run of numbers that holds at least this probability."""
        total = np.concatenate([[0.0], np.cumsum(self.probability)])
        best = (0, self.counts.size - 1)
        for first in range(self.counts.size):
            last = int(np.searchsorted(total, total[first] + level - 1e-12)) - 1
            if last < self.counts.size and last - first < best[1] - best[0]:
                best = (first, max(last, first))
        return int(self.counts[best[0]]), int(self.counts[best[1]])


def count_distribution(result: Result) -> CountDistribution | None:
    """How probable each number of clusters is: in the draws, or among the partitions that the tree allows."""
    posterior = result.draws_of_clusters
    if posterior is not None:
        labels = posterior.labels
        numbers = posterior.scalars.get("n_clusters")
        if numbers is None:
            numbers = np.array([np.unique(draw).size for draw in labels.reshape(-1, labels.shape[2])])
        counts, seen = np.unique(numbers.astype(np.int64), return_counts=True)
        return CountDistribution(counts, seen / seen.sum(), True)
    if result.tree.log_merge_odds is None:
        return None
    least, law = cluster_count_law(result.tree)
    return CountDistribution(np.arange(least, least + law.size), law, False)


def rank_counts(values: np.ndarray, n_bins: int = 20) -> np.ndarray:
    """How many of each chain's draws fall into each bin of all draws' ranks; shape (n_chains, n_bins).

    Chains that sample one distribution fill all bins alike. Ties share their mean rank.
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts + 1) / 2.0)[inverse].reshape(values.shape)
    bins = np.minimum((ranks / values.size * n_bins).astype(np.int64), n_bins - 1)
    return np.stack([np.bincount(chain, minlength=n_bins) for chain in bins])


class Plane(NamedTuple):
    """Rows in the plane of greatest variance."""

    items: np.ndarray
    xy: np.ndarray
    """(n, 2)"""
    share: np.ndarray
    """(2,) share of the variance along each axis."""


def principal_plane(described: Description) -> Plane:
    """First two principal components of the sampled rows; columns with mean 0 and variance 1, missing cells at 0.

    Categories count as yes/no columns.
    """
    cells = feature_cells(described)
    mean = np.nanmean(cells, axis=0) if cells.size else np.zeros(cells.shape[1])
    scale = np.nanstd(cells, axis=0) if cells.size else np.ones(cells.shape[1])
    centred = np.nan_to_num((cells - mean) / np.where(scale > 0.0, scale, 1.0))
    left, values, _ = np.linalg.svd(centred - centred.mean(axis=0), full_matrices=False)
    two = np.zeros((len(cells), 2))
    two[:, : min(2, values.size)] = (left * values)[:, :2]
    # Signs are arbitrary: the farthest row of each axis is on the positive side.
    far = np.take_along_axis(two, np.abs(two).argmax(axis=0)[np.newaxis], axis=0)[0]
    share = np.zeros(2)
    share[: min(2, values.size)] = (values**2 / max(float(np.sum(values**2)), 1e-300))[:2]
    return Plane(described.rows, two * np.where(far < 0.0, -1.0, 1.0), share)


def feature_cells(described: Description) -> np.ndarray:
    """Cells of the sampled rows, feature by feature; a rate's are 0 and 1; features without a sampled column left out.

    A column that is missing altogether gives zeros.
    """
    place = _sample_places(described)
    found = []
    for feature in (described.features[f] for f in sampled_features(described)):
        cells = described.sample.values[:, place[feature.column]]
        numbers = np.where(np.isnan(cells), np.nan, cells == feature.category) if feature.category >= 0 else cells
        found.append(np.zeros(numbers.size) if np.isnan(numbers).all() else numbers)
    return np.column_stack(found) if found else np.zeros((described.rows.size, 0))


def sampled_features(described: Description) -> np.ndarray:
    """Numbers of the features whose column is in the sample: those that `feature_cells` has, in its order."""
    place = _sample_places(described)
    return np.flatnonzero([place[feature.column] != NULL for feature in described.features])


def _sample_places(described: Description) -> np.ndarray:
    """Place in the sample of each column of the table that features are of; -1 where it has none."""
    place = np.full(int(max((f.column for f in described.features), default=-1)) + 1, NULL)
    is_known = described.columns < place.size
    place[described.columns[is_known]] = np.flatnonzero(is_known)
    return place
