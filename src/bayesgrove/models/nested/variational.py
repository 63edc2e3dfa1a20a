"""A variational approximation of nested hierarchies with spherical Gaussian components, and its bound.

Rows choose components independently, row n component k with probability r_nk; each component has one leaf, whose path
its rows take, and one table in every node of this path. Weights, and means of components, have the best distributions
given r, which are Dirichlet and Gaussian. With N_z = sum of r over the rows and components below node z, the bound is

    log p(X) >= T(N) + G(r) + sum of the entropies of the rows

T is the log of p(paths) p(tables), with expected in place of whole numbers of rows (docs/theory/nested-hierarchies.md,
Variational bound), G that of the integral of prod_k N(theta_k; 0, h2 I) prod_n N(x_n; theta_k, s2 I)^r_nk. It bounds
the evidence of the whole model, with countably many nodes and components, because each component has a row, its anchor,
that is surely its own: no component of the approximation is ever empty.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import digamma, entr, gammaln, softmax

from bayesgrove.models.nested.target import ALPHA, BASE_VARIANCE, COMPONENT_VARIANCE, GAMMA, GAMMA0
from bayesgrove.stats.special import LOG_2PI

CONCENTRATION_RANGE = (math.log(1e-3), math.log(1e3))
"""Of the logs of concentrations that are learned."""
ENOUGH = 1e-5
"""Ascents end when a round raises the bound by less than this number of nats per row."""
MOST_ROUNDS = 500


class Rows(NamedTuple):
    """Data, and what every bound needs of them."""

    values: np.ndarray
    """(n, d)."""
    square: float
    """Sum of all squares."""


class Approximation(NamedTuple):
    """One member of the family; the distributions of weights and means follow from it."""

    share: np.ndarray
    """(n, K): r, rows sum to 1."""
    anchor: np.ndarray
    """(K,): the row that is surely in each component."""
    layout: np.ndarray
    """(K, depth): the path of each component's rows, as numbers of nodes that are unique within a level."""
    values: np.ndarray
    """(6,): numbers in the order of `VALUE_NAMES`."""


class Means(NamedTuple):
    """The Gaussian distributions of the components' means."""

    size: np.ndarray
    """(K,): expected numbers of rows."""
    sum: np.ndarray
    """(K, d): expected sums of rows."""
    mean: np.ndarray
    variance: np.ndarray
    """(K,): in every column."""


def rows_of(values: np.ndarray) -> Rows:
    """Rows, ready for bounds."""
    return Rows(values, float(np.einsum("ij,ij->", values, values)))


def means_of(rows: Rows, given: Approximation) -> Means:
    """The best distributions of the means."""
    noise, spread = given.values[[COMPONENT_VARIANCE, BASE_VARIANCE]]
    size, total = given.share.sum(axis=0), given.share.T @ rows.values
    variance = 1.0 / (size / noise + 1.0 / spread)
    return Means(size, total, total * (variance / noise)[:, None], variance)


# The tree


def log_tree(size: np.ndarray, layout: np.ndarray, values: np.ndarray) -> float:
    """T: log probability of paths and tables, of expected numbers of rows in components with these paths."""
    alpha, gamma = values[ALPHA], values[GAMMA]
    total = log_tables(np.array([size.size]), values[GAMMA0])
    above = size.sum(keepdims=True)
    for level in range(layout.shape[1]):
        _, own = np.unique(layout[:, level], return_inverse=True)
        below = np.bincount(own, size)
        total += float((gammaln(alpha) - gammaln(alpha + above)).sum())
        total += float(gammaln(below).sum()) + below.size * math.log(alpha)
        n_dishes, above = np.bincount(own), below
        if level < layout.shape[1] - 1:
            total += log_tables(n_dishes, gamma)
    total += float((gammaln(gamma) - gammaln(gamma + above)).sum()) + size.size * math.log(gamma)
    return total + float(gammaln(size).sum())


def log_tables(n_dishes: np.ndarray, concentration: float) -> float:
    """Log probability, of all nodes, that customers of so many dishes sit at one table per dish."""
    each = n_dishes * math.log(concentration) + gammaln(concentration) - gammaln(concentration + n_dishes)
    return float(each.sum())


def component_weights(size: np.ndarray, layout: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Expected log probability that a row takes the path of each component and then the component: (K,)."""
    above, found = np.full(size.size, size.sum()), digamma(size)
    for level in range(layout.shape[1]):
        _, own = np.unique(layout[:, level], return_inverse=True)
        below = np.bincount(own, size)[own]
        found += digamma(below) - digamma(values[ALPHA] + above)
        above = below
    return found - digamma(values[GAMMA] + above)


# The bound


def log_data(rows: Rows, means: Means, values: np.ndarray) -> float:
    """G."""
    noise, spread = values[COMPONENT_VARIANCE], values[BASE_VARIANCE]
    n_rows, width = rows.values.shape
    plain = -0.5 * (n_rows * width * (LOG_2PI + math.log(noise)) + rows.square / noise)
    return plain + float(log_gains(means.size, (means.sum**2).sum(axis=1), width, noise, spread).sum())


def log_gains(size: np.ndarray, square: np.ndarray, width: int, noise: float, spread: float) -> np.ndarray:
    """What components add to G, from their sizes and the squared norms of their sums."""
    found: np.ndarray = -0.5 * width * np.log1p(spread * size / noise)
    return found + 0.5 * square * spread / (noise * (noise + spread * size))


def log_priors(values: np.ndarray, hyperpriors: np.ndarray) -> float:
    """Log density of the numbers that are learned."""
    known = ~np.isnan(hyperpriors[: BASE_VARIANCE + 1, 0])
    value, (shape, rate) = values[: BASE_VARIANCE + 1], hyperpriors[: BASE_VARIANCE + 1].T
    turned = np.where(np.arange(BASE_VARIANCE + 1) < COMPONENT_VARIANCE, value, 1.0 / value)
    each = shape * np.log(rate * turned) - gammaln(shape) - rate * turned - np.log(value)
    return float(each[known].sum())


def bound_of(rows: Rows, given: Approximation) -> float:
    """The bound on the log evidence, given the numbers."""
    means = means_of(rows, given)
    own = log_tree(means.size, given.layout, given.values) + log_data(rows, means, given.values)
    return own + float(entr(given.share).sum())


# Coordinates, each at its best given the others


def better_share(rows: Rows, given: Approximation) -> Approximation:
    """The approximation with r at its best given the distributions of weights and means; anchors stay."""
    means, noise = means_of(rows, given), given.values[COMPONENT_VARIANCE]
    width = rows.values.shape[1]
    own = component_weights(means.size, given.layout, given.values)
    own = own - 0.5 * ((means.mean**2).sum(axis=1) + width * means.variance) / noise
    share = softmax(rows.values @ (means.mean.T / noise) + own, axis=1)
    share[given.anchor] = np.eye(given.anchor.size)
    return given._replace(share=share)


def better_numbers(rows: Rows, given: Approximation, hyperpriors: np.ndarray) -> Approximation:
    """The approximation with the numbers that are learned at their best, one after the other."""
    values, means = given.values.copy(), means_of(rows, given)
    width = rows.values.shape[1]
    square = (means.mean**2).sum(axis=1) + width * means.variance
    distance = rows.square - 2.0 * float((means.mean * means.sum).sum()) + float(means.size @ square)
    for place, total, count in (
        (COMPONENT_VARIANCE, distance, rows.values.size),
        (BASE_VARIANCE, float(square.sum()), width * square.size),
    ):
        shape, scale = hyperpriors[place]
        if not math.isnan(shape):
            values[place] = (0.5 * total + scale) / (0.5 * count + shape + 1.0)
    for place in (ALPHA, GAMMA, GAMMA0):
        if not math.isnan(hyperpriors[place, 0]):
            values = better_concentration(means.size, given.layout, values, hyperpriors, place)
    return given._replace(values=values)


def better_concentration(
    size: np.ndarray, layout: np.ndarray, values: np.ndarray, hyperpriors: np.ndarray, place: int
) -> np.ndarray:
    """Numbers with the concentration at this place at its best."""

    def loss(log_value: float) -> float:
        changed = values.copy()
        changed[place] = math.exp(log_value)
        return -log_tree(size, layout, changed) - log_priors(changed, hyperpriors)

    found = minimize_scalar(loss, bounds=CONCENTRATION_RANGE, method="bounded")
    if found.fun >= loss(math.log(values[place])):
        return values
    changed = values.copy()
    changed[place] = math.exp(found.x)
    return changed


def ascend(rows: Rows, given: Approximation, hyperpriors: np.ndarray, trace: list[float]) -> Approximation:
    """Coordinate ascent from an approximation.

    The bound, and the log prior density of numbers that are learned, are added after each round to `trace`.
    """
    trace.append(bound_of(rows, given) + log_priors(given.values, hyperpriors))
    for _ in range(MOST_ROUNDS):
        given = better_numbers(rows, better_share(rows, given), hyperpriors)
        trace.append(bound_of(rows, given) + log_priors(given.values, hyperpriors))
        if trace[-1] - trace[-2] < ENOUGH * len(rows.values):
            break
    return given
