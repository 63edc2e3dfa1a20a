"""Parts of a visit to one datum, shared by all path moves: leaving, densities, choosing a component, placing."""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import borrower
from bayesgrove.models.nested.component_models import fill_scores, join_row, leave_row, open_row
from bayesgrove.models.nested.nodes import new_child, put_in, take_out
from bayesgrove.models.nested.state import N_FREE, REMAINDER, TOP
from bayesgrove.models.nested.target import GAMMA
from bayesgrove.models.nested.weights import draw_child_weights, free_slot, merge_component, open_component
from bayesgrove.stats.sampling import draw_log_categorical
from bayesgrove.stats.special import log_sum

LEAST_TOTAL = 1e-200
"""Sums of scaled weights below this may have lost terms to underflow: they are taken again in logs."""


def refuse_datum(done: int) -> None:
    """Raise where a kernel over data gave -1 - datum."""
    if done < 0:
        raise NumericalError(
            f"no path or component, old or new, is possible for row {-1 - done}: its densities are not finite. "
            "Look for extreme cells.",
            row=-1 - done,
        )


@borrower
def has_room(tree, mixture, depth, n_components):
    """Whether a visit finds the nodes and the slot it may need."""
    if tree.numbers[N_FREE] < depth:
        return False
    return n_components > 0 or free_slot(mixture.in_use) < mixture.in_use.size


@borrower
def remove_datum(law, data, tree, mixture, datum, n_components):
    """Take a datum out of its path and component, which is merged into the remainder if it is empty now.

    Gives the top of the nodes left empty, unlinked but not released, or NULL.
    """
    slot = mixture.component[datum]
    mixture.size[slot] -= 1
    leave_row(law, data, datum, mixture.rows, slot)
    if mixture.size[slot] == 0 and n_components == 0:
        merge_component(mixture, slot, tree.numbers[TOP])
    return take_out(tree, datum)


@borrower
def fill_densities(law, data, datum, values, mixture, n_components, scores, densities):
    """Log densities of a datum under all slots, and the same divided by the largest; -inf and 0 where impossible."""
    top = mixture.numbers[0]
    fill_scores(law, data, datum, values, mixture.rows, mixture.in_use, top, scores)
    if n_components > 0:
        scores[REMAINDER] = -np.inf
    highest = -np.inf
    for k in range(top):
        highest = max(highest, scores[k])
    for k in range(top):
        densities[k] = math.exp(scores[k] - highest)
    return highest


@borrower
def mixed(weight, node, densities, top):
    """Density of a datum at a node, components integrated out."""
    total = 0.0
    for k in range(top):
        total += weight[node, k] * densities[k]
    return total


@borrower
def log_mixed(log_weight, node, scores, top, scratch):
    """The same in logs."""
    for k in range(top):
        scratch[k] = log_weight[node, k] + scores[k]
    return log_sum(scratch[:top])


@borrower
def choose_component(rng, mixture, node, scores, densities, scratch):
    """Slot of a datum given the node whose weights are its own, 0 for a new component; NULL if none is possible."""
    top, weight, log_weight = mixture.numbers[0], mixture.weight, mixture.log_weight
    total = mixed(weight, node, densities, top)
    if total > LEAST_TOTAL:
        left, chosen = rng.random() * total, NULL
        for k in range(top):
            part = weight[node, k] * densities[k]
            if part > 0.0:
                chosen = k
                left -= part
                if left < 0.0:
                    break
        return chosen
    for k in range(top):
        scratch[k] = log_weight[node, k] + scores[k]
    return draw_log_categorical(rng, scratch[:top])


@borrower
def settle_component(rng, law, data, tree, mixture, values, datum, node, slot, on_path, nodes):
    """Put a datum into its component, opened first if it is new and `node` is where it was chosen; gives the slot."""
    if slot == REMAINDER:
        slot = open_component(rng, tree, mixture, values, node, on_path, nodes)
        open_row(law, rng, data, datum, values, mixture.rows, slot)
    mixture.component[datum] = slot
    mixture.size[slot] += 1
    join_row(law, data, datum, mixture.rows, slot)
    return slot


@borrower
def grow_branch(rng, tree, mixture, gamma, node, depth, counts, scratch):
    """New nodes from `node` down to a leaf, weights ~ Dir(gamma beta_parent + counts[0]); gives the leaf."""
    in_use, top, log_weight, weight = mixture.in_use, mixture.numbers[0], mixture.log_weight, mixture.weight
    while tree.level[node] < depth:
        child = new_child(tree, node)
        draw_child_weights(rng, gamma, in_use, top, log_weight, weight, child, node, counts, 0, scratch)
        node = child
    return node


@borrower
def place_datum(rng, law, data, tree, mixture, values, datum, node, slot, depth, counts, scratch, on_path, nodes):
    """Let a datum's path end in leaf `node`, or in a new branch below it; its component was chosen there.

    `counts` (1, slots) is all 0 before and after.
    """
    slot = settle_component(rng, law, data, tree, mixture, values, datum, node, slot, on_path, nodes)
    if tree.level[node] < depth:
        counts[0, slot] = 1.0
        node = grow_branch(rng, tree, mixture, values[GAMMA], node, depth, counts, scratch)
        counts[0, slot] = 0.0
    put_in(tree, datum, node)
