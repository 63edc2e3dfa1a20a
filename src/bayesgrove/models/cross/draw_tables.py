"""Some draws of cross-clusterings as flat arrays: who is where, and the statistics of all clusters."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_add
from bayesgrove.models.cross.mcmc_state import ROWS

MOST_DRAWS, FEWEST_DRAWS = 500, 100
WORK = 10_000_000
"""Cells of all draws together that answers look at, where that leaves enough draws."""
MOST_BYTES = 256 * 2**20


class Draws(NamedTuple):
    """Cross-clusterings of one table; statistics stand as in a chain's state, where a column has one view only."""

    log_weight: np.ndarray
    """(n_draws,): their exponentials sum to 1."""
    views: np.ndarray
    """(n_draws, n_columns): view of each column."""
    first_view: np.ndarray
    """(n_draws + 1,): where the views of each draw begin among all."""
    labels: np.ndarray
    """(n_views_of_all, n_rows): cluster of each row in each view."""
    n_clusters: np.ndarray
    """(n_views_of_all,)."""
    first_cluster: np.ndarray
    """(n_views_of_all + 1,): where the clusters of each view begin in `sizes`."""
    sizes: np.ndarray
    """Rows of each cluster."""
    first_stats: np.ndarray
    """(n_draws + 1,): where the statistics of each draw begin."""
    stats: np.ndarray
    """(all, n_stats): row first_stats[t] + k has at start[j] .. the statistics of column j in cluster k of its view."""
    params: np.ndarray
    """(n_draws, n_columns, 4): numbers of the columns' priors."""
    concentrations: np.ndarray
    """(n_draws, 2): of rows and of columns."""

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.log_weight.size)

    def n_views(self, draw: int) -> int:
        """Number of views of a draw."""
        return int(self.first_view[draw + 1] - self.first_view[draw])

    def own_stats(self, draw: int) -> np.ndarray:
        """Statistics of a draw, (largest number of clusters, n_stats)."""
        return self.stats[self.first_stats[draw] : self.first_stats[draw + 1]]

    def own_sizes(self, view: int) -> np.ndarray:
        """Sizes of the clusters of a view, by its number among all."""
        return self.sizes[self.first_cluster[view] : self.first_cluster[view + 1]]

    def cluster_log_weights(self, draw: int, view: int) -> np.ndarray:
        """Log probability that a new row joins each cluster of a view and, last, a new one."""
        alpha = float(self.concentrations[draw, ROWS])
        return np.log(np.append(self.own_sizes(view), alpha)) - np.log(self.labels.shape[1] + alpha)


def choose_draws(n_draws: int, n_rows: int, n_columns: int, bytes_per_draw: float) -> np.ndarray:
    """Numbers of evenly spread draws, as many as are useful and fit."""
    useful = np.clip(WORK // (n_rows * n_columns), FEWEST_DRAWS, MOST_DRAWS)
    wanted = max(1, min(int(useful), int(MOST_BYTES / bytes_per_draw), n_draws))
    return np.unique(np.linspace(0, n_draws - 1, wanted).astype(np.int64))


def unique_draws(views: np.ndarray, rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the first of equal draws, and how often each occurs; labels are in normal form."""
    seen: dict[bytes, int] = {}
    counts: list[int] = []
    first: list[int] = []
    for t, (columns, labels) in enumerate(zip(views, rows, strict=True)):
        place = seen.setdefault(columns.tobytes() + labels.tobytes(), len(first))
        if place == len(first):
            first.append(t)
            counts.append(0)
        counts[place] += 1
    return np.array(first), np.array(counts)


def make_draws(
    prior: ColumnsPrior,
    values: np.ndarray,
    views: np.ndarray,
    rows: Sequence[np.ndarray],
    params: np.ndarray | None,
    concentrations: np.ndarray,
) -> Draws:
    """Draws from views of the columns (draw, column), labels of the rows of each (view, row), and their numbers.

    The numbers of the prior serve all draws where `params` (draw, column, 4) is None; `concentrations` is (draw, 2).
    """
    counts = np.ones(len(views))
    if params is None and (concentrations == concentrations[0]).all():  # then equal labels are equal draws
        first, counts = unique_draws(views, rows)
        views, concentrations, rows = views[first], concentrations[first], [rows[t] for t in first]
    if params is None:
        params = np.repeat(prior.params[np.newaxis], len(views), axis=0)
    labels = np.concatenate(rows).astype(np.int32)
    n_clusters = labels.max(axis=1).astype(np.int64) + 1
    first_view = np.concatenate([[0], np.cumsum([len(own) for own in rows])])
    first_cluster = np.concatenate([[0], np.cumsum(n_clusters)])
    most = np.maximum.reduceat(n_clusters, first_view[:-1])
    first_stats = np.concatenate([[0], np.cumsum(most)])
    sizes = np.concatenate([np.bincount(own, minlength=k) for own, k in zip(labels, n_clusters, strict=True)])
    stats = np.zeros((first_stats[-1], prior.start[-1]))
    views = np.ascontiguousarray(views, np.int64)
    by_column = np.ascontiguousarray(values.T)
    fill_stats(prior.family, prior.start, by_column, views, first_view, labels, params, first_stats, stats)
    log_weight = np.log(counts / counts.sum())
    return Draws(
        log_weight,
        views,
        first_view,
        labels,
        n_clusters,
        first_cluster,
        sizes.astype(float),
        first_stats,
        stats,
        np.ascontiguousarray(params, float),
        np.ascontiguousarray(concentrations, float),
    )


@kernel
def fill_stats(family, start, by_column, views, first_view, labels, params, first_stats, stats):
    """Statistics of all columns in the clusters of their views, of all draws."""
    n_draws, n_columns = views.shape
    for t in range(n_draws):
        for j in range(n_columns):
            view, base = first_view[t] + views[t, j], first_stats[t]
            for i in range(by_column.shape[1]):
                column_add(family[j], stats[base + labels[view, i]], start[j], by_column[j, i], params[t, j, 0])
