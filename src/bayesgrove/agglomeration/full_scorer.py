"""Pair scores of Gaussians with full covariances, 16 pairs at a time.

With a cluster a in its posterior form and b by its data, the posterior scale of their union is
scale_a + C_b + w g g', g = mean_b - posterior mean_a, w = strength_a n_b / (strength_a + n_b): one determinant per
pair. It is found by elimination without square roots, for 16 neighbouring lanes in turn, so that every step is a vector
instruction and the matrices stay in the nearest cache. Where all 16 are single rows x, the scale of b including the
grain of x is factored once: |scale_b + w g g'| = |scale_b| (1 + w g' scale_b^-1 g), g = x - posterior mean_b.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.scorers import LANES, NOBODY, block_scores, fill_lane, fill_top, n_fields
from bayesgrove.core.jit import kernel
from bayesgrove.stats.dense import cholesky
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.sixteen import (
    SIXTEEN,
    add_product,
    larger,
    multiply,
    scale,
    solve_row,
    subtract_from,
    subtract_products,
)

SMALLEST_PIVOT = 1e-290
"""Of an empty place, where nothing but zeros are eliminated."""


class FullScorer(NamedTuple):
    """Full covariances, no missing row; a lane keeps the posterior mean, from the prior's, and the scale by columns."""

    mean: np.ndarray
    strength: float
    dof: float
    scale: np.ndarray
    log_weight: np.ndarray
    """All terms that depend on the number of rows only."""
    tempered: bool


@n_fields.register(FullScorer)
def full_n_fields(scorer):
    """Posterior mean, and the lower triangle of the posterior scale."""
    return scorer.mean.size + scorer.mean.size * (scorer.mean.size + 1) // 2


@fill_lane.register(FullScorer)
def full_fill_lane(scorer, clusters, position):
    """Posterior mean and scale."""
    rows, tiles, size, n = clusters.rows, clusters.tiles, scorer.mean.size, clusters.sizes[position]
    tile, lane, at = position // LANES, position % LANES, size
    shrink = n / (scorer.strength + n)
    for j in range(size):
        gap = rows[position, 1 + j] - scorer.mean[j]
        tiles[tile, j, lane] = shrink * gap
        for i in range(j, size):
            pull = scorer.strength * shrink * gap * (rows[position, 1 + i] - scorer.mean[i])
            tiles[tile, at, lane] = scorer.scale[i, j] + rows[position, 1 + size + i * size + j] + pull
            at += 1


@block_scores.register(FullScorer)
def full_block_scores(scorer, clusters, first_owner, last_owner, first_tile, last_tile, out, top):
    """Tiles outside, owners inside."""
    full_block(scorer, clusters, (first_owner, last_owner, first_tile, last_tile), out)
    fill_top(out, top, last_owner - first_owner, last_tile - first_tile)


@kernel
def factor_with_row(scorer, n, row, single, factor):
    """What single rows need of a cluster of n rows: log determinant of its posterior scale, and a factor of it.

    The scale includes the scatter of `single`, the grain that every single row brings. Row i of the factor is divided
    by its last number, which is inverted, see `solve_row`.
    """
    size, weight = scorer.mean.size, scorer.strength * n / (scorer.strength + n)
    for i in range(size):
        pull = weight * (row[1 + i] - scorer.mean[i])
        for j in range(i + 1):
            at = 1 + size + i * size + j
            factor[i, j] = scorer.scale[i, j] + row[at] + pull * (row[1 + j] - scorer.mean[j]) + single[at]
    log_determinant = cholesky(factor)
    for i in range(size):
        factor[i, i] = 1.0 / factor[i, i]
        for j in range(i):
            factor[i, j] *= factor[i, i]
    return log_determinant


@kernel(fastmath=SAFE_FLAGS)
def full_block(scorer, clusters, block, out):
    """Body of `full_block_scores`, one function for the reasons given at `gaussian_block`."""
    stand_alone()
    rows, size, n_tiles, n_groups = clusters.rows, scorer.mean.size, clusters.tiles.shape[0], LANES // SIXTEEN
    n_fields, first_owner, first_tile = clusters.tiles.shape[1], block[0], block[2]
    lanes_in = clusters.tiles.reshape(n_tiles * n_fields * n_groups, SIXTEEN)
    sizes = clusters.sizes.reshape(n_tiles, n_groups, SIXTEEN)
    base = clusters.base.reshape(n_tiles, n_groups, SIXTEEN)
    lanes_out = out.reshape(out.shape[0], out.shape[1] // LANES, n_groups, SIXTEEN)
    log_weight, gap = scorer.log_weight, 4
    least, start = gap + size, gap + 2 * size  # rows of the scratch: four of its own, then these, then the matrix
    scratch, factor = np.empty((start + size * (size + 1) // 2, SIXTEEN)), np.empty((size, size))
    for t in range(first_tile, block[3]):
        for b in range(first_owner, block[1]):
            n_b, base_b, log_own, is_factored = clusters.sizes[b], clusters.base[b], 0.0, False
            held_b = (
                n_b / (scorer.strength + n_b) / (scorer.strength + 1.0)
            )  # lanes hold means of single rows shrunk so
            weight_b = (scorer.strength + n_b) / (scorer.strength + n_b + 1.0) * (scorer.strength + 1.0) ** 2
            for g in range(n_groups):
                n_living, n_larger, living = 0, 0, 0
                for lane in range(SIXTEEN):
                    is_living = base[t, g, lane] != NOBODY
                    n_living += is_living
                    n_larger += is_living and sizes[t, g, lane] > 1.0
                    living = lane if is_living else living
                    lanes_out[b - first_owner, t - first_tile, g, lane] = -NOBODY
                if n_living == 0:
                    continue
                field = t * n_fields * n_groups + g
                for lane in range(SIXTEEN):
                    scratch[1, lane] = 1.0  # product of the pivots' mantissas
                    scratch[2, lane] = 0.0  # sum of their exponents
                log_before = 0.0
                if n_larger == 0:  # single rows, each a change of rank one
                    if not is_factored:
                        single = rows[LANES * t + SIXTEEN * g + living]
                        log_own, is_factored = factor_with_row(scorer, n_b, rows[b], single, factor), True
                    log_before = log_own
                    for j in range(size):
                        mean = held_b * (rows[b, 1 + j] - scorer.mean[j])
                        subtract_from(scratch, gap + j, mean, lanes_in, field)
                        field += n_groups
                    for i in range(size):
                        solve_row(scratch, gap, i, factor)
                        add_product(scratch, 2, scratch, 2, 0.0, gap + i, gap + i)
                    for lane in range(SIXTEEN):
                        scratch[1, lane] += weight_b * scratch[2, lane]
                        scratch[2, lane] = 0.0
                else:
                    for lane in range(SIXTEEN):
                        held = scorer.strength + sizes[t, g, lane]
                        scratch[0, lane] = held * n_b / (held + n_b)
                    for j in range(size):
                        subtract_from(scratch, gap + j, rows[b, 1 + j] - scorer.mean[j], lanes_in, field)
                        field += n_groups
                    at = start
                    for j in range(size):
                        multiply(scratch, 3, 0, gap + j)
                        for i in range(j, size):
                            add_product(scratch, at, lanes_in, field, rows[b, 1 + size + i * size + j], 3, gap + i)
                            field += n_groups
                            at += 1
                        scale(scratch, least + j, at - size + j, 1e-16, SMALLEST_PIVOT)
                    at = start
                    for k in range(size):
                        larger(scratch, 3, at, least + k)
                        for lane in range(SIXTEEN):
                            scratch[0, lane] = 1.0 / scratch[3, lane]
                            scratch[2, lane] += exponent_of(scratch[3, lane])
                            scratch[1, lane] *= mantissa_of(scratch[3, lane])
                        if k % 512 == 511:  # each mantissa is below 2
                            for lane in range(SIXTEEN):
                                scratch[2, lane] += exponent_of(scratch[1, lane])
                                scratch[1, lane] = mantissa_of(scratch[1, lane])
                        after = at + size - k
                        for j in range(at + 1, at + size - k):
                            multiply(scratch, 3, j, 0)
                            subtract_products(scratch, after, j, at + size - k - j, 3)
                            after += at + size - k - j
                        at += size - k
                for lane in range(SIXTEEN):
                    power = 0.5 * (scorer.dof + sizes[t, g, lane] + n_b)
                    log_after = log_before + fast_log(scratch[1, lane], scratch[2, lane])
                    scratch[3, lane] = -power * log_after - base[t, g, lane] - base_b
                for lane in range(SIXTEEN):
                    scratch[3, lane] += log_weight[int(sizes[t, g, lane] + n_b)]
                if scorer.tempered:
                    for lane in range(SIXTEEN):
                        scratch[3, lane] *= math.sqrt((sizes[t, g, lane] + n_b) / (sizes[t, g, lane] * n_b))
                for lane in range(SIXTEEN):
                    lanes_out[b - first_owner, t - first_tile, g, lane] = scratch[3, lane]
