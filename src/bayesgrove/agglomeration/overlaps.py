"""Clusters as unions of components where columns are discrete or mixed: components between which rows are torn.

Columns of such tables are independent within a component, so that a cluster with dependent columns is covered by
several components side by side. Densities of mixed columns have no valleys in space, but rows of two groups of
components have a log density ratio, s(x) = log f_b(x) - log f_a(x), whatever the columns are: of two clusters it is
large and negative in one, large and positive in the other; of pieces of one cluster it passes through 0 where they
meet. Rows belong to the two groups in shares, as hard edges would cut off the tails. With the mean and the standard
deviation of s in either group, weighted by these shares, the density of s is taken for that of two Gaussians on a line,
and the groups are apart if its valley is deep enough by `RULE` (see `unions`). Where rows have missing cells, s varies
with the number of cells: the valley is also that of two equal Gaussians which share as many rows as the groups do.

Density ratios of a row leave the row itself out of its component; otherwise small components would seem to be apart.
"""

import math
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.agglomeration.unions import Rule, is_valley, valley_ratios
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_predictive, remove
from bayesgrove.stats.partitions import relabel

RULE = Rule(saddle_ratio=0.446)
"""Matched pieces of a flat ridge have valleys of this depth even if rows do not belong to them in shares."""
LEAST_SHARE, LEAST_SPREAD = 1e-12, 1e-9


@kernel
def left_out_predictives(prior, values, rows, labels):
    """Log predictive density of each row in each component, left out of its own, (n_rows, n_components)."""
    n, k = values.shape[0], rows.shape[0]
    out = np.empty((n, k))
    for i in range(n):
        own = rows[labels[i]].copy()
        remove(prior, own, values[i])
        for c in range(k):
            out[i, c] = log_predictive(prior, own if c == labels[i] else rows[c], values[i])
    return out


class Groups:
    """Groups of components that are being joined: their rows, and their densities at all rows, times their sizes."""

    def __init__(self, log_densities: np.ndarray, labels: np.ndarray) -> None:
        sizes = np.bincount(labels)
        self.log_weight = log_densities + np.log(sizes)
        self.members = [np.flatnonzero(labels == k) for k in range(sizes.size)]

    def join(self, a: int, b: int) -> None:
        """Put group `b` into group `a`."""
        self.members[a] = np.concatenate([self.members[a], self.members[b]])
        self.log_weight[:, a] = np.logaddexp(self.log_weight[:, a], self.log_weight[:, b])

    def ratio(self, a: int, b: int) -> float:
        """Ratio of the valley between two groups to the lower peak; 1 where there is none."""
        rows = np.concatenate([self.members[a], self.members[b]])
        log_odds = self.log_weight[rows, b] - self.log_weight[rows, a]
        second = np.clip(expit(log_odds), LEAST_SHARE, 1.0 - LEAST_SHARE)
        shares = np.stack([1.0 - second, second])
        sizes = shares.sum(axis=1)
        means = shares @ log_odds / sizes
        variances = np.sum(shares * (log_odds - means[:, np.newaxis]) ** 2, axis=1) / sizes
        spread = np.sqrt(np.maximum(variances, LEAST_SPREAD**2))
        far = float(means[1] - means[0])
        if far <= 0.0:
            return 1.0
        by_moments = float(valley_ratios(sizes[np.newaxis], np.array([far]), spread[np.newaxis])[0])
        return min(by_moments, ratio_of_error(float(np.max(1.0 - np.sum(shares**2, axis=1) / sizes))))

    def least(self, a: int, b: int) -> int:
        """Rows of the smaller of two groups."""
        return min(self.members[a].size, self.members[b].size)


def ratio_of_error(error: float) -> float:
    """Valley between two equal Gaussians that share this part of their rows with each other."""
    distance = 2.0 * float(ndtri(1.0 - error)) if error < 0.5 else 0.0
    return 2.0 * math.exp(-(distance**2) / 8.0) / (1.0 + math.exp(-(distance**2) / 2.0))


def clusters_by_overlap(prior: Any, values: np.ndarray, labels: np.ndarray, rule: Rule = RULE) -> np.ndarray:
    """Cluster of each component of a partition, from 0 by first appearance.

    Parameters
    ----------
    prior : NamedTuple
        Of the columns.
    values : ndarray of shape (n_rows, n_columns)
        Encoded rows; NaN is a missing cell.
    labels : int array of shape (n_rows,)
        Component of each row, consecutive from 0.
    rule : Rule
    """
    k = int(labels.max()) + 1
    rows = cluster_statistics(prior, values, labels, k)[0]
    groups = Groups(left_out_predictives(prior, values, rows, labels), labels)
    overlap = np.full((k, k), -1.0)  # of pairs that are one cluster; -1 of those that are apart

    def compare(a: int, b: int) -> None:
        ratio = groups.ratio(a, b)
        overlap[a, b] = overlap[b, a] = -1.0 if is_valley(ratio, groups.least(a, b), rule) else ratio

    for a in range(k):
        for b in range(a):
            compare(a, b)
    home, alive = np.arange(k), set(range(k))
    while overlap.max() >= 0.0:
        a, b = (int(place) for place in np.unravel_index(overlap.argmax(), overlap.shape))
        groups.join(a, b)
        home[home == b] = a
        alive.discard(b)
        overlap[b], overlap[:, b] = -1.0, -1.0
        for other in sorted(alive - {a}):
            compare(a, other)
    return relabel(home)
