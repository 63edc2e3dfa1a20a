"""The published tree-guided sampler (Lee and Choi 2015), kept for reproduction.

**It does not leave the posterior invariant**: trees are part of its state but no density on trees enters its ratio, a
merge counts only the cluster that was picked, and its local moves choose their points by the present partition. It
finds too few clusters: 1.945 on average for five ambiguous points where 2.379 is right; the distribution it does have
is computed in tests/exact/test_paper_sampler.py. Use it to compare with the paper, never to infer.

Variants: "code" is what the authors' program does, "printed" what the paper says, "mended" the paper with the sums of
its equations (3) and (4) read as the products they must be.

The state is a forest with one tree for each cluster. One sweep: global moves (split or merge), one local move, then all
statistics computed again.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NOT_FINITE, NULL, OK
from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge, remove
from bayesgrove.models.nrm.forest import (
    N_ROOTS,
    Forest,
    add_root,
    detach,
    preorder,
    refresh_forest,
    remove_root,
    root_of,
    seq_insert,
    sorted_roots,
)
from bayesgrove.models.nrm.paper_global import MERGE, SPLIT, VARIANTS, global_move, sample_sub_weights
from bayesgrove.stats.sampling import draw_log_categorical


@kernel
def sample_below(rng, forest, tree, depth, nodes, log_weights):
    """SampleSub `depth` times, leaves included, each time below the node drawn; NULL: a number was not finite."""
    node = tree
    for _ in range(depth):
        if forest.children[node, 0] == NULL:
            break
        n_nodes = preorder(forest, node, nodes)
        sample_sub_weights(forest, nodes, n_nodes, False, log_weights)
        chosen = draw_log_categorical(rng, log_weights[:n_nodes])
        if chosen == NULL:
            return NULL
        node = nodes[chosen]
    return node


@kernel
def leaves_below(forest, node, nodes, items, n_items):
    """Append the leaves below a node to `items`, breadth first; the new number of items."""
    nodes[0] = node
    n_nodes, at = 1, 0
    while at < n_nodes:
        if forest.children[nodes[at], 0] == NULL:
            items[n_items] = nodes[at]
            n_items += 1
        else:
            nodes[n_nodes], nodes[n_nodes + 1] = forest.children[nodes[at], 0], forest.children[nodes[at], 1]
            n_nodes += 2
        at += 1
    return n_items


@kernel
def gibbs_weights(prior, forest, log_kappa, x, item, home, log_weights, scratch):
    """Log weight of every root of the list for an item, its home taken without it, last of a new cluster."""
    rows, size, log_phi, roots = forest.rows, forest.size, forest.log_phi, forest.roots
    n_roots = forest.counters[N_ROOTS]
    for r in range(n_roots):
        root = roots[r]
        if root != home:
            merge(prior, scratch, rows[root], rows[item])
            log_weights[r] = log_kappa[size[root] + 1] + log_marginal(prior, scratch) - log_phi[root]
        elif root == item:
            log_weights[r] = -np.inf
        else:
            for s in range(scratch.size):
                scratch[s] = rows[root, s]
            remove(prior, scratch, x)
            log_weights[r] = log_phi[root] - log_kappa[size[root] - 1] - log_marginal(prior, scratch)
    log_weights[n_roots] = log_phi[item]


@kernel
def move_item(rng, prior, values, forest, log_kappa, item, log_weights, scratch):
    """Gibbs for one item; where it moves it is detached and inserted. 1 if it moved, NULL: a number was not finite."""
    home, n_roots = root_of(forest, item), forest.counters[N_ROOTS]
    gibbs_weights(prior, forest, log_kappa, values[item], item, home, log_weights, scratch)
    chosen = draw_log_categorical(rng, log_weights[: n_roots + 1])
    if chosen == NULL:
        return NULL
    if chosen < n_roots and forest.roots[chosen] == home:
        return 0
    if chosen == n_roots and home == item:
        return 0
    target = NULL if chosen == n_roots else forest.roots[chosen]
    remove_root(forest, home)
    rest = detach(prior, forest, log_kappa, item)
    if rest != NULL:
        add_root(forest, rest)
    if target == NULL:
        add_root(forest, item)
    else:
        remove_root(forest, target)
        add_root(forest, seq_insert(prior, forest, log_kappa, target, item, scratch))
    return 1


@kernel
def local_move(rng, prior, values, forest, log_kappa, depth):
    """Gibbs on the leaves below nodes drawn in every tree, a list fixed before any moves: how many moved, or NULL."""
    n = values.shape[0]
    nodes, log_weights, items = np.empty(2 * n, np.int64), np.empty(2 * n), np.empty(n, np.int64)
    n_items, n_moved = 0, 0
    for tree in sorted_roots(forest):
        node = sample_below(rng, forest, tree, depth, nodes, log_weights)
        if node == NULL:
            return NULL
        n_items = leaves_below(forest, node, nodes, items, n_items)
    scratch = np.empty(forest.rows.shape[1])
    for k in range(n_items):
        moved = move_item(rng, prior, values, forest, log_kappa, items[k], log_weights, scratch)
        if moved == NULL:
            return NULL
        n_moved += moved
    return n_moved


@kernel
def run_sweep(rng, prior, values, forest, log_kappa, depth, variant, proposed, accepted, log_r):
    """Global moves, one for each place of `proposed`, a local move, fresh statistics: status and items moved."""
    for g in range(proposed.size):
        proposed[g], accepted[g], log_r[g] = global_move(rng, prior, forest, log_kappa, variant)
        if proposed[g] == NULL:
            return NOT_FINITE, 0
    n_moved = local_move(rng, prior, values, forest, log_kappa, depth)
    if n_moved == NULL:
        return NOT_FINITE, 0
    refresh_forest(prior, values, forest, log_kappa)
    return OK, n_moved


class PaperInfo(NamedTuple):
    """What one sweep did; a global move that ended at a single row proposed nothing."""

    splits_proposed: int
    splits_accepted: int
    merges_proposed: int
    merges_accepted: int
    n_moved: int
    """Items that changed their cluster in the local move."""
    log_r: np.ndarray
    """Log acceptance ratio of each global move that proposed something."""


def paper_sweep(
    rng: np.random.Generator,
    prior: Any,
    values: np.ndarray,
    forest: Forest,
    log_kappa: np.ndarray,
    n_global: int = 10,
    depth: int = 2,
    variant: str = "code",
) -> PaperInfo:
    """One sweep of the published sampler, in place. It does not leave the posterior invariant.

    The forest is that of `start_forest`, its potentials those of `log_kappa` (else call `refresh_forest`). `n_global`
    is the number of split or merge moves (G in the paper), `depth` how often a node is drawn below the last one in the
    local move (D); `variant` is "code", "mended" or "printed".
    """
    if variant not in VARIANTS:
        raise InvalidSettingError(f"paper_variant must be one of {tuple(VARIANTS)}, got {variant!r}.")
    proposed, accepted, log_r = np.zeros(n_global, np.int64), np.zeros(n_global, np.bool_), np.zeros(n_global)
    status, n_moved = run_sweep(
        rng, prior, values, forest, log_kappa, depth, VARIANTS[variant], proposed, accepted, log_r
    )
    if status != OK:
        raise NumericalError(
            "a weight of the published sampler is not finite. "
            "Check the hyperparameters: they may be too extreme for these data."
        )
    is_split, is_merge = proposed == SPLIT, proposed == MERGE
    return PaperInfo(
        splits_proposed=int(is_split.sum()),
        splits_accepted=int((is_split & accepted).sum()),
        merges_proposed=int(is_merge.sum()),
        merges_accepted=int((is_merge & accepted).sum()),
        n_moved=n_moved,
        log_r=log_r[is_split | is_merge],
    )
