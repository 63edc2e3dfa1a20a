"""Log densities of one row under many clusters at once: the inner loop of every sampler of mixtures.

A scorer is a NamedTuple whose type chooses the bodies and whose `prior` serves the functions of `contract`.
`RowScorer` serves any likelihood from the clusters' rows of statistics. The others keep what they need of cluster k in
`lanes[:, k]`, so that their loops run over neighbouring clusters and become vector instructions. Lanes come in eights:
what stands in unused ones is computed and never looked at.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.generic import generic
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_predictive, remove
from bayesgrove.likelihoods.moments import COUNT, MEAN, SPREAD, WIDTH
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.special import LOG_2PI, LOG_PI

LANES = 8
FACTORS_BEFORE_RESCUE = 8
"""Factors multiplied before their exponent is taken apart; each may be as large as 2**127."""


@generic
def n_fields(scorer):
    """Number of fields of a lane."""


@generic
def fill_lane(scorer, row, lanes, place):
    """Write what the scorer needs of the cluster `row` into lane `place`."""


@generic
def fill_lane_without(scorer, rows, lanes, own, place, x):
    """As `fill_lane` for cluster `own` less its datum `x`, of which it has more; good for scoring `x` only.

    `rows[place]` is written where `score_lanes` reads rows.
    """


@generic
def score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """Log density of `x` given each of the first clusters to `out[0]`; `out[1]` is scratch."""


@kernel
def padded(n_clusters):
    """The next multiple of the number of lanes."""
    return (n_clusters + LANES - 1) // LANES * LANES


class RowScorer(NamedTuple):
    """Any likelihood: the predictive from a cluster's row of statistics."""

    prior: NamedTuple


@n_fields.register(RowScorer)
def row_n_fields(scorer):
    """The rows themselves are enough."""
    return 1


@fill_lane.register(RowScorer)
def row_fill_lane(scorer, row, lanes, place):
    """Nothing to keep."""


@fill_lane_without.register(RowScorer)
def row_fill_lane_without(scorer, rows, lanes, own, place, x):
    """The row without the datum."""
    for s in range(rows.shape[1]):
        rows[place, s] = rows[own, s]
    remove(scorer.prior, rows[place], x)


@score_lanes.register(RowScorer)
def row_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """One cluster after another."""
    for k in range(n_clusters):
        out[0, k] = log_predictive(scorer.prior, rows[k], x)


class DiagonalScorer(NamedTuple):
    """Diagonal Gaussian, no missing cell, one shape for all columns.

    sum_j -power log(1 + t_j) = -power log(prod_j (1 + t_j)): one logarithm per cluster, not per column. A lane holds
    [constant, power, means, 1 / scales].
    """

    prior: NamedTuple
    gamma_steps: np.ndarray
    """lgamma(shape + (n + 1) / 2) - lgamma(shape + n / 2) for n = 0, 1, ...."""


@kernel
def gamma_step_table(shape, n_rows):
    """The scorer's table."""
    table = np.empty(n_rows + 1)
    before = math.lgamma(shape)
    for n in range(n_rows + 1):
        after = math.lgamma(shape + 0.5 * (n + 1))
        table[n] = after - before
        before = after
    return table


@n_fields.register(DiagonalScorer)
def diagonal_n_fields(scorer):
    """Constant, power, means, inverse scales."""
    return 2 + 2 * scorer.prior.mean.size


@fill_lane.register(DiagonalScorer)
def diagonal_fill_lane(scorer, row, lanes, place):
    """Parameters of the Student t density of each column."""
    mean, strength, shape, rate, grain = scorer.prior
    n, n_columns = row[COUNT], mean.size
    product, exponent, rounding = 1.0, 0.0, 0.0
    for j in range(n_columns):
        m = row[WIDTH * j + MEAN] - mean[j]
        inverse = 1.0 / (strength[j] + n)
        rate_n = rate[j] + 0.5 * (row[WIDTH * j + SPREAD] + strength[j] * n * inverse * m * m)
        if grain[j] > 0.0:
            rounding += math.log(rate_n / (rate_n + 0.5 * grain[j]))
            rate_n += 0.5 * grain[j]
        scale = 2.0 * rate_n * (1.0 + inverse)
        lanes[2 + j, place] = mean[j] + n * inverse * m
        lanes[2 + n_columns + j, place] = 1.0 / scale
        product *= scale
        if j % 4 == 3:
            exponent += exponent_of(product)
            product = mantissa_of(product)
    log_scales = fast_log(product, exponent)
    lanes[0, place] = n_columns * (scorer.gamma_steps[int(n)] - 0.5 * LOG_PI) - 0.5 * log_scales
    lanes[0, place] += (shape[0] + 0.5 * n) * rounding
    lanes[1, place] = shape[0] + 0.5 * n + 0.5


@fill_lane_without.register(DiagonalScorer)
def diagonal_fill_lane_without(scorer, rows, lanes, own, place, x):
    """The same with the mean and spread that `remove` would leave; a body of its own, because a call costs more."""
    mean, strength, shape, rate, grain = scorer.prior
    n, n_columns = rows[own, COUNT] - 1.0, mean.size
    share, keep = 1.0 / n, 0.0 if n == 1.0 else 1.0  # one cell has no spread but its rounding
    product, exponent, rounding = 1.0, 0.0, 0.0
    for j in range(n_columns):
        gap = x[j] - rows[own, WIDTH * j + MEAN]
        known = rows[own, WIDTH * j + SPREAD] - (n + 1.0) * grain[j]
        spread = keep * max(0.0, known - gap * gap * (1.0 + share)) + n * grain[j]
        m = x[j] - gap * (1.0 + share) - mean[j]
        inverse = 1.0 / (strength[j] + n)
        rate_n = rate[j] + 0.5 * (spread + strength[j] * n * inverse * m * m)
        if grain[j] > 0.0:
            rounding += math.log(rate_n / (rate_n + 0.5 * grain[j]))
            rate_n += 0.5 * grain[j]
        scale = 2.0 * rate_n * (1.0 + inverse)
        lanes[2 + j, place] = mean[j] + n * inverse * m
        lanes[2 + n_columns + j, place] = 1.0 / scale
        product *= scale
        if j % 4 == 3:
            exponent += exponent_of(product)
            product = mantissa_of(product)
    log_scales = fast_log(product, exponent)
    lanes[0, place] = n_columns * (scorer.gamma_steps[int(n)] - 0.5 * LOG_PI) - 0.5 * log_scales
    lanes[0, place] += (shape[0] + 0.5 * n) * rounding
    lanes[1, place] = shape[0] + 0.5 * n + 0.5


@score_lanes.register(DiagonalScorer)
def diagonal_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """Product over columns, then one logarithm."""
    diagonal_scores(lanes, x, n_clusters, out)


@kernel(fastmath=SAFE_FLAGS)
def factor(cell, mean, inverse_scale):
    """1 + the squared distance in units of the scale."""
    gap = cell - mean
    return 1.0 + gap * gap * inverse_scale


@kernel(fastmath=SAFE_FLAGS)
def diagonal_scores(lanes, x, n_clusters, out):
    """Body of `diagonal_score_lanes`, a function of its own for its flags; four columns a pass spare loads."""
    stand_alone()
    n_columns, n = x.size, padded(n_clusters)
    for i in range(n):
        out[0, i] = 1.0
        out[1, i] = 0.0
    m, s = 2, 2 + n_columns
    for j in range(0, n_columns - 3, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for i in range(n):
            first = factor(x0, lanes[m, i], lanes[s, i]) * factor(x1, lanes[m + 1, i], lanes[s + 1, i])
            second = factor(x2, lanes[m + 2, i], lanes[s + 2, i]) * factor(x3, lanes[m + 3, i], lanes[s + 3, i])
            out[0, i] *= first * second
        m += 4
        s += 4
        if j % FACTORS_BEFORE_RESCUE != 0:
            for i in range(n):
                out[1, i] += exponent_of(out[0, i])
                out[0, i] = mantissa_of(out[0, i])
    for j in range(n_columns - n_columns % 4, n_columns):
        x0 = x[j]
        for i in range(n):
            out[0, i] *= factor(x0, lanes[m, i], lanes[s, i])
        m += 1
        s += 1
    for i in range(n):
        out[0, i] = lanes[0, i] - lanes[1, i] * fast_log(out[0, i], out[1, i])


class KnownScorer(NamedTuple):
    """Gaussian of known variance, no missing cell; a lane holds [constant, means, 1 / (2 variances)]."""

    prior: NamedTuple


@n_fields.register(KnownScorer)
def known_n_fields(scorer):
    """Constant, means, inverse variances."""
    return 1 + 2 * scorer.prior.variance.size


@kernel
def known_lane(scorer, n, row, x, share, lanes, place):
    """Normal densities given n cells: the row less cells `x`, `share` = 1 / n; or, with a share of 0, the whole row."""
    variance, prior_mean, prior_variance = scorer.prior
    n_columns, constant = variance.size, 0.0
    for j in range(n_columns):
        m = row[WIDTH * j + MEAN]
        m -= (x[j] - m) * share
        wide = variance[j] + n * prior_variance[j]
        spread = variance[j] + prior_variance[j] * (variance[j] / wide)
        lanes[1 + j, place] = (variance[j] * prior_mean[j] + n * prior_variance[j] * m) / wide
        lanes[1 + n_columns + j, place] = 0.5 / spread
        constant -= 0.5 * (LOG_2PI + math.log(spread))
    lanes[0, place] = constant


@fill_lane.register(KnownScorer)
def known_fill_lane(scorer, row, lanes, place):
    """Of all cells."""
    known_lane(scorer, row[COUNT], row, row, 0.0, lanes, place)


@fill_lane_without.register(KnownScorer)
def known_fill_lane_without(scorer, rows, lanes, own, place, x):
    """Of all but one."""
    n = rows[own, COUNT] - 1.0
    known_lane(scorer, n, rows[own], x, 1.0 / n, lanes, place)


@score_lanes.register(KnownScorer)
def known_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """Sum over columns."""
    known_scores(lanes, x, n_clusters, out)


@kernel(fastmath=SAFE_FLAGS)
def known_scores(lanes, x, n_clusters, out):
    """Body of `known_score_lanes`."""
    stand_alone()
    n_columns, n = x.size, padded(n_clusters)
    for i in range(n):
        out[0, i] = lanes[0, i]
    for j in range(n_columns):
        cell = x[j]
        for i in range(n):
            gap = cell - lanes[1 + j, i]
            out[0, i] -= gap * gap * lanes[1 + n_columns + j, i]


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
    """Deviation of the mean, and the scale of n rows plus so many grains; see `known_lane` for `x` and `share`."""
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
    """Mean and inverse factor of n rows, computed where they stand; see `known_lane` for `x` and `share`."""
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
