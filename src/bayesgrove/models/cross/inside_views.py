"""The tree of the columns inside one view, on the row tree of the view alone.

What a tree of columns says inside a view that is one for (almost) certain hardly moves the bound, so no row tree is
grown for it: log marginals of nodes add over columns, and the union of two sets costs one pass over the view's tree.
"""

from collections.abc import Sequence

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.column_trees import Node
from bayesgrove.models.cross.evidence import Grown, Problem, run_jobs
from bayesgrove.models.cross.fixed_trees import node_weights, set_on_tree
from bayesgrove.models.cross.row_trees import log_weights
from bayesgrove.models.cross.screening import root_log_d
from bayesgrove.models.cross.search_exact import Pairs, run
from bayesgrove.models.cross.tree_lanes import LANES, fold_lanes

PAIRS_WORTH_THREADS = 500


@kernel
def score_on_tree(children, weights, sums, older, younger, share, log_q):
    """q of the union of each pair of slots on one row tree, LANES at a time; every so manieth of these."""
    lanes, split = np.empty((weights.size, LANES)), np.empty(LANES)
    for k in range(LANES * share[0], older.size, LANES * share[1]):
        for lane in range(LANES):
            pair = min(k + lane, older.size - 1)
            a, b = older[pair], younger[pair]
            for node in range(weights.size):
                lanes[node, lane] = weights[node] + sums[a, node] + sums[b, node]
        fold_lanes(children, lanes, split)
        for lane in range(min(LANES, older.size - k)):
            log_q[k + lane] = lanes[weights.size - 1, lane]


@kernel
def columns_on_tree(table, columns, children, out):
    """Log marginals of each column by itself in every node of a tree."""
    for k in range(columns.size):
        set_on_tree(table, columns[k : k + 1], children, out[k])


class PairsOnTree(Pairs):
    """Pairs of sets of columns, all on one row tree."""

    def __init__(self, problem: Problem, leaves: Sequence[Node], row_children: np.ndarray) -> None:
        super().__init__(problem, leaves, np.empty((len(leaves), 0)))
        columns = np.concatenate([leaf.columns for leaf in leaves])
        n_nodes = 2 * problem.table.n_rows - 1
        self.tree, self.weights, self.sums = row_children, np.empty(n_nodes), np.empty((len(leaves), n_nodes))
        node_weights(row_children, log_weights(problem.table.n_rows, problem.log_rows), self.weights)
        columns_on_tree(problem.table, columns, row_children, self.sums)
        self.log_d = root_log_d(row_children, self.weights)
        self.constants = problem.table.constants[columns].sum(axis=1)

    def room_for_trees(self, n: int, n_rows: int) -> np.ndarray:
        """There is one tree only."""
        return np.empty((0, 0, n_rows - 1, 2), np.int32)

    def keep_trees(self, older: np.ndarray, younger: np.ndarray, children: np.ndarray) -> None:
        """There is one tree only."""

    def tree_of(self, a: int, b: int) -> np.ndarray:
        """The tree of all."""
        return self.tree

    def score(self, older: np.ndarray, younger: np.ndarray) -> None:
        """Score pairs of slots on the tree."""
        log_q = np.empty(older.size)
        n_threads = self.problem.n_threads if older.size >= PAIRS_WORTH_THREADS else 1
        run_jobs(
            [
                (score_on_tree, (self.tree, self.weights, self.sums, older, younger, (first, n_threads), log_q))
                for first in range(n_threads)
            ],
            n_threads,
        )
        log_q += self.constants[older] + self.constants[younger]
        self.keep(older, younger, Grown(self.children, log_q, np.full(older.size, self.log_d), 0))

    def merge(self, a: int, b: int) -> None:
        """Put the union to slot a."""
        super().merge(a, b)
        self.sums[a] += self.sums[b]
        self.constants[a] += self.constants[b]


def search_on_tree(problem: Problem, leaves: Sequence[Node], row_children: np.ndarray) -> list[Node]:
    """The greedy tree over nodes of single columns, all evidence above them on one row tree."""
    if len(leaves) == 1:
        return list(leaves)
    pairs = PairsOnTree(problem, leaves, row_children)
    run(pairs)
    return pairs.nodes
