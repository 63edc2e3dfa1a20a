"""The tree to show of paths of fixed depth: only nodes that have siblings, and the items below them."""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.stats.paths import PathNodes
from bayesgrove.trees.table import Tree


class DisplayTree(NamedTuple):
    """A tree and where its nodes come from."""

    tree: Tree
    """Heights say how many levels are below: 0 at items, 1 at nodes of the deepest level, and so on up."""
    origin: np.ndarray
    """(n_nodes,): the node of the paths that each node of the tree stands for; -1 for items that are not alone in a
    node."""


def display_tree(nodes: PathNodes, leaf_labels: tuple[str, ...] | None = None) -> DisplayTree:
    """The tree of some paths without only children.

    A node without siblings is left out: its children, or its items, go to its parent. What remains are the root,
    exactly the nodes that have siblings, and the items; a node of a single item is that item.

    Examples
    --------
    >>> from bayesgrove.stats.paths import path_nodes
    >>> shown = display_tree(path_nodes([[0, 0], [0, 0], [0, 1], [1, 2]]))
    >>> shown.tree.parent.tolist()
    [4, 4, 5, 6, 5, 6, -1]
    >>> shown.origin.tolist()
    [-1, -1, 4, 2, 3, 1, 0]
    """
    n_items, n_levels = nodes.node.shape
    is_alone = nodes.has_sibling & (nodes.size == 1)
    is_inner = nodes.has_sibling & (nodes.size > 1)
    is_inner[0] = n_items > 1
    inner = np.flatnonzero(is_inner)[::-1]  # nodes are level by level, so that children come before parents
    new_id = np.full(nodes.parent.size, NULL)
    new_id[inner] = n_items + np.arange(inner.size)
    above = shown_ancestors(nodes, new_id)
    deepest = nodes.node[:, -1]
    parent = np.concatenate([np.where(is_inner[deepest], new_id[deepest], above[deepest]), above[inner]])
    origin = np.concatenate([items_alone(nodes, is_alone), inner])
    item = np.concatenate([np.arange(n_items), np.full(inner.size, NULL)])
    height = np.concatenate([np.zeros(n_items), n_levels + 1.0 - nodes.level[inner]])
    return DisplayTree(Tree(parent, item, height, {}, leaf_labels), origin)


def shown_ancestors(nodes: PathNodes, new_id: np.ndarray) -> np.ndarray:
    """The new id of the nearest ancestor that has one, of every node; -1 for the root."""
    above = np.full(new_id.size, NULL)
    for level in range(1, int(nodes.level[-1]) + 1):
        own = np.flatnonzero(nodes.level == level)
        parents = nodes.parent[own]
        above[own] = np.where(new_id[parents] != NULL, new_id[parents], above[parents])
    return above


def items_alone(nodes: PathNodes, is_alone: np.ndarray) -> np.ndarray:
    """The node with siblings that holds an item alone, of every item; -1 where there is none."""
    # At most one node of a path has siblings and a single item: below it nothing branches.
    place = np.argmax(is_alone[nodes.node], axis=1)
    found = np.take_along_axis(nodes.node, place[:, None], axis=1)[:, 0]
    return np.where(is_alone[found], found, NULL)
