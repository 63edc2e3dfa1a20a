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
from bayesgrove.likelihoods.contract import log_predictive
from bayesgrove.likelihoods.gaussian_full import cholesky, full_mean, full_scale
from bayesgrove.likelihoods.moments import COUNT, MEAN, SPREAD, WIDTH
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.special import LOG_2PI, LOG_PI, log_rising

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
    mean, strength, shape, rate = scorer.prior
    n, n_columns = row[COUNT], mean.size
    half, product, exponent = 0.5 * n, 1.0, 0.0
    for j in range(n_columns):
        m = row[WIDTH * j + MEAN] - mean[j]
        strength_n = strength[j] + n
        rate_n = rate[j] + 0.5 * (row[WIDTH * j + SPREAD] + strength[j] * n / strength_n * m * m)
        scale = 2.0 * rate_n * (strength_n + 1.0) / strength_n
        lanes[2 + j, place] = mean[j] + n / strength_n * m
        lanes[2 + n_columns + j, place] = 1.0 / scale
        product *= scale
        if j % 4 == 3:
            exponent += exponent_of(product)
            product = mantissa_of(product)
    log_scales = fast_log(product, exponent)
    lanes[0, place] = n_columns * (scorer.gamma_steps[int(n)] - 0.5 * LOG_PI) - 0.5 * log_scales
    lanes[1, place] = shape[0] + half + 0.5


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


@fill_lane.register(KnownScorer)
def known_fill_lane(scorer, row, lanes, place):
    """Mean and variance of the normal density of each column."""
    variance, prior_mean, prior_variance = scorer.prior
    n, n_columns, constant = row[COUNT], variance.size, 0.0
    for j in range(n_columns):
        wide = variance[j] + n * prior_variance[j]
        spread = variance[j] + prior_variance[j] * (variance[j] / wide)
        lanes[1 + j, place] = (variance[j] * prior_mean[j] + n * prior_variance[j] * row[WIDTH * j + MEAN]) / wide
        lanes[1 + n_columns + j, place] = 0.5 / spread
        constant -= 0.5 * (LOG_2PI + math.log(spread))
    lanes[0, place] = constant


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


@fill_lane.register(FullScorer)
def full_fill_lane(scorer, row, lanes, place):
    """Factorise the posterior scale and invert its factor, column by column."""
    prior, size, n = scorer.prior, scorer.prior.mean.size, row[0]
    factor = full_scale(row, prior.mean, prior.strength, prior.scale)
    log_determinant = cholesky(factor)
    mean = full_mean(row, prior.mean, prior.strength)
    grow = math.sqrt((prior.strength + n) / (prior.strength + n + 1.0))
    inverse = np.zeros((size, size))
    for j in range(size):
        for i in range(j, size):
            total = 1.0 if i == j else 0.0
            for k in range(j, i):
                total -= factor[i, k] * inverse[k, j]
            inverse[i, j] = total / factor[i, i]
    at = 2 + size
    for i in range(size):
        lanes[2 + i, place] = mean[i]
        for j in range(i + 1):
            lanes[at, place] = grow * inverse[i, j]
            at += 1
    lanes[0, place] = (
        scorer.gamma_steps[int(n)]
        - 0.5 * size * (LOG_PI + math.log1p(1.0 / (prior.strength + n)))
        - 0.5 * log_determinant
    )
    lanes[1, place] = 0.5 * (prior.dof + n + 1.0)


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


class CodeScorer(NamedTuple):
    """Bernoulli or categorical columns, no missing cell: column j has the codes 0 .. start[j + 1] - start[j] - 1.

    A lane holds the log probability of each code of each column.
    """

    prior: NamedTuple
    start: np.ndarray
    weight: np.ndarray
    """Prior weight of each code."""


@n_fields.register(CodeScorer)
def code_n_fields(scorer):
    """One per code of each column."""
    return scorer.weight.size


@fill_lane.register(CodeScorer)
def code_fill_lane(scorer, row, lanes, place):
    """Posterior mean of each code's probability, as a log."""
    start, weight = scorer.start, scorer.weight
    for j in range(start.size - 1):
        total = 0.0
        for code in range(start[j], start[j + 1]):
            total += weight[code] + row[code]
        log_total = math.log(total)
        for code in range(start[j], start[j + 1]):
            lanes[code, place] = math.log(weight[code] + row[code]) - log_total


@score_lanes.register(CodeScorer)
def code_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """Sum over columns."""
    code_scores(scorer.start, lanes, x, n_clusters, out)


@kernel(fastmath=SAFE_FLAGS)
def code_scores(start, lanes, x, n_clusters, out):
    """Body of `code_score_lanes`."""
    stand_alone()
    n = padded(n_clusters)
    for i in range(n):
        out[0, i] = 0.0
    for j in range(x.size):
        code = start[j] + int(x[j])
        for i in range(n):
            out[0, i] += lanes[code, i]


class WordScorer(NamedTuple):
    """Documents, none missing: only words that occur are looked at. A lane holds the cluster's sum of weights."""

    prior: NamedTuple


@n_fields.register(WordScorer)
def word_n_fields(scorer):
    """The sum of weights."""
    return 1


@fill_lane.register(WordScorer)
def word_fill_lane(scorer, row, lanes, place):
    """Sum of weights and counts."""
    pseudo_count, total = scorer.prior.pseudo_count, 0.0
    for k in range(pseudo_count.size):
        total += pseudo_count[k] + row[k]
    lanes[0, place] = total


@score_lanes.register(WordScorer)
def word_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """One word after another; most occur once, which needs no gamma function."""
    pseudo_count = scorer.prior.pseudo_count
    words = np.empty(x.size, np.int64)
    n_words, length, orderings = 0, 0.0, 0.0
    for k in range(x.size):
        if x[k] > 0.0:
            words[n_words] = k
            n_words += 1
            length += x[k]
            if x[k] > 1.0:
                orderings -= math.lgamma(x[k] + 1.0)
    orderings += math.lgamma(length + 1.0)
    for c in range(n_clusters):
        total = orderings - log_rising(lanes[0, c], length)
        for at in range(n_words):
            word = words[at]
            weight = pseudo_count[word] + rows[c, word]
            if x[word] == 1.0:
                total += math.log(weight)
            else:
                total += log_rising(weight, x[word])
        out[0, c] = total
