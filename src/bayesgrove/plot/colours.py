"""Colours of clusters, safe for colour-blind readers, and which nodes wear them."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import node_labels

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")
"""Okabe and Ito's colours without black and yellow, and two of Tol's; neighbours differ in lightness too."""

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


def node_clusters(tree: Tree, labels: np.ndarray) -> np.ndarray:
    """Rank, from left to right, of the cluster that holds all of a node's leaves; -1 where they differ."""
    first_places = np.unique(labels[tree.leaf_order], return_index=True)[1]
    rank = np.argsort(np.argsort(first_places))
    return node_labels(tree, rank[labels])


def node_colours(tree: Tree, labels: np.ndarray | None, nodes: np.ndarray) -> list[str]:
    """A colour for each of some nodes: its cluster's, grey above the cut."""
    if labels is None:
        return [PLAIN] * nodes.size
    ranks = node_clusters(tree, labels)[nodes]
    return [MIXED if rank == NULL else PALETTE[rank % len(PALETTE)] for rank in ranks.tolist()]
