"""A hierarchy to show: the clusters of a point estimate, merged greedily by the evidence."""

from typing import Any

import numpy as np

from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm.greedy import cluster_rows, greedy_merges
from bayesgrove.trees import Tree

MOST_CLUSTERS = 2_000
"""More are joined in one step under the root."""


def estimate_tree(
    prior: Any, values: np.ndarray, labels: np.ndarray, log_kappa: np.ndarray, together: np.ndarray
) -> Tree:
    """A tree over all rows: those of a cluster hang below one node, which the greedy merges join.

    `log_merge_odds` of a cluster is the log odds of `together`, how often its rows are together in the draws; of a
    merge of clusters it is -log d, what the evidence says of them as they are.
    """
    sizes = np.bincount(labels)
    with np.errstate(divide="ignore"):
        inside = np.log(together) - np.log1p(-together)
    n_clusters = sizes.size
    rows = np.zeros((n_clusters, n_stats(prior)))
    cluster_rows(prior, values, labels, rows)
    if n_clusters > MOST_CLUSTERS:
        return joined_at_root(labels, sizes, inside)
    merges = greedy_merges(prior, log_kappa, rows, sizes, stop=False)
    return hang_rows(labels, sizes, inside, merges.children, -merges.log_d)


def hang_rows(
    labels: np.ndarray, sizes: np.ndarray, inside: np.ndarray, children: np.ndarray, log_odds: np.ndarray
) -> Tree:
    """Rows below clusters below merges; a cluster of one row is that row."""
    n, is_node = labels.size, sizes > 1
    place = np.where(is_node, n + np.cumsum(is_node) - 1, 0)
    place[~is_node] = np.array([np.flatnonzero(labels == k)[0] for k in np.flatnonzero(~is_node)], np.int64)
    n_inner = int(is_node.sum())
    node_of = np.concatenate([place, n + n_inner + np.arange(len(children))])
    parent = np.full(n + n_inner + len(children), -1, np.int64)
    in_node = is_node[labels]
    parent[:n][in_node] = place[labels[in_node]]
    for step, (a, b) in enumerate(children):
        parent[node_of[a]] = parent[node_of[b]] = n + n_inner + step
    odds = np.concatenate([np.full(n, np.inf), inside[is_node], log_odds])
    return Tree.from_parents(parent, columns={"log_merge_odds": odds})


def joined_at_root(labels: np.ndarray, sizes: np.ndarray, inside: np.ndarray) -> Tree:
    """All clusters below one root, for estimates with thousands of them."""
    n, is_node = labels.size, sizes > 1
    n_inner = int(is_node.sum())
    place = n + np.cumsum(is_node) - 1
    parent = np.full(n + n_inner + 1, n + n_inner, np.int64)
    parent[-1] = -1
    in_node = is_node[labels]
    parent[:n][in_node] = place[labels[in_node]]
    odds = np.concatenate([np.full(n, np.inf), inside[is_node], [-np.inf]])
    return Tree.from_parents(parent, columns={"log_merge_odds": odds})
