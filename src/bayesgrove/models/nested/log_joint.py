"""Scores of a state: log p(V), the weights' prior, CDL, and the log joint of everything. The yardstick of all moves."""

import math

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.component_models import log_density_rows, log_prior_rows
from bayesgrove.models.nested.nodes import all_nodes
from bayesgrove.models.nested.state import REMAINDER, ROOT, State
from bayesgrove.models.nested.target import (
    ALPHA,
    BASE_VARIANCE,
    COMPONENT_VARIANCE,
    GAMMA,
    GAMMA0,
    Target,
)
from bayesgrove.models.nested.weights import TINY


@kernel
def log_path_prior(tree, alpha, depth):
    """log p(V): lgamma(alpha) - lgamma(N_z + alpha) + m_z log alpha + sum over children lgamma(N), over inner nodes."""
    total = 0.0
    for node in all_nodes(tree):
        if tree.level[node] < depth:
            total += math.lgamma(alpha) - math.lgamma(tree.count[node] + alpha)
        if node != ROOT:
            total += math.log(alpha) + math.lgamma(tree.count[node])
    return total


@borrower
def log_component_weights(leaf, component, log_weight):
    """Sum of the log weights that the data's components have at their leaves."""
    total = 0.0
    for datum in range(leaf.size):
        total += log_weight[leaf[datum], component[datum]]
    return total


@borrower
def log_power(a, log_a, log_beta):
    """log(beta^a / Gamma(a)), also where a has underflowed; 0 for a weight that has."""
    if log_beta == -np.inf:
        return 0.0
    return a * log_beta + (log_a if a < TINY else -math.lgamma(a))


@borrower
def log_root_weights(log_weight, in_use, top, gamma0, n_components):
    """Log density of the root's weights: gamma0^K beta*^gamma0, or Dir(gamma0 / K)."""
    total = 0.0
    if n_components > 0:
        share = gamma0 / n_components
        for k in range(1, top):
            total += log_power(share, math.log(share), log_weight[ROOT, k])
        return total + math.lgamma(gamma0)
    for k in range(1, top):
        total += math.log(gamma0) if in_use[k] else 0.0
    return total + gamma0 * log_weight[ROOT, REMAINDER]


@kernel
def log_weight_prior(tree, mixture, gamma, gamma0, n_components):
    """Log density of all weights with respect to the product of d beta / beta.

    So measured it stays finite where weights underflow, which densities in d beta do not.
    """
    log_weight, weight, in_use, top = mixture.log_weight, mixture.weight, mixture.in_use, mixture.numbers[0]
    total = log_root_weights(log_weight, in_use, top, gamma0, n_components)
    log_gamma, constant = math.log(gamma), math.lgamma(gamma)
    for node in all_nodes(tree)[1:]:
        above = tree.parent[node]
        total += constant
        for k in range(top):
            if (k == REMAINDER and n_components == 0) or in_use[k]:
                log_a = log_gamma + log_weight[above, k]
                total += log_power(gamma * weight[above, k], log_a, log_weight[node, k])
    return total


@borrower
def log_hyperpriors(values, hyperpriors):
    """Log densities of the numbers that are learned."""
    total = 0.0
    for place in (ALPHA, GAMMA, GAMMA0):
        shape, rate = hyperpriors[place, 0], hyperpriors[place, 1]
        if not math.isnan(shape):
            total += shape * math.log(rate) - math.lgamma(shape)
            total += (shape - 1.0) * math.log(values[place]) - rate * values[place]
    for place in (COMPONENT_VARIANCE, BASE_VARIANCE):
        shape, scale = hyperpriors[place, 0], hyperpriors[place, 1]
        if not math.isnan(shape):
            total += shape * math.log(scale) - math.lgamma(shape)
            total -= (shape + 1.0) * math.log(values[place]) + scale / values[place]
    return total


@kernel
def count_nodes(tree, depth):
    """Number of leaves and of children of the root."""
    n_leaves, n_first = 0, 0
    for node in all_nodes(tree):
        n_leaves += tree.level[node] == depth
        n_first += tree.level[node] == 1
    return n_leaves, n_first


@kernel
def score_state(law, data, tree, mixture, values, hyperpriors, depth, n_components):
    """Log joint and log CDL without penalty, numbers of leaves, of level-1 nodes and of components with data."""
    top, in_use, rows, component = mixture.numbers[0], mixture.in_use, mixture.rows, mixture.component
    log_cdl = log_path_prior(tree, values[ALPHA], depth)
    log_cdl += log_component_weights(tree.leaf, component, mixture.log_weight)
    log_cdl += log_density_rows(law, data, values, component, in_use, top, rows)
    log_joint = log_cdl + log_weight_prior(tree, mixture, values[GAMMA], values[GAMMA0], n_components)
    log_joint += log_prior_rows(law, values, in_use, top, rows) + log_hyperpriors(values, hyperpriors)
    n_leaves, n_first = count_nodes(tree, depth)
    n_components_used = 0
    for k in range(1, top):
        n_components_used += mixture.size[k] > 0
    return log_joint, log_cdl, n_leaves, n_first, n_components_used


def scores_of(target: Target, state: State) -> tuple[float, float, int, int, int]:
    """`score_state` of a state."""
    return score_state(
        target.law, target.data, state.tree, state.mixture, state.values, target.hyperpriors, target.depth,
        target.n_components,
    )  # fmt: skip


def log_joint(target: Target, state: State) -> float:
    """Log joint density of data, paths, weights, components and learned numbers, without penalty and discriminants."""
    return float(scores_of(target, state)[0])


def log_cdl(target: Target, state: State) -> float:
    """Log complete data likelihood: log p(V) + sum_n [log beta_{leaf, c_n} + log density of x_n]."""
    return float(scores_of(target, state)[1])
