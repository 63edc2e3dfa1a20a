"""Each different subtree of a forest once: what depends on a subtree alone is computed once for all its occurrences."""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel

_PRIME, _FACTOR = 2**31 - 1, 48271
"""A product of a number below the prime and the factor stays far below 2**63: kernels also run as plain Python, where
an overflow warns."""


class UniqueSubtrees(NamedTuple):
    """The different subtrees of a forest; children have smaller ids than their parents.

    Two subtrees are one when label, flag and the sorted (position, subtree) of all children agree, and for leaves also
    the position, as a leaf's own distribution depends on it.
    """

    labels: np.ndarray
    """int32 (n_unique,): code of the top node, -1 unknown."""
    internal: np.ndarray
    """bool (n_unique,): flag of the top node."""
    leaf_positions: np.ndarray
    """int32 (n_unique,): position of a leaf (0: a tree that is one leaf), 0 at internal nodes."""
    child_start: np.ndarray
    """int32 (n_unique + 1,): children of id k are entries child_start[k] .. child_start[k + 1] - 1."""
    child_ids: np.ndarray
    """int32 (n_links,)"""
    child_positions: np.ndarray
    """int32 (n_links,): ascending within a node."""
    counts: np.ndarray
    """int64 (n_unique,): how many nodes of the forest have this subtree."""
    first_nodes: np.ndarray
    """int32 (n_unique,): a node that has it."""
    roots: np.ndarray
    """int32 (n_trees,): id of every whole tree."""
    node_ids: np.ndarray
    """int32 (n_nodes,): id of every node's subtree."""


def unique_subtrees(
    labels: np.ndarray,
    internal: np.ndarray,
    positions: np.ndarray,
    offsets: np.ndarray,
    child_start: np.ndarray,
    children: np.ndarray,
) -> UniqueSubtrees:
    """All different subtrees, numbered as they are met: tree by tree, from its last node to its root."""
    leaf_positions = np.where(internal, 0, positions).astype(np.int32)
    own = (labels + 1).astype(np.int64) << 32 | np.where(internal, 0, leaf_positions + 1)
    child_positions = positions[children]
    node_ids, first_nodes, counts, child_ids = _number_subtrees(
        own, offsets, child_start, children, child_positions, table_size(labels.size)
    )
    n_children = child_start[first_nodes + 1] - child_start[first_nodes]
    start = np.concatenate([[0], np.cumsum(n_children)]).astype(np.int32)
    entries = np.repeat(child_start[first_nodes] - start[:-1], n_children) + np.arange(start[-1])
    return UniqueSubtrees(
        labels[first_nodes],
        internal[first_nodes],
        leaf_positions[first_nodes],
        start,
        child_ids[entries],
        child_positions[entries],
        counts,
        first_nodes,
        node_ids[offsets[:-1]],
        node_ids,
    )


def table_size(n_nodes: int) -> int:
    """A power of two at least twice the number of nodes."""
    return 1 << max(int(2 * n_nodes - 1).bit_length(), 3)


@kernel
def _number_subtrees(
    own: np.ndarray,
    offsets: np.ndarray,
    child_start: np.ndarray,
    children: np.ndarray,
    child_positions: np.ndarray,
    n_slots: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Id of every node's subtree; first node and count of every id; ids of children, sorted within equal positions."""
    node_ids = np.empty(own.size, np.int32)
    first_nodes = np.empty(own.size, np.int32)
    counts = np.zeros(own.size, np.int64)
    child_ids = np.empty(children.size, np.int32)
    slots = np.full(n_slots, NULL, np.int32)
    n_unique = 0
    for tree in range(offsets.size - 1):
        for node in range(offsets[tree + 1] - 1, offsets[tree] - 1, -1):
            first, last = child_start[node], child_start[node + 1]
            for place in range(first, last):
                child_ids[place] = node_ids[children[place]]
            _sort_ties(child_positions, child_ids, first, last)
            slot = _hash(own[node], child_positions, child_ids, first, last) & (n_slots - 1)
            while slots[slot] != NULL:
                other = first_nodes[slots[slot]]
                if own[node] == own[other] and _same_children(
                    child_positions, child_ids, first, last, child_start[other], child_start[other + 1]
                ):
                    break
                slot = (slot + 1) & (n_slots - 1)
            if slots[slot] == NULL:
                slots[slot] = n_unique
                first_nodes[n_unique] = node
                n_unique += 1
            node_ids[node] = slots[slot]
            counts[slots[slot]] += 1
    return node_ids, first_nodes[:n_unique].copy(), counts[:n_unique].copy(), child_ids


@kernel
def _sort_ties(child_positions: np.ndarray, child_ids: np.ndarray, first: int, last: int) -> None:
    """Let ids ascend where several children share a position."""
    begin = first
    while begin < last:
        end, is_sorted = begin + 1, True
        while end < last and child_positions[end] == child_positions[begin]:
            is_sorted = is_sorted and child_ids[end - 1] <= child_ids[end]
            end += 1
        if not is_sorted:
            _sort(child_ids, begin, end)
        begin = end


@kernel
def _sort(values: np.ndarray, first: int, last: int) -> None:
    """Heapsort of values[first:last]: a million siblings may share one position."""
    size = last - first
    for begin in range(size // 2 - 1, -1, -1):
        _sift_down(values, first, begin, size)
    for end in range(size - 1, 0, -1):
        values[first], values[first + end] = values[first + end], values[first]
        _sift_down(values, first, 0, end)


@kernel
def _sift_down(values: np.ndarray, first: int, place: int, size: int) -> None:
    """Let a value sink until no child of its place in the heap is greater."""
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and values[first + child] < values[first + child + 1]:
            child += 1
        if values[first + place] >= values[first + child]:
            return
        values[first + place], values[first + child] = values[first + child], values[first + place]
        place = child


@kernel
def _hash(own: int, child_positions: np.ndarray, child_ids: np.ndarray, first: int, last: int) -> int:
    """A number that equal subtrees share."""
    value = _mixed(_mixed(last - first, own >> 32), own & 0xFFFFFFFF)
    for place in range(first, last):
        value = _mixed(_mixed(value, child_positions[place]), child_ids[place])
    return value ^ (value >> 20)


@kernel
def _mixed(value: int, addition: int) -> int:
    return (value % _PRIME) * _FACTOR + addition


@kernel
def _same_children(
    child_positions: np.ndarray, child_ids: np.ndarray, first: int, last: int, other_first: int, other_last: int
) -> bool:
    """Whether two lists of children agree in positions and ids."""
    if last - first != other_last - other_first:
        return False
    shift = other_first - first
    for place in range(first, last):
        if child_ids[place] != child_ids[place + shift] or child_positions[place] != child_positions[place + shift]:
            return False
    return True
