"""Global moves of the published tree-guided sampler: split a cluster, or merge several. Read the warning in `paper`."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.models.nrm.forest import (
    N_FREE,
    N_ROOTS,
    add_root,
    dissimilarity,
    free_node,
    join,
    preorder,
    remove_root,
    seq_insert,
)
from bayesgrove.stats.sampling import draw_log_categorical
from bayesgrove.stats.special import log_add, log_sum, softplus

CODE, MENDED, PRINTED = 0, 1, 2
VARIANTS = {"code": CODE, "mended": MENDED, "printed": PRINTED}
NO_MOVE, SPLIT, MERGE = 0, 1, 2
"""What a global move proposed."""


@kernel
def log_join(log_d):
    """log of 1 / (1 + d)."""
    return -softplus(log_d)


@kernel
def log_apart(log_d):
    """log of d / (1 + d)."""
    return -softplus(-log_d)


@kernel
def total_of(terms, n_terms, variant):
    """Log of the product of factors given by their logs; as printed, of their sum, an empty one as 1."""
    if variant == PRINTED and n_terms > 0:
        return log_sum(terms[:n_terms])
    total = 0.0
    for k in range(n_terms):
        total += terms[k]
    return total


@kernel
def sample_sub_weights(forest, nodes, n_nodes, inner_only, log_weights):
    """SampleSub: log(d + largest d) of the nodes, -inf for leaves where these are left out."""
    largest = -np.inf
    for k in range(n_nodes):
        largest = max(largest, forest.log_d[nodes[k]])
    for k in range(n_nodes):
        is_leaf = forest.children[nodes[k], 0] == NULL
        weight = 0.0 if largest == -np.inf else log_add(forest.log_d[nodes[k]], largest)
        log_weights[k] = -np.inf if inner_only and is_leaf else weight


@kernel
def siblings_up_to(forest, node, top, out):
    """Siblings of a node and of its ancestors below `top`, nearest first; their number."""
    n_found = 0
    while node != top:
        above = forest.parent[node]
        out[n_found] = forest.children[above, 1] if forest.children[above, 0] == node else forest.children[above, 0]
        n_found += 1
        node = above
    return n_found


class Backup(NamedTuple):
    """Inner nodes of a tree as they were."""

    nodes: np.ndarray
    children: np.ndarray
    size: np.ndarray
    first_item: np.ndarray
    rows: np.ndarray
    potentials: np.ndarray


@kernel
def back_up(forest, nodes, n_nodes):
    """Copy the inner nodes among those given."""
    n_inner = 0
    for k in range(n_nodes):
        n_inner += forest.children[nodes[k], 0] != NULL
    width = forest.rows.shape[1]
    kept, links = np.empty(n_inner, np.int64), np.empty((n_inner, 2), np.int64)
    size, first_item = np.empty(n_inner, np.int64), np.empty(n_inner, np.int64)
    rows, potentials = np.empty((n_inner, width)), np.empty((n_inner, 3))
    at = 0
    for k in range(n_nodes):
        node = nodes[k]
        if forest.children[node, 0] != NULL:
            kept[at], size[at], first_item[at] = node, forest.size[node], forest.first_item[node]
            links[at, 0], links[at, 1] = forest.children[node, 0], forest.children[node, 1]
            for s in range(width):
                rows[at, s] = forest.rows[node, s]
            potentials[at, 0], potentials[at, 1] = forest.log_phi[node], forest.log_tree[node]
            potentials[at, 2] = forest.log_d[node]
            at += 1
    return Backup(kept, links, size, first_item, rows, potentials)


@kernel
def restore(forest, backup):
    """Put the nodes back as they were; what else used their places must be free again."""
    for k in range(backup.nodes.size):
        node = backup.nodes[k]
        forest.size[node], forest.first_item[node] = backup.size[k], backup.first_item[k]
        for s in range(forest.rows.shape[1]):
            forest.rows[node, s] = backup.rows[k, s]
        forest.log_phi[node], forest.log_tree[node] = backup.potentials[k, 0], backup.potentials[k, 1]
        forest.log_d[node] = backup.potentials[k, 2]
        for side in range(2):
            forest.children[node, side] = backup.children[k, side]
            forest.parent[backup.children[k, side]] = node
    forest.parent[backup.nodes[0]] = NULL


@kernel
def log_split_reverse(prior, forest, log_kappa, parts, rest, variant, scratch):
    """(3): log probability that these parts are merged, whichever of them is picked.

    **Erratum** (the paper's equation 3): printed as sums of factors, which can exceed 1.
    """
    n_parts, n_rest = parts.size, rest.size
    terms, log_total = np.empty(n_parts + n_rest), -np.inf
    for k in range(n_parts):
        n_terms = 0
        for o in range(n_rest):
            terms[n_terms] = log_apart(dissimilarity(prior, forest, log_kappa, parts[k], rest[o], scratch))
            n_terms += 1
        for other in range(n_parts):
            if other != k:
                terms[n_terms] = log_join(dissimilarity(prior, forest, log_kappa, parts[k], parts[other], scratch))
                n_terms += 1
        log_total = log_add(log_total, total_of(terms, n_terms, variant))
    return log_total - math.log(n_parts + n_rest)


@kernel
def take_apart(forest, cut, blocks, n_blocks):
    """Free a node and all above it: its two children and the blocks are trees of their own."""
    parent, children = forest.parent, forest.children
    parent[children[cut, 0]] = parent[children[cut, 1]] = NULL
    for b in range(n_blocks):
        parent[blocks[b]] = NULL
    while cut != NULL:
        above = parent[cut]
        free_node(forest, cut)
        cut = above


@kernel
def insert_blocks(rng, prior, forest, log_kappa, blocks, n_blocks, parts, scratch):
    """StocInsert each block into one of the parts or as a new one: number of parts, log probability of the choices."""
    n_parts, log_q = 2, 0.0
    log_weights = np.empty(n_blocks + 3)
    for b in range(n_blocks):
        for k in range(n_parts):
            log_weights[k] = -dissimilarity(prior, forest, log_kappa, blocks[b], parts[k], scratch)
        log_weights[n_parts] = 0.0
        to = draw_log_categorical(rng, log_weights[: n_parts + 1])
        if to == NULL:
            return NULL, 0.0
        log_q += log_weights[to] - log_sum(log_weights[: n_parts + 1])
        if to == n_parts:
            parts[n_parts] = blocks[b]
            n_parts += 1
        else:
            parts[to] = seq_insert(prior, forest, log_kappa, parts[to], blocks[b], scratch)
    return n_parts, log_q


@kernel
def try_split(rng, prior, forest, log_kappa, tree, rest, log_forward, variant, scratch):
    """Split a tree at a node drawn by SampleSub: what was proposed, whether accepted, log r."""
    nodes = np.empty(2 * forest.size[tree] - 1, np.int64)
    n_nodes = preorder(forest, tree, nodes)
    log_weights = np.empty(n_nodes)
    sample_sub_weights(forest, nodes, n_nodes, variant == CODE, log_weights)
    chosen = draw_log_categorical(rng, log_weights)
    if chosen == NULL:
        return NULL, False, np.nan
    cut = nodes[chosen]
    if forest.children[cut, 0] == NULL:
        return NO_MOVE, False, np.nan
    blocks = np.empty(n_nodes, np.int64)
    n_blocks = siblings_up_to(forest, cut, tree, blocks)
    parts = np.empty(n_blocks + 2, np.int64)
    parts[0], parts[1] = forest.children[cut, 0], forest.children[cut, 1]
    backup = back_up(forest, nodes, n_nodes)
    log_r = -forest.log_phi[tree] - log_forward - log_weights[chosen] + log_sum(log_weights)
    remove_root(forest, tree)
    take_apart(forest, cut, blocks, n_blocks)
    n_parts, log_q = insert_blocks(rng, prior, forest, log_kappa, blocks, n_blocks, parts, scratch)
    if n_parts == NULL:
        return NULL, False, np.nan
    log_r += log_split_reverse(prior, forest, log_kappa, parts[:n_parts].copy(), rest, variant, scratch) - log_q
    for k in range(n_parts):
        log_r += forest.log_phi[parts[k]]
    if math.log(rng.random()) < log_r:
        for k in range(n_parts):
            add_root(forest, parts[k])
        return SPLIT, True, log_r
    # Pairs took the places that were freed last, so that those still free lie on top of the stack.
    forest.counters[N_FREE] -= n_parts - 1
    restore(forest, backup)
    add_root(forest, tree)
    return SPLIT, False, log_r


@kernel
def log_merge_reverse(prior, forest, log_kappa, trees, merged, pair, rest, variant, scratch):
    """(4): log probability that the merged tree is split into these trees again.

    **Erratum** (the paper's equation 4): printed as sums of factors.
    """
    nodes = np.empty(2 * forest.size[merged] - 1, np.int64)
    n_nodes = preorder(forest, merged, nodes)
    n_rest = rest.size
    log_weights, terms = np.empty(n_nodes), np.empty(max(n_rest, trees.size))
    sample_sub_weights(forest, nodes, n_nodes, variant == CODE, log_weights)
    log_total = -math.log(n_rest + 1.0) - log_sum(log_weights)
    for k in range(n_nodes):
        if nodes[k] == pair:
            log_total += log_weights[k]
    for o in range(n_rest):
        terms[o] = log_apart(dissimilarity(prior, forest, log_kappa, merged, rest[o], scratch))
    log_total += total_of(terms, n_rest, variant)
    for j in range(2, trees.size):
        inverse = 0.0
        for i in range(j):
            inverse = log_add(inverse, -dissimilarity(prior, forest, log_kappa, trees[j], trees[i], scratch))
        terms[j - 2] = -inverse
    return log_total + total_of(terms, trees.size - 2, variant)


@kernel
def sort_by_first_item(forest, trees, first):
    """Sort trees from place `first` on by their smallest items, by insertion: they are few."""
    for k in range(first + 1, trees.size):
        tree, at = trees[k], k
        while at > first and forest.first_item[trees[at - 1]] > forest.first_item[tree]:
            trees[at] = trees[at - 1]
            at -= 1
        trees[at] = tree


@kernel
def try_merge(rng, prior, forest, log_kappa, trees, rest, log_forward, variant, scratch):
    """Merge trees in a cascade, the picked one first: what was proposed, whether accepted, log r."""
    sort_by_first_item(forest, trees, 1 if variant == CODE else 0)
    log_r, made = -log_forward, np.empty(trees.size - 1, np.int64)
    for tree in trees:
        log_r -= forest.log_phi[tree]
        remove_root(forest, tree)
    merged = trees[0]
    for j in range(1, trees.size):
        merged = join(prior, forest, log_kappa, merged, trees[j])
        made[j - 1] = merged
    log_r += forest.log_phi[merged]
    log_r += log_merge_reverse(prior, forest, log_kappa, trees, merged, made[0], rest, variant, scratch)
    if math.log(rng.random()) < log_r:
        add_root(forest, merged)
        return MERGE, True, log_r
    for node in made[::-1]:
        free_node(forest, node)
    for tree in trees:
        add_root(forest, tree)
    return MERGE, False, log_r


@kernel
def global_move(rng, prior, forest, log_kappa, variant):
    """One split or merge: what was proposed (NULL: a number was not finite), whether accepted, log r."""
    n_roots, scratch = forest.counters[N_ROOTS], np.empty(forest.rows.shape[1])
    place = int(rng.random() * n_roots)
    picked = forest.roots[place]
    trees, rest = np.empty(n_roots, np.int64), np.empty(n_roots, np.int64)
    trees[0] = picked
    n_trees, n_rest, log_forward = 1, 0, -math.log(n_roots)
    for r in range(n_roots):
        other = forest.roots[r]
        if other != picked:
            log_d = dissimilarity(prior, forest, log_kappa, picked, other, scratch)
            if math.log(rng.random()) < log_join(log_d):
                log_forward += log_join(log_d)
                trees[n_trees] = other
                n_trees += 1
            else:
                log_forward += log_apart(log_d)
                rest[n_rest] = other
                n_rest += 1
    apart = rest[:n_rest].copy()
    if n_trees > 1:
        joined = trees[:n_trees].copy()
        return try_merge(rng, prior, forest, log_kappa, joined, apart, log_forward, variant, scratch)
    if forest.children[picked, 0] == NULL:
        return NO_MOVE, False, np.nan
    return try_split(rng, prior, forest, log_kappa, picked, apart, log_forward, variant, scratch)
