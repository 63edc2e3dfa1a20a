"""State of a chain of tree mixtures: labels of trees, tables of components, numbers.

Components live in rows of stacked arrays; labels are numbers of rows. `order` lists the rows: first those in use, then,
while trees are assigned, a pool of auxiliary components, then free ones. Likelihoods of all trees under all rows in use
are kept, so that a component may come and go without a pass over the trees.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.mixture_target import N_VALUES, Target
from bayesgrove.models.tree_hmm.parameters import Parameters
from bayesgrove.models.tree_hmm.tables import Tables

FIRST_ROWS = 8


class Components(NamedTuple):
    """Rows of tables and what belongs to them; R rows."""

    initial: np.ndarray
    emission: np.ndarray
    switching: np.ndarray
    transition: np.ndarray
    log_scale: np.ndarray
    """The five arrays of `Tables`."""
    moments: np.ndarray
    """(R, C, D, 2): means and variances of continuous labels by state."""
    weights: np.ndarray
    """(R, C): what strengths of rows are multiplied by: weights of infinitely many states, else 1."""
    scores: np.ndarray
    """(R, n_trees): log-likelihood of every tree."""
    sizes: np.ndarray
    """int64 (R,): trees in each row's component."""
    order: np.ndarray
    """int64 (R,): rows in use first."""
    n_used: np.ndarray
    """int64 (1,)"""


@dataclass
class State:
    """Changed in place by moves."""

    labels: np.ndarray
    """int64 (n_trees,): row of each tree's component."""
    components: Components
    values: np.ndarray
    """(8,): concentration and strengths, as `Target.values`."""

    @property
    def n_clusters(self) -> int:
        """Number of components in use."""
        return int(self.components.n_used[0])


@kernel
def normal_labels(labels, n_rows, out):
    """Labels by first appearance to `out`; rows in that order."""
    number, rows, n_seen = np.full(n_rows, -1), np.empty(n_rows, np.int64), 0
    for tree in range(labels.size):
        row = labels[tree]
        if number[row] < 0:
            number[row] = n_seen
            rows[n_seen] = row
            n_seen += 1
        out[tree] = number[row]
    return rows[:n_seen]


def empty_components(target: Target, n_rows: int) -> Components:
    """Room for so many components, none in use."""
    n_positions, n_states, n_labels, _ = target.shape
    return Components(
        np.zeros((n_rows, n_positions + 1, n_states + 1)),
        np.zeros((n_rows, n_labels, n_states)),
        np.zeros((n_rows, n_positions)),
        np.zeros((n_rows, n_positions, n_states + 1, n_states)),
        np.zeros((n_rows, n_labels)),
        np.zeros((n_rows, n_states, target.points.shape[1], 2)),
        np.full((n_rows, n_states), 1.0 / n_states if target.is_infinite else 1.0),
        np.zeros((n_rows, target.n_trees)),
        np.zeros(n_rows, np.int64),
        np.arange(n_rows),
        np.zeros(1, np.int64),
    )


def grow(state: State) -> None:
    """Twice as many rows; what is in the present ones, and their order, stays."""
    old = state.components
    n_rows = old.sizes.size
    wider = [np.concatenate([part, np.zeros_like(part)]) for part in old[:-1]]
    state.components = Components._make([*wider, old.n_used])
    state.components.weights[n_rows:] = 1.0
    state.components.order[n_rows:] = np.arange(n_rows, 2 * n_rows)


def parameters_of(state: State) -> Parameters:
    """Tables and moments of the components in use, in the order of their labels' first appearance."""
    rows = normal_labels(state.labels, state.components.sizes.size, np.empty(state.labels.size, np.int64))
    *tables, moments = (part[rows] for part in state.components[:6])
    return Parameters(Tables(*tables), moments)


def weights_of(state: State) -> np.ndarray:
    """Weights of the states of the components in use, in the same order."""
    rows = normal_labels(state.labels, state.components.sizes.size, np.empty(state.labels.size, np.int64))
    return np.ascontiguousarray(state.components.weights[rows])


def new_state(
    target: Target, labels: np.ndarray, parameters: Parameters, values: np.ndarray, weights: np.ndarray | None = None
) -> State:
    """A state of labels 0, 1, ... and as many components; likelihoods are not computed yet."""
    n_used = parameters.n_components
    n_rows = FIRST_ROWS
    while n_rows < 2 * n_used:
        n_rows *= 2
    components = empty_components(target, n_rows)
    for part, given in zip(components[:6], (*parameters.tables, parameters.moments), strict=True):
        part[:n_used] = given
    if weights is not None:
        components.weights[:n_used] = weights
    components.sizes[:] = np.bincount(labels, minlength=n_rows)
    components.n_used[0] = n_used
    return State(labels.astype(np.int64), components, np.array(values, float))


def check(target: Target, state: State) -> None:
    """Raise `InvalidInputError` where a state breaks an invariant."""
    components = state.components
    in_use = components.order[: state.n_clusters]
    sizes = np.bincount(state.labels, minlength=components.sizes.size)
    if sorted(components.order.tolist()) != list(range(components.order.size)):
        raise InvalidInputError("the order of rows is no permutation of them. Build the state anew.")
    if not np.array_equal(sizes[in_use], components.sizes[in_use]) or sizes[in_use].sum() != target.n_trees:
        raise InvalidInputError(
            f"sizes of components are {components.sizes[in_use]}, their labels say {sizes[in_use]}."
        )
    if (sizes[in_use] == 0).any() or state.values.shape != (N_VALUES,) or not (state.values > 0.0).all():
        raise InvalidInputError(f"components have trees and numbers are positive, got {sizes[in_use]}, {state.values}.")
    for name, axis in (("initial", 2), ("switching", 1), ("transition", 3)):
        totals = getattr(components, name)[in_use].sum(axis)
        if not np.allclose(totals, 1.0):
            raise InvalidInputError(f"rows of {name} sum to 1, got {totals.min()} to {totals.max()}.")
