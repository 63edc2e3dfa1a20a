"""Evidence of many views at once: the row tree of each, over threads, and the number that stands for it.

"bound" scales the root's q to a lower bound on the evidence of the Dirichlet process mixture of the rows; "tree" is the
evidence given the tree, q / d (Heller and Ghahramani), which is no bound.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL, OK
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.models.cross.row_trees import (
    Bench,
    grow_rows,
    n_pairs,
    needs,
    new_bench,
    pair_gains,
    require_finite,
)

EVIDENCES = ("bound", "tree")
ROW_SEARCHES = ("best", "greedy")
"""Orders in which rows merge: size-tempered, or by the log odds as published."""
GAINS_LIMIT = 1 << 29
"""Bytes of gains kept; above it they are computed again for each tree."""


class Problem(NamedTuple):
    """A table, the concentrations of both levels and how to compute."""

    table: Any
    """A `ViewTable`, or a `ClusterTable` where rows stand on a cluster: then only fixed trees can be asked for."""
    log_rows: float
    """Log concentration of the rows in each view."""
    log_columns: float
    """Log concentration of the columns."""
    evidence: str = "bound"
    n_threads: int = 1
    share: bool = True
    """Whether gains of pairs of rows are added up over views, and equal views are computed once."""
    row_search: str = "greedy"
    """One of ROW_SEARCHES; the estimators ask for "best" unless told otherwise."""
    prior: ColumnsPrior | None = None
    """Hyperparameters of the columns; row trees found by "best" are polished where they are given."""


class Grown(NamedTuple):
    """Row trees of some views."""

    children: np.ndarray
    """(views, n_rows - 1, 2) merges."""
    log_q: np.ndarray
    """(views,) of the roots, constants of cells included."""
    log_d: np.ndarray
    n_trees: int
    """Row trees grown to get them."""


def check_problem(problem: Problem) -> None:
    """Refuse what no search can work with."""
    if problem.evidence not in EVIDENCES:
        raise InvalidSettingError(f'evidence is "bound" or "tree", got {problem.evidence!r}. Choose one of these.')
    if problem.row_search not in ROW_SEARCHES:
        raise InvalidSettingError(f'row_search is "best" or "greedy", got {problem.row_search!r}. Choose one of these.')
    if not (math.isfinite(problem.log_rows) and math.isfinite(problem.log_columns)):
        raise InvalidSettingError(
            "concentrations of rows and columns must be positive and finite, got logarithms "
            f"{problem.log_rows} and {problem.log_columns}."
        )
    if problem.n_threads < 1:
        raise InvalidSettingError(f"n_threads must be at least 1, got {problem.n_threads}.")


def log_crp_constant(n: int, log_concentration: float) -> float:
    """The part of a partition's log prior that no partition changes."""
    concentration = math.exp(log_concentration)
    return math.lgamma(concentration) - math.lgamma(n + concentration)


def log_evidence(problem: Problem, log_q: np.ndarray, log_d: np.ndarray) -> np.ndarray:
    """Log evidence of views from the roots of their row trees."""
    if problem.evidence == "tree":
        return log_q - log_d
    return log_q + log_crp_constant(problem.table.n_rows, problem.log_rows)


def tree_bound(problem: Problem, log_q_root: float, n_columns: int) -> float:
    """What a tree of columns says about the evidence of the table; a lower bound if that of the views is one."""
    return log_q_root + log_crp_constant(n_columns, problem.log_columns)


def flat_bound(problem: Problem, sizes: np.ndarray, evidence: np.ndarray) -> float:
    """Log prior of a partition of the columns plus the evidence of its views."""
    weights = sum(problem.log_columns + math.lgamma(size) for size in sizes)
    return weights + float(np.sum(evidence)) + log_crp_constant(int(np.sum(sizes)), problem.log_columns)


def column_gains(problem: Problem) -> np.ndarray:
    """Gains of the pairs of rows in each column alone, (columns, pairs); no pairs if they are not to be kept."""
    columns = np.arange(problem.table.n_columns)
    return gains_from_rows(problem, [columns[j : j + 1] for j in columns], columns.size)


def gains_from_rows(problem: Problem, views: Sequence[np.ndarray], n_kept: int) -> np.ndarray:
    """Gains of the pairs of rows in each view, (views, pairs); no pairs if those of `n_kept` views take too much."""
    n = n_pairs(problem.table.n_rows)
    if not problem.share or 8 * n_kept * n > GAINS_LIMIT:
        return np.empty((len(views), 0))
    gains = np.empty((len(views), n))
    if not views:
        return gains
    alone = np.column_stack([np.arange(len(views)), np.full(len(views), NULL)])
    bench = bench_for(problem, views, alone)
    for view, out in zip(views, gains, strict=True):
        pair_gains(problem.table, bench, view, out)
    return gains


def view_gains(
    problem: Problem, gains: np.ndarray, views: Sequence[np.ndarray], n_kept: int | None = None
) -> np.ndarray:
    """Gains of the pairs of rows in each view: from those of the columns where they are kept."""
    if gains.shape[1] == 0:
        return gains_from_rows(problem, views, len(views) if n_kept is None else n_kept)
    return np.array([gains[view].sum(axis=0) for view in views]).reshape(len(views), gains.shape[1])


def grow_views(problem: Problem, views: Sequence[np.ndarray], gains: np.ndarray | None = None) -> Grown:
    """Row trees of views, given the gains of the columns or from the columns alone."""
    if gains is None:
        gains = np.empty((problem.table.n_columns, 0))
    alone = np.column_stack([np.arange(len(views)), np.full(len(views), NULL)])
    return grow_unions(problem, views, gains, alone)


def grow_unions(problem: Problem, views: Sequence[np.ndarray], gains: np.ndarray, pairs: np.ndarray) -> Grown:
    """Row trees of unions of two views each; a second view of NULL is none.

    `gains` are those of the views if the pairs have two, otherwise those of the columns. Equal unions are grown once if
    shared.
    """
    table = problem.table
    wanted, source = distinct_pairs(problem, views, pairs)
    start = np.concatenate([[0], np.cumsum([view.size for view in views])])
    flat = np.concatenate([*views, np.empty(0, np.int64)])
    out = (np.empty((len(wanted), table.n_rows - 1, 2), np.int32), np.empty(len(wanted)), np.empty(len(wanted)))
    n_threads = min(problem.n_threads, len(wanted))
    benches = [bench_for(problem, views, wanted) for _ in range(n_threads)]
    constants = table.constants.sum(axis=1)
    jobs = [
        (grow_share, (table, bench, (flat, start), gains, constants, wanted, (first, n_threads), out))
        for first, bench in enumerate(benches)
    ]
    for status in run_jobs(jobs, n_threads):
        require_finite(status)
    return Grown(out[0][source], out[1][source], out[2][source], len(wanted))


def run_jobs(jobs: list[tuple[Callable[..., Any], tuple[Any, ...]]], n_threads: int) -> list[Any]:
    """Results of calls, each a function and its arguments, of kernels that let other threads run.

    joblib's own threads wait in steps of 10 ms, longer than most of these calls take, and its `delayed` takes as long
    as the smallest of them.
    """
    if n_threads <= 1 or len(jobs) == 1:
        return [function(*arguments) for function, arguments in jobs]
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(lambda job: job[0](*job[1]), jobs))


def sums_over_views(numbers: np.ndarray, views: Sequence[np.ndarray]) -> np.ndarray:
    """Sum of a number per column over each view, and 0 for the view NULL."""
    owner = np.repeat(np.arange(len(views)), [view.size for view in views])
    flat = np.concatenate([*views, np.empty(0, np.int64)])
    return np.bincount(owner, numbers[flat], minlength=len(views) + 1).astype(numbers.dtype)


def bench_for(problem: Problem, views: Sequence[np.ndarray], pairs: np.ndarray) -> Bench:
    """A bench large enough for any of these unions."""
    n_parts, n_fields = (sums_over_views(need, views)[pairs].sum(axis=1).max() for need in needs(problem.table))
    is_tempered = problem.row_search == "best"
    return new_bench(problem.table, int(n_parts), int(n_fields), problem.log_rows, is_tempered=is_tempered)


def distinct_pairs(problem: Problem, views: Sequence[np.ndarray], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs to grow, and for every pair asked for the place among them."""
    names = problem.table.same_as
    if not problem.share or (names == np.arange(names.size)).all():
        return pairs, np.arange(len(pairs))
    kinds: dict[bytes, int] = {}
    kind = np.array([kinds.setdefault(np.sort(names[view]).tobytes(), v) for v, view in enumerate(views)] + [NULL])
    _, first, source = np.unique(np.sort(kind[pairs], axis=1), axis=0, return_index=True, return_inverse=True)
    return pairs[first], source.reshape(-1)


@kernel
def grow_share(table, bench, views, gains, constants, pairs, share, out):
    """Grow every so manieth of the unions; views are given by their columns one after another and their starts."""
    flat, start = views
    children, log_q, log_d = out
    columns = np.empty(flat.size, np.int64)
    for k in range(share[0], pairs.shape[0], share[1]):
        size = 0
        for side in range(2):
            view = pairs[k, side]
            if view != NULL:
                for at in range(start[view], start[view + 1]):
                    columns[size] = flat[at]
                    size += 1
        own = columns[:size]
        if pairs[k, 1] != NULL:
            own.sort()  # a set of columns has one evidence, to the last digit, however it was put together
        status = grow_rows(table, bench, own, gains, own if pairs[k, 1] == NULL else pairs[k])
        if status != OK:
            return status
        root = bench.node_log_q.size - 1
        constant = 0.0
        for column in own:
            constant += constants[column]
        log_q[k], log_d[k] = bench.node_log_q[root] + constant, bench.node_log_d[root]
        for t in range(children.shape[1]):
            children[k, t, 0], children[k, t, 1] = bench.children[t, 0], bench.children[t, 1]
    return OK
