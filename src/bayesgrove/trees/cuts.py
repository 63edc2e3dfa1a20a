"""Cuts: from a tree to a front of nodes, one per cluster, and from a front to labels."""

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.core.jit import kernel
from bayesgrove.trees.traverse import running_maximum

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree


def find_front(
    tree: "Tree",
    rule: str | None = None,
    probability: float | None = None,
    n_clusters: int | None = None,
    height: float | None = None,
) -> np.ndarray:
    """Cut nodes (ascending ids) by the one rule given; by probability 1/2 when none is."""
    given = [value for value in (rule, probability, n_clusters, height) if value is not None]
    if len(given) > 1:
        raise InvalidSettingError(f"a cut takes one rule, got {len(given)} of them ({given}). Leave one.")
    if n_clusters is not None:
        return front_by_count(tree, n_clusters)
    if height is not None:
        return front_by_height(tree, height)
    if rule == "map":
        return front_by_map(tree)
    if rule not in (None, "half"):
        raise InvalidSettingError(
            f'a cut by name is "half" or "map", got {rule!r}. '
            "For a number say which: probability=, n_clusters=, height=."
        )
    return front_by_probability(tree, 0.5 if probability is None else probability)


def front_by_probability(tree: "Tree", probability: float = 0.5) -> np.ndarray:
    """First node on each path from the root whose leaves are one cluster with at least this probability."""
    if not 0.0 <= probability <= 1.0:
        raise InvalidSettingError(f"probability lies between 0 and 1, got {probability}. Try 0.5.")
    odds = needed_column(tree, "log_merge_odds", "a cut by probability")
    return _top_down(tree, odds, logit(probability))


def front_by_height(tree: "Tree", height: float) -> np.ndarray:
    """First node on each path from the root that is not above `height`."""
    if math.isnan(height):
        raise InvalidSettingError("height must be a number, got nan. Give a value on the scale of tree.height.")
    return _top_down(tree, -tree.height, -height)


def front_by_count(tree: "Tree", n_clusters: int) -> np.ndarray:
    """Open the front node whose children are farthest apart (ties: larger id) until there are `n_clusters` nodes.

    Nodes that are probably one cluster are opened after all others.

    Farthest apart are those of the smallest size-tempered gain, see `tempered_gains`; in trees that do not have what
    it takes, of the smallest log merge odds, else the highest node. A node of many children may overshoot.
    """
    if not 1 <= n_clusters <= tree.n_leaves:
        raise InvalidSettingError(
            f"n_clusters lies between 1 and the number of items ({tree.n_leaves}), got {n_clusters}."
        )
    score, is_one = opening_scores(tree), probably_one(tree)
    front: set[int] = {tree.root}
    heap = [(False, float(score[tree.root]), -tree.root)] if tree.n_leaves > 1 else []
    while len(front) < n_clusters:
        node = -heapq.heappop(heap)[2]
        front.remove(node)
        for child in tree.children(node):
            front.add(child)
            if tree.item[child] == NULL:
                heapq.heappush(heap, (bool(is_one[child]), float(score[child]), -child))
    return np.array(sorted(front), dtype=np.int64)


def opening_scores(tree: "Tree") -> np.ndarray:
    """For every node a number that is smaller the farther its children are apart."""
    if {"log_merge_odds", "log_q", "log_d"} <= set(tree.columns) and tree.n_nodes == 2 * tree.n_leaves - 1:
        return tempered_gains(tree)
    return -tree.height if tree.log_merge_odds is None else tree.log_merge_odds


def probably_one(tree: "Tree") -> np.ndarray:
    """Whether the leaves of a node are one cluster rather than not; of no node where the tree has no odds."""
    odds = tree.log_merge_odds
    return np.zeros(tree.n_nodes, np.bool_) if odds is None else odds >= 0.0


def tempered_gains(tree: "Tree") -> np.ndarray:
    """Size-tempered gain of every merge of a tree of Bayesian hierarchical clustering; infinite at leaves.

    Notes
    -----
    s = [log p(ab) - log p(a) - log p(b)] sqrt((n_a + n_b) / (n_a n_b)), from g_k = log_q - log(1 + exp(-odds)) and
    log p(k) = g_k - log concentration - lgamma(n_k). Log odds grow with the number of rows: by them alone, a large
    group that is not quite one cluster would be opened before two small ones that are far apart.
    """
    odds, log_q, is_leaf = tree.columns["log_merge_odds"], tree.columns["log_q"], tree.item != NULL
    log_one = np.where(is_leaf, log_q, log_q - np.logaddexp(0.0, -odds))
    log_concentration = tree.columns["log_d"][tree.leaf_of_item[0]]
    return gains_of_merges(tree.parent, tree.size, is_leaf, log_one - log_concentration - gammaln(tree.size))


@kernel
def gains_of_merges(parent: np.ndarray, size: np.ndarray, is_leaf: np.ndarray, log_marginal: np.ndarray) -> np.ndarray:
    """Body of `tempered_gains`."""
    apart, product = np.zeros(parent.size), np.ones(parent.size)
    gain = np.full(parent.size, np.inf)
    for node in range(parent.size):
        if not is_leaf[node]:
            gain[node] = (log_marginal[node] - apart[node]) * math.sqrt(size[node] / product[node])
        if parent[node] != NULL:
            apart[parent[node]] += log_marginal[node]
            product[parent[node]] *= size[node]
    return gain


def front_by_map(tree: "Tree") -> np.ndarray:
    """The most probable partition among those consistent with the tree.

    Notes
    -----
    best_k = max(g_k, sum of the children's best), k is kept on equality; g_k = log_q - log(1 + exp(-odds)).
    """
    odds = needed_column(tree, "log_merge_odds", 'cut("map")')
    log_q = needed_column(tree, "log_q", 'cut("map")')
    log_one = np.where(tree.item == NULL, log_q - np.logaddexp(0.0, -odds), log_q)
    return _top_down(tree, keep_one_scores(tree.parent, tree.item, log_one), 0.0)


def labels_of_front(tree: "Tree", front: np.ndarray) -> np.ndarray:
    """Label of every item, int64, consecutive from 0 by first item."""
    in_front = np.zeros(tree.n_nodes, np.bool_)
    in_front[front] = True
    labels = front_labels(tree.parent, tree.leaf_of_item, in_front)
    if labels.size and labels.min() < 0:
        raise InvalidTreeError(
            f"a front covers every item, item {int(np.argmin(labels))} has no front node above it. "
            "Use a front that one of the cuts returned."
        )
    return labels


def node_labels(tree: "Tree", labels: np.ndarray) -> np.ndarray:
    """The label that all items of a node have, for every node; -1 where they differ."""
    is_leaf = tree.item != NULL
    own = np.full(tree.n_nodes, -np.inf)
    own[is_leaf] = labels[tree.item[is_leaf]]
    highest = running_maximum(tree.parent, own)
    own[is_leaf] *= -1.0
    lowest = -running_maximum(tree.parent, own)
    return np.where(lowest == highest, highest, NULL).astype(np.int64)


def needed_column(tree: "Tree", name: str, purpose: str) -> np.ndarray:
    """A column of the tree, or an error that says what it was needed for."""
    if name not in tree.columns:
        raise InvalidTreeError(
            f"{purpose} needs the column {name!r}, the tree has {sorted(tree.columns)}. "
            "Cut by n_clusters= or height=, or use a tree fitted by BHC."
        )
    return tree.columns[name]


def logit(probability: float) -> float:
    """log(p / (1 - p)), infinite at 0 and 1."""
    if probability in (0.0, 1.0):
        return math.inf if probability else -math.inf
    return math.log(probability) - math.log1p(-probability)


def _top_down(tree: "Tree", score: np.ndarray, threshold: float) -> np.ndarray:
    return np.flatnonzero(top_down_front(tree.parent, tree.item, np.ascontiguousarray(score), threshold))


@kernel
def top_down_front(parent: np.ndarray, item: np.ndarray, score: np.ndarray, threshold: float) -> np.ndarray:
    """Mask of the first node on each path that is a leaf or has score >= threshold."""
    is_open = np.zeros(parent.size, np.bool_)
    in_front = np.zeros(parent.size, np.bool_)
    for node in range(parent.size - 1, -1, -1):
        if parent[node] == NULL or is_open[parent[node]]:
            stop = item[node] != NULL or score[node] >= threshold
            in_front[node] = stop
            is_open[node] = not stop
    return in_front


@kernel
def keep_one_scores(parent: np.ndarray, item: np.ndarray, log_one: np.ndarray) -> np.ndarray:
    """log_one minus the best of the children together: not negative where the node is kept whole."""
    best_apart = np.zeros(parent.size)
    score = np.zeros(parent.size)
    for node in range(parent.size):
        best = log_one[node]
        if item[node] == NULL:
            score[node] = log_one[node] - best_apart[node]
            best = max(best, best_apart[node])
        if parent[node] != NULL:
            best_apart[parent[node]] += best
    return score


@kernel
def front_labels(parent: np.ndarray, leaf_of_item: np.ndarray, in_front: np.ndarray) -> np.ndarray:
    """Labels by front node, numbered by first item; -1 for an item without a front node."""
    owner = np.full(parent.size, NULL)
    for node in range(parent.size - 1, -1, -1):
        if in_front[node]:
            owner[node] = node
        elif parent[node] != NULL:
            owner[node] = owner[parent[node]]
    number = np.full(parent.size, NULL)
    labels = np.full(leaf_of_item.size, NULL)
    n_found = 0
    for i in range(leaf_of_item.size):
        node = owner[leaf_of_item[i]]
        if node != NULL:
            if number[node] == NULL:
                number[node] = n_found
                n_found += 1
            labels[i] = number[node]
    return labels
