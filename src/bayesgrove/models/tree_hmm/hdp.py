"""Infinitely many hidden states: weights of the states that all rows of a component share.

v ~ GEM(eta); real states of frontier slots ~ DP(a_pi, v), rows of transitions ~ DP(a_A, v), a slot is empty with
probability rho ~ Beta. In the weak limit v ~ Dirichlet(eta / C) over C states and rows ~ Dirichlet(a v). Everything
else is as with few states, with a v in place of the strengths of rows. See
docs/theory/tree-mixtures.md, Infinitely many states.
"""

import math
from typing import Any

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.mixture_target import INITIAL, STATE_CONCENTRATION, TRANSITION, Target
from bayesgrove.models.tree_hmm.tables import RENORM, Counts
from bayesgrove.stats.sampling import draw_log_gamma, draw_slice
from bayesgrove.stats.special import digamma, log_sum

SMALLEST_WEIGHT = 1e-50
USED_SHARE = 0.01
"""States that have less of the mass of a component's transitions do not count as used."""
SLICE_WIDTH, LIMITS = 1.0, (math.log(1e-4), math.log(1e4))


@kernel
def draw_weights(rng, concentration, tables, weights):
    """Weights given numbers of tables of all states; from the prior where there are none."""
    n_states = weights.size
    for state in range(n_states):
        weights[state] = draw_log_gamma(rng, concentration / n_states + tables[state])
    top = log_sum(weights)
    for state in range(n_states):
        weights[state] = max(math.exp(weights[state] - top), SMALLEST_WEIGHT)


@kernel
def draw_prior_weights(rng, values, weights):
    """Weights from the prior."""
    draw_weights(rng, values[STATE_CONCENTRATION], np.zeros(weights.size), weights)


# Given counts


@kernel
def draw_table_count(rng, count, mass):
    """Number of tables that so many customers sit at: a sum of Bernoulli draws (Antoniak's distribution)."""
    found = 0
    for seated in range(int(count)):
        found += rng.random() * (mass + seated) < mass
    return found


@kernel
def draw_table_counts(rng, mode, strength_initial, strength_transition, initial, transition, weights, out):
    """Numbers of tables by state, of initial states to out[0], of transitions to out[1]: (2, C)."""
    n_states = weights.size
    for state in range(n_states):
        out[0, state], out[1, state] = 0.0, 0.0
        for place in range(initial.shape[0]):
            out[0, state] += draw_table_count(rng, initial[place, state], strength_initial * weights[state])
        for position in range(transition.shape[0]):
            for other in range(n_states if mode == RENORM else n_states + 1):
                count = transition[position, other, state]
                out[1, state] += draw_table_count(rng, count, strength_transition * weights[state])


@kernel
def draw_all_table_counts(rng, target, components, counts, values):
    """Numbers of tables of all components in use: (K, 2, C)."""
    n_used = components.n_used[0]
    found = np.empty((n_used, 2, target.n_states))
    for place in range(n_used):
        draw_table_counts(
            rng, target.mode, values[INITIAL], values[TRANSITION], counts.initial[place], counts.transition[place],
            components.weights[components.order[place]], found[place],
        )  # fmt: skip
    return found


@kernel
def draw_all_weights(rng, components, values, tables):
    """Weights of all components in use given their numbers of tables."""
    for place in range(components.n_used[0]):
        both = tables[place, 0] + tables[place, 1]
        draw_weights(rng, values[STATE_CONCENTRATION], both, components.weights[components.order[place]])


def draw_state_weights(
    rng: np.random.Generator, target: Target, components: Any, counts: Counts, values: np.ndarray
) -> None:
    """Concentrations of rows and weights that are learned, and the weights of all components, given counts."""
    tables = draw_all_table_counts(rng, target, components, counts, values)
    n_children = target.n_states + (target.mode != RENORM)
    totals = {
        INITIAL: counts.initial[:, :, : target.n_states].sum(2),
        TRANSITION: counts.transition[:, :, :n_children].sum(3),
    }
    for part, place in enumerate((INITIAL, TRANSITION)):
        prior = target.hyperpriors[place]
        if not np.isnan(prior[0]):
            values[place] = draw_row_concentration(rng, prior, values[place], totals[place], tables[:, part].sum())
    prior = target.hyperpriors[STATE_CONCENTRATION]
    if not np.isnan(prior[0]):
        values[STATE_CONCENTRATION] = draw_state_concentration(
            rng, prior, values[STATE_CONCENTRATION], tables.sum(axis=1)
        )
    draw_all_weights(rng, components, values, tables)


def draw_row_concentration(
    rng: np.random.Generator, prior: np.ndarray, concentration: float, totals: np.ndarray, n_tables: float
) -> float:
    """Concentration of all rows of a family given their totals and the number of all tables, by auxiliary variables."""
    sizes = totals[totals > 0.0]
    log_waits = np.log(np.maximum(rng.beta(concentration + 1.0, sizes), 1e-300))
    n_kept = (rng.random(sizes.size) * (sizes + concentration) < sizes).sum()
    shape, rate = prior[0] + n_tables - n_kept, prior[1] - log_waits.sum()
    return float(max(rng.standard_gamma(shape) / rate, 1e-4))


def draw_state_concentration(
    rng: np.random.Generator, prior: np.ndarray, concentration: float, tables: np.ndarray
) -> float:
    """Concentration of the weights given the tables of all states (K, C), by a slice of its logarithm."""
    shape, rate = prior.tolist()
    n_states = tables.shape[1]

    def log_density(log_value: float) -> float:
        value = math.exp(log_value)
        found = shape * log_value - rate * value
        for row in tables:
            found += math.lgamma(value) - math.lgamma(value + row.sum())
            found += sum(math.lgamma(value / n_states + m) - math.lgamma(value / n_states) for m in row if m > 0.0)
        return found

    return math.exp(draw_slice(rng, math.log(concentration), log_density, width=SLICE_WIDTH, limits=LIMITS))


def n_states_used(components: Any) -> float:
    """Mean number, over components, of states with a share of the weights that counts."""
    in_use = components.order[: components.n_used[0]]
    return float((components.weights[in_use] > USED_SHARE).sum(axis=1).mean())


# Proposals of split-merge moves


@kernel
def expected_tables(values, kept_weights, uses):
    """About how many tables each state has given counts, under the kept component's weights."""
    n_states = kept_weights.size
    found = np.zeros(n_states)
    for state in range(n_states):
        first, second = values[INITIAL] * kept_weights[state], values[TRANSITION] * kept_weights[state]
        for place in range(uses.initial.shape[0]):
            if uses.initial[place, state] > 0.0:
                found[state] += first * (digamma(first + uses.initial[place, state]) - digamma(first))
        for position in range(uses.transition.shape[0]):
            for other in range(n_states + 1):
                count = uses.transition[position, other, state]
                if count > 0.0:
                    found[state] += second * (digamma(second + count) - digamma(second))
    return found


@kernel
def propose_weights(rng, values, kept_weights, uses, weights):
    """Weights of a component that leaves the kept one; from the prior where nothing was counted."""
    draw_weights(rng, values[STATE_CONCENTRATION], expected_tables(values, kept_weights, uses), weights)


@kernel
def log_weights_ratio(values, kept_weights, uses, weights):
    """Log density of weights under that proposal over that under the prior."""
    tables, alone = expected_tables(values, kept_weights, uses), values[STATE_CONCENTRATION] / weights.size
    total, found = 0.0, 0.0
    for state in range(weights.size):
        total += tables[state]
        found += tables[state] * math.log(weights[state])
        found -= math.lgamma(alone + tables[state]) - math.lgamma(alone)
    return found + math.lgamma(values[STATE_CONCENTRATION] + total) - math.lgamma(values[STATE_CONCENTRATION])
