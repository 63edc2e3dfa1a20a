"""Collapsed block Metropolis moves: labels and hidden states of one tree at a time, tables summed out.

See docs/theory/tree-mixtures.md, Collapsed moves.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.assignments import place_of
from bayesgrove.models.tree_hmm.cells import add_cells, fill_mean_tables, list_cells, log_mean_cells, remove_cells
from bayesgrove.models.tree_hmm.component import Row
from bayesgrove.models.tree_hmm.mixture_target import CONCENTRATION
from bayesgrove.models.tree_hmm.states import draw_tree_states, widest_node
from bayesgrove.models.tree_hmm.upward import go_upward, weigh_transitions
from bayesgrove.stats.sampling import draw_log_categorical

VISITS, VISITS_ACCEPTED = range(2)


@kernel
def nodes_of_tree(roots, tree):
    """First and last + 1 node of a tree of plain links: the last tree stands first."""
    first = roots[tree + 1] + 1 if tree + 1 < roots.size else 0
    return first, roots[tree] + 1


@kernel
def room_for_tables(target):
    """Mean tables of one component."""
    n_positions, n_states, n_labels = target.n_positions, target.n_states, target.n_labels
    return Row(
        np.empty((n_positions + 1, n_states + 1)),
        np.empty((n_labels, n_states)),
        np.empty(n_positions),
        np.empty((n_positions, n_states + 1, n_states)),
        np.zeros(n_labels),
        np.empty((n_states, 0, 2)),
        np.ones(n_states),
    )


@kernel
def score_tree(target, cells, values, counts, totals, tree, row, beta, inner, log_likelihood):
    """Log-likelihood of a tree under mean tables given counts; they stay in `row`, the pass in the other arrays."""
    fill_mean_tables(cells, values, counts, totals, target.mode, row)
    first, last = nodes_of_tree(target.links.roots, tree)
    go_upward(
        target.links, row.initial, row.emission, row.log_scale, row.switching, row.transition, target.mode, first, last,
        beta, inner, log_likelihood,
    )  # fmt: skip
    return log_likelihood[last - 1]


@kernel
def draw_tree(rng, target, tree, row, beta, states, switches):
    """Hidden states of a tree given tables and their upward pass."""
    weighted, total = np.empty_like(row.transition), np.empty(target.n_states)
    weigh_transitions(row.switching, row.transition, weighted, total)
    options = np.empty(widest_node(target.links.child_start) * target.n_states + target.n_positions)
    first, last = nodes_of_tree(target.links.roots, tree)
    draw_tree_states(rng, target.links, weighted, target.mode, beta, first, last, options, states, switches)


@kernel
def cells_of_tree(target, cells, tree, states, switches, used):
    """Fill `used` with the cells of a tree; how many."""
    first, last = nodes_of_tree(target.links.roots, tree)
    return list_cells(
        target.links, cells.first, target.mode, target.n_states, target.n_labels, target.n_positions, first, last,
        states, switches, used,
    )  # fmt: skip


@kernel
def log_gain(cells, values, used, n_used, counts, totals):
    """Log of the uses' probability with tables summed out over that under mean tables; the uses are counted."""
    log_mean = log_mean_cells(cells, values, used, n_used, counts, totals)
    return add_cells(cells, values, used, n_used, counts, totals) - log_mean


@kernel
def visit_trees(rng, target, cells, mixture, labels, states, switches, values, done, tallies):
    """Visit all trees from `done` on; gives how many are done, fewer than all where rows run out.

    A component and hidden states are proposed under mean tables; the step weighs them by what mean tables get wrong.
    """
    sizes, order, n_used, counts, totals = mixture.sizes, mixture.order, mixture.n_used, mixture.counts, mixture.totals
    n_nodes, n_states = target.links.labels.size, target.n_states
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    row, log_weights = room_for_tables(target), np.empty(order.size)
    used = np.empty(n_nodes * (3 + target.n_positions), np.int64)
    new_states, new_switches = states.copy(), switches.copy()
    for tree in range(done, labels.size):
        if n_used[0] + 1 > order.size:
            return tree
        old = labels[tree]
        n_cells = cells_of_tree(target, cells, tree, states, switches, used)
        remove_cells(cells, used, n_cells, counts[old], totals[old])
        sizes[old] -= 1
        if sizes[old] == 0:
            drop(order, n_used, old)
        for place in range(n_used[0] + 1):  # the first free row has no counts: it stands for a new component
            at = order[place]
            size = sizes[at] if place < n_used[0] else values[CONCENTRATION]
            log_weights[place] = math.log(size) + score_tree(
                target, cells, values, counts[at], totals[at], tree, row, beta, inner, log_likelihood
            )
        place = draw_log_categorical(rng, log_weights[: n_used[0] + 1])
        new = order[place]
        score_tree(target, cells, values, counts[new], totals[new], tree, row, beta, inner, log_likelihood)
        draw_tree(rng, target, tree, row, beta, new_states, new_switches)
        log_old = log_gain(cells, values, used, n_cells, counts[old], totals[old])
        remove_cells(cells, used, n_cells, counts[old], totals[old])
        n_cells = cells_of_tree(target, cells, tree, new_states, new_switches, used)
        log_new = log_gain(cells, values, used, n_cells, counts[new], totals[new])
        tallies[VISITS] += 1
        first, last = nodes_of_tree(target.links.roots, tree)
        if -rng.standard_exponential() < log_new - log_old:
            tallies[VISITS_ACCEPTED] += 1
            for node in range(first, last):
                states[node], switches[node] = new_states[node], new_switches[node]
        else:
            remove_cells(cells, used, n_cells, counts[new], totals[new])
            n_cells = cells_of_tree(target, cells, tree, states, switches, used)
            add_cells(cells, values, used, n_cells, counts[old], totals[old])
            new = old
        if sizes[new] == 0:
            take(order, n_used, new)
        sizes[new] += 1
        labels[tree] = new
    return labels.size


@kernel
def drop(order, n_used, row):
    """Let a row become the first of the free ones."""
    place, last = place_of(order, row), n_used[0] - 1
    order[place] = order[last]
    order[last] = row
    n_used[0] = last


@kernel
def take(order, n_used, row):
    """Let a free row become the last in use."""
    place, last = place_of(order, row), n_used[0]
    order[place] = order[last]
    order[last] = row
    n_used[0] = last + 1
