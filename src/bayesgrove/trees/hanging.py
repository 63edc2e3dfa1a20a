"""Trees over many items from few clusters: items hang below their clusters, clusters below merges."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.trees.table import Tree


def hang_items(
    labels: np.ndarray, sizes: np.ndarray, inside: np.ndarray, children: np.ndarray, log_odds: np.ndarray
) -> Tree:
    """Items below clusters below merges; a cluster of one item is that item.

    Parameters
    ----------
    labels : int64 array of shape (n_items,)
        Cluster of each item.
    sizes : int64 array of shape (n_clusters,)
    inside : float array of shape (n_clusters,)
        Log merge odds of each cluster.
    children : int array of shape (n_clusters - 1, 2)
        Merges of clusters, which make nodes n_clusters, n_clusters + 1, ....
    log_odds : float array of shape (n_clusters - 1,)
        Log merge odds of these.

    Examples
    --------
    >>> labels = np.array([0, 0, 1])
    >>> tree = hang_items(labels, np.array([2, 1]), np.array([3.0, np.inf]), np.array([[0, 1]]), np.array([-2.0]))
    >>> tree.to_newick()
    '(2:5.0,(0:0.0,1:0.0):5.0);'
    """
    n, is_node = labels.size, sizes > 1
    place = np.where(is_node, n + np.cumsum(is_node) - 1, 0)
    place[~is_node] = np.array([np.flatnonzero(labels == k)[0] for k in np.flatnonzero(~is_node)], np.int64)
    n_inner = int(is_node.sum())
    node_of = np.concatenate([place, n + n_inner + np.arange(len(children))])
    parent = np.full(n + n_inner + len(children), NULL, np.int64)
    in_node = is_node[labels]
    parent[:n][in_node] = place[labels[in_node]]
    for step, (a, b) in enumerate(children):
        parent[node_of[a]] = parent[node_of[b]] = n + n_inner + step
    odds = np.concatenate([np.full(n, np.inf), inside[is_node], log_odds])
    return Tree.from_parents(parent, columns={"log_merge_odds": odds})


def hang_at_root(labels: np.ndarray, sizes: np.ndarray, inside: np.ndarray) -> Tree:
    """All clusters below one root, where there is no order of merges; its log merge odds are -inf.

    A single cluster is the root itself: nothing speaks against its being one.

    Examples
    --------
    >>> hang_at_root(np.array([0, 0, 0]), np.array([3]), np.array([2.0])).nodes["log_merge_odds"].tolist()
    [inf, inf, inf, 2.0]
    """
    if sizes.size == 1:
        return hang_items(labels, sizes, inside, np.empty((0, 2), np.int64), np.empty(0))
    n, is_node = labels.size, sizes > 1
    n_inner = int(is_node.sum())
    place = n + np.cumsum(is_node) - 1
    parent = np.full(n + n_inner + 1, n + n_inner, np.int64)
    parent[-1] = NULL
    in_node = is_node[labels]
    parent[:n][in_node] = place[labels[in_node]]
    odds = np.concatenate([np.full(n, np.inf), inside[is_node], [-np.inf]])
    return Tree.from_parents(parent, columns={"log_merge_odds": odds})
