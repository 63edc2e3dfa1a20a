"""Greedy Bayesian hierarchical clustering with the potentials of any process, for a few thousand atoms at most.

Repeat: merge the pair of roots of least log d, d(l, r) = T(l) T(r) / phi(l u r), T = phi + T(l) T(r). With log d < 0 a
merge is favoured. For the Dirichlet process 1 / (1 + d) is the merge probability of `agglomeration`, which is much
faster; this one serves starting partitions and the hierarchy over the clusters of a mixture.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.ties import rounded
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, merge
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.special import softplus


class Merges(NamedTuple):
    """Merges in order; merge s makes node n_atoms + s."""

    children: np.ndarray
    """(n_merges, 2) int64."""
    log_d: np.ndarray
    log_potential: float
    """Sum of log T over the roots."""
    labels: np.ndarray
    """Root of each atom, 0 .. n_roots - 1 by first appearance."""


@kernel
def cluster_rows(prior, values, labels, rows):
    """Add each row to the statistics of its cluster."""
    for i in range(values.shape[0]):
        add(prior, rows[labels[i]], values[i])


@kernel
def cluster_log_trees(prior, log_kappa, rows, sizes):
    """log T of clusters that are taken as they are: log phi."""
    out = np.empty(sizes.size)
    for k in range(sizes.size):
        out[k] = log_kappa[sizes[k]] + log_marginal(prior, rows[k])
    return out


@kernel
def union_log_d(prior, rows, size, log_tree, log_kappa, a, b, scratch):
    """log d of two of the trees at hand."""
    merge(prior, scratch, rows[a], rows[b])
    return log_tree[a] + log_tree[b] - log_kappa[size[a] + size[b]] - log_marginal(prior, scratch)


@kernel
def find_partner(prior, rows, size, log_tree, log_kappa, is_live, a, n_nodes, scratch):
    """The live tree after `a` of least log d with it."""
    partner, least = NULL, np.inf
    for b in range(a + 1, n_nodes):
        if is_live[b]:
            score = union_log_d(prior, rows, size, log_tree, log_kappa, a, b, scratch)
            if partner == NULL or rounded(score) < rounded(least):
                partner, least = b, score
    return partner, least


@kernel
def join_greedily(prior, root_rows, root_size, root_log_tree, log_kappa, stop):
    """Greedy merges of k trees: children of merge t (node k + t), its log d and log T.

    Each tree remembers its nearest among the later ones, which is looked for again when that one is gone. `stop` ends
    before the first merge that is not favoured.
    """
    k, width = root_rows.shape
    rows, size, log_tree = np.empty((2 * k - 1, width)), np.empty(2 * k - 1, np.int64), np.empty(2 * k - 1)
    is_live, partner = np.zeros(2 * k - 1, np.bool_), np.full(2 * k - 1, NULL)
    least, scratch = np.full(2 * k - 1, np.inf), np.empty(width)
    children, log_d = np.empty((k - 1, 2), np.int64), np.empty(k - 1)
    for a in range(k):  # loops, for assignments of slices take seconds to compile
        for s in range(width):
            rows[a, s] = root_rows[a, s]
        size[a], log_tree[a], is_live[a] = root_size[a], root_log_tree[a], True
    for a in range(k):
        partner[a], least[a] = find_partner(prior, rows, size, log_tree, log_kappa, is_live, a, k, scratch)
    for t in range(k - 1):
        new, best = k + t, NULL
        for a in range(new):
            if is_live[a] and partner[a] != NULL and (best == NULL or rounded(least[a]) < rounded(least[best])):
                best = a
        if stop and not rounded(least[best]) < 0.0:
            return children[:t], log_d[:t], log_tree[k:new]
        a, b = best, partner[best]
        is_live[a] = is_live[b] = False
        merge(prior, rows[new], rows[a], rows[b])
        size[new] = size[a] + size[b]
        children[t, 0], children[t, 1], log_d[t] = a, b, least[a]
        log_tree[new] = log_tree[a] + log_tree[b] - log_d[t] + softplus(log_d[t])
        is_live[new] = True
        for c in range(new):
            if is_live[c]:
                if partner[c] == a or partner[c] == b:
                    partner[c], least[c] = find_partner(
                        prior, rows, size, log_tree, log_kappa, is_live, c, new + 1, scratch
                    )
                else:
                    score = union_log_d(prior, rows, size, log_tree, log_kappa, c, new, scratch)
                    if rounded(score) < rounded(least[c]):
                        partner[c], least[c] = new, score
    return children, log_d, log_tree[k:]


def greedy_merges(prior: Any, log_kappa: np.ndarray, rows: np.ndarray, sizes: np.ndarray, *, stop: bool) -> Merges:
    """Merge clusters given by their statistics until one is left or, with `stop`, none is favoured."""
    log_trees = cluster_log_trees(prior, log_kappa, rows, sizes)
    children, log_d, log_made = join_greedily(prior, rows, sizes, log_trees, log_kappa, stop)
    n, root = sizes.size, np.arange(sizes.size + len(children))
    for node in range(n + len(children) - 1, n - 1, -1):  # later nodes hold earlier ones
        root[children[node - n]] = root[node]
    every = np.concatenate([log_trees, log_made])
    is_root = np.ones(every.size, bool)
    is_root[children.ravel()] = False
    return Merges(children, log_d, float(every[is_root].sum()), relabel(root[:n]))
