"""Where chains begin: functions of a generator that give labels of all rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.agglomeration.learn import new_space
from bayesgrove.agglomeration.potentials import cluster_rows, greedy_merges
from bayesgrove.agglomeration.search import cut_of, search_tree
from bayesgrove.agglomeration.splits import Problem
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm.guide import FLOOR, Guide
from bayesgrove.models.nrm.incremental import incremental_forest
from bayesgrove.models.nrm.process import Process, start_log_kappa
from bayesgrove.models.nrm.state import empty_clusters, rebuild
from bayesgrove.scoring.lanes import score_lanes
from bayesgrove.scoring.row_scorers import choose_scorer
from bayesgrove.stats.partitions import relabel

SAMPLE_ROWS, LARGER_SAMPLE, MANY_CLUSTERS = 500, 1_000, 40
SETTLING_PASSES = 2
MOST_PARTS = 600
"""Parts of a guide tree that are merged greedily, which costs their square."""


@kernel
def nearest_clusters(scorer, values, clusters, log_kappa, labels):
    """For each row the cluster of largest predictive weight."""
    _, count, sizes, rows, lanes, _ = clusters
    out = np.empty((2, sizes.size))
    for i in range(values.shape[0]):
        score_lanes(scorer, rows, lanes, values[i], count[0], out)
        best = 0
        for k in range(count[0]):
            out[0, k] += log_kappa[sizes[k] + 1] - log_kappa[sizes[k]]
            if out[0, k] > out[0, best]:
                best = k
        labels[i] = best


def nearest_of(
    prior: Any, members: np.ndarray, labels: np.ndarray, values: np.ndarray, log_kappa: np.ndarray
) -> np.ndarray:
    """For each row of `values` the cluster of largest predictive weight, among those that `members` form."""
    scorer = choose_scorer(prior, values.shape[0], complete=not bool(np.isnan(values).any()))
    clusters = empty_clusters(scorer, labels, int(labels.max()) + 1)
    rebuild(scorer, members, clusters)
    nearest = np.empty(values.shape[0], np.int64)
    nearest_clusters(scorer, values, clusters, log_kappa, nearest)
    return nearest


def settled(prior: Any, values: np.ndarray, labels: np.ndarray, log_kappa: np.ndarray) -> np.ndarray:
    """Labels after every row has gone, some times, to the cluster of largest predictive weight.

    The parts of a tree have straight borders; where clusters overlap, rows beyond them are many (an ARI of .87 became
    .967 on 10,000 rows) and a chain would need dozens of sweeps to bring them home.
    """
    for _ in range(SETTLING_PASSES):
        labels = relabel(nearest_of(prior, values, labels, values, log_kappa))
    return labels


def searched_labels(prior: Any, values: np.ndarray, log_concentration: float) -> np.ndarray:
    """The clusters of the best tree found over a few rows, under this prior."""
    problem = Problem(prior, values, log_concentration, not bool(np.isnan(values).any()), 0, 1)
    space = new_space(prior, log_concentration, (), learn_concentration=False)
    return relabel(cut_of(search_tree(problem, space).forest))


@dataclass(frozen=True)
class RowStart:
    """What starts from rows need."""

    prior: Any
    values: np.ndarray
    """Encoded rows, (n, d), in their own order."""
    process: Process


class SampleStart(RowStart):
    """Clusters of the best tree found over a random sample; other rows join that of largest predictive weight."""

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        n = self.values.shape[0]
        log_kappa = start_log_kappa(self.process, n)
        sample, found = self._cluster_sample(rng, SAMPLE_ROWS, log_kappa)
        if found.max() + 1 > MANY_CLUSTERS and n > SAMPLE_ROWS:
            sample, found = self._cluster_sample(rng, LARGER_SAMPLE, log_kappa)
        if sample.size == n:
            return found[np.argsort(sample)]
        sampled = np.ascontiguousarray(self.values[sample])
        labels = nearest_of(self.prior, sampled, found, self.values, log_kappa)
        labels[sample] = found
        return relabel(labels)

    def _cluster_sample(
        self, rng: np.random.Generator, n_rows: int, log_kappa: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        n = self.values.shape[0]
        sample = rng.choice(n, min(n, n_rows), replace=False)
        return sample, searched_labels(self.prior, np.ascontiguousarray(self.values[sample]), float(log_kappa[1]))


class IncrementalStart(RowStart):
    """Incremental clustering of all rows, queued in random order."""

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        n = self.values.shape[0]
        log_kappa = start_log_kappa(self.process, n)
        return incremental_forest(self.prior, self.values, log_kappa, rng.permutation(n)).labels


@dataclass(frozen=True)
class GuideStart:
    """A partition drawn from the guide tree, then greedy merging of its parts.

    Each node of the guide is one cluster with its merge probability 1 / (1 + d), unless a node above it is: a draw from
    the posterior over partitions consistent with the tree. No tree cuts all clusters right, so parts that are better
    together are merged, and rows on the wrong side of a border change over. All rows are used, which makes it as quick
    as it is good; each chain draws its own.
    """

    prior: Any
    values: np.ndarray
    """Encoded rows, (n, d), in the guide's order."""
    guide: Guide
    process: Process

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows, in their own order."""
        n = self.values.shape[0]
        parts = self._draw_parts(rng)
        n_parts = int(parts[-1]) + 1
        if n_parts > MOST_PARTS:  # hardly any structure: greedy merging would take longer than chains
            rows = np.empty_like(self.values)
            rows[self.guide.order] = self.values
            return SampleStart(self.prior, rows, self.process)(rng)
        log_kappa = start_log_kappa(self.process, n)
        rows = np.zeros((n_parts, n_stats(self.prior)))
        cluster_rows(self.prior, self.values, parts, rows)
        merged = greedy_merges(self.prior, log_kappa, rows, np.bincount(parts), stop=True).labels
        labels = np.empty(n, np.int64)
        labels[self.guide.order] = settled(self.prior, self.values, merged[parts], log_kappa)
        return relabel(labels)

    def _draw_parts(self, rng: np.random.Generator) -> np.ndarray:
        """Labels in the guide's order, rising."""
        guide, n = self.guide, self.values.shape[0]
        if n == 1:
            return np.zeros(1, np.int64)
        stays_whole = rng.random(n - 1) >= np.diff(guide.cumulative) - FLOOR / n
        covers = np.zeros(n + 1, np.int64)
        np.add.at(covers, guide.first[stays_whole], 1)
        np.add.at(covers, guide.last[stays_whole], -1)
        is_border = np.cumsum(covers[: n - 1]) == 0
        return np.concatenate([[0], np.cumsum(is_border)])


@dataclass(frozen=True)
class OneCluster:
    """All rows together."""

    n: int

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        return np.zeros(self.n, np.int64)


@dataclass(frozen=True)
class Singletons:
    """Each row alone."""

    n: int

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        return np.arange(self.n)


@dataclass(frozen=True)
class GivenLabels:
    """Labels the user gave."""

    labels: np.ndarray

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        return relabel(self.labels)
