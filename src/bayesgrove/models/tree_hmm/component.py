"""One component inside kernels: its tables, counts of their uses, draws and expectations of the one given the other.

Discrete labels have an emission table; continuous ones have Gaussians, whose densities of the different values stand in
its place. Which it is shows in the points: they have no columns where labels are codes.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.gaussian import MEAN, VARIANCE, weighted_moments
from bayesgrove.models.tree_hmm.mixture_target import EMISSION, EMPTY, FILLED, INITIAL, SWITCHING, TRANSITION
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.models.tree_hmm.upward import go_upward, present_switching
from bayesgrove.stats.sampling import draw_log_gamma
from bayesgrove.stats.special import LOG_2PI, digamma, log_sum

DIRECT_STRENGTH = 0.1
"""Gamma variates of smaller shapes may underflow: their logarithms are drawn instead."""
SMALLEST_CELL = 1e-300


class Row(NamedTuple):
    """Tables of one component."""

    initial: np.ndarray
    emission: np.ndarray
    switching: np.ndarray
    transition: np.ndarray
    log_scale: np.ndarray
    moments: np.ndarray
    weights: np.ndarray


class Uses(NamedTuple):
    """How often the cells of one component's tables were used."""

    initial: np.ndarray
    emission: np.ndarray
    switching: np.ndarray
    transition: np.ndarray
    present: np.ndarray


@kernel
def row_of(components, row):
    """Views of one component's tables."""
    return Row(
        components.initial[row],
        components.emission[row],
        components.switching[row],
        components.transition[row],
        components.log_scale[row],
        components.moments[row],
        components.weights[row],
    )


@kernel
def new_row(target):
    """Room for the tables of one component."""
    n_positions, n_states, n_labels = target.n_positions, target.n_states, target.n_labels
    return Row(
        np.zeros((n_positions + 1, n_states + 1)),
        np.zeros((n_labels, n_states)),
        np.zeros(n_positions),
        np.zeros((n_positions, n_states + 1, n_states)),
        np.zeros(n_labels),
        np.zeros((n_states, target.points.shape[1], 2)),
        np.full(n_states, 1.0 / n_states if target.is_infinite else 1.0),
    )


@kernel
def no_uses(target):
    """Counts of nothing."""
    n_positions, n_states, n_labels = target.n_positions, target.n_states, target.n_labels
    return Uses(
        np.zeros((n_positions + 1, n_states + 1)),
        np.zeros((n_labels, n_states)),
        np.zeros(n_positions),
        np.zeros((n_positions, n_states + 1, n_states)),
        np.zeros(n_positions),
    )


@kernel
def clear(uses):
    """Set all counts to 0."""
    for part in (uses.initial, uses.emission):
        for first in range(part.shape[0]):
            for second in range(part.shape[1]):
                part[first, second] = 0.0
    for position in range(uses.switching.size):
        uses.switching[position] = 0.0
        uses.present[position] = 0.0
        for other in range(uses.transition.shape[1]):
            for state in range(uses.transition.shape[2]):
                uses.transition[position, other, state] = 0.0


@kernel
def bottom_numbers(target, values):
    """Both parameters of the Beta distribution of an empty slot: of Dirichlet rows, or infinitely many states."""
    if target.is_infinite:
        return values[EMPTY], values[FILLED]
    return values[INITIAL], target.n_states * values[INITIAL]


# Draws


@kernel
def draw_component(rng, target, values, uses, out):
    """Tables given counts of their uses and the weights of the states; from the prior where nothing was counted."""
    n_states = target.n_states
    for place in range(out.initial.shape[0]):
        draw_weighted_row(rng, values[INITIAL], out.weights, uses.initial[place], out.initial[place, :n_states])
        out.initial[place, n_states] = 0.0
        if place > 0 and target.mode == BOTTOM_PRIOR:
            draw_bottom(rng, target, values, uses.initial[place], out.initial[place])
    if target.mode == RENORM:
        draw_renormalised(rng, values[SWITCHING], uses.switching, uses.present, out.switching)
    else:
        draw_row(rng, values[SWITCHING], uses.switching, out.switching)
    for position in range(out.switching.size):
        for other in range(n_states + 1):
            draw_weighted_row(
                rng, values[TRANSITION], out.weights, uses.transition[position, other], out.transition[position, other]
            )
    if target.points.shape[1] > 0:
        draw_gaussians(rng, target.points, target.gaussian, uses.emission, out.moments)
        fill_densities(target.points, out.moments, out.emission, out.log_scale)
    else:
        for state in range(n_states):
            draw_row(rng, values[EMISSION], uses.emission[:, state], out.emission[:, state])


@kernel
def draw_row(rng, strength, counts, out):
    """A Dirichlet draw with concentrations strength + counts."""
    total = 0.0
    if strength >= DIRECT_STRENGTH:
        for cell in range(out.size):
            out[cell] = rng.standard_gamma(strength + counts[cell])
            total += out[cell]
    else:
        for cell in range(out.size):
            out[cell] = draw_log_gamma(rng, strength + counts[cell])
        top = log_sum(out)
        for cell in range(out.size):
            out[cell] = math.exp(out[cell] - top)
            total += out[cell]
    for cell in range(out.size):
        out[cell] /= total


@kernel
def draw_weighted_row(rng, strength, weights, counts, out):
    """A Dirichlet draw with concentrations strength times weights + counts."""
    for cell in range(out.size):
        out[cell] = draw_log_gamma(rng, strength * weights[cell] + counts[cell])
    top, total = log_sum(out), 0.0
    for cell in range(out.size):
        out[cell] = math.exp(out[cell] - top)
        total += out[cell]
    for cell in range(out.size):
        out[cell] /= total


@kernel
def draw_bottom(rng, target, values, counts, out):
    """Draw the probability of an empty slot, let the states share the rest: a Dirichlet row falls apart like this."""
    n_states, n_leaves = target.n_states, 0.0
    for state in range(n_states):
        n_leaves += counts[state]
    bottom, leaf = bottom_numbers(target, values)
    log_bottom, log_leaf = draw_log_gamma(rng, bottom + counts[n_states]), draw_log_gamma(rng, leaf + n_leaves)
    share = 1.0 / (1.0 + math.exp(log_leaf - log_bottom))
    for state in range(n_states):
        out[state] *= 1.0 - share
    out[n_states] = share


@kernel
def draw_renormalised(rng, strength, counts, present, switching):
    """Switching weights where each node renormalises them over its children.

    Weights are lambda_l / sum, lambda_l ~ Gamma(strength). The sum does not touch the data and is drawn anew; waiting
    times z_u of rate Phi_u, whose sums by position stand in `present`, make lambda_l conjugate. Without nodes it is a
    draw from the prior.
    """
    n_positions = switching.size
    total = math.exp(draw_log_gamma(rng, n_positions * strength))
    for position in range(n_positions):
        log_rate = math.log1p(present[position] / total)
        switching[position] = draw_log_gamma(rng, strength + counts[position]) - log_rate
    top, total = log_sum(switching), 0.0
    for position in range(n_positions):
        switching[position] = math.exp(switching[position] - top)
        total += switching[position]
    for position in range(n_positions):
        switching[position] /= total


@kernel
def draw_waits(rng, links, switching, drawn, present):
    """Add waiting times of all nodes in the trees drawn to the positions at which they have children."""
    start, positions = links.child_start, links.child_positions
    for node in range(drawn.shape[0]):
        mass = 0
        for state in range(drawn.shape[1]):
            mass += drawn[node, state]
        if mass == 0 or links.leaf_positions[node] >= 0:
            continue
        first, last = start[node], start[node + 1]
        wait = rng.standard_gamma(float(mass)) / present_switching(positions, first, last, switching)
        previous = 0
        for place in range(first, last):
            if positions[place] != previous:
                previous = positions[place]
                present[previous - 1] += wait


@kernel
def gaussian_numbers(points, prior, counts):
    """Mean, strength, shape and rate of the normal-gamma posterior: (4, C, D)."""
    n, centre, spread = weighted_moments(counts.reshape((1, counts.shape[0], counts.shape[1])), points)
    found = np.empty((4, n.shape[1], n.shape[2]))
    for state in range(n.shape[1]):
        for column in range(n.shape[2]):
            mean, strength, weight = prior[0, column], prior[1, column], n[0, state, column]
            distance = centre[0, state, column] - mean
            found[0, state, column] = (strength * mean + weight * centre[0, state, column]) / (strength + weight)
            found[1, state, column] = strength + weight
            found[2, state, column] = prior[2, column] + 0.5 * weight
            shrink = weight * strength / (strength + weight)
            found[3, state, column] = prior[3, column] + 0.5 * (spread[0, state, column] + shrink * distance**2)
    return found


@kernel
def draw_gaussians(rng, points, prior, counts, moments):
    """Means and variances of all states given counts of the points."""
    numbers = gaussian_numbers(points, prior, counts)
    for state in range(moments.shape[0]):
        for column in range(moments.shape[1]):
            variance = numbers[3, state, column] / rng.standard_gamma(numbers[2, state, column])
            deviation = math.sqrt(variance / numbers[1, state, column])
            moments[state, column, VARIANCE] = variance
            moments[state, column, MEAN] = numbers[0, state, column] + deviation * rng.standard_normal()


@kernel
def fill_densities(points, moments, emission, log_scale):
    """Densities of all points in all states, each point's divided by their largest; missing cells count for nothing."""
    n_states, n_columns = moments.shape[0], moments.shape[1]
    constant, precision = np.empty((n_states, n_columns)), np.empty((n_states, n_columns))
    mean = np.empty((n_states, n_columns))
    for state in range(n_states):
        for column in range(n_columns):
            mean[state, column] = moments[state, column, MEAN]
            precision[state, column] = 1.0 / moments[state, column, VARIANCE]
            constant[state, column] = -0.5 * (LOG_2PI + math.log(moments[state, column, VARIANCE]))
    fill_scaled(points, mean, precision, constant, emission, log_scale)


@kernel
def fill_scaled(points, mean, precision, constant, emission, log_scale):
    """exp(sum over seen cells of constant - precision (value - mean)^2 / 2), divided by the largest of each point."""
    for point in range(points.shape[0]):
        top = -math.inf
        for state in range(mean.shape[0]):
            found = 0.0
            for column in range(points.shape[1]):
                value = points[point, column]
                if value == value:  # a missing cell differs from itself
                    distance = value - mean[state, column]
                    found += constant[state, column] - 0.5 * precision[state, column] * distance * distance
            emission[point, state] = found
            top = max(top, found)
        log_scale[point] = top
        for state in range(mean.shape[0]):
            emission[point, state] = math.exp(emission[point, state] - top)


# Expectations


@kernel
def expect_component(target, values, weights, uses, out):
    """exp(E log) of all cells given counts: tables that are not normalised, as variational passes use them."""
    n_states = target.n_states
    for place in range(out.initial.shape[0]):
        expect_weighted_row(values[INITIAL], weights, uses.initial[place], out.initial[place, :n_states])
        out.initial[place, n_states] = 0.0
        if place > 0 and target.mode == BOTTOM_PRIOR:
            expect_bottom(target, values, uses.initial[place], out.initial[place])
    expect_row(values[SWITCHING], uses.switching, out.switching)
    for position in range(out.switching.size):
        for other in range(n_states + 1):
            expect_weighted_row(
                values[TRANSITION], weights, uses.transition[position, other], out.transition[position, other]
            )
    if target.points.shape[1] > 0:
        expect_densities(target.points, target.gaussian, uses.emission, out.emission, out.log_scale)
    else:
        for state in range(n_states):
            expect_row(values[EMISSION], uses.emission[:, state], out.emission[:, state])


@kernel
def expect_row(strength, counts, out):
    """exp(E log p) of a Dirichlet row with concentrations strength + counts."""
    total = 0.0
    for cell in range(out.size):
        total += strength + counts[cell]
    shift, alone = digamma(total), digamma(strength)
    for cell in range(out.size):
        count = counts[cell]
        out[cell] = math.exp((digamma(strength + count) if count > 0.0 else alone) - shift)


@kernel
def expect_weighted_row(strength, weights, counts, out):
    """exp(E log p) of a Dirichlet row with concentrations strength times weights + counts."""
    total = 0.0
    for cell in range(out.size):
        total += strength * weights[cell] + counts[cell]
    shift = digamma(total)
    for cell in range(out.size):
        out[cell] = math.exp(digamma(strength * weights[cell] + counts[cell]) - shift)


@kernel
def expect_bottom(target, values, counts, out):
    """exp(E log) of the probability of an empty slot, and of its rest that the states share."""
    n_states, n_leaves = target.n_states, 0.0
    for state in range(n_states):
        n_leaves += counts[state]
    bottom, leaf = bottom_numbers(target, values)
    shift = digamma(bottom + counts[n_states] + leaf + n_leaves)
    rest = math.exp(digamma(leaf + n_leaves) - shift)
    for state in range(n_states):
        out[state] *= rest
    out[n_states] = math.exp(digamma(bottom + counts[n_states]) - shift)


@kernel
def expect_densities(points, prior, counts, emission, log_scale):
    """exp(E log density) of all points given counts, scaled as densities are."""
    numbers = gaussian_numbers(points, prior, counts)
    n_states, n_columns = numbers.shape[1], numbers.shape[2]
    constant, precision = np.empty((n_states, n_columns)), np.empty((n_states, n_columns))
    for state in range(n_states):
        for column in range(n_columns):
            strength, shape, rate = numbers[1, state, column], numbers[2, state, column], numbers[3, state, column]
            precision[state, column] = shape / rate
            constant[state, column] = 0.5 * (digamma(shape) - math.log(rate) - LOG_2PI - 1.0 / strength)
    fill_scaled(points, numbers[0], precision, constant, emission, log_scale)


# Likelihoods


@kernel
def score_trees(links, mode, row, beta, inner, log_likelihood, out):
    """Log-likelihoods of all trees to `out`; the upward pass stays in the other arrays."""
    go_upward(
        links, row.initial, row.emission, row.log_scale, row.switching, row.transition, mode, 0, beta.shape[0],
        beta, inner, log_likelihood,
    )  # fmt: skip
    for tree in range(out.size):
        out[tree] = log_likelihood[links.roots[tree]]
