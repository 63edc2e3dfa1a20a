"""New rows under a tree: the normalised predictive density, cluster probabilities, draws.

p(x | data, tree) = [concentration p_0(x) + sum_k omega_k n_k p(x | rows below k)] / (n + concentration)

Where rows belong to components in shares, the sum is over these components, n_k is the sum of the shares, and each row
counts for p(x | ...) by its share.

**Erratum** (Heller and Ghahramani's form, sum_k omega_k p(x | rows below k)): its mass is the expected number of
clusters, not 1; tests/exact/test_bhc_predictive.py shows it.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.filters import group_scores, make_filter
from bayesgrove.agglomeration.soft_components import shared_statistics
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import draw_data, draw_params, n_params
from bayesgrove.stats.special import softplus
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import needed_column

SMALLEST_WEIGHT = 1e-12
MOST_NODES = 4_096
ROWS_AT_ONCE = 4_096


class Predictive(NamedTuple):
    """What prediction needs of a fitted tree.

    Mixture nodes come in order: those inside cluster 0, inside cluster 1, ..., then those above the cut, each of which
    holds the clusters `above_low .. above_high - 1` of `above_order`.
    """

    rows: np.ndarray
    """(n_mixture_nodes, n_stats)"""
    log_weight: np.ndarray
    """(n_mixture_nodes,) log of omega * n, normalised to sum to n."""
    cluster_start: np.ndarray
    """(n_clusters + 1,) nodes inside cluster c are cluster_start[c] .. cluster_start[c + 1] - 1."""
    above_low: np.ndarray
    above_high: np.ndarray
    above_order: np.ndarray
    """(n_clusters,) clusters from left to right in the tree."""
    cluster_rows: np.ndarray
    """(n_clusters, n_stats)"""
    cluster_sizes: np.ndarray
    log_concentration: float


def weighty_nodes(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Nodes that carry weight in the predictive, the heaviest first, and log(omega * n) of these, of others -inf."""
    odds = needed_column(tree, "log_merge_odds", "prediction")
    least = math.log(SMALLEST_WEIGHT * tree.n_leaves)
    log_weight = log_weights_above(tree.parent, tree.item, tree.size, odds, least)
    kept = np.flatnonzero(log_weight >= least)
    return kept[np.argsort(-log_weight[kept], kind="stable")][:MOST_NODES], log_weight


@kernel
def log_weights_above(parent, item, size, log_odds, least):
    """log(omega * n) of the nodes where it is at least `least`, -inf elsewhere.

    Of most nodes of a large tree nothing is computed: what stands below a node that is one cluster has no weight.
    """
    log_open = np.full(parent.size, -np.inf)  # log probability that all strict ancestors are split
    log_weight = np.full(parent.size, -np.inf)
    log_open[-1] = 0.0
    for node in range(parent.size - 1, -1, -1):
        if parent[node] != NULL:
            log_open[node] = log_open[parent[node]]
        if log_open[node] + math.log(size[node]) < least:
            log_open[node] = -np.inf
            continue
        weight = log_open[node] + math.log(size[node])
        if item[node] == NULL:
            weight -= softplus(-log_odds[node])
            log_open[node] -= softplus(log_odds[node])  # as its children see it
        if weight >= least:
            log_weight[node] = weight
    return log_weight


def make_predictive(
    tree: Tree,
    front: np.ndarray,
    labels: np.ndarray,
    log_concentration: float,
    node_rows: Callable,
    weighty: tuple[np.ndarray, np.ndarray],
) -> Predictive:
    """Sort the nodes that carry weight by the cluster of the cut they lie in.

    `node_rows(nodes)` gives the statistics of the weighty nodes and of the front; `weighty` is `weighty_nodes(tree)`.
    """
    kept, log_weight = weighty
    front = front[np.argsort(cluster_of_nodes(tree, front, labels, front))]
    n_clusters, cluster = front.size, cluster_of_nodes(tree, front, labels, kept)
    inside, clusters = kept[cluster >= 0], cluster[cluster >= 0]
    by_cluster = np.argsort(clusters, kind="stable")
    inside, clusters = inside[by_cluster], clusters[by_cluster]
    above = kept[cluster < 0]
    from_left = np.argsort(tree.leaf_start[front])
    starts = tree.leaf_start[front][from_left]
    nodes = np.concatenate([inside, above])
    total = np.logaddexp.reduce(log_weight[nodes])
    return Predictive(
        rows=node_rows(nodes),
        log_weight=log_weight[nodes] - total + math.log(tree.n_leaves),
        cluster_start=np.searchsorted(clusters, np.arange(n_clusters + 1)),
        above_low=np.searchsorted(starts, tree.leaf_start[above]),
        above_high=np.searchsorted(starts, tree.leaf_start[above] + tree.size[above]),
        above_order=from_left,
        cluster_rows=node_rows(front),
        cluster_sizes=tree.size[front].astype(float),
        log_concentration=log_concentration,
    )


def shared_predictive(
    prior: Any, values: np.ndarray, shares: np.ndarray, labels: np.ndarray, log_concentration: float
) -> Predictive | None:
    """A mixture of components to which rows belong in shares, each in the cluster that most of its rows are in.

    None if a cluster has no component. `values` are all rows, `shares` their shares, `labels` their clusters.
    """
    sizes, home = np.bincount(labels), shares.argmax(axis=1)
    votes = np.zeros((shares.shape[1], sizes.size))
    np.add.at(votes, (home, labels), 1.0)
    cluster = votes.argmax(axis=1)
    if np.unique(cluster).size < sizes.size:
        return None
    order, nowhere = np.argsort(cluster, kind="stable"), np.empty(0, np.int64)
    return Predictive(
        rows=shared_statistics(prior, values, shares[:, order]),
        log_weight=np.log(shares.sum(axis=0)[order]),
        cluster_start=np.searchsorted(cluster[order], np.arange(sizes.size + 1)),
        above_low=nowhere,
        above_high=nowhere,
        above_order=np.arange(sizes.size),
        cluster_rows=shared_statistics(prior, values, np.eye(sizes.size)[labels]),
        cluster_sizes=sizes.astype(float),
        log_concentration=log_concentration,
    )


def cluster_of_nodes(tree: Tree, front: np.ndarray, labels: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Label of the cluster each of some nodes lies in, -1 above the cut."""
    ordered = front[np.argsort(tree.leaf_start[front])]
    head = ordered[np.searchsorted(tree.leaf_start[ordered], tree.leaf_start[nodes], side="right") - 1]
    ends = tree.leaf_start[nodes] + tree.size[nodes]
    # the head's id too: a node with the same leaves may stand above it, and children come before parents
    below = (ends <= tree.leaf_start[head] + tree.size[head]) & (nodes <= head)
    return np.where(below, labels[tree.leaf_order[tree.leaf_start[nodes]]], -1)


def log_scores(predictive: Predictive, prior: Any, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log of (weight times density) of each row: inside each cluster, at each node above the cut, in a new cluster."""
    n, n_clusters = values.shape[0], predictive.cluster_sizes.size
    complete = not np.isnan(values).any()
    rows = np.vstack([predictive.rows, np.zeros((1, predictive.rows.shape[1]))])
    log_weight = np.append(predictive.log_weight, predictive.log_concentration)
    n_above = predictive.above_low.size
    starts = np.concatenate([predictive.cluster_start, predictive.cluster_start[-1] + 1 + np.arange(n_above + 1)])
    out = np.empty((n_clusters + n_above + 1, n))
    filter_ = make_filter(prior, rows, complete=complete)
    group_scores(filter_, log_weight, starts, values, np.arange(n), 0, n, out)
    return out[:n_clusters].T, out[n_clusters:-1].T, out[-1]


def log_density(predictive: Predictive, prior: Any, values: np.ndarray) -> np.ndarray:
    """Normalised predictive log density of each row, in encoded units."""
    n_rows = predictive.cluster_sizes.sum()
    parts = []
    for low in chunk_starts(values):
        inside, above, new = log_scores(predictive, prior, values[low : low + ROWS_AT_ONCE])
        parts.append(np.logaddexp.reduce(np.column_stack([inside, above, new]), axis=1))
    return np.concatenate(parts) - math.log(n_rows + math.exp(predictive.log_concentration))


def cluster_probabilities(predictive: Predictive, prior: Any, values: np.ndarray) -> np.ndarray:
    """Probability that a row joins each cluster of the cut, last a new one; rows sum to 1.

    A node above the cut holds several clusters as one: its share goes to them in proportion to size times density.
    """
    parts = [chunk_probabilities(predictive, prior, values[low : low + ROWS_AT_ONCE]) for low in chunk_starts(values)]
    return np.concatenate(parts)


def chunk_starts(values: np.ndarray) -> range:
    """First rows of the chunks; no rows at all are one empty chunk, whose answer has no rows but its columns."""
    return range(0, max(1, values.shape[0]), ROWS_AT_ONCE)


def chunk_probabilities(predictive: Predictive, prior: Any, values: np.ndarray) -> np.ndarray:
    """`cluster_probabilities` of a few rows."""
    inside, above, new = log_scores(predictive, prior, values)
    n, n_clusters = inside.shape
    if above.shape[1]:
        alone = np.empty((n_clusters, n))
        filter_ = make_filter(prior, predictive.cluster_rows, complete=not np.isnan(values).any())
        starts = np.arange(n_clusters + 1)
        group_scores(filter_, np.log(predictive.cluster_sizes), starts, values, np.arange(n), 0, n, alone)
        for node in range(above.shape[1]):
            held = predictive.above_order[predictive.above_low[node] : predictive.above_high[node]]
            share = alone[held] - np.logaddexp.reduce(alone[held], axis=0)
            inside[:, held] = np.logaddexp(inside[:, held], above[:, node, None] + share.T)
    scores = np.column_stack([inside, new])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def draw_rows(predictive: Predictive, prior: Any, rng: np.random.Generator, template: np.ndarray, n: int) -> np.ndarray:
    """Draw rows from the predictive distribution, encoded; `template` fixes what a prior does not (document length)."""
    rows = np.vstack([predictive.rows, np.zeros((1, predictive.rows.shape[1]))])
    log_weight = np.append(predictive.log_weight, predictive.log_concentration)
    weight = np.exp(log_weight - log_weight.max())
    chosen = rng.choice(weight.size, size=n, p=weight / weight.sum())
    out = np.tile(template, (n, 1))
    draw_from_nodes(prior, rng, rows, chosen, out)
    return out


@kernel
def draw_from_nodes(prior, rng, rows, chosen, out):
    """Draw parameters of the chosen clusters from their posterior, then a row each."""
    params = np.empty(n_params(prior))
    for i in range(chosen.size):
        draw_params(prior, rng, rows[chosen[i]], params)
        draw_data(prior, rng, params, out[i])
