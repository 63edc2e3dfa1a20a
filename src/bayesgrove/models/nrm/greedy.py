"""Greedy Bayesian hierarchical clustering with the potentials of any process, for a few thousand atoms at most.

Repeat: merge the pair of roots of least log d, d(l, r) = T(l) T(r) / phi(l u r), T = phi + T(l) T(r). With log d < 0 a
merge is favoured. For the Dirichlet process 1 / (1 + d) is the merge probability of `models.bhc`, which is much faster;
this one serves starting partitions and the hierarchy over the clusters of a mixture.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, merge, n_stats
from bayesgrove.stats.special import log_add


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
def rows_of_points(prior, values):
    """Each point as a cluster of its own."""
    rows = np.zeros((values.shape[0], n_stats(prior)))
    for i in range(values.shape[0]):
        add(prior, rows[i], values[i])
    return rows


@kernel
def cluster_rows(prior, values, labels, rows):
    """Add each row to the statistics of its cluster."""
    for i in range(values.shape[0]):
        add(prior, rows[labels[i]], values[i])


@kernel
def pair_log_d(prior, log_kappa, row_a, row_b, size, log_t_a, log_t_b, union):
    """log d of two roots."""
    merge(prior, union, row_a, row_b)
    return log_t_a + log_t_b - log_kappa[size] - log_marginal(prior, union)


@kernel
def find_nearest(log_d, alive, a, nearest):
    """The living root of least log d with a, larger numbers only, so that each pair is seen once."""
    best, found = np.inf, -1
    for b in range(a + 1, alive.size):
        if alive[b] and log_d[a, b] < best:
            best, found = log_d[a, b], b
    nearest[a] = found
    return best


@kernel
def merge_greedily(prior, log_kappa, rows, sizes, stop, children, merge_log_d, group):
    """Merge rows in place; gives the number of merges and the sum of log T over the roots.

    `stop` ends at the first merge that is not favoured. `group[i]` becomes the place of the root of atom i.
    """
    n = sizes.size
    log_d, log_t, union = np.full((n, n), np.inf), np.empty(n), np.empty(rows.shape[1])
    alive, node = np.ones(n, np.bool_), np.arange(n)
    nearest, least = np.full(n, -1), np.full(n, np.inf)
    for a in range(n):
        log_t[a] = log_kappa[sizes[a]] + log_marginal(prior, rows[a])
        group[a] = a
    for a in range(n):
        for b in range(a + 1, n):
            log_d[a, b] = pair_log_d(prior, log_kappa, rows[a], rows[b], sizes[a] + sizes[b], log_t[a], log_t[b], union)
        least[a] = find_nearest(log_d, alive, a, nearest)
    n_merges = 0
    for step in range(n - 1):
        a = 0
        for k in range(1, n):
            if least[k] < least[a]:
                a = k
        b = nearest[a]
        if b < 0 or (stop and least[a] >= 0.0):
            break
        children[step, 0], children[step, 1], merge_log_d[step] = node[a], node[b], least[a]
        sizes[a] += sizes[b]
        merge(prior, rows[a], rows[a], rows[b])
        log_t[a] = log_kappa[sizes[a]] + log_marginal(prior, rows[a]) + log_add(0.0, least[a])
        alive[b], least[b], node[a], n_merges = False, np.inf, n + step, step + 1
        for i in range(n):
            if group[i] == b:
                group[i] = a
        for k in range(n):
            if alive[k] and k != a:
                new = pair_log_d(prior, log_kappa, rows[a], rows[k], sizes[a] + sizes[k], log_t[a], log_t[k], union)
                log_d[min(a, k), max(a, k)] = new
        for k in range(n):
            if alive[k] and (k == a or nearest[k] == a or nearest[k] == b):
                least[k] = find_nearest(log_d, alive, k, nearest)
            elif alive[k] and k < a and log_d[k, a] < least[k]:
                least[k], nearest[k] = log_d[k, a], a
    total = 0.0
    for k in range(n):
        if alive[k]:
            total += log_t[k]
    return n_merges, total


def greedy_merges(prior: Any, log_kappa: np.ndarray, rows: np.ndarray, sizes: np.ndarray, *, stop: bool) -> Merges:
    """Merge clusters given by their statistics until one is left or, with `stop`, none is favoured."""
    n = sizes.size
    children, log_d, group = np.empty((n - 1, 2), np.int64), np.empty(n - 1), np.empty(n, np.int64)
    n_merges, total = merge_greedily(prior, log_kappa, rows.copy(), sizes.copy(), stop, children, log_d, group)
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return Merges(children[:n_merges], log_d[:n_merges], float(total), rank[inverse])
