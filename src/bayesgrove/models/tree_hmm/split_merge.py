"""Split-merge moves that keep the tables of one side; states and switches are summed out.

Ratios and launches: docs/theory/tree-mixtures.md, Split-merge moves.
"""

import math

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, OK
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.assignments import place_of
from bayesgrove.models.tree_hmm.component import (
    clear,
    draw_component,
    expect_component,
    new_row,
    no_uses,
    row_of,
    score_trees,
)
from bayesgrove.models.tree_hmm.downward import go_downward
from bayesgrove.models.tree_hmm.hdp import propose_weights
from bayesgrove.models.tree_hmm.links import part_of_links
from bayesgrove.models.tree_hmm.mixture_target import CONCENTRATION
from bayesgrove.models.tree_hmm.proposals import (
    PRIOR_SHARE,
    log_prior_ratio,
    permute_uses,
)
from bayesgrove.stats.special import softplus

N_LAUNCH_STEPS = 15
FIRST_TEMPERATURE = 8.0
ANCHOR_WEIGHT = 0.999
LAUNCH_STRENGTH = 1.0
"""Of the random tables that some launches begin with."""
KEPT_SHARE = 0.75
"""How often the launch begins with the kept tables instead: hidden states that are in use already let a group stand out
at once. On the synthetic set 63 of 90 such launches led to an accepted split, of random ones 16 and fewer."""
SPLITS, SPLITS_ACCEPTED, MERGES, MERGES_ACCEPTED = range(4)
TALLY_NAMES = ("splits", "splits_accepted", "merges", "merges_accepted")


@kernel
def count_weighted(links, mode, row, weights, beta, inner, expected, uses):
    """Expected uses of the cells by the trees, weighted, after the upward pass; clears what was counted before."""
    clear(uses)
    for node in range(expected.shape[0]):
        for state in range(expected.shape[1]):
            expected[node, state] = 0.0
    for tree in range(weights.size):
        root = links.roots[tree]
        for state in range(expected.shape[1]):
            expected[root, state] += weights[tree] * beta[root, state]
    go_downward(
        links, row.switching, row.transition, mode, beta, inner, expected,
        uses.initial, uses.emission, uses.switching, uses.transition, uses.present,
    )  # fmt: skip


@kernel
def first_weights(rng, members, anchor, weights):
    """Trees that the launch begins with: the anchor alone, or it and a random half of all."""
    is_alone = rng.random() < 0.5
    for place in range(members.size):
        weights[place] = 0.0
        if members[place] == anchor or (not is_alone and rng.random() < 0.5):
            weights[place] = 1.0


@kernel
def launch(rng, target, values, kept, kept_scores, members, anchor, uses):
    """Expected uses of the tables of the component that might leave the kept one, and its share of the trees.

    It depends on the members, the kept tables, the anchor and fresh random numbers only, never on how the members are
    divided now: the reverse move launches with the same distribution. Passes go over the members alone.
    """
    links, mode = part_of_links(target.links, members), target.mode
    n_nodes, n_states, n_members = links.labels.size, target.n_states, members.size
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    expected, scores, weights = np.empty((n_nodes, n_states)), np.empty(n_members), np.empty(n_members)
    row = new_row(target)
    first_weights(rng, members, anchor, weights)
    begin = kept
    if rng.random() >= KEPT_SHARE:
        begin = row
        draw_component(rng, target, np.full(values.size, LAUNCH_STRENGTH), uses, row)  # nothing was counted yet
    score_trees(links, mode, begin, beta, inner, log_likelihood, scores)
    count_weighted(links, mode, begin, weights, beta, inner, expected, uses)
    n_leaving = 0.0
    for weight in weights:
        n_leaving += weight
    temperature = FIRST_TEMPERATURE
    for _ in range(N_LAUNCH_STEPS):
        expect_component(target, values, kept.weights, uses, row)
        score_trees(links, mode, row, beta, inner, log_likelihood, scores)
        log_odds = math.log((n_leaving + 0.5) / (n_members - n_leaving + 0.5))
        n_leaving = 0.0
        for place in range(n_members):
            gain = scores[place] - kept_scores[members[place]]
            weights[place] = leaving_weight((gain + log_odds) / temperature)
            if members[place] == anchor:
                weights[place] = max(weights[place], ANCHOR_WEIGHT)
            n_leaving += weights[place]
        count_weighted(links, mode, row, weights, beta, inner, expected, uses)
        temperature = max(0.5 * temperature, 1.0)
    return (n_leaving + 0.5) / (n_members + 1.0)


@kernel
def leaving_weight(x):
    """1 / (1 + exp(-x)), 0 where it is not a number: trees impossible on both sides stay."""
    if x > 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    if x <= 0.0:
        return math.exp(x) / (1.0 + math.exp(x))
    return 0.0


@kernel
def log_split_ratio(values, log_density_ratio, log_odds, kept, leaving, members, is_leaving, first, anchor):
    """Log ratio of posterior and proposals of a split into what stays and what leaves.

    log_density_ratio is log G0 / g of the leaving side's tables; kept and leaving are log-likelihoods of all trees.
    """
    n_leaving, total = 0, 0.0
    for place in range(members.size):
        tree = members[place]
        gain = leaving[tree] - kept[tree]
        if is_leaving[place]:
            n_leaving += 1
            total += gain
            if tree != anchor:
                total += softplus(-(gain + log_odds))
        elif tree != first:
            total += softplus(gain + log_odds)
    n_kept = members.size - n_leaving
    log_sizes = math.lgamma(n_kept) + math.lgamma(n_leaving) - math.lgamma(members.size)
    return total + math.log(values[CONCENTRATION]) + log_sizes + log_density_ratio


@kernel
def propose_tables(rng, target, values, kept_weights, uses, permuted, row):
    """Tables of the leaving side: given the launch's counts, states renumbered at random, or from the prior."""
    clear(permuted)
    if rng.random() >= PRIOR_SHARE:
        which = rng.integers(0, target.permutations.shape[0])
        permute_uses(uses, target.permutations[which], permuted)
    if target.is_infinite:
        propose_weights(rng, values, kept_weights, permuted, row.weights)
    draw_component(rng, target, values, permuted, row)


@kernel
def divide(rng, members, kept, leaving, log_odds, first, anchor, is_leaving):
    """Draw which members leave."""
    for place in range(members.size):
        tree = members[place]
        if tree in (first, anchor):
            is_leaving[place] = tree == anchor
        else:
            is_leaving[place] = rng.random() < leaving_weight(leaving[tree] - kept[tree] + log_odds)


@kernel
def split_or_merge(rng, target, components, labels, values, tallies):
    """One move; NEEDS_CAPACITY, before any random number, where a split would find no free row."""
    n_trees, order, n_used = labels.size, components.order, components.n_used
    if n_used[0] + 1 > order.size:
        return NEEDS_CAPACITY
    first, anchor = rng.integers(0, n_trees), rng.integers(0, n_trees - 1)
    anchor += anchor >= first
    a, b = labels[first], labels[anchor]
    is_split = a == b
    members = members_of(labels, a, b)
    uses, permuted = no_uses(target), no_uses(target)
    share = launch(rng, target, values, row_of(components, a), components.scores[a], members, anchor, uses)
    log_odds = math.log(share / (1.0 - share))
    is_leaving, kept = np.empty(members.size, np.bool_), components.scores[a]
    if is_split:
        b = order[n_used[0]]
        tables, n_nodes = row_of(components, b), target.links.labels.size
        propose_tables(rng, target, values, components.weights[a], uses, permuted, tables)
        beta, inner = np.empty((n_nodes, target.n_states)), np.empty((n_nodes, target.n_states))
        score_trees(target.links, target.mode, tables, beta, inner, np.empty(n_nodes), components.scores[b])
        divide(rng, members, kept, components.scores[b], log_odds, first, anchor, is_leaving)
    else:
        for place in range(members.size):
            is_leaving[place] = labels[members[place]] == b
    log_density_ratio = log_prior_ratio(target, values, components.weights[a], uses, row_of(components, b))
    log_ratio = log_split_ratio(
        values, log_density_ratio, log_odds, kept, components.scores[b], members, is_leaving, first, anchor
    )
    tallies[SPLITS if is_split else MERGES] += 1
    if not (-rng.standard_exponential() < (log_ratio if is_split else -log_ratio)):
        return OK
    if is_split:
        take_split(components, labels, members, is_leaving, a, b)
        tallies[SPLITS_ACCEPTED] += 1
    else:
        take_merge(components, labels, members, a, b)
        tallies[MERGES_ACCEPTED] += 1
    return OK


@kernel
def members_of(labels, a, b):
    """Trees of one component or two, ascending."""
    n_members = 0
    for label in labels:
        n_members += label in (a, b)
    members, place = np.empty(n_members, np.int64), 0
    for tree in range(labels.size):
        if labels[tree] in (a, b):
            members[place] = tree
            place += 1
    return members


@kernel
def take_split(components, labels, members, is_leaving, a, b):
    """Put the leaving members into row b, the first of the free ones."""
    n_leaving = 0
    for place in range(members.size):
        if is_leaving[place]:
            labels[members[place]] = b
            n_leaving += 1
    components.sizes[a] -= n_leaving
    components.sizes[b] = n_leaving
    components.n_used[0] += 1


@kernel
def take_merge(components, labels, members, a, b):
    """Put all members into row a; row b becomes free."""
    for tree in members:
        labels[tree] = a
    components.sizes[a], components.sizes[b] = members.size, 0
    order, last = components.order, components.n_used[0] - 1
    place = place_of(order, b)
    order[place] = order[last]
    order[last] = b
    components.n_used[0] = last


@kernel
def split_merge_moves(rng, target, components, labels, values, n_moves, tallies):
    """Several moves; gives how many were made, fewer than asked for where rows run out."""
    for move in range(n_moves):
        if split_or_merge(rng, target, components, labels, values, tallies) == NEEDS_CAPACITY:
            return move
    return n_moves
