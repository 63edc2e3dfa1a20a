"""Splits and merges of the clusters of a partition that raise its log joint probability.

A cluster is reopened by a size-tempered tree of its rows, or of some of them: the last merge undone, followed by passes
that reassign rows.
"""

import math
from typing import Any

import numpy as np

from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.agglomeration.filters import assign, make_filter
from bayesgrove.agglomeration.potentials import greedy_merges
from bayesgrove.agglomeration.reassign import partition_log_joint, reassigned
from bayesgrove.agglomeration.regrow import last_merges_undone
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.rng import fixed_sample
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.processes import dirichlet_log_kappa

MOST_LOOKED_AT = 500
"""Rows of a cluster that are agglomerated when it is reopened."""
FEWEST_ROWS = 4
SETTLING_PASSES = 4
LEAST_SEPARATION = 0.6
"""Nats that a split must gain for each of the 2 n_a n_b / (n_a + n_b) rows it sets apart.

Two Gaussians five standard deviations apart gain as much. Mixtures fit skewed or flat clusters by many components;
splits that gain little would add more of those instead of clusters that the tree has missed.
"""


class Rows:
    """Rows with a prior under which partitions of them are compared."""

    def __init__(self, prior: Any, values: np.ndarray, log_concentration: float, *, complete: bool) -> None:
        self.prior, self.values = prior, values
        self.log_concentration, self.complete = log_concentration, complete

    def only(self, members: np.ndarray) -> "Rows":
        """Some of the rows."""
        values = np.ascontiguousarray(self.values[members])
        return Rows(self.prior, values, self.log_concentration, complete=self.complete)

    def log_joint(self, labels: np.ndarray) -> float:
        """Of a partition, without the constant of the process."""
        rows, sizes = cluster_statistics(self.prior, self.values, labels, int(labels.max()) + 1)
        return float(partition_log_joint(self.prior, rows, sizes, self.log_concentration))

    def settle(self, labels: np.ndarray, n_passes: int = SETTLING_PASSES) -> np.ndarray:
        """Rows reassigned."""
        return reassigned(
            self.prior, self.values, labels, self.log_concentration, complete=self.complete, n_passes=n_passes
        )


def reopened(rows: Rows, labels: np.ndarray) -> np.ndarray:
    """Labels after every cluster was offered to be split."""
    labels = relabel(labels)
    n_clusters = int(labels.max()) + 1
    for members in members_of(labels):
        parts = split_cluster(rows.only(members))
        if parts is not None:
            own = labels[members[0]]
            labels[members] = np.where(parts == 0, own, n_clusters + parts - 1)
            n_clusters += int(parts.max())
    return labels


def members_of(labels: np.ndarray) -> list[np.ndarray]:
    """Rows of each cluster that has enough of them to be split."""
    order, edges = np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))
    return [members for members in np.split(order, edges[:-1]) if members.size >= FEWEST_ROWS]


def log_joint_missed(rows: Rows, labels: np.ndarray) -> float:
    """What the log joint of a partition would gain if every cluster were split that gains by it, however little."""
    gains = (split_gain(rows.only(members))[1] for members in members_of(labels))
    return sum(max(gain, 0.0) for gain in gains)


def split_cluster(rows: Rows) -> np.ndarray | None:
    """A split of all rows of a cluster, or None where it does not gain enough."""
    parts, gain = split_gain(rows)
    return parts if gain > LEAST_SEPARATION * between_rows(parts) else None


def split_gain(rows: Rows) -> tuple[np.ndarray, float]:
    """A split of all rows of a cluster, and what the log joint gains by it."""
    n = rows.values.shape[0]
    seen = fixed_sample(n, MOST_LOOKED_AT)
    parts = last_split(rows.only(seen))
    if seen.size < n:
        parts = spread(rows, seen, parts)
    return parts, rows.log_joint(parts) - rows.log_joint(np.zeros(n, np.int64))


def between_rows(parts: np.ndarray) -> float:
    """2 n_a n_b / (n_a + n_b), for any number of parts."""
    sizes = np.bincount(parts)
    return parts.size - np.sum(sizes**2.0) / parts.size if sizes.size > 1 else math.inf


def last_split(rows: Rows) -> np.ndarray:
    """The last merge of a few rows' tree undone, and rows reassigned."""
    n = rows.values.shape[0]
    atoms = atoms_of_rows(rows.prior, rows.values, rows.log_concentration)
    merges = agglomerate(rows.prior, atoms, rows.log_concentration, complete=rows.complete, tempered=True)
    return rows.settle(last_merges_undone(merges.children, n, 2))


def spread(rows: Rows, seen: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """A partition of some rows spread to all: each row to the part that explains it best, then two passes."""
    n, n_parts = rows.values.shape[0], int(parts.max()) + 1
    statistics, sizes = cluster_statistics(rows.prior, np.ascontiguousarray(rows.values[seen]), parts, n_parts)
    density = make_filter(rows.prior, statistics, complete=rows.complete)
    labels = np.zeros(n, np.int64)
    assign(density, np.log(sizes), np.arange(n_parts + 1), rows.values, np.arange(n), 0, n, labels)
    return rows.settle(relabel(labels), 2)


def merged(rows: Rows, labels: np.ndarray) -> np.ndarray:
    """Labels after clusters were merged greedily while the log joint rises."""
    labels = relabel(labels)
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return labels
    statistics, sizes = cluster_statistics(rows.prior, rows.values, labels, n_clusters)
    log_kappa = dirichlet_log_kappa(rows.log_concentration, labels.size)
    found = greedy_merges(rows.prior, log_kappa, statistics, sizes.astype(np.int64), stop=True)
    return relabel(found.labels[labels])
