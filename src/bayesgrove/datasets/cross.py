"""Tables with several views: groups of columns, each with its own clustering of the rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError


class CrossTable(NamedTuple):
    """Counts (row, column), each column's view, and the rows' clusters in each view (view, row)."""

    X: np.ndarray
    view_labels: np.ndarray
    row_labels: np.ndarray


def make_cross_table(
    n_rows: int = 100,
    view_columns: Sequence[int] = (30, 50, 50, 70),
    view_clusters: Sequence[int] = (4, 5, 6, 8),
    *,
    n_trials: int = 50,
    random_state: int = 1,
) -> CrossTable:
    """A table of Binomial(n_trials) counts made of views, its columns shuffled.

    Parameters
    ----------
    n_rows : int
        At least the largest number of clusters: every cluster has a row.
    view_columns, view_clusters : sequences of int
        Columns and row clusters of each view.
    n_trials : int
        1 gives a yes/no table.
    random_state : int
        Seed of `numpy.random.default_rng`, so that published tables can be made again digit by digit.

    Notes
    -----
    Success probabilities are Beta(1/2, 1/2) for each cluster and column. The defaults make the table of
    Li & Shafto (2011), section 8.1.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> table = bg.datasets.make_cross_table(20, view_columns=(4, 6), view_clusters=(3, 2))
    >>> table.X.shape, int((table.view_labels == 1).sum()), table.row_labels.max(axis=1).tolist()
    ((20, 10), 6, [2, 1])
    """
    if len(view_columns) != len(view_clusters) or not view_columns:
        raise InvalidSettingError(
            "view_columns and view_clusters give one number for each view, "
            f"got {len(view_columns)} and {len(view_clusters)}."
        )
    if min(view_columns) < 1 or not 1 <= min(view_clusters) <= max(view_clusters) <= n_rows or n_trials < 1:
        raise InvalidSettingError(
            f"columns, clusters and n_trials are at least 1, clusters at most n_rows = {n_rows}, "
            f"got {tuple(view_columns)}, {tuple(view_clusters)}, {n_trials}."
        )
    rng = np.random.default_rng(random_state)
    columns, row_labels = [], []
    for n_columns, n_clusters in zip(view_columns, view_clusters, strict=True):
        labels = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, n_rows - n_clusters)])
        rng.shuffle(labels)
        success = rng.beta(0.5, 0.5, size=(n_clusters, n_columns))
        columns.append(rng.binomial(n_trials, success[labels]))
        row_labels.append(labels)
    table = np.concatenate(columns, axis=1)
    views = np.repeat(np.arange(len(view_columns)), view_columns)
    order = rng.permutation(table.shape[1])
    return CrossTable(np.ascontiguousarray(table[:, order]), views[order], np.stack(row_labels))
