"""Streams into a forest: single rows join the clusters that explain them best, and the forest is rebuilt on a schedule.

The weight of a tree is kappa(m + 1) / kappa(m) p(x | its m rows), that of a new tree kappa(1) p(x): for a Dirichlet
process the size of the cluster, or the concentration, times the predictive density. Merge odds of trees, by which IBHC
inserts, let a large cluster swallow rows of its neighbours and run away. Decisions about single rows cannot be undone
by later rows, so whole forests are rebuilt whenever the number of rows passes a point of a fixed schedule: where these
points lie does not depend on how a stream is divided into calls.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.ties import rounded
from bayesgrove.core.constants import NOT_FINITE, NULL, OK
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.models.nrm.forest import (
    MEMORY_LIMIT,
    N_ROOTS,
    Forest,
    add_root,
    join,
    remove_root,
    seq_insert,
    set_leaf,
)
from bayesgrove.models.nrm.incremental import Progress, not_finite
from bayesgrove.models.nrm.packing import pack_forest, unpack_forest
from bayesgrove.stats.processes import dirichlet_log_kappa

ROWS_AT_ONCE = 2_000
"""Rows between two looks at the keyboard."""
FIRST_REBUILD, GROWTH = 16, 1.5
"""Rows at the first rebuild, and the factor from each rebuild to the next."""
NO_PAIRS = np.empty((0, 2), np.int64)


class StreamState(NamedTuple):
    """All that the next row needs to know, besides the rows so far."""

    prior: Any
    log_concentration: float
    where: np.ndarray
    """Log factors of the learned hyperparameters, from which the next rebuild goes on."""
    pairs: np.ndarray
    """Shape of the forest, as `pack_forest` gives it."""
    n_known: int


Rebuild = Callable[[np.ndarray, np.ndarray | None, np.ndarray | None], StreamState]
"""From rows, their labels and `where` to a new state; without labels, everything is searched for."""


@kernel
def best_root(prior, forest, log_kappa, x, scratch):
    """The root of largest weight for the leaf x (NULL: a new one), and that weight; of equals the smallest item's."""
    rows, size, log_phi, first_item = forest.rows, forest.size, forest.log_phi, forest.first_item
    best, top = NULL, rounded(log_phi[x])
    for r in range(forest.counters[N_ROOTS]):
        root = forest.roots[r]
        merge(prior, scratch, rows[root], rows[x])
        weight = rounded(log_kappa[size[root] + 1] + log_marginal(prior, scratch) - log_phi[root])
        if math.isnan(weight):
            return NULL, weight
        if weight > top or (weight == top and (best == NULL or first_item[root] < first_item[best])):
            best, top = root, weight
    return best, top


@kernel
def insert_rows(prior, values, forest, log_kappa, noisy, first, last):
    """Insert rows `first` .. `last` - 1 one by one; a status."""
    scratch = np.empty(forest.rows.shape[1])
    for i in range(first, last):
        set_leaf(prior, forest, log_kappa, i, values[i])
        root, weight = best_root(prior, forest, log_kappa, i, scratch)
        if math.isnan(weight):
            return NOT_FINITE
        if root == NULL:
            add_root(forest, i)
            continue
        remove_root(forest, root)
        if noisy:
            add_root(forest, join(prior, forest, log_kappa, root, i))
        else:
            add_root(forest, seq_insert(prior, forest, log_kappa, root, i, scratch))
    return OK


def insert_into(
    state: StreamState,
    values: np.ndarray,
    *,
    noisy: bool = False,
    memory_limit: float = MEMORY_LIMIT,
) -> Forest:
    """The forest of a state with all rows of `values` that it does not know inserted in their order."""
    n, log_kappa = values.shape[0], dirichlet_log_kappa(state.log_concentration, values.shape[0])
    known = np.ascontiguousarray(values[: state.n_known])
    forest = unpack_forest(state.prior, known, log_kappa, {"pairs": state.pairs}, capacity=n, memory_limit=memory_limit)
    for first in range(state.n_known, n, ROWS_AT_ONCE):
        last = min(n, first + ROWS_AT_ONCE)
        if insert_rows(state.prior, values, forest, log_kappa, noisy, first, last) != OK:
            raise not_finite()
    return forest


def next_rebuild(n_known: int) -> int:
    """The smallest number of rows on the schedule above `n_known`."""
    point = float(FIRST_REBUILD)
    while math.ceil(point) <= n_known:
        point *= GROWTH
    return math.ceil(point)


def streamed(
    state: StreamState,
    values: np.ndarray,
    rebuild: Rebuild,
    *,
    finish: bool = False,
    noisy: bool = False,
    memory_limit: float = MEMORY_LIMIT,
    progress: Progress | None = None,
) -> StreamState:
    """The state after more rows; `values` are the known encoded rows, then the new ones.

    `rebuild` gets the rows so far, their labels and `where`, whenever their number is on the schedule and, with
    `finish`, after the last; `noisy`, `memory_limit` and `progress` are those of `incremental_forest`.
    """
    n = values.shape[0]
    while state.n_known < n:
        point = next_rebuild(state.n_known)
        rows = np.ascontiguousarray(values[: min(n, point)])
        packed = pack_forest(insert_into(state, rows, noisy=noisy, memory_limit=memory_limit))
        if point <= n or finish:
            state = rebuild(rows, packed["labels"], state.where)
        else:
            state = state._replace(pairs=packed["pairs"], n_known=n)
        if progress is not None:
            progress(state.n_known, n)
    return state
