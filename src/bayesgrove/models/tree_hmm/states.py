"""Hidden states and switches drawn from their posterior: summed over shared subtrees, or node by node."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.tree_hmm.engine import make_scratch, upward
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM, Tables
from bayesgrove.models.tree_hmm.upward import weigh_transitions
from bayesgrove.stats.sampling import draw_binomial


@kernel
def draw_hard_counts(
    rng, links, switching, transition, mode, beta, roots, drawn, n_initial, n_emission, n_switching, n_transition
):
    """Add to the counts; roots (n,) says how many trees have their root at each node, drawn (n, C) is zero at first.

    Occurrences of a subtree in the same state are alike: their choices are split by multinomial draws, of which there
    are as many as different subtrees and states, not as many as nodes.
    """
    labels, leaf_positions, start, ids = links.labels, links.leaf_positions, links.child_start, links.child_ids
    n_states = beta.shape[1]
    weighted, bottom_total = np.empty_like(transition), np.empty(n_states)
    weigh_transitions(switching, transition, weighted, bottom_total)
    widest = widest_node(start)
    options = np.empty(widest * n_states + switching.size)
    numbers, chosen = np.empty(options.size, np.int64), np.empty(widest, np.int64)
    for node in range(labels.size - 1, -1, -1):
        if roots[node] > 0:
            add_split(rng, roots[node], beta[node], numbers, drawn[node])
        mass = count_drawn(labels[node], leaf_positions[node], drawn[node], n_initial, n_emission)
        if mass == 0 or leaf_positions[node] >= 0:
            continue
        first, last = start[node], start[node + 1]
        for place in range(last - first):
            chosen[place] = 0
        if mode == BOTTOM_PRIOR:
            count_empty_slots(links.child_positions, first, last, mass, n_initial)
        for state in range(n_states):
            if drawn[node, state] > 0:
                n_options = fill_options(links, weighted, mode, beta, first, last, state, options)
                split(rng, drawn[node, state], options[:n_options], numbers)
                count_choices(links, first, last, state, mode, numbers, drawn, chosen, n_switching, n_transition)
        for place in range(first, last):
            if mass > chosen[place - first]:
                add_split(rng, mass - chosen[place - first], beta[ids[place]], numbers, drawn[ids[place]])


@borrower
def widest_node(start):
    """Largest number of children."""
    widest = 0
    for node in range(start.size - 1):
        widest = max(widest, start[node + 1] - start[node])
    return widest


@kernel
def split(rng, size, weights, out):
    """Fill `out` with a multinomial draw of `size` in proportion to weights, not all of them 0."""
    rest, last_possible = 0.0, NULL
    for index in range(len(weights)):
        out[index] = 0
        rest += weights[index]
        if weights[index] > 0.0:
            last_possible = index
    for index in range(last_possible + 1):
        if weights[index] > 0.0:
            if index == last_possible or weights[index] >= rest:
                out[index] = size
            else:
                out[index] = draw_binomial(rng, size, weights[index] / rest)
            size -= out[index]
            rest -= weights[index]
            if size == 0:
                return


@kernel
def add_split(rng, size, weights, numbers, out):
    """Add to `out` a multinomial draw of `size`; `numbers` is room for it."""
    split(rng, size, weights, numbers)
    for state in range(out.size):
        out[state] += numbers[state]


@borrower
def count_drawn(label, leaf_position, row, n_initial, n_emission):
    """Count a node's label and, at a leaf, its state; how often the node occurs."""
    mass = 0
    for state in range(row.size):
        mass += row[state]
        if label >= 0:
            n_emission[label, state] += row[state]
        if leaf_position >= 0:
            n_initial[leaf_position, state] += row[state]
    return mass


@borrower
def count_empty_slots(positions, first, last, mass, n_initial):
    """Count the absent slots of a node in the bottom state."""
    place, bottom = first, n_initial.shape[1] - 1
    for position in range(1, n_initial.shape[0]):
        if place < last and positions[place] == position:
            while place < last and positions[place] == position:
                place += 1
        else:
            n_initial[position, bottom] += mass


@borrower
def count_choices(links, first, last, state, mode, numbers, drawn, chosen, n_switching, n_transition):
    """Count what occurrences of a node in one state look at, and give the children their states."""
    ids, positions, n_states, option = links.child_ids, links.child_positions, drawn.shape[1], 0
    for place in range(first, last):
        position = positions[place] - 1
        for other in range(n_states):
            number = numbers[option]
            option += 1
            if number > 0:
                drawn[ids[place], other] += number
                chosen[place - first] += number
                n_switching[position] += number
                n_transition[position, other, state] += number
    if mode != RENORM:
        for position in range(n_switching.size):
            n_switching[position] += numbers[option + position]
            n_transition[position, n_states, state] += numbers[option + position]


@borrower
def fill_options(links, weighted, mode, beta, first, last, state, options):
    """Weights of what a node in a state may look at: children by their states, then absent positions; how many."""
    ids, positions, shares = links.child_ids, links.child_positions, links.child_shares
    n_positions, n_states = weighted.shape[0], weighted.shape[2]
    n_options = 0
    for place in range(first, last):
        child, position, share = ids[place], positions[place] - 1, shares[place]
        for other in range(n_states):
            options[n_options] = share * weighted[position, other, state] * beta[child, other]
            n_options += 1
    if mode == RENORM:
        return n_options
    for position in range(n_positions):
        options[n_options + position] = weighted[position, n_states, state]
    for place in range(first, last):
        options[n_options + positions[place] - 1] = 0.0
    return n_options + n_positions


@kernel
def draw_tree_states(rng, links, weighted, mode, beta, first_node, last_node, options, states, switches):
    """Fill states and switches of the nodes first_node .. last_node - 1 of plain links, one whole tree.

    A switch is the entry of the chosen child in `child_ids`, or -1 - l for the absent position l = 1..L, at leaves 0.
    """
    start, ids = links.child_start, links.child_ids
    n_states = beta.shape[1]
    for node in range(first_node, last_node):
        states[node] = NULL
    for node in range(last_node - 1, first_node - 1, -1):
        if states[node] == NULL:
            states[node] = pick(rng, beta[node])
        switches[node] = 0
        if links.leaf_positions[node] >= 0:
            continue
        first, last = start[node], start[node + 1]
        n_options = fill_options(links, weighted, mode, beta, first, last, states[node], options)
        option = pick(rng, options[:n_options])
        n_pairs = (last - first) * n_states
        if option < n_pairs:
            switches[node] = first + option // n_states
            states[ids[switches[node]]] = option % n_states
        else:
            switches[node] = -1 - (option - n_pairs + 1)


@kernel
def pick(rng, weights):
    """Index drawn in proportion to weights that are not all 0."""
    total = 0.0
    for weight in weights:
        total += weight
    left, chosen = rng.random() * total, 0
    for index in range(len(weights)):
        if weights[index] > 0.0:
            chosen = index
            left -= weights[index]
            if left < 0.0:
                break
    return chosen


def draw_states(rng: np.random.Generator, links: Links, tables: Tables, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """States and switches of all nodes of plain links under the one component given, tree after tree."""
    scratch = make_scratch(links, tables)
    upward(links, tables, 0, mode, scratch)
    n_nodes, n_states = scratch.beta.shape
    weighted, total = np.empty_like(tables.transition[0]), np.empty(n_states)
    weigh_transitions(tables.switching[0], tables.transition[0], weighted, total)
    widest = int(np.diff(links.child_start).max(initial=0))
    options = np.empty(widest * n_states + tables.switching.shape[1])
    states, switches = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    draw_tree_states(rng, links, weighted, mode, scratch.beta, 0, n_nodes, options, states, switches)
    return states, switches
