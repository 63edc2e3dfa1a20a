"""Passes over the rows of a partition: each row leaves its cluster and joins the one that explains it best.

The weight of cluster k is n_k p(x | rows of k), that of a new cluster the concentration times p(x). Rows go one after
another, so that each sees where those before it have gone; the log joint of the partition never falls.
"""

import math
from typing import Any

import numpy as np

from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, remove
from bayesgrove.scoring.lanes import fill_lane, fill_lane_without, n_fields, padded, score_lanes
from bayesgrove.scoring.row_scorers import choose_scorer
from bayesgrove.stats.partitions import relabel

NEW = 0
"""Place of the empty cluster; others follow, and behind the last is room for a row's own cluster without it."""
MOST_NEW = 64
"""Clusters that may be founded in one pass."""
CLEARLY = 1e-9
"""By how much another cluster must be better: equal ones do not change over for ever."""


def reassigned(
    prior: Any, values: np.ndarray, labels: np.ndarray, log_concentration: float, *, complete: bool, n_passes: int
) -> np.ndarray:
    """Labels after some passes, or fewer once no row moves; consecutive from 0 by first appearance."""
    scorer = choose_scorer(prior, values.shape[0], complete=complete)
    log_size = np.log(np.maximum(np.arange(values.shape[0] + 1), 1.0))
    for _ in range(n_passes):
        labels, n_moved = one_pass(scorer, values, relabel(labels), log_size, log_concentration)
        if n_moved == 0:
            break
    return relabel(labels)


def one_pass(
    scorer: Any, values: np.ndarray, labels: np.ndarray, log_size: np.ndarray, log_concentration: float
) -> tuple[np.ndarray, int]:
    """Labels after one pass, and how many rows moved; statistics are made anew, so that rounding does not add up."""
    n_clusters = int(labels.max()) + 1
    capacity = int(padded(n_clusters + MOST_NEW + 2))
    places = labels + 1
    rows, sizes = cluster_statistics(scorer.prior, values, places, capacity)
    lanes = np.zeros((n_fields(scorer), capacity))
    n_moved = move_rows(
        scorer, values, places, sizes.astype(np.int64), rows, lanes, n_clusters + 1, log_size, log_concentration
    )
    return places, n_moved


@kernel
def move_rows(scorer, values, places, sizes, rows, lanes, n_used, log_size, log_concentration):
    """One pass over all rows; `places` are changed."""
    capacity, n_moved = sizes.size, 0
    out = np.empty((2, capacity))
    for k in range(n_used):
        fill_lane(scorer, rows[k], lanes, k)
    for i in range(values.shape[0]):
        x, own = values[i], places[i]
        n_scored = n_used
        if sizes[own] > 1:
            fill_lane_without(scorer, rows, lanes, own, n_used, x)
            n_scored += 1
        score_lanes(scorer, rows, lanes, x, n_scored, out)
        best = best_place(out[0], sizes, own, n_used, log_size, log_concentration, n_used + 1 < capacity)
        if best != own:
            if best == NEW:
                best = n_used
                n_used += 1
                for s in range(rows.shape[1]):
                    rows[best, s] = 0.0
            change_over(scorer, x, rows, sizes, lanes, own, best)
            places[i] = best
            n_moved += 1
    return n_moved


@kernel
def best_place(score, sizes, own, n_used, log_size, log_concentration, has_room):
    """Where a row has the largest weight: its own place unless another is clearly better."""
    if sizes[own] > 1:
        top = log_size[sizes[own] - 1] + score[n_used]
    else:
        top = log_concentration + score[NEW]
    best, top = own, top + CLEARLY
    for k in range(1, n_used):
        if k != own and sizes[k] > 0 and log_size[sizes[k]] + score[k] > top:
            best, top = k, log_size[sizes[k]] + score[k]
    if has_room and sizes[own] > 1 and log_concentration + score[NEW] > top:
        best = NEW
    return best


@kernel
def change_over(scorer, x, rows, sizes, lanes, old, new):
    """Take a row out of one cluster and put it into another."""
    remove(scorer.prior, rows[old], x)
    sizes[old] -= 1
    fill_lane(scorer, rows[old], lanes, old)
    add(scorer.prior, rows[new], x)
    sizes[new] += 1
    fill_lane(scorer, rows[new], lanes, new)


@kernel
def partition_log_joint(prior, rows, sizes, log_concentration):
    """Sum over clusters of log concentration + lgamma(size) + log marginal."""
    total = 0.0
    for k in range(sizes.size):
        total += log_concentration + math.lgamma(sizes[k]) + log_marginal(prior, rows[k])
    return total
