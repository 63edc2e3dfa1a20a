"""Draws of the concentrations given the table counts, all weights integrated out."""

import math

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import all_nodes
from bayesgrove.models.nested.state import ROOT
from bayesgrove.models.nested.tables import draw_n_tables
from bayesgrove.models.nested.target import ALPHA, GAMMA, GAMMA0
from bayesgrove.models.nested.weights import draw_log_share

LEAST, MOST = 1e-12, 1e12
"""Concentrations are kept between these: their distributions reach 0 where a hyperprior is very wide."""


@borrower
def draw_concentration(rng, shape, rate):
    """A Gamma variate, kept away from 0 and infinity."""
    return min(max(rng.standard_gamma(shape) / rate, LEAST), MOST)


@borrower
def log_auxiliary(rng, concentration, n_customers):
    """log w, w ~ Beta(concentration, n)."""
    return draw_log_share(rng, concentration, n_customers, math.log(concentration / n_customers))[0]


@kernel
def draw_gamma(rng, tree, tables, values, hyperpriors):
    """gamma ~ Gamma(a + all tables below the root, b - sum_z log w_z), w_z ~ Beta(gamma, n_z)."""
    shape, rate = hyperpriors[GAMMA, 0], hyperpriors[GAMMA, 1]
    for node in all_nodes(tree)[1:]:
        shape += tables.n_tables[node]
        rate -= log_auxiliary(rng, values[GAMMA], tables.n_customers[node])
    values[GAMMA] = draw_concentration(rng, shape, rate)


@borrower
def draw_gamma0(rng, tables, values, hyperpriors, in_use, top, n_components):
    """gamma0 ~ Gamma(a + K, b - log w); with finitely many components the tables at the root count instead of K."""
    shape, gamma0 = hyperpriors[GAMMA0, 0], values[GAMMA0]
    for k in range(1, top):
        n_here = tables.customers[ROOT, k]
        if n_components == 0:
            shape += 1.0 if in_use[k] else 0.0
        elif n_here > 0.0:
            shape += draw_n_tables(rng, n_here, gamma0 / n_components)
    rate = hyperpriors[GAMMA0, 1] - log_auxiliary(rng, gamma0, tables.n_customers[ROOT])
    values[GAMMA0] = draw_concentration(rng, shape, rate)


@kernel
def draw_alpha(rng, tree, depth, values, hyperpriors):
    """alpha ~ Gamma(a + sum m_z, b - sum log w_z) over inner nodes with more than one datum (one gives a factor 1)."""
    shape, rate = hyperpriors[ALPHA, 0], hyperpriors[ALPHA, 1]
    for node in all_nodes(tree):
        if tree.level[node] < depth and tree.count[node] > 1:
            rate -= log_auxiliary(rng, values[ALPHA], float(tree.count[node]))
        if node != ROOT and tree.count[tree.parent[node]] > 1:
            shape += 1.0
    values[ALPHA] = draw_concentration(rng, shape, rate)


@kernel
def draw_concentrations(rng, tree, tables, values, hyperpriors, in_use, top, depth, n_components):
    """Those that have a hyperprior."""
    if not math.isnan(hyperpriors[GAMMA, 0]):
        draw_gamma(rng, tree, tables, values, hyperpriors)
    if not math.isnan(hyperpriors[GAMMA0, 0]):
        draw_gamma0(rng, tables, values, hyperpriors, in_use, top, n_components)
    if not math.isnan(hyperpriors[ALPHA, 0]):
        draw_alpha(rng, tree, depth, values, hyperpriors)
