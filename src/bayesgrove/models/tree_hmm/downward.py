"""The downward pass: expected uses of every cell of the tables, exact for weighted trees, subtrees shared or not."""

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.models.tree_hmm.upward import present_switching, weigh_transitions

LARGEST_RATIO = 1e6
"""Nodes with larger ratios of posterior to prior weight count their absent slots one by one: sums would lose them."""


@borrower
def count_label(label, leaf_position, row, n_initial, n_emission):
    """Count a node's label and, at a leaf, its state; the mass of the node."""
    mass = 0.0
    for state in range(row.size):
        mass += row[state]
    if label >= 0:
        for state in range(row.size):
            n_emission[label, state] += row[state]
    if leaf_position >= 0:
        for state in range(row.size):
            n_initial[leaf_position, state] += row[state]
    return mass


@borrower
def fill_ratio(row, prior, scale, ratio):
    """Posterior over prior weight of each state, 0 where that is impossible; the largest."""
    top = 0.0
    for state in range(row.size):
        ratio[state] = row[state] / prior[state] * scale if prior[state] > 0.0 else 0.0
        top = max(top, ratio[state])
    return top


@borrower
def pass_to_child(ratio, share, weighted, beta, mass, chosen, used, expected):
    """Give a child its posterior: chosen by the switch, or else independent of all above; probability times mass.

    `weighted` and `used` are those of the child's position, (C + 1, C).
    """
    n_states, total = ratio.size, 0.0
    for other in range(n_states):
        factor, value = share * beta[other], 0.0
        for state in range(n_states):
            value += ratio[state] * weighted[other, state]
            used[other, state] += factor * ratio[state]
        chosen[other] = factor * value
        total += chosen[other]
    rest = max(mass - total, 0.0)
    for other in range(n_states):
        expected[other] += chosen[other] + rest * beta[other]
    return total


@borrower
def add_present(positions, first, last, mass, scale, ratio, n_nodes, masses, ratios, n_present):
    """Add a node to the sums of each position at which it has children."""
    previous = 0
    for place in range(first, last):
        if positions[place] != previous:
            previous = positions[place]
            n_nodes[previous - 1] += 1
            masses[previous - 1] += mass
            n_present[previous - 1] += mass * scale
            for state in range(ratio.size):
                ratios[previous - 1, state] += ratio[state]


@borrower
def count_absent(positions, first, last, mass, mode, ratio, weighted, n_initial, n_switching, n_transition):
    """Count the absent slots of one node one by one."""
    n_states, place = ratio.size, first
    for position in range(1, n_switching.size + 1):
        if place < last and positions[place] == position:
            while place < last and positions[place] == position:
                place += 1
            continue
        if mode == BOTTOM_PRIOR:
            n_initial[position, n_states] += mass
        for state in range(n_states):
            value = ratio[state] * weighted[position - 1, n_states, state]
            n_transition[position - 1, n_states, state] += value
            n_switching[position - 1] += value


@kernel
def go_downward(
    links, switching, transition, mode, beta, inner, expected,
    n_initial, n_emission, n_switching, n_transition, n_present,
):  # fmt: skip
    """Add to the counts, given the weights of trees times beta in the roots' rows of `expected` (zeros elsewhere).

    On return `expected` (n, C) holds the posterior of each node's state times the weight of the trees it stands in.
    Absent slots are counted by what all nodes have less what nodes with a child there have.
    """
    labels, leaf_positions = links.labels, links.leaf_positions
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states, n_positions = beta.shape[1], switching.size
    weighted, ratio, chosen = np.empty_like(transition), np.empty(n_states), np.empty(n_states)
    weigh_transitions(switching, transition, weighted, ratio)
    used = np.zeros_like(transition)  # sums of ratio times beta, by position, child's and own state
    n_nodes, n_nodes_present = 0, np.zeros(n_positions, np.int64)
    mass_total, masses_present = 0.0, np.zeros(n_positions)
    ratio_totals, ratios_present = np.zeros(n_states), np.zeros((n_positions, n_states))
    for node in range(beta.shape[0] - 1, -1, -1):
        mass = count_label(labels[node], leaf_positions[node], expected[node], n_initial, n_emission)
        if mass <= 0.0 or leaf_positions[node] >= 0:
            continue
        first, last, scale = start[node], start[node + 1], 1.0
        if mode == RENORM:
            scale = 1.0 / present_switching(positions, first, last, switching)
        top = fill_ratio(expected[node], inner[node], scale, ratio)
        for place in range(first, last):
            child, position = ids[place], positions[place] - 1
            n_switching[position] += pass_to_child(
                ratio, shares[place], weighted[position], beta[child], mass, chosen, used[position], expected[child]
            )
        if mode != RENORM and top > LARGEST_RATIO * mass:
            count_absent(positions, first, last, mass, mode, ratio, weighted, n_initial, n_switching, n_transition)
            continue
        n_nodes += 1
        mass_total += mass
        for state in range(n_states):
            ratio_totals[state] += ratio[state]
        add_present(
            positions, first, last, mass, scale, ratio, n_nodes_present, masses_present, ratios_present, n_present
        )
    add_used(used, weighted, n_transition)
    if mode != RENORM:
        for position in range(n_positions):
            if n_nodes_present[position] < n_nodes:
                if mode == BOTTOM_PRIOR:
                    n_initial[position + 1, n_states] += max(mass_total - masses_present[position], 0.0)
                n_switching[position] += add_bottom(
                    ratio_totals,
                    ratios_present[position],
                    weighted[position, n_states],
                    n_transition[position, n_states],
                )


@borrower
def add_used(used, weighted, n_transition):
    """Turn sums over nodes into expected transitions from real states."""
    for position in range(used.shape[0]):
        for other in range(used.shape[2]):
            for state in range(used.shape[2]):
                n_transition[position, other, state] += used[position, other, state] * weighted[position, other, state]


@borrower
def add_bottom(totals, present, weighted, n_transition):
    """Expected transitions from the bottom state at one position; their sum."""
    total = 0.0
    for state in range(totals.size):
        value = max(totals[state] - present[state], 0.0) * weighted[state]
        n_transition[state] += value
        total += value
    return total
