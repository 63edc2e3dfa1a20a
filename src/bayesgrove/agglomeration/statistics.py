"""Sufficient statistics of the nodes of a tree, of the clusters of a partition."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, merge, n_stats
from bayesgrove.trees import Tree
from bayesgrove.trees.traverse import heavy_first_postorder

STACK_PLACES = 128
"""More than 2 + log2 of any number of leaves."""


def node_statistics(prior: Any, values: Any, tree: Tree, nodes: np.ndarray) -> np.ndarray:
    """Statistics of some nodes of a binary tree, shape (n_wanted, n_stats).

    One pass over the tree with a short stack of rows: no more memory than the answer. Rows on a cluster are combined
    there.
    """
    if hasattr(values, "node_statistics"):
        return values.node_statistics(prior, tree, np.asarray(nodes))
    wanted = np.full(tree.n_nodes, NULL)
    wanted[nodes] = np.arange(len(nodes))
    order = heavy_first_postorder(tree.first_child, tree.next_sibling, tree.size)
    out = np.zeros((len(nodes), n_stats(prior)))
    combine(prior, values, order, tree.item, wanted, out)
    return out


def place_of_middle(numbers: np.ndarray) -> int:
    """Where the number in the middle stands; of equal ones the one that a stable sort puts there."""
    middle = numbers.size // 2
    value = np.partition(numbers, middle)[middle]
    return int(np.flatnonzero(numbers == value)[middle - np.count_nonzero(numbers < value)])


class NodeRows:
    """Statistics of the nodes several readers want, found in one pass over the tree."""

    def __init__(self, prior: Any, values: Any, tree: Tree, *wanted: np.ndarray) -> None:
        self.nodes = np.unique(np.concatenate(wanted))
        self.rows = node_statistics(prior, values, tree, self.nodes)

    def of(self, nodes: np.ndarray) -> np.ndarray:
        """Statistics of some of the wanted nodes."""
        return self.rows[np.searchsorted(self.nodes, nodes)]


@kernel
def combine(prior, values, order, item, wanted, out):
    """Push leaves, merge the two on top at inner nodes, copy what is wanted."""
    stack = np.zeros((STACK_PLACES, out.shape[1]))
    top, width = -1, out.shape[1]
    for node in order:
        if item[node] != NULL:
            top += 1
            for s in range(width):
                stack[top, s] = 0.0
            add(prior, stack[top], values[item[node]])
        else:
            top -= 1
            merge(prior, stack[top], stack[top], stack[top + 1])
        if wanted[node] != NULL:
            for s in range(width):
                out[wanted[node], s] = stack[top, s]


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


@kernel
def combine_known(prior, order, first, second, rows):
    """Write the statistics of the nodes of `order`, children first, each merged from those of two other nodes."""
    for i in range(order.size):
        merge(prior, rows[order[i]], rows[first[i]], rows[second[i]])


@kernel
def combine_each(prior, values, starts, item, wanted, out):
    """`combine` for several trees, one after another in postorder: a tree that is done leaves the stack."""
    order = np.arange(item.size)
    for tree in range(starts.size - 1):
        combine(prior, values, order[starts[tree] : starts[tree + 1]], item, wanted, out)
