"""The upward pass: distribution of each node's state given its subtree, and the likelihoods of all subtrees."""

import math

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM

ROUNDING = 1e-9
"""Below this part of what it was taken from, a difference is rounding: the sum is then done directly."""

SMALLEST = 1e-300
"""Weights below are divided by, not multiplied by their inverse."""


@borrower
def weigh_transitions(switching, transition, weighted, bottom_total):
    """Fill phi_l A[l], and the sum of its rows for absent children over all positions."""
    n_positions, n_children, n_states = transition.shape
    for state in range(n_states):
        bottom_total[state] = 0.0
    for position in range(n_positions):
        for child in range(n_children):
            for state in range(n_states):
                weighted[position, child, state] = switching[position] * transition[position, child, state]
        for state in range(n_states):
            bottom_total[state] += weighted[position, n_states, state]


@borrower
def log_absent(initial, log_bottom):
    """Fill log pi[l, bottom] (0 where that is impossible); their sum and how many are impossible."""
    total, n_impossible = 0.0, 0
    for position in range(1, initial.shape[0]):
        mass = initial[position, initial.shape[1] - 1]
        log_bottom[position - 1] = 0.0
        if mass > 0.0:
            log_bottom[position - 1] = math.log(mass)
            total += log_bottom[position - 1]
        else:
            n_impossible += 1
    return total, n_impossible


@borrower
def add_absent(positions, first, last, weighted, bottom_total, row):
    """Put into `row` the weights of states when the switch chooses an absent child; number of positions present."""
    n_positions, n_states = weighted.shape[0], weighted.shape[2]
    for state in range(n_states):
        row[state] = bottom_total[state]
    n_present, previous = 0, 0
    for place in range(first, last):
        position = positions[place]
        if position != previous:
            previous = position
            n_present += 1
            for state in range(n_states):
                row[state] -= weighted[position - 1, n_states, state]
    if n_present == n_positions:
        for state in range(n_states):
            row[state] = 0.0
        return n_present
    is_rounded = False
    for state in range(n_states):
        is_rounded = is_rounded or row[state] < ROUNDING * bottom_total[state]
    if is_rounded:
        sum_absent(positions, first, last, weighted, row)
    return n_present


@borrower
def sum_absent(positions, first, last, weighted, row):
    """The same sum, position by position."""
    n_positions, n_states = weighted.shape[0], weighted.shape[2]
    for state in range(n_states):
        row[state] = 0.0
    place = first
    for position in range(1, n_positions + 1):
        if place < last and positions[place] == position:
            while place < last and positions[place] == position:
                place += 1
        else:
            for state in range(n_states):
                row[state] += weighted[position - 1, n_states, state]


@borrower
def present_switching(positions, first, last, switching):
    """Sum of phi over the positions at which there are children."""
    total, previous = 0.0, 0
    for place in range(first, last):
        if positions[place] != previous:
            previous = positions[place]
            total += switching[previous - 1]
    return total


@borrower
def log_absent_of(positions, first, last, log_bottom, initial, log_bottom_total, n_impossible):
    """Log probability that all absent slots of a node are empty."""
    total, left, previous = log_bottom_total, n_impossible, 0
    for place in range(first, last):
        position = positions[place]
        if position != previous:
            previous = position
            total -= log_bottom[position - 1]
            if initial[position, initial.shape[1] - 1] <= 0.0:
                left -= 1
    return total if left == 0 else -math.inf


@borrower
def settle(row, emission_row, inner, beta):
    """Store a node's weights, multiply them by its label's probabilities and normalise; the total."""
    total = 0.0
    for state in range(row.size):
        inner[state] = row[state]
        beta[state] = row[state] * emission_row[state]
        total += beta[state]
    if total < SMALLEST:  # its inverse may be infinite
        for state in range(row.size):
            beta[state] = beta[state] / total if total > 0.0 else 0.0
        return total
    scale = 1.0 / total
    for state in range(row.size):
        beta[state] *= scale
    return total


@kernel
def go_upward(
    links, initial, emission, log_scale, switching, transition, mode, first_node, last_node, beta, inner, log_likelihood
):
    """Fill rows first_node .. last_node - 1 of beta, inner and log_likelihood.

    beta (n, C): distribution of the state given the subtree. inner (n, C): what the state's weight was before the
    label. log_likelihood (n,): of the subtree; -inf where it is impossible, and then beta is 0.
    """
    labels, leaf_positions = links.labels, links.leaf_positions
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states = beta.shape[1]
    weighted, bottom_total, log_bottom = np.empty_like(transition), np.empty(n_states), np.empty(switching.size)
    weigh_transitions(switching, transition, weighted, bottom_total)
    log_bottom_total, n_impossible = log_absent(initial, log_bottom)
    row, any_label = np.empty(n_states), np.ones(n_states)
    for node in range(first_node, last_node):
        first, last, total_log = start[node], start[node + 1], 0.0
        if leaf_positions[node] >= 0:
            for state in range(n_states):
                row[state] = initial[leaf_positions[node], state]
        elif mode == RENORM:
            for state in range(n_states):
                row[state] = 0.0
        else:
            add_absent(positions, first, last, weighted, bottom_total, row)
            if mode == BOTTOM_PRIOR:
                total_log = log_absent_of(positions, first, last, log_bottom, initial, log_bottom_total, n_impossible)
        for place in range(first, last):
            child, position, share = ids[place], positions[place] - 1, shares[place]
            total_log += log_likelihood[child]
            for other in range(n_states):
                factor = share * beta[child, other]
                for state in range(n_states):
                    row[state] += factor * weighted[position, other, state]
        if mode == RENORM and last > first:
            present = present_switching(positions, first, last, switching)
            for state in range(n_states):  # maximum likelihood may leave a node no switch
                row[state] = row[state] / present if present > 0.0 else 0.0
        label = labels[node]
        if label >= 0:
            total_log += log_scale[label]
        total = settle(row, emission[label] if label >= 0 else any_label, inner[node], beta[node])
        log_likelihood[node] = total_log + math.log(total) if total > 0.0 else -math.inf
