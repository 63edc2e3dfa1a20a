"""Several partitions that together stand for a posterior with several modes (WASABI)."""

from dataclasses import dataclass

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.inference.point_estimate import estimate_partition, spread_draws
from bayesgrove.stats.partition_losses import Loss, distances_to_draws, named_loss

MAX_TURNS = 20
SEARCHES = 4
"""Local searches of each partition in each turn."""


@dataclass(frozen=True, eq=False)
class Representatives:
    """Partitions that stand for the draws nearest to them, by falling weight."""

    labels: np.ndarray
    """(n, n_items): each consecutive from 0 in the order of each cluster's first item."""
    weights: np.ndarray
    """(n,): shares of the draws that each stands for."""
    assignment: np.ndarray
    """(n_chains x n_draws,): which one stands for each draw, chain after chain."""
    expected_loss: float
    """Mean variation of information, in nats, from a draw to what stands for it."""

    def __repr__(self) -> str:
        counts = [int(labels.max()) + 1 for labels in self.labels]
        shares = ", ".join(f"{weight:.2f}" for weight in self.weights)
        return f"Representatives(n_clusters={counts}, weights=[{shares}], expected_loss={self.expected_loss:.4g})"


def representatives_of(seed: int, draws: np.ndarray, n: int, n_starts: int) -> Representatives:
    """See `Posterior.representatives`."""
    for name, value in (("n", n), ("n_starts", n_starts)):
        if value < 1:
            raise InvalidSettingError(f"{name} must be at least 1, got {value}. Leave it out for the default.")
    searched, measure = spread_draws(draws), named_loss("vi", draws.shape[1])
    best, least = searched[:1], np.inf
    for start in range(n_starts):
        found = alternate(seed + start, searched, first_choice(generator(seed, start), searched, n, measure), measure)
        loss = float(distances_to_draws(found, searched, measure).min(axis=0).mean())
        if loss < least - 1e-12:
            best, least = found, loss
    distances = distances_to_draws(best, draws, measure)
    nearest = distances.argmin(axis=0)
    weights = np.bincount(nearest, minlength=len(best)) / len(draws)
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > 0.0]
    place = np.empty(len(best), np.int64)
    place[order] = np.arange(order.size)
    expected = float(distances.min(axis=0).mean())
    return Representatives(best[order].astype(np.int64), weights[order], place[nearest], expected)


def first_choice(rng: np.random.Generator, draws: np.ndarray, n: int, measure: Loss) -> np.ndarray:
    """Draws far from each other: each next one with probability proportional to its distance to those chosen."""
    chosen = [int(rng.integers(len(draws)))]
    nearest = distances_to_draws(draws[chosen], draws, measure)[0]
    while len(chosen) < n and nearest.max() > 1e-12:
        chosen.append(int(rng.choice(len(draws), p=nearest / nearest.sum())))
        nearest = np.minimum(nearest, distances_to_draws(draws[chosen[-1:]], draws, measure)[0])
    return draws[chosen]


def alternate(seed: int, draws: np.ndarray, partitions: np.ndarray, measure: Loss) -> np.ndarray:
    """Draws to the nearest partition, partitions to the point estimates of their draws, in turns."""
    before = np.full(len(draws), -1)
    for _ in range(MAX_TURNS):
        nearest = distances_to_draws(partitions, draws, measure).argmin(axis=0)
        if np.array_equal(nearest, before):
            break
        before = nearest
        groups = [np.ascontiguousarray(draws[nearest == k]) for k in np.unique(nearest)]
        found = [estimate_partition(seed, group, "vi", n_starts=SEARCHES).labels for group in groups]
        partitions = np.unique(np.array(found, np.int32), axis=0)
    return partitions
