"""New trees from one component: which places are filled, hidden states from the leaves up, labels.

The model is a distribution of labels, and of which places on the frontier are filled, given the skeleton of internal
nodes. It says nothing about skeletons, so they are given: those of trees at hand.
"""

from dataclasses import replace

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.gaussian import MEAN, VARIANCE
from bayesgrove.models.tree_hmm.parameters import Parameters
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.trees import forest_shapes
from bayesgrove.trees.forest import Forest


def skeletons(forest: Forest, mode: int) -> Forest:
    """What is kept of trees to draw new ones on: internal nodes, and leaves where they are no part of the distribution.

    Leaves are part of it in the mode "bottom_prior", unless siblings share a position: the distribution is then given
    how many.
    """
    blank = replace(forest, labels=np.full(forest.n_nodes, NULL, np.int32), n_labels=0, values=None)
    if mode != BOTTOM_PRIOR:
        return blank
    is_root = forest.parents == NULL
    return blank.without(~(forest.internal | is_root | _is_shared(forest)))


def _is_shared(forest: Forest) -> np.ndarray:
    """Whether a node has a sibling at its position."""
    shared = np.zeros(forest.n_nodes, bool)
    shared[forest.children] = forest.child_shares < 1.0
    return shared


def draw_trees(rng: np.random.Generator, skeleton: Forest, parameters: Parameters, component: int, mode: int) -> Forest:
    """A tree for each skeleton, all from one component."""
    tables, k = parameters.tables, component
    grown = grow_leaves(rng, skeleton, tables.initial[k]) if mode == BOTTOM_PRIOR else skeleton
    states = draw_hidden(rng, grown, tables.initial[k], tables.switching[k], tables.transition[k], mode)
    if parameters.moments.shape[2]:
        moments = parameters.moments[k][states]
        values = moments[..., MEAN] + np.sqrt(moments[..., VARIANCE]) * rng.standard_normal(moments.shape[:2])
        return replace(grown, values=values)
    labels = draw_rows(rng, np.ascontiguousarray(tables.emission[k].T), states)
    return grown.with_labels(labels.astype(np.int32), tables.emission.shape[1])


def grow_leaves(rng: np.random.Generator, skeleton: Forest, initial: np.ndarray) -> Forest:
    """Leaves at the open places of internal nodes, each with the probability of its position not to be empty."""
    inner = np.flatnonzero(skeleton.internal)
    n_positions = initial.shape[0] - 1
    is_open = np.ones((inner.size, n_positions), bool)
    below = np.flatnonzero(skeleton.parents != NULL)
    place = np.searchsorted(inner, skeleton.parents[below])
    is_open[place, skeleton.positions[below] - 1] = False
    is_filled = is_open & (rng.random(is_open.shape) >= initial[1:, -1])
    owner, position = np.nonzero(is_filled)
    return _with_leaves(skeleton, inner[owner], position + 1)


def _with_leaves(forest: Forest, owners: np.ndarray, positions: np.ndarray) -> Forest:
    """More leaves below some nodes, all in preorder."""
    parents = np.concatenate([forest.parents, owners]).astype(np.int32)
    places = np.concatenate([forest.positions, positions]).astype(np.int32)
    start, children = forest_shapes.child_lists(parents, np.argsort(places, kind="stable"))
    order = forest_shapes.preorder(parents, start, children)
    new_index = np.empty(order.size, np.int32)
    new_index[order] = np.arange(order.size)
    sizes = forest.sizes + np.bincount(_tree_of(forest, owners), minlength=forest.n_trees)
    old_parents = parents[order]
    return replace(
        forest,
        labels=np.full(order.size, NULL, np.int32),
        parents=np.where(old_parents == NULL, NULL, new_index[old_parents]),
        positions=places[order],
        internal=np.concatenate([forest.internal, np.zeros(owners.size, bool)])[order],
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
    )


def _tree_of(forest: Forest, nodes: np.ndarray) -> np.ndarray:
    return np.searchsorted(forest.offsets, nodes, side="right") - 1


def draw_hidden(
    rng: np.random.Generator,
    forest: Forest,
    initial: np.ndarray,
    switching: np.ndarray,
    transition: np.ndarray,
    mode: int,
) -> np.ndarray:
    """Hidden states of all nodes: leaves by their positions, the others by the child they look at."""
    real = initial[:, :-1]
    rows = real / np.maximum(real.sum(axis=1, keepdims=True), 1e-300)
    states = draw_rows(rng, rows, forest.positions)
    chances = rng.random((2, forest.n_nodes))
    climb(
        forest.internal, forest.child_start, forest.children, forest.positions, switching, transition, mode == RENORM,
        chances, states,
    )  # fmt: skip
    return states


def draw_rows(rng: np.random.Generator, rows: np.ndarray, which: np.ndarray) -> np.ndarray:
    """For each entry of `which` a column drawn from that row of probabilities: int64."""
    steps = np.cumsum(rows, axis=1)
    drawn = np.empty(which.size, np.int64)
    chances = rng.random(which.size)
    for row in np.unique(which).tolist():
        own = which == row
        found = np.searchsorted(steps[row], chances[own] * steps[row, -1], side="right")
        drawn[own] = np.minimum(found, rows.shape[1] - 1)
    return drawn


@kernel
def climb(internal, child_start, children, positions, switching, transition, is_renormalised, chances, states):
    """Replace the states of internal nodes, children before parents; `chances` are two uniform numbers per node."""
    n_positions, n_states = switching.size, transition.shape[2]
    for node in range(internal.size - 1, -1, -1):
        if not internal[node]:
            continue
        first, last = child_start[node], child_start[node + 1]
        total = 0.0
        for position in range(1, n_positions + 1):
            if not is_renormalised or has_child(positions, children, first, last, position):
                total += switching[position - 1]
        left, chosen = chances[0, node] * total, -1
        for position in range(1, n_positions + 1):
            if is_renormalised and not has_child(positions, children, first, last, position):
                continue
            if switching[position - 1] > 0.0:
                chosen = position
                left -= switching[position - 1]
                if left < 0.0:
                    break
        share = 0.0 if switching[chosen - 1] <= 0.0 else min(max(1.0 + left / switching[chosen - 1], 0.0), 1.0)
        below = looked_at(positions, children, first, last, chosen, share)
        state = n_states if below < 0 else states[below]
        left, drawn = chances[1, node], 0
        for own in range(n_states):
            if transition[chosen - 1, state, own] > 0.0:
                drawn = own
                left -= transition[chosen - 1, state, own]
                if left < 0.0:
                    break
        states[node] = drawn


@kernel
def has_child(positions, children, first, last, position):
    """Whether one of the children stands at a position."""
    return looked_at(positions, children, first, last, position, 0.0) >= 0


@kernel
def looked_at(positions, children, first, last, position, share):
    """The child at a position, one of several by a uniform share; -1 where there is none."""
    n_there = 0
    for place in range(first, last):
        if positions[children[place]] == position:
            n_there += 1
    wanted = min(int(share * n_there), n_there - 1)
    for place in range(first, last):
        if positions[children[place]] == position:
            if wanted == 0:
                return children[place]
            wanted -= 1
    return -1
