"""Passes over a tree's parent array: every parent's id is greater than its children's, so each is one loop.

An upward pass runs over ascending ids (children before parents), a downward pass over descending ids.
"""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel


@kernel
def child_links(parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First child and next sibling of every node (NULL: none), children in ascending id."""
    first_child = np.full(parent.size, NULL)
    next_sibling = np.full(parent.size, NULL)
    for node in range(parent.size - 2, -1, -1):
        above = parent[node]
        next_sibling[node] = first_child[above]
        first_child[above] = node
    return first_child, next_sibling


@kernel
def write_parents(pairs: np.ndarray, parent: np.ndarray) -> tuple[int, int]:
    """Parents from merges, where all are NULL at first; the first merge of a later id, the first node merged twice.

    NULL stands for none of either. If there are n - 1 good merges and no node has two, every node but the root has one.
    """
    n_leaves = pairs.shape[0] + 1
    for t in range(pairs.shape[0]):
        for side in range(2):
            node = pairs[t, side]
            if node < 0 or node >= n_leaves + t:
                return t, NULL
            if parent[node] != NULL:
                return NULL, node
            parent[node] = n_leaves + t
    return NULL, NULL


@kernel
def child_counts(parent: np.ndarray) -> np.ndarray:
    """Number of children of every node."""
    counts = np.zeros(parent.size, np.int64)
    for node in range(parent.size - 1):
        counts[parent[node]] += 1
    return counts


@kernel
def items_by_id(parent: np.ndarray) -> np.ndarray:
    """Leaves numbered by id, NULL at inner nodes."""
    item = np.full(parent.size, NULL)
    is_inner = np.zeros(parent.size, np.bool_)
    n_leaves = 0
    for node in range(parent.size):
        if not is_inner[node]:
            item[node] = n_leaves
            n_leaves += 1
        if parent[node] != NULL:
            is_inner[parent[node]] = True
    return item


@kernel
def subtree_sizes(parent: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Number of leaves below every node (1 for a leaf)."""
    size = np.zeros(parent.size, np.int64)
    for node in range(parent.size):
        if item[node] != NULL:
            size[node] = 1
        if parent[node] != NULL:
            size[parent[node]] += size[node]
    return size


@kernel
def levels(parent: np.ndarray) -> np.ndarray:
    """Longest number of edges from every node down to a leaf, as floats: heights when none are given."""
    level = np.zeros(parent.size)
    for node in range(parent.size - 1):
        level[parent[node]] = max(level[parent[node]], level[node] + 1.0)
    return level


@kernel
def leaf_positions(parent: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Place, from the left, of the first leaf below every node; node k covers the next `size[k]` places."""
    filled = np.zeros(parent.size, np.int64)
    start = np.zeros(parent.size, np.int64)
    for node in range(parent.size - 1):
        start[node] = filled[parent[node]]
        filled[parent[node]] += size[node]
    for node in range(parent.size - 2, -1, -1):
        start[node] += start[parent[node]]
    return start


@kernel
def items_in_order(item: np.ndarray, position: np.ndarray, n_leaves: int) -> np.ndarray:
    """Items of the leaves from left to right."""
    order = np.empty(n_leaves, np.int64)
    for node in range(item.size):
        if item[node] != NULL:
            order[position[node]] = item[node]
    return order


@kernel
def leaves_of_items(item: np.ndarray, n_leaves: int) -> np.ndarray:
    """The leaf's node id for every item."""
    leaf = np.empty(n_leaves, np.int64)
    for node in range(item.size):
        if item[node] != NULL:
            leaf[item[node]] = node
    return leaf


@kernel
def lowest_common_ancestor(parent: np.ndarray, a: int, b: int) -> int:
    """The lowest node above (or equal to) both: the smaller id climbs, as it cannot be an ancestor."""
    while a != b:
        if a < b:
            a = parent[a]
        else:
            b = parent[b]
    return a


@kernel
def running_maximum(parent: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Largest value among every node and its descendants."""
    top = value.copy()
    for node in range(parent.size - 1):
        top[parent[node]] = max(top[parent[node]], top[node])
    return top


@kernel
def sum_of_ancestors(parent: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Sum of the values of every node's strict ancestors (0 for the root)."""
    total = np.zeros(parent.size)
    for node in range(parent.size - 2, -1, -1):
        total[node] = total[parent[node]] + value[parent[node]]
    return total
