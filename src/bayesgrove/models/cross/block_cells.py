"""Rows under clusters with full covariances: scores, missing cells given the others, mixtures of normal distributions.

Given cluster k, the missing cells m of a row with the observed ones o are normal with mean
mean_m + C_mo inv(C_oo) (x_o - mean_o) and covariance C_mm - C_mo inv(C_oo) C_om.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.gaussian_full import cholesky, dot, solve_lower
from bayesgrove.models.cross.block_state import BlockTable, Components
from bayesgrove.stats.special import LOG_2PI

LIGHTEST = math.log(1e-4)
"""Clusters of less weight, given a row, are left out of the mixtures of its cells."""


class CellTerms(NamedTuple):
    """A mixture of normal distributions for each missing numeric cell, row by row."""

    start: np.ndarray
    """(n_cells + 1,) terms of cell c are start[c] .. start[c + 1] - 1."""
    log_weight: np.ndarray
    """(n_terms,) normalised in each cell."""
    mean: np.ndarray
    scale: np.ndarray
    """(n_terms,) standard deviations."""


def by_pattern(numeric: np.ndarray) -> np.ndarray:
    """Rows in an order in which those that lack the same cells stand together."""
    missing = np.isnan(numeric)
    return np.lexsort(missing.T) if missing.shape[1] else np.arange(len(numeric))


def row_scores(components: Components, table: BlockTable) -> np.ndarray:
    """Log of weight times density of the observed cells of each row, (n_rows, K)."""
    out = categorical_scores(components, table.codes)
    observed_scores(table.numeric, by_pattern(table.numeric), components.mean, components.covariance, out)
    return out


def categorical_scores(components: Components, codes: np.ndarray) -> np.ndarray:
    """Log of weight times probability of the categories that are known, (n_rows, K)."""
    out = np.tile(components.log_weight, (len(codes), 1))
    for j, log_chance in enumerate(components.log_chance):
        seen = codes[:, j] >= 0
        out[seen] += log_chance[:, codes[seen, j]].T
    return out


def draw_missing(
    rng: np.random.Generator, components: Components, numeric: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Rows with their missing cells drawn given their clusters."""
    out = numeric.copy()
    noise = rng.standard_normal(numeric.shape)
    fill_missing(out, labels, components.mean, components.covariance, noise)
    return out


def cell_terms(draws: Sequence[Components], table: BlockTable) -> CellTerms:
    """Mixtures over draws and clusters for the missing numeric cells of rows."""
    order = by_pattern(table.numeric)
    is_missing = np.isnan(table.numeric)
    place = np.where(is_missing, np.cumsum(is_missing).reshape(is_missing.shape) - 1, -1)
    owner = np.nonzero(is_missing)[0]
    parts = []
    for components in draws:
        scores = categorical_scores(components, table.codes)
        mean, variance = (np.empty((owner.size, components.log_weight.size)) for _ in range(2))
        observed_scores(table.numeric, order, components.mean, components.covariance, scores)
        conditional_moments(table.numeric, order, place, components.mean, components.covariance, mean, variance)
        log_weight = (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))[owner]
        cells, which = np.nonzero(log_weight >= LIGHTEST)
        parts.append((cells, log_weight[cells, which], mean[cells, which], np.sqrt(variance[cells, which])))
    cells, logs, means, scales = (np.concatenate(part) for part in zip(*parts, strict=True))
    sorted_terms = np.argsort(cells, kind="stable")
    start = np.searchsorted(cells[sorted_terms], np.arange(owner.size + 1))
    total = np.logaddexp.reduceat(logs[sorted_terms], start[:-1]) if owner.size else np.empty(0)
    log_weight = logs[sorted_terms] - np.repeat(total, np.diff(start))
    return CellTerms(start, log_weight, means[sorted_terms], scales[sorted_terms])


@kernel
def observed_cells(row):
    """Places of the cells that are there, those of the missing ones after them, and how many are there."""
    out, n_seen, last = np.empty(row.size, np.int64), 0, row.size
    for j in range(row.size):
        if math.isnan(row[j]):
            last -= 1
            out[last] = j
        else:
            out[n_seen] = j
            n_seen += 1
    return out, n_seen


@kernel
def same_pattern(a, b):
    """Whether two rows lack the same cells."""
    n_different = 0
    for j in range(a.size):
        n_different += math.isnan(a[j]) != math.isnan(b[j])
    return n_different == 0


@kernel
def observed_factor(covariance, places, n_seen):
    """Lower factor of the covariance of the observed cells, and its log determinant."""
    factor = np.empty((n_seen, n_seen))
    for a in range(n_seen):
        for b in range(n_seen):
            factor[a, b] = covariance[places[a], places[b]]
    log_determinant = cholesky(factor)
    return factor, log_determinant


@kernel
def whitened(row, places, n_seen, mean, factor):
    """Observed cells minus their means, solved by the factor; and the squared length."""
    out = np.empty(n_seen)
    for a in range(n_seen):
        out[a] = row[places[a]] - mean[places[a]]
    length = solve_lower(factor, out)
    return out, length


@kernel
def observed_scores(numeric, order, mean, covariance, out):
    """Add the log density of the observed cells of each row under each component; `order` groups rows by pattern."""
    if order.size == 0:
        return
    for k in range(mean.shape[0]):
        places, n_seen = observed_cells(numeric[order[0]])
        factor, log_determinant = observed_factor(covariance[k], places, n_seen)
        for t in range(order.size):
            i = order[t]
            if t > 0 and not same_pattern(numeric[i], numeric[order[t - 1]]):
                places, n_seen = observed_cells(numeric[i])
                factor, log_determinant = observed_factor(covariance[k], places, n_seen)
            _, length = whitened(numeric[i], places, n_seen, mean[k], factor)
            out[i, k] -= 0.5 * (length + log_determinant + n_seen * LOG_2PI)


@kernel
def slopes(covariance, places, n_seen, cell, factor):
    """Covariances of a missing cell with the observed ones, solved by the factor; and the variance they leave."""
    out = np.empty(n_seen)
    for a in range(n_seen):
        out[a] = covariance[places[a], cell]
    explained = solve_lower(factor, out)
    return out, covariance[cell, cell] - explained


@kernel
def conditional_moments(numeric, order, place, mean, covariance, means, variances):
    """Mean and variance of each missing cell under each component given the observed cells of its row."""
    for k in range(mean.shape[0]):
        for t in range(order.size):
            i = order[t]
            places, n_seen = observed_cells(numeric[i])
            if n_seen == places.size:
                continue
            factor, _ = observed_factor(covariance[k], places, n_seen)
            apart, _ = whitened(numeric[i], places, n_seen, mean[k], factor)
            for b in range(n_seen, places.size):
                own, variance = slopes(covariance[k], places, n_seen, places[b], factor)
                at = place[i, places[b]]
                means[at, k] = mean[k, places[b]] + dot(own, apart)
                variances[at, k] = max(variance, 1e-12 * covariance[k, places[b], places[b]])


@kernel
def fill_missing(rows, labels, mean, covariance, noise):
    """Draw the missing cells of rows one after another, each given those before it."""
    for i in range(rows.shape[0]):
        k = labels[i]
        places, n_seen = observed_cells(rows[i])
        if n_seen == places.size:
            continue
        factor, _ = observed_factor(covariance[k], places, places.size)
        apart, _ = whitened(rows[i], places, n_seen, mean[k], factor)
        for b in range(n_seen, places.size):
            total = mean[k, places[b]]
            for a in range(b):
                total += factor[b, a] * (apart[a] if a < n_seen else noise[i, places[a]])
            rows[i, places[b]] = total + factor[b, b] * noise[i, places[b]]
