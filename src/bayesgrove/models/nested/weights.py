"""Mixture weights of nodes, in logs: Dirichlet draws, opening and merging of components.

With a concentration near 1 and three levels the weights of children underflow; their logs do not. A parameter that
has itself underflowed to 0 gives a weight of exactly 0, log -inf. See docs/theory/nested-hierarchies.md, Components.
"""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower
from bayesgrove.models.nested.nodes import list_nodes
from bayesgrove.models.nested.state import REMAINDER, ROOT
from bayesgrove.models.nested.target import GAMMA, GAMMA0
from bayesgrove.stats.sampling import draw_log_categorical, draw_log_gamma
from bayesgrove.stats.special import log_add

TINY = 1e-290
"""Below this both parameters of a Beta, or all of a Dirichlet, put all mass on one vertex."""


@borrower
def log_gamma_variate(rng, shape):
    """Log of a Gamma(shape, 1) variate; -inf where the shape has underflowed."""
    return draw_log_gamma(rng, shape) if shape > 0.0 else -np.inf


@borrower
def draw_weights(rng, parameters, log_parameters, in_use, top, log_weight, weight, node):
    """Weights of a node ~ Dirichlet(parameters) over the remainder and the components in use.

    `log_parameters` choose the vertex where all parameters are so small that every Gamma variate underflows.
    """
    highest = -np.inf
    for k in range(top):
        value = -np.inf
        if k == REMAINDER or in_use[k]:
            value = log_gamma_variate(rng, parameters[k])
        log_weight[node, k] = value
        highest = max(highest, value)
    if highest == -np.inf:
        vertex = draw_log_categorical(rng, log_parameters[:top])
        log_weight[node, vertex] = highest = 0.0
    total = 0.0
    for k in range(top):
        weight[node, k] = math.exp(log_weight[node, k] - highest)
        total += weight[node, k]
    shift = highest + math.log(total)
    for k in range(top):
        log_weight[node, k] -= shift
        weight[node, k] /= total


@borrower
def draw_child_weights(rng, gamma, in_use, top, log_weight, weight, node, parent, counts, row, scratch):
    """Weights of a node ~ Dir(gamma beta_parent + counts[row]); `scratch` has two rows."""
    log_gamma = math.log(gamma)
    for k in range(top):
        scratch[0, k] = gamma * weight[parent, k] + counts[row, k]
        scratch[1, k] = log_gamma + log_weight[parent, k]
    draw_weights(rng, scratch[0], scratch[1], in_use, top, log_weight, weight, node)


@borrower
def merge_component(mixture, slot, top_node):
    """The weight of a component without data goes to the remainder, at every node."""
    log_weight, weight = mixture.log_weight, mixture.weight
    for node in range(top_node):
        log_weight[node, REMAINDER] = log_add(log_weight[node, REMAINDER], log_weight[node, slot])
        weight[node, REMAINDER] += weight[node, slot]
        log_weight[node, slot] = -np.inf
        weight[node, slot] = 0.0
    mixture.in_use[slot] = False


@borrower
def free_slot(in_use):
    """The smallest free slot; the number of slots where there is none."""
    slot = 1
    while slot < in_use.size and in_use[slot]:
        slot += 1
    return slot


@borrower
def draw_log_share(rng, a, b, log_ratio):
    """Logs of a Beta(a, b) variate and of 1 minus it; `log_ratio` is log(a / b)."""
    if a < TINY and b < TINY:
        if rng.random() * (1.0 + math.exp(-log_ratio)) < 1.0:
            return 0.0, -np.inf
        return -np.inf, 0.0
    first, second = log_gamma_variate(rng, a), log_gamma_variate(rng, b)
    total = log_add(first, second)
    return first - total, second - total


@borrower
def divide_remainder(log_weight, weight, node, slot, log_share, log_rest):
    """Give a share of the remainder of a node to a slot."""
    whole = log_weight[node, REMAINDER]
    log_weight[node, slot] = whole + log_share
    log_weight[node, REMAINDER] = whole + log_rest
    weight[node, slot] = math.exp(log_weight[node, slot])
    weight[node, REMAINDER] = math.exp(log_weight[node, REMAINDER])


@borrower
def open_component(rng, tree, mixture, values, end, on_path, nodes):
    """A new component for a datum that chose the remainder at node `end`; gives its slot.

    The remainder of a node is itself a Dirichlet process; one draw from that of `end` is a draw from each of its
    ancestors' too, so that the shares of nodes on the path get one observed atom, the +1. `on_path` is all False
    before and after; `nodes` is room for a list of them.
    """
    parent, n_nodes = tree.parent, list_nodes(tree, tree.parent.size, nodes)
    log_weight, weight, gamma = mixture.log_weight, mixture.weight, values[GAMMA]
    slot = free_slot(mixture.in_use)
    mixture.in_use[slot] = True
    mixture.numbers[0] = max(mixture.numbers[0], slot + 1)
    node = end
    while node != NULL:
        on_path[node] = True
        node = parent[node]
    log_share, log_rest = draw_log_share(rng, 1.0, values[GAMMA0], -math.log(values[GAMMA0]))
    divide_remainder(log_weight, weight, ROOT, slot, log_share, log_rest)
    for i in range(1, n_nodes):
        node = nodes[i]
        above = parent[node]
        if log_weight[node, REMAINDER] > -np.inf:
            a, b = gamma * weight[above, slot], gamma * weight[above, REMAINDER]
            log_ratio = log_weight[above, slot] - log_weight[above, REMAINDER]
            if on_path[node]:
                a += 1.0
            log_share, log_rest = draw_log_share(rng, a, b, log_ratio)
            divide_remainder(log_weight, weight, node, slot, log_share, log_rest)
    node = end
    while node != NULL:
        on_path[node] = False
        node = parent[node]
    return slot
