"""Where chains begin: functions of a generator that give labels of all rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.nrm.greedy import greedy_merges, rows_of_points
from bayesgrove.models.nrm.incremental import incremental_forest
from bayesgrove.models.nrm.lanes import score_lanes
from bayesgrove.models.nrm.process import Process, fill_log_kappa, start_numbers
from bayesgrove.models.nrm.scorers import choose_scorer
from bayesgrove.models.nrm.state import empty_clusters, rebuild
from bayesgrove.stats.partitions import relabel

SAMPLE_ROWS, LARGER_SAMPLE, MANY_CLUSTERS = 500, 1_000, 40


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


@dataclass(frozen=True)
class SampleStart:
    """Greedy clustering of a random sample; every other row joins the cluster of largest predictive weight.

    Parameters
    ----------
    prior : NamedTuple
    values : array of shape (n, d)
        Encoded rows, in their own order.
    process : Process
    """

    prior: Any
    values: np.ndarray
    process: Process

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        n = self.values.shape[0]
        log_kappa = np.empty(n + 2)
        fill_log_kappa(self.process.kind, start_numbers(self.process, n), log_kappa)
        sample, found = self._cluster_sample(rng, SAMPLE_ROWS, log_kappa)
        if found.max() + 1 > MANY_CLUSTERS and n > SAMPLE_ROWS:
            sample, found = self._cluster_sample(rng, LARGER_SAMPLE, log_kappa)
        if sample.size == n:
            return found[np.argsort(sample)]
        complete = not bool(np.isnan(self.values).any())
        scorer = choose_scorer(self.prior, n, complete=complete)
        clusters = empty_clusters(scorer, found, int(found.max()) + 1)
        rebuild(scorer, np.ascontiguousarray(self.values[sample]), clusters)
        labels = np.empty(n, np.int64)
        nearest_clusters(scorer, self.values, clusters, log_kappa, labels)
        labels[sample] = found
        return relabel(labels)

    def _cluster_sample(
        self, rng: np.random.Generator, n_rows: int, log_kappa: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        n = self.values.shape[0]
        sample = rng.choice(n, min(n, n_rows), replace=False)
        rows = rows_of_points(self.prior, np.ascontiguousarray(self.values[sample]))
        return sample, greedy_merges(self.prior, log_kappa, rows, np.ones(sample.size, np.int64), stop=True).labels


@dataclass(frozen=True)
class IncrementalStart:
    """Incremental clustering of all rows, queued in random order.

    Parameters
    ----------
    prior : NamedTuple
    values : array of shape (n, d)
        Encoded rows, in their own order.
    process : Process
    """

    prior: Any
    values: np.ndarray
    process: Process

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        n = self.values.shape[0]
        log_kappa = np.empty(n + 2)
        fill_log_kappa(self.process.kind, start_numbers(self.process, n), log_kappa)
        return incremental_forest(self.prior, self.values, log_kappa, rng.permutation(n)).labels


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
