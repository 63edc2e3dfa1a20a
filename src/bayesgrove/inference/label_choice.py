"""Would another run choose the same labels?

Draws may be known well and still leave two partitions about equally good: chance then decides which of them is the
estimate. The estimate is compared with its rivals: the estimates from the draws that are farthest from it, and from
the draws with each number of clusters.
"""

import math

import numpy as np
from scipy.special import ndtr

from bayesgrove.inference.diagnostics import mixing
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.stats.partition_losses import distances_to_draws, named_loss
from bayesgrove.stats.partitions import adjusted_rand, relabel_draws

SEED, N_STARTS = 0, 4
MOST_DRAWS = 400
"""Searched, evenly spread; losses are those of all draws."""
FAR_SHARE, LEAST_SHARE = 0.25, 0.1
"""Of the draws: those that are farthest, and the fewest with one number of clusters that are looked at."""
SAME = 0.95
"""Adjusted Rand index from which on two partitions count as the same."""


def chance_of_other_labels(draws: np.ndarray, loss: str) -> float:
    """Probability that another run of this length would take a rival for the estimate.

    Parameters
    ----------
    draws : int array of shape (n_chains, n_draws, n_items)
        Labels.
    loss : str
        That the estimate minimises, as in `Posterior.point_estimate`.
    """
    n_chains, n_draws, n_items = draws.shape
    labels = relabel_draws(draws.reshape(-1, n_items))
    measure = named_loss(loss, n_items, 1.0)
    best = _estimate(labels, loss)
    distance = distances_to_draws(best[np.newaxis], labels, measure)[0]
    chance = 0.0
    for group in _groups(labels, distance):
        rival = _estimate(labels[group], loss)
        if adjusted_rand(best, rival) < SAME:
            gaps = distances_to_draws(rival[np.newaxis], labels, measure)[0] - distance
            chance = max(chance, _chance_of_other_sign(gaps.reshape(n_chains, n_draws)))
    return chance


def _groups(labels: np.ndarray, distance: np.ndarray) -> list[np.ndarray]:
    """Draws that may have an estimate of their own."""
    farthest = np.sort(np.argsort(-distance, kind="stable")[: math.ceil(FAR_SHARE * len(labels))])
    n_clusters = labels.max(axis=1)
    numbers, counts = np.unique(n_clusters, return_counts=True)
    return [farthest, *(np.flatnonzero(n_clusters == k) for k in numbers[counts >= LEAST_SHARE * len(labels)])]


def _chance_of_other_sign(values: np.ndarray) -> float:
    """Probability that the mean of another run has the other sign; two runs' difference has twice the variance."""
    error = mixing(values)[3] if np.ptp(values) > 0.0 else 0.0
    return float(ndtr(-abs(values.mean()) / (math.sqrt(2.0) * error))) if error > 0.0 else 0.0


def _estimate(labels: np.ndarray, loss: str) -> np.ndarray:
    """The partition of least expected loss under some draws."""
    few = labels[np.linspace(0, len(labels) - 1, min(len(labels), MOST_DRAWS)).round().astype(np.int64)]
    return estimate_partition(SEED, few, loss, n_starts=N_STARTS).labels.astype(np.int32)
