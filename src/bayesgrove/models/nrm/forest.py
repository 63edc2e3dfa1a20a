"""Forests of binary trees over rows of data, in flat arrays: potentials, insertion, removal.

With kappa(m) the process's weight of a cluster of m rows, every node has

log phi = log kappa(size) + log marginal, log d = log T(left) + log T(right) - log phi,
log T = log phi + softplus(log d),

log d = -inf and T = phi at a leaf; 1 / (1 + d) is the probability that the node's rows are one cluster. Processes are
known by a table only: `log_kappa[m]`, m = 0 .. n, entry 0 unused.

Statistics of a node are always the merged ones of its two children, in that order, and children stand in the order of
their smallest items: all numbers depend on the shape of the forest alone, never on how it came about. Hence nothing
drifts, and a forest that was packed and unpacked goes on to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.ties import rounded
from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import MemoryLimitError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, merge, n_stats
from bayesgrove.stats.special import softplus

MEMORY_LIMIT = 2.0**31
BYTES_BESIDE_STATISTICS = 80
"""Of each node: links, size, potentials, places in lists."""
N_FREE, N_ROOTS = 0, 1
"""Places in `Forest.counters`."""


class Forest(NamedTuple):
    """Trees over some of the items 0 .. capacity - 1; the leaf of item i is node i, inner nodes come from a free list.

    All arrays but `roots` and `counters` are by node, 2 capacity - 1 of them.
    """

    parent: np.ndarray
    children: np.ndarray
    """(n_nodes, 2), NULL at leaves."""
    size: np.ndarray
    """Number of items; 0 where there is no node."""
    first_item: np.ndarray
    """Smallest item."""
    rows: np.ndarray
    """(n_nodes, n_stats) sufficient statistics."""
    log_phi: np.ndarray
    log_tree: np.ndarray
    """log T."""
    log_d: np.ndarray
    roots: np.ndarray
    """(capacity,) the roots; in the order of their smallest items after `refresh_forest`."""
    root_place: np.ndarray
    """Where a root stands in `roots`; NULL elsewhere."""
    free: np.ndarray
    """Stack of free inner nodes."""
    counters: np.ndarray


def forest_bytes(prior: Any, n_items: int) -> int:
    """Memory a forest takes."""
    return (2 * n_items - 1) * (8 * n_stats(prior) + BYTES_BESIDE_STATISTICS)


def refuse_too_large(prior: Any, n_items: int, n_forests: int, memory_limit: float) -> None:
    """Refuse before allocating when the estimate exceeds the limit."""
    estimate = n_forests * forest_bytes(prior, n_items)
    if estimate > memory_limit:
        raise MemoryLimitError(
            f"a forest over {n_items:,} rows needs about {estimate / 2**30:.2f} GiB, the limit is "
            f"{memory_limit / 2**30:.2f} GiB. Raise memory_limit, use fewer n_jobs, or RandomizedBHC.",
            estimate=estimate,
        )


def new_forest(prior: Any, capacity: int, *, memory_limit: float = MEMORY_LIMIT) -> Forest:
    """A forest without a tree, for up to `capacity` items."""
    refuse_too_large(prior, capacity, 1, memory_limit)
    n_nodes = 2 * capacity - 1
    return Forest(
        parent=np.full(n_nodes, NULL),
        children=np.full((n_nodes, 2), NULL),
        size=np.zeros(n_nodes, np.int64),
        first_item=np.full(n_nodes, NULL),
        rows=np.zeros((n_nodes, n_stats(prior))),
        log_phi=np.zeros(n_nodes),
        log_tree=np.zeros(n_nodes),
        log_d=np.full(n_nodes, -np.inf),
        roots=np.full(capacity, NULL),
        root_place=np.full(n_nodes, NULL),
        free=np.arange(n_nodes - 1, capacity - 1, -1),
        counters=np.array([capacity - 1, 0]),
    )


@kernel
def add_root(forest, node):
    """Make a node without a parent a root."""
    forest.parent[node] = NULL
    forest.root_place[node] = forest.counters[N_ROOTS]
    forest.roots[forest.counters[N_ROOTS]] = node
    forest.counters[N_ROOTS] += 1


@kernel
def remove_root(forest, node):
    """A root no longer: the last of the list takes its place."""
    forest.counters[N_ROOTS] -= 1
    last, place = forest.roots[forest.counters[N_ROOTS]], forest.root_place[node]
    forest.roots[place] = last
    forest.root_place[last] = place
    forest.root_place[node] = NULL


@kernel
def free_node(forest, node):
    """Give an inner node back."""
    forest.parent[node] = forest.children[node, 0] = forest.children[node, 1] = NULL
    forest.size[node] = 0
    forest.free[forest.counters[N_FREE]] = node
    forest.counters[N_FREE] += 1


@kernel
def set_leaf(prior, forest, log_kappa, item, x):
    """Fill the leaf of an item; it is no root yet."""
    row = forest.rows[item]
    for s in range(row.size):
        row[s] = 0.0
    add(prior, row, x)
    forest.size[item], forest.first_item[item] = 1, item
    forest.log_phi[item] = log_kappa[1] + log_marginal(prior, row)
    forest.log_tree[item] = forest.log_phi[item]


@kernel
def settle(prior, forest, log_kappa, node):
    """Statistics and potentials of an inner node from those of its children."""
    children, rows = forest.children, forest.rows
    a, b = children[node, 0], children[node, 1]
    if forest.first_item[b] < forest.first_item[a]:
        a, b = b, a
        children[node, 0], children[node, 1] = a, b
    forest.first_item[node] = forest.first_item[a]
    forest.size[node] = forest.size[a] + forest.size[b]
    row = rows[node]
    merge(prior, row, rows[a], rows[b])
    log_phi = log_kappa[forest.size[node]] + log_marginal(prior, row)
    log_d = forest.log_tree[a] + forest.log_tree[b] - log_phi
    forest.log_phi[node], forest.log_d[node] = log_phi, log_d
    forest.log_tree[node] = log_phi + softplus(log_d)


@kernel
def dissimilarity(prior, forest, log_kappa, a, b, scratch):
    """log d of two trees if they were joined."""
    merge(prior, scratch, forest.rows[a], forest.rows[b])
    log_phi = log_kappa[forest.size[a] + forest.size[b]] + log_marginal(prior, scratch)
    return forest.log_tree[a] + forest.log_tree[b] - log_phi


@kernel
def put_in_place(forest, new, old):
    """Make `new` the child that `old` is; `old` is left without a parent."""
    above = forest.parent[old]
    forest.parent[new] = above
    forest.parent[old] = NULL
    if above != NULL:
        forest.children[above, 0 if forest.children[above, 0] == old else 1] = new


@kernel
def join(prior, forest, log_kappa, old, x):
    """The pair (old, x) in the place of `old`, settled; nodes above it are not."""
    forest.counters[N_FREE] -= 1
    pair = forest.free[forest.counters[N_FREE]]
    put_in_place(forest, pair, old)
    forest.children[pair, 0], forest.children[pair, 1] = old, x
    forest.parent[old] = forest.parent[x] = pair
    settle(prior, forest, log_kappa, pair)
    return pair


@kernel
def descend(prior, forest, log_kappa, tree, x, scratch):
    """The node of `tree` with which SeqInsert joins x."""
    children, rows, size = forest.children, forest.rows, forest.size
    log_tree, log_d = forest.log_tree, forest.log_d
    node, row_x, size_x, log_tree_x = tree, rows[x], size[x], log_tree[x]
    while children[node, 0] != NULL:
        a, b = children[node, 0], children[node, 1]
        merge(prior, scratch, rows[a], row_x)
        to_a = log_tree[a] + log_tree_x - log_kappa[size[a] + size_x] - log_marginal(prior, scratch)
        merge(prior, scratch, rows[b], row_x)
        to_b = log_tree[b] + log_tree_x - log_kappa[size[b] + size_x] - log_marginal(prior, scratch)
        here, to_a, to_b = rounded(log_d[node]), rounded(to_a), rounded(to_b)
        if here < to_a and here < to_b:
            break
        node = a if to_a < to_b else b
    return node


@kernel
def settle_upwards(prior, forest, log_kappa, node):
    """Settle a node and all above it; the root."""
    while True:
        settle(prior, forest, log_kappa, node)
        if forest.parent[node] == NULL:
            return node
        node = forest.parent[node]


@kernel
def seq_insert(prior, forest, log_kappa, tree, x, scratch):
    """Insert the tree x into another where d says; the root of both. Neither may be listed as a root."""
    if forest.children[tree, 0] == NULL and forest.children[x, 0] != NULL:
        tree, x = x, tree
    pair = join(prior, forest, log_kappa, descend(prior, forest, log_kappa, tree, x, scratch), x)
    return settle_upwards(prior, forest, log_kappa, pair)


@kernel
def detach(prior, forest, log_kappa, leaf):
    """Take a leaf out of its tree, its parent spliced out; the root of the rest, NULL when nothing is left.

    Neither the leaf nor its tree may be listed as a root.
    """
    above = forest.parent[leaf]
    if above == NULL:
        return NULL
    rest = forest.children[above, 0] if forest.children[above, 1] == leaf else forest.children[above, 1]
    put_in_place(forest, rest, above)
    free_node(forest, above)
    forest.parent[leaf] = NULL
    if forest.parent[rest] == NULL:
        return rest
    return settle_upwards(prior, forest, log_kappa, forest.parent[rest])


@kernel
def root_of(forest, node):
    """The root above a node."""
    while forest.parent[node] != NULL:
        node = forest.parent[node]
    return node


@kernel
def sorted_roots(forest):
    """Roots by their smallest items."""
    n_roots, capacity = forest.counters[N_ROOTS], forest.roots.size
    place = np.zeros(capacity, np.int64)
    for r in range(n_roots):
        place[forest.first_item[forest.roots[r]]] = 1
    n_before = 0
    for item in range(capacity):
        n_before += place[item]
        place[item] = n_before - place[item]
    out = np.empty(n_roots, np.int64)
    for r in range(n_roots):
        out[place[forest.first_item[forest.roots[r]]]] = forest.roots[r]
    return out


@kernel
def preorder(forest, root, out):
    """Write all nodes of a tree to `out`, parents first, left before right; their number."""
    n_found, n_waiting = 0, 1
    waiting = np.empty(forest.size[root] + 1, np.int64)
    waiting[0] = root
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        out[n_found] = node
        n_found += 1
        if forest.children[node, 0] != NULL:
            waiting[n_waiting] = forest.children[node, 1]
            waiting[n_waiting + 1] = forest.children[node, 0]
            n_waiting += 2
    return n_found


@kernel
def forest_labels(forest):
    """Root of each item as a label, consecutive from 0 by smallest item; NULL for items that are in no tree."""
    labels = np.full(forest.roots.size, NULL)
    nodes = np.empty(forest.parent.size, np.int64)
    for label, root in enumerate(sorted_roots(forest)):
        n_found = preorder(forest, root, nodes)
        for place in range(n_found):
            if nodes[place] < labels.size:
                labels[nodes[place]] = label
    return labels


@kernel
def order_roots(forest):
    """Bring the list of roots into the order of their smallest items."""
    for place, root in enumerate(sorted_roots(forest)):
        forest.roots[place] = root
        forest.root_place[root] = place


@kernel
def refresh_forest(prior, values, forest, log_kappa):
    """Compute all statistics and potentials again, from the rows of data up; roots in the order of smallest items."""
    order_roots(forest)
    nodes = np.empty(forest.parent.size, np.int64)
    for r in range(forest.counters[N_ROOTS]):
        n_found = preorder(forest, forest.roots[r], nodes)
        for place in range(n_found - 1, -1, -1):
            if nodes[place] < values.shape[0]:
                set_leaf(prior, forest, log_kappa, nodes[place], values[nodes[place]])
            else:
                settle(prior, forest, log_kappa, nodes[place])
