"""Slow, clear twins of the tree code: sets of leaves and lists of partitions instead of passes."""

import itertools
import math

import numpy as np


def random_merges(rng, n_leaves):
    """Merges of random live pairs, children ascending."""
    live = list(range(n_leaves))
    merges = []
    for step in range(n_leaves - 1):
        a, b = sorted(rng.choice(live, size=2, replace=False).tolist())
        merges.append((a, b))
        live = [node for node in live if node not in (a, b)] + [n_leaves + step]
    return np.array(merges, np.int64).reshape(-1, 2)


def random_parents(rng, n_nodes):
    """An n-ary tree: every node's parent is any node of greater id."""
    parents = [int(rng.integers(node + 1, n_nodes)) for node in range(n_nodes - 1)]
    return np.array([*parents, -1], np.int64)


def children_of(parent):
    """Children of every node, ascending."""
    return [[child for child in range(len(parent)) if parent[child] == node] for node in range(len(parent))]


def leaves_below(parent, item):
    """Frozen set of items below every node."""
    below = []
    for node, children in enumerate(children_of(parent)):
        own = {int(item[node])} if item[node] >= 0 else set()
        below.append(frozenset(own.union(*(below[child] for child in children))))
    return below


def tree_partitions(parent):
    """All fronts consistent with the tree: each is a tuple of nodes."""
    fronts = []
    for node, children in enumerate(children_of(parent)):
        whole = [(node,)]
        if children:
            whole += [sum(parts, ()) for parts in itertools.product(*(fronts[child] for child in children))]
        fronts.append(whole)
    return fronts[-1]


def front_probability(parent, odds, front):
    """Product of r over the front and of 1 - r over the nodes above it, each once."""
    above = set()
    for node in front:
        while parent[node] != -1:
            node = parent[node]
            above.add(int(node))
    merged = math.prod(1.0 / (1.0 + math.exp(-odds[node])) for node in front)
    return merged * math.prod(1.0 / (1.0 + math.exp(odds[node])) for node in above)


def labels_by_size(blocks, n_items):
    """Labels with the largest block first; of equal ones, the block of the first item."""
    labels = np.empty(n_items, np.int64)
    for number, block in enumerate(sorted(blocks, key=lambda block: (-len(block), min(block)))):
        labels[list(block)] = number
    return labels
