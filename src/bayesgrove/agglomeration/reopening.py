"""Clusters of a large partition looked into once more: what a sample of all rows has missed.

A sample of a cluster's own rows is agglomerated in the size-tempered order; its clusters attract the other rows. Parts
that are not clearly apart are merged again, first by the sample and then by all rows. New clusters are looked into in
the next round, until none is split.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.agglomeration.filters import assign, make_filter
from bayesgrove.agglomeration.partition_moves import LEAST_SEPARATION, Rows
from bayesgrove.agglomeration.regrow import last_merges_undone, most_probable_cut
from bayesgrove.agglomeration.splits import Chooser, Problem, places_by_label
from bayesgrove.agglomeration.statistics import cluster_statistics, statistics_of_clusters
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.stats.partitions import relabel

REOPENING_PATH = 0x0BE2
"""Keys the generators that draw samples of clusters, apart from those of other samples."""
FEWEST_ROWS = 50
"""Clusters of fewer rows are not looked into."""
MOST_ROUNDS = 8
CLUSTERS_AT_ONCE = 64
"""Clusters whose samples are in memory at a time."""


class Partition(NamedTuple):
    """Clusters of all rows: labels from 0 on without a gap, statistics and sizes."""

    labels: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray


def partition_of(problem: Problem, labels: np.ndarray) -> Partition:
    """The partition of some labels; those of no row are passed over."""
    rows, sizes = statistics_of_clusters(problem.prior, problem.rows, labels, int(labels.max()) + 1)
    present = sizes > 0
    if present.all():
        return Partition(labels, rows, sizes)
    return Partition((np.cumsum(present) - 1)[labels], rows[present], sizes[present])


def look_into(problem: Problem, values: np.ndarray) -> Chooser | None:
    """The clusters that a sample of a cluster shows, and an empty one, for all its rows to choose from; None: one."""
    rows = Rows(problem.prior, values, problem.log_concentration, complete=problem.complete)
    labels = rows.settle(parts_of_tree(rows))
    statistics, sizes = cluster_statistics(problem.prior, values, labels, int(labels.max()) + 1)
    near = merge_near(problem.prior, statistics, sizes, problem.log_concentration, LEAST_SEPARATION)
    if near.max() == 0:
        return None
    statistics, sizes = cluster_statistics(problem.prior, values, near[labels], int(near.max()) + 2)
    log_weight = np.append(np.log(sizes[:-1]), problem.log_concentration)
    density = make_filter(problem.prior, statistics, complete=problem.complete)
    return Chooser(density, log_weight, np.arange(sizes.size + 1))


def parts_of_tree(rows: Rows) -> np.ndarray:
    """The most probable cut of the tempered tree; where it is one cluster, the last merge undone."""
    atoms, n = atoms_of_rows(rows.prior, rows.values, rows.log_concentration), rows.values.shape[0]
    merges = agglomerate(rows.prior, atoms, rows.log_concentration, complete=rows.complete, tempered=True)
    labels, n_found = most_probable_cut(merges.children, merges.log_odds[n:], merges.log_q[n:], merges.log_q[:n])
    return relabel(labels if n_found > 1 else last_merges_undone(merges.children, n, 2))


@kernel
def cluster_weight(prior, row, size, log_concentration):
    """Log concentration + lgamma(size) + log marginal: a cluster's part of the log joint."""
    return log_concentration + math.lgamma(size) + log_marginal(prior, row)


@kernel
def merge_near(prior, rows, sizes, log_concentration, least):
    """Label of each cluster after those least apart were merged, pair after pair, while below `least`.

    How far two are apart: what the log joint gains by the split, for each of 2 n_a n_b / (n_a + n_b) rows.
    """
    k = sizes.size
    rows, sizes, label = rows.copy(), sizes.copy(), np.arange(k)
    weight, apart, union = np.empty(k), np.full((k, k), np.inf), np.empty(rows.shape[1])
    for a in range(k):
        weight[a] = cluster_weight(prior, rows[a], sizes[a], log_concentration)
        for b in range(a):
            apart[b, a] = pair_apart(prior, rows, sizes, weight, log_concentration, b, a, union)
    while True:
        a, b = 0, 0
        for i in range(k):
            for j in range(i + 1, k):
                if apart[i, j] < apart[a, b]:
                    a, b = i, j
        if not apart[a, b] < least:
            return numbered(label)
        merge(prior, rows[a], rows[a], rows[b])
        sizes[a] += sizes[b]
        weight[a] = cluster_weight(prior, rows[a], sizes[a], log_concentration)
        for i in range(k):
            if label[i] == b:
                label[i] = a
        for i in range(k):
            apart[min(i, b), max(i, b)] = np.inf
            if i != a and label[i] == i:
                low, high = min(i, a), max(i, a)
                apart[low, high] = pair_apart(prior, rows, sizes, weight, log_concentration, low, high, union)


@kernel
def pair_apart(prior, rows, sizes, weight, log_concentration, a, b, union):
    """How far two clusters are apart, see `merge_near`."""
    merge(prior, union, rows[a], rows[b])
    together = cluster_weight(prior, union, sizes[a] + sizes[b], log_concentration)
    return (weight[a] + weight[b] - together) * (sizes[a] + sizes[b]) / (2.0 * sizes[a] * sizes[b])


@kernel
def numbered(label):
    """Labels that are places of clusters, as consecutive numbers by first appearance."""
    number, n_found = np.full(label.size, NULL), 0
    out = np.empty(label.size, np.int64)
    for i in range(label.size):
        if number[label[i]] == NULL:
            number[label[i]] = n_found
            n_found += 1
        out[i] = number[label[i]]
    return out


def reopened(problem: Problem, n_sampled: int, partition: Partition, turn: int) -> tuple[Partition, int]:
    """The partition after clusters were split as long as any is, and how many rounds that took.

    Samples have `n_sampled` rows at most; `turn` keys their generators, for another look at the same clusters.
    """
    is_whole = np.zeros(partition.sizes.size, bool)
    for done in range(MOST_ROUNDS):
        wanted = np.flatnonzero((partition.sizes >= FEWEST_ROWS) & ~is_whole)
        labels, owner = propose(problem, n_sampled, partition, wanted, (turn, done))
        if owner.size == 0:
            return partition, done
        partition, is_split = keep_clear(problem, partition, labels, owner)
        if not is_split.any():
            return partition, done
        is_whole = np.zeros(partition.sizes.size, bool)
        is_whole[: is_split.size] = ~is_split
    return partition, MOST_ROUNDS


def propose(
    problem: Problem, n_sampled: int, partition: Partition, wanted: np.ndarray, path: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Parts of some clusters: for each row its part, NULL outside of them, and for each part the cluster it is of."""
    order = places_by_label(partition.labels, partition.sizes.size)
    starts = np.concatenate([[0], np.cumsum(partition.sizes)]).astype(np.int64)
    labels, owner, n_parts = np.full(order.size, NULL), [], 0
    for low in range(0, wanted.size, CLUSTERS_AT_ONCE):
        batch = wanted[low : low + CLUSTERS_AT_ONCE]
        members = [order[starts[k] : starts[k + 1]] for k in batch]
        samples = [
            draw_members(problem.seed, rows, n_sampled, (*path, int(k))) for rows, k in zip(members, batch, strict=True)
        ]
        for k, rows, own in zip(batch, members, find_parts(problem, samples, members), strict=True):
            if own is not None:
                labels[rows] = n_parts + own
                owner.append(np.full(int(own.max()) + 1, k))
                n_parts += owner[-1].size
    return labels, np.concatenate([np.empty(0, np.int64), *owner])


def draw_members(seed: int, members: np.ndarray, n_sampled: int, path: tuple[int, ...]) -> np.ndarray:
    """A sample of the rows of a cluster, ascending."""
    if members.size <= n_sampled:
        return members
    return np.sort(generator(seed, REOPENING_PATH, *path).choice(members, n_sampled, replace=False))


def find_parts(problem: Problem, samples: list[np.ndarray], members: list[np.ndarray]) -> list[np.ndarray | None]:
    """For each cluster the part of each of its rows by a sample of them; None where the sample is one cluster."""
    if problem.remote is not None:
        return problem.remote.look_into(problem, samples, members)

    def one(sample: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
        chooser = look_into(problem, problem.values[sample])
        if chooser is None:
            return None
        labels = np.full(rows.size, NULL)
        assign(*chooser, problem.values, rows, 0, rows.size, labels)
        return labels

    jobs = (delayed(one)(sample, rows) for sample, rows in zip(samples, members, strict=True))
    return Parallel(n_jobs=problem.n_threads, require="sharedmem")(jobs)


def keep_clear(
    problem: Problem, partition: Partition, labels: np.ndarray, owner: np.ndarray
) -> tuple[Partition, np.ndarray]:
    """The partition with those parts that are clearly apart by all their rows, and which clusters were split."""
    rows, sizes = statistics_of_clusters(problem.prior, problem.rows, labels, owner.size)
    number, is_split, n_clusters = owner.copy(), np.zeros(partition.sizes.size, bool), partition.sizes.size
    for k in np.unique(owner):
        own = np.flatnonzero((owner == k) & (sizes > 0))
        near = merge_near(problem.prior, rows[own], sizes[own], problem.log_concentration, LEAST_SEPARATION)
        number[own] = np.where(near == 0, k, n_clusters + near - 1)
        n_clusters += int(near.max())
        is_split[k] = near.max() > 0
    kept = np.where(labels == NULL, partition.labels, number[labels])
    return with_parts(problem, partition, kept, n_clusters, (number, rows, sizes)), is_split


def with_parts(
    problem: Problem, partition: Partition, labels: np.ndarray, n_clusters: int, parts: tuple[Any, ...]
) -> Partition:
    """The partition of new labels: clusters that were looked into have the merged statistics of their parts."""
    number, part_rows, part_sizes = parts
    rows = np.zeros((n_clusters, partition.rows.shape[1]))
    sizes = np.zeros(n_clusters)
    rows[: partition.sizes.size], sizes[: partition.sizes.size] = partition.rows, partition.sizes
    rows[number], sizes[number] = 0.0, 0.0
    merge_parts(problem.prior, number, part_rows, part_sizes, rows, sizes)
    return Partition(labels, rows, sizes)


@kernel
def merge_parts(prior, number, part_rows, part_sizes, rows, sizes):
    """Merge the statistics of parts into those of clusters."""
    for p in range(number.size):
        merge(prior, rows[number[p]], rows[number[p]], part_rows[p])
        sizes[number[p]] += part_sizes[p]
