"""The E-step of the paper's code, for reproduction: what a child's state is when chosen is taken for its posterior."""

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.tree_hmm.downward import count_label, fill_ratio
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.models.tree_hmm.upward import present_switching, weigh_transitions


@kernel
def go_downward_as_printed(
    links, switching, transition, mode, beta, inner, expected,
    n_initial, n_emission, n_switching, n_transition, n_present,
):  # fmt: skip
    """As `downward.go_downward`, with the printed rule.

    It is not linear in the weights: every node must stand in one tree only.
    """
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states, n_positions = beta.shape[1], switching.size
    weighted, ratio = np.empty_like(transition), np.empty(n_states)
    weigh_transitions(switching, transition, weighted, ratio)
    for node in range(beta.shape[0] - 1, -1, -1):
        mass = count_label(links.labels[node], links.leaf_positions[node], expected[node], n_initial, n_emission)
        if mass <= 0.0 or links.leaf_positions[node] >= 0:
            continue
        place, last, scale = start[node], start[node + 1], 1.0
        if mode == RENORM:
            scale = 1.0 / present_switching(positions, place, last, switching)
        fill_ratio(expected[node], inner[node], scale, ratio)
        for position in range(n_positions):
            if place < last and positions[place] == position + 1:
                n_present[position] += mass * scale
                while place < last and positions[place] == position + 1:
                    n_switching[position] += pass_to_chosen(
                        ratio, shares[place], weighted[position], beta[ids[place]], mass, n_transition[position],
                        expected[ids[place]],
                    )  # fmt: skip
                    place += 1
            elif mode != RENORM:
                if mode == BOTTOM_PRIOR:
                    n_initial[position + 1, n_states] += mass
                n_switching[position] += count_bottom(
                    ratio, weighted[position, n_states], mass, n_transition[position, n_states]
                )


@borrower
def pass_to_chosen(ratio, share, weighted, beta, mass, n_transition, expected):
    """Give a child its distribution given that it was chosen; the probability of that, times mass."""
    n_states, total = ratio.size, 0.0
    for other in range(n_states):
        expected[other] = 0.0
        for state in range(n_states):
            expected[other] += ratio[state] * share * weighted[other, state] * beta[other]
        total += expected[other]
    for other in range(n_states):
        if total > 0.0:
            expected[other] *= mass / total
            factor = share * beta[other] * mass / total
            for state in range(n_states):
                n_transition[other, state] += ratio[state] * weighted[other, state] * factor
        else:
            expected[other] = mass * beta[other]
    return total


@borrower
def count_bottom(ratio, weighted, mass, n_transition):
    """Count an absent slot as if it had been chosen; the probability of that, times mass."""
    total = 0.0
    for state in range(ratio.size):
        total += ratio[state] * weighted[state]
    if total > 0.0:
        for state in range(ratio.size):
            n_transition[state] += ratio[state] * weighted[state] * mass / total
    return total
