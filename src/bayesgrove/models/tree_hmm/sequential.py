"""Split-merge moves with sequential allocation on the collapsed state: exact, for small forests.

See docs/theory/tree-mixtures.md, Collapsed moves.
"""

import math

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, OK
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.cells import add_cells, log_mean_cells
from bayesgrove.models.tree_hmm.collapsed import (
    cells_of_tree,
    draw_tree,
    drop,
    nodes_of_tree,
    room_for_tables,
    score_tree,
    take,
)
from bayesgrove.models.tree_hmm.mixture_target import CONCENTRATION
from bayesgrove.models.tree_hmm.split_merge import MERGES, MERGES_ACCEPTED, SPLITS, SPLITS_ACCEPTED, leaving_weight
from bayesgrove.stats.special import softplus


@kernel
def allocate(rng, target, cells, values, order, is_split, is_replay, sides, states, switches, counts, totals):
    """Put trees into two components (or one) one after another; log proposal density and log probability of all uses.

    The first tree opens side 0, the second side 1 where the pass is a split. `sides`, `states` and `switches` are
    drawn, or followed where the pass is a replay; counts (2, n_cells) and totals begin with nothing.
    """
    n_nodes, n_states = target.links.labels.size, target.n_states
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    row, used = room_for_tables(target), np.empty(n_nodes * (3 + target.n_positions), np.int64)
    log_proposal, log_uses, sizes = 0.0, 0.0, np.zeros(2)
    for place in range(order.size):
        tree = order[place]
        side = 0
        if is_split and place < 2:
            side = place
        elif is_split:
            log_one = score_tree(target, cells, values, counts[1], totals[1], tree, row, beta, inner, log_likelihood)
            log_zero = score_tree(target, cells, values, counts[0], totals[0], tree, row, beta, inner, log_likelihood)
            log_odds = log_one - log_zero + math.log(sizes[1] / sizes[0])
            side = sides[tree] if is_replay else int(rng.random() < leaving_weight(log_odds))
            log_proposal -= softplus(-log_odds) if side == 1 else softplus(log_odds)
        sides[tree] = side
        score = score_tree(target, cells, values, counts[side], totals[side], tree, row, beta, inner, log_likelihood)
        if not is_replay:
            draw_tree(rng, target, tree, row, beta, states, switches)
        n_cells = cells_of_tree(target, cells, tree, states, switches, used)
        # Chosen children at shared positions would add the logs of their shares here and to the uses: they cancel.
        log_proposal += log_mean_cells(cells, values, used, n_cells, counts[side], totals[side]) - score
        log_uses += add_cells(cells, values, used, n_cells, counts[side], totals[side])
        sizes[side] += 1.0
    return log_proposal, log_uses


@kernel
def order_of(rng, labels, first, second):
    """The two anchors, then the other trees of their components in random order."""
    n = 0
    for label in labels:
        n += label in (labels[first], labels[second])
    order, place = np.empty(n, np.int64), 2
    order[0], order[1] = first, second
    for tree in range(labels.size):
        if tree not in (first, second) and labels[tree] in (labels[first], labels[second]):
            order[place] = tree
            place += 1
    for place in range(n - 1, 2, -1):
        other = 2 + rng.integers(0, place - 1)
        order[place], order[other] = order[other], order[place]
    return order


@kernel
def split_or_merge_sequentially(rng, target, cells, mixture, labels, states, switches, values, tallies):
    """One move; NEEDS_CAPACITY, before any random number, where a split would find no free row."""
    if mixture.n_used[0] + 1 > mixture.order.size:
        return NEEDS_CAPACITY
    first, second = rng.integers(0, labels.size), rng.integers(0, labels.size - 1)
    second += second >= first
    order = order_of(rng, labels, first, second)
    is_split = labels[first] == labels[second]
    n_cells, n_rows = mixture.counts.shape[1], mixture.totals.shape[1]
    apart, apart_totals = np.zeros((2, n_cells)), np.zeros((2, n_rows))
    whole, whole_totals = np.zeros((2, n_cells)), np.zeros((2, n_rows))
    sides, all_zero = np.zeros(labels.size, np.int64), np.zeros(labels.size, np.int64)
    for tree in order:
        sides[tree] = labels[tree] == labels[second]
    new_states, new_switches = states.copy(), switches.copy()
    apart_states, whole_states = (new_states, states) if is_split else (states, new_states)
    apart_switches, whole_switches = (new_switches, switches) if is_split else (switches, new_switches)
    log_split, log_apart = allocate(
        rng, target, cells, values, order, True, not is_split, sides, apart_states, apart_switches, apart, apart_totals
    )
    log_merge, log_whole = allocate(
        rng, target, cells, values, order, False, is_split, all_zero, whole_states, whole_switches, whole, whole_totals
    )
    n_second = 0
    for tree in order:
        n_second += sides[tree]
    log_sizes = math.lgamma(order.size - n_second) + math.lgamma(n_second) - math.lgamma(order.size)
    log_ratio = math.log(values[CONCENTRATION]) + log_sizes + log_apart - log_whole + log_merge - log_split
    tallies[SPLITS if is_split else MERGES] += 1
    if not (-rng.standard_exponential() < (log_ratio if is_split else -log_ratio)):
        return OK
    tallies[SPLITS_ACCEPTED if is_split else MERGES_ACCEPTED] += 1
    keep_states(target, order, new_states, new_switches, states, switches)
    kept, other = labels[first], labels[second]
    if is_split:
        other = mixture.order[mixture.n_used[0]]
        take(mixture.order, mixture.n_used, other)
        put(mixture, kept, apart[0], apart_totals[0], order.size - n_second)
        put(mixture, other, apart[1], apart_totals[1], n_second)
        for tree in order:
            labels[tree] = other if sides[tree] == 1 else kept
    else:
        put(mixture, kept, whole[0], whole_totals[0], order.size)
        put(mixture, other, np.zeros(n_cells), np.zeros(n_rows), 0)
        drop(mixture.order, mixture.n_used, other)
        for tree in order:
            labels[tree] = kept
    return OK


@kernel
def keep_states(target, order, new_states, new_switches, states, switches):
    """Take over the hidden states of some trees."""
    for tree in order:
        first, last = nodes_of_tree(target.links.roots, tree)
        for node in range(first, last):
            states[node], switches[node] = new_states[node], new_switches[node]


@kernel
def put(mixture, row, counts, totals, size):
    """Set the counts of a row."""
    for cell in range(counts.size):
        mixture.counts[row, cell] = counts[cell]
    for at in range(totals.size):
        mixture.totals[row, at] = totals[at]
    mixture.sizes[row] = size


@kernel
def sequential_moves(rng, target, cells, mixture, labels, states, switches, values, n_moves, tallies):
    """Several moves; gives how many were made, fewer than asked for where rows run out."""
    for move in range(n_moves):
        status = split_or_merge_sequentially(rng, target, cells, mixture, labels, states, switches, values, tallies)
        if status == NEEDS_CAPACITY:
            return move
    return n_moves
