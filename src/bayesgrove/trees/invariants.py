"""The rules a tree table obeys, each checked and named."""

from collections.abc import Mapping, Sequence

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError
from bayesgrove.trees.traverse import child_counts


def check_parents(parent: np.ndarray) -> None:
    """One root, the last id; every other node's parent has a greater id."""
    if parent.ndim != 1 or parent.size == 0:
        raise InvalidTreeError(
            f"a tree has at least one node, got a parent array of shape {parent.shape}. Give one entry per node."
        )
    if parent[-1] != NULL:
        raise InvalidTreeError(
            f"the last node is the root and has no parent (-1), got parent {parent[-1]}. "
            "Number the nodes so that parents come after their children."
        )
    above = parent[:-1]
    wrong = (above <= np.arange(above.size)) | (above >= parent.size)
    if wrong.any():
        node = int(np.argmax(wrong))
        raise InvalidTreeError(
            f"every parent's id is greater than its child's, got parent {above[node]} for node {node} of "
            f"{parent.size}. Number the nodes from the leaves up; a forest needs a common root.",
            node=node,
        )


def check_items(parent: np.ndarray, item: np.ndarray) -> None:
    """Leaves hold the items 0 .. n_leaves - 1 once each, inner nodes hold none."""
    if item.shape != parent.shape:
        raise InvalidTreeError(
            f"items have one entry per node, got shape {item.shape} for {parent.size} nodes. Give -1 for inner nodes."
        )
    is_leaf = child_counts(parent) == 0
    wrong = is_leaf == (item == NULL)
    if wrong.any():
        node = int(np.argmax(wrong))
        kind = "leaf" if is_leaf[node] else "inner node"
        raise InvalidTreeError(
            f"leaves hold an item and inner nodes hold -1, got item {item[node]} at {kind} {node}. "
            "Give each datum a leaf of its own.",
            node=node,
        )
    items = item[is_leaf]
    if items.min() < 0 or items.max() >= items.size or np.bincount(items).max() > 1:
        raise InvalidTreeError(
            f"the leaves' items are 0 .. {items.size - 1}, each once, got values between {items.min()} and "
            f"{items.max()} with {np.unique(items).size} different ones. Number the data without gaps."
        )


def check_heights(parent: np.ndarray, height: np.ndarray) -> None:
    """Heights are finite, not negative, and no child is higher than its parent."""
    if height.shape != parent.shape:
        raise InvalidTreeError(f"heights have one entry per node, got shape {height.shape} for {parent.size} nodes.")
    if not (np.isfinite(height).all() and height.min() >= 0.0):
        node = int(np.argmin(np.isfinite(height) & (height >= 0.0)))
        raise InvalidTreeError(
            f"heights are finite and not negative, got {height[node]} at node {node}. "
            "Shift them, or give log_merge_odds and let the tree make heights.",
            node=node,
        )
    higher = height[:-1] > height[parent[:-1]]
    if higher.any():
        node = int(np.argmax(higher))
        raise InvalidTreeError(
            f"no node is higher than its parent, got {height[node]} at node {node} below "
            f"{height[parent[node]]}. Take the running maximum from the leaves up.",
            node=node,
        )


def check_columns(parent: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
    """Columns have one number per node; log merge odds are not NaN."""
    for name, column in columns.items():
        if column.shape != parent.shape:
            raise InvalidTreeError(
                f"column {name!r} needs one number per node, got shape {column.shape} for {parent.size} nodes."
            )
    odds = columns.get("log_merge_odds")
    if odds is not None and np.isnan(odds).any():
        node = int(np.argmax(np.isnan(odds)))
        raise InvalidTreeError(
            f"log_merge_odds must be numbers (+inf: certain), got nan at node {node}. Compute them again.",
            node=node,
        )


def check_labels(n_leaves: int, labels: Sequence[object] | None) -> None:
    """Leaf labels, when given, are one text per item."""
    if labels is None:
        return
    if len(labels) != n_leaves:
        raise InvalidTreeError(
            f"leaf_labels need one text per item, got {len(labels)} for {n_leaves} items. "
            "Leave them out or complete them."
        )
    wrong = next((label for label in labels if not isinstance(label, str)), None)
    if wrong is not None:
        raise InvalidTreeError(f"leaf_labels are texts, got {wrong!r}. Convert them with str().")
