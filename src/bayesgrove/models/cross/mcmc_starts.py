"""First states of CrossCat chains: views of columns, and the rows of each view allocated one after the other."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.mcmc_lanes import LANES, add_gaussian, add_others, fill_lane, layout_of, score_discrete
from bayesgrove.models.cross.mcmc_rows import add_row, clear_cluster, wider
from bayesgrove.models.cross.mcmc_state import ROWS, with_room
from bayesgrove.models.cross.mcmc_target import Target, fill_all_tables
from bayesgrove.stats.processes import draw_crp
from bayesgrove.stats.sampling import draw_log_categorical

Start = Callable[[np.random.Generator, Target, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""`start(rng, target, params, concentrations)` gives labels of the columns, and of the rows of each view."""
FEW_COLUMNS = 50


@kernel
def allocate_rows(rng, target, params, tables, alpha, of_column, view, width, labels, n_given):
    """Rows of a view in order, each to a cluster by its weight n_c m(x | c), or to a new one; fills `labels`.

    The first `n_given` labels, numbered by first appearance, are kept.
    """
    layout, log_n, log_alpha = layout_of(target, params, of_column, view, width), target.log_n, math.log(alpha)
    members, at, _, _, n_discrete, n_regular = layout
    cells, codes = target.by_row, target.codes_by_row
    n_open = 0
    for i in range(n_given):
        n_open = max(n_open, labels[i] + 1)
    sizes, stats = np.zeros((1, n_open + 2), np.int64), np.zeros((n_open + 2, target.start[-1]))
    for i in range(n_given):
        sizes[0, labels[i]] += 1
        add_row(target, params, layout, stats[labels[i]], i)
    fields = wider(np.zeros((layout.weights.size, 0)), n_open + 1)
    for k in range(n_open + 1):
        fill_lane(target, params, tables, layout, stats, k, fields, k)
    out = np.empty(fields.shape[1])
    for i in range(n_given, labels.size):
        n_lanes = (n_open + LANES) // LANES * LANES
        score_discrete(codes, i, members, at, n_discrete, fields, n_lanes, out)
        add_gaussian(cells, codes, i, members, at, n_discrete, n_regular, fields, n_lanes, out)
        add_others(target, params, members, n_regular, stats, i, n_open + 1, out)
        for k in range(n_open):
            out[k] += log_n[sizes[0, k]]
        out[n_open] += log_alpha
        k = max(0, draw_log_categorical(rng, out[: n_open + 1]))
        labels[i] = k
        sizes[0, k] += 1
        add_row(target, params, layout, stats[k], i)
        if k == n_open:
            n_open += 1
            sizes, stats = with_room(sizes, stats, n_open + 2)
            if n_open + 1 > fields.shape[1]:
                fields = wider(fields, n_open + 1)
                out = np.empty(fields.shape[1])
            clear_cluster(target.start, members, stats[n_open])
            fill_lane(target, params, tables, layout, stats, n_open, fields, n_open)
        fill_lane(target, params, tables, layout, stats, k, fields, k)


def rows_of_views(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray, of_column: np.ndarray
) -> np.ndarray:
    """Labels (view, row), each view's rows allocated given its columns."""
    n_views, n_rows = int(of_column.max()) + 1, target.by_row.shape[0]
    labels = np.zeros((n_views, n_rows), np.int64)
    tables = np.empty((target.table_at[-1], n_rows + 2))
    fill_all_tables(target, params, tables)
    for view, width in enumerate(np.bincount(of_column, minlength=n_views)):
        allocate_rows(rng, target, params, tables, concentrations[ROWS], of_column, view, int(width), labels[view], 0)
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
