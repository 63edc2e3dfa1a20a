"""Regraft with a penalty: Gumbel values of bounds in decreasing order, so that few places are evaluated."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, NOT_FINITE, NULL, OK
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.concentrations import draw_concentrations
from bayesgrove.models.nested.nodes import shuffle
from bayesgrove.models.nested.penalty import (
    Links,
    Penalty,
    gain_of_sibling,
    join,
    own_branch_energy,
    path_energy,
    vector_score,
)
from bayesgrove.models.nested.penalty_bounds import hinge_kind, least_hinges_beside, least_hinges_of_block, sum_rows
from bayesgrove.models.nested.penalty_members import (
    fill_block,
    first_leaf,
    in_order_of_leaves,
    make_block,
    make_groups,
    make_members,
    next_leaf,
)
from bayesgrove.models.nested.penalty_slice import linked_nodes
from bayesgrove.models.nested.penalty_sums import count_children, log_chance_of_gain, sum_chances
from bayesgrove.models.nested.regraft import KEPT, MOVED, TRIED, attach, detach, is_fixed, regraft_log_weights
from bayesgrove.models.nested.state import ROOT
from bayesgrove.models.nested.tables import new_tables, nodes_at, seat_data
from bayesgrove.models.nested.target import ALPHA, CHANCE, CHANCE_MAXIMUM, DISCRIMINANT_VARIANCE, GAMMA, SUM
from bayesgrove.models.nested.weights_pass import draw_all_weights, draw_level_tables, has_room_to_regraft
from bayesgrove.stats.special import log_gamma_table

N_TRIED, N_MOVED, N_EVALUATED, N_TALLIES = 0, 1, 2, 3
GROUPS_WORTH = 4
"""Data per group below a node from which on groups save more than they take."""


class Places(NamedTuple):
    """Candidates for the new parent."""

    place: np.ndarray
    """(capacity,) the parent, or where a new one would hang."""
    value: np.ndarray
    """(capacity,) log weight plus Gumbel noise minus what margins cost by chance: what hinges are taken from."""
    least: np.ndarray
    """(capacity,) at least so large are the hinges; inf once they are evaluated."""
    is_close: np.ndarray
    """(capacity,) whether the least hinges are those of groups."""
    vector: np.ndarray
    """(capacity, d') discriminant of the parent, where it is new."""
    base: np.ndarray
    """(capacity,) room for `regraft_log_weights`."""


@borrower
def hinges_beside(hinges, links, tree, eta, members, above, vector, limit):
    """Hinges that all data below `above` pay more for a further child of it; the first partial sum above `limit`."""
    gain, data, items, child = 0.0, hinges.data, members.items, tree.first_child[above]
    while child != NULL:
        leaf = first_leaf(tree, child)
        while leaf != NULL:
            for i in range(members.first[leaf], members.first[leaf + 1]):
                m = items[i]
                score = vector_score(vector, data, m)
                gain += members.weight[m] * gain_of_sibling(hinges, links, eta, m, leaf, child, score)
                if gain > limit:
                    return gain
            leaf = next_leaf(tree, leaf, child)
        child = tree.next_sibling[child]
    return gain


@borrower
def block_hinges(hinges, links, eta, members, block, n_block, above, vector, limit):
    """Hinges of the block when a node with discriminant `vector` hangs from `above`.

    Hinges only add: where a partial sum is above `limit`, that is given.
    """
    total = 0.0
    for i in range(n_block):
        n = block.items[i]
        paid = path_energy(hinges, links, eta, n, above)
        paid = own_branch_energy(hinges, links, eta, n, above, paid, vector)
        total += members.weight[n] * join(hinges.kind, paid, block.inside[i])
        if total > limit:
            return total
    return total


@borrower
def place_hinges(hinges, links, tree, eta, members, block, n_block, above, vector, limit):
    """The same with those of the data beside the block."""
    total = block_hinges(hinges, links, eta, members, block, n_block, above, vector, limit)
    if total > limit:
        return total
    return total + hinges_beside(hinges, links, tree, eta, members, above, vector, limit - total)


@borrower
def group_hinges(hinges, links, tree, eta, groups, block, n_block, above, vector):
    """At least so large are the hinges at a place, from means of groups (see `penalty_members.make_groups`).

    What the data beside the block pay more is a convex function of a row in "sum" only; elsewhere it is left out.
    """
    if hinges.kind == SUM:
        return place_hinges(hinges, links, tree, eta, groups, block, n_block, above, vector, np.inf)
    return block_hinges(hinges, links, eta, groups, block, n_block, above, vector, np.inf)


@borrower
def log_chance_of_siblings(penalty, sums, node, n_siblings):
    """What the data of a block pay by chance at one level with so many siblings."""
    if penalty.kind == CHANCE:
        return n_siblings * sums[node, 0]
    if penalty.kind == CHANCE_MAXIMUM:
        return sums[node, n_siblings]
    return 0.0


@borrower
def known_energy(penalty, tree, sums, node, place):
    """What a candidate costs by chance: the block on its way down to `place` and there, data beside it there."""
    n_children = count_children(tree, place)
    paid = log_chance_of_gain(penalty.kind, sums, place, n_children)
    paid += log_chance_of_siblings(penalty, sums, node, n_children)
    here = place
    while here != ROOT:
        here = tree.parent[here]
        paid += log_chance_of_siblings(penalty, sums, node, count_children(tree, here) - 1)
    return paid


@borrower
def move_sums(sums, tree, node, sign):
    """The sums of a node come to (1) or go from (-1) all nodes above it."""
    here = tree.parent[node]
    while here != NULL:
        for j in range(sums.shape[1]):
            sums[here, j] += sign * sums[node, j]
        here = tree.parent[here]


@borrower
def set_new_parent(rng, tree, eta, places, candidate, emptied, scale):
    """Discriminant of a new parent: what the emptied one has, if it hung there, or from the prior."""
    own = emptied != NULL and tree.parent[emptied] == places.place[candidate]
    for i in range(eta.shape[1]):
        places.vector[candidate, i] = eta[emptied, i] if own else scale * rng.standard_normal()


@borrower
def set_bounds(rng, hinges, penalty, tree, eta, sums, row_sums, node, emptied, inside, places, n_found, scale):
    """Discriminants of new parents, and Gumbel values of all candidates with the least energy they can have."""
    kind, strength, margin = hinges.kind, hinges.strength, hinges.margin
    for c in range(n_found):
        above, known, vector = places.place[c], 0.0, eta[node]
        if tree.level[above] < tree.level[node] - 1:
            set_new_parent(rng, tree, eta, places, c, emptied, scale)
            vector = places.vector[c]
        if penalty.log_chance.shape[1] > 0:
            known = known_energy(penalty, tree, sums, node, above)
        least = least_hinges_of_block(
            kind, strength, margin, tree, eta, row_sums[node], tree.count[node], above, vector
        )
        least = max(least, inside) + least_hinges_beside(kind, strength, margin, tree, eta, row_sums, above, vector)
        places.least[c], places.is_close[c] = least, False
        places.value[c] -= known + math.log(rng.standard_exponential())


@borrower
def next_place(places, n_found, best):
    """The candidate with the largest value that its hinges may leave, if that is above `best`; else NULL."""
    candidate, top = NULL, best
    for c in range(n_found):
        value = places.value[c] - places.least[c]
        if value > top:
            candidate, top = c, value
    return candidate


@borrower
def choose_place(hinges, of_groups, tree, eta, data, groups, node, places, n_found, home):
    """Candidate with the largest Gumbel value, and how many were evaluated; NULL if none is possible.

    `data` and `groups` are members, block and the size of the block; `home` is where the node hung, most often the one
    that is chosen, and the first that is evaluated.

    Energies are at least what they were taken for, so that a value only falls when it is evaluated: the search ends
    when the best evaluated one is above all others. One that falls below the best is not evaluated to its end. In
    large blocks bounds of the sum of all rows are far below the energies, and more so the more rows there are; groups,
    whose number does not grow with the rows, decide nearly all places.
    """
    links, (members, block, n_block) = Links(tree.parent, tree.first_child, tree.next_sibling), data
    has_groups = GROUPS_WORTH * groups[2] <= n_block
    best, chosen, n_evaluated, candidate = -np.inf, NULL, 0, NULL
    for c in range(n_found):
        candidate = c if places.place[c] == home else candidate
    while True:
        if candidate == NULL:
            candidate = next_place(places, n_found, best)
            if candidate == NULL:
                return chosen, n_evaluated
        above = places.place[candidate]
        vector = places.vector[candidate] if tree.level[above] < tree.level[node] - 1 else eta[node]
        if has_groups and not places.is_close[candidate] and best > -np.inf:
            least = group_hinges(of_groups, links, tree, eta, groups[0], groups[1], groups[2], above, vector)
            places.least[candidate], places.is_close[candidate] = max(least, places.least[candidate]), True
        else:
            limit = places.value[candidate] - best
            paid = place_hinges(hinges, links, tree, eta, members, block, n_block, above, vector, limit)
            places.least[candidate] = np.inf
            n_evaluated += 1
            if places.value[candidate] - paid > best:
                best, chosen = places.value[candidate] - paid, candidate
        candidate = NULL


@borrower
def penalised_regraft_node(
    rng, penalty, hinges, of_groups, tree, mixture, eta, values, tables, data, groups, sums, row_sums, node,
    log_gamma_n, log_gamma_alpha, places, tallies,
):  # fmt: skip
    """Draw a node's parent; gives as `regraft.regraft_node`. `data` and `groups` are members and room for a block."""
    if is_fixed(tree, node):
        return KEPT
    links, top = Links(tree.parent, tree.first_child, tree.next_sibling), mixture.numbers[0]
    parent = tree.parent[node]
    above = tree.parent[parent]
    move_sums(sums, tree, node, -1.0)
    move_sums(row_sums, tree, node, -1.0)
    emptied = detach(tree, tables, node, top)
    n_block, inside = fill_block(hinges, links, tree, eta, data[0], node, data[1])
    n_groups, _ = fill_block(of_groups, links, tree, eta, groups[0], node, groups[1])
    n_found = regraft_log_weights(
        tree, mixture, values, tables, node, log_gamma_n, log_gamma_alpha, places.base, places.place, places.value
    )
    set_bounds(
        rng, hinges, penalty, tree, eta, sums, row_sums, node, emptied, inside, places, n_found,
        math.sqrt(values[DISCRIMINANT_VARIANCE]),
    )  # fmt: skip
    chosen, n_evaluated = choose_place(
        hinges, of_groups, tree, eta, (*data, n_block), (*groups, n_groups), node, places, n_found,
        parent if emptied == NULL else above,
    )  # fmt: skip
    if chosen == NULL:
        return NULL
    place = places.place[chosen]
    attach(tree, tables, node, place, emptied, top)
    new_parent = tree.parent[node]
    if new_parent != place:
        for i in range(eta.shape[1]):
            eta[new_parent, i] = places.vector[chosen, i]
            row_sums[new_parent, i] = 0.0
        for j in range(sums.shape[1]):
            sums[new_parent, j] = 0.0
    move_sums(sums, tree, node, 1.0)
    move_sums(row_sums, tree, node, 1.0)
    tallies[N_EVALUATED] += n_evaluated
    return TRIED if place == (parent if emptied == NULL else above) else MOVED


@kernel
def has_columns_to_regraft(penalty, tree):
    """Whether the table of "chance-max" knows what a level costs that all nodes have come to."""
    return (
        penalty.kind != CHANCE_MAXIMUM
        or 2 * linked_nodes(Links(tree.parent, tree.first_child, tree.next_sibling)).size < penalty.log_chance.shape[1]
    )


@kernel
def penalised_pass_over_weights(rng, tree, mixture, eta, penalty, values, hyperpriors, depth, n_components, tallies):
    """`weights_pass.pass_over_weights` with regrafts under a penalty; the same codes, NEEDS_CAPACITY before it begins.

    `tallies` gets the regrafts tried, those that moved, and the places evaluated.
    """
    if not (has_room_to_regraft(tree) and has_columns_to_regraft(penalty, tree)):
        return NEEDS_CAPACITY
    capacity, n_items = tree.parent.size, tree.leaf.size
    tables, nodes = new_tables(capacity, mixture.size.size), np.empty(capacity, np.int64)
    log_gamma_n, log_gamma_alpha = log_gamma_table(0.0, n_items + 1), log_gamma_table(values[ALPHA], n_items + 1)
    members, sums, row_sums = (
        make_members(tree.leaf, capacity),
        sum_chances(penalty, tree),
        sum_rows(penalty.data, tree),
    )
    groups, group_rows = make_groups(members, mixture.component, penalty.data, mixture.size.size)
    members, rows = in_order_of_leaves(members, penalty.data)
    kind, nothing = hinge_kind(penalty.kind), np.empty((0, 0))
    hinges = Penalty(kind, penalty.strength, penalty.margin, rows, nothing)
    of_groups = Penalty(kind, penalty.strength, penalty.margin, group_rows, nothing)
    data, grouped = (members, make_block(n_items)), (groups, make_block(groups.weight.size))
    places = Places(
        np.empty(capacity, np.int64), np.empty(capacity), np.empty(capacity), np.empty(capacity, np.bool_),
        np.empty((capacity, eta.shape[1])), np.empty(capacity),
    )  # fmt: skip
    seat_data(tree.leaf, mixture.component, tables)
    for level in range(depth, 0, -1):
        n_nodes = nodes_at(tree, level, nodes)
        draw_level_tables(rng, tree, mixture, values[GAMMA], tables, nodes, n_nodes)
        n_movable = n_nodes if level >= 2 else 0
        shuffle(rng, nodes[:n_movable])  # as `regraft.regraft_level`, which says why
        for i in range(n_movable):
            result = penalised_regraft_node(
                rng, penalty, hinges, of_groups, tree, mixture, eta, values, tables, data, grouped, sums, row_sums,
                nodes[i], log_gamma_n, log_gamma_alpha, places, tallies,
            )  # fmt: skip
            if result == NULL:
                return NOT_FINITE
            tallies[N_TRIED] += result != KEPT
            tallies[N_MOVED] += result == MOVED
    draw_concentrations(
        rng, tree, tables, values, hyperpriors, mixture.in_use, mixture.numbers[0], depth, n_components
    )  # fmt: skip
    draw_all_weights(rng, tree, mixture, values, tables, n_components)
    return OK
