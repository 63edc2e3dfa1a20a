"""Pair scores of Gaussians with full covariances, 16 pairs at a time.

With a cluster a in its posterior form and b by its data, the posterior scale of their union is
scale_a + C_b + w g g', g = mean_b - posterior mean_a, w = strength_a n_b / (strength_a + n_b): one determinant per
pair. It is found by elimination without square roots, for 16 neighbouring lanes in turn, so that every step is a vector
instruction and the matrices stay in the nearest cache.
"""

from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.scorers import LANES, block_scores, fill_lane, fill_top, n_fields
from bayesgrove.core.jit import kernel
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone

GROUP = 16
"""Lanes whose matrices are eliminated together."""
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
    rows, size, n_tiles, n_groups = clusters.rows, scorer.mean.size, clusters.tiles.shape[0], LANES // GROUP
    tiles = clusters.tiles.reshape(n_tiles, clusters.tiles.shape[1], n_groups, GROUP)
    sizes = clusters.sizes.reshape(n_tiles, n_groups, GROUP)
    base = clusters.base.reshape(n_tiles, n_groups, GROUP)
    lanes_out = out.reshape(out.shape[0], out.shape[1] // LANES, n_groups, GROUP)
    log_weight, first_tile = scorer.log_weight, block[2]
    n_entries = size * (size + 1) // 2
    gap, least = n_entries, n_entries + size  # places behind the matrix
    weight, product, exponent = n_entries + 2 * size, n_entries + 2 * size + 1, n_entries + 2 * size + 2
    spare = n_entries + 2 * size + 3
    scratch = np.empty((spare + 1, GROUP))
    for t in range(first_tile, block[3]):
        for b in range(block[0], block[1]):
            n_b, base_b = clusters.sizes[b], clusters.base[b]
            for g in range(n_groups):
                for lane in range(GROUP):
                    held = scorer.strength + sizes[t, g, lane]
                    scratch[weight, lane] = held * n_b / (held + n_b)
                    scratch[product, lane] = 1.0
                    scratch[exponent, lane] = 0.0
                for j in range(size):
                    mean = rows[b, 1 + j] - scorer.mean[j]
                    for lane in range(GROUP):
                        scratch[gap + j, lane] = mean - tiles[t, j, g, lane]
                at = 0
                for j in range(size):
                    for lane in range(GROUP):
                        scratch[spare, lane] = scratch[weight, lane] * scratch[gap + j, lane]
                    for i in range(j, size):
                        scatter = rows[b, 1 + size + i * size + j]
                        for lane in range(GROUP):
                            pull = scratch[spare, lane] * scratch[gap + i, lane]
                            scratch[at, lane] = (tiles[t, size + at, g, lane] + scatter) + pull
                        at += 1
                    at_jj = at - (size - j)
                    for lane in range(GROUP):
                        scratch[least + j, lane] = 1e-16 * scratch[at_jj, lane] + SMALLEST_PIVOT
                at_kk = 0
                for k in range(size):
                    for lane in range(GROUP):
                        pivot = scratch[at_kk, lane]
                        pivot = pivot if pivot > scratch[least + k, lane] else scratch[least + k, lane]
                        scratch[weight, lane] = 1.0 / pivot
                        scratch[exponent, lane] += exponent_of(pivot)
                        scratch[product, lane] *= mantissa_of(pivot)
                    if k % 512 == 511:  # each mantissa is below 2
                        for lane in range(GROUP):
                            scratch[exponent, lane] += exponent_of(scratch[product, lane])
                            scratch[product, lane] = mantissa_of(scratch[product, lane])
                    at_j = at_kk + size - k
                    for j in range(k + 1, size):
                        for lane in range(GROUP):
                            scratch[spare, lane] = scratch[at_kk + j - k, lane] * scratch[weight, lane]
                        for i in range(j, size):
                            for lane in range(GROUP):
                                scratch[at_j, lane] -= scratch[at_kk + i - k, lane] * scratch[spare, lane]
                            at_j += 1
                    at_kk += size - k
                for lane in range(GROUP):
                    power = 0.5 * (scorer.dof + sizes[t, g, lane] + n_b)
                    log_determinant = fast_log(scratch[product, lane], scratch[exponent, lane])
                    scratch[spare, lane] = -power * log_determinant - base[t, g, lane] - base_b
                for lane in range(GROUP):
                    scratch[spare, lane] += log_weight[int(sizes[t, g, lane] + n_b)]
                if scorer.tempered:
                    for lane in range(GROUP):
                        n_a = sizes[t, g, lane]
                        scratch[spare, lane] *= np.sqrt((n_a + n_b) / (n_a * n_b))
                for lane in range(GROUP):
                    lanes_out[b - block[0], t - first_tile, g, lane] = scratch[spare, lane]
