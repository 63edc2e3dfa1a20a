"""Sufficient statistics of the nodes of a tree, of the clusters of a partition."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, merge, n_stats
from bayesgrove.trees import Tree


def node_statistics(prior: Any, values: Any, tree: Tree, nodes: np.ndarray) -> np.ndarray:
    """Statistics of some nodes of a tree, shape (n_wanted, n_stats).

    Every row is added to the lowest of them above it, these are then merged upwards: one pass over the rows in their
    own order, and no more memory than the answer and a number per node. Rows on a cluster are added there.
    """
    labels, above = lowest_wanted(tree.parent, tree.leaf_of_item, np.asarray(nodes))
    rows, _ = statistics_of_clusters(prior, values, labels, len(nodes))
    merge_upwards(prior, np.argsort(nodes), above, rows)
    return rows


def statistics_of_clusters(
    prior: Any, values: Any, labels: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Statistics and sizes of the clusters of a partition of rows, which are an array or stand on a cluster."""
    if hasattr(values, "cluster_statistics"):
        rows, sizes = values.cluster_statistics(prior, labels, n_clusters)
        return rows, sizes
    return cluster_statistics(prior, values, labels, n_clusters)


class NodeRows:
    """Statistics of the nodes several readers want, found in one pass over the rows."""

    def __init__(self, prior: Any, values: Any, tree: Tree, *wanted: np.ndarray) -> None:
        self.nodes = np.unique(np.concatenate(wanted))
        self.rows = node_statistics(prior, values, tree, self.nodes)

    def of(self, nodes: np.ndarray) -> np.ndarray:
        """Statistics of some of the wanted nodes."""
        return self.rows[np.searchsorted(self.nodes, nodes)]


@kernel
def lowest_wanted(parent, leaf_of_item, nodes):
    """For each item the place in `nodes` of the lowest of them at or above its leaf; the same for each of `nodes`,
    strictly above it; NULL where there is none."""
    owner = np.full(parent.size, NULL, np.int32)
    for k in range(nodes.size):
        owner[nodes[k]] = k
    above = np.full(nodes.size, NULL)
    for node in range(parent.size - 2, -1, -1):
        inherited = owner[parent[node]]
        if owner[node] == NULL:
            owner[node] = inherited
        else:
            above[owner[node]] = inherited
    return owner[leaf_of_item].astype(np.int64), above


@kernel
def merge_upwards(prior, order, above, rows):
    """Merge each of some rows, in this order, into the row above it."""
    for k in order:
        if above[k] != NULL:
            merge(prior, rows[above[k]], rows[above[k]], rows[k])


@kernel
def cluster_statistics(prior, values, labels, n_clusters):
    """Statistics and sizes of the clusters of a partition; rows labelled NULL are left out."""
    rows = np.zeros((n_clusters, n_stats(prior)))
    sizes = np.zeros(n_clusters)
    add_rows(prior, values, labels, rows, sizes)
    return rows, sizes


@kernel
def add_rows(prior, values, labels, rows, sizes):
    """Add rows of data, one after another, to the statistics and sizes of their clusters."""
    for i in range(labels.size):
        if labels[i] != NULL:
            add(prior, rows[labels[i]], values[i])
            sizes[labels[i]] += 1.0
