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
  that separates the groups best, one of ten windows between their medians holds too few of them (`significance`), or
- the projected valley lies below `shallow_ratio`, and between the medians of the two components the rows are those of
  two Gaussians rather than of a density without a valley: the log likelihood ratio exceeds `least_gain`, or
  `least_gain_of_unions` if one of the two is a part of a larger group already. The whole shape of a valley tells more
  than its lowest window does.

Where most components are clusters of their own by this rule, the clusters of the table are Gaussians. Two components
that overlap are then probably two clusters, too, and that ratio has to exceed only `gain_among_gaussians`.

They are joined all the same if the two components that meet are pieces of one bent bar (`bars`) and their rows show no
gap: Gaussians that cover a thin bent band end to end have deep valleys between them.

Covariances are full, even of components of independent columns, where columns turn out to depend on each other inside
components (`learn_scale.with_dependence`).

Tiling a flat ridge with Gaussians of its own width makes false valleys of 2 exp(-3 / 2) = .446, so `saddle_ratio` must
lie below that.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from bayesgrove.agglomeration.bars import Pieces, bar_of, pieces_of
from bayesgrove.agglomeration.gaps import gap_probability, valley_gain
from bayesgrove.stats.partitions import relabel

N_NEIGHBOURS = 8
N_STEPS = 11
N_PLACES = 41
FEWEST_ROWS, FEWEST_PEAK_ROWS = 10, 5
"""Of groups that show a gap; of components that show a valley."""
DEEPEST_BEND = 0.003
"""Ratio of a valley that no bend of a bar makes: a tenth of what two equal pieces of a thin arc have, 2 exp(-4)."""
MOST_CELLS, CELLS_AT_ONCE = 4_000_000, 50_000
"""Of matrices of pairs at a time; of densities, so that they stay in the cache."""


class Rule(NamedTuple):
    """When two groups of components are two clusters; see the module."""

    saddle_ratio: float = 0.3
    least_excess: float = 2.0
    shallow_ratio: float = 0.95
    significance: float = 0.01
    least_gain: float = 3.0
    """Nats: that a gap of this size is chance has a probability of about `significance`."""
    gain_among_gaussians: float = 0.0
    """The same where most components are clusters of their own."""
    least_gain_of_unions: float = 6.0
    """The same of components one of which is a part of a larger group already, and so probably no Gaussian cluster."""


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
    n, d = points.shape
    out = np.empty((n, components.sizes.size))
    lower = np.linalg.cholesky(components.covariances)
    whitening = np.linalg.inv(lower)
    centres = np.einsum("kij,kj->ki", whitening, components.means)
    for part in np.array_split(np.arange(out.shape[1]), 1 + n * out.shape[1] * d // CELLS_AT_ONCE):
        white = (points @ whitening[part].reshape(-1, d).T).reshape(n, -1, d) - centres[part]
        out[:, part] = np.einsum("nkd,nkd->nk", white, white)
    log_determinants = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    return -0.5 * out - log_determinants - 0.5 * d * math.log(2.0 * math.pi)


def log_density(components: Components, points: np.ndarray) -> np.ndarray:
    """Log density of the mixture at some points."""
    log_weight = np.log(components.sizes / components.sizes.sum())
    each = log_gaussians(components, points) + log_weight
    top = each.max(axis=1)
    return top + np.log(np.exp(each - top[:, np.newaxis]).sum(axis=1))


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
    i, j = np.triu_indices(k, 1)
    found = np.zeros((k, k))
    for part in np.array_split(np.arange(i.size), 1 + i.size * means.shape[1] ** 2 // MOST_CELLS):
        a, b = i[part], j[part]
        middle, gap = 0.5 * (covariances[a] + covariances[b]), means[b] - means[a]
        solved = np.linalg.solve(middle, gap[:, :, np.newaxis])[:, :, 0]
        spread = np.linalg.slogdet(middle)[1] - 0.5 * (log_determinants[a] + log_determinants[b])
        found[a, b] = found[b, a] = np.einsum("kd,kd->k", gap, solved) / 8.0 + 0.5 * spread
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


class Projections(NamedTuple):
    """Pairs of components on the axis that separates them best."""

    ratio: np.ndarray
    """(n_pairs,) of the valley to the lower peak."""
    spread: np.ndarray
    """(n_pairs, 2) standard deviations, in units of the distance between the means."""


def projections(components: Components, pairs: np.ndarray) -> Projections:
    """Pairs of components, projected; their distances without what sampling noise adds to those of means."""
    sizes, within = components.sizes[pairs], components.covariances[pairs]
    gap = components.means[pairs[:, 1]] - components.means[pairs[:, 0]]
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    middle = np.einsum("pk,pkij->pij", shares, within)
    axis = np.linalg.solve(middle, gap[:, :, np.newaxis])[:, :, 0]
    spread = np.sqrt(np.einsum("pi,pkij,pj->pk", axis, within, axis))
    squared = np.einsum("pi,pi->p", gap, axis)
    noise = gap.shape[1] * np.sum(1.0 / sizes, axis=1)  # of a squared distance between sample means
    far = np.sqrt(squared * np.maximum(squared - noise, 0.0))
    with np.errstate(divide="ignore"):
        return Projections(valley_ratios(sizes, far, spread), spread / far[:, np.newaxis])


def valley_ratios(sizes: np.ndarray, far: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Ratio of the valley between two Gaussians on a line to the lower peak.

    Parameters
    ----------
    sizes, spread : ndarray of shape (n_pairs, 2)
        Weights and standard deviations.
    far : ndarray of shape (n_pairs,)
        Where the second mean lies from the first, not negative.
    """
    centre = np.stack([np.zeros(far.size), far], axis=1)[:, np.newaxis]
    places = far[:, np.newaxis, np.newaxis] * np.linspace(0.0, 1.0, N_PLACES)[:, np.newaxis]
    spread = spread[:, np.newaxis]
    density = np.sum(np.exp(-0.5 * ((places - centre) / spread) ** 2) * (sizes[:, np.newaxis] / spread), axis=2)
    left = np.maximum.accumulate(density, axis=1)
    right = np.maximum.accumulate(density[:, ::-1], axis=1)[:, ::-1]
    valley = 1 + density[:, 1:-1].argmin(axis=1)[:, np.newaxis]
    lowest, left, right = (np.take_along_axis(part, valley, axis=1)[:, 0] for part in (density, left, right))
    return lowest / np.minimum(left, right)


def is_valley(ratio: float, n_rows: int, rule: Rule) -> bool:
    """Whether so deep a valley beside a group of so many rows is more than sampling noise."""
    return ratio < rule.saddle_ratio and math.sqrt(n_rows) * excess_mass(ratio) >= rule.least_excess


def show_gap(ratio: float, groups: tuple[np.ndarray, np.ndarray], rule: Rule) -> bool:
    """Whether the rows of two groups themselves show a gap that the density has at least a trace of."""
    if ratio >= rule.shallow_ratio or min(part.shape[0] for part in groups) < FEWEST_ROWS:
        return False
    return gap_probability(*groups) < rule.significance


def show_valley(ratio: float, pieces: Pieces, pair: np.ndarray, spread: np.ndarray, rule: Rule) -> bool:
    """Whether the rows of two components, on their axis, are those of two Gaussians with a valley rather than of none.

    `ratio` and `spread` are those of `Projections`.
    """
    first, second = (pieces.rows[component] for component in pair)
    sizes = np.array([len(first), len(second)], float)
    if ratio >= rule.shallow_ratio or sizes.min() < FEWEST_PEAK_ROWS:
        return False
    if valley_gain(first, second, sizes, spread) <= rule.least_gain:
        return False
    bar = bar_of(pieces, int(pair[0]), int(pair[1]), bent=False)
    return bar is None or bar.log_gain <= 0.0


def is_one_bar(pieces: Pieces, a: int, b: int, rule: Rule) -> bool:
    """Whether the rows of two components are better described as one bent bar without a gap than as two Gaussians."""
    bar = bar_of(pieces, a, b)
    return bar is not None and bar.log_gain > 0.0 and gap_probability(bar.first, bar.second) >= rule.significance


class Meetings(NamedTuple):
    """Components that may meet, from the highest saddle down."""

    pairs: np.ndarray
    saddle: np.ndarray
    """Log density at the saddle of each pair."""
    projected: Projections
    peaks: np.ndarray
    """(k,) log density at the mean of each component."""
    pieces: Pieces


def meetings_of(components: Components, pieces: Pieces) -> Meetings:
    """All pairs of neighbours in order."""
    peaks, pairs = log_density(components, components.means), neighbour_pairs(components)
    saddle = saddles_between(components, pairs, peaks)
    order = np.argsort(-saddle, kind="stable")
    pairs, saddle = pairs[order], saddle[order]
    return Meetings(pairs, saddle, projections(components, pairs), peaks, pieces)


def joined(meetings: Meetings, values: np.ndarray, members: list[np.ndarray], rule: Rule) -> Unions:
    """Clusters of components; `members` are the rows of each."""
    members, pieces, projected = members.copy(), meetings.pieces, meetings.projected
    group, top = np.arange(len(members)), meetings.peaks.copy()
    joins, ratios, apart = [], [], []
    for edge, pair in enumerate(meetings.pairs):
        a, b = (int(component) for component in pair)
        i, j = int(group[a]), int(group[b])
        if i == j:
            continue
        ratio = math.exp(min(0.0, meetings.saddle[edge] - min(top[i], top[j])))
        are_single = members[i].size + members[j].size == len(pieces.rows[a]) + len(pieces.rows[b])
        own_rule = rule if are_single else rule._replace(least_gain=rule.least_gain_of_unions)
        stays = (
            is_valley(ratio, min(members[i].size, members[j].size), rule)
            or is_valley(projected.ratio[edge], min(len(pieces.rows[a]), len(pieces.rows[b])), rule)
            or show_gap(ratio, (values[members[i]], values[members[j]]), rule)
            or show_valley(projected.ratio[edge], pieces, pair, projected.spread[edge], own_rule)
        )
        if stays and projected.ratio[edge] > DEEPEST_BEND:
            stays = not is_one_bar(pieces, a, b, rule)
        joins.append((a, b))
        ratios.append(ratio)
        apart.append(stays)
        if not stays:
            group[group == j] = i
            top[i], members[i] = max(top[i], top[j]), np.concatenate([members[i], members[j]])
    return Unions(relabel(group), np.array(joins), np.array(ratios), np.array(apart))


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
    members = [np.flatnonzero(labels == component) for component in range(k)]
    meetings = meetings_of(components, pieces_of([values[rows] for rows in members]))
    found = joined(meetings, values, members, rule)
    n_alone = np.count_nonzero(np.bincount(found.cluster) == 1)
    if 2 * n_alone <= k:
        return found
    return joined(meetings, values, members, rule._replace(least_gain=rule.gain_among_gaussians))
