"""The state of a mixture's chain: a partition, the clusters' statistics and the numbers of process and likelihood.

Rows are in the order of the guide tree's leaves. Clusters are numbered 0 .. K - 1; place K of each array is scratch.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, n_stats
from bayesgrove.models.nrm.process import log_constant
from bayesgrove.scoring.lanes import LANES, fill_lane, n_fields, padded, score_lanes


class Clusters(NamedTuple):
    """A partition and all that is kept of its clusters, as kernels see it."""

    labels: np.ndarray
    """(n,) int64."""
    n_clusters: np.ndarray
    """(1,) int64: the number of clusters K."""
    sizes: np.ndarray
    """(capacity,) int64."""
    rows: np.ndarray
    """(capacity, n_stats) sufficient statistics."""
    lanes: np.ndarray
    """(n_fields, capacity) what the scorer keeps."""
    log_marginal: np.ndarray
    """(capacity,) log marginal likelihoods."""


class Weights(NamedTuple):
    """What does not change while points move: tables of the process and of single points."""

    log_kappa: np.ndarray
    """(n + 2,) log kappa(m)."""
    log_v: np.ndarray
    """(most clusters + 2,) log V(K)."""
    alone: np.ndarray
    """(n,) log density of each row as a cluster of its own."""


@dataclass(eq=False)
class State:
    """All of a chain's present: arrays are changed in place by moves, or replaced by larger ones."""

    clusters: Clusters
    weights: Weights
    numbers: np.ndarray
    """v, alpha, sigma."""
    log_factors: np.ndarray
    """Logs of the learned factors on the likelihood's numbers."""
    scorer: Any
    """With the likelihood's prior as it now is."""


def empty_clusters(scorer: Any, labels: np.ndarray, capacity: int) -> Clusters:
    """Arrays without contents."""
    capacity = int(padded(capacity + 1))
    return Clusters(
        labels,
        np.zeros(1, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros((capacity, n_stats(scorer.prior))),
        np.zeros((int(n_fields(scorer)), capacity)),
        np.zeros(capacity),
    )


def grow(clusters: Clusters) -> Clusters:
    """The same with twice the capacity."""

    def wider(array: np.ndarray, axis: int = 0) -> np.ndarray:
        return np.concatenate([array, np.zeros_like(array)], axis=axis)

    return clusters._replace(
        sizes=wider(clusters.sizes),
        rows=wider(clusters.rows),
        lanes=wider(clusters.lanes, 1),
        log_marginal=wider(clusters.log_marginal),
    )


@kernel
def rebuild(scorer, values, clusters):
    """Compute all but the labels again from the data; labels must be 0 .. K - 1."""
    labels, count, sizes, rows, lanes, log_marginals = clusters
    n_clusters = 0
    for i in range(labels.size):
        n_clusters = max(n_clusters, labels[i] + 1)
    count[0] = n_clusters
    for k in range(n_clusters):
        sizes[k] = 0
        for s in range(rows.shape[1]):
            rows[k, s] = 0.0
    for i in range(labels.size):
        k = labels[i]
        sizes[k] += 1
        add(scorer.prior, rows[k], values[i])
    for k in range(n_clusters):
        fill_lane(scorer, rows[k], lanes, k)
        log_marginals[k] = log_marginal(scorer.prior, rows[k])


@kernel
def refill(scorer, clusters):
    """Lanes and log marginals again, after the likelihood's numbers have changed."""
    _, count, _, rows, lanes, log_marginals = clusters
    for k in range(count[0]):
        fill_lane(scorer, rows[k], lanes, k)
        log_marginals[k] = log_marginal(scorer.prior, rows[k])


@kernel
def fill_alone(scorer, values, alone):
    """Log density of each row as a cluster of its own."""
    rows = np.zeros((LANES, n_stats(scorer.prior)))
    lanes = np.zeros((n_fields(scorer), LANES))
    out = np.zeros((2, LANES))
    for k in range(LANES):
        fill_lane(scorer, rows[k], lanes, k)
    for i in range(values.shape[0]):
        score_lanes(scorer, rows, lanes, values[i], 1, out)
        alone[i] = out[0, 0]


@kernel
def log_joint_of(kind, numbers, weights, sizes, log_marginals, n_clusters, n_items):
    """Log joint of data, partition and (but for the Dirichlet process) u; the quantity of traces."""
    total = log_constant(kind, numbers, n_items) + weights.log_v[n_clusters]
    for k in range(n_clusters):
        total += weights.log_kappa[sizes[k]] + log_marginals[k]
    return total


def new_state(
    scorer: Any,
    values: np.ndarray,
    labels: np.ndarray,
    tables: tuple[np.ndarray, np.ndarray],
    numbers: np.ndarray,
    log_factors: np.ndarray,
) -> State:
    """A state from labels 0 .. K - 1 in leaf order; `tables` are those of the process with these numbers."""
    clusters = empty_clusters(scorer, labels.astype(np.int64), max(15, 2 * (int(labels.max()) + 1)))
    rebuild(scorer, values, clusters)
    weights = Weights(*tables, np.empty(labels.size))
    fill_alone(scorer, values, weights.alone)
    return State(clusters, weights, numbers, log_factors, scorer)
