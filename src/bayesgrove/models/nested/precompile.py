"""Compiling the kernels of a nested hierarchy side by side, as `models.nrm.precompile` does for mixtures.

A chain asks for the sweep, which has most of them, in this process, and for starts, scores and packing in another.
Later runs find them on the disk and skip this.
"""

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.core.subprocesses import Call, compile_in_two
from bayesgrove.models.nested.component_models import row_width
from bayesgrove.models.nested.log_joint import score_state
from bayesgrove.models.nested.packing import build_rows, build_tree, normal_form
from bayesgrove.models.nested.paths import N_TALLIES
from bayesgrove.models.nested.penalty import penalty_of
from bayesgrove.models.nested.penalty_moves import N_AUXILIARY
from bayesgrove.models.nested.penalty_sweeps import penalised_sweep_all
from bayesgrove.models.nested.starts import seat_paths
from bayesgrove.models.nested.state import State, empty_margins, empty_mixture, empty_tree
from bayesgrove.models.nested.sweeps import sweep_all
from bayesgrove.models.nested.target import Target


def compile_kernels(target: Target) -> None:
    """Have the kernels of the default schedule compiled, unless they are."""
    compile_in_two(calls_here, calls_elsewhere, small(target))


def small(target: Target) -> Target:
    """The same types with one row."""
    return target._replace(data=target.data[:1].copy(), margin_data=target.margin_data[:1].copy())


def calls_here(target: Target) -> list[Call]:
    """The sweep."""
    tree, mixture = empty_tree(1, 4), empty_mixture(1, 4, 4, int(row_width(target.law, target.data)))
    rng, whole = generator(0), np.zeros(N_TALLIES + 2, np.int64)
    shared = (target.law, target.data, tree, mixture)
    settings = (target.values, target.hyperpriors, target.depth, target.n_components)
    if not (target.penalty and target.strength > 0.0):
        return [(sweep_all, (rng, *shared, *settings, True, whole, whole, whole))]
    state = State(tree, mixture, empty_margins(target, 4), target.values, rng)
    margins = (state.margins.eta, penalty_of(target, state))
    return [(penalised_sweep_all, (rng, rng, *shared, *margins, *settings, N_AUXILIARY, 1, whole, whole, whole))]


def calls_elsewhere(target: Target) -> list[Call]:
    """Starts, scores, packing."""
    tree, mixture = empty_tree(1, 4), empty_mixture(1, 4, 4, int(row_width(target.law, target.data)))
    law, data, values = target.law, target.data, target.values
    return [
        (seat_paths, (generator(0), law, data, tree, mixture, values, target.depth, target.n_components, 0)),
        (score_state, (law, data, tree, mixture, values, target.hyperpriors, target.depth, target.n_components)),
        (normal_form, (tree, mixture, target.depth)),
        (build_tree, (tree, np.zeros((1, 1), np.int32), 1)),
        (build_rows, (law, data, mixture)),
    ]
