"""Trees as rows of plain numbers: what reports say of clusters of trees, and which tree is typical of each."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.table import Table
from bayesgrove.stats.log_odds import LogOdds, log_odds
from bayesgrove.trees.forest import Forest

MOST_LABELS, MOST_POSITIONS = 150, 16
"""Labels (the most frequent) and positions (the first) that are features of their own."""


class ClusterCounts(NamedTuple):
    """How often clusters of trees use labels and positions."""

    labels: np.ndarray
    """int64 (n_clusters, n_labels): nodes with this label."""
    nodes: np.ndarray
    """int64 (n_clusters,): nodes with a known label."""
    positions: np.ndarray
    """int64 (n_clusters, max_outdegree): internal nodes with a child at this position."""
    internal: np.ndarray
    """int64 (n_clusters,): internal nodes."""


def cluster_counts(forest: Forest, labels: np.ndarray, n_clusters: int) -> ClusterCounts:
    """Counts of labels and of filled positions, cluster by cluster."""
    of_node = np.repeat(labels, forest.sizes)
    known = forest.labels != NULL
    n_labels = max(forest.n_labels, 1)
    used = np.bincount(of_node[known] * n_labels + forest.labels[known], minlength=n_clusters * n_labels)
    nodes, positions = filled_places(forest)
    largest = forest.max_outdegree
    filled = np.bincount(of_node[nodes] * largest + positions - 1, minlength=n_clusters * largest)
    return ClusterCounts(
        used.reshape(n_clusters, n_labels),
        np.bincount(of_node[known], minlength=n_clusters),
        filled.reshape(n_clusters, largest),
        np.bincount(of_node[forest.internal], minlength=n_clusters),
    )


def filled_places(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and positions at which they have a child, each pair once even where several children share a position."""
    below = np.flatnonzero(forest.parents != NULL)
    pairs = forest.parents[below].astype(np.int64) * (forest.max_outdegree + 1) + forest.positions[below]
    found = np.unique(pairs)
    return found // (forest.max_outdegree + 1), found % (forest.max_outdegree + 1)


def feature_table(forest: Forest, names: tuple[str, ...] | None) -> Table:
    """A row per tree: sizes, shares of the frequent labels (or means of numbers), shares of filled positions."""
    tree_of_node = np.repeat(np.arange(forest.n_trees), forest.sizes)
    columns = {**_size_features(forest, tree_of_node), **_label_features(forest, tree_of_node, names)}
    columns |= _position_features(forest, tree_of_node)
    kinds = tuple("integer" if name in ("nodes", "depth", "leaves") else "float" for name in columns)
    return Table(np.ascontiguousarray(np.column_stack(list(columns.values()))), tuple(columns), kinds)


def _size_features(forest: Forest, tree_of_node: np.ndarray) -> dict[str, np.ndarray]:
    deepest = np.maximum.reduceat(forest.depths, forest.offsets[:-1])
    leaves = np.bincount(tree_of_node[~forest.internal], minlength=forest.n_trees)
    return {
        "nodes": forest.sizes.astype(np.float64),
        "depth": deepest.astype(np.float64),
        "leaves": leaves.astype(float),
    }


def _label_features(forest: Forest, tree_of_node: np.ndarray, names: tuple[str, ...] | None) -> dict[str, np.ndarray]:
    if forest.values is not None:
        return {
            f"mean label {j}": _tree_means(forest.values[:, j], tree_of_node, forest.n_trees)
            for j in range(forest.values.shape[1])
        }
    known = forest.labels[forest.labels != NULL]
    counts = np.bincount(known, minlength=forest.n_labels)
    frequent = np.sort(np.argsort(-counts, kind="stable")[: min(MOST_LABELS, int((counts > 0).sum()))])
    found = {}
    for code in frequent.tolist():
        own = np.bincount(tree_of_node[forest.labels == code], minlength=forest.n_trees)
        found[f"share of {label_name(code, names)}"] = own / forest.sizes
    return found


def _tree_means(values: np.ndarray, tree_of_node: np.ndarray, n_trees: int) -> np.ndarray:
    known = np.isfinite(values)
    total = np.bincount(tree_of_node[known], values[known], minlength=n_trees)
    count = np.bincount(tree_of_node[known], minlength=n_trees)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _position_features(forest: Forest, tree_of_node: np.ndarray) -> dict[str, np.ndarray]:
    internal = np.maximum(np.bincount(tree_of_node[forest.internal], minlength=forest.n_trees), 1)
    nodes, positions = filled_places(forest)
    return {
        f"child at {position}": np.bincount(tree_of_node[nodes[positions == position]], minlength=forest.n_trees)
        / internal
        for position in range(1, min(forest.max_outdegree, MOST_POSITIONS) + 1)
    }


def label_name(code: int, names: tuple[str, ...] | None) -> str:
    """The text of a code, or the code itself where labels have no texts."""
    return str(code) if names is None else names[code]


def typical_trees(forest: Forest, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The tree of each cluster that is most like all of it; the first of equals.

    A tree is a table of how often each label stands at each position. The typical one is nearest, by Ruzicka's
    distance `1 - sum min / sum max`, to the mean table of its cluster. The model's own likelihood is no measure of it:
    it falls with every node, so the smallest tree would always win, and log odds against other clusters grow with every
    node, so the largest would.
    """
    n_symbols = forest.n_labels + 1
    key = forest.positions.astype(np.int64) * n_symbols + forest.labels + 1
    tree_of_node = np.repeat(np.arange(forest.n_trees), forest.sizes)
    width = n_symbols * (forest.max_outdegree + 1)
    cells, counts = np.unique(tree_of_node * width + key, return_counts=True)
    tree, symbol = cells // width, cells % width
    used, symbol = np.unique(symbol, return_inverse=True)
    sizes = np.bincount(labels, minlength=n_clusters)
    total = np.bincount(labels[tree] * used.size + symbol, counts, minlength=n_clusters * used.size)
    mean = total.reshape(n_clusters, used.size) / np.maximum(sizes, 1)[:, np.newaxis]
    shared = np.bincount(tree, np.minimum(counts, mean[labels[tree], symbol]), minlength=forest.n_trees)
    likeness = shared / (forest.sizes + mean.sum(axis=1)[labels] - shared)
    order = np.lexsort((np.arange(forest.n_trees), -likeness, labels))
    return order[np.searchsorted(labels[order], np.arange(n_clusters))]


class Telling(NamedTuple):
    """What one cluster of trees has more of, or less, than all others."""

    cluster: int
    name: str
    """A label, or a position as a text."""
    share: float
    """Of the cluster's nodes with this label, or of its internal nodes with a child at this position."""
    elsewhere: float
    """The same of all other clusters together."""
    log_odds: float
    """Log of the odds in the cluster over those elsewhere, half a case added to every count."""
    error: float
    """Standard error of `log_odds`, as if nodes were independent."""


def telling_labels(counts: ClusterCounts, names: tuple[str, ...] | None, most: int) -> list[Telling]:
    """The labels that set each cluster apart from the others, the most telling first, cluster by cluster."""
    found = log_odds(counts.labels, counts.nodes)
    return _tellings(found, most, lambda code: label_name(code, names), counts.labels.sum(axis=0) > 0)


def telling_positions(counts: ClusterCounts, most: int) -> list[Telling]:
    """The positions that set each cluster apart, by how often internal nodes have a child there."""
    found = log_odds(counts.positions, counts.internal)
    return _tellings(found, most, lambda place: str(place + 1), counts.positions.sum(axis=0) > 0)


def _tellings(found: LogOdds, most: int, name_of: Callable[[int], str], is_used: np.ndarray) -> list[Telling]:
    if len(found.log_ratio) < 2:
        return []
    return [
        Telling(
            cluster,
            name_of(symbol),
            float(found.share[cluster, symbol]),
            float(found.elsewhere[cluster, symbol]),
            float(found.log_ratio[cluster, symbol]),
            float(found.error[cluster, symbol]),
        )
        for cluster, order in enumerate(found.strongest(found.share.shape[1]).tolist())
        for symbol in [symbol for symbol in order if is_used[symbol]][:most]
    ]
