"""Log joint density of labels, tables and trees, hidden states summed out: plainly, and from a state's own sums."""

import math

import numpy as np
from scipy.special import gammaln, xlogy

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.component import SMALLEST_CELL, bottom_numbers, row_of
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.gaussian import MEAN, VARIANCE
from bayesgrove.models.tree_hmm.mixture_state import State, parameters_of, weights_of
from bayesgrove.models.tree_hmm.mixture_target import (
    CONCENTRATION,
    EMISSION,
    EMPTY,
    FILLED,
    INITIAL,
    STATE_CONCENTRATION,
    SWITCHING,
    TRANSITION,
    Target,
    log_hyperprior,
    prior_of,
)
from bayesgrove.models.tree_hmm.parameters import log_prior
from bayesgrove.models.tree_hmm.proposals import log_normal_gamma
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM, Tables
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.processes import log_crp_labels
from bayesgrove.stats.special import LOG_2PI, log_beta


def log_joint(target: Target, state: State) -> float:
    """log p(labels, tables, learned numbers, trees), everything computed anew from labels and tables."""
    labels, parameters = relabel(state.labels), parameters_of(state)
    scores = log_likelihoods(target.links, parameters.tables, target.mode)
    found = log_crp_labels(labels, float(state.values[CONCENTRATION])) + log_hyperprior(target, state.values)
    found += scores[labels, np.arange(labels.size)].sum()
    if target.is_infinite:
        return float(found + log_prior_infinite(target, state.values, parameters.tables, weights_of(state)))
    return float(found + log_prior(prior_of(target, state.values), parameters).sum())


def log_prior_infinite(target: Target, values: np.ndarray, tables: Tables, weights: np.ndarray) -> float:
    """Log density of all components' discrete tables and of the weights of their states, infinitely many."""
    n_states, found = target.n_states, 0.0
    for k, shares in enumerate(weights):
        found += log_density(shares, np.full(n_states, values[STATE_CONCENTRATION] / n_states))
        for place, row in enumerate(tables.initial[k]):
            found += log_density(row[:n_states] / row[:n_states].sum(), values[INITIAL] * shares)
            if place > 0 and target.mode == BOTTOM_PRIOR:
                found += log_density(row[-1:], values[EMPTY : FILLED + 1])
                found -= (n_states - 1) * math.log1p(-row[-1])
        n_children = n_states + (target.mode != RENORM)
        for row in tables.transition[k, :, :n_children].reshape(-1, n_states):
            found += log_density(row, values[TRANSITION] * shares)
        for row in tables.emission[k].T:
            found += log_density(row, np.full(row.size, values[EMISSION]))
        found += log_density(tables.switching[k], np.full(target.n_positions, values[SWITCHING]))
    return found


def log_density(shares: np.ndarray, concentrations: np.ndarray) -> float:
    """Log density of a Dirichlet law; one share stands for itself and its complement."""
    cells = np.append(shares, 1.0 - shares) if shares.size < concentrations.size else shares
    terms = gammaln(concentrations.sum()) - gammaln(concentrations).sum()
    return float(terms + xlogy(concentrations - 1.0, cells).sum())


@kernel
def joint_of_state(target, components, labels, values):
    """The same, without the priors of learned numbers, from the log-likelihoods that the state keeps."""
    concentration, n_used = values[CONCENTRATION], components.n_used[0]
    found = n_used * math.log(concentration) + math.lgamma(concentration) - math.lgamma(concentration + labels.size)
    for tree in range(labels.size):
        found += components.scores[labels[tree], tree]
    for place in range(n_used):
        row = components.order[place]
        found += math.lgamma(components.sizes[row]) + log_prior_of_row(target, values, row_of(components, row))
    return found


@kernel
def log_prior_of_row(target, values, row):
    """Log density of one component's tables under the prior."""
    n_states, found = target.n_states, log_dirichlet(values[SWITCHING], row.switching)
    if target.is_infinite:
        found += log_dirichlet(values[STATE_CONCENTRATION] / n_states, row.weights)
    bottom, leaf = bottom_numbers(target, values)
    for place in range(row.initial.shape[0]):
        rest = 1.0 - row.initial[place, n_states]
        found += log_weighted_dirichlet(values[INITIAL], row.weights, row.initial[place, :n_states], rest)
        if place > 0 and target.mode == BOTTOM_PRIOR:
            empty = max(row.initial[place, n_states], SMALLEST_CELL)
            found += (bottom - 1.0) * math.log(empty) + (leaf - n_states) * math.log(max(rest, SMALLEST_CELL))
            found -= log_beta(bottom, leaf)
    n_children = n_states if target.mode == RENORM else n_states + 1
    for position in range(row.switching.size):
        for other in range(n_children):
            found += log_weighted_dirichlet(values[TRANSITION], row.weights, row.transition[position, other], 1.0)
    if target.points.shape[1] == 0:
        for state in range(n_states):
            found += log_dirichlet(values[EMISSION], row.emission[:, state])
        return found
    prior = target.gaussian
    for state in range(n_states):
        for column in range(prior.shape[1]):
            precision = 1.0 / row.moments[state, column, VARIANCE]
            found += 0.5 * (math.log(precision) - LOG_2PI) + log_normal_gamma(
                row.moments[state, column, MEAN], precision,
                prior[0, column], prior[1, column], prior[2, column], prior[3, column],
            )  # fmt: skip
    return found


@kernel
def log_weighted_dirichlet(strength, weights, cells, total):
    """Log density of cells over their total under a Dirichlet law with concentrations strength times weights."""
    found, size = 0.0, 0.0
    log_total = math.log(max(total, SMALLEST_CELL))
    for cell in range(cells.size):
        alone = strength * weights[cell]
        size += alone
        found -= math.lgamma(alone)
        if alone != 1.0:
            found += (alone - 1.0) * (math.log(max(cells[cell], SMALLEST_CELL)) - log_total)
    return found + math.lgamma(size)


@kernel
def log_dirichlet(strength, cells):
    """Log density of a row under its symmetric Dirichlet prior."""
    found = math.lgamma(cells.size * strength) - cells.size * math.lgamma(strength)
    if strength != 1.0:
        for cell in cells:
            found += (strength - 1.0) * math.log(max(cell, SMALLEST_CELL))
    return found
