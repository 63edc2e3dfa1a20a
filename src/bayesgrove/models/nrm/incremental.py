"""Incremental Bayesian hierarchical clustering (IBHC): rows are inserted into a forest one after another.

Each row (or tree, when it was sent back) joins the nearest root if that makes one cluster with probability at least
1/2, and goes down to where it belongs; a tree that is no longer one cluster is split there and its other parts are
sent back to the end of the queue. About n (roots + 3 depth) marginals.
"""

import logging
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.agglomeration.ties import rounded
from bayesgrove.core.constants import NOT_FINITE, NULL, OK
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.models.nrm.forest import (
    MEMORY_LIMIT,
    N_ROOTS,
    Forest,
    add_root,
    descend,
    forest_labels,
    free_node,
    join,
    new_forest,
    refuse_too_large,
    remove_root,
    set_leaf,
    settle,
)
from bayesgrove.models.nrm.packing import pack_forest, unpack_forest

Progress = Callable[[int, int], None]
POPS_PER_ITEM = 10
"""After so many for each item in the forest, trees are split no more: an end is certain."""
POPS_AT_ONCE = 2_000
HEAD, LENGTH, POPS = 0, 1, 2
"""Places in `Queue.counters`."""


class Queue(NamedTuple):
    """Trees that wait, in a ring."""

    nodes: np.ndarray
    counters: np.ndarray


def new_queue(capacity: int) -> Queue:
    """An empty queue; trees that wait are disjoint, so that there are never more than items."""
    return Queue(np.full(capacity, NULL), np.zeros(3, np.int64))


@kernel
def push(queue, node):
    """Put a tree at the end."""
    queue.nodes[(queue.counters[HEAD] + queue.counters[LENGTH]) % queue.nodes.size] = node
    queue.counters[LENGTH] += 1


@kernel
def pop(queue):
    """Take the first tree."""
    node = queue.nodes[queue.counters[HEAD]]
    queue.counters[HEAD] = (queue.counters[HEAD] + 1) % queue.nodes.size
    queue.counters[LENGTH] -= 1
    queue.counters[POPS] += 1
    return node


@kernel
def nearest_root(prior, forest, log_kappa, x, scratch):
    """The root of least log d with x and the rank of that; of equals the one of the smallest item."""
    rows, size, log_tree, roots, first_item = forest.rows, forest.size, forest.log_tree, forest.roots, forest.first_item
    nearest, least = NULL, np.inf
    row_x, size_x = rows[x], size[x]
    for r in range(forest.counters[N_ROOTS]):
        root = roots[r]
        merge(prior, scratch, rows[root], row_x)
        score = log_tree[root] + log_tree[x] - log_kappa[size[root] + size_x] - log_marginal(prior, scratch)
        score = rounded(score)
        if score < least or (score == least and nearest != NULL and first_item[root] < first_item[nearest]):
            nearest, least = root, score
    return nearest, least


@kernel
def climb(prior, forest, log_kappa, queue, pair, splits):
    """Settle what is above a new pair, split where it is no longer one cluster: the new root, how many went back."""
    parent, children = forest.parent, forest.children
    node = pair
    while parent[node] != NULL:
        above = parent[node]
        settle(prior, forest, log_kappa, above)
        if splits and rounded(forest.log_d[above]) > 0.0:
            break
        node = above
    n_back, above, below = 0, parent[node], node
    parent[node] = NULL
    while above != NULL:
        sibling = children[above, 1] if children[above, 0] == below else children[above, 0]
        parent[sibling] = NULL
        push(queue, sibling)
        n_back += 1
        below, above = above, parent[above]
        free_node(forest, below)
    return node, n_back


@kernel
def place_next(prior, forest, log_kappa, queue, noisy, splits, scratch):
    """Place the first tree of the queue: the tree, the root it joined (NULL: none), the pair made, how many went back.

    NULL instead of the tree says that no log d of it is a finite number.
    """
    x = pop(queue)
    if forest.counters[N_ROOTS] == 0:
        add_root(forest, x)
        return x, NULL, NULL, 0
    nearest, score = nearest_root(prior, forest, log_kappa, x, scratch)
    if nearest == NULL:
        return NULL, NULL, NULL, 0
    if score > 0.0:
        add_root(forest, x)
        return x, NULL, NULL, 0
    remove_root(forest, nearest)
    if noisy:
        pair = join(prior, forest, log_kappa, nearest, x)
        add_root(forest, pair)
        return x, nearest, pair, 0
    tree, inserted = nearest, x
    if forest.children[tree, 0] == NULL and forest.children[x, 0] != NULL:
        tree, inserted = x, nearest
    below = descend(prior, forest, log_kappa, tree, inserted, scratch)
    pair = join(prior, forest, log_kappa, below, inserted)
    root, n_back = climb(prior, forest, log_kappa, queue, pair, splits)
    add_root(forest, root)
    return x, nearest, pair, n_back


@kernel
def run_queue(prior, forest, log_kappa, queue, noisy, most_pops, n_pops):
    """Place up to `n_pops` trees; splits end after `most_pops` in all. A status."""
    scratch = np.empty(forest.rows.shape[1])
    for _ in range(n_pops):
        if queue.counters[LENGTH] == 0:
            break
        splits = queue.counters[POPS] < most_pops
        if place_next(prior, forest, log_kappa, queue, noisy, splits, scratch)[0] == NULL:
            return NOT_FINITE
    return OK


@kernel
def put_in_queue(prior, values, forest, log_kappa, queue, order):
    """Rows of data as leaves that wait."""
    for i in order:
        set_leaf(prior, forest, log_kappa, i, values[i])
        push(queue, i)


@kernel
def run_stream(prior, values, forest, log_kappa, queue, noisy, first, last):
    """Insert rows `first` .. `last` - 1 one by one, the queue emptied after each: status, pops, if splits ended."""
    scratch = np.empty(forest.rows.shape[1])
    ended, n_pops = False, 0
    for i in range(first, last):
        set_leaf(prior, forest, log_kappa, i, values[i])
        push(queue, i)
        queue.counters[POPS] = 0
        while queue.counters[LENGTH] > 0:
            splits = queue.counters[POPS] < POPS_PER_ITEM * (i + 1)
            ended = ended or not splits
            if place_next(prior, forest, log_kappa, queue, noisy, splits, scratch)[0] == NULL:
                return NOT_FINITE, n_pops, ended
            n_pops += 1
    return OK, n_pops, ended


class IncrementalForest(NamedTuple):
    """What IBHC gives: the forest and its clusters."""

    forest: Forest
    labels: np.ndarray
    """(n_rows,) by root, consecutive from 0 by smallest row."""
    log_phi: float
    """Sum over roots: the log joint of the clusters but for the process's constant."""
    log_tree: float
    """Sum over roots of log T: with the process's constant a lower bound on the log evidence."""
    n_pops: int


def described(forest: Forest, n_items: int, n_pops: int) -> IncrementalForest:
    """A forest with its labels and sums."""
    roots = np.sort(forest.roots[: forest.counters[N_ROOTS]])  # sums do not depend on the order of the list
    labels = forest_labels(forest)[:n_items]
    return IncrementalForest(
        forest, labels, math.fsum(forest.log_phi[roots]), math.fsum(forest.log_tree[roots]), n_pops
    )


def incremental_forest(
    prior: Any,
    values: np.ndarray,
    log_kappa: np.ndarray,
    order: np.ndarray,
    *,
    noisy: bool = False,
    memory_limit: float = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> IncrementalForest:
    """IBHC of all encoded rows in one order, the queue.

    `log_kappa` (n_rows + 1,) is the log weight of a cluster by its size, such as log concentration + lgamma(size);
    entry 0 is not read. `noisy` joins the nearest root at its top, without descent or split: quicker, poorer trees.
    Beyond `memory_limit` bytes it is refused before anything is allocated; `progress` gets rows placed and rows in all.
    """
    n = values.shape[0]
    forest = new_forest(prior, n, memory_limit=memory_limit)
    queue = new_queue(n)
    put_in_queue(prior, values, forest, log_kappa, queue, np.asarray(order, np.int64))
    most_pops, warned = POPS_PER_ITEM * n, False
    while queue.counters[LENGTH] > 0:
        if run_queue(prior, forest, log_kappa, queue, noisy, most_pops, POPS_AT_ONCE) != OK:
            raise not_finite()
        if queue.counters[POPS] >= most_pops and queue.counters[LENGTH] > 0 and not warned:
            warn_of_no_end(n)
            warned = True
        if progress is not None:
            progress(n - int(queue.counters[LENGTH]), n)
    return described(forest, n, int(queue.counters[POPS]))


def warn_of_no_end(n: int) -> None:
    """Say that splitting was given up."""
    logging.getLogger("bayesgrove").warning(
        "incremental clustering of %d rows sent trees back %d times a row: no more splits from here on",
        n,
        POPS_PER_ITEM,
    )


def not_finite() -> NumericalError:
    """The error when a dissimilarity is no number."""
    return NumericalError(
        "the dissimilarity of a row to a cluster is not finite. "
        "Check the hyperparameters: they may be too extreme for these data."
    )


def best_forest(
    prior: Any,
    values: np.ndarray,
    log_kappa: np.ndarray,
    orders: list[np.ndarray],
    *,
    noisy: bool = False,
    n_threads: int = 1,
    memory_limit: float = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> IncrementalForest:
    """IBHC in several orders over threads: the forest of largest sum over roots of log phi, of equals the first."""
    if len(orders) == 1:
        return incremental_forest(
            prior, values, log_kappa, orders[0], noisy=noisy, memory_limit=memory_limit, progress=progress
        )
    refuse_too_large(prior, values.shape[0], min(n_threads, len(orders)) + 1, memory_limit)

    def run(order: np.ndarray) -> tuple[float, int, dict[str, np.ndarray]]:
        found = incremental_forest(prior, values, log_kappa, order, noisy=noisy, memory_limit=memory_limit)
        return found.log_phi, found.n_pops, pack_forest(found.forest)

    jobs = Parallel(n_jobs=n_threads, require="sharedmem", return_as="generator")(delayed(run)(o) for o in orders)
    best: tuple[float, int, dict[str, np.ndarray]] = (-math.inf, 0, {})
    for done, found in enumerate(jobs, 1):
        best = found if found[0] > best[0] or not best[2] else best
        if progress is not None:
            progress(done, len(orders))
    forest = unpack_forest(prior, values, log_kappa, best[2], memory_limit=memory_limit)
    return described(forest, values.shape[0], best[1])


def stream_into(
    prior: Any,
    values: np.ndarray,
    pairs: np.ndarray,
    log_kappa: np.ndarray,
    n_known: int,
    *,
    noisy: bool = False,
    memory_limit: float = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> IncrementalForest:
    """A forest with rows from number `n_known` on inserted one by one, in their order; options of `incremental_forest`.

    How rows are divided into calls changes nothing, to the last bit: the queue is emptied after every row. `values` are
    the known rows, then the new ones; `pairs` is the shape of the forest over the known ones, as of `pack_forest`.
    """
    n = values.shape[0]
    known = np.ascontiguousarray(values[:n_known])
    forest = unpack_forest(prior, known, log_kappa, {"pairs": pairs}, capacity=n, memory_limit=memory_limit)
    queue, n_pops, has_ended = new_queue(n), 0, False
    for first in range(n_known, n, POPS_AT_ONCE):
        last = min(n, first + POPS_AT_ONCE)
        status, pops, ended = run_stream(prior, values, forest, log_kappa, queue, noisy, first, last)
        if status != OK:
            raise not_finite()
        if ended and not has_ended:
            warn_of_no_end(n)
        n_pops, has_ended = n_pops + pops, has_ended or ended
        if progress is not None:
            progress(last - n_known, n - n_known)
    return described(forest, n, n_pops)
