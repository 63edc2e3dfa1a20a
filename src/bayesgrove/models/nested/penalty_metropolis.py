"""Path moves with a penalty: Metropolis with the nCRP proposal."""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import link, put_in, release, unlink
from bayesgrove.models.nested.paths import CHANGED, VISITS, log_density_ratio, propose_path
from bayesgrove.models.nested.penalty import Links, gain_below, own_branch_energy, path_energy
from bayesgrove.models.nested.penalty_paths import EVALUATED, has_columns
from bayesgrove.models.nested.penalty_slice import draw_vector
from bayesgrove.models.nested.penalty_sums import count_children, most_children
from bayesgrove.models.nested.target import DISCRIMINANT_VARIANCE
from bayesgrove.models.nested.visits import (
    choose_component,
    fill_densities,
    has_room,
    remove_datum,
    settle_component,
)


@borrower
def branch_energy(penalty, tree, eta, n, leaf, top, own_only):
    """Energy of datum n on the path to a leaf, and what the top node of its branch, unlinked now, costs other data.

    `top` is NULL where the datum has no nodes of its own.
    """
    links = Links(tree.parent, tree.first_child, tree.next_sibling)
    if top == NULL:
        return path_energy(penalty, links, eta, n, leaf)
    above = tree.parent[top]
    paid = path_energy(penalty, links, eta, n, above)
    energy = own_branch_energy(penalty, links, eta, n, above, paid, eta[top])
    return energy if own_only else energy + gain_below(penalty, links, eta, tree.leaf, above, eta[top])


@borrower
def propose_penalised(rng, penalty, tree, mixture, eta, values, n, depth, own_only, counts, scratch, tallies):
    """A path from the nCRP, its top new node (unlinked, or NULL) and its energy."""
    leaf, fresh = propose_path(rng, tree, mixture, values, depth, counts, scratch)
    if fresh != NULL:
        unlink(tree, fresh)
        above, node = tree.parent[fresh], leaf
        while node != above:
            draw_vector(rng, eta, node, math.sqrt(values[DISCRIMINANT_VARIANCE]))
            node = tree.parent[node]
        tallies[EVALUATED] += 1
    return leaf, fresh, branch_energy(penalty, tree, eta, n, leaf, fresh, own_only)


@kernel
def penalised_metropolis_paths(
    rng, law, data, tree, mixture, eta, penalty, values, depth, n_components, own_only, order, done, tallies
):
    """Visit the data `order[done:]` with one proposal of the nCRP each; returns as `paths.gibbs_paths`.

    Accepted with min(1, ell' R' / (ell R)), R over all data.
    **Erratum**: the paper's ratio has the hinge of datum n only (`own_only`), but a node that appears or disappears
    changes the siblings of others; `test_golden_metropolis_hinges` has both numbers.
    """
    capacity, n_slots = tree.parent.size, mixture.size.size
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty((2, n_slots))
    counts, on_path, nodes = np.zeros((1, n_slots)), np.zeros(capacity, np.bool_), np.empty(capacity, np.int64)
    widest = most_children(tree)
    while done < order.size and has_room(tree, mixture, depth, n_components) and has_columns(penalty, widest):
        datum = order[done]
        former = tree.leaf[datum]
        aside = remove_datum(law, data, tree, mixture, datum, n_components)
        tree.leaf[datum] = NULL
        fill_densities(law, data, datum, values, mixture, n_components, scores, densities)
        before = branch_energy(penalty, tree, eta, datum, former, aside, own_only)
        leaf, fresh, after = propose_penalised(
            rng, penalty, tree, mixture, eta, values, datum, depth, own_only, counts, scratch, tallies
        )  # fmt: skip
        log_ratio = log_density_ratio(mixture, leaf, former, scores, densities, scratch[0]) + before - after
        accepted = -rng.standard_exponential() < log_ratio
        kept, dropped = (fresh, aside) if accepted else (aside, fresh)
        leaf = leaf if accepted else former
        release(tree, dropped)
        if kept != NULL:
            link(tree, kept, tree.parent[kept])
            widest = max(widest, count_children(tree, tree.parent[kept]))
        slot = choose_component(rng, mixture, leaf, scores, densities, scratch[0])
        if slot == NULL:
            return -1 - datum
        settle_component(rng, law, data, tree, mixture, values, datum, leaf, slot, on_path, nodes)
        put_in(tree, datum, leaf)
        tallies[CHANGED] += leaf != former
        tallies[VISITS] += 1
        done += 1
    return done
