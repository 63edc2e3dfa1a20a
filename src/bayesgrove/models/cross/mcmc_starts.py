"""First states of CrossCat chains: views of columns, and the rows of each view allocated one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.models.cross.mcmc_allocation import allocate_rows
from bayesgrove.models.cross.mcmc_lanes import layout_of
from bayesgrove.models.cross.mcmc_state import ROWS
from bayesgrove.models.cross.mcmc_target import Target, fill_all_tables
from bayesgrove.stats.processes import draw_crp

Start = Callable[[np.random.Generator, Target, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""`start(rng, target, params, concentrations)` gives labels of the columns, and of the rows of each view."""
FEW_COLUMNS = 50


def rows_of_views(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray, of_column: np.ndarray
) -> np.ndarray:
    """Labels (view, row), each view's rows allocated given its columns."""
    n_views, n_rows = int(of_column.max()) + 1, target.by_row.shape[0]
    labels = np.zeros((n_views, n_rows), np.int64)
    tables = np.empty((target.table_at[-1], n_rows + 2))
    fill_all_tables(target, params, tables)
    order, sizes, alpha = np.arange(n_rows), np.zeros(n_rows + 1, np.int64), float(concentrations[ROWS])
    for view, width in enumerate(np.bincount(of_column, minlength=n_views)):
        layout = layout_of(target, params, of_column, view, int(width))
        allocate_rows(rng, target, params, tables, alpha, 1.0, layout, order, 0, labels[view], sizes, -np.inf)
    return labels


def one_view(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """All columns in one view: a trap on mixed tables."""
    of_column = np.zeros(target.family.size, np.int64)
    return of_column, rows_of_views(rng, target, params, concentrations, of_column)


def columns_apart(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each column alone."""
    of_column = np.arange(target.family.size)
    return of_column, rows_of_views(rng, target, params, concentrations, of_column)


def random_views(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Columns at random in 20 views, in 10 where they are fewer than 50."""
    n_columns = target.family.size
    drawn = rng.integers(0, 10 if n_columns < FEW_COLUMNS else 20, n_columns)
    of_column = np.unique(drawn, return_inverse=True)[1].astype(np.int64)
    return of_column, rows_of_views(rng, target, params, concentrations, of_column)


def from_prior(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Both partitions from their Chinese restaurant processes."""
    of_column = draw_crp(rng, target.family.size, concentrations[1])
    rows = [draw_crp(rng, target.by_row.shape[0], concentrations[0]) for _ in range(int(of_column.max()) + 1)]
    return of_column, np.array(rows)


class Given:
    """Labels somebody gives: those of the columns, and where they are known those of the rows (view, row)."""

    def __init__(self, view_labels: Sequence[int] | np.ndarray, row_labels: Any = None) -> None:
        of_column = np.unique(np.asarray(view_labels), return_inverse=True)[1].astype(np.int64)
        if row_labels is not None and len(row_labels) != int(of_column.max()) + 1:
            raise InvalidSettingError(
                f"row labels are given for each view, in the order of the views' labels, got {len(row_labels)} rows "
                f"for {int(of_column.max()) + 1} views. Leave them out to have rows allocated."
            )
        self.of_column, self.row_labels = of_column, row_labels

    def __call__(
        self, rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The labels given, rows allocated where they are not."""
        if self.of_column.size != target.family.size:
            raise InvalidSettingError(
                f"a start gives a view for each of {target.family.size} columns, got {self.of_column.size} labels."
            )
        if self.row_labels is not None:
            return self.of_column, np.asarray(self.row_labels)
        return self.of_column, rows_of_views(rng, target, params, concentrations, self.of_column)


STARTS: dict[str, Start] = {
    "random": random_views,
    "one_view": one_view,
    "apart": columns_apart,
    "prior": from_prior,
}
