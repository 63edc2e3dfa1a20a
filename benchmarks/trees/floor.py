"""What any exact E-step must compute: n C^2 multiply-adds and a logarithm a node upward, 2 n C^2 downward."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.tables import Tables


class Room(NamedTuple):
    """Arrays that the floor writes to."""

    beta: np.ndarray
    inner: np.ndarray
    expected: np.ndarray
    n_emission: np.ndarray
    n_transition: np.ndarray


@numba.njit(error_model="numpy")
def go_up(labels, leaves, start, ids, positions, first, emission, weighted, beta, inner):
    """Products with the rows of present children, times the label's probabilities, normalised."""
    n_states, log_likelihood = beta.shape[1], 0.0
    for node in range(labels.size):
        row = inner[node]
        if leaves[node] >= 0:
            for state in range(n_states):
                row[state] = first[leaves[node], state]
        else:
            for state in range(n_states):
                row[state] = 0.0
        for place in range(start[node], start[node + 1]):
            child, position = ids[place], positions[place] - 1
            for other in range(n_states):
                factor = beta[child, other]
                for state in range(n_states):
                    row[state] += factor * weighted[position, other, state]
        total = 0.0
        for state in range(n_states):
            beta[node, state] = row[state] * emission[labels[node], state]
            total += beta[node, state]
        scale = 1.0 / total
        for state in range(n_states):
            beta[node, state] *= scale
        log_likelihood += math.log(total)
    return log_likelihood


@numba.njit(error_model="numpy")
def go_down(labels, start, ids, positions, weighted, beta, inner, expected, n_emission, n_transition):
    """Posterior of each child given its parent's, and what transitions and labels were used."""
    n_states = beta.shape[1]
    ratio = np.empty(n_states)
    for node in range(labels.size - 1, -1, -1):
        for state in range(n_states):
            n_emission[labels[node], state] += expected[node, state]
            ratio[state] = expected[node, state] / inner[node, state]
        for place in range(start[node], start[node + 1]):
            child, position = ids[place], positions[place] - 1
            for other in range(n_states):
                total, factor = 0.0, beta[child, other]
                for state in range(n_states):
                    used = ratio[state] * weighted[position, other, state] * factor
                    n_transition[position, other, state] += used
                    total += used
                expected[child, other] += total


def make_floor(links: Links, tables: Tables) -> Callable[[], float]:
    """A function that does this arithmetic over the same nodes in the same order; it gives a log-likelihood.

    Absent children, unchosen children, shared positions and unknown labels are left out.
    """
    n_nodes, n_states = links.labels.size, tables.n_states
    weighted = tables.switching[0][:, None, None] * tables.transition[0]
    labels = np.maximum(links.labels, 0)
    shapes = [(n_nodes, n_states)] * 3 + [tables.emission[0].shape, weighted.shape]
    room = Room(*(np.zeros(shape) for shape in shapes))
    shared = links.child_start, links.child_ids, links.child_positions

    def work() -> Any:
        found = go_up(
            labels,
            links.leaf_positions,
            *shared,
            tables.initial[0],
            tables.emission[0],
            weighted,
            room.beta,
            room.inner,
        )
        room.expected[:] = 0.0
        room.expected[links.roots] = room.beta[links.roots]
        go_down(labels, *shared, weighted, *room)
        return found

    return work


def multiply_adds(n_nodes: int, n_states: int) -> float:
    """n C^2 + 2 n C upward, 2 n C^2 downward (docs/theory/tree-mixtures.md, Cost of a pass)."""
    return 3.0 * n_nodes * n_states**2 + 2.0 * n_nodes * n_states
