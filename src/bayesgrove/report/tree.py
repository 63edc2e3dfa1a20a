"""The tree of a page: all of it, or the top of a very large one."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.result import Result
from bayesgrove.report.encode import number, pack
from bayesgrove.trees import Tree, lay_out
from bayesgrove.trees.cuts import node_labels
from bayesgrove.trees.traverse import running_maximum

MOST_LEAVES = 20_000
"""Larger trees show their top; each branch below stands for its rows."""


def tree_document(result: Result, most_leaves: int = MOST_LEAVES) -> dict[str, Any]:
    """The tree of the rows, and where it was cut."""
    return {**nodes_document(result.tree, result.labels, most_leaves), "cut": _cut_of(result.tree, result)}


def nodes_document(tree: Tree, labels: np.ndarray, most_leaves: int) -> dict[str, Any]:
    """Nodes in an order in which parents come after their children; the last is the root."""
    layout = lay_out(tree, most_leaves)
    nodes = layout.node
    odds, apart = tree.log_merge_odds, tree.columns.get("apart")
    return {
        "node": pack(nodes, "i4"),
        "parent": pack(layout.parent, "i4"),
        "item": pack(tree.item[nodes], "i4"),
        "size": pack(tree.size[nodes], "i4"),
        "start": pack(tree.leaf_start[nodes], "i4"),
        "height": pack(tree.height[nodes] - (tree.half_height or 0.0), "f4"),
        "log_odds": None if odds is None else pack(odds[nodes], "f4"),
        "apart": None if apart is None else pack(apart[nodes], "f4"),
        "first_item": pack(first_items(tree)[nodes], "i4"),
        "label": pack(node_labels(tree, labels)[nodes], "i4"),
        "is_odds": tree.half_height is not None,
        "is_whole": bool(not layout.is_collapsed.any()),
    }


def first_items(tree: Tree) -> np.ndarray:
    """The least item below every node."""
    lowest = np.where(tree.item == NULL, -np.inf, -tree.item.astype(np.float64))
    return (-running_maximum(tree.parent, lowest)).astype(np.int64)


def _cut_of(tree: Tree, result: Result) -> float | None:
    """The probability at which a cut of the tree gives the labels; None when none of those tried does."""
    if tree.log_merge_odds is None:
        return None
    setting = result.provenance.get("settings", {}).get("cut", 0.5)
    for probability in (setting, 0.5):
        is_one = isinstance(probability, float) and 0.0 <= probability <= 1.0
        if is_one and np.array_equal(tree.cut(probability=probability), result.labels):
            return number(probability)
    return None
