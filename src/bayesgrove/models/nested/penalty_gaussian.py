"""Moves of the discriminants that are Gaussian given one scale per hinge (Polson & Scott 2011).

exp(-2 max(0, u)) = int (2 pi lambda)^(-1/2) exp(-(lambda + u)^2 / (2 lambda)) d lambda, u = C zeta.
"""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.penalty import child_towards, score
from bayesgrove.models.nested.penalty_slice import linked_nodes
from bayesgrove.stats.dense import cholesky, solve_lower


@borrower
def draw_hinge_scale(rng, distance):
    """lambda ~ GIG(1/2, 1, distance^2), distance = |C zeta|; mean 1 + distance.

    The reciprocal of an inverse Gaussian variate of mean 1/distance, computed without dividing by the distance: library
    samplers lose all digits, or give values below 0, from a mean of about 1e8 on.
    """
    while True:
        root = abs(rng.standard_normal())
        square = root * root
        big = distance + square / 2.0 + root * math.sqrt(distance + square / 4.0)
        scale = big if rng.random() * (big + distance) < big else distance * (distance / big)
        if scale > 0.0:
            return scale


# ---- Gaussian conditionals in the form precision, shift: mean = precision^-1 shift


@borrower
def clear_gaussian(precision, shift, prior_precision):
    """Begin with the prior."""
    for i in range(len(shift)):
        shift[i] = 0.0
        for j in range(len(shift)):
            precision[i, j] = 0.0
        precision[i, i] = prior_precision


@borrower
def add_constraint(precision, shift, data, n, weight, pull):
    """Add weight x x' / 2 to the quadratic form and pull x to its linear part (lower triangle)."""
    for i in range(len(shift)):
        shift[i] += pull * data[n, i]
        scaled = weight * data[n, i]
        for j in range(i + 1):
            precision[i, j] += scaled * data[n, j]


@borrower
def draw_gaussian(rng, factor, solved, eta, node):
    """Draw eta of a node from the factored form."""
    for i in range(len(solved) - 1, -1, -1):
        value = solved[i] + rng.standard_normal()
        for k in range(i + 1, len(solved)):
            value -= factor[k, i] * eta[node, k]
        eta[node, i] = value / factor[i, i]


@borrower
def log_gaussian(factor, solved, eta, node):
    """Log density of eta of a node under the factored form, without the constant of the dimension."""
    total = 0.0
    for i in range(len(solved)):
        deviation = -solved[i]
        for k in range(i, len(solved)):
            deviation += factor[k, i] * eta[node, k]
        total += math.log(factor[i, i]) - deviation * deviation / 2.0
    return total


# ---- penalty "max": one lambda per datum, for its worst constraint


@borrower
def find_worst(penalty, links, eta, leaf, above, own, rival, zeta):
    """Node, sibling and zeta of the worst constraint of each datum under `above`; NULL for one that has none."""
    margin, data = penalty.margin, penalty.data
    for n in range(len(leaf)):
        if child_towards(links.parent, leaf[n], above) == NULL:
            continue
        own[n], rival[n], zeta[n] = NULL, NULL, -np.inf
        node = leaf[n]
        while node != 0:
            own_score = score(eta, node, data, n)
            sibling = links.first_child[links.parent[node]]
            while sibling != NULL:
                if sibling != node:
                    value = margin - own_score + score(eta, sibling, data, n)
                    if value > zeta[n]:
                        own[n], rival[n], zeta[n] = node, sibling, value
                sibling = links.next_sibling[sibling]
            node = links.parent[node]


@borrower
def draw_hinge_scales(rng, strength, own, zeta, scales):
    """One lambda for each datum that has constraints."""
    for n in range(len(scales)):
        scales[n] = draw_hinge_scale(rng, abs(strength * zeta[n])) if own[n] != NULL else 1.0


@borrower
def fill_gaussian(penalty, eta, own, rival, scales, node, prior_precision, precision, shift):
    """Precision (lower triangle) and shift of eta of a node, given each datum's worst constraint and lambda."""
    strength, margin, data = penalty.strength, penalty.margin, penalty.data
    clear_gaussian(precision, shift, prior_precision)
    for n in range(len(own)):
        if own[n] == node:
            push = scales[n] + strength * (margin + score(eta, rival[n], data, n))
            add_constraint(precision, shift, data, n, strength * strength / scales[n], strength / scales[n] * push)
        elif rival[n] == node:
            push = scales[n] + strength * (margin - score(eta, own[n], data, n))
            add_constraint(precision, shift, data, n, strength * strength / scales[n], -strength / scales[n] * push)


@borrower
def log_augmented(penalty, links, leaf, above, own, zeta, scales):
    """Sum over data under `above` of -(lambda + C zeta)^2 / (2 lambda)."""
    total = 0.0
    for n in range(len(leaf)):
        if own[n] != NULL and child_towards(links.parent, leaf[n], above) != NULL:
            reach = scales[n] + penalty.strength * zeta[n]
            total -= reach * reach / (2.0 * scales[n])
    return total


@borrower
def log_prior(eta, node, scale):
    """Log density of a discriminant under its prior, without the constant."""
    total = 0.0
    for i in range(eta.shape[1]):
        total -= (eta[node, i] / scale) ** 2 / 2.0
    return total


@kernel
def augment_discriminants(rng, penalty, links, eta, leaf, scale):
    """Propose each discriminant from the Gaussian of 5.2 and test it, in place; the number accepted. For "max" only.

    **Erratum**: the Gaussian holds the worst constraint of each datum fixed, but it depends on eta: a proposal, not
    the conditional. The test `test_printed_update_misses` shows what the missing test of acceptance costs.
    """
    n_data, size, least = len(leaf), eta.shape[1], 1.0 / (scale * scale)
    own, rival, zeta = np.full(n_data, NULL), np.full(n_data, NULL), np.empty(n_data)
    new_own, new_rival, new_zeta = own.copy(), rival.copy(), zeta.copy()
    scales, before = np.empty(n_data), np.empty(size)
    precision, shift = np.empty((size, size)), np.empty(size)
    find_worst(penalty, links, eta, leaf, 0, own, rival, zeta)
    draw_hinge_scales(rng, penalty.strength, own, zeta, scales)
    n_accepted = 0
    for node in linked_nodes(links):
        above = links.parent[node]
        log_ratio = -log_augmented(penalty, links, leaf, above, own, zeta, scales) - log_prior(eta, node, scale)
        fill_gaussian(penalty, eta, own, rival, scales, node, least, precision, shift)
        cholesky(precision)
        solve_lower(precision, shift)
        for i in range(size):
            before[i] = eta[node, i]
        draw_gaussian(rng, precision, shift, eta, node)
        log_ratio -= log_gaussian(precision, shift, eta, node)
        for n in range(n_data):
            new_own[n], new_rival[n], new_zeta[n] = own[n], rival[n], zeta[n]
        find_worst(penalty, links, eta, leaf, above, new_own, new_rival, new_zeta)
        log_ratio += log_augmented(penalty, links, leaf, above, new_own, new_zeta, scales)
        log_ratio += log_prior(eta, node, scale)
        fill_gaussian(penalty, eta, new_own, new_rival, scales, node, least, precision, shift)
        cholesky(precision)
        solve_lower(precision, shift)
        for i in range(size):  # the reverse density is that of the old vector
            before[i], eta[node, i] = eta[node, i], before[i]
        log_ratio += log_gaussian(precision, shift, eta, node)
        if -rng.standard_exponential() < log_ratio:
            n_accepted += 1
            for i in range(size):
                eta[node, i] = before[i]
            own, new_own = new_own, own
            rival, new_rival = new_rival, rival
            zeta, new_zeta = new_zeta, zeta
    return n_accepted


@kernel
def print_discriminants(rng, penalty, links, eta, leaf, prior_precision):
    """The paper's update: each discriminant from the Gaussian of 5.2 without a test, in place.

    It does **not** leave the target invariant; kept to reproduce the paper. `prior_precision` is nu0^-2, or nu0^2 as
    printed.
    """
    n_data, size = len(leaf), eta.shape[1]
    own, rival, zeta = np.full(n_data, NULL), np.full(n_data, NULL), np.empty(n_data)
    scales, precision, shift = np.empty(n_data), np.empty((size, size)), np.empty(size)
    find_worst(penalty, links, eta, leaf, 0, own, rival, zeta)
    draw_hinge_scales(rng, penalty.strength, own, zeta, scales)
    for node in linked_nodes(links):
        fill_gaussian(penalty, eta, own, rival, scales, node, prior_precision, precision, shift)
        cholesky(precision)
        solve_lower(precision, shift)
        draw_gaussian(rng, precision, shift, eta, node)


# ---- penalties "sum" and "chance": one lambda per constraint


@borrower
def add_drawn(rng, penalty, n, precision, shift, zeta, other, sign):
    """Draw lambda of a constraint and add it: `other` is zeta without the node's own part, `sign` that of its pull."""
    strength = penalty.strength
    scale = draw_hinge_scale(rng, abs(strength * zeta))
    pull = sign * strength / scale * (scale + strength * other)
    add_constraint(precision, shift, penalty.data, n, strength * strength / scale, pull)


@kernel
def gibbs_discriminants(rng, penalty, links, eta, leaf, scale):
    """Exact Gibbs of each discriminant with the lambdas of its constraints, in place. For "sum" and "chance" only."""
    size, least, margin, data = eta.shape[1], 1.0 / (scale * scale), penalty.margin, penalty.data
    precision, shift = np.empty((size, size)), np.empty(size)
    for node in linked_nodes(links):
        above = links.parent[node]
        clear_gaussian(precision, shift, least)
        for n in range(len(leaf)):
            child = child_towards(links.parent, leaf[n], above)
            if child == NULL:
                continue
            own_score = score(eta, node, data, n)
            if child != node:
                other = margin - score(eta, child, data, n)
                add_drawn(rng, penalty, n, precision, shift, other + own_score, other, -1.0)
                continue
            sibling = links.first_child[above]
            while sibling != NULL:
                if sibling != node:
                    other = margin + score(eta, sibling, data, n)
                    add_drawn(rng, penalty, n, precision, shift, other - own_score, other, 1.0)
                sibling = links.next_sibling[sibling]
        cholesky(precision)
        solve_lower(precision, shift)
        draw_gaussian(rng, precision, shift, eta, node)
