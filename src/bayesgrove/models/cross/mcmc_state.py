"""The state of a CrossCat chain as flat arrays, and its log joint.

A column stands in one view only, so that statistics need no place for the view: `stats[k, start[j]:start[j + 1]]` are
those of cluster k of column j's own view. When views are renumbered no statistics move.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.columns import column_add
from bayesgrove.likelihoods.families import GAUSSIAN
from bayesgrove.likelihoods.moments import added
from bayesgrove.models.cross.mcmc_coordinates import Hyperpriors, column_log_hyperprior
from bayesgrove.models.cross.mcmc_target import Target, fill_all_tables, table_log_marginal
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.special import log_rising

ROWS, COLUMNS = 0, 1
"""Places of the two concentrations."""
FIRST_CAPACITY = 16


class Views(NamedTuple):
    """Partitions and statistics; entries beyond the numbers of views and clusters are rubbish."""

    of_column: np.ndarray
    """(n_columns,): view of each column, 0 .. n_views - 1."""
    n_views: np.ndarray
    """(1,): number of views."""
    widths: np.ndarray
    """(n_columns + 1,): columns in each view."""
    labels: np.ndarray
    """(n_columns + 1, n_rows): cluster of each row in each view."""
    n_clusters: np.ndarray
    """(n_columns + 1,): clusters of each view."""
    sizes: np.ndarray
    """(n_columns + 1, capacity): rows in each cluster of each view."""
    stats: np.ndarray
    """(capacity, n_stats): statistics of each column in the clusters of its view."""


@dataclass(slots=True)
class State:
    """One chain: partitions, numbers of the columns' priors with the tables made of them, (alpha_r, alpha_c)."""

    views: Views
    params: np.ndarray
    tables: np.ndarray
    concentrations: np.ndarray

    @property
    def n_views(self) -> int:
        """Number of views."""
        return int(self.views.n_views[0])

    def row_labels(self) -> np.ndarray:
        """Labels of the rows in each view, (n_views, n_rows); a view of the state."""
        return self.views.labels[: self.n_views]


@kernel(inline="always")
def add_moments(stats, k, at, x):
    """Put a cell of a Gaussian column into cluster k; no slice is handed to a kernel that counts references."""
    stats[k, at], stats[k, at + 1], stats[k, at + 2] = added(stats[k, at], stats[k, at + 1], stats[k, at + 2], x)


@borrower
def fill_column(target, params, labels, n_clusters, stats, j):
    """Statistics of a column from its cells and the labels of its view."""
    family, first, last, cells, n_trials = (
        target.family[j], target.start[j], target.start[j + 1], target.by_column[j], params[j, 0]
    )  # fmt: skip
    for k in range(n_clusters):
        for s in range(first, last):
            stats[k, s] = 0.0
    if target.n_codes[j] > 0:
        codes = target.codes_by_column[j]
        for i in range(labels.size):
            if codes[i] > 0:
                stats[labels[i], first + codes[i] - 1] += 1.0
        return
    if family == GAUSSIAN:
        for i in range(labels.size):
            add_moments(stats, labels[i], first, cells[i])
        return
    for i in range(labels.size):
        column_add(family, stats[labels[i]], first, cells[i], n_trials)


@borrower
def fill_views(target, params, views):
    """Counts, sizes and statistics from the labels of columns and rows."""
    of_column, count, widths, labels, n_clusters, sizes, stats = views
    for v in range(count[0]):
        widths[v], n_clusters[v] = 0, 0
        for i in range(labels.shape[1]):
            k = labels[v, i]
            while n_clusters[v] <= k:
                sizes[v, n_clusters[v]] = 0
                n_clusters[v] += 1
            sizes[v, k] += 1
    for j in range(of_column.size):
        v = of_column[j]
        widths[v] += 1
        fill_column(target, params, labels[v], n_clusters[v], stats, j)


@kernel
def with_room(sizes, stats, wanted):
    """The two arrays that have a place for each cluster, larger where fewer than `wanted` places are there."""
    capacity = stats.shape[0]
    if capacity >= wanted:
        return sizes, stats
    capacity = max(wanted, 2 * capacity)
    more_sizes, more_stats = np.zeros((sizes.shape[0], capacity), np.int64), np.zeros((capacity, stats.shape[1]))
    for v in range(sizes.shape[0]):
        for k in range(sizes.shape[1]):
            more_sizes[v, k] = sizes[v, k]
    for k in range(stats.shape[0]):
        for s in range(stats.shape[1]):
            more_stats[k, s] = stats[k, s]
    return more_sizes, more_stats


@kernel(inline="always")
def with_arrays(views, sizes, stats):
    """The views with these arrays, which may have been replaced by larger ones."""
    return Views(views.of_column, views.n_views, views.widths, views.labels, views.n_clusters, sizes, stats)


def make_state(
    target: Target,
    view_labels: Sequence[int] | np.ndarray,
    row_labels: Sequence[Sequence[int]] | np.ndarray,
    params: np.ndarray,
    concentrations: Sequence[float] | np.ndarray,
    tables: np.ndarray | None = None,
) -> State:
    """A state from the view of each column, the rows' labels of each view (view, row) and all numbers.

    Views and clusters are numbered by first appearance. Tables that were made of these very numbers may be given.
    """
    of_column = relabel(view_labels)
    by_first = np.unique(of_column, return_index=True)[1]
    order = np.asarray(view_labels)[by_first]
    n_columns, n_rows = target.by_column.shape
    labels = np.zeros((n_columns + 1, n_rows), np.int64)
    for at, view in enumerate(order):
        labels[at] = relabel(row_labels[view])
    capacity = max(FIRST_CAPACITY, int(labels.max()) + 2)
    views = Views(
        of_column,
        np.array([order.size]),
        np.zeros(n_columns + 1, np.int64),
        labels,
        np.zeros(n_columns + 1, np.int64),
        np.zeros((n_columns + 1, capacity), np.int64),
        np.zeros((capacity, target.start[-1])),
    )
    numbers = np.array(params, float)
    fill_views(target, numbers, views)
    if tables is None:
        tables = np.empty((target.table_at[-1], n_rows + 2))
        fill_all_tables(target, numbers, tables)
    return State(views, numbers, tables, np.array(concentrations, float))


@borrower
def log_crp_sizes(log_gamma_n, sizes, n_blocks, n_items, concentration):
    """`processes.log_crp` of the first so many sizes, by table."""
    total = n_blocks * math.log(concentration) - log_rising(concentration, n_items)
    for k in range(n_blocks):
        total += log_gamma_n[sizes[k]]
    return total


@borrower
def column_score(target, params, tables, views, j):
    """Log marginal of a column given its view, from the statistics kept."""
    family, first, last, at = target.family[j], target.start[j], target.start[j + 1], target.table_at[j]
    stats, total = views.stats, 0.0
    for k in range(views.n_clusters[views.of_column[j]]):
        total += table_log_marginal(family, stats[k], first, last, params, j, tables, at)
    return total


@borrower
def log_joint_of(target, hyperpriors, views, params, tables, concentrations):
    """Partitions, cells and hyperpriors of all that is learned (docs/theory/cross-clustering.md, CrossCat target)."""
    n_columns, n_rows = target.by_column.shape
    total = log_crp_sizes(target.log_gamma_n, views.widths, views.n_views[0], n_columns, concentrations[COLUMNS])
    for v in range(views.n_views[0]):
        total += log_crp_sizes(target.log_gamma_n, views.sizes[v], views.n_clusters[v], n_rows, concentrations[ROWS])
    for j in range(n_columns):
        total += column_score(target, params, tables, views, j)
        total += column_log_hyperprior(
            target.family[j], params[j], hyperpriors.centre[j], hyperpriors.spread[j], hyperpriors.learned[j]
        )
    for which in range(1 if hyperpriors.tied else 2):
        if hyperpriors.free[which]:
            shape, rate = hyperpriors.gamma[which]
            alpha = concentrations[which]
            total += shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(alpha) - rate * alpha
    return total


def log_joint(target: Target, hyperpriors: Hyperpriors, state: State) -> float:
    """Log joint of encoded cells, partitions and all that is learned."""
    return float(log_joint_of(target, hyperpriors, state.views, state.params, state.tables, state.concentrations))
