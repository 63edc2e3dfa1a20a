"""Clusters as unions of mixture components: groups of components that no valley of the density separates.

A mixture covers a cluster that is not of the likelihood's shape with several components. The density of the fitted
mixture, f(x) = sum_k (n_k / n) N(x; mean_k, covariance_k), tells which of them belong together: two groups are apart
where f between them falls well below the lower of their two peaks, by more than sampling noise explains.

Components are joined in the order of the saddles between them, the highest first, as water that falls uncovers land. A
saddle is the lowest density on a path between two means: the straight line, or the ridge on which the density of two
Gaussians has its critical points (Ray and Lindsay 2005). With r the ratio of a saddle to the lower peak and m the
number of rows of the smaller group, the groups stay apart if

- r < `saddle_ratio` and sqrt(m) g(r) >= `least_excess`, where g(r) is the mass of a Gaussian peak above its valley, or
- the same holds of the two components that meet, projected on the axis that separates them best: a wide group beside
  a dense one has no peak of its own in several dimensions, where densities depend on widths more than on distances, or
- r < `shallow_ratio`, both groups have at least ten rows, and the rows themselves show a gap: projected on the axis
  that separates the groups best, one of ten windows between their medians holds too few of them (`significance`).

Tiling a flat ridge with Gaussians of its own width makes false valleys of 2 exp(-3 / 2) = .446, so `saddle_ratio` must
lie below that.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import binom

from bayesgrove.stats.partitions import relabel

N_NEIGHBOURS = 8
N_STEPS = 11
N_WINDOWS = 10
N_PLACES = 41
FEWEST_ROWS = 10


class Rule(NamedTuple):
    """When two groups of components are two clusters; see the module."""

    saddle_ratio: float = 0.3
    least_excess: float = 2.0
    shallow_ratio: float = 0.95
    significance: float = 0.01


RULE = Rule()


class Components(NamedTuple):
    """Components of a mixture of Gaussians."""

    sizes: np.ndarray
    """(k,) numbers of rows, or sums of the shares of rows."""
    means: np.ndarray
    """(k, d)"""
    covariances: np.ndarray
    """(k, d, d); diagonal where rows have missing cells."""


class Unions(NamedTuple):
    """Clusters of components, and the joins that made or refused them, from the highest saddle down."""

    cluster: np.ndarray
    """(n_components,) cluster of each component, from 0 by first appearance."""
    joins: np.ndarray
    """(n_joins, 2) a component of each of the two groups that met."""
    ratio: np.ndarray
    """(n_joins,) of the saddle to the lower peak."""
    apart: np.ndarray
    """(n_joins,) whether they stayed apart."""


def excess_mass(ratio: float) -> float:
    """Mass of a Gaussian peak of one dimension that lies above the level of its valley."""
    height = math.sqrt(-2.0 * math.log(ratio)) if ratio > 0.0 else math.inf
    if math.isinf(height):
        return 1.0
    return math.erf(height / math.sqrt(2.0)) - 2.0 * height * ratio / math.sqrt(2.0 * math.pi)


def log_gaussians(components: Components, points: np.ndarray) -> np.ndarray:
    """Log density of points under each component, (n_points, k); missing cells need diagonal covariances."""
    seen = ~np.isnan(points)
    if not seen.all():
        variance = np.diagonal(components.covariances, axis1=1, axis2=2)
        gaps = np.where(seen[:, np.newaxis], points[:, np.newaxis] - components.means, 0.0)
        return -0.5 * (np.sum(gaps**2 / variance, axis=2) + seen @ np.log(2.0 * np.pi * variance).T)
    out = np.empty((points.shape[0], components.sizes.size))
    for k, lower in enumerate(np.linalg.cholesky(components.covariances)):
        gap = solve_triangular(lower, (points - components.means[k]).T, lower=True, check_finite=False)
        out[:, k] = -0.5 * np.sum(gap * gap, axis=0) - np.log(np.diag(lower)).sum()
    return out - 0.5 * points.shape[1] * math.log(2.0 * math.pi)


def log_density(components: Components, points: np.ndarray) -> np.ndarray:
    """Log density of the mixture at some points."""
    log_weight = np.log(components.sizes / components.sizes.sum())
    return np.logaddexp.reduce(log_gaussians(components, points) + log_weight, axis=1)


def neighbour_pairs(components: Components) -> np.ndarray:
    """Pairs of components between which a saddle is looked for: near ones, and enough to connect all of them."""
    k = components.sizes.size
    distance = bhattacharyya_distances(components.means, components.covariances)
    linked = minimum_spanning_tree(distance + 1e-12).toarray() > 0.0
    order = np.argsort(distance + np.where(np.eye(k), np.inf, 0.0), axis=1, kind="stable")
    linked[np.arange(k)[:, np.newaxis], order[:, : min(N_NEIGHBOURS, k - 1)]] = True
    return np.argwhere(np.triu(linked | linked.T, 1))


def bhattacharyya_distances(means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Between Gaussians, (k, k)."""
    k = means.shape[0]
    log_determinants = np.linalg.slogdet(covariances)[1]
    found = np.zeros((k, k))
    for i in range(k - 1):
        middle = 0.5 * (covariances[i] + covariances[i + 1 :])
        gap = means[i + 1 :] - means[i]
        solved = np.linalg.solve(middle, gap[:, :, np.newaxis])[:, :, 0]
        spread = np.linalg.slogdet(middle)[1] - 0.5 * (log_determinants[i] + log_determinants[i + 1 :])
        found[i, i + 1 :] = found[i + 1 :, i] = np.einsum("kd,kd->k", gap, solved) / 8.0 + 0.5 * spread
    return np.maximum(found, 0.0)


def paths_between(components: Components, pairs: np.ndarray) -> np.ndarray:
    """Points on the straight line and on the ridge between the means of pairs, (n_pairs, 2, N_STEPS, d)."""
    steps = np.arange(1, N_STEPS + 1) / (N_STEPS + 1)
    a, b = components.means[pairs[:, 0]], components.means[pairs[:, 1]]
    straight = a[:, np.newaxis] + steps[:, np.newaxis] * (b - a)[:, np.newaxis]
    precision = np.linalg.inv(components.covariances)
    pull = np.einsum("kij,kj->ki", precision, components.means)
    share = steps[np.newaxis, :, np.newaxis]
    matrix = (1.0 - share[..., np.newaxis]) * precision[pairs[:, 0], np.newaxis] + share[..., np.newaxis] * precision[
        pairs[:, 1], np.newaxis
    ]
    target = (1.0 - share) * pull[pairs[:, 0], np.newaxis] + share * pull[pairs[:, 1], np.newaxis]
    ridge = np.linalg.solve(matrix, target[..., np.newaxis])[..., 0]
    return np.stack([straight, ridge], axis=1)


def saddles_between(components: Components, pairs: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    """Log density at the saddle between each pair, at most that of the lower peak."""
    paths = paths_between(components, pairs)
    density = log_density(components, paths.reshape(-1, paths.shape[-1])).reshape(paths.shape[:-1])
    return np.minimum(density.min(axis=2).max(axis=1), peaks[pairs].min(axis=1))


def gap_probability(first: np.ndarray, second: np.ndarray) -> float:
    """How likely so deep a gap between two groups of rows were if there were none, over all windows."""
    axis = fisher_axis(first, second)
    a, b = first @ axis, second @ axis
    low, high = np.median(a), np.median(b)
    if low > high:
        low, high = high, low
    if not high > low:
        return 1.0
    width = (high - low) / (N_WINDOWS - 1)
    edges = low - 0.5 * width + width * np.arange(N_WINDOWS + 1)
    counts = np.histogram(np.concatenate([a, b]), edges)[0]
    inner = range(1, N_WINDOWS - 1)
    rims = [min(counts[:v].max(), counts[v + 1 :].max()) for v in inner]
    least = min(binom.cdf(counts[v], counts[v] + rim, 0.5) for v, rim in zip(inner, rims, strict=True))
    return float(min(1.0, (N_WINDOWS - 2) * least))


def fisher_axis(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The direction that separates two groups of rows best."""
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (first, second))
    within = within / (first.shape[0] + second.shape[0])
    within[np.diag_indices_from(within)] += 1e-6 * np.trace(within) / within.shape[0] + 1e-300
    return np.linalg.solve(within, second.mean(axis=0) - first.mean(axis=0))


def projected_ratio(components: Components, i: int, j: int) -> float:
    """Ratio of the valley to the lower peak of two components, projected on the axis that separates them best."""
    sizes, gap = components.sizes[[i, j]], components.means[j] - components.means[i]
    within = components.covariances[[i, j]]
    axis = np.linalg.solve(np.average(within, axis=0, weights=sizes), gap)
    spread, centre = np.sqrt(axis @ within @ axis), np.array([0.0, gap @ axis])
    places = np.linspace(0.0, centre[1], N_PLACES)
    density = np.exp(-0.5 * ((places[:, np.newaxis] - centre) / spread) ** 2) @ (sizes / spread)
    valley = 1 + int(density[1:-1].argmin())
    return float(density[valley] / min(density[: valley + 1].max(), density[valley:].max()))


def is_valley(ratio: float, n_rows: int, rule: Rule) -> bool:
    """Whether so deep a valley beside a group of so many rows is more than sampling noise."""
    return ratio < rule.saddle_ratio and math.sqrt(n_rows) * excess_mass(ratio) >= rule.least_excess


def show_gap(ratio: float, groups: tuple[np.ndarray, np.ndarray], rule: Rule) -> bool:
    """Whether the rows of two groups themselves show a gap that the density has at least a trace of."""
    if ratio >= rule.shallow_ratio or min(part.shape[0] for part in groups) < FEWEST_ROWS:
        return False
    return gap_probability(*groups) < rule.significance


def unite(components: Components, values: np.ndarray, labels: np.ndarray, rule: Rule = RULE) -> Unions:
    """Clusters of the components of a partition, by the rule of the module.

    Parameters
    ----------
    components : Components
        Of the partition.
    values : ndarray of shape (n_rows, d)
        Encoded rows; missing cells must have been filled in.
    labels : int array of shape (n_rows,)
        Component of each row.
    rule : Rule
    """
    k = components.sizes.size
    if k == 1:
        return Unions(np.zeros(1, np.int64), np.empty((0, 2), np.int64), np.empty(0), np.empty(0, bool))
    peaks = log_density(components, components.means)
    pairs = neighbour_pairs(components)
    saddles = saddles_between(components, pairs, peaks)
    members = [np.flatnonzero(labels == component) for component in range(k)]
    n_rows = [rows.size for rows in members]
    group, top = np.arange(k), peaks.copy()
    joins, ratios, apart = [], [], []
    for edge in np.argsort(-saddles, kind="stable"):
        a, b = (int(component) for component in pairs[edge])
        i, j = int(group[a]), int(group[b])
        if i == j:
            continue
        ratio = math.exp(min(0.0, saddles[edge] - min(top[i], top[j])))
        stays = (
            is_valley(ratio, min(members[i].size, members[j].size), rule)
            or is_valley(projected_ratio(components, a, b), min(n_rows[a], n_rows[b]), rule)
            or show_gap(ratio, (values[members[i]], values[members[j]]), rule)
        )
        joins.append((a, b))
        ratios.append(ratio)
        apart.append(stays)
        if not stays:
            group[group == j] = i
            top[i], members[i] = max(top[i], top[j]), np.concatenate([members[i], members[j]])
    return Unions(relabel(group), np.array(joins), np.array(ratios), np.array(apart))
