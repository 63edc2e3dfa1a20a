"""Log joint density of labels, tables and trees, hidden states summed out: plainly, and from a state's own sums."""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.component import SMALLEST_CELL, row_of
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.gaussian import MEAN, VARIANCE
from bayesgrove.models.tree_hmm.mixture_state import State, parameters_of
from bayesgrove.models.tree_hmm.mixture_target import (
    CONCENTRATION,
    EMISSION,
    INITIAL,
    SWITCHING,
    TRANSITION,
    Target,
    log_hyperprior,
    prior_of,
)
from bayesgrove.models.tree_hmm.parameters import log_prior
from bayesgrove.models.tree_hmm.proposals import log_normal_gamma
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, RENORM
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.processes import log_crp_labels
from bayesgrove.stats.special import LOG_2PI


def log_joint(target: Target, state: State) -> float:
    """log p(labels, tables, learned numbers, trees), everything computed anew from labels and tables.

    With infinitely many states densities of tables are left out: cells of states that are not used underflow.
    """
    labels, parameters = relabel(state.labels), parameters_of(state)
    scores = log_likelihoods(target.links, parameters.tables, target.mode)
    found = log_crp_labels(labels, float(state.values[CONCENTRATION])) + log_hyperprior(target, state.values)
    found += scores[labels, np.arange(labels.size)].sum()
    if target.is_infinite:
        return float(found)
    return float(found + log_prior(prior_of(target, state.values), parameters).sum())


@kernel
def joint_of_state(target, components, labels, values):
    """The same, without the priors of learned numbers, from the log-likelihoods that the state keeps."""
    concentration, n_used = values[CONCENTRATION], components.n_used[0]
    found = n_used * math.log(concentration) + math.lgamma(concentration) - math.lgamma(concentration + labels.size)
    for tree in range(labels.size):
        found += components.scores[labels[tree], tree]
    for place in range(n_used):
        row = components.order[place]
        found += math.lgamma(components.sizes[row])
        if not target.is_infinite:
            found += log_prior_of_row(target, values, row_of(components, row))
    return found


@kernel
def log_prior_of_row(target, values, row):
    """Log density of one component's tables under the prior."""
    n_states, found = target.n_states, log_dirichlet(values[SWITCHING], row.switching)
    for place in range(row.initial.shape[0]):
        n_free = n_states + 1 if place > 0 and target.mode == BOTTOM_PRIOR else n_states
        found += log_dirichlet(values[INITIAL], row.initial[place, :n_free])
    n_children = n_states if target.mode == RENORM else n_states + 1
    for position in range(row.switching.size):
        for other in range(n_children):
            found += log_dirichlet(values[TRANSITION], row.transition[position, other])
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
def log_dirichlet(strength, cells):
    """Log density of a row under its symmetric Dirichlet prior."""
    found = math.lgamma(cells.size * strength) - cells.size * math.lgamma(strength)
    if strength != 1.0:
        for cell in cells:
            found += (strength - 1.0) * math.log(max(cell, SMALLEST_CELL))
    return found
