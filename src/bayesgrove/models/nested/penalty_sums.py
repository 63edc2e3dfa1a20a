"""Sums over the data below each node of what margins cost by chance: the part of an energy known before any hinge."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import all_nodes
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM


@borrower
def add_to_sums(penalty, sums, parent, n, leaf, sign):
    """A datum comes to (1) or goes from (-1) all nodes of the path to a leaf."""
    for j in range(penalty.log_chance.shape[1]):
        value, node = sign * penalty.log_chance[n, j], leaf
        while node != NULL:
            sums[node, j] += value
            node = parent[node]


@kernel
def sum_chances(penalty, tree):
    """Sums of the columns of `log_chance` by node, shape (capacity, n_columns)."""
    sums = np.zeros((tree.parent.size, penalty.log_chance.shape[1]))
    for n in range(tree.leaf.size):
        add_to_sums(penalty, sums, tree.parent, n, tree.leaf[n], 1.0)
    return sums


@borrower
def clear_sums(sums, parent, node, above):
    """Nodes from `node` up to below `above` are new."""
    while node != above:
        for j in range(sums.shape[1]):
            sums[node, j] = 0.0
        node = parent[node]


@borrower
def count_children(tree, node):
    """Number of children of a node."""
    n_children, child = 0, tree.first_child[node]
    while child != NULL:
        n_children += 1
        child = tree.next_sibling[child]
    return n_children


@kernel
def most_children(tree):
    """The largest number of children of a node."""
    most = 0
    for node in all_nodes(tree):
        most = max(most, count_children(tree, node))
    return most


@borrower
def log_chance_of_gain(kind, sums, node, n_children):
    """What all data below a node pay by chance for one more child of it."""
    if n_children == 0:
        return 0.0
    if kind == CHANCE:
        return sums[node, 0]
    if kind == CHANCE_MAXIMUM:
        return sums[node, n_children] - sums[node, n_children - 1]
    return 0.0


@borrower
def log_chance_of_branch(kind, log_chance, sums, n, node, n_children):
    """What a branch below a node costs by chance: datum n on it and all data beside it."""
    if n_children == 0:
        return 0.0
    paid = log_chance_of_gain(kind, sums, node, n_children)
    if kind == CHANCE:
        return paid + n_children * log_chance[n, 0]
    if kind == CHANCE_MAXIMUM:
        return paid + log_chance[n, n_children]
    return paid
