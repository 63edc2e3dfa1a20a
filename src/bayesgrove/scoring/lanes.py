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


@kernel(inline="always")
def place_column(prior, j, n, m, spread, lanes, place):
    """Student's t of column j given n cells, `m` their mean less the prior's; gives its scale and a log of rounding."""
    inverse, rounding = 1.0 / (prior.strength[j] + n), 0.0
    rate_n = prior.rate[j] + 0.5 * (spread + prior.strength[j] * n * inverse * m * m)
    if prior.grain[j] > 0.0:
        rounding = math.log(rate_n / (rate_n + 0.5 * prior.grain[j]))
        rate_n += 0.5 * prior.grain[j]
    scale = 2.0 * rate_n * (1.0 + inverse)
    lanes[2 + j, place] = prior.mean[j] + n * inverse * m
    lanes[2 + prior.mean.size + j, place] = 1.0 / scale
    return scale, rounding


@kernel(inline="always")
def close_lane(scorer, n, product, exponent, rounding, lanes, place):
    """Constant and power, from the product of all scales and the sum of the logs."""
    shape, log_scales = scorer.prior.shape[0], fast_log(product, exponent)
    lanes[0, place] = scorer.prior.mean.size * (scorer.gamma_steps[int(n)] - 0.5 * LOG_PI) - 0.5 * log_scales
    lanes[0, place] += (shape + 0.5 * n) * rounding
    lanes[1, place] = shape + 0.5 * n + 0.5


@fill_lane.register(DiagonalScorer)
def diagonal_fill_lane(scorer, row, lanes, place):
    """Parameters of the Student t density of each column."""
    prior, n = scorer.prior, row[COUNT]
    product, exponent, rounding = 1.0, 0.0, 0.0
    for j in range(prior.mean.size):
        m = row[WIDTH * j + MEAN] - prior.mean[j]
        scale, more = place_column(prior, j, n, m, row[WIDTH * j + SPREAD], lanes, place)
        rounding += more
        product *= scale
        if j % 4 == 3:
            exponent += exponent_of(product)
            product = mantissa_of(product)
    close_lane(scorer, n, product, exponent, rounding, lanes, place)


@fill_lane_without.register(DiagonalScorer)
def diagonal_fill_lane_without(scorer, rows, lanes, own, place, x):
    """The same with the mean and spread that `remove` would leave."""
    prior, n = scorer.prior, rows[own, COUNT] - 1.0
    share, keep = 1.0 / n, 0.0 if n == 1.0 else 1.0  # one cell has no spread but its rounding
    product, exponent, rounding = 1.0, 0.0, 0.0
    for j in range(prior.mean.size):
        gap, grain = x[j] - rows[own, WIDTH * j + MEAN], prior.grain[j]
        known = rows[own, WIDTH * j + SPREAD] - (n + 1.0) * grain
        spread = keep * max(0.0, known - gap * gap * (1.0 + share)) + n * grain
        m = x[j] - gap * (1.0 + share) - prior.mean[j]
        scale, more = place_column(prior, j, n, m, spread, lanes, place)
        rounding += more
        product *= scale
        if j % 4 == 3:
            exponent += exponent_of(product)
            product = mantissa_of(product)
    close_lane(scorer, n, product, exponent, rounding, lanes, place)


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
