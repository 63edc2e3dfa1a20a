"""Densities of new rows under draws of a mixture.

DP: p(x | X, partition) = sum_c |c| / (n + alpha) p(x | X_c) + alpha / (n + alpha) p(x).
Pitman-Yor: |c| - sigma and alpha + K sigma instead of |c| and alpha. Mixture of finite mixtures: (|c| + alpha)
V(n+1, K) / V(n, K) and alpha V(n+1, K+1) / V(n, K).
NGGP: p(x | X) = E[ (u / n) ( sum_c (|c| - sigma) / (1 + u) p(x | X_c) + alpha sigma (1 + u)^(sigma - 1) p(x) ) ].

The factor u / n belongs there: the weights of one draw do not sum to 1, only their mean over u does, and to normalise
each draw would be biased. Densities are therefore averaged over draws as they are. The probability that a row joins
a cluster of the point estimate is that it joins some cluster of some draw, shared out by where its members are.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.potentials import cluster_rows
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.likelihoods.drawing import draw_rows_of
from bayesgrove.models.nrm.hyper import free_places, scaled
from bayesgrove.models.nrm.process import ALPHA, DIRICHLET, FINITE, PITMAN_YOR, SIGMA, V
from bayesgrove.scoring.lanes import fill_lane, n_fields, padded, score_lanes
from bayesgrove.scoring.row_scorers import choose_scorer
from bayesgrove.stats.processes import USUAL_COMPONENTS, Components, log_finite_weight

MOST_DRAWS = 100
MOST_BYTES = 256 * 2**20


class Kept(NamedTuple):
    """What prediction needs of some draws."""

    start: np.ndarray
    """(n_draws + 1,): where the clusters of each draw begin."""
    rows: np.ndarray
    """(n_clusters_of_all_draws, n_stats)."""
    log_weight: np.ndarray
    """(n_clusters_of_all_draws,)."""
    log_new: np.ndarray
    """(n_draws,): weight of a new cluster."""
    log_factors: np.ndarray
    """(n_draws, n_learned): of the likelihood's numbers."""
    share: np.ndarray
    """(n_clusters_of_all_draws, n_clusters): of each cluster's members, where the point estimate has them."""


def draw_weights(
    kind: int, numbers: np.ndarray, sizes: np.ndarray, n: int, components: Components = USUAL_COMPONENTS
) -> tuple[np.ndarray, float]:
    """Log weights of the clusters and of a new one."""
    v, alpha, sigma = numbers[V], numbers[ALPHA], numbers[SIGMA]
    if kind == DIRICHLET:
        total = math.log(n + alpha)
        return np.log(sizes) - total, math.log(alpha) - total
    if kind == PITMAN_YOR:
        total = math.log(n + alpha)
        return np.log(sizes - sigma) - total, math.log(alpha + sizes.size * sigma) - total
    if kind == FINITE:
        old, same, more = (
            log_finite_weight(items, sizes.size + extra, alpha, components)
            for items, extra in ((n, 0), (n + 1, 0), (n + 1, 1))
        )
        return np.log(sizes + alpha) + same - old, math.log(alpha) + more - old
    plus = float(np.logaddexp(0.0, v))
    log_share = v - math.log(n)
    new = log_share + math.log(alpha) + math.log(sigma) + (sigma - 1.0) * plus
    return log_share + np.log(sizes - sigma) - plus, new


def choose_draws(n_draws: int, n_clusters: float, n_numbers: int) -> np.ndarray:
    """Evenly spread draws, as many as are useful and fit."""
    affordable = int(MOST_BYTES / (8.0 * n_numbers * max(1.0, n_clusters)))
    return np.unique(np.linspace(0, n_draws - 1, max(1, min(MOST_DRAWS, affordable, n_draws))).astype(np.int64))


def keep_draws(
    prior: Any,
    values: np.ndarray,
    kind: int,
    labels: np.ndarray,
    numbers: np.ndarray,
    log_factors: np.ndarray,
    estimate: np.ndarray,
    components: Components = USUAL_COMPONENTS,
) -> Kept:
    """What prediction needs of draws `labels` (draw, row) with `numbers` (draw, 3)."""
    n, n_clusters = values.shape[0], int(estimate.max()) + 1
    starts, rows, weights, news, shares = [0], [], [], [], []
    for draw, own in zip(labels.astype(np.int64), numbers, strict=True):
        n_own = int(draw.max()) + 1
        found = np.zeros((n_own, n_stats(prior)))
        cluster_rows(prior, values, draw, found)
        sizes = np.bincount(draw, minlength=n_own).astype(float)
        log_weight, log_new = draw_weights(kind, own, sizes, n, components)
        both = np.bincount(draw * n_clusters + estimate, minlength=n_own * n_clusters).reshape(n_own, n_clusters)
        rows.append(found)
        weights.append(log_weight)
        news.append(log_new)
        shares.append(both / sizes[:, None])
        starts.append(starts[-1] + n_own)
    return Kept(
        np.array(starts, np.int64),
        np.concatenate(rows),
        np.concatenate(weights),
        np.array(news),
        np.ascontiguousarray(log_factors, float),
        np.concatenate(shares),
    )


@kernel
def draw_scores(scorer, rows, values, out):
    """Log density of each row under each cluster, and last under the prior, to `out`."""
    n_clusters = rows.shape[0]
    every = np.zeros((padded(n_clusters + 1), rows.shape[1]))
    lanes = np.zeros((n_fields(scorer), every.shape[0]))
    scores = np.zeros((2, every.shape[0]))
    for k in range(n_clusters + 1):
        if k < n_clusters:
            for s in range(rows.shape[1]):
                every[k, s] = rows[k, s]
        fill_lane(scorer, every[k], lanes, k)
    for i in range(values.shape[0]):
        score_lanes(scorer, every, lanes, values[i], n_clusters + 1, scores)
        for k in range(n_clusters + 1):
            out[i, k] = scores[0, k]


def joint_scores(
    kept: Kept, prior: Any, free: tuple[str, ...], n: int, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Joint densities of the rows with each cluster of the estimate and, last, a new one, averaged over draws.

    They are given as (log scale of each row, what to multiply its exponential with).
    """
    places, complete = free_places(prior, free), not bool(np.isnan(values).any())
    n_clusters = kept.share.shape[1]
    log_scale, joint = np.full(values.shape[0], -np.inf), np.zeros((values.shape[0], n_clusters + 1))
    for s in range(kept.log_new.size):
        own = slice(kept.start[s], kept.start[s + 1])
        scorer = choose_scorer(scaled(prior, places, kept.log_factors[s]), n, complete=complete)
        scores = np.empty((values.shape[0], int(kept.start[s + 1] - kept.start[s]) + 1))
        draw_scores(scorer, kept.rows[own], values, scores)
        scores[:, :-1] += kept.log_weight[own]
        scores[:, -1] += kept.log_new[s]
        new_scale = np.maximum(log_scale, scores.max(axis=1))
        joint *= np.exp(log_scale - new_scale)[:, None]
        np.exp(scores - new_scale[:, None], out=scores)
        joint[:, :-1] += scores[:, :-1] @ kept.share[own]
        joint[:, -1] += scores[:, -1]
        log_scale = new_scale
    return log_scale - math.log(kept.log_new.size), joint


CHUNK_ROWS = 8_192


def log_density(kept: Kept, prior: Any, free: tuple[str, ...], n: int, values: np.ndarray) -> np.ndarray:
    """Log predictive density of each row."""
    found = np.empty(values.shape[0])
    for start in range(0, values.shape[0], CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        log_scale, joint = joint_scores(kept, prior, free, n, values[part])
        found[part] = log_scale + np.log(joint.sum(axis=1))
    return found


def cluster_probabilities(kept: Kept, prior: Any, free: tuple[str, ...], n: int, values: np.ndarray) -> np.ndarray:
    """Probability of each cluster of the estimate and, last, of a new one; rows sum to 1."""
    found = np.empty((values.shape[0], kept.share.shape[1] + 1))
    for start in range(0, values.shape[0], CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        _, joint = joint_scores(kept, prior, free, n, values[part])
        found[part] = joint / joint.sum(axis=1, keepdims=True)
    return found


def draw_rows(
    kept: Kept, prior: Any, free: tuple[str, ...], rng: np.random.Generator, template: np.ndarray, n_samples: int
) -> np.ndarray:
    """New rows from the predictive distribution, encoded."""
    places, n_draws = free_places(prior, free), kept.log_new.size
    weights = np.exp(np.concatenate([kept.log_weight, kept.log_new]))
    chosen = rng.choice(weights.size, n_samples, p=weights / weights.sum())
    out = np.tile(template, (n_samples, 1))
    empty = np.zeros(kept.rows.shape[1])
    for place in np.unique(chosen):
        is_new = place >= kept.log_weight.size
        draw = place - kept.log_weight.size if is_new else int(np.searchsorted(kept.start, place, side="right")) - 1
        own = scaled(prior, places, kept.log_factors[min(draw, n_draws - 1)])
        found = np.tile(template, (int(np.count_nonzero(chosen == place)), 1))
        draw_rows_of(own, rng, empty if is_new else kept.rows[place], found)
        out[chosen == place] = found
    return out
