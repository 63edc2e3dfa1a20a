"""Screened search for views: unions are scored on the row trees that exist already.

Log marginals of nodes add over columns, so q(T_A; A and B) costs one pass over a tree once the sums of B on the nodes
of T_A are kept. The screened evidence is the better of both trees; a row tree is grown for accepted merges only, 2J - 1
in all. It is a valid bound for any tree but no upper bound of the greedy score: the merges need not be the exact ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, MemoryLimitError
from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.column_trees import Node
from bayesgrove.models.cross.evidence import (
    Grown,
    Problem,
    column_gains,
    grow_unions,
    log_evidence,
    run_jobs,
    sums_over_views,
    view_gains,
)
from bayesgrove.models.cross.fixed_trees import node_weights, root_log_q, set_on_tree
from bayesgrove.models.cross.row_trees import log_weights
from bayesgrove.models.cross.search_exact import Pairs, run, single_leaves

MEMORY_LIMIT = 1 << 31


class Refine(NamedTuple):
    """Where screened scores give way to exact ones."""

    small: int = 0
    """Unions of at most so many columns."""
    top: int = 0
    """The best candidates before each merge."""


class Trees(NamedTuple):
    """Row trees of the views by slot, and every view on every tree."""

    children: np.ndarray
    """(slots, n_rows - 1, 2)."""
    weights: np.ndarray
    """(slots, nodes) log concentration + lgamma(size)."""
    log_d: np.ndarray
    sums: np.ndarray
    """(slots of trees, slots of views, nodes) log marginals."""


NOT_REFINED = Refine()


def check_refine(refine: Refine) -> None:
    """Refuse numbers below 0."""
    if refine.small < 0 or refine.top < 0:
        raise InvalidSettingError(f"refine takes two numbers of at least 0, got {tuple(refine)}.")


def memory_needed(problem: Problem, n_views: int) -> int:
    """Bytes of all views on all trees."""
    return 8 * n_views**2 * (2 * problem.table.n_rows - 1)


def new_trees(problem: Problem, nodes: Sequence[Node]) -> Trees:
    """Room for the trees of some views."""
    n, n_rows = len(nodes), problem.table.n_rows
    needed = memory_needed(problem, n)
    if needed > MEMORY_LIMIT:
        raise MemoryLimitError(
            f"screening {n} views of {n_rows} rows needs {needed / 1e9:.1f} GB, the limit is {MEMORY_LIMIT / 1e9:.1f} "
            'GB. Use method="multistart" or "randomized".',
            needed=needed,
        )
    n_nodes = 2 * n_rows - 1
    return Trees(np.zeros((n, n_rows - 1, 2), np.int32), np.zeros((n, n_nodes)), np.zeros(n), np.zeros((n, n, n_nodes)))


@kernel
def root_log_d(children, weights):
    """log d of the root of a tree."""
    nothing, room = np.zeros(weights.size), np.empty(weights.size)
    return root_log_q(children, weights, nothing, 0.0, nothing, room)


@kernel
def set_tree(table, trees, slot, flat, start, share):
    """Put every view on the tree of a slot; every so manieth of them."""
    for view in range(share[0], start.size - 1, share[1]):
        if start[view + 1] > start[view]:
            set_on_tree(table, flat[start[view] : start[view + 1]], trees.children[slot], trees.sums[slot, view])


@kernel
def screen_pairs(trees, pairs, is_tree_evidence, share, log_q, log_d, winner):
    """q and d of the union of each pair on the better of its two trees, and the slot of that tree."""
    older, younger = pairs
    room = np.empty(trees.weights.shape[1])
    for k in range(share[0], older.size, share[1]):
        best = -np.inf
        for slot in (older[k], younger[k]):
            sums = trees.sums[slot]
            found = root_log_q(trees.children[slot], trees.weights[slot], sums[older[k]], 1.0, sums[younger[k]], room)
            value = found - trees.log_d[slot] if is_tree_evidence else found
            if value > best:
                best, log_q[k], log_d[k], winner[k] = value, found, trees.log_d[slot], slot


class ScreenedPairs(Pairs):
    """Pairs scored on existing trees, exactly where `refine` says so."""

    def __init__(self, problem: Problem, nodes: Sequence[Node], gains: np.ndarray, refine: Refine) -> None:
        super().__init__(problem, nodes, view_gains(problem, gains, [node.columns for node in nodes]))
        self.refine = refine
        self.is_exact = np.zeros(self.key.shape, np.bool_)
        self.trees = new_trees(problem, nodes)
        self.row_weight = log_weights(problem.table.n_rows, problem.log_rows)
        self.constants = sums_over_views(problem.table.constants.sum(axis=1), self.views)
        for slot in range(len(nodes)):
            self.plant(slot)

    def plant(self, slot: int) -> None:
        """Put the tree of a slot's view in its place and all views on it."""
        problem, trees, views, n_threads = self.problem, self.trees, self.views, self.problem.n_threads
        trees.children[slot] = self.nodes[self.node_of[slot]].row_children
        node_weights(trees.children[slot], self.row_weight, trees.weights[slot])
        trees.log_d[slot] = root_log_d(trees.children[slot], trees.weights[slot])
        flat, start = np.concatenate(views), np.concatenate([[0], np.cumsum(self.sizes)])
        run_jobs(
            [(set_tree, (problem.table, trees, slot, flat, start, (first, n_threads))) for first in range(n_threads)],
            n_threads,
        )

    def score(self, older: np.ndarray, younger: np.ndarray) -> None:
        """Score pairs of slots on their trees, small unions exactly."""
        self.is_exact[older, younger] = False
        log_q, log_d, winner = np.empty(older.size), np.empty(older.size), np.empty(older.size, np.int64)
        is_tree, n_threads = self.problem.evidence == "tree", self.problem.n_threads
        run_jobs(
            [
                (screen_pairs, (self.trees, (older, younger), is_tree, (first, n_threads), log_q, log_d, winner))
                for first in range(n_threads)
            ],
            n_threads,
        )
        log_q += self.constants[older] + self.constants[younger]
        self.keep(older, younger, Grown(self.trees.children[winner], log_q, log_d, 0))
        small = self.sizes[older] + self.sizes[younger] <= self.refine.small
        self.score_exactly(older[small], younger[small])

    def score_exactly(self, older: np.ndarray, younger: np.ndarray) -> None:
        """Grow the row trees of pairs that are only screened; the better of both trees is kept."""
        new = ~self.is_exact[older, younger]
        older, younger = older[new], younger[new]
        if older.size:
            used, places = np.unique([older, younger], return_inverse=True)
            pairs = places.reshape(2, -1).T.copy()
            grown = grow_unions(self.problem, [self.views[slot] for slot in used], self.gains[used], pairs)
            rises = log_evidence(self.problem, grown.log_q, grown.log_d) > self.evidence[older, younger]
            better = Grown(grown.children[rises], grown.log_q[rises], grown.log_d[rises], grown.n_trees)
            self.keep(older[rises], younger[rises], better)
            self.is_exact[older, younger] = True

    def top(self) -> tuple[int, int]:
        """Slots of the pair to merge, the best candidates scored exactly first."""
        if self.refine.top:
            order = np.argsort(-self.key, axis=None, kind="stable")[: self.refine.top]
            older, younger = np.unravel_index(order[np.isfinite(self.key.reshape(-1)[order])], self.key.shape)
            self.score_exactly(older, younger)
        return super().top()

    def merge(self, a: int, b: int) -> None:
        """Put the union to slot a, with the better of its greedy and its screened tree."""
        self.score_exactly(np.array([a]), np.array([b]))
        super().merge(a, b)
        self.constants[a] += self.constants[b]
        self.trees.sums[:, a] += self.trees.sums[:, b]
        self.plant(a)


def search_screened(
    problem: Problem,
    columns: np.ndarray | None = None,
    gains: np.ndarray | None = None,
    refine: Refine = NOT_REFINED,
) -> tuple[list[Node], int]:
    """The screened tree of some columns (all of them unless given), and the number of row trees grown."""
    check_refine(refine)
    gains = column_gains(problem) if gains is None else gains
    nodes, n_single = single_leaves(problem, columns, gains)
    if len(nodes) == 1:
        return nodes, n_single
    pairs = ScreenedPairs(problem, nodes, gains, refine)
    run(pairs)
    return pairs.nodes, pairs.n_trees + n_single
