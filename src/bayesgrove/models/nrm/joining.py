"""One binary tree out of a forest: its roots joined greedily."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.exact import Atoms, agglomerate
from bayesgrove.agglomeration.potentials import join_greedily
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.models.nrm.forest import Forest, sorted_roots
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


def joined_tree(
    prior: Any,
    forest: Forest,
    log_kappa: np.ndarray,
    n_items: int,
    *,
    tempered: bool = False,
    complete: bool = False,
) -> JoinedTree:
    """One tree: the roots of a forest joined greedily, the pair of least log d first.

    `log_kappa` (n_items + 1,) is the log weight of a cluster by its size. `tempered` joins in the size-tempered order
    instead, under a Dirichlet process, which is quicker where the data are `complete`.
    """
    pairs, made = merges_of(forest, n_items)
    roots = sorted_roots(forest)
    if tempered:
        children, log_d, log_tree = join_tempered(prior, forest, roots, float(log_kappa[1]), complete=complete)
    else:
        children, log_d, log_tree = join_greedily(
            prior, forest.rows[roots], forest.size[roots], forest.log_tree[roots], log_kappa, False
        )
    if not np.isfinite(log_tree).all():
        raise NumericalError(
            "the dissimilarity of two clusters is not finite. "
            "Check the hyperparameters: they may be too extreme for these data."
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


def join_tempered(
    prior: Any, forest: Forest, roots: np.ndarray, log_concentration: float, *, complete: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs in the size-tempered order over roots 0 .. n_roots - 1, with log d and log T of the node each makes."""
    k = roots.size
    atoms = Atoms(forest.rows[roots], forest.size[roots].astype(float), forest.log_tree[roots], np.zeros(k))
    top = agglomerate(prior, atoms, log_concentration, complete=complete, tempered=True)
    return top.children, -top.log_odds[k:], top.log_q[k:]


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
