"""A hierarchy to show: the clusters of a point estimate, merged greedily by the evidence."""

from typing import Any

import numpy as np

from bayesgrove.agglomeration.potentials import cluster_rows, greedy_merges
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.trees import Tree
from bayesgrove.trees.hanging import hang_at_root, hang_items

MOST_CLUSTERS = 2_000
"""More are joined in one step under the root."""


def estimate_tree(
    prior: Any,
    values: np.ndarray,
    labels: np.ndarray,
    log_kappa: np.ndarray,
    together: np.ndarray,
    between: np.ndarray | None = None,
) -> Tree:
    """A tree over all rows: those of a cluster hang below one node, which the greedy merges join.

    `log_merge_odds` of a cluster is the log odds of `together`, how often its rows are together in the draws; of a
    merge of clusters it is -log d, what the evidence says of them as they are, or, with `between` (n_clusters,
    n_clusters), the log odds of how often a row of the one and a row of the other are together.
    """
    sizes = np.bincount(labels)
    with np.errstate(divide="ignore"):
        inside = np.log(together) - np.log1p(-together)
    n_clusters = sizes.size
    rows = np.zeros((n_clusters, n_stats(prior)))
    cluster_rows(prior, values, labels, rows)
    if n_clusters > MOST_CLUSTERS:
        return hang_at_root(labels, sizes, inside)
    merges = greedy_merges(prior, log_kappa, rows, sizes, stop=False)
    odds = -merges.log_d if between is None else odds_of_merges(merges.children, sizes, between)
    return hang_items(labels, sizes, inside, merges.children, odds)


def odds_of_merges(children: np.ndarray, sizes: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Log odds, for each merge, that a row of one side and a row of the other are together."""
    n_clusters = sizes.size
    below = np.zeros((n_clusters + len(children), n_clusters))
    below[np.arange(n_clusters), np.arange(n_clusters)] = sizes
    chance = np.empty(len(children))
    for step, (a, b) in enumerate(children):
        chance[step] = below[a] @ between @ below[b] / (below[a].sum() * below[b].sum())
        below[n_clusters + step] = below[a] + below[b]
    with np.errstate(divide="ignore"):
        return np.log(chance) - np.log1p(-np.minimum(chance, 1.0))
