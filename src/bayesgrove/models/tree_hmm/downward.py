"""The downward pass: expected uses of every cell of the tables, exact for weighted trees, subtrees shared or not."""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.models.tree_hmm.upward import present_switching, weigh_transitions

LARGEST_RATIO = 1e6
"""Nodes with larger ratios of posterior to prior weight count their absent slots one by one: sums would lose them."""


@kernel
def go_downward(
    links,
    switching,
    transition,
    mode,
    beta,
    inner,
    expected,
    n_initial,
    n_emission,
    n_switching,
    n_transition,
    n_present,
):
    """Add to the counts, given the weights of trees times beta in the roots' rows of `expected` (zeros elsewhere).

    On return `expected` (n, C) holds the posterior of each node's state times the weight of the trees it stands in.
    """
    labels, leaf_positions = links.labels, links.leaf_positions
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states, n_positions = beta.shape[1], switching.size
    weighted, bottom_total = np.empty_like(transition), np.empty(n_states)
    weigh_transitions(switching, transition, weighted, bottom_total)
    ratio, chosen = np.empty(n_states), np.empty(n_states)
    used = np.zeros_like(transition)  # sums of ratio times beta, by position, child's and own state
    all_ratios, present_ratios = np.zeros(n_states), np.zeros((n_positions, n_states))
    all_mass, present_mass = 0.0, np.zeros(n_positions)
    n_inner, n_inner_present = 0, np.zeros(n_positions, np.int64)
    for node in range(beta.shape[0] - 1, -1, -1):
        mass = 0.0
        for state in range(n_states):
            mass += expected[node, state]
        if mass <= 0.0:
            continue
        label = labels[node]
        if label >= 0:
            for state in range(n_states):
                n_emission[label, state] += expected[node, state]
        if leaf_positions[node] >= 0:
            for state in range(n_states):
                n_initial[leaf_positions[node], state] += expected[node, state]
            continue
        first, last = start[node], start[node + 1]
        scale, top = 1.0, 0.0
        if mode == RENORM:
            scale = 1.0 / present_switching(positions, first, last, switching)
        for state in range(n_states):
            ratio[state] = expected[node, state] / inner[node, state] * scale if inner[node, state] > 0.0 else 0.0
            top = max(top, ratio[state])
        for place in range(first, last):
            child, position, share = ids[place], positions[place] - 1, shares[place]
            total = 0.0
            for other in range(n_states):
                factor = share * beta[child, other]
                value = 0.0
                for state in range(n_states):
                    value += ratio[state] * weighted[position, other, state]
                    used[position, other, state] += factor * ratio[state]
                chosen[other] = factor * value
                total += chosen[other]
            n_switching[position] += total
            rest = max(mass - total, 0.0)
            for other in range(n_states):
                expected[child, other] += chosen[other] + rest * beta[child, other]
        is_summed = top < LARGEST_RATIO * mass
        if is_summed:
            n_inner += 1
            all_mass += mass
            for state in range(n_states):
                all_ratios[state] += ratio[state]
        place = first
        # ---- positions: those with children are taken from the sums, or the others are counted
        if is_summed or mode == RENORM:
            previous = 0
            while place < last:
                if positions[place] != previous:
                    previous = positions[place]
                    n_inner_present[previous - 1] += 1
                    present_mass[previous - 1] += mass
                    n_present[previous - 1] += mass * scale
                    for state in range(n_states):
                        present_ratios[previous - 1, state] += ratio[state]
                place += 1
        else:
            for position in range(1, n_positions + 1):
                if place < last and positions[place] == position:
                    while place < last and positions[place] == position:
                        place += 1
                else:
                    if mode == BOTTOM_PRIOR:
                        n_initial[position, n_states] += mass
                    for state in range(n_states):
                        value = ratio[state] * weighted[position - 1, n_states, state]
                        n_transition[position - 1, n_states, state] += value
                        n_switching[position - 1] += value
    for position in range(n_positions):
        for other in range(n_states):
            for state in range(n_states):
                n_transition[position, other, state] += used[position, other, state] * weighted[position, other, state]
        if mode == RENORM or n_inner_present[position] == n_inner:
            continue
        if mode == BOTTOM_PRIOR:
            n_initial[position + 1, n_states] += max(all_mass - present_mass[position], 0.0)
        for state in range(n_states):
            value = max(all_ratios[state] - present_ratios[position, state], 0.0) * weighted[position, n_states, state]
            n_transition[position, n_states, state] += value
            n_switching[position] += value


@kernel
def go_downward_as_printed(
    links,
    switching,
    transition,
    mode,
    beta,
    inner,
    expected,
    n_initial,
    n_emission,
    n_switching,
    n_transition,
    n_present,
):
    """The E-step of the paper's code: a child's state given that it was chosen is taken for its posterior.

    It is not linear in the weights: every node must stand in one tree only.
    """
    labels, leaf_positions = links.labels, links.leaf_positions
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states, n_positions = beta.shape[1], switching.size
    weighted, bottom_total = np.empty_like(transition), np.empty(n_states)
    weigh_transitions(switching, transition, weighted, bottom_total)
    ratio, pair = np.empty(n_states), np.empty((n_states, n_states))
    for node in range(beta.shape[0] - 1, -1, -1):
        mass = 0.0
        for state in range(n_states):
            mass += expected[node, state]
        if mass <= 0.0:
            continue
        if labels[node] >= 0:
            for state in range(n_states):
                n_emission[labels[node], state] += expected[node, state]
        if leaf_positions[node] >= 0:
            for state in range(n_states):
                n_initial[leaf_positions[node], state] += expected[node, state]
            continue
        first, last = start[node], start[node + 1]
        scale = 1.0
        if mode == RENORM:
            scale = 1.0 / present_switching(positions, first, last, switching)
        for state in range(n_states):
            ratio[state] = expected[node, state] / inner[node, state] * scale if inner[node, state] > 0.0 else 0.0
        place = first
        for position in range(1, n_positions + 1):
            if place < last and positions[place] == position:
                n_present[position - 1] += mass * scale
                while place < last and positions[place] == position:
                    child, share = ids[place], shares[place]
                    total = 0.0
                    for other in range(n_states):
                        for state in range(n_states):
                            pair[other, state] = (
                                ratio[state] * share * weighted[position - 1, other, state] * beta[child, other]
                            )
                            total += pair[other, state]
                    n_switching[position - 1] += total
                    for other in range(n_states):
                        value = 0.0
                        for state in range(n_states):
                            value += pair[other, state]
                            if total > 0.0:
                                n_transition[position - 1, other, state] += pair[other, state] * mass / total
                        expected[child, other] = value * mass / total if total > 0.0 else mass * beta[child, other]
                    place += 1
            elif mode != RENORM:
                total = 0.0
                for state in range(n_states):
                    total += ratio[state] * weighted[position - 1, n_states, state]
                n_switching[position - 1] += total
                if mode == BOTTOM_PRIOR:
                    n_initial[position, n_states] += mass
                if total > 0.0:
                    for state in range(n_states):
                        value = ratio[state] * weighted[position - 1, n_states, state]
                        n_transition[position - 1, n_states, state] += value * mass / total


@kernel
def fill_switches(links, switching, transition, mode, beta, inner, expected, switches):
    """Probability that each node looks at each position: (n, L), given posteriors of states; 0 at leaves."""
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states, n_positions = beta.shape[1], switching.size
    ratio = np.empty(n_states)
    for node in range(beta.shape[0]):
        if links.leaf_positions[node] >= 0:
            continue
        first, last = start[node], start[node + 1]
        scale = 1.0
        if mode == RENORM:
            scale = 1.0 / present_switching(positions, first, last, switching)
        for state in range(n_states):
            ratio[state] = expected[node, state] / inner[node, state] * scale if inner[node, state] > 0.0 else 0.0
        place = first
        for position in range(1, n_positions + 1):
            value = 0.0
            if place < last and positions[place] == position:
                while place < last and positions[place] == position:
                    for other in range(n_states):
                        for state in range(n_states):
                            value += (
                                ratio[state] * shares[place] * transition[position - 1, other, state]
                                * beta[ids[place], other]
                            )  # fmt: skip
                    place += 1
            elif mode != RENORM:
                for state in range(n_states):
                    value += ratio[state] * transition[position - 1, n_states, state]
            switches[node, position - 1] = value * switching[position - 1]
