"""Scores of clusters against tiles of 64 others: the inner loop of every agglomeration.

score(a, b) = log concentration + lgamma(n) + log marginal(a u b) - q_a - q_b, n = n_a + n_b,

is the log odds that a and b form one cluster: the published order of merges. The size-tempered order,

s(a, b) = [log marginal(a u b) - log marginal(a) - log marginal(b)] sqrt((n_a + n_b) / (n_a n_b)),

does not favour clusters for being large, and so does not chain. What a cluster brings into its scores is its base: q in
the one order, the log marginal in the other. A scorer is a NamedTuple whose type chooses the bodies: `RowScorer`
serves any likelihood, the others are faster. Fast scorers keep what they need of a cluster in tiles,
`tiles[tile, field, lane]`, so that the inner loops run over neighbouring numbers and become vector instructions.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.generic import generic
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.likelihoods.moments import MEAN, SPREAD, WIDTH
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone

LANES = 64
FACTORS_BEFORE_RESCUE = 16
NOBODY = 1e300
"""Base of an empty place: no score with it ever wins."""


class Clusters(NamedTuple):
    """The clusters at hand, by position; 64 neighbouring positions form a tile."""

    rows: np.ndarray
    """(capacity, n_stats) sufficient statistics."""
    tiles: np.ndarray
    """(capacity / 64, n_fields, 64) what the scorer keeps."""
    sizes: np.ndarray
    """(capacity,) number of rows of data; kept where a cluster has died, so that tiles of single rows stay alike."""
    base: np.ndarray
    """(capacity,) what is taken off each score with this cluster; NOBODY where there is no cluster."""


@generic
def n_fields(scorer):
    """Number of fields a lane has in this scorer's tiles."""


@generic
def fill_lane(scorer, clusters, position):
    """Write what the scorer needs of the cluster at `position` into its lane."""


@generic
def block_scores(scorer, clusters, first_owner, last_owner, first_tile, last_tile, out, top):
    """Scores of a range of owners against a range of tiles.

    `out[o, 64 t + lane]` belongs to owner `first_owner + o` and tile `first_tile + t`; last ones are exclusive.
    `top[o, t]` is the highest of its 64 scores.
    """


class RowScorer(NamedTuple):
    """Any likelihood: merge the two rows of statistics and take the log marginal."""

    prior: NamedTuple
    log_weight: np.ndarray
    tempered: bool


@n_fields.register(RowScorer)
def row_n_fields(scorer):
    """The rows themselves are enough."""
    return 0


@fill_lane.register(RowScorer)
def row_fill_lane(scorer, clusters, position):
    """Nothing to keep."""


@block_scores.register(RowScorer)
def row_block_scores(scorer, clusters, first_owner, last_owner, first_tile, last_tile, out, top):
    """One pair after another."""
    union = np.empty(clusters.rows.shape[1])
    for owner in range(first_owner, last_owner):
        for a in range(LANES * first_tile, LANES * last_tile):
            score = -np.inf
            if clusters.base[a] != NOBODY:
                merge(scorer.prior, union, clusters.rows[a], clusters.rows[owner])
                n_a, n_b = clusters.sizes[a], clusters.sizes[owner]
                score = scorer.log_weight[int(n_a + n_b)] + log_marginal(scorer.prior, union) - clusters.base[a]
                score -= clusters.base[owner]
                if scorer.tempered:
                    score *= math.sqrt((n_a + n_b) / (n_a * n_b))
            out[owner - first_owner, a - LANES * first_tile] = score
    fill_top(out, top, last_owner - first_owner, last_tile - first_tile)


@kernel
def fill_top(out, top, n_owners, n_tiles):
    """Highest score of each tile, for scorers that do not find it on their way."""
    for o in range(n_owners):
        for t in range(n_tiles):
            highest = out[o, LANES * t]
            for a in range(LANES * t + 1, LANES * (t + 1)):
                highest = max(highest, out[o, a])
            top[o, t] = highest


class GaussianScorer(NamedTuple):
    """Diagonal Gaussian, no missing cell, one shape for all columns.

    A lane keeps each column's posterior mean (from the prior's) and rate, so that the rate of a union needs one squared
    distance, rate_n = rate_a + SS_b / 2 + w (mean_b - mean_a)^2 with w = strength_a n_b / (2 (strength_a + n_b)):
    centred, hence accurate. And sum_j -shape_n log(rate_nj) = -shape_n log(prod_j rate_nj): one logarithm per pair,
    not per column.
    """

    mean: np.ndarray
    strength: np.ndarray
    shape: float
    rate: np.ndarray
    log_weight: np.ndarray
    tempered: bool
    one_strength: bool
    """Whether all columns have the same strength, so that weights are computed once for all of them."""


@n_fields.register(GaussianScorer)
def gaussian_n_fields(scorer):
    """Posterior mean and rate of each column."""
    return 2 * scorer.rate.size


@fill_lane.register(GaussianScorer)
def gaussian_fill_lane(scorer, clusters, position):
    """Posterior mean and rate of each column."""
    rows, tiles, prior_mean, prior_rate = clusters.rows, clusters.tiles, scorer.mean, scorer.rate
    tile, lane = position // LANES, position % LANES
    n, strength = clusters.sizes[position], scorer.strength
    for j in range(prior_rate.size):
        shrink = n / (strength[j] + n)
        mean = rows[position, WIDTH * j + MEAN] - prior_mean[j]
        pull = 0.5 * strength[j] * shrink * mean * mean
        tiles[tile, 2 * j, lane] = shrink * mean
        tiles[tile, 2 * j + 1, lane] = prior_rate[j] + 0.5 * rows[position, WIDTH * j + SPREAD] + pull


@block_scores.register(GaussianScorer)
def gaussian_block_scores(scorer, clusters, first_owner, last_owner, first_tile, last_tile, out, top):
    """Tiles outside, owners inside: a tile stays in the nearest cache."""
    block = (first_owner, last_owner, first_tile, last_tile)
    if scorer.one_strength:
        gaussian_block(scorer, clusters, block, out, top)
    else:
        uneven_block(scorer, clusters, block, out)
        fill_top(out, top, last_owner - first_owner, last_tile - first_tile)


@kernel(fastmath=SAFE_FLAGS)
def union_rate(rate, mean, weight, owner_mean, owner_half_spread):
    """Posterior rate of one column of a union, from one cluster's posterior and the other's data."""
    gap = owner_mean - mean
    return (rate + owner_half_spread) + weight * (gap * gap)


@kernel(fastmath=SAFE_FLAGS)
def gaussian_block(scorer, clusters, block, out, top):
    """Body of `gaussian_block_scores` with flags of its own.

    One function, no calls with arrays inside the loops: each such call would count references atomically, which
    costs as much as the arithmetic. Four columns a pass, so that weights and products are read once for all four.
    """
    stand_alone()
    rows, tiles, n_tiles = clusters.rows, clusters.tiles, clusters.tiles.shape[0]
    # Lanes as the last index of each array: then the compiler sees that indices are not negative and runs are whole.
    sizes, base = clusters.sizes.reshape(n_tiles, LANES), clusters.base.reshape(n_tiles, LANES)
    lanes_out = out.reshape(out.shape[0], out.shape[1] // LANES, LANES)
    mean, log_weight, strength, shape = scorer.mean, scorer.log_weight, scorer.strength[0], scorer.shape
    first_owner, last_owner, first_tile, last_tile = block
    n_columns = tiles.shape[1] // 2
    scratch = np.empty((3, LANES))  # weight, product, exponent: one base pointer for the compiler to see through
    for column in range(last_tile - first_tile):
        t = first_tile + column
        mixed = 0
        for i in range(LANES):
            mixed += sizes[t, i] != sizes[t, 0]
        for o in range(last_owner - first_owner):
            b = first_owner + o
            n_b, base_b = clusters.sizes[b], clusters.base[b]
            if mixed == 0:
                strength_a = strength + sizes[t, 0]
                weight = 0.5 * strength_a * n_b / (strength_a + n_b)
                for i in range(LANES):
                    scratch[0, i] = weight
            else:
                for i in range(LANES):
                    strength_a = strength + sizes[t, i]
                    scratch[0, i] = 0.5 * strength_a * n_b / (strength_a + n_b)
            for i in range(LANES):
                scratch[1, i] = 1.0
                scratch[2, i] = 0.0
            for j in range(0, n_columns - 3, 4):
                m, f = WIDTH * j + MEAN, 2 * j
                m0, m1 = rows[b, m] - mean[j], rows[b, m + WIDTH] - mean[j + 1]
                m2, m3 = rows[b, m + 2 * WIDTH] - mean[j + 2], rows[b, m + 3 * WIDTH] - mean[j + 3]
                m += SPREAD - MEAN
                h0, h1 = 0.5 * rows[b, m], 0.5 * rows[b, m + WIDTH]
                h2, h3 = 0.5 * rows[b, m + 2 * WIDTH], 0.5 * rows[b, m + 3 * WIDTH]
                for i in range(LANES):
                    r0 = union_rate(tiles[t, f + 1, i], tiles[t, f, i], scratch[0, i], m0, h0)
                    r1 = union_rate(tiles[t, f + 3, i], tiles[t, f + 2, i], scratch[0, i], m1, h1)
                    r2 = union_rate(tiles[t, f + 5, i], tiles[t, f + 4, i], scratch[0, i], m2, h2)
                    r3 = union_rate(tiles[t, f + 7, i], tiles[t, f + 6, i], scratch[0, i], m3, h3)
                    scratch[1, i] *= (r0 * r1) * (r2 * r3)
                if (j + 4) % FACTORS_BEFORE_RESCUE == 0:
                    for i in range(LANES):
                        scratch[2, i] += exponent_of(scratch[1, i])
                        scratch[1, i] = mantissa_of(scratch[1, i])
            for j in range(n_columns - n_columns % 4, n_columns):
                m0, h0 = rows[b, WIDTH * j + MEAN] - mean[j], 0.5 * rows[b, WIDTH * j + SPREAD]
                for i in range(LANES):
                    scratch[1, i] *= union_rate(tiles[t, 2 * j + 1, i], tiles[t, 2 * j, i], scratch[0, i], m0, h0)
            if mixed == 0:
                both = log_weight[int(sizes[t, 0] + n_b)]
                for i in range(LANES):
                    scratch[0, i] = both
            else:  # a loop of its own: gathers keep the compiler from making vectors of the rest
                for i in range(LANES):
                    scratch[0, i] = log_weight[int(sizes[t, i] + n_b)]
            for i in range(LANES):
                power = shape + 0.5 * (sizes[t, i] + n_b)
                score = scratch[0, i] - power * fast_log(scratch[1, i], scratch[2, i]) - base[t, i] - base_b
                scratch[2, i] = score
            if scorer.tempered:
                for i in range(LANES):
                    scratch[2, i] *= math.sqrt((sizes[t, i] + n_b) / (sizes[t, i] * n_b))
            for i in range(LANES):
                lanes_out[o, column, i] = scratch[2, i]
            for i in range(32):  # the maximum lane by lane, which becomes vector instructions
                scratch[2, i] = scratch[2, i] if scratch[2, i] > scratch[2, i + 32] else scratch[2, i + 32]
            for i in range(16):
                scratch[2, i] = scratch[2, i] if scratch[2, i] > scratch[2, i + 16] else scratch[2, i + 16]
            highest = scratch[2, 0]
            for i in range(1, 16):
                highest = scratch[2, i] if scratch[2, i] > highest else highest
            top[o, column] = highest


@kernel(fastmath=SAFE_FLAGS)
def uneven_block(scorer, clusters, block, out):
    """As `gaussian_block` where columns differ in strength: each has weights of its own, at about twice the cost."""
    stand_alone()
    rows, tiles, n_tiles = clusters.rows, clusters.tiles, clusters.tiles.shape[0]
    sizes, base = clusters.sizes.reshape(n_tiles, LANES), clusters.base.reshape(n_tiles, LANES)
    lanes_out = out.reshape(out.shape[0], out.shape[1] // LANES, LANES)
    mean, log_weight, strength, shape = scorer.mean, scorer.log_weight, scorer.strength, scorer.shape
    first_owner, last_owner, first_tile, last_tile = block
    n_columns = tiles.shape[1] // 2
    scratch = np.empty((2, LANES))  # product, exponent
    for column in range(last_tile - first_tile):
        t = first_tile + column
        for o in range(last_owner - first_owner):
            b = first_owner + o
            n_b, base_b = clusters.sizes[b], clusters.base[b]
            for i in range(LANES):
                scratch[0, i] = 1.0
                scratch[1, i] = 0.0
            for j in range(n_columns):
                m0, h0, s0 = rows[b, WIDTH * j + MEAN] - mean[j], 0.5 * rows[b, WIDTH * j + SPREAD], strength[j]
                for i in range(LANES):
                    held = s0 + sizes[t, i]
                    weight = 0.5 * held * n_b / (held + n_b)
                    scratch[0, i] *= union_rate(tiles[t, 2 * j + 1, i], tiles[t, 2 * j, i], weight, m0, h0)
                if (j + 1) % FACTORS_BEFORE_RESCUE == 0:
                    for i in range(LANES):
                        scratch[1, i] += exponent_of(scratch[0, i])
                        scratch[0, i] = mantissa_of(scratch[0, i])
            for i in range(LANES):
                power = shape + 0.5 * (sizes[t, i] + n_b)
                score = -power * fast_log(scratch[0, i], scratch[1, i]) - base[t, i] - base_b
                lanes_out[o, column, i] = score
            for i in range(LANES):
                lanes_out[o, column, i] += log_weight[int(sizes[t, i] + n_b)]
            if scorer.tempered:
                for i in range(LANES):
                    lanes_out[o, column, i] *= math.sqrt((sizes[t, i] + n_b) / (sizes[t, i] * n_b))


class CountScorer(NamedTuple):
    """Bernoulli, binomial, categorical, multinomial: sums of table entries at integer counts.

    Field k of a lane is a count whose term is `table[start[k] + count]`. Blocks of fields share a total whose term is
    `table[total_start[block] + total]`. The last field is the sum of log binomial or multinomial coefficients.
    """

    place: np.ndarray
    """Where each count stands in a row of statistics."""
    coefficient: np.ndarray
    """Where sums of log coefficients stand."""
    start: np.ndarray
    block: np.ndarray
    total_start: np.ndarray
    table: np.ndarray
    log_weight: np.ndarray
    tempered: bool


@n_fields.register(CountScorer)
def count_n_fields(scorer):
    """All counts and the coefficients."""
    return scorer.place.size + 1


@fill_lane.register(CountScorer)
def count_fill_lane(scorer, clusters, position):
    """Copy the counts, add up the coefficients."""
    tile, lane, last = position // LANES, position % LANES, scorer.place.size
    for k in range(last):
        clusters.tiles[tile, k, lane] = clusters.rows[position, scorer.place[k]]
    clusters.tiles[tile, last, lane] = 0.0
    for at in scorer.coefficient:
        clusters.tiles[tile, last, lane] += clusters.rows[position, at]


@block_scores.register(CountScorer)
def count_block_scores(scorer, clusters, first_owner, last_owner, first_tile, last_tile, out, top):
    """Gather and add, one more gather per block for its total."""
    tiles, count, base, table = clusters.tiles, clusters.sizes, clusters.base, scorer.table
    start, block, total_start, last = scorer.start, scorer.block, scorer.total_start, scorer.place.size
    total, score = np.empty(LANES), np.empty(LANES)
    for t in range(first_tile, last_tile):
        for b in range(first_owner, last_owner):
            own_tile, own_lane = b // LANES, b % LANES
            for lane in range(LANES):
                n = int(count[LANES * t + lane] + count[b])
                coefficients = tiles[t, last, lane] + tiles[own_tile, last, own_lane]
                score[lane] = scorer.log_weight[n] - base[LANES * t + lane] + coefficients
            for group in range(block.size - 1):
                total[:] = total_start[group]
                for k in range(block[group], block[group + 1]):
                    own = tiles[own_tile, k, own_lane]
                    for lane in range(LANES):
                        union = own + tiles[t, k, lane]
                        total[lane] += union
                        score[lane] += table[start[k] + int(union)]
                for lane in range(LANES):
                    score[lane] += table[int(total[lane])]
            for lane in range(LANES):
                score[lane] -= base[b]
                if scorer.tempered:
                    n_a = count[LANES * t + lane]
                    score[lane] *= math.sqrt((n_a + count[b]) / (n_a * count[b]))
                out[b - first_owner, LANES * (t - first_tile) + lane] = score[lane]
    fill_top(out, top, last_owner - first_owner, last_tile - first_tile)
