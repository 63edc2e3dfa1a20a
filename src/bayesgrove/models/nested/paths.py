"""Path moves without penalty: collapsed Gibbs over all paths and Metropolis with the nCRP proposal.

See docs/theory/nested-hierarchies.md, Paths.
"""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import link, list_nodes, put_in, release, unlink
from bayesgrove.models.nested.state import ROOT
from bayesgrove.models.nested.target import ALPHA, GAMMA
from bayesgrove.models.nested.visits import (
    LEAST_TOTAL,
    choose_component,
    fill_densities,
    grow_branch,
    has_room,
    log_mixed,
    mixed,
    place_datum,
    remove_datum,
    settle_component,
)
from bayesgrove.stats.sampling import draw_log_categorical

CHANGED, VISITS, N_TALLIES = 0, 1, 2
"""Places in the tallies of path moves: visits that change the tree; all visits."""


@borrower
def weigh_paths(tree, weight, densities, top, alpha, depth, prior, nodes, running):
    """Weights of all candidates in linear space, added up in `running`; gives their number.

    The walk's node is the candidate: a leaf stands for itself, an inner node for a new branch below it. Counts are
    without the datum.

    leaf: prod_l N_l / (N_{l-1} + alpha) ell(beta_leaf); branch below u: [the same down to u] alpha / (N_u + alpha)
    ell(beta_u), exact because below u every step is certain and E[beta_leaf | beta_u] = beta_u.
    """
    parent, count, level = tree.parent, tree.count, tree.level
    n_found, total = list_nodes(tree, depth, nodes), 0.0
    for i in range(n_found):
        node = nodes[i]
        here = 1.0 if node == ROOT else prior[parent[node]] * count[node]
        if level[node] < depth:
            here /= count[node] + alpha
            prior[node] = here
            here *= alpha
        density = 0.0
        for k in range(top):
            density += weight[node, k] * densities[k]
        total += here * density
        running[i] = total
    return n_found


@borrower
def weigh_paths_in_logs(tree, log_weight, scores, top, alpha, depth, prior, nodes, log_weights, scratch):
    """Log weights of the same candidates, for data that all of them find unlikely."""
    n_found = list_nodes(tree, depth, nodes)
    for i in range(n_found):
        node = nodes[i]
        here = 0.0 if node == ROOT else prior[tree.parent[node]] + math.log(tree.count[node])
        if tree.level[node] < depth:
            here -= math.log(tree.count[node] + alpha)
            prior[node] = here
            here += math.log(alpha)
        log_weights[i] = here + log_mixed(log_weight, node, scores, top, scratch)
    return n_found


@borrower
def first_above(running, n, level):
    """First place whose running sum is above a level; the last place where the sum grew if none is."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle] > level:
            high = middle
        else:
            low = middle + 1
    while low > 0 and running[low] == running[low - 1]:
        low -= 1
    return low


@borrower
def choose_path(rng, tree, mixture, values, depth, scores, densities, prior, nodes, running, scratch):
    """Node of the chosen candidate; NULL if none is possible."""
    top, alpha = mixture.numbers[0], values[ALPHA]
    n_found = weigh_paths(tree, mixture.weight, densities, top, alpha, depth, prior, nodes, running)
    total = running[n_found - 1]
    if total > LEAST_TOTAL:
        return nodes[first_above(running, n_found, rng.random() * total)]
    n_found = weigh_paths_in_logs(
        tree, mixture.log_weight, scores, top, alpha, depth, prior, nodes, running, scratch[0]
    )
    chosen = draw_log_categorical(rng, running[:n_found])
    return NULL if chosen == NULL else nodes[chosen]


@kernel
def gibbs_paths(rng, law, data, tree, mixture, values, depth, n_components, order, done, tallies):
    """Visit the data `order[done:]`; gives how many of them are done.

    Fewer than all where arrays are full: the caller makes them larger and calls again. -1 - datum where no path is
    possible for a datum.
    """
    capacity, n_slots = tree.parent.size, mixture.size.size
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty((2, n_slots))
    counts, on_path = np.zeros((1, n_slots)), np.zeros(capacity, np.bool_)
    prior, nodes, running = np.empty(capacity), np.empty(capacity, np.int64), np.empty(capacity)
    while done < order.size and has_room(tree, mixture, depth, n_components):
        datum = order[done]
        former = tree.leaf[datum]
        top = remove_datum(law, data, tree, mixture, datum, n_components)
        hung_from = NULL if top == NULL else tree.parent[top]
        release(tree, top)
        fill_densities(law, data, datum, values, mixture, n_components, scores, densities)
        node = choose_path(rng, tree, mixture, values, depth, scores, densities, prior, nodes, running, scratch)
        slot = NULL if node == NULL else choose_component(rng, mixture, node, scores, densities, scratch[0])
        if slot == NULL:
            return -1 - datum
        place_datum(rng, law, data, tree, mixture, values, datum, node, slot, depth, counts, scratch, on_path, nodes)
        tallies[CHANGED] += node != hung_from and (top != NULL or node != former)
        tallies[VISITS] += 1
        done += 1
    return done


@borrower
def draw_nested_path(rng, tree, alpha, depth):
    """Walk down from the root by the nested Chinese restaurant process; gives the last node that exists."""
    node = ROOT
    while tree.level[node] < depth:
        left = rng.random() * (tree.count[node] + alpha)
        child = tree.first_child[node]
        while child != NULL:
            left -= tree.count[child]
            if left < 0.0:
                break
            child = tree.next_sibling[child]
        if child == NULL:
            break
        node = child
    return node


@borrower
def log_density_ratio(mixture, new, old, scores, densities, scratch):
    """log ell at one node minus log ell at another."""
    top = mixture.numbers[0]
    above, below = mixed(mixture.weight, new, densities, top), mixed(mixture.weight, old, densities, top)
    if above > LEAST_TOTAL and below > LEAST_TOTAL:
        return math.log(above / below)
    log_above = log_mixed(mixture.log_weight, new, scores, top, scratch)
    return log_above - log_mixed(mixture.log_weight, old, scores, top, scratch)


@borrower
def propose_path(rng, tree, mixture, values, depth, counts, scratch):
    """A path from the nCRP with weights of new nodes from their prior; its leaf and the top new node or NULL."""
    end = draw_nested_path(rng, tree, values[ALPHA], depth)
    if tree.level[end] == depth:
        return end, NULL
    leaf = grow_branch(rng, tree, mixture, values[GAMMA], end, depth, counts, scratch)
    return leaf, tree.first_child[end]


@kernel
def metropolis_paths(rng, law, data, tree, mixture, values, depth, n_components, order, done, tallies):
    """The same visits, each with one proposal from the nCRP, accepted by the ratio of ell."""
    capacity, n_slots = tree.parent.size, mixture.size.size
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty((2, n_slots))
    counts, on_path = np.zeros((1, n_slots)), np.zeros(capacity, np.bool_)
    nodes = np.empty(capacity, np.int64)
    while done < order.size and has_room(tree, mixture, depth, n_components):
        datum = order[done]
        former = tree.leaf[datum]
        aside = remove_datum(law, data, tree, mixture, datum, n_components)
        fill_densities(law, data, datum, values, mixture, n_components, scores, densities)
        leaf, fresh = propose_path(rng, tree, mixture, values, depth, counts, scratch)
        log_ratio = log_density_ratio(mixture, leaf, former, scores, densities, scratch[0])
        if -rng.standard_exponential() < log_ratio:
            release(tree, aside)
        else:
            leaf = former
            if fresh != NULL:
                unlink(tree, fresh)
                release(tree, fresh)
            if aside != NULL:
                link(tree, aside, tree.parent[aside])
        slot = choose_component(rng, mixture, leaf, scores, densities, scratch[0])
        if slot == NULL:
            return -1 - datum
        settle_component(rng, law, data, tree, mixture, values, datum, leaf, slot, on_path, nodes)
        put_in(tree, datum, leaf)
        tallies[CHANGED] += leaf != former
        tallies[VISITS] += 1
        done += 1
    return done
