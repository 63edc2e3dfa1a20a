"""Hidden states and switches drawn from their posterior: summed over shared subtrees, or node by node."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.engine import make_scratch, upward
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM, Counts, Tables, shape_of, zero_counts
from bayesgrove.models.tree_hmm.upward import weigh_transitions


def hard_counts(rng: np.random.Generator, links: Links, tables: Tables, mode: int, sizes: np.ndarray) -> Counts:
    """Uses of all cells by states and switches drawn for every tree.

    Parameters
    ----------
    sizes : int64 array of shape (K, n_trees)
        How often each tree is drawn under each component: 1 where it belongs to it, else 0.
    """
    counts = zero_counts(len(tables.switching), shape_of(tables, mode))
    scratch = make_scratch(links, tables)
    for k in range(len(tables.switching)):
        drawn = np.zeros(scratch.beta.shape, np.int64)
        if not sizes[k].any():
            continue
        upward(links, tables, k, mode, scratch)
        roots = np.bincount(links.roots, sizes[k], links.labels.size).astype(np.int64)
        draw_hard_counts(
            rng, links, tables.switching[k], tables.transition[k], mode, scratch.beta, scratch.inner, roots, drawn,
            counts.initial[k], counts.emission[k], counts.switching[k], counts.transition[k],
        )  # fmt: skip
    return counts


@kernel
def split(rng, size, weights, total, out):
    """Fill `out` with a multinomial draw of `size` over weights that sum to `total`."""
    left, rest = size, total
    last_possible = NULL
    for index in range(len(weights)):
        out[index] = 0
        if weights[index] > 0.0:
            last_possible = index
    for index in range(len(weights)):
        if left == 0 or weights[index] <= 0.0:
            continue
        if index == last_possible or weights[index] >= rest:
            out[index] = left
        else:
            out[index] = rng.binomial(left, weights[index] / rest)
        left -= out[index]
        rest -= weights[index]


@kernel
def draw_hard_counts(
    rng, links, switching, transition, mode, beta, inner, roots, drawn, n_initial, n_emission, n_switching, n_transition
):
    """Add to the counts; roots (n,) says how many trees have their root at each node, drawn (n, C) is zero at first.

    Occurrences of a subtree in the same state are alike: their choices are split by multinomial draws, of which there
    are as many as different subtrees and states, not as many as nodes.
    """
    labels, leaf_positions = links.labels, links.leaf_positions
    start, ids, positions = links.child_start, links.child_ids, links.child_positions
    n_states, n_positions = beta.shape[1], switching.size
    weighted, bottom_total = np.empty_like(transition), np.empty(n_states)
    weigh_transitions(switching, transition, weighted, bottom_total)
    widest = 0
    for node in range(labels.size):
        widest = max(widest, start[node + 1] - start[node])
    options, numbers = np.empty(widest * n_states + n_positions), np.empty(widest * n_states + n_positions, np.int64)
    chosen = np.empty(widest, np.int64)
    for node in range(labels.size - 1, -1, -1):
        if roots[node] > 0:
            split(rng, roots[node], beta[node], 1.0, numbers[:n_states])
            for state in range(n_states):
                drawn[node, state] += numbers[state]
        mass = 0
        for state in range(n_states):
            mass += drawn[node, state]
        if mass == 0:
            continue
        if labels[node] >= 0:
            for state in range(n_states):
                n_emission[labels[node], state] += drawn[node, state]
        if leaf_positions[node] >= 0:
            for state in range(n_states):
                n_initial[leaf_positions[node], state] += drawn[node, state]
            continue
        first, last = start[node], start[node + 1]
        for place in range(first, last):
            chosen[place - first] = 0
        if mode == BOTTOM_PRIOR:
            place = first
            for position in range(1, n_positions + 1):
                if place < last and positions[place] == position:
                    while place < last and positions[place] == position:
                        place += 1
                else:
                    n_initial[position, n_states] += mass
        for state in range(n_states):
            if drawn[node, state] == 0:
                continue
            n_options = fill_options(links, weighted, mode, beta, first, last, state, options)
            total = 0.0
            for option in range(n_options):
                total += options[option]
            split(rng, drawn[node, state], options[:n_options], total, numbers[:n_options])
            option = 0
            for place in range(first, last):
                child, position = ids[place], positions[place] - 1
                for other in range(n_states):
                    number = numbers[option]
                    option += 1
                    if number > 0:
                        drawn[child, other] += number
                        chosen[place - first] += number
                        n_switching[position] += number
                        n_transition[position, other, state] += number
            if mode != RENORM:
                for position in range(n_positions):
                    number = numbers[option]
                    option += 1
                    if number > 0:
                        n_switching[position] += number
                        n_transition[position, n_states, state] += number
        for place in range(first, last):
            if mass > chosen[place - first]:
                child = ids[place]
                split(rng, mass - chosen[place - first], beta[child], 1.0, numbers[:n_states])
                for other in range(n_states):
                    drawn[child, other] += numbers[other]


@kernel
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
