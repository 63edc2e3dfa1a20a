"""Exact greedy search for views: a row tree for every pair of views that ever stand side by side.

A pair's score depends on that pair only, so (J - 1)^2 unions and J single columns are grown for J columns. Scores of
living pairs are kept; the pair on top by (rounded score, first id, second id) merges.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.ties import TIE_SCALE
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.cross.column_trees import Node, union_node, whole_nodes
from bayesgrove.models.cross.evidence import (
    Grown,
    Problem,
    column_gains,
    grow_unions,
    grow_views,
    log_evidence,
    view_gains,
)
from bayesgrove.stats.fastlog import stand_alone

NO_COLUMNS = np.empty(0, np.int64)


@borrower
def keep_scores(key, best_key, evidence, pairs, found_key, found):
    """Keep the scores and the evidence of pairs of slots."""
    older, younger = pairs
    for k in range(older.size):
        a, b = older[k], younger[k]
        key[a, b], evidence[a, b] = found_key[k], found[k]
        best_key[a] = max(best_key[a], found_key[k])


@borrower
def top_pair(key, best_key, node_of):
    """Slots of the pair with the largest score, of equals that of the smallest first node, then second."""
    top = -np.inf
    for a in range(best_key.size):
        top = max(top, best_key[a])
    older = younger = NULL
    for a in range(best_key.size):
        if best_key[a] == top and (older == NULL or node_of[a] < node_of[older]):
            older = a
    for b in range(best_key.size):
        if key[older, b] == top and (younger == NULL or node_of[b] < node_of[younger]):
            younger = b
    return older, younger


@kernel(fastmath={"nnan", "nsz"}, _nrt=False)
def forget_pairs(key, best_key, a, b):
    """Drop the scores of all pairs with slots a or b."""
    stand_alone()
    best_key[a] = best_key[b] = -np.inf
    for slot in range(best_key.size):
        key[a, slot] = key[b, slot] = -np.inf
    for slot in range(best_key.size):
        if best_key[slot] == -np.inf:  # nothing is kept in this row
            continue
        lost = max(key[slot, a], key[slot, b])
        key[slot, a] = key[slot, b] = -np.inf
        if lost == best_key[slot]:
            top = -np.inf
            for other in range(best_key.size):
                top = key[slot, other] if key[slot, other] > top else top
            best_key[slot] = top


class Pairs:
    """Living views by slot, and what is known of every pair of them."""

    def __init__(self, problem: Problem, nodes: Sequence[Node], gains: np.ndarray) -> None:
        n, n_rows = len(nodes), problem.table.n_rows
        self.problem, self.gains = problem, gains
        self.nodes = list(nodes)
        self.node_of = np.arange(n)
        """Id of the node in a slot, NULL where there is none."""
        self.views = [node.columns for node in nodes]
        """Columns of the view in a slot."""
        self.sizes = np.array([view.size for view in self.views])
        self.log_q = np.array([node.log_q for node in nodes])
        self.log_weight = problem.log_columns + gammaln(np.arange(1.0, self.sizes.sum() + 1.0))
        """Of views of 1, 2, ... columns."""
        self.key = np.full((n, n), -np.inf)
        """Rounded score by slots (older, younger); it only rises until a merge forgets it."""
        self.best_key = np.full(n, -np.inf)
        """Largest of each row of `key`, so that the top is found without looking at all pairs."""
        self.evidence = np.zeros((n, n))
        self.children = self.room_for_trees(n, n_rows)
        self.n_trees = 0

    def room_for_trees(self, n: int, n_rows: int) -> np.ndarray:
        """Row trees of pairs by slots."""
        return np.zeros((n, n, n_rows - 1, 2), np.uint16 if n_rows < 1 << 15 else np.uint32)

    def keep_trees(self, older: np.ndarray, younger: np.ndarray, children: np.ndarray) -> None:
        """Keep the row trees of pairs of slots."""
        self.children[older, younger] = children

    def tree_of(self, a: int, b: int) -> np.ndarray:
        """Row tree of a pair of slots."""
        return self.children[a, b].astype(np.int32)

    @property
    def live(self) -> np.ndarray:
        """Slots in use, in the order of their nodes."""
        slots = np.flatnonzero(self.node_of != NULL)
        return slots[np.argsort(self.node_of[slots])]

    def score(self, older: np.ndarray, younger: np.ndarray) -> None:
        """Grow the row trees of pairs of slots and keep their scores."""
        grown = grow_unions(self.problem, self.views, self.gains, np.column_stack([older, younger]))
        self.keep(older, younger, grown)

    def keep(self, older: np.ndarray, younger: np.ndarray, grown: Grown) -> None:
        """Keep what was found of pairs of slots."""
        found = log_evidence(self.problem, grown.log_q, grown.log_d)
        log_one = self.log_weight[self.sizes[older] + self.sizes[younger] - 1] + found
        key = np.rint((log_one - self.log_q[older] - self.log_q[younger]) * TIE_SCALE)
        keep_scores(self.key, self.best_key, self.evidence, (older, younger), key, found)
        self.keep_trees(older, younger, grown.children)
        self.n_trees += grown.n_trees

    def top(self) -> tuple[int, int]:
        """Slots of the pair to merge."""
        older, younger = top_pair(self.key, self.best_key, self.node_of)
        return int(older), int(younger)

    def merge(self, a: int, b: int) -> None:
        """Put the union of the views in slots a and b to slot a."""
        children = (int(self.node_of[a]), int(self.node_of[b]))
        self.nodes.append(union_node(self.problem, self.nodes, children, self.evidence[a, b], self.tree_of(a, b)))
        self.node_of[a], self.node_of[b] = len(self.nodes) - 1, NULL
        self.views[a], self.views[b] = self.nodes[-1].columns, NO_COLUMNS
        self.sizes[a], self.sizes[b] = self.views[a].size, 0
        self.log_q[a] = self.nodes[-1].log_q
        self.gains[a] += self.gains[b]
        self.forget([a, b])

    def forget(self, slots: list[int]) -> None:
        """Drop the scores of all pairs with one slot or two."""
        forget_pairs(self.key, self.best_key, slots[0], slots[-1])


def run(pairs: Pairs) -> None:
    """Score all pairs and merge until one node is left."""
    n = pairs.node_of.size
    younger, older = np.tril_indices(n, -1)
    pairs.score(older, younger)
    for _ in range(n - 1):
        a, b = pairs.top()
        pairs.merge(a, b)
        others = pairs.live[:-1]
        if others.size:
            pairs.score(others, np.full(others.size, a))


def agglomerate(problem: Problem, leaves: Sequence[Node], gains: np.ndarray) -> tuple[list[Node], int]:
    """Merge nodes to one tree, exactly and greedily; the nodes with the root last, and the row trees grown."""
    if len(leaves) == 1:
        return list(leaves), 0
    pairs = Pairs(problem, leaves, view_gains(problem, gains, [leaf.columns for leaf in leaves]))
    run(pairs)
    return pairs.nodes, pairs.n_trees


def single_leaves(problem: Problem, columns: np.ndarray | None, gains: np.ndarray) -> tuple[list[Node], int]:
    """A node for each of some columns (all of them unless given), and the number of row trees grown."""
    chosen = np.arange(problem.table.n_columns) if columns is None else np.asarray(columns, np.int64)
    views = [chosen[i : i + 1] for i in range(chosen.size)]
    grown = grow_views(problem, views, gains)
    return whole_nodes(problem, views, grown), grown.n_trees


def search_exact(
    problem: Problem, columns: np.ndarray | None = None, gains: np.ndarray | None = None
) -> tuple[list[Node], int]:
    """The exact greedy tree of some columns (all of them unless given), and the number of row trees grown.

    `gains` are those of `column_gains`, for callers that search again and again.
    """
    gains = column_gains(problem) if gains is None else gains
    leaves, n_single = single_leaves(problem, columns, gains)
    nodes, n_trees = agglomerate(problem, leaves, gains)
    return nodes, n_trees + n_single
