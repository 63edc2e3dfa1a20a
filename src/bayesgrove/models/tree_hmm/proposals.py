"""Density of the tables that split-merge moves propose, against their prior."""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.component import SMALLEST_CELL, bottom_numbers, gaussian_numbers
from bayesgrove.models.tree_hmm.gaussian import MEAN, VARIANCE
from bayesgrove.models.tree_hmm.hdp import log_weights_ratio
from bayesgrove.models.tree_hmm.mixture_target import EMISSION, INITIAL, SWITCHING, TRANSITION
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.stats.special import log_beta, log_sum

PRIOR_SHARE = 0.05
"""How often tables are proposed from the prior: this bounds the weights of merges."""


@kernel
def permute_uses(uses, permutation, out):
    """Counts of the same states under other numbers: state i of `out` is state permutation[i]."""
    n_states = permutation.size
    for place in range(uses.initial.shape[0]):
        for state in range(n_states):
            out.initial[place, state] = uses.initial[place, permutation[state]]
        out.initial[place, n_states] = uses.initial[place, n_states]
    for label in range(uses.emission.shape[0]):
        for state in range(n_states):
            out.emission[label, state] = uses.emission[label, permutation[state]]
    for position in range(uses.switching.size):
        out.switching[position] = uses.switching[position]
        for other in range(n_states + 1):
            source = permutation[other] if other < n_states else n_states
            for state in range(n_states):
                out.transition[position, other, state] = uses.transition[position, source, permutation[state]]


@kernel
def log_prior_ratio(target, values, kept_weights, uses, row):
    """log G0 / g of a component's tables, g being the distribution `propose_tables` draws from given counts.

    g / G0 = (1 - s) R + s with the prior's share s and R the mean, over the renumberings of the states, of the
    Dirichlet density given counts over that of the prior. In R the exponents alpha - 1 cancel: only counted cells
    matter. Weights of infinitely many states are proposed first, given the kept ones.
    """
    log_constant = log_normaliser_ratio(target, values, row.weights, uses)
    if target.is_infinite:
        log_constant += log_weights_ratio(values, kept_weights, uses, row.weights)
    log_constant += dot_log(uses.switching, row.switching)
    pairs = emission_pairs(target, values, uses, row)
    permutations = target.permutations
    log_terms = np.empty(permutations.shape[0])
    for which in range(permutations.shape[0]):
        log_terms[which] = log_permuted(target.n_states, uses, row, pairs, permutations[which])
    log_ratio = log_constant + log_sum(log_terms) - math.log(permutations.shape[0])
    top = max(log_ratio, 0.0)
    mixed = (1.0 - PRIOR_SHARE) * math.exp(log_ratio - top) + PRIOR_SHARE * math.exp(-top)
    return -top - math.log(mixed)


@kernel
def log_permuted(n_states, uses, row, pairs, permutation):
    """Sum over cells of initial states and transitions, and of all emissions, of count times log, states renumbered."""
    found = 0.0
    for state in range(n_states):
        found += pairs[state, permutation[state]]
    for place in range(uses.initial.shape[0]):
        for state in range(n_states):
            found += times_log(uses.initial[place, permutation[state]], row.initial[place, state])
        found += times_log(uses.initial[place, n_states], row.initial[place, n_states])
    for position in range(uses.switching.size):
        for other in range(n_states + 1):
            source = permutation[other] if other < n_states else n_states
            for state in range(n_states):
                found += times_log(
                    uses.transition[position, source, permutation[state]], row.transition[position, other, state]
                )
    return found


@kernel
def times_log(count, cell):
    """count log cell; 0 where nothing was counted."""
    return count * math.log(max(cell, SMALLEST_CELL)) if count > 0.0 else 0.0


@kernel
def dot_log(counts, cells):
    """Sum of counts times logs."""
    found = 0.0
    for cell in range(cells.size):
        found += times_log(counts[cell], cells[cell])
    return found


@kernel
def log_normaliser_ratio(target, values, weights, uses):
    """Log of the prior's normalisers B(alpha) over those given counts, all rows together but Gaussians."""
    found, n_states = log_row_ratio(values[SWITCHING], uses.switching), target.n_states
    bottom, leaf = bottom_numbers(target, values)
    for place in range(uses.initial.shape[0]):
        found += log_weighted_ratio(values[INITIAL], weights, uses.initial[place, :n_states])
        if place > 0 and target.mode == BOTTOM_PRIOR:
            n_leaves = 0.0
            for state in range(n_states):
                n_leaves += uses.initial[place, state]
            n_bottom = uses.initial[place, n_states]
            found += log_beta(bottom, leaf) - log_beta(bottom + n_bottom, leaf + n_leaves)
    n_children = target.n_states if target.mode == RENORM else target.n_states + 1
    for position in range(uses.switching.size):
        for other in range(n_children):
            found += log_weighted_ratio(values[TRANSITION], weights, uses.transition[position, other])
    if target.points.shape[1] == 0:
        for state in range(target.n_states):
            found += log_row_ratio(values[EMISSION], uses.emission[:, state])
    return found


@kernel
def log_row_ratio(strength, counts):
    """log B(alpha) - log B(alpha + counts) of one row."""
    total, found, alone = 0.0, 0.0, math.lgamma(strength)
    for count in counts:
        if count > 0.0:
            total += count
            found -= math.lgamma(strength + count) - alone
    if total > 0.0:
        size = counts.size * strength
        found += math.lgamma(size + total) - math.lgamma(size)
    return found


@kernel
def log_weighted_ratio(strength, weights, counts):
    """The same of a row with concentrations strength times weights."""
    total, size, found = 0.0, 0.0, 0.0
    for cell in range(counts.size):
        alone = strength * weights[cell]
        size += alone
        if counts[cell] > 0.0:
            total += counts[cell]
            found -= math.lgamma(alone + counts[cell]) - math.lgamma(alone)
    if total > 0.0:
        found += math.lgamma(size + total) - math.lgamma(size)
    return found


@kernel
def emission_pairs(target, values, uses, row):
    """For each state of the tables and each state of the counts, the log ratio of densities of the emissions (C, C)."""
    n_states = target.n_states
    pairs = np.zeros((n_states, n_states))
    if target.points.shape[1] > 0:
        fill_gaussian_pairs(target, uses, row, pairs)
        return pairs
    for label in range(uses.emission.shape[0]):
        for state in range(n_states):
            log_cell = math.log(max(row.emission[label, state], SMALLEST_CELL))
            for counted in range(n_states):
                pairs[state, counted] += uses.emission[label, counted] * log_cell
    return pairs


@kernel
def fill_gaussian_pairs(target, uses, row, pairs):
    """The same of normal-gamma densities of means and precisions."""
    numbers, prior = gaussian_numbers(target.points, target.gaussian, uses.emission), target.gaussian
    for state in range(pairs.shape[0]):
        for counted in range(pairs.shape[0]):
            for column in range(prior.shape[1]):
                mean, precision = row.moments[state, column, MEAN], 1.0 / row.moments[state, column, VARIANCE]
                pairs[state, counted] += log_normal_gamma(
                    mean, precision, numbers[0, counted, column], numbers[1, counted, column],
                    numbers[2, counted, column], numbers[3, counted, column],
                )  # fmt: skip
                pairs[state, counted] -= log_normal_gamma(
                    mean, precision, prior[0, column], prior[1, column], prior[2, column], prior[3, column]
                )


@kernel
def log_normal_gamma(mean, precision, centre, strength, shape, rate):
    """Log density of a mean and a precision, without the constant of the normal distribution."""
    distance = mean - centre
    normal = 0.5 * (math.log(strength) - strength * precision * distance * distance)
    return normal + shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(precision) - rate * precision
