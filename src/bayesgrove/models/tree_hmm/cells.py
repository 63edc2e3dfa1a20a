"""All cells of a component's tables in one line, for samplers that count hidden states and sum the tables out.

Cells are those of initial states, emissions by state, switching and transitions, one family after the other. A tree
with its hidden states is the list of the cells it uses; what is known of a component is how often each was used.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.mixture_target import EMISSION, INITIAL, SWITCHING, TRANSITION, Target
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, Counts, free_cells


class Cells(NamedTuple):
    """Which row each cell belongs to, and what its prior is."""

    row: np.ndarray
    """int64 (n_cells,)"""
    family: np.ndarray
    """int64 (n_rows,): place of the row's strength among a state's values."""
    size: np.ndarray
    """float64 (n_rows,): number of cells with probability."""
    first: np.ndarray
    """int64 (4,): where the families begin."""


def make_cells(target: Target) -> Cells:
    """Cells of the tables of a target."""
    n_positions, n_states, n_labels, _ = target.shape
    rows = (
        (n_positions + 1, n_states + 1),
        (n_states, n_labels),
        (1, n_positions),
        (n_positions * (n_states + 1), n_states),
    )
    n_rows, n_cells = [n for n, _ in rows], [n * size for n, size in rows]
    sizes = [np.full(n, float(size)) for n, size in rows]
    sizes[0] = free_cells(target.shape).sum(1).astype(float)
    return Cells(
        np.repeat(np.arange(sum(n_rows)), np.repeat([size for _, size in rows], n_rows)),
        np.repeat([INITIAL, EMISSION, SWITCHING, TRANSITION], n_rows),
        np.concatenate(sizes),
        np.cumsum([0, *n_cells[:3]]),
    )


def as_counts(target: Target, counts: np.ndarray) -> Counts:
    """Counts of cells (K, n_cells) in the shapes of the tables."""
    n_positions, n_states, n_labels, _ = target.shape
    ends = np.cumsum([(n_positions + 1) * (n_states + 1), n_states * n_labels, n_positions])
    initial, emission, switching, transition = np.split(counts, ends, axis=1)
    return Counts(
        initial.reshape(-1, n_positions + 1, n_states + 1),
        np.swapaxes(emission.reshape(-1, n_states, n_labels), 1, 2),
        switching,
        transition.reshape(-1, n_positions, n_states + 1, n_states),
        np.zeros_like(switching),
    )


@kernel
def list_cells(
    links, first_cells, mode, n_states, n_labels, n_positions, first_node, last_node, states, switches, used
):
    """Fill `used` with the cells that a tree of plain links uses; how many.

    Switches are entries of `child_ids`, or -1 - l where the absent position l was chosen.
    """
    start, ids, positions = links.child_start, links.child_ids, links.child_positions
    n = 0
    for node in range(first_node, last_node):
        state = states[node]
        if links.labels[node] >= 0:
            used[n] = first_cells[1] + state * n_labels + links.labels[node]
            n += 1
        if links.leaf_positions[node] >= 0:
            used[n] = links.leaf_positions[node] * (n_states + 1) + state
            n += 1
            continue
        switch = switches[node]
        position = positions[switch] if switch >= 0 else -1 - switch
        child_state = states[ids[switch]] if switch >= 0 else n_states
        used[n] = first_cells[2] + position - 1
        used[n + 1] = first_cells[3] + ((position - 1) * (n_states + 1) + child_state) * n_states + state
        n += 2
        if mode == BOTTOM_PRIOR:
            place = start[node]
            for slot in range(1, n_positions + 1):
                if place < start[node + 1] and positions[place] == slot:
                    while place < start[node + 1] and positions[place] == slot:
                        place += 1
                else:
                    used[n] = slot * (n_states + 1) + n_states
                    n += 1
    return n


@kernel
def add_cells(cells, values, used, n_used, counts, totals):
    """Count the cells; the log probability of their uses given what was counted before, tables summed out."""
    found = 0.0
    for which in range(n_used):
        cell = used[which]
        row = cells.row[cell]
        strength = values[cells.family[row]]
        found += math.log((strength + counts[cell]) / (strength * cells.size[row] + totals[row]))
        counts[cell] += 1.0
        totals[row] += 1.0
    return found


@kernel
def remove_cells(cells, used, n_used, counts, totals):
    """Take back what `add_cells` counted."""
    for which in range(n_used):
        counts[used[which]] -= 1.0
        totals[cells.row[used[which]]] -= 1.0


@kernel
def log_mean_cells(cells, values, used, n_used, counts, totals):
    """Log probability of the cells under the mean tables given counts, which stay as they are."""
    found = 0.0
    for which in range(n_used):
        cell = used[which]
        row = cells.row[cell]
        strength = values[cells.family[row]]
        found += math.log((strength + counts[cell]) / (strength * cells.size[row] + totals[row]))
    return found


@kernel
def fill_mean_tables(cells, values, counts, totals, mode, row):
    """Mean tables given counts, in the shapes that passes over trees use."""
    n_labels, n_states = row.emission.shape
    at, cell = 0, 0
    for place in range(row.initial.shape[0]):
        below = values[INITIAL] * cells.size[at] + totals[at]
        for state in range(n_states + 1):
            is_free = state < n_states or (place > 0 and mode == BOTTOM_PRIOR)
            row.initial[place, state] = (values[INITIAL] + counts[cell]) / below if is_free else 0.0
            cell += 1
        at += 1
    for state in range(n_states):
        below = values[EMISSION] * cells.size[at] + totals[at]
        for label in range(n_labels):
            row.emission[label, state] = (values[EMISSION] + counts[cell]) / below
            cell += 1
        at += 1
    below = values[SWITCHING] * cells.size[at] + totals[at]
    for position in range(row.switching.size):
        row.switching[position] = (values[SWITCHING] + counts[cell]) / below
        cell += 1
    at += 1
    for position in range(row.switching.size):
        for other in range(n_states + 1):
            below = values[TRANSITION] * cells.size[at] + totals[at]
            for state in range(n_states):
                row.transition[position, other, state] = (values[TRANSITION] + counts[cell]) / below
                cell += 1
            at += 1
