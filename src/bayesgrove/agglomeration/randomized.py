"""Randomized Bayesian hierarchical clustering: about n log n, a million rows in seconds.

Four steps: split by samples, exact BHC in small blocks, regraft (exact BHC over the clusters found), refine (reassign
rows once, rebuild). Every step yields a binary tree over the rows, so its bound is a bound on the evidence throughout;
regraft and refine are kept only where they raise it.
"""

import logging
import math
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.agglomeration.blocks import Forest, block_trees, new_forest
from bayesgrove.agglomeration.exact import Atoms, Progress, agglomerate
from bayesgrove.agglomeration.filters import assign, make_filter
from bayesgrove.agglomeration.splits import (
    ROWS_PER_CHUNK,
    OpenSet,
    Problem,
    Settings,
    SplitTree,
    halve_sets,
    places_by_label,
    split_rows,
)
from bayesgrove.agglomeration.statistics import statistics_of_clusters
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel

MOST_ATOMS = 20_000
MOST_PASSES = 8
FEW_MOVED = 1e-3


class Grown(NamedTuple):
    """A finished forest with one root, and how it was found."""

    forest: Forest
    log_q: float
    """Of the root."""
    depth: int
    """Of the splits by samples."""
    steps: dict[str, float]
    """Log q of the root after each step that was kept."""


def grow(
    problem: Problem, settings: Settings, *, regraft: bool = True, refine: int = 1, progress: Progress | None = None
) -> Grown:
    """A randomized tree over all rows."""
    order, splits = split_rows(problem, settings)
    plan = splits.plan()
    steps = Steps(progress, 2 + regraft + refine)
    steps.done()
    forest, pieces = block_trees(problem, order, plan)
    grown = Grown(forest, float(pieces.log_q[-1]), splits.depth, {"joined": float(pieces.log_q[-1])})
    steps.done()
    if plan.truncated.size == 1:  # one block: the exact tree
        return grown
    if regraft:
        grown = better(grown, "regrafted", regrafted(problem, grown.forest))
        steps.done()
    return refine_rounds(problem, settings, grown, refine, steps)


class Steps:
    """Tells a progress callback how many of the steps are done."""

    def __init__(self, progress: Progress | None = None, total: int = 0) -> None:
        self.progress, self.total, self.n_done = progress, total, 0

    def done(self) -> None:
        """One more step is done."""
        self.n_done += 1
        if self.progress is not None:
            self.progress(self.n_done, self.total)


def refine_rounds(
    problem: Problem, settings: Settings, grown: Grown, n_rounds: int, steps: Steps | None = None
) -> Grown:
    """Refine while the bound rises, `n_rounds` times at most."""
    for done in range(n_rounds):
        forest = refine_once(problem, settings, grown.forest)
        refined = better(grown, f"refined {done + 1}", forest)
        if steps is not None:
            steps.done()
        if refined is grown:
            break
        grown = refined
    return grown


def better(grown: Grown, step: str, forest: Forest | None) -> Grown:
    """The new forest if its root has a larger q, else the old one."""
    if forest is None or forest.log_q[-1] <= grown.log_q:
        return grown
    log_q = float(forest.log_q[-1])
    return grown._replace(forest=forest, log_q=log_q, steps={**grown.steps, step: log_q})


@kernel
def half_cut(children, log_odds, n_rows):
    """Label of each row by the first node on its path with log odds >= 0, and that node for each label."""
    n_merges = children.shape[0]
    owner = np.full(n_rows + n_merges, NULL)
    heads = np.empty(n_rows, np.int64)
    n_found = 0
    for t in range(n_merges - 1, -1, -1):
        node = n_rows + t
        if owner[node] == NULL and log_odds[t] >= 0.0:
            owner[node] = n_found
            heads[n_found] = node
            n_found += 1
        owner[children[t, 0]] = owner[children[t, 1]] = owner[node]
    for i in range(n_rows):
        if owner[i] == NULL:
            owner[i] = n_found
            heads[n_found] = i
            n_found += 1
    return owner[:n_rows].copy(), heads[:n_found].copy()


@kernel
def copy_below(forest, heads, grown):
    """Copy all merges at or below the heads, in their order, to another forest: new ids, and how many there are."""
    n_rows, n_merges = forest.leaf_log_q.size, forest.log_q.size
    kept = np.zeros(n_rows + n_merges, np.bool_)
    for head in heads:
        kept[head] = True
    for t in range(n_merges - 1, -1, -1):
        if kept[n_rows + t]:
            kept[forest.children[t, 0]] = kept[forest.children[t, 1]] = True
    new_id, at = np.arange(n_rows + n_merges), 0
    for t in range(n_merges):
        if kept[n_rows + t]:
            for side in range(2):
                grown.children[at, side] = new_id[forest.children[t, side]]
            grown.log_odds[at], grown.log_q[at], grown.log_d[at] = forest.log_odds[t], forest.log_q[t], forest.log_d[t]
            new_id[n_rows + t] = n_rows + at
            at += 1
    grown.leaf_log_q[:] = forest.leaf_log_q
    return new_id, at


def regrafted(problem: Problem, forest: Forest) -> Forest | None:
    """Exact BHC over the clusters of the half cut, each with its own subtree; None when there are too many."""
    n = forest.leaf_log_q.size
    labels, heads = half_cut(forest.children, forest.log_odds, n)
    if heads.size > MOST_ATOMS:
        logging.getLogger("bayesgrove").warning(
            "%d clusters are too many to regraft (%d at most): the joined tree is kept", heads.size, MOST_ATOMS
        )
        return None
    rows, sizes = statistics_of_clusters(problem.prior, problem.rows, labels, heads.size)
    inner, inside = np.maximum(heads - n, 0), heads >= n
    log_q = np.where(inside, forest.log_q[inner], forest.leaf_log_q[np.minimum(heads, n - 1)])
    log_d = np.where(inside, forest.log_d[inner], problem.log_concentration)
    atoms = Atoms(rows, sizes, log_q, log_d)
    top = agglomerate(
        problem.prior, atoms, problem.log_concentration, complete=problem.complete, n_threads=problem.n_threads
    )
    return with_new_top(forest, heads, top.children, top.log_odds, top.log_q, top.log_d)


def with_new_top(
    forest: Forest, heads: np.ndarray, children: np.ndarray, log_odds: np.ndarray, log_q: np.ndarray, log_d: np.ndarray
) -> Forest:
    """The subtrees of the heads under another top; merges keep their order, so children stay before parents."""
    n, m = forest.leaf_log_q.size, heads.size
    grown = new_forest(n)
    new_id, n_kept = copy_below(forest, heads, grown)
    atom_id = np.concatenate([new_id[heads], n + n_kept + np.arange(m - 1)])
    grown.children[n_kept:] = np.sort(atom_id[children], axis=1)
    grown.log_odds[n_kept:], grown.log_q[n_kept:], grown.log_d[n_kept:] = log_odds[m:], log_q[m:], log_d[m:]
    return grown


def reassign(
    problem: Problem,
    labels: np.ndarray,
    n_clusters: int,
    most_passes: int = MOST_PASSES,
    known: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, bool]:
    """Flat passes: each row to its best cluster or a new one, until few move; whether the first pass moved many.

    `known` are the statistics and sizes of the clusters, where they are at hand.
    """
    n = labels.size
    for done in range(most_passes):
        rows, sizes = known or statistics_of_clusters(problem.prior, problem.rows, labels, n_clusters)
        known = None
        number = np.cumsum(sizes > 0) - 1  # of clusters that still have rows
        rows, sizes = np.vstack([rows[sizes > 0], np.zeros((1, rows.shape[1]))]), sizes[sizes > 0]
        log_weight = np.append(np.log(sizes), problem.log_concentration)
        density = make_filter(problem.prior, rows, complete=problem.complete)
        labels = number[labels]
        n_moved = assign_all(problem, density, log_weight, np.arange(sizes.size + 2), labels)
        n_clusters = sizes.size + 1
        if n_moved < FEW_MOVED * n:
            return labels, done > 0
    return labels, True


def assign_all(problem: Problem, density: Any, log_weight: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> int:
    """Write the best group of every row to `labels`; how many changed."""
    if problem.remote is not None:
        return problem.remote.assign(density, log_weight, starts, labels)
    n = labels.size
    order = np.arange(n)
    moved = Parallel(n_jobs=problem.n_threads, require="sharedmem")(
        delayed(assign)(
            density, log_weight, starts, problem.values, order, first, min(first + ROWS_PER_CHUNK, n), labels
        )
        for first in range(0, n, ROWS_PER_CHUNK)
    )
    return sum(moved)


def refine_once(problem: Problem, settings: Settings, forest: Forest) -> Forest | None:
    """Reassign rows to the clusters of the half cut, build each new cluster again, regraft; None: nothing to do."""
    n = forest.leaf_log_q.size
    if n == 1:
        return None
    labels, heads = half_cut(forest.children, forest.log_odds, n)
    if heads.size > MOST_ATOMS:
        return None
    labels, many_moved = reassign(problem, labels, heads.size)
    if not many_moved:
        return None
    order, splits = split_by_labels(problem, settings, labels)
    rebuilt, _ = block_trees(problem, order, splits.plan())
    return regrafted(problem, rebuilt)


def split_by_labels(problem: Problem, settings: Settings, labels: np.ndarray) -> tuple[np.ndarray, SplitTree]:
    """Every cluster halved into blocks; clusters joined one after another."""
    order, splits, sets = sets_of_labels(labels)
    halve_sets(problem, settings, splits, order, sets)
    return order, splits


def sets_of_labels(labels: np.ndarray) -> tuple[np.ndarray, SplitTree, list[OpenSet]]:
    """Every cluster as a homogeneous set; clusters joined one after another."""
    order = places_by_label(labels, int(labels.max()) + 1)
    present, starts = np.unique(labels[order], return_index=True)
    edges = np.append(starts, labels.size)
    splits, node, sets = SplitTree(labels.size), 0, []
    for k in range(present.size):
        here = node
        if k < present.size - 1:
            here, rest = splits.new_node(), splits.new_node()
            splits.set_children(node, here, rest)
            node = rest
        splits.low[here], splits.high[here] = int(edges[k]), int(edges[k + 1])
        sets.append(OpenSet(here, int(edges[k]), int(edges[k + 1]), 0, ()))
    return order, splits, sets


def default_max_depth(n: int, leaf_size: int) -> int:
    """Splits by samples before a set is halved instead."""
    return 4 + 2 * max(0, math.ceil(math.log2(max(1, n / leaf_size))))
