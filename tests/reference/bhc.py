"""Slow, clear twin of greedy Bayesian hierarchical clustering: raw rows, all live pairs, lists of partitions."""

import itertools
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.stats.partitions import all_partitions
from reference import likelihoods
from reference.trees import tree_partitions

TIE_SCALE = 2.0**30


class Grown(NamedTuple):
    """A tree over rows 0 .. n-1; `children` by merge, the rest by node, `highest` the top live score at each merge."""

    children: np.ndarray
    log_odds: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray
    highest: np.ndarray


def evidence_of(name: str, prior: Any, values: np.ndarray):
    """Log marginal of any set of rows as one cluster, from the raw cells, each set computed once."""
    return cache(lambda items: float(likelihoods.log_marginal(name, prior, values[sorted(items)])))


def grow(evidence, n, log_concentration, children=None, *, tempered=False):
    """Merge the best live pair n - 1 times, or follow the merges given.

    Scores are compared by rint(score * 2**30), then the smallest first id, then the smallest second id wins.
    The tempered score is the gain in log marginal times sqrt((n_a + n_b) / (n_a n_b)).
    """
    items = [frozenset([i]) for i in range(n)]
    log_q = [log_concentration + evidence(own) for own in items]
    log_d, log_odds = [log_concentration] * n, [math.inf] * n
    scores = np.full((2 * n - 1, 2 * n - 1), -np.inf)

    def log_one(a, b):
        return log_concentration + math.lgamma(len(items[a] | items[b])) + evidence(items[a] | items[b])

    def score(a, b):
        scores[a, b] = log_one(a, b) - log_q[a] - log_q[b]
        if tempered:
            gain = evidence(items[a] | items[b]) - evidence(items[a]) - evidence(items[b])
            scores[a, b] = gain * math.sqrt(1.0 / len(items[a]) + 1.0 / len(items[b]))

    for a, b in itertools.combinations(range(n), 2):
        score(a, b)
    merges, highest, live = [], [], set(range(n))
    for t in range(n - 1):
        best = np.unravel_index(np.argmax(np.rint(scores * TIE_SCALE)), scores.shape)  # the first of equals
        a, b = (int(k) for k in (best if children is None else children[t]))
        highest.append(scores.max())
        merges.append((a, b))
        apart = log_q[a] + log_q[b]
        log_odds.append(log_one(a, b) - apart)
        log_q.append(np.logaddexp(log_one(a, b), apart))
        items.append(items[a] | items[b])
        log_d.append(np.logaddexp(log_concentration + math.lgamma(len(items[-1])), log_d[a] + log_d[b]))
        for dead in (a, b):
            scores[dead] = scores[:, dead] = -np.inf
        live -= {a, b}
        for other in live:
            score(other, n + t)
        live.add(n + t)
    return Grown(
        np.array(merges, np.int64).reshape(-1, 2), *(np.array(part) for part in (log_odds, log_q, log_d, highest))
    )


def log_crp_constant(n, log_concentration):
    """The part of a partition's log prior that no partition changes."""
    return math.lgamma(math.exp(log_concentration)) - math.lgamma(n + math.exp(log_concentration))


@cache
def partitions(n):
    """All partitions of n items as tuples of frozen sets."""
    return [
        tuple(frozenset(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1))
        for labels in all_partitions(n)
    ]


def log_joint(evidence, blocks, log_concentration):
    """Sum over blocks of log alpha + lgamma(n) + log marginal: a partition's weight but for the constant."""
    return math.fsum(log_concentration + math.lgamma(len(block)) + evidence(block) for block in blocks)


def exact_evidence(evidence, n, log_concentration):
    """Log evidence of the Dirichlet process mixture: the sum over all partitions."""
    terms = [log_joint(evidence, blocks, log_concentration) for blocks in partitions(n)]
    return float(np.logaddexp.reduce(terms)) + log_crp_constant(n, log_concentration)


def items_of_nodes(children):
    """Rows below every node."""
    n = len(children) + 1
    items = [frozenset([i]) for i in range(n)]
    for a, b in children:
        items.append(items[a] | items[b])
    return items


def parents_of(children):
    """Parent of every node, -1 at the root."""
    n = len(children) + 1
    parent = np.full(2 * n - 1, -1)
    for t, pair in enumerate(children):
        parent[pair] = n + t
    return parent


def tree_log_joints(evidence, children, log_concentration):
    """The weight of each partition consistent with the tree, with its nodes."""
    items = items_of_nodes(children)
    fronts = tree_partitions(parents_of(children))
    return fronts, np.array([log_joint(evidence, [items[k] for k in front], log_concentration) for front in fronts])


def node_weights(children, log_odds):
    """Probability of every node to be exactly one cluster: r, times 1 - r of each strict ancestor."""
    parent, n_nodes = parents_of(children), 2 * len(children) + 1
    weights = np.empty(n_nodes)
    for node in range(n_nodes):
        weights[node] = 1.0 / (1.0 + math.exp(-log_odds[node]))
        above = parent[node]
        while above != -1:
            weights[node] /= 1.0 + math.exp(log_odds[above])
            above = parent[above]
    return weights


class NewRow(NamedTuple):
    """Terms of the predictive density of one new row: of every node (unweighted), and of a new cluster."""

    weights: np.ndarray
    sizes: np.ndarray
    densities: np.ndarray
    new: float
    items: list[frozenset[int]]


def new_row(evidence, children, log_odds):
    """Densities of row n under every node of a tree over rows 0 .. n-1; `evidence` knows all n + 1 rows."""
    items = items_of_nodes(children)
    extra = frozenset([len(children) + 1])
    densities = np.array([math.exp(evidence(own | extra) - evidence(own)) for own in items])
    sizes = np.array([len(own) for own in items])
    return NewRow(node_weights(children, log_odds), sizes, densities, math.exp(evidence(extra)), items)


def density(row, concentration):
    """The normalised predictive density."""
    total = concentration * row.new + math.fsum(row.weights * row.sizes * row.densities)
    return total / (row.sizes[-1] + concentration)


def printed_density(row):
    """The form in print (Heller and Ghahramani), whose mass is the expected number of clusters."""
    return math.fsum(row.weights * row.densities)


def cluster_shares(row, concentration, labels):
    """Probability of each cluster of a cut, last a new one; a node above the cut divides its share among its own."""
    clusters = [frozenset(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1)]
    joins = {cluster: row.sizes[k] * row.densities[k] for k, cluster in enumerate(row.items)}
    shares = np.zeros(len(clusters) + 1)
    for k, own in enumerate(row.items):
        here = row.weights[k] * row.sizes[k] * row.densities[k]
        inside = [c for c, cluster in enumerate(clusters) if own <= cluster]
        held = inside or [c for c, cluster in enumerate(clusters) if cluster <= own]
        among = math.fsum(joins[clusters[c]] for c in held)
        for c in held:
            shares[c] += here if inside else here * joins[clusters[c]] / among
    shares[-1] = concentration * row.new
    return shares / shares.sum()
