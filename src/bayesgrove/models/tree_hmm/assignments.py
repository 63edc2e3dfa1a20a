"""Assignments of trees: Neal's algorithm 8 with a pool of auxiliary components kept through the sweep."""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.component import draw_component, no_uses, row_of, score_trees
from bayesgrove.models.tree_hmm.hdp import draw_prior_weights
from bayesgrove.models.tree_hmm.mixture_target import CONCENTRATION
from bayesgrove.stats.sampling import draw_log_categorical


@kernel
def fill_from_prior(rng, target, components, values, row, nothing, beta, inner, log_likelihood):
    """Draw a row's tables from the prior and score all trees under them."""
    tables = row_of(components, row)
    if target.is_infinite:
        draw_prior_weights(rng, values, tables.weights)
    draw_component(rng, target, values, nothing, tables)
    score_trees(target.links, target.mode, tables, beta, inner, log_likelihood, components.scores[row])


@kernel
def empty_into_pool(rng, order, n_used, place, n_auxiliary):
    """The row at `place`, whose component has lost its last tree, takes the place of a random one of the pool."""
    row = order[place]
    order[place] = order[n_used - 1]
    order[n_used - 1] = row
    gone, last = n_used + rng.integers(0, n_auxiliary), n_used + n_auxiliary - 1
    dropped = order[gone]
    order[gone] = order[last]
    order[last] = dropped


@kernel
def place_of(order, row):
    """Where a row stands in the order."""
    place = 0
    while order[place] != row:
        place += 1
    return place


@kernel
def assign_trees(rng, target, components, labels, values, n_auxiliary, done):
    """Draw the component of every tree from `done` on; gives how many are done, fewer than all where rows run out.

    -1 - tree where no component is possible. A pool is drawn when `done` is 0. The pool's members are independent of
    all else and have the distribution of the prior: one that is chosen is replaced by a fresh draw, the tables of an
    emptied component replace a uniformly chosen one, and the two are each other's reverse.
    """
    sizes, order, scores, n_used = components.sizes, components.order, components.scores, components.n_used
    n_nodes, n_states = target.links.labels.size, target.n_states
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    nothing, log_weights = no_uses(target), np.empty(order.size)
    log_share = math.log(values[CONCENTRATION] / n_auxiliary)
    if done == 0:
        if n_used[0] + n_auxiliary + 1 > order.size:
            return 0  # before any random number: the draws must not depend on how much room there is
        for place in range(n_used[0], n_used[0] + n_auxiliary):
            fill_from_prior(
                rng, target, components, values, order[place], nothing, beta, inner, log_likelihood
            )  # fmt: skip
    for tree in range(done, labels.size):
        if n_used[0] + n_auxiliary + 1 > order.size:
            return tree
        own = labels[tree]
        sizes[own] -= 1
        if sizes[own] == 0:
            empty_into_pool(rng, order, n_used[0], place_of(order, own), n_auxiliary)
            n_used[0] -= 1
        n_here = n_used[0]
        for place in range(n_here):
            log_weights[place] = math.log(sizes[order[place]]) + scores[order[place], tree]
        for place in range(n_here, n_here + n_auxiliary):
            log_weights[place] = log_share + scores[order[place], tree]
        place = draw_log_categorical(rng, log_weights[: n_here + n_auxiliary])
        if place == NULL:
            return -1 - tree
        row = order[place]
        if place >= n_here:
            order[place] = order[n_here]
            order[n_here] = row
            sizes[row] = 0
            n_used[0] += 1
            fill_from_prior(
                rng, target, components, values, order[n_here + n_auxiliary], nothing, beta, inner, log_likelihood
            )  # fmt: skip
        sizes[row] += 1
        labels[tree] = row
    return labels.size
