"""Passes over many trees in flat arrays: every parent stands before its children, so each is one loop.

Parents are indices into the flat arrays, -1 at roots; a node's children keep the order in which they stand.
"""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel


@kernel
def parents_of_depths(depth: np.ndarray) -> np.ndarray:
    """Parent of every node from its depth, nodes in preorder; a node of depth 0 begins a new tree."""
    parent = np.empty(depth.size, np.int32)
    deepest = 0
    for node in range(depth.size):
        deepest = max(deepest, depth[node])
    last = np.empty(deepest + 1, np.int32)
    for node in range(depth.size):
        level = depth[node]
        parent[node] = NULL if level == 0 else last[level - 1]
        last[level] = node
    return parent


@kernel
def depths_of_parents(parent: np.ndarray) -> np.ndarray:
    """Number of edges from its root to every node."""
    depth = np.zeros(parent.size, np.int32)
    for node in range(parent.size):
        if parent[node] != NULL:
            depth[node] = depth[parent[node]] + 1
    return depth


@kernel
def ordinals(parent: np.ndarray) -> np.ndarray:
    """Place of every node among its siblings, counted from 1; 0 for roots."""
    place = np.zeros(parent.size, np.int32)
    n_seen = np.zeros(parent.size, np.int32)
    for node in range(parent.size):
        above = parent[node]
        if above != NULL:
            n_seen[above] += 1
            place[node] = n_seen[above]
    return place


@kernel
def has_children(parent: np.ndarray) -> np.ndarray:
    """Whether a node has any child."""
    found = np.zeros(parent.size, np.bool_)
    for node in range(parent.size):
        if parent[node] != NULL:
            found[parent[node]] = True
    return found


@kernel
def child_lists(parent: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each node's children begin, and all children; those of one node stand as they do in `order`."""
    start = np.zeros(parent.size + 1, np.int32)
    for node in range(parent.size):
        if parent[node] != NULL:
            start[parent[node] + 1] += 1
    for node in range(parent.size):
        start[node + 1] += start[node]
    n_filled = np.zeros(parent.size, np.int32)
    children = np.empty(start[parent.size], np.int32)
    for node in order:
        above = parent[node]
        if above != NULL:
            children[start[above] + n_filled[above]] = node
            n_filled[above] += 1
    return start, children


@kernel
def preorder(parent: np.ndarray, start: np.ndarray, children: np.ndarray) -> np.ndarray:
    """All nodes, parents first, the first child's whole branch before the second child."""
    order = np.empty(parent.size, np.int32)
    stack = np.empty(parent.size, np.int32)
    at = 0
    for root in range(parent.size):
        if parent[root] != NULL:
            continue
        stack[0], top = root, 0
        while top >= 0:
            node = stack[top]
            top -= 1
            order[at] = node
            at += 1
            for place in range(start[node + 1] - 1, start[node] - 1, -1):
                top += 1
                stack[top] = children[place]
    return order[:at]


@kernel
def as_binary(parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parents and positions of the left-child right-sibling form: position 1 is the first child, 2 the next sibling."""
    new_parent = np.full(parent.size, NULL, np.int32)
    position = np.zeros(parent.size, np.int32)
    last_child = np.full(parent.size, NULL, np.int32)
    for node in range(parent.size):
        above = parent[node]
        if above == NULL:
            continue
        before = last_child[above]
        new_parent[node] = above if before == NULL else before
        position[node] = 1 if before == NULL else 2
        last_child[above] = node
    return new_parent, position


@kernel
def kept_within(parent: np.ndarray, position: np.ndarray, largest: int) -> np.ndarray:
    """Which nodes remain when those at positions beyond the largest go, with all below them."""
    kept = np.ones(parent.size, np.bool_)
    for node in range(parent.size):
        above = parent[node]
        if above != NULL:
            kept[node] = kept[above] and position[node] <= largest
    return kept


@kernel
def position_shares(start: np.ndarray, child_position: np.ndarray) -> np.ndarray:
    """One over the number of siblings at the same position, for each entry of lists sorted by position."""
    share = np.ones(child_position.size)
    for node in range(start.size - 1):
        first = start[node]
        while first < start[node + 1]:
            last = first
            while last < start[node + 1] and child_position[last] == child_position[first]:
                last += 1
            for place in range(first, last):
                share[place] = 1.0 / (last - first)
            first = last
    return share
