"""Split-merge of siblings: the children of one are divided between two, or those of two come together.

Two nodes that have the same grandparent are drawn. Where they have one parent, the second goes to a new sibling of it
and the other children follow one of the two, one after another (Dahl 2005); where they have two, these are merged. As
in a regraft, weights at the levels of the nodes and of their parents are integrated out given the tables of the nodes;
those of the level above are held. See docs/theory/nested-hierarchies.md, Split-merge of siblings.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, NULL, OK
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import link, new_child, release, unlink
from bayesgrove.models.nested.penalty import Links, path_energy
from bayesgrove.models.nested.penalty_regraft import has_columns_to_regraft
from bayesgrove.models.nested.penalty_slice import draw_vector
from bayesgrove.models.nested.regraft import log_block_step, log_seats
from bayesgrove.models.nested.state import N_FREE
from bayesgrove.models.nested.tables import add_tables, clear_node, new_tables, nodes_at, seat_data
from bayesgrove.models.nested.target import ALPHA, DISCRIMINANT_VARIANCE, GAMMA
from bayesgrove.models.nested.weights_pass import draw_all_weights, draw_level_tables, has_room_to_regraft
from bayesgrove.stats.special import log_gamma_table

N_TRIES = 3
"""At each level of a pass."""
SPLIT, MERGED, N_TRIED, N_TALLIES = 0, 1, 2, 3
STAYS, LEAVES, BOTH, N_ROWS = 0, 1, 2, 3
"""Rows of `Sides`: below the first sibling, below the second, below one."""


class Sides(NamedTuple):
    """The two siblings as they would be; `tables` of three nodes that are not in the tree."""

    nodes: np.ndarray
    """(capacity,) children of the two, first the drawn ones, then the others in random order."""
    side: np.ndarray
    """(capacity,) STAYS or LEAVES."""
    rows: np.ndarray
    """(3,) free nodes whose tables serve as those of STAYS, LEAVES and BOTH."""
    size: np.ndarray
    """(3,) data of each."""


class Numbers(NamedTuple):
    """What the prior of a tree and the weights held need."""

    alpha: float
    gamma: float
    log_gamma_n: np.ndarray
    log_gamma_alpha: np.ndarray


@borrower
def log_join(numbers, weight, log_weight, tree, tables, sides, which, node, above, top):
    """Log factor of a node that comes to one of the three, whose weights' distribution `above` holds."""
    log_gamma_n, log_gamma_alpha = numbers.log_gamma_n, numbers.log_gamma_alpha
    n_here, n_more = sides.size[which], tree.count[node]
    if n_here == 0:
        step = math.log(numbers.alpha) + log_gamma_n[n_more] + log_gamma_alpha[0] - log_gamma_alpha[n_more]
        return step + log_seats(numbers.gamma, weight, log_weight, above, tables, NULL, node, top)
    step = log_block_step(log_gamma_n, log_gamma_alpha, n_here, n_more, False)
    return step + log_seats(numbers.gamma, weight, log_weight, above, tables, sides.rows[which], node, top)


@borrower
def join_side(tree, tables, sides, which, node, top):
    """Let a node come to one of the three."""
    sides.size[which] += tree.count[node]
    add_tables(tables, node, sides.rows[which], top, 1.0)


@borrower
def clear_sides(tree, tables, sides, top):
    """Nobody anywhere; there must be three free nodes."""
    for which in range(N_ROWS):
        sides.rows[which] = tree.free[tree.numbers[N_FREE] - 1 - which]
        sides.size[which] = 0
        clear_node(tables, sides.rows[which], top)


@borrower
def draw_pair(rng, tree, nodes, n_nodes, found):
    """Two nodes of a level with the same grandparent, to `found[0]` and `found[1]`; False where there is one only."""
    first = nodes[int(rng.random() * n_nodes)]
    above, n_found = tree.parent[tree.parent[first]], 0
    parent = tree.first_child[above]
    while parent != NULL:
        child = tree.first_child[parent]
        while child != NULL:
            if child != first:
                found[n_found] = child
                n_found += 1
            child = tree.next_sibling[child]
        parent = tree.next_sibling[parent]
    if n_found == 0:
        return False
    found[1] = found[int(rng.random() * n_found)]
    found[0] = first
    return True


@borrower
def gather(rng, tree, sides):
    """Children of the parents of the drawn pair behind it, in random order, with the side they are on; their number."""
    nodes, side, n_found = sides.nodes, sides.side, 2
    first, second = nodes[0], nodes[1]
    for parent in (tree.parent[first], tree.parent[second]):
        child = tree.first_child[parent]
        while child != NULL:
            if child not in (first, second):
                nodes[n_found] = child
                n_found += 1
            child = tree.next_sibling[child]
        if tree.parent[first] == tree.parent[second]:
            break
    for i in range(n_found - 1, 2, -1):
        j = 2 + int(rng.random() * (i - 1))
        nodes[i], nodes[j] = nodes[j], nodes[i]
    for i in range(n_found):
        side[i] = STAYS if tree.parent[nodes[i]] == tree.parent[first] else LEAVES
    side[1] = LEAVES
    return n_found


@borrower
def log_ratio_of_split(rng, numbers, weight, log_weight, tree, tables, sides, n_found, is_split, top):
    """Log of the ratio of distributions, two siblings over one, minus that of proposing the sides.

    Sides are drawn for a split; for a merge they are what they are.
    """
    nodes, above, log_ratio = sides.nodes, tree.parent[tree.parent[sides.nodes[0]]], 0.0
    clear_sides(tree, tables, sides, top)
    for i in range(n_found):
        node = nodes[i]
        if i >= 2:
            stays, leaves = (
                log_join(numbers, weight, log_weight, tree, tables, sides, STAYS, node, above, top),
                log_join(numbers, weight, log_weight, tree, tables, sides, LEAVES, node, above, top),
            )
            log_sum = max(stays, leaves) + math.log1p(math.exp(-abs(stays - leaves)))
            if is_split:
                sides.side[i] = STAYS if rng.random() < math.exp(stays - log_sum) else LEAVES
            log_ratio += log_sum  # the factor of the chosen side over its probability
        else:
            log_ratio += log_join(numbers, weight, log_weight, tree, tables, sides, sides.side[i], node, above, top)
        log_ratio -= log_join(numbers, weight, log_weight, tree, tables, sides, BOTH, node, above, top)
        join_side(tree, tables, sides, sides.side[i], node, top)
        join_side(tree, tables, sides, BOTH, node, top)
    return log_ratio


@borrower
def move_child(tree, tables, node, parent, top):
    """Hang a node from another parent at the same level, with its data and tables; the old one may be left empty."""
    old = tree.parent[node]
    unlink(tree, node)
    tree.count[old] -= tree.count[node]
    add_tables(tables, node, old, top, -1.0)
    link(tree, node, parent)
    tree.count[parent] += tree.count[node]
    add_tables(tables, node, parent, top, 1.0)


@borrower
def move_side(tree, tables, sides, n_found, parent, top):
    """Hang all that leave from a parent."""
    for i in range(n_found):
        if sides.side[i] == LEAVES:
            move_child(tree, tables, sides.nodes[i], parent, top)


@borrower
def open_sibling(tree, tables, sides, n_found, top):
    """Give those that leave a new parent; gives it."""
    fresh = new_child(tree, tree.parent[tree.parent[sides.nodes[0]]])
    clear_node(tables, fresh, top)
    move_side(tree, tables, sides, n_found, fresh, top)
    return fresh


@borrower
def close_sibling(tree, tables, sides, n_found, top):
    """Bring those that left back to the others; gives their former parent, unlinked but not released."""
    emptied = tree.parent[sides.nodes[1]]
    move_side(tree, tables, sides, n_found, tree.parent[sides.nodes[0]], top)
    unlink(tree, emptied)
    return emptied


@kernel
def make_sides(capacity):
    """Empty arrays."""
    return Sides(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(N_ROWS, np.int64),
        np.empty(N_ROWS, np.int64),
    )


@borrower
def try_plain(rng, numbers, mixture, tree, tables, nodes, n_nodes, sides, tallies):
    """One split or merge without penalty."""
    top = mixture.numbers[0]
    if not draw_pair(rng, tree, nodes, n_nodes, sides.nodes):
        return
    n_found = gather(rng, tree, sides)
    is_split = tree.parent[sides.nodes[0]] == tree.parent[sides.nodes[1]]
    log_ratio = log_ratio_of_split(
        rng, numbers, mixture.weight, mixture.log_weight, tree, tables, sides, n_found, is_split, top
    )  # fmt: skip
    is_accepted = -rng.standard_exponential() < (log_ratio if is_split else -log_ratio)
    tallies[N_TRIED] += 1
    tallies[SPLIT if is_split else MERGED] += is_accepted
    if is_accepted and is_split:
        open_sibling(tree, tables, sides, n_found, top)
    elif is_accepted:
        release(tree, close_sibling(tree, tables, sides, n_found, top))


@borrower
def total_energy(penalty, tree, eta):
    """Energy of all data."""
    links, total = Links(tree.parent, tree.first_child, tree.next_sibling), 0.0
    for n in range(tree.leaf.size):
        total += path_energy(penalty, links, eta, n, tree.leaf[n])
    return total


@borrower
def try_penalised(rng, numbers, mixture, tree, tables, nodes, n_nodes, sides, tallies, penalty, eta, scale):
    """One split or merge under a penalty: the new sibling of a split has a discriminant from the prior."""
    top = mixture.numbers[0]
    if not draw_pair(rng, tree, nodes, n_nodes, sides.nodes):
        return
    n_found = gather(rng, tree, sides)
    is_split = tree.parent[sides.nodes[0]] == tree.parent[sides.nodes[1]]
    log_ratio = log_ratio_of_split(
        rng, numbers, mixture.weight, mixture.log_weight, tree, tables, sides, n_found, is_split, top
    )  # fmt: skip
    before = total_energy(penalty, tree, eta)
    if is_split:
        apart = open_sibling(tree, tables, sides, n_found, top)
        draw_vector(rng, eta, apart, scale)
    else:
        apart = close_sibling(tree, tables, sides, n_found, top)
    log_ratio = (log_ratio if is_split else -log_ratio) + before - total_energy(penalty, tree, eta)
    is_accepted = -rng.standard_exponential() < log_ratio
    tallies[N_TRIED] += 1
    tallies[SPLIT if is_split else MERGED] += is_accepted
    if is_split and not is_accepted:
        release(tree, close_sibling(tree, tables, sides, n_found, top))
    elif is_accepted and not is_split:
        release(tree, apart)
    elif not is_split:
        link(tree, apart, tree.parent[tree.parent[sides.nodes[0]]])
        move_side(tree, tables, sides, n_found, apart, top)


@kernel
def split_merge_pass(rng, tree, mixture, eta, penalty, values, depth, n_components, penalised, tallies):
    """Tables upwards with splits and merges on the way, then all weights; NEEDS_CAPACITY before anything is done."""
    if not has_room_to_regraft(tree) or tree.numbers[N_FREE] < N_ROWS:
        return NEEDS_CAPACITY
    if penalised and not has_columns_to_regraft(penalty, tree):
        return NEEDS_CAPACITY
    capacity, n_items = tree.parent.size, tree.leaf.size
    tables, nodes, sides = new_tables(capacity, mixture.size.size), np.empty(capacity, np.int64), make_sides(capacity)
    numbers = Numbers(
        values[ALPHA], values[GAMMA], log_gamma_table(0.0, n_items + 1), log_gamma_table(values[ALPHA], n_items + 1)
    )
    scale = math.sqrt(values[DISCRIMINANT_VARIANCE])
    seat_data(tree.leaf, mixture.component, tables)
    for level in range(depth, 0, -1):
        n_nodes = nodes_at(tree, level, nodes)
        draw_level_tables(rng, tree, mixture, values[GAMMA], tables, nodes, n_nodes)
        for _ in range(N_TRIES if level >= 2 else 0):
            if penalised:
                try_penalised(
                    rng, numbers, mixture, tree, tables, nodes, n_nodes, sides, tallies, penalty, eta, scale
                )  # fmt: skip
            else:
                try_plain(rng, numbers, mixture, tree, tables, nodes, n_nodes, sides, tallies)
    draw_all_weights(rng, tree, mixture, values, tables, n_components)
    return OK
