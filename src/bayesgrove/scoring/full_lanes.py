"""Scorer of Gaussians with full covariances. See `lanes`."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.scoring.lanes import fill_lane, fill_lane_without, n_fields, padded, score_lanes
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.special import LOG_PI


class FullScorer(NamedTuple):
    """Gaussian of full covariance, no missing row; a lane holds [constant, power, mean, inverse Cholesky factor].

    With L L' the posterior scale times (strength_n + 1) / strength_n, the density is
    constant - power log(1 + |L^-1 (x - mean)|^2).
    """

    prior: NamedTuple
    gamma_steps: np.ndarray
    """lgamma((dof + n + 1) / 2) - lgamma((dof + n + 1 - d) / 2) for n = 0, 1, ...."""


@kernel
def full_gamma_steps(dof, n_columns, n_rows):
    """The scorer's table."""
    table = np.empty(n_rows + 1)
    for n in range(n_rows + 1):
        table[n] = math.lgamma(0.5 * (dof + n + 1.0)) - math.lgamma(0.5 * (dof + n + 1.0 - n_columns))
    return table


@n_fields.register(FullScorer)
def full_n_fields(scorer):
    """Constant, power, mean, lower triangle."""
    size = scorer.prior.mean.size
    return 2 + size + size * (size + 1) // 2


@kernel
def full_triangle(prior, n, row, x, share, widening, lanes, place):
    """Deviation of the mean, and the scale of n rows plus so many grains; for `x` and `share` see `known_lane`."""
    size, at = prior.mean.size, 2 + prior.mean.size
    pull, lost = prior.strength * n / (prior.strength + n), share * (n + 1.0)
    keep = 0.0 if n == 1.0 else 1.0  # one row has no scatter but its grain
    for i in range(size):
        gap = x[i] - row[1 + i]
        m = row[1 + i] - gap * share - prior.mean[i]
        lanes[2 + i, place] = m
        for j in range(i + 1):
            scatter = row[1 + size + i * size + j] - lost * gap * (x[j] - row[1 + j])
            if i == j and prior.grain.size > 0:
                held = n if keep == 0.0 else (0.0 if share == 0.0 else -1.0)
                scatter = keep * scatter + (held + widening) * prior.grain[i]
                lanes[at, place] = prior.scale[i, j] + scatter + pull * m * m
            else:
                lanes[at, place] = prior.scale[i, j] + keep * scatter + pull * m * lanes[2 + j, place]
            at += 1


@kernel
def full_lane(scorer, n, row, x, share, lanes, place):
    """Mean and inverse factor of n rows, computed where they stand; see `lanes.known_lane` for `x` and `share`."""
    prior, size = scorer.prior, scorer.prior.mean.size
    strength_n, log_widening = prior.strength + n, 0.0
    if prior.grain.size > 0:
        full_triangle(prior, n, row, x, share, 0.0, lanes, place)
        log_widening = factorise_lane(lanes, place, size)
    full_triangle(prior, n, row, x, share, 1.0, lanes, place)
    for i in range(size):
        lanes[2 + i, place] = prior.mean[i] + n / strength_n * lanes[2 + i, place]
    log_determinant = factorise_lane(lanes, place, size)
    if prior.grain.size > 0:
        log_widening -= log_determinant
    invert_lane(lanes, place, size, math.sqrt(strength_n / (strength_n + 1.0)))
    log_scale = size * (LOG_PI + math.log1p(1.0 / strength_n)) + log_determinant
    lanes[0, place] = scorer.gamma_steps[int(n)] - 0.5 * log_scale + 0.5 * (prior.dof + n) * log_widening
    lanes[1, place] = 0.5 * (prior.dof + n + 1.0)


@kernel
def factorise_lane(lanes, place, size):
    """Cholesky's factor of the triangle in a lane, in its place; gives the log determinant."""
    determinant, exponent, row_i = 1.0, 0.0, 2 + size
    for i in range(size):
        row_j, floor = 2 + size, 1e-16 * lanes[row_i + i, place]  # far rows leave nothing but rounding
        for j in range(i + 1):
            total = lanes[row_i + j, place]
            for k in range(j):
                total -= lanes[row_i + k, place] * lanes[row_j + k, place]
            if i == j:
                total = max(total, floor)
                lanes[row_i + i, place] = math.sqrt(total)
                exponent += exponent_of(total)
                determinant *= mantissa_of(total)
            else:
                lanes[row_i + j, place] = total / lanes[row_j + j, place]
            row_j += j + 1
        row_i += i + 1
        if i % 512 == 511:  # each mantissa is below 2
            exponent += exponent_of(determinant)
            determinant = mantissa_of(determinant)
    return fast_log(determinant, exponent)


@kernel
def invert_lane(lanes, place, size, grow):
    """Inverse of the lower triangle in a lane, times `grow`, in its place: column by column, downwards."""
    for j in range(size):
        at_jj = 2 + size + j * (j + 1) // 2 + j
        lanes[at_jj, place] = grow / lanes[at_jj, place]
        row_i = at_jj + 1
        for i in range(j + 1, size):
            total, at_kj = 0.0, at_jj
            for k in range(j, i):
                total -= lanes[row_i + k, place] * lanes[at_kj, place]
                at_kj += k + 1
            lanes[row_i + j, place] = total / lanes[row_i + i, place]
            row_i += i + 1


@fill_lane.register(FullScorer)
def full_fill_lane(scorer, row, lanes, place):
    """Of all rows."""
    full_lane(scorer, row[0], row, row, 0.0, lanes, place)


@fill_lane_without.register(FullScorer)
def full_fill_lane_without(scorer, rows, lanes, own, place, x):
    """Of all but one."""
    n = rows[own, 0] - 1.0
    full_lane(scorer, n, rows[own], x, 1.0 / n, lanes, place)


@score_lanes.register(FullScorer)
def full_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """A triangular product per cluster, then one logarithm."""
    full_scores(lanes, x, n_clusters, out)


@kernel(fastmath=SAFE_FLAGS)
def full_scores(lanes, x, n_clusters, out):
    """Body of `full_score_lanes`."""
    stand_alone()
    size, n = x.size, padded(n_clusters)
    for i in range(n):
        out[0, i] = 1.0
    at = 2 + size
    for row in range(size):
        for i in range(n):
            out[1, i] = 0.0
        for j in range(row + 1):
            cell = x[j]
            for i in range(n):
                out[1, i] += lanes[at, i] * (cell - lanes[2 + j, i])
            at += 1
        for i in range(n):
            out[0, i] += out[1, i] * out[1, i]
    for i in range(n):
        out[0, i] = lanes[0, i] - lanes[1, i] * fast_log(out[0, i], 0.0)
