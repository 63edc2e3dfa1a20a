"""The posterior over the partitions consistent with a tree of log merge odds.

A partition cuts the tree at some nodes; its probability is the product of r over the cut nodes and of
1 - r over the inner nodes above the cut, each ancestor once, with r = 1 / (1 + exp(-log_merge_odds)).
"""

from typing import TYPE_CHECKING

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError, MemoryLimitError
from bayesgrove.trees.cuts import needed_column
from bayesgrove.trees.traverse import sum_of_ancestors

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree

MAX_MATRIX_ITEMS = 10_000


def node_log_weights(tree: "Tree") -> np.ndarray:
    """Log probability, for every node, that its leaves are exactly one cluster.

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.

    Notes
    -----
    omega_k = r_k * product of (1 - r) over the strict ancestors of k, summed downwards in logs. On every
    path from the root to a leaf the weights sum to 1; times their sizes they sum to the number of items.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove.trees import Tree, node_log_weights
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> np.exp(node_log_weights(tree)).round(2).tolist()  # three leaves, their merges
    [0.25, 0.25, 0.5, 0.25, 0.5]
    """
    odds = needed_column(tree, "log_merge_odds", "the posterior over partitions")
    is_leaf = tree.item != NULL
    if not np.isposinf(odds[is_leaf]).all():
        raise InvalidTreeError("a leaf is one cluster for certain: log_merge_odds must be +inf at leaves.")
    inner = np.flatnonzero(~is_leaf)
    log_merged, log_split = np.zeros(odds.size), np.zeros(odds.size)  # leaves are merged, and nobody's ancestors
    log_merged[inner] = -np.logaddexp(0.0, -odds[inner])
    log_split[inner] = -np.logaddexp(0.0, odds[inner])
    return sum_of_ancestors(tree.parent, log_split) + log_merged


def expected_clusters(tree: "Tree") -> float:
    """Posterior mean number of clusters.

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, expected_clusters
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> round(expected_clusters(tree), 2)
    1.75
    """
    return float(np.exp(node_log_weights(tree)).sum())


def same_cluster_probability(tree: "Tree", i: int, j: int) -> float:
    """Probability that two items share a cluster: the weights of all nodes that contain both.

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.
    i, j : int
        Items.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, same_cluster_probability
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> round(same_cluster_probability(tree, 0, 1), 2)
    0.75
    """
    return float(together_below(tree)[tree.lca(i, j)])


def same_cluster_matrix(tree: "Tree") -> np.ndarray:
    """Probability that items i and j share a cluster, for all pairs, shape (n_leaves, n_leaves).

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, same_cluster_matrix
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> same_cluster_matrix(tree).round(2).tolist()
    [[1.0, 0.75, 0.5], [0.75, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """
    if tree.n_leaves > MAX_MATRIX_ITEMS:
        raise MemoryLimitError(
            f"the matrix of {tree.n_leaves} items needs {8e-9 * tree.n_leaves**2:.1f} GB, the limit is "
            f"{MAX_MATRIX_ITEMS} items. Ask for pairs with same_cluster_probability."
        )
    together = together_below(tree)
    ordered = np.zeros((tree.n_leaves, tree.n_leaves))
    end = tree.leaf_start + tree.size
    for node in range(tree.n_nodes - 1):  # its leaves against those of the siblings on its right
        above = tree.parent[node]
        ordered[tree.leaf_start[node] : end[node], end[node] : end[above]] = together[above]
    ordered += ordered.T
    np.fill_diagonal(ordered, 1.0)
    place = np.argsort(tree.leaf_order)
    return ordered[np.ix_(place, place)]


def neighbours_together(tree: "Tree") -> np.ndarray:
    """Probability that neighbours in `leaf_order` share a cluster, shape (n_leaves - 1,).

    The least of those between two places is the probability of the items at these places, because it falls towards
    the root and the lowest node with both is the highest of those between them.

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, neighbours_together
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> tree.leaf_order.tolist(), neighbours_together(tree).round(2).tolist()
    ([2, 0, 1], [0.5, 0.75])
    """
    together = together_below(tree)
    found = np.ones(tree.n_leaves - 1)
    below = np.arange(tree.n_nodes - 1)
    above = tree.parent[below]
    is_later = tree.leaf_start[below] != tree.leaf_start[above]
    found[tree.leaf_start[below[is_later]] - 1] = together[above[is_later]]
    return found


def cluster_count_law(tree: "Tree", negligible: float = 1e-9) -> tuple[int, np.ndarray]:
    """Distribution of the number of clusters: the least number, and the probabilities from there on.

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.
    negligible : float, default=1e-9
        Probabilities below it are left out, but not the largest.

    Notes
    -----
    From the leaves up, the distribution of a node is r at 1 and 1 - r times the convolution of its children's; tails
    below `negligible` are cut at every node, so that the cost stays near the number of nodes.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, cluster_count_law
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> least, law = cluster_count_law(tree)
    >>> least, law.round(2).tolist()
    (1, [0.5, 0.25, 0.25])
    """
    odds = needed_column(tree, "log_merge_odds", "the distribution of the number of clusters")
    merged = np.exp(-np.logaddexp(0.0, -odds))
    is_one = (merged >= 1.0 - negligible) | (tree.item != NULL)
    shown = np.flatnonzero(sum_of_ancestors(tree.parent, is_one.astype(np.float64)) == 0.0)
    laws = {int(node): (0, np.ones(1)) for node in shown}  # of no clusters, before any child is counted
    for node in shown.tolist():
        low, law = laws.pop(node)
        low, law = (1, np.ones(1)) if is_one[node] else _with_one(low, law, float(merged[node]), negligible)
        above = int(tree.parent[node])
        if above != NULL:
            low_above, law_above = laws[above]
            laws[above] = low_above + low, np.convolve(law_above, law)
    return low, law / law.sum()


def _with_one(low: int, law: np.ndarray, merged: float, negligible: float) -> tuple[int, np.ndarray]:
    """The mixture of one cluster and of a distribution that starts at `low`, without negligible tails."""
    whole = np.zeros(low + law.size - 1)
    whole[low - 1 :] = (1.0 - merged) * law
    whole[0] += merged
    kept = np.flatnonzero(whole > min(negligible, 0.5 * whole.max()))
    return int(kept[0]) + 1, whole[kept[0] : kept[-1] + 1]


def together_below(tree: "Tree") -> np.ndarray:
    """Probability, for every node, that two items whose lowest common node it is share a cluster.

    Parameters
    ----------
    tree : Tree
        With `log_merge_odds`.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, together_below
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[0.0, 0.0])  # probability 1/2 each
    >>> together_below(tree).round(2).tolist()  # three leaves, their merges
    [1.0, 1.0, 1.0, 0.75, 0.5]
    """
    weights = np.exp(node_log_weights(tree))
    return sum_of_ancestors(tree.parent, weights) + weights
