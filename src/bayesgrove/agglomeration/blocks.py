"""Exact trees of many small blocks of rows, and the nodes that join them: the bottom of a randomized tree."""

import math
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.agglomeration.agglomerate import (
    END,
    Steps,
    advance,
    new_agglomeration,
)
from bayesgrove.agglomeration.choose import choose_scorer
from bayesgrove.agglomeration.exact import Atoms
from bayesgrove.agglomeration.scorers import n_fields
from bayesgrove.agglomeration.splits import Plan, Problem
from bayesgrove.core.constants import OK
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, merge, n_stats
from bayesgrove.stats.special import log_add

BLOCKS_PER_JOB = 64


class Forest(NamedTuple):
    """Merges of a binary tree over rows 0 .. n-1 under construction; merge t has node id n + t."""

    children: np.ndarray
    log_odds: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray
    leaf_log_q: np.ndarray


class Pieces(NamedTuple):
    """Roots of subtrees: first one per block, then one per join."""

    rows: np.ndarray
    sizes: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray
    node: np.ndarray


def new_forest(n: int) -> Forest:
    """Room for all merges over n rows."""
    merges = max(n - 1, 0)
    return Forest(np.empty((merges, 2), np.int64), np.empty(merges), np.empty(merges), np.empty(merges), np.empty(n))


def new_pieces(n: int, width: int) -> Pieces:
    """Room for n subtrees."""
    return Pieces(np.zeros((n, width)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.int64))


@kernel
def agglomerate_blocks(scorer, prior, values, order, plan, log_concentration, state, forest, pieces, first, last):
    """Exact trees of blocks first .. last - 1."""
    starts, n_rows, width = plan.starts, forest.leaf_log_q.size, pieces.rows.shape[1]
    rows, sizes, log_q = np.empty((state.slot.size, width)), np.ones(state.slot.size), np.empty(state.slot.size)
    log_d = np.full(state.slot.size, log_concentration)
    for s in range(first, last):
        start, m = starts[s], starts[s + 1] - starts[s]
        if plan.truncated[s]:
            continue
        for i in range(m):
            for k in range(width):
                rows[i, k] = 0.0
            add(prior, rows[i], values[order[start + i]])
            log_q[i] = log_concentration + log_marginal(prior, rows[i])
            forest.leaf_log_q[order[start + i]] = log_q[i]
        atoms = Atoms(rows[:m], sizes[:m], log_q[:m], log_d[:m])
        status = advance(scorer, state, prior, log_concentration, atoms, Steps(True, 0, m, m - 1))
        if status != OK:
            return status
        done = start - s  # merges of all blocks before this one
        for t in range(m - 1):
            for side in range(2):
                child = state.children[t, side]
                forest.children[done + t, side] = order[start + child] if child < m else n_rows + done + child - m
            forest.log_odds[done + t] = state.log_odds[m + t]
            forest.log_q[done + t], forest.log_d[done + t] = state.log_q[m + t], state.log_d[m + t]
        root = state.counters[END] - 1
        for k in range(width):
            pieces.rows[s, k] = state.clusters.rows[root, k]
        pieces.sizes[s] = m
        pieces.log_q[s], pieces.log_d[s] = state.log_q[2 * m - 2], state.log_d[2 * m - 2]
        pieces.node[s] = n_rows + done + m - 2 if m > 1 else order[start]
    return OK


@kernel
def chain_block(prior, values, order, plan, log_concentration, forest, pieces, s):
    """A truncated block: one cluster for certain, its rows joined one by one with infinite odds, q = g."""
    start, m, n_rows = plan.starts[s], plan.starts[s + 1] - plan.starts[s], forest.leaf_log_q.size
    row, done = pieces.rows[s], start - s
    for i in range(m):
        leaf = order[start + i]
        alone = np.zeros(row.size)
        add(prior, alone, values[leaf])
        merge(prior, row, row, alone)
        forest.leaf_log_q[leaf] = log_concentration + log_marginal(prior, alone)
        log_prior_one = log_concentration + math.lgamma(i + 1.0)
        pieces.log_q[s], pieces.log_d[s] = log_prior_one + log_marginal(prior, row), log_prior_one
        if i > 0:
            t = done + i - 1
            before = pieces.node[s]
            forest.children[t, 0], forest.children[t, 1] = min(before, leaf), max(before, leaf)
            forest.log_odds[t], forest.log_q[t], forest.log_d[t] = np.inf, pieces.log_q[s], pieces.log_d[s]
        pieces.node[s] = leaf if i == 0 else n_rows + done + i - 1
    pieces.sizes[s] = m


@kernel
def largest_statistics(prior, values):
    """Largest value of each statistic of a single row of data."""
    row, largest = np.zeros(n_stats(prior)), np.zeros(n_stats(prior))
    for i in range(values.shape[0]):
        for s in range(row.size):
            row[s] = 0.0
        add(prior, row, values[i])
        for s in range(row.size):
            largest[s] = max(largest[s], row[s])
    return largest


@kernel
def join_pieces(prior, plan, log_concentration, forest, pieces):
    """Join pieces left[t] and right[t] into piece n_blocks + t, for all t in order."""
    n_rows, n_blocks = forest.leaf_log_q.size, plan.truncated.size
    for t in range(plan.left.size):
        a, b, c, m = plan.left[t], plan.right[t], n_blocks + t, n_rows - n_blocks + t
        merge(prior, pieces.rows[c], pieces.rows[a], pieces.rows[b])
        pieces.sizes[c] = pieces.sizes[a] + pieces.sizes[b]
        log_prior_one = log_concentration + math.lgamma(pieces.sizes[c])
        log_one, apart = log_prior_one + log_marginal(prior, pieces.rows[c]), pieces.log_q[a] + pieces.log_q[b]
        pieces.log_q[c] = log_add(log_one, apart)
        pieces.log_d[c] = log_add(log_prior_one, pieces.log_d[a] + pieces.log_d[b])
        pieces.node[c] = n_rows + m
        forest.children[m, 0] = min(pieces.node[a], pieces.node[b])
        forest.children[m, 1] = max(pieces.node[a], pieces.node[b])
        forest.log_odds[m], forest.log_q[m], forest.log_d[m] = log_one - apart, pieces.log_q[c], pieces.log_d[c]


def block_trees(problem: Problem, order: np.ndarray, plan: Plan) -> tuple[Forest, Pieces]:
    """Exact trees of all blocks, in parallel, then all joins; the same for any number of threads."""
    n_blocks = plan.truncated.size
    forest, pieces = new_forest(problem.n_rows), new_pieces(2 * n_blocks - 1, n_stats(problem.prior))
    largest = largest_block(plan)
    if problem.remote is None:
        totals = largest * largest_statistics(problem.prior, problem.values)
        build_blocks(problem, order, plan, (largest, totals), forest, pieces)
    else:
        problem.remote.build_blocks(problem, order, plan, largest, forest, pieces)
    join_pieces(problem.prior, plan, problem.log_concentration, forest, pieces)
    return forest, pieces


def largest_block(plan: Plan) -> int:
    """Rows of the largest block that is looked into."""
    return int(np.diff(plan.starts)[~plan.truncated].max(initial=1))


def build_blocks(
    problem: Problem,
    order: np.ndarray,
    plan: Plan,
    limits: tuple[int, np.ndarray],
    forest: Forest,
    pieces: Pieces,
) -> None:
    """Trees of all blocks of a plan; `limits` are the largest block's rows and no smaller than any statistic in it."""
    prior, values, n_blocks = problem.prior, problem.values, plan.truncated.size
    largest, totals = limits
    scorer = choose_scorer(
        prior, totals, largest, problem.log_concentration, complete=problem.complete, tempered=problem.tempered
    )

    def job(first: int) -> int:
        state = new_agglomeration(largest, n_stats(prior), n_fields(scorer), "matrix")
        last = min(first + BLOCKS_PER_JOB, n_blocks)
        return agglomerate_blocks(
            scorer, prior, values, order, plan, problem.log_concentration, state, forest, pieces, first, last
        )

    jobs = range(0, n_blocks, BLOCKS_PER_JOB)
    statuses = Parallel(n_jobs=problem.n_threads, require="sharedmem")(delayed(job)(first) for first in jobs)
    if any(status != OK for status in statuses):
        raise NumericalError(
            "no merge score is finite in some block of rows. Check the hyperparameters: they may be too extreme."
        )
    for s in np.flatnonzero(plan.truncated):
        chain_block(prior, values, order, plan, problem.log_concentration, forest, pieces, s)
