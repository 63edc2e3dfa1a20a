"""First states: data walk down the tree one after the other by the nCRP, their components drawn at once."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.component_models import draw_rows, row_width
from bayesgrove.models.nested.nodes import put_in
from bayesgrove.models.nested.paths import propose_path
from bayesgrove.models.nested.penalty_moves import start_margins
from bayesgrove.models.nested.state import State, empty_margins, empty_mixture, empty_tree, make_room
from bayesgrove.models.nested.tables import new_tables
from bayesgrove.models.nested.target import GAMMA0, Target
from bayesgrove.models.nested.visits import choose_component, fill_densities, has_room, refuse_datum, settle_component
from bayesgrove.models.nested.weights_pass import draw_root_weights

FIRST_NODES, FIRST_SLOTS = 64, 16


@kernel
def open_all(rng, law, data, mixture, values, n_components):
    """The components of the finite variant, from their prior."""
    for k in range(1, n_components + 1):
        mixture.in_use[k] = True
    mixture.numbers[0] = n_components + 1
    draw_root_weights(
        rng, mixture, values[GAMMA0], new_tables(1, n_components + 1), n_components, np.empty((2, n_components + 1))
    )
    draw_rows(
        law, rng, data, values, np.empty(0, np.int64), mixture.size, mixture.in_use, n_components + 1, mixture.rows
    )


@kernel
def seat_paths(rng, law, data, tree, mixture, values, depth, n_components, done):
    """Paths and components of the data from `done` on; gives how many have theirs, -1 - datum on failure."""
    capacity, n_slots = tree.parent.size, mixture.size.size
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty((2, n_slots))
    counts, on_path = np.zeros((1, n_slots)), np.zeros(capacity, np.bool_)
    nodes = np.empty(capacity, np.int64)
    while done < data.shape[0] and has_room(tree, mixture, depth, n_components):
        leaf, _ = propose_path(rng, tree, mixture, values, depth, counts, scratch)
        fill_densities(law, data, done, values, mixture, n_components, scores, densities)
        slot = choose_component(rng, mixture, leaf, scores, densities, scratch[0])
        if slot == NULL:
            return -1 - done
        settle_component(rng, law, data, tree, mixture, values, done, leaf, slot, on_path, nodes)
        put_in(tree, done, leaf)
        done += 1
    return done


def first_state(rng: np.random.Generator, target: Target) -> State:
    """A state from the prior of the paths, components drawn given the data before each datum."""
    n_items = target.data.shape[0]
    n_slots = max(FIRST_SLOTS, target.n_components + 1)
    state = State(
        empty_tree(n_items, FIRST_NODES),
        empty_mixture(n_items, FIRST_NODES, n_slots, int(row_width(target.law, target.data))),
        empty_margins(target, FIRST_NODES),
        target.values.copy(),
        generator(int(rng.integers(2**63))),
    )
    if target.n_components:
        open_all(rng, target.law, target.data, state.mixture, state.values, target.n_components)
    done = 0
    while True:
        done = seat_paths(
            rng, target.law, target.data, state.tree, state.mixture, state.values, target.depth, target.n_components,
            done,
        )  # fmt: skip
        if done == n_items:
            start_margins(target, state)
            return state
        refuse_datum(done)
        make_room(state, target.depth)
