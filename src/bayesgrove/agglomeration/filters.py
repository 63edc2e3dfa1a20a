"""Log density of rows under many clusters at once: what sends rows to groups and scores new data.

A filter is a NamedTuple whose type chooses the body: `RowFilter` serves any likelihood, `GaussianFilter` and
`FullFilter` take one logarithm per row and cluster. Rows come in tiles of 64, `out[cluster, lane]`.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.scorers import FACTORS_BEFORE_RESCUE, LANES
from bayesgrove.core.generic import generic
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_predictive
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior, cholesky, full_mean, full_scale, solve_lower
from bayesgrove.likelihoods.moments import COUNT, MEAN, SPREAD, WIDTH
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.special import LOG_PI, log_add


@generic
def tile_densities(filter, values, order, first, n, out):
    """Write to `out[cluster, lane]` the log density of row `order[first + lane]` under each cluster, n <= 64 rows."""


class RowFilter(NamedTuple):
    """Any likelihood: the log predictive density, one row and cluster after another."""

    prior: NamedTuple
    rows: np.ndarray


@tile_densities.register(RowFilter)
def row_tile_densities(filter, values, order, first, n, out):
    """One row and cluster after another."""
    for k in range(filter.rows.shape[0]):
        for lane in range(n):
            out[k, lane] = log_predictive(filter.prior, filter.rows[k], values[order[first + lane]])


class GaussianFilter(NamedTuple):
    """Diagonal Gaussian, no missing cell: constant - power * log prod_j (1 + weight_j (x_j - mean_j)^2).

    All columns of a cluster share one shape, hence one power.
    """

    mean: np.ndarray
    weight: np.ndarray
    power: np.ndarray
    constant: np.ndarray


@tile_densities.register(GaussianFilter)
def gaussian_tile_densities(filter, values, order, first, n, out):
    """Turn 64 rows on their side, then one product per cluster and row."""
    tile = np.zeros((values.shape[1], LANES))
    for lane in range(n):
        for j in range(values.shape[1]):
            tile[j, lane] = values[order[first + lane], j]
    gaussian_densities(filter, tile, out)


@kernel(fastmath=SAFE_FLAGS)
def gaussian_densities(filter, tile, out):
    """Body of `gaussian_tile_densities` with flags of its own."""
    stand_alone()
    mean, weight, power, constant = filter.mean, filter.weight, filter.power, filter.constant
    product, exponent = np.empty(LANES), np.empty(LANES)
    n_columns = mean.shape[1]
    for k in range(mean.shape[0]):
        for lane in range(LANES):
            product[lane] = 1.0
            exponent[lane] = 0.0
        for j in range(0, n_columns - 1, 2):
            m0, w0, m1, w1 = mean[k, j], weight[k, j], mean[k, j + 1], weight[k, j + 1]
            for lane in range(LANES):
                gap0, gap1 = tile[j, lane] - m0, tile[j + 1, lane] - m1
                product[lane] *= (1.0 + w0 * (gap0 * gap0)) * (1.0 + w1 * (gap1 * gap1))
            if (j + 2) % FACTORS_BEFORE_RESCUE == 0:
                for lane in range(LANES):
                    exponent[lane] += exponent_of(product[lane])
                    product[lane] = mantissa_of(product[lane])
        if n_columns % 2 == 1:
            m0, w0 = mean[k, n_columns - 1], weight[k, n_columns - 1]
            for lane in range(LANES):
                gap0 = tile[n_columns - 1, lane] - m0
                product[lane] *= 1.0 + w0 * (gap0 * gap0)
        for lane in range(LANES):
            out[k, lane] = constant[k] - power[k] * fast_log(product[lane], exponent[lane])


class FullFilter(NamedTuple):
    """Full covariances, no missing cell: constant - power * log(1 + |whiten (x - mean)|^2)."""

    mean: np.ndarray
    whiten: np.ndarray
    """(cluster, d, d), lower triangles."""
    power: np.ndarray
    constant: np.ndarray
    columns: np.ndarray
    """Columns of the table that rows are made of."""


@tile_densities.register(FullFilter)
def full_tile_densities(filter, values, order, first, n, out):
    """Turn 64 rows on their side, then one product of a matrix and a vector per cluster and row."""
    tile = np.zeros((filter.columns.size, LANES))
    for lane in range(n):
        for j in range(filter.columns.size):
            tile[j, lane] = values[order[first + lane], filter.columns[j]]
    full_densities(filter, tile, out)


@kernel(fastmath=SAFE_FLAGS)
def full_densities(filter, tile, out):
    """Body of `full_tile_densities` with flags of its own."""
    stand_alone()
    mean, whiten, power, constant = filter.mean, filter.whiten, filter.power, filter.constant
    gap, part, distance = np.empty(tile.shape), np.empty(LANES), np.empty(LANES)
    for k in range(mean.shape[0]):
        for j in range(tile.shape[0]):
            for lane in range(LANES):
                gap[j, lane] = tile[j, lane] - mean[k, j]
        for lane in range(LANES):
            distance[lane] = 1.0
        for i in range(tile.shape[0]):
            for lane in range(LANES):
                part[lane] = whiten[k, i, i] * gap[i, lane]
            for j in range(0, i - 1, 2):
                w0, w1 = whiten[k, i, j], whiten[k, i, j + 1]
                for lane in range(LANES):
                    part[lane] += w0 * gap[j, lane] + w1 * gap[j + 1, lane]
            if i % 2 == 1:
                for lane in range(LANES):
                    part[lane] += whiten[k, i, i - 1] * gap[i - 1, lane]
            for lane in range(LANES):
                distance[lane] += part[lane] * part[lane]
        for lane in range(LANES):
            out[k, lane] = constant[k] - power[k] * fast_log(distance[lane], 0.0)


def make_filter(prior: Any, rows: np.ndarray, *, complete: bool) -> Any:
    """The fastest filter that is exact for these clusters' statistics."""
    if isinstance(prior, GaussianFullPrior) and complete:
        return full_filter(prior, rows)
    if isinstance(prior, GaussianDiagonalPrior) and complete and np.ptp(prior.shape) == 0.0:
        counts = rows[:, COUNT::WIDTH]
        if (counts == counts[:, :1]).all():  # else cells were missing in training, and columns differ in shape
            return gaussian_filter(prior, rows)
    return RowFilter(prior, rows)


def gaussian_filter(prior: GaussianDiagonalPrior, rows: np.ndarray) -> GaussianFilter:
    """Student-t densities of all columns, multiplied out."""
    n, mean, spread = rows[:, COUNT::WIDTH], rows[:, MEAN::WIDTH], rows[:, SPREAD::WIDTH]
    strength, shape = prior.strength + n, prior.shape + 0.5 * n
    rate = prior.rate + 0.5 * spread + 0.5 * prior.strength * n / strength * (mean - prior.mean) ** 2
    wide = rate + 0.5 * prior.grain
    scale = 2.0 * wide * (strength + 1.0) / strength
    lgamma = np.vectorize(math.lgamma, otypes=[float])
    constant = lgamma(shape + 0.5) - lgamma(shape) - 0.5 * np.log(np.pi * scale)
    if prior.grain.any():
        constant += shape * np.log(rate / wide)
    constant = constant.sum(axis=1)
    centre = (prior.strength * prior.mean + n * mean) / strength
    return GaussianFilter(
        np.ascontiguousarray(centre),
        np.ascontiguousarray(1.0 / scale),
        np.ascontiguousarray(shape[:, 0] + 0.5),
        constant,
    )


def full_filter(prior: GaussianFullPrior, rows: np.ndarray) -> FullFilter:
    """Multivariate t densities, their scales factored once."""
    d, k = prior.mean.size, len(rows)
    mean, whiten, log_determinant = np.empty((k, d)), np.empty((k, d, d)), np.empty((2, k))
    for i, row in enumerate(rows):
        mean[i] = full_mean(row, prior.mean, prior.strength)
        scale = full_scale(row, prior.mean, prior.strength, prior.scale)
        factor = scale + np.diag(prior.grain) if prior.grain.size else scale.copy()
        log_determinant[:, i] = cholesky(scale), cholesky(factor)
        for j, column in enumerate(np.eye(d)):
            solve_lower(factor, column)
            whiten[i, :, j] = column
    strength, dof = prior.strength + rows[:, 0], prior.dof + rows[:, 0]
    whiten *= np.sqrt(strength / (strength + 1.0))[:, np.newaxis, np.newaxis]
    constant = gammaln(0.5 * (dof + 1.0)) - gammaln(0.5 * (dof + 1.0 - d)) - 0.5 * log_determinant[1]
    constant += 0.5 * dof * (log_determinant[0] - log_determinant[1])
    constant -= 0.5 * d * (LOG_PI + np.log1p(1.0 / strength))
    columns = prior.columns if prior.columns.size else np.arange(d)
    return FullFilter(mean, whiten, 0.5 * (dof + 1.0), constant, columns)


@kernel
def group_scores(filter, log_weight, group_start, values, order, first, last, out):
    """log sum over the clusters k of a group of exp(log_weight[k]) p(row | k), for rows order[first:last].

    `out[group, row]`; group g has the clusters group_start[g] .. group_start[g + 1] - 1.
    """
    density = np.empty((log_weight.size, LANES))
    for low in range(first, last, LANES):
        n = min(LANES, last - low)
        tile_densities(filter, values, order, low, n, density)
        for g in range(group_start.size - 1):
            for lane in range(n):
                total = -np.inf
                for k in range(group_start[g], group_start[g + 1]):
                    total = log_add(total, log_weight[k] + density[k, lane])
                out[g, low - first + lane] = total


@kernel
def assign(filter, log_weight, group_start, values, order, first, last, labels):
    """Best group (ties: the last) of each row order[first:last], written to labels[first:last]; how many changed."""
    scores = np.empty((group_start.size - 1, LANES))
    n_changed = 0
    for low in range(first, last, LANES):
        high = min(last, low + LANES)
        group_scores(filter, log_weight, group_start, values, order, low, high, scores)
        for i in range(low, high):
            best = 0
            for g in range(1, group_start.size - 1):
                if scores[g, i - low] >= scores[best, i - low]:
                    best = g
            n_changed += labels[i] != best
            labels[i] = best
    return n_changed
