"""`Links`: the nodes that passes go over, each different subtree once or each node of a forest."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.trees.forest import Forest
from bayesgrove.trees.forest_shapes import position_shares


class Links(NamedTuple):
    """Nodes numbered so that children come before their parents."""

    labels: np.ndarray
    """int32 (n,): row of the emission table, NULL where the label is unknown."""
    leaf_positions: np.ndarray
    """int32 (n,): position of a leaf (0: a tree that is one leaf), NULL at internal nodes."""
    child_start: np.ndarray
    """int32 (n + 1,): where each node's children begin."""
    child_ids: np.ndarray
    """int32 (n_links,)"""
    child_positions: np.ndarray
    """int32 (n_links,): from 1, ascending within a node."""
    child_shares: np.ndarray
    """float64 (n_links,): one over the number of siblings at that position."""
    roots: np.ndarray
    """int32 (n_trees,): number of every tree's root."""


def unique_links(forest: Forest) -> Links:
    """Each different subtree once: sums over all trees stay exact, as the passes are linear in the trees' weights."""
    subtrees = forest.subtrees
    return Links(
        symbols(forest)[subtrees.first_nodes],
        np.where(subtrees.internal, NULL, subtrees.leaf_positions).astype(np.int32),
        subtrees.child_start,
        subtrees.child_ids,
        subtrees.child_positions,
        position_shares(subtrees.child_start, subtrees.child_positions),
        subtrees.roots,
    )


def plain_links(forest: Forest) -> Links:
    """Every node of the forest; node v has number n_nodes - 1 - v."""
    last = forest.n_nodes - 1
    n_children = np.diff(forest.child_start)[::-1]
    start = np.concatenate([[0], np.cumsum(n_children)]).astype(np.int32)
    entries = np.repeat(forest.child_start[:-1][::-1] - start[:-1], n_children) + np.arange(start[-1])
    children = forest.children[entries]
    return Links(
        np.ascontiguousarray(symbols(forest)[::-1]),
        np.where(forest.internal, NULL, forest.positions).astype(np.int32)[::-1].copy(),
        start,
        (last - children).astype(np.int32),
        forest.positions[children],
        forest.child_shares[entries],
        (last - forest.offsets[:-1]).astype(np.int32),
    )


def symbols(forest: Forest) -> np.ndarray:
    """Row of the emission table of every node: its code, or which of the different values it has."""
    if forest.values is None:
        return forest.labels
    return _numbered_values(forest)[1]


def node_values(forest: Forest) -> np.ndarray | None:
    """The different values of continuous labels, by row of the emission table; None where labels are codes."""
    return None if forest.values is None else _numbered_values(forest)[0]


def _numbered_values(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """The different values, and the number of each node's; unknown where all of a row is nan."""
    values = forest.values
    if values is None:
        raise ValueError("labels of this forest are codes")
    known = ~np.isnan(values).all(axis=1)
    numbers = np.full(forest.n_nodes, NULL, np.int32)
    different, inverse = np.unique(values[known], axis=0, return_inverse=True)
    numbers[known] = inverse.reshape(-1)
    return different, numbers


def in_blocks(links: Links, n_nodes: int) -> Iterator[tuple[slice, Links]]:
    """Trees in blocks of some `n_nodes`, so that what a pass over a block writes still lies in the caches when it is
    read again; all at once where trees share subtrees."""
    size, n_trees = links.labels.size, links.roots.size
    is_plain = links.child_ids.size + n_trees == size and bool(np.all(np.diff(links.roots) < 0))
    if size <= n_nodes or not is_plain:
        yield slice(0, n_trees), links
        return
    lowest = np.append(links.roots[1:] + 1, 0)  # number of each tree's last node; both fall from tree to tree
    first = 0
    while first < n_trees:
        top = int(links.roots[first]) + 1
        last = max(first + 1, int(np.searchsorted(-lowest, n_nodes - top, side="right")))
        yield slice(first, last), _block(links, slice(first, last), int(lowest[last - 1]), top)
        first = last


def _block(links: Links, trees: slice, low: int, top: int) -> Links:
    """The nodes low .. top - 1, which are those of these trees."""
    start = links.child_start[low : top + 1]
    entries = slice(int(start[0]), int(start[-1]))
    return Links(
        links.labels[low:top],
        links.leaf_positions[low:top],
        start - start[0],
        links.child_ids[entries] - np.int32(low),
        links.child_positions[entries],
        links.child_shares[entries],
        links.roots[trees] - np.int32(low),
    )


@kernel
def part_of_links(links, trees):
    """Only the nodes that some trees are made of, in the same order."""
    start, n_nodes, n_links = links.child_start, 0, 0
    reached, number = np.zeros(links.labels.size, np.bool_), np.empty(links.labels.size, np.int32)
    for tree in trees:
        reached[links.roots[tree]] = True
    mark_below(start, links.child_ids, reached)
    for node in range(reached.size):
        if reached[node]:
            number[node] = n_nodes
            n_nodes += 1
            n_links += start[node + 1] - start[node]
    part = Links(
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.zeros(n_nodes + 1, np.int32),
        np.empty(n_links, np.int32),
        np.empty(n_links, np.int32),
        np.empty(n_links),
        number[links.roots[trees]],
    )
    for node in range(reached.size):
        if reached[node]:
            copy_node(links, node, number, part)
    return part


@kernel
def copy_node(links, node, number, part):
    """Put a node into a part of the links; children have been put there before it."""
    own = number[node]
    part.labels[own], part.leaf_positions[own] = links.labels[node], links.leaf_positions[node]
    place = part.child_start[own]
    for entry in range(links.child_start[node], links.child_start[node + 1]):
        part.child_ids[place] = number[links.child_ids[entry]]
        part.child_positions[place] = links.child_positions[entry]
        part.child_shares[place] = links.child_shares[entry]
        place += 1
    part.child_start[own + 1] = place


@kernel
def mark_below(child_start, child_ids, reached):
    """Mark all nodes below marked ones; parents have greater numbers than their children."""
    for node in range(reached.size - 1, -1, -1):
        if reached[node]:
            for place in range(child_start[node], child_start[node + 1]):
                reached[child_ids[place]] = True
