"""Colours of clusters, safe for colour-blind readers, and which nodes wear them."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import node_labels

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")
"""Okabe and Ito's colours without black and yellow, and two of Tol's; neighbours differ in lightness too."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One fewer than colours, so that the pairs of both repeat after 56 clusters only."""

MIXED = "#8A8A8A"
"""Nodes above the cut, whose leaves belong to several clusters."""

PLAIN = "#33506B"
"""Trees without any clusters."""


def cluster_labels(tree: Tree, labels: np.ndarray | None) -> np.ndarray | None:
    """The labels given, checked, or those of the cut at probability 1/2; None for a tree without odds."""
    if labels is None:
        return None if tree.log_merge_odds is None else tree.cut(probability=0.5)
    labels = np.asarray(labels)
    if labels.shape != (tree.n_leaves,):
        raise InvalidSettingError(
            f"labels need one entry per item, got shape {labels.shape} for {tree.n_leaves} items."
        )
    return np.unique(labels, return_inverse=True)[1]


def cluster_ranks(tree: Tree, labels: np.ndarray) -> np.ndarray:
    """Rank of each cluster by its first leaf, from left to right; labels are consecutive from 0."""
    first_places = np.unique(labels[tree.leaf_order], return_index=True)[1]
    return np.argsort(np.argsort(first_places))


def cluster_colours(tree: Tree, labels: np.ndarray) -> list[str]:
    """A colour for each cluster, the same in all pictures: by its rank in the tree."""
    return [PALETTE[rank % len(PALETTE)] for rank in cluster_ranks(tree, labels).tolist()]


def cluster_markers(tree: Tree, labels: np.ndarray) -> list[str]:
    """A marker for each cluster; where colours come round again markers differ."""
    return [MARKERS[rank % len(MARKERS)] for rank in cluster_ranks(tree, labels).tolist()]


def node_clusters(tree: Tree, labels: np.ndarray) -> np.ndarray:
    """Rank, from left to right, of the cluster that holds all of a node's leaves; -1 where they differ."""
    return node_labels(tree, cluster_ranks(tree, labels)[labels])


def node_colours(tree: Tree, labels: np.ndarray | None, nodes: np.ndarray) -> list[str]:
    """A colour for each of some nodes: its cluster's, grey above the cut."""
    if labels is None:
        return [PLAIN] * nodes.size
    ranks = node_clusters(tree, labels)[nodes]
    return [MIXED if rank == NULL else PALETTE[rank % len(PALETTE)] for rank in ranks.tolist()]
