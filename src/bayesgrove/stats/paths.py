"""Trees of fixed depth as tables of paths: nodes, which of them have siblings, how tight and how far apart they are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.stats.partitions import relabel


class PathNodes(NamedTuple):
    """The nodes that paths run through; the root is node 0, the others follow level by level by first appearance."""

    node: np.ndarray
    """(n_items, n_levels): the node of each item at each level below the root."""
    parent: np.ndarray
    """(n_nodes,): -1 for the root."""
    level: np.ndarray
    """(n_nodes,): 0 for the root."""
    size: np.ndarray
    """(n_nodes,): items whose path runs through the node."""

    @property
    def has_sibling(self) -> np.ndarray:
        """Whether each node shares its parent with another one; such nodes are what a display of the tree keeps."""
        n_children = np.bincount(self.parent[1:], minlength=self.parent.size)
        return np.concatenate([[False], n_children[self.parent[1:]] > 1])


def number_paths(levels: ArrayLike) -> np.ndarray:
    """The same paths with ids 0, 1, ... by first appearance within each level: int64 of shape (n_items, n_levels).

    Two items have one id at a level if, and only if, they share all ids down to it.

    Examples
    --------
    >>> number_paths([[4, 0], [4, 1], [2, 0], [4, 0]]).tolist()
    [[0, 0], [0, 1], [1, 2], [0, 0]]
    """
    paths = checked_levels(levels)
    numbered = np.empty(paths.shape, np.int64)
    above = np.zeros(len(paths), np.int64)
    for level in range(paths.shape[1]):
        own = relabel(paths[:, level])
        above = relabel(above * (int(own.max()) + 1) + own)
        numbered[:, level] = above
    return numbered


def checked_levels(levels: ArrayLike) -> np.ndarray:
    """An array (item, level) of ids, or an error that says what is wrong."""
    paths = np.asarray(levels)
    if paths.ndim != 2 or 0 in paths.shape:
        raise InvalidInputError(
            f"levels have the shape (item, level), none of them 0, got {paths.shape}. "
            "Give model.level_labels_, or one draw of posterior.paths."
        )
    if paths.dtype.kind not in "biu":
        raise InvalidInputError(f"ids of nodes are integers, got an array of {paths.dtype}. Convert it to int64.")
    return paths


def path_nodes(levels: ArrayLike) -> PathNodes:
    """The nodes of a tree given as paths of shape (n_items, n_levels)."""
    numbered = number_paths(levels)
    n_items, n_levels = numbered.shape
    counts = numbered.max(axis=0) + 1
    first = 1 + np.concatenate([[0], np.cumsum(counts)])
    node = numbered + first[:-1]
    parent = np.full(first[-1], -1, np.int64)
    above = np.zeros(n_items, np.int64)
    for level in range(n_levels):
        parent[node[:, level]] = above
        above = node[:, level]
    size = np.bincount(node.ravel(), minlength=first[-1])
    size[0] = n_items
    return PathNodes(node, parent, np.repeat(np.arange(n_levels + 1), np.concatenate([[1], counts])), size)


def node_centroids(rows: np.ndarray, nodes: PathNodes) -> np.ndarray:
    """Mean row of each node's items, shape (n_nodes, n_columns)."""
    every = np.column_stack([np.zeros(len(rows), np.int64), nodes.node])
    found = np.empty((nodes.parent.size, rows.shape[1]))
    for column in range(rows.shape[1]):
        weights = np.repeat(rows[:, column], every.shape[1])
        found[:, column] = np.bincount(every.ravel(), weights, minlength=nodes.parent.size)
    return found / nodes.size[:, None]


def inner_distances(rows: np.ndarray, nodes: PathNodes) -> np.ndarray:
    """Mean squared distance of two items of each node, shape (n_nodes,); nan for nodes of one item.

    The mean over pairs is 2 / (N - 1) times the sum of squared distances from the centroid.
    """
    centred = rows - rows.mean(axis=0)
    centroids = node_centroids(centred, nodes)
    spread = np.zeros(nodes.parent.size)
    spread[0] = np.sum(centred**2)
    for level in range(nodes.node.shape[1]):
        own = nodes.node[:, level]
        spread += np.bincount(own, np.sum((centred - centroids[own]) ** 2, axis=1), minlength=spread.size)
    return np.where(nodes.size > 1, 2.0 * spread / np.maximum(nodes.size - 1, 1), np.nan)


def sibling_distances(rows: np.ndarray, nodes: PathNodes) -> np.ndarray:
    """Squared distances of the centroids of all unordered pairs of siblings."""
    centroids = node_centroids(rows - rows.mean(axis=0), nodes)
    order = np.argsort(nodes.parent, kind="stable")[1:]  # the root is first
    groups = np.split(order, np.flatnonzero(np.diff(nodes.parent[order])) + 1)
    found = [pair_distances(centroids[group]) for group in groups if group.size > 1]
    return np.concatenate(found) if found else np.empty(0)


def pair_distances(points: np.ndarray) -> np.ndarray:
    """Squared distances of all unordered pairs of points."""
    first, second = np.triu_indices(len(points), 1)
    return np.sum((points[first] - points[second]) ** 2, axis=1)


def best_f_measure(clusters: np.ndarray, classes: np.ndarray) -> float:
    """Sum over classes of their share times the best F of any cluster; both with labels from 0 on."""
    both = np.zeros((int(classes.max()) + 1, int(clusters.max()) + 1))
    np.add.at(both, (classes, clusters), 1.0)
    in_class, in_cluster = both.sum(axis=1), both.sum(axis=0)
    # 2 P R / (P + R) with P = n_ij / n_j and R = n_ij / n_i
    f = 2.0 * both / (in_class[:, None] + in_cluster)
    return float(in_class @ f.max(axis=1) / clusters.size)
