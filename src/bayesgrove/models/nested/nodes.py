"""Linking and unlinking nodes of a tree of paths; walks over it. Kernels, all in place."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.state import N_FREE, ROOT, TOP


@borrower
def link(tree, node, parent):
    """Make an unlinked node the first child of another."""
    eldest = tree.first_child[parent]
    tree.parent[node] = parent
    tree.previous_sibling[node] = NULL
    tree.next_sibling[node] = eldest
    if eldest != NULL:
        tree.previous_sibling[eldest] = node
    tree.first_child[parent] = node


@borrower
def unlink(tree, node):
    """Take a node out of its parent's children; it keeps its own children and remembers its parent."""
    before, after = tree.previous_sibling[node], tree.next_sibling[node]
    if before == NULL:
        tree.first_child[tree.parent[node]] = after
    else:
        tree.next_sibling[before] = after
    if after != NULL:
        tree.previous_sibling[after] = before


@borrower
def new_child(tree, parent):
    """A new node without data, linked; there must be a free one."""
    numbers = tree.numbers
    numbers[N_FREE] -= 1
    node = tree.free[numbers[N_FREE]]
    numbers[TOP] = max(numbers[TOP], node + 1)
    tree.level[node] = tree.level[parent] + 1
    tree.count[node] = 0
    tree.first_child[node] = NULL
    link(tree, node, parent)
    return node


@borrower
def release(tree, node):
    """Free an unlinked node and what hangs below it, in which each node has one child at most."""
    numbers = tree.numbers
    while node != NULL:
        tree.free[numbers[N_FREE]] = node
        numbers[N_FREE] += 1
        node = tree.first_child[node]


@borrower
def take_out(tree, datum):
    """Remove a datum's path; gives the top of the nodes it leaves empty, unlinked but not released, or NULL."""
    node, top = tree.leaf[datum], NULL
    while node != NULL:
        tree.count[node] -= 1
        if tree.count[node] == 0 and node != ROOT:
            top = node
        node = tree.parent[node]
    if top != NULL:
        unlink(tree, top)
    return top


@borrower
def put_in(tree, datum, leaf):
    """Let a datum's path end in a leaf."""
    tree.leaf[datum] = leaf
    node = leaf
    while node != NULL:
        tree.count[node] += 1
        node = tree.parent[node]


@borrower
def add_count(tree, node, more):
    """Add to the counts of a node and of all above it."""
    while node != NULL:
        tree.count[node] += more
        node = tree.parent[node]


@borrower
def shuffle(rng, items):
    """A random order of data or nodes, in place."""
    for i in range(items.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        items[i], items[j] = items[j], items[i]


@borrower
def list_nodes(tree, lowest, nodes):
    """Nodes down to a level, parents before their children, to `nodes`; gives their number.

    A list first and a plain loop over it afterwards: five times as fast as work done on the way.
    """
    parent, first_child, next_sibling, level = tree.parent, tree.first_child, tree.next_sibling, tree.level
    n_found, node = 0, ROOT
    while node != NULL:
        nodes[n_found] = node
        n_found += 1
        if level[node] < lowest and first_child[node] != NULL:
            node = first_child[node]
        else:
            while node != ROOT and next_sibling[node] == NULL:
                node = parent[node]
            node = NULL if node == ROOT else next_sibling[node]
    return n_found


@kernel
def all_nodes(tree):
    """All nodes, parents before their children."""
    nodes = np.empty(tree.parent.size - tree.numbers[N_FREE], np.int64)
    list_nodes(tree, tree.parent.size, nodes)
    return nodes
