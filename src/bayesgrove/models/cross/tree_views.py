"""What is kept of a fitted tree of columns: the nodes that carry weight, and the row trees of those that may be views.

A node whose probability of being a view is negligible is taken for split, and one below which nothing has any weight
for certain, so that the probabilities of what is kept sum to 1 as before.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.search import CrossFit
from bayesgrove.trees import Tree
from bayesgrove.trees.traverse import sum_of_ancestors

LIGHTEST = math.log(1e-12)
"""Nodes and terms of less than this share are left out."""


class Skeleton(NamedTuple):
    """The tree of the columns without nodes that carry no weight; a parent's number is above its children's."""

    parent: np.ndarray
    """(n_nodes,) NULL at the root, which is the last."""
    log_one: np.ndarray
    """(n_nodes,) log probability that the node's columns are one view, given that they are not parted above."""
    log_split: np.ndarray
    """(n_nodes,) log probability that they are parted."""
    tree: np.ndarray
    """(n_nodes,) number of the node's row tree, NULL where it is parted for certain."""

    @property
    def log_weight(self) -> np.ndarray:
        """Log probability, for every node, that its columns are exactly one view."""
        return sum_of_ancestors(self.parent, self.log_split) + self.log_one


class RowTrees(NamedTuple):
    """Row trees of some sets of columns."""

    column_start: np.ndarray
    """(n_trees + 1,)"""
    columns: np.ndarray
    """Those of tree t are columns[column_start[t]:column_start[t + 1]], ascending."""
    children: np.ndarray
    """(n_trees, n_rows - 1, 2) merges."""
    log_odds: np.ndarray
    """(n_trees, n_rows - 1) log odds that a merge is one cluster."""

    def columns_of(self, number: int) -> np.ndarray:
        """Columns of one tree."""
        return self.columns[self.column_start[number] : self.column_start[number + 1]]

    def tree(self, number: int) -> Tree:
        """One of the trees, with log_merge_odds."""
        return Tree.from_merges(self.children[number], log_merge_odds=self.log_odds[number])


def prune(tree: Tree) -> tuple[np.ndarray, Skeleton]:
    """Nodes of a tree of columns that carry weight, and their skeleton, row trees not yet numbered."""
    odds = tree.columns["log_merge_odds"]
    log_one, log_split = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
    reach = sum_of_ancestors(tree.parent, log_split)
    is_split = reach + log_split >= LIGHTEST
    is_one = (reach + log_one >= LIGHTEST) | ~is_split
    kept = np.flatnonzero(reach >= LIGHTEST)
    place = np.full(tree.n_nodes + 1, NULL)  # the last one stands for the parent NULL of the root
    place[kept] = np.arange(kept.size)
    log_one = np.where(is_split, np.where(is_one, log_one, -np.inf), 0.0)
    log_split = np.where(is_one, np.where(is_split, log_split, -np.inf), 0.0)
    unnumbered = np.full(kept.size, NULL)
    return kept, Skeleton(place[tree.parent[kept]], log_one[kept], log_split[kept], unnumbered)


def kept_trees(problem: Problem, fit: CrossFit) -> tuple[Skeleton, RowTrees, np.ndarray]:
    """The skeleton of a fit's tree of columns, its row trees, and the number of the tree of each of the fit's views."""
    kept, skeleton = prune(fit.column_tree)
    is_view = skeleton.log_one > -np.inf
    sets = [fit.column_tree.items_below(int(node)) for node in kept[is_view]]
    children = [fit.node_row_children[node] for node in kept[is_view]]
    merges = [merges_of(tree) for tree in fit.row_trees]
    number, trees = collect_trees(problem, [*sets, *fit.views], [*children, *merges])
    tree = skeleton.tree.copy()
    tree[is_view] = number[: len(sets)]
    return skeleton._replace(tree=tree), trees, number[len(sets) :]


def merges_of(tree: Tree) -> np.ndarray:
    """Merges of a binary tree whose leaves are its first nodes."""
    inner = np.arange(tree.n_leaves, tree.n_nodes)
    first = tree.first_child[inner]
    return np.column_stack([first, tree.next_sibling[first]])


def collect_trees(
    problem: Problem, column_sets: Sequence[np.ndarray], row_children: Sequence[np.ndarray]
) -> tuple[np.ndarray, RowTrees]:
    """Number of the row tree of each set of columns, equal ones once, and the trees with their odds."""
    numbers: dict[tuple[bytes, bytes], int] = {}
    names = [
        (np.sort(columns).astype(np.int64).tobytes(), np.asarray(children, np.int32).tobytes())
        for columns, children in zip(column_sets, row_children, strict=True)
    ]
    number = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    sets = [np.frombuffer(columns, np.int64) for columns, _ in numbers]
    children = np.array([np.frombuffer(merges, np.int32).reshape(-1, 2) for _, merges in numbers])
    n_rows = problem.table.n_rows
    odds = np.array(
        [row_tree(problem, *own).columns["log_merge_odds"][n_rows:] for own in zip(sets, children, strict=True)]
    )
    start = np.concatenate([[0], np.cumsum([own.size for own in sets])])
    return number, RowTrees(start, np.concatenate(sets), children, odds)
