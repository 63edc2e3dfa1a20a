"""Data by leaf and below a node, as regrafts under a penalty walk over them; groups of data that stand for many."""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.penalty import energy_between
from bayesgrove.models.nested.target import MAXIMUM


class Members(NamedTuple):
    """Data by leaf, which no regraft changes, or groups of data that stand for them."""

    first: np.ndarray
    """(capacity + 1,): those of leaf z are `items[first[z] : first[z + 1]]`."""
    items: np.ndarray
    """Rows."""
    weight: np.ndarray
    """How many data each row stands for."""


class Block(NamedTuple):
    """Data, or groups, below the node that moves."""

    items: np.ndarray
    """(n,) rows, as many as are below the node are filled."""
    inside: np.ndarray
    """(n,) what each pays below the node; 0 where energies add up over levels, as no candidate changes it."""


@kernel
def make_block(n):
    """Room for so many."""
    return Block(np.empty(n, np.int64), np.empty(n))


@kernel
def make_members(leaf, capacity):
    """Data sorted by leaf."""
    first = np.zeros(capacity + 1, np.int64)
    for n in range(leaf.size):
        first[leaf[n] + 1] += 1
    for z in range(capacity):
        first[z + 1] += first[z]
    items, filled = np.empty(leaf.size, np.int64), first.copy()
    for n in range(leaf.size):
        items[filled[leaf[n]]] = n
        filled[leaf[n]] += 1
    return Members(first, items, np.ones(leaf.size))


@kernel
def in_order_of_leaves(members, data):
    """The same members with their rows one after the other as they are walked over, and these rows.

    Rows far apart in memory cost more to fetch than to compute with, once there are many.
    """
    rows = np.empty((members.items.size, data.shape[1]))
    for place in range(members.items.size):
        for i in range(data.shape[1]):
            rows[place, i] = data[members.items[place], i]
    return Members(members.first, np.arange(members.items.size), members.weight), rows


@kernel
def make_groups(members, component, data, n_slots):
    """Data of one leaf and one component as one: members that stand for several, and their mean rows.

    Hinges are convex functions of a row, so that those of a group are at least those of its mean times its size
    (Jensen), and nearly that where its rows are alike.
    """
    n_most = min(members.items.size, (members.first.size - 1) * n_slots)
    first, weight, mean = np.zeros(members.first.size, np.int64), np.zeros(n_most), np.zeros((n_most, data.shape[1]))
    group_of, last_leaf, n_groups = np.empty(n_slots, np.int64), np.full(n_slots, NULL), 0
    for leaf in range(first.size - 1):
        for place in range(members.first[leaf], members.first[leaf + 1]):
            n = members.items[place]
            k = component[n]
            if last_leaf[k] != leaf:
                group_of[k], last_leaf[k] = n_groups, leaf
                n_groups += 1
            weight[group_of[k]] += 1.0
            for i in range(data.shape[1]):
                mean[group_of[k], i] += data[n, i]
        first[leaf + 1] = n_groups
    for group in range(n_groups):
        for i in range(data.shape[1]):
            mean[group, i] /= weight[group]
    return Members(first, np.arange(n_groups), weight[:n_groups]), mean[:n_groups]


@borrower
def next_leaf(tree, leaf, top):
    """The next leaf below `top` in the order of a walk, which begins with `first_leaf`; NULL at its end.

    `top` itself may be unlinked.
    """
    node = leaf
    while node != top and tree.next_sibling[node] == NULL:
        node = tree.parent[node]
    if node == top:
        return NULL
    node = tree.next_sibling[node]
    while tree.first_child[node] != NULL:
        node = tree.first_child[node]
    return node


@borrower
def first_leaf(tree, top):
    """The first leaf below a node, or the node itself."""
    while tree.first_child[top] != NULL:
        top = tree.first_child[top]
    return top


@borrower
def fill_block(hinges, links, tree, eta, members, node, block):
    """Data below a node and what they pay below it; gives their number and the sum."""
    n_found, total, leaf = 0, 0.0, first_leaf(tree, node)
    while leaf != NULL:
        for i in range(members.first[leaf], members.first[leaf + 1]):
            n = members.items[i]
            block.items[n_found] = n
            block.inside[n_found] = 0.0
            if hinges.kind == MAXIMUM:
                block.inside[n_found] = energy_between(hinges, links, eta, n, leaf, node)
                total += block.inside[n_found]
            n_found += 1
        leaf = next_leaf(tree, leaf, node)
    return n_found, total
