"""Pair scores of Gaussians with full covariances, 16 pairs at a time.

With a cluster a in its posterior form and b by its data, the posterior scale of their union is
scale_a + C_b + w g g', g = mean_b - posterior mean_a, w = strength_a n_b / (strength_a + n_b): one determinant per
pair. It is found by elimination without square roots, for 16 neighbouring lanes in turn, so that every step is a vector
instruction and the matrices stay in the nearest cache.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.scorers import LANES, NOBODY, block_scores, fill_lane, fill_top, n_fields
from bayesgrove.core.jit import kernel
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.sixteen import SIXTEEN, add_product, subtract_product

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
    scratch = np.empty((start + size * (size + 1) // 2, SIXTEEN))
    for t in range(first_tile, block[3]):
        for b in range(first_owner, block[1]):
            n_b, base_b = clusters.sizes[b], clusters.base[b]
            for g in range(n_groups):
                n_living = 0
                for lane in range(SIXTEEN):
                    n_living += base[t, g, lane] != NOBODY
                    lanes_out[b - first_owner, t - first_tile, g, lane] = -NOBODY
                if n_living == 0:
                    continue
                for lane in range(SIXTEEN):
                    held = scorer.strength + sizes[t, g, lane]
                    scratch[0, lane] = held * n_b / (held + n_b)
                    scratch[1, lane] = 1.0  # product of the pivots' mantissas
                    scratch[2, lane] = 0.0  # sum of their exponents
                field = t * n_fields * n_groups + g
                for j in range(size):
                    mean = rows[b, 1 + j] - scorer.mean[j]
                    for lane in range(SIXTEEN):
                        scratch[gap + j, lane] = mean - lanes_in[field, lane]
                    field += n_groups
                at = start
                for j in range(size):
                    for lane in range(SIXTEEN):
                        scratch[3, lane] = scratch[0, lane] * scratch[gap + j, lane]
                    for i in range(j, size):
                        add_product(scratch, at, lanes_in, field, rows[b, 1 + size + i * size + j], 3, gap + i)
                        field += n_groups
                        at += 1
                    for lane in range(SIXTEEN):
                        scratch[least + j, lane] = 1e-16 * scratch[at - size + j, lane] + SMALLEST_PIVOT
                at = start
                for k in range(size):
                    for lane in range(SIXTEEN):
                        pivot, floor = scratch[at, lane], scratch[least + k, lane]
                        pivot = pivot if pivot > floor else floor
                        scratch[0, lane] = 1.0 / pivot
                        scratch[2, lane] += exponent_of(pivot)
                        scratch[1, lane] *= mantissa_of(pivot)
                    if k % 512 == 511:  # each mantissa is below 2
                        for lane in range(SIXTEEN):
                            scratch[2, lane] += exponent_of(scratch[1, lane])
                            scratch[1, lane] = mantissa_of(scratch[1, lane])
                    after = at + size - k
                    for j in range(at + 1, at + size - k):
                        for lane in range(SIXTEEN):
                            scratch[3, lane] = scratch[j, lane] * scratch[0, lane]
                        for i in range(j, at + size - k):
                            subtract_product(scratch, after, i, 3)
                            after += 1
                    at += size - k
                for lane in range(SIXTEEN):
                    power = 0.5 * (scorer.dof + sizes[t, g, lane] + n_b)
                    scratch[3, lane] = -power * fast_log(scratch[1, lane], scratch[2, lane]) - base[t, g, lane] - base_b
                for lane in range(SIXTEEN):
                    scratch[3, lane] += log_weight[int(sizes[t, g, lane] + n_b)]
                if scorer.tempered:
                    for lane in range(SIXTEEN):
                        scratch[3, lane] *= math.sqrt((sizes[t, g, lane] + n_b) / (sizes[t, g, lane] * n_b))
                for lane in range(SIXTEEN):
                    lanes_out[b - first_owner, t - first_tile, g, lane] = scratch[3, lane]
