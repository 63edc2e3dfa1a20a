"""One pass over all weights: tables upwards, regraft on the way, concentrations, weights downwards.

The order must not change: tables of a level are drawn given the current weights of the level above, with those of the
level itself integrated out; all weights are drawn again at the end. See docs/theory/nested-hierarchies.md, Tables
and weights.
"""

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, NOT_FINITE, OK
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.concentrations import draw_concentrations
from bayesgrove.models.nested.nodes import all_nodes
from bayesgrove.models.nested.regraft import regraft_level
from bayesgrove.models.nested.state import N_FREE, REMAINDER, ROOT
from bayesgrove.models.nested.tables import draw_node_tables, new_tables, nodes_at, seat_data
from bayesgrove.models.nested.target import ALPHA, GAMMA, GAMMA0
from bayesgrove.models.nested.weights import draw_child_weights, draw_weights
from bayesgrove.stats.special import log_gamma_table


@borrower
def draw_root_weights(rng, mixture, gamma0, tables, n_components, scratch):
    """Dir(n_01 .. n_0K, gamma0), or Dir(gamma0 / K + n_0k) for finitely many components."""
    top = mixture.numbers[0]
    for k in range(top):
        base = gamma0 / n_components if n_components > 0 else 0.0
        scratch[0, k] = base + tables.customers[ROOT, k]
    scratch[0, REMAINDER] = 0.0 if n_components > 0 else gamma0
    for k in range(top):
        scratch[1, k] = np.log(scratch[0, k])
    draw_weights(
        rng, scratch[0], scratch[1], mixture.in_use, top, mixture.log_weight, mixture.weight, ROOT
    )  # fmt: skip


@kernel
def draw_all_weights(rng, tree, mixture, values, tables, n_components):
    """Weights of all nodes given all tables, from the root down: Dir(gamma beta_parent + n_z)."""
    scratch = np.empty((2, mixture.size.size))
    draw_root_weights(rng, mixture, values[GAMMA0], tables, n_components, scratch)
    in_use, top, log_weight, weight = mixture.in_use, mixture.numbers[0], mixture.log_weight, mixture.weight
    parent, nodes = tree.parent, all_nodes(tree)
    customers, gamma = tables.customers, values[GAMMA]
    for node in nodes[1:]:
        draw_child_weights(
            rng, gamma, in_use, top, log_weight, weight, node, parent[node], customers, node, scratch
        )  # fmt: skip


@borrower
def draw_level_tables(rng, tree, mixture, gamma, tables, nodes, n_nodes):
    """Tables of the nodes of a level."""
    top, weight = mixture.numbers[0], mixture.weight
    for i in range(n_nodes):
        draw_node_tables(rng, gamma, weight, tables, nodes[i], tree.parent[nodes[i]], top)


@borrower
def has_room_to_regraft(tree):
    """Whether each node may get a new parent."""
    return 2 * tree.numbers[N_FREE] >= tree.parent.size


@kernel
def pass_over_weights(rng, tree, mixture, values, hyperpriors, depth, n_components, regrafts, tallies):
    """The whole pass without penalty; NEEDS_CAPACITY before anything is done, NOT_FINITE where a regraft has no place.

    `tallies` gets the regrafts tried and those that moved.
    """
    if regrafts and not has_room_to_regraft(tree):
        return NEEDS_CAPACITY
    capacity, n_items = tree.parent.size, tree.leaf.size
    tables, nodes = new_tables(capacity, mixture.size.size), np.empty(capacity, np.int64)
    log_gamma_n = log_gamma_table(0.0, n_items + 1)
    log_gamma_alpha = log_gamma_table(values[ALPHA], n_items + 1)
    seat_data(tree.leaf, mixture.component, tables)
    for level in range(depth, 0, -1):
        n_nodes = nodes_at(tree, level, nodes)
        draw_level_tables(rng, tree, mixture, values[GAMMA], tables, nodes, n_nodes)
        if regrafts and level >= 2 and not regraft_level(
            rng, tree, mixture, values, tables, nodes, n_nodes, log_gamma_n, log_gamma_alpha, tallies
        ):  # fmt: skip
            return NOT_FINITE
    draw_concentrations(
        rng, tree, tables, values, hyperpriors, mixture.in_use, mixture.numbers[0], depth, n_components
    )  # fmt: skip
    draw_all_weights(rng, tree, mixture, values, tables, n_components)
    return OK
