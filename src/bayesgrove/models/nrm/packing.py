"""Forests from partitions and from packed arrays, and back: a forest's shape is all there is to store."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError
from bayesgrove.core.jit import kernel
from bayesgrove.models.nrm.forest import (
    MEMORY_LIMIT,
    N_ROOTS,
    Forest,
    add_root,
    forest_labels,
    join,
    new_forest,
    order_roots,
    preorder,
    remove_root,
    seq_insert,
    set_leaf,
    sorted_roots,
)


@kernel
def merges_of(forest, n_items):
    """Pairs of children, ids as in `Tree.from_merges` (pair t makes node n_items + t), and the node of each pair."""
    n_inner = n_items - forest.counters[N_ROOTS]
    pairs, made = np.empty((n_inner, 2), np.int64), np.empty(n_inner, np.int64)
    nodes, new_id = np.empty(forest.parent.size, np.int64), np.arange(forest.parent.size)
    n_made = 0
    for root in sorted_roots(forest):
        n_found = preorder(forest, root, nodes)
        for place in range(n_found - 1, -1, -1):
            node = nodes[place]
            if forest.children[node, 0] != NULL:
                pairs[n_made, 0] = new_id[forest.children[node, 0]]
                pairs[n_made, 1] = new_id[forest.children[node, 1]]
                made[n_made] = node
                new_id[node] = n_items + n_made
                n_made += 1
    return pairs, made


@kernel
def put_leaves(prior, values, forest, log_kappa, first):
    """Each row of data from `first` on as a tree of its own."""
    for i in range(first, values.shape[0]):
        set_leaf(prior, forest, log_kappa, i, values[i])
        add_root(forest, i)


@kernel
def put_pairs(prior, forest, log_kappa, pairs, n_items):
    """Join the pairs of `merges_of` in a forest of leaves."""
    node_of = np.arange(n_items + pairs.shape[0])
    for t in range(pairs.shape[0]):
        a, b = node_of[pairs[t, 0]], node_of[pairs[t, 1]]
        remove_root(forest, a)
        remove_root(forest, b)
        node_of[n_items + t] = join(prior, forest, log_kappa, a, b)
        add_root(forest, node_of[n_items + t])
    order_roots(forest)


@kernel
def insert_by_labels(prior, forest, log_kappa, labels):
    """In a forest of leaves, SeqInsert the items of each cluster in turn."""
    tree_of = np.full(labels.size, NULL)
    scratch = np.empty(forest.rows.shape[1])
    for i in range(labels.size):
        tree = tree_of[labels[i]]
        if tree == NULL:
            tree_of[labels[i]] = i
        else:
            remove_root(forest, tree)
            remove_root(forest, i)
            tree_of[labels[i]] = seq_insert(prior, forest, log_kappa, tree, i, scratch)
            add_root(forest, tree_of[labels[i]])
    order_roots(forest)


def start_forest(
    prior: Any, values: np.ndarray, log_kappa: np.ndarray, labels: np.ndarray, *, memory_limit: float = MEMORY_LIMIT
) -> Forest:
    """A forest with one tree per cluster, its encoded rows inserted in their order; options of `incremental_forest`."""
    forest = new_forest(prior, values.shape[0], memory_limit=memory_limit)
    put_leaves(prior, values, forest, log_kappa, 0)
    insert_by_labels(prior, forest, log_kappa, np.asarray(labels, np.int64))
    return forest


def pack_forest(forest: Forest, n_items: int | None = None) -> dict[str, np.ndarray]:
    """The shape of a forest and its labels as arrays; all else follows from the data."""
    n_items = forest.roots.size if n_items is None else n_items
    return {"pairs": merges_of(forest, n_items)[0], "labels": forest_labels(forest)[:n_items]}


def unpack_forest(
    prior: Any,
    values: np.ndarray,
    log_kappa: np.ndarray,
    arrays: Mapping[str, np.ndarray],
    *,
    capacity: int | None = None,
    memory_limit: float = MEMORY_LIMIT,
) -> Forest:
    """The forest that was packed, with room for `capacity` items (default: as many as there are rows)."""
    n_items = values.shape[0]
    pairs = check_pairs(arrays["pairs"], n_items)
    forest = new_forest(prior, max(n_items, capacity or 0), memory_limit=memory_limit)
    put_leaves(prior, values, forest, log_kappa, 0)
    put_pairs(prior, forest, log_kappa, pairs, n_items)
    return forest


def check_pairs(pairs: np.ndarray, n_items: int) -> np.ndarray:
    """Pairs that describe a forest, or an error: a kernel would read out of bounds."""
    made = n_items + np.arange(len(pairs))
    is_shaped = (
        pairs.dtype == np.int64 and pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs) <= max(n_items - 1, 0)
    )
    if not is_shaped or (pairs < 0).any() or (pairs.max(axis=1, initial=0) >= made).any():
        raise InvalidTreeError(
            f"pairs of a forest over {n_items} items join earlier nodes two by two, got an array of {pairs.dtype} "
            f"and shape {pairs.shape}. Give what pack_forest gave."
        )
    if np.unique(pairs).size != pairs.size:
        raise InvalidTreeError("a node of a forest has one parent, got one in two pairs. Give what pack_forest gave.")
    return np.ascontiguousarray(pairs)
