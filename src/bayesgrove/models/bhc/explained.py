"""Columns that depend on another column more than on the clusters.

Columns are independent within a component, so that two which depend on each other whatever the cluster is (a place and
its country) are covered by ever more components. Given another column A, the cells of B have the evidence of B's family
in the groups that the cells of A make. Where this exceeds their evidence in the clusters, B is left out and the table
is fitted again: p(A, B | clusters) becomes p(A | clusters) p(B | A). Both are models of the same cells, and the one of
higher evidence is kept.
"""

import logging
import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.reassign import partition_log_joint
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.rng import fixed_sample
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import Bound, GaussianDiagonal
from bayesgrove.likelihoods.base import IN_USE
from bayesgrove.likelihoods.bind import bind_understood
from bayesgrove.likelihoods.choice import CLOSE, Choice
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.likelihoods.parts import part_of_prior
from bayesgrove.likelihoods.understanding import GIVEN, Understood, leaving_out, report_left_out
from bayesgrove.models.bhc.fit import Fitted, map_labels
from bayesgrove.stats.partitions import relabel

EXPLAINED = "explained by another column"
LEAST_GAIN = 1.0
"""Nats for each cluster: what a column costs in a cluster although it is the same in all its rows.

Columns that clusters determine also determine each other, in fewer groups. They are no reason to give clusters up.
"""
MOST_COLUMNS, MOST_ROWS = 100, 2_000
"""Beyond this a table is left as it is, and pairs of columns are compared by a sample."""
FEWEST_ROWS = 10
"""Of a group: a symmetric prior describes many groups of single rows as if it knew that labels are equally frequent."""
MOST_LEVELS, BINS = 20, (4, 16, 64)
"""Different numbers that are groups by themselves; numbers of equal groups of others."""


def fit_unexplained(
    first: Fitted, understood: Understood, table: Table, hyper: str, fit: Callable[[Bound], Fitted]
) -> Fitted:
    """The fit, or that of the columns which no other column explains better than the clusters do.

    Tables of measurements keep all: pieces of a cluster of correlated measurements are united by its density.
    """
    if isinstance(understood.likelihood, GaussianDiagonal):
        return first
    sources = explained_columns(first.bound, map_labels(first.tree))
    if not sources:
        return first
    choices = {b: Choice(EXPLAINED, "", f"by {table.names[a]!r}") for b, a in sources.items()}
    second = fit(bind_understood(leaving_out(understood, choices, table), table, hyper))
    after = second.log_evidence + log_evidence_given(first.bound, sources)
    is_better = after > first.log_evidence
    names = [(table.names[b], choice.reason) for b, choice in choices.items()]
    logging.getLogger("bayesgrove").info("without %s: log evidence %.1f, %.1f with", names, after, first.log_evidence)
    if is_better:
        report_left_out(EXPLAINED, names)
    return second if is_better else first


def explained_columns(bound: Bound, labels: np.ndarray) -> dict[int, int]:
    """Columns that another explains better than clusters do, and that column; no column explains itself in a circle."""
    used = np.flatnonzero(bound.encoding.ignored == IN_USE)
    may_go = np.array([choice.kind != GIVEN for choice in bound.choices])
    if not 2 <= used.size <= MOST_COLUMNS or not may_go.any():
        return {}
    rows = fixed_sample(labels.size, MOST_ROWS)
    sample = bound._replace(values=np.ascontiguousarray(bound.values[rows]))
    least = least_evidence(sample, labels[rows], used.size - 1)
    gains = np.stack([best_evidence(sample, int(a)) - least for a in used], axis=1)
    pairs = [(-gains[b, i], int(b), int(a)) for i, a in enumerate(used) for b in used if may_go[b] and b != a]
    sources: dict[int, int] = {}
    for loss, b, a in sorted(pairs):
        if loss < 0.0 and b not in sources and origin(sources, a) != b:
            sources[b] = a
    return sources


def least_evidence(bound: Bound, labels: np.ndarray, n_others: int) -> np.ndarray:
    """What the evidence of each column given another must exceed: that in the clusters, and that of one group.

    A column of noise costs less in two groups than in ten clusters, but no other column explains it. Any of the others
    may be the one that does, so that chance has as many tries.
    """
    in_clusters = evidence_of_columns(bound, labels) + max(CLOSE, LEAST_GAIN * (int(labels.max()) + 1))
    in_one = evidence_of_columns(bound, np.zeros_like(labels)) + CLOSE + math.log(n_others)
    return np.maximum(in_clusters, in_one)


def origin(sources: Mapping[int, int], column: int) -> int:
    """Where a chain of explanations ends."""
    while column in sources:
        column = sources[column]
    return column


def best_evidence(bound: Bound, a: int) -> np.ndarray:
    """Log evidence of every column in the groups of column `a` that suit it best."""
    found = [evidence_of_columns(bound, groups) for groups in groupings(bound, a)]
    return np.max(found, axis=0) if found else np.full(bound.encoding.shift.size, -np.inf)


def groupings(bound: Bound, a: int) -> list[np.ndarray]:
    """Partitions of the rows by the cells of a column: its different values, the rare ones as one, or equal parts."""
    cells = np.where(np.isnan(bound.values[:, a]), np.inf, bound.values[:, a])
    codes, counts = np.unique(cells, return_inverse=True, return_counts=True)[1:]
    if counts.size <= MOST_LEVELS or bound.choices[a].family == "categorical":
        return [np.where(counts[codes] < FEWEST_ROWS, counts.size, codes)]
    ranks = (np.cumsum(counts) - 0.5 * counts) / cells.size
    bins = [n_bins for n_bins in BINS if n_bins * FEWEST_ROWS <= cells.size]
    return [np.floor(ranks * n_bins).astype(np.int64)[codes] for n_bins in bins]


def evidence_of_columns(bound: Bound, labels: np.ndarray) -> np.ndarray:
    """Log marginal of each column's cells, summed over the groups of a partition; 0 for columns without a cell."""
    labels = relabel(labels)
    rows, sizes = cluster_statistics(bound.prior, bound.values, labels, int(labels.max()) + 1)
    is_used, start = bound.encoding.ignored == IN_USE, 0
    found = np.zeros(is_used.size)
    for j in range(is_used.size):
        prior = part_of_prior(bound.prior, np.array([j]))
        own = np.ascontiguousarray(rows[:, start : start + n_stats(prior)])
        start += own.shape[1]
        if is_used[j]:
            found[j] = partition_log_joint(prior, own, sizes, 0.0) - gammaln(sizes).sum()
    return found


def log_evidence_given(bound: Bound, sources: Mapping[int, int]) -> float:
    """Log evidence of columns given those that explain them, in the data's own units."""
    columns = list(sources)
    n_seen = np.zeros(bound.encoding.shift.size)
    n_seen[columns] = np.count_nonzero(~np.isnan(bound.values[:, columns]), axis=0)
    evidence = sum(best_evidence(bound, a)[b] for b, a in sources.items())
    return float(evidence) + bound.encoding.total_log_measure(n_seen)
