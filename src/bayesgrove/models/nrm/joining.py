"""One binary tree out of a forest: its roots joined greedily."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.models.nrm.forest import Forest, rank, softplus, sorted_roots
from bayesgrove.models.nrm.packing import merges_of
from bayesgrove.stats.special import log_add


class JoinedTree(NamedTuple):
    """One binary tree over all rows, as merges: merge t makes node n_rows + t; arrays by node but `children`."""

    children: np.ndarray
    log_d: np.ndarray
    """-inf at leaves; minus the log odds that the node is one cluster."""
    log_tree: np.ndarray
    n_joins: int
    """The last so many merges join roots of the forest."""


def joined_tree(prior: Any, forest: Forest, log_kappa: np.ndarray, n_items: int) -> JoinedTree:
    """One tree: the roots of a forest joined greedily, the pair of least log d first."""
    pairs, made = merges_of(forest, n_items)
    roots = sorted_roots(forest)
    children, log_d, log_tree = join_roots(
        prior, forest.rows[roots], forest.size[roots], forest.log_tree[roots], log_kappa
    )
    if not np.isfinite(log_tree).all():
        raise NumericalError(
            "the dissimilarity of two clusters is not finite. "
            "Check the likelihood's numbers: they may be too extreme for these data."
        )
    new_id = np.arange(forest.parent.size)
    new_id[made] = n_items + np.arange(made.size)
    ids = np.concatenate([new_id[roots], n_items + made.size + np.arange(len(children))])
    nodes = np.concatenate([np.arange(n_items), made])
    return JoinedTree(
        np.concatenate([pairs, ids[children]]),
        np.concatenate([forest.log_d[nodes], log_d]),
        np.concatenate([forest.log_tree[nodes], log_tree]),
        len(children),
    )


@kernel
def log_prior_weights(children, log_kappa):
    """log sum over the partitions consistent with a binary tree of the product of kappa(size), by node."""
    n_items = children.shape[0] + 1
    size, out = np.ones(2 * n_items - 1, np.int64), np.full(2 * n_items - 1, log_kappa[1])
    for t in range(children.shape[0]):
        a, b = children[t, 0], children[t, 1]
        size[n_items + t] = size[a] + size[b]
        out[n_items + t] = log_add(log_kappa[size[n_items + t]], out[a] + out[b])
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
            if partner == NULL or rank(score) < rank(least):
                partner, least = b, score
    return partner, least


@kernel
def join_roots(prior, root_rows, root_size, root_log_tree, log_kappa):
    """Greedy merges of k trees: children of merge t (node k + t), its log d and log T.

    Each tree remembers its nearest among the later ones, which is looked for again when that one is gone.
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
            if is_live[a] and partner[a] != NULL and (best == NULL or rank(least[a]) < rank(least[best])):
                best = a
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
                    if rank(score) < rank(least[c]):
                        partner[c], least[c] = new, score
    return children, log_d, log_tree[k:]
