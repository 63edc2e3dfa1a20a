"""Exact greedy Bayesian hierarchical clustering of rows or of ready-made clusters ("atoms")."""

import itertools
import logging
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.agglomeration.agglomerate import (
    DONE,
    EVALUATIONS,
    Agglomeration,
    Steps,
    advance,
    new_agglomeration,
)
from bayesgrove.agglomeration.choose import choose_scorer
from bayesgrove.agglomeration.scorers import n_fields
from bayesgrove.core.constants import NULL, OK
from bayesgrove.core.errors import InvalidSettingError, MemoryLimitError, NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, n_stats

Progress = Callable[[int, int], None]
Work = Callable[[Steps], int]
"""`advance` with all but its last argument."""
WORTH_THREADS = 4_000
"""Clusters from which on starting threads pays."""
SCORES = ("light", "matrix", "matrix32")


class Atoms(NamedTuple):
    """Clusters to start from: statistics, numbers of rows, log evidence q and log prior weight d of their subtrees."""

    rows: np.ndarray
    sizes: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray


class Merges(NamedTuple):
    """A binary tree over atoms 0 .. n-1; merge t has id n + t. Arrays by node id, but `children` by merge."""

    children: np.ndarray
    log_odds: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray
    n_evaluations: int


@kernel
def row_atoms(prior, values, log_concentration, rows, log_q):
    """Statistics and q of each row of data as a cluster of its own."""
    for i in range(values.shape[0]):
        for s in range(rows.shape[1]):
            rows[i, s] = 0.0
        add(prior, rows[i], values[i])
        log_q[i] = log_concentration + log_marginal(prior, rows[i])


def atoms_of_rows(prior: Any, values: np.ndarray, log_concentration: float) -> Atoms:
    """Each row of data as an atom."""
    n = values.shape[0]
    rows, log_q = np.empty((n, n_stats(prior))), np.empty(n)
    row_atoms(prior, values, log_concentration, rows, log_q)
    return Atoms(rows, np.ones(n), log_q, np.full(n, log_concentration))


def agglomerate(
    prior: Any,
    atoms: Atoms,
    log_concentration: float,
    *,
    complete: bool,
    scores: str = "light",
    memory_limit: float = math.inf,
    n_threads: int = 1,
    progress: Progress | None = None,
    tempered: bool = False,
) -> Merges:
    """The greedy tree over the atoms, in the size-tempered order or by log odds.

    Scores are computed again at need ("light") or stored in double ("matrix") or single precision ("matrix32"), by
    several threads in the first round: the tree is always the same. Beyond `memory_limit` bytes it is refused before
    anything is allocated. `complete`, no missing cell, lets faster scorers serve; `progress` gets merges done and
    merges in all.
    """
    n = atoms.sizes.size
    if n == 1:
        return Merges(np.empty((0, 2), np.int64), np.array([np.inf]), atoms.log_q.copy(), atoms.log_d.copy(), 0)
    totals, n_rows = atoms.rows.sum(axis=0), atoms.sizes.sum()
    scorer = choose_scorer(prior, totals, n_rows, log_concentration, complete=complete, tempered=tempered)
    refuse_too_large(n, atoms.rows.shape[1] + n_fields(scorer), scores, memory_limit)
    state = new_agglomeration(n, atoms.rows.shape[1], n_fields(scorer), scores)
    work = partial(advance, scorer, state, prior, log_concentration, atoms)
    find_first_partners(work, n, n_threads)
    merge_all(work, state, n - 1, progress)
    return Merges(state.children, state.log_odds, state.log_q, state.log_d, int(state.counters[EVALUATIONS]))


def merge_all(work: Work, state: Agglomeration, n_merges: int, progress: Progress | None) -> None:
    """Run all merges in pieces, so that progress is shown and Ctrl+C is heard."""
    piece = max(1, min(n_merges, 20_000_000 // max(1, n_merges * state.clusters.rows.shape[1])))
    while (done := int(state.counters[DONE])) < n_merges:
        if work(Steps(n_merges=min(piece, n_merges - done))) != OK:
            raise not_finite(state)
        if progress is not None:
            progress(int(state.counters[DONE]), n_merges)


def not_finite(state: Agglomeration) -> NumericalError:
    """The error that names the clusters at hand when no score was a number."""
    nodes = state.node[state.node != NULL][:2].tolist()
    return NumericalError(
        f"no merge score is finite after {int(state.counters[DONE])} merges (clusters {nodes} among others). "
        "Check the hyperparameters: they may be too extreme for these data.",
        nodes=nodes,
    )


def refuse_too_large(n: int, width: int, scores: str, memory_limit: float) -> None:
    """Refuse before allocating when the estimate exceeds the limit."""
    if scores not in SCORES:
        raise InvalidSettingError(f"scores must be one of {SCORES}, got {scores!r}.")
    stored = {"light": 0, "matrix": 8, "matrix32": 4}[scores] * n * n
    estimate = int(1.2 * n * width * 8) + 100 * n + stored
    if estimate > memory_limit:
        raise MemoryLimitError(
            f"{n:,} rows need about {estimate / 2**30:.2f} GiB (scores={scores!r}), the limit is "
            f"{memory_limit / 2**30:.2f} GiB. Raise memory_limit, use scores='light', or RandomizedBHC.",
            estimate=estimate,
        )


def find_first_partners(work: Work, n: int, n_threads: int) -> None:
    """Start, with the first round of scores, over threads: the owner at position b has b older partners."""
    if n_threads == 1 or n < WORTH_THREADS:
        work(Steps(loads=True, last_owner=n))
    else:
        work(Steps(loads=True))
        cuts = (n * np.sqrt(np.linspace(0.0, 1.0, 4 * n_threads + 1))).astype(int).tolist()
        ranges = [(low, high) for low, high in itertools.pairwise(cuts) if low < high]
        Parallel(n_jobs=n_threads, require="sharedmem")(delayed(work)(Steps(False, *each)) for each in ranges)
    logging.getLogger("bayesgrove").debug("first partners of %d clusters found", n)
