"""What users hand to models of views and get back: one likelihood per column, names of columns, frames."""

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidSettingError, InvalidTableError
from bayesgrove.core.table import Table
from bayesgrove.io.frames import is_arrow, is_frame
from bayesgrove.likelihoods import Bound, Columns, Likelihood
from bayesgrove.likelihoods.base import LOG_2
from bayesgrove.likelihoods.bind import resolve
from bayesgrove.likelihoods.mixed import of_column

Schema = tuple[tuple[str, ...], dict[int, tuple[Any, ...]]]
UNSEEN = ("error", "reserve")


def likelihood_per_column(likelihood: Any, table: Table, unseen: str) -> Columns:
    """One likelihood for each column; one that describes columns together is refused.

    Parameters
    ----------
    likelihood : Likelihood or str
        As users give it.
    table : Table
        The training table.
    unseen : {"error", "reserve"}
        "reserve" adds a category to each category column for labels that are met later.
    """
    return per_column(resolve(likelihood, table), table.n_columns, unseen)


def per_column(found: Likelihood, n_columns: int, unseen: str) -> Columns:
    """One likelihood for each column from one for all of them."""
    if not found.per_column:
        raise InvalidLikelihoodError(
            f"views need a likelihood for each column by itself, got {type(found).__name__}. Use Columns([...]) or "
            "GaussianDiagonal().",
            likelihood=found,
        )
    if isinstance(found, Columns):
        each: list[Likelihood] = list(found.likelihoods)
    else:
        each = [of_column(found, j) for j in range(n_columns)]
    refuse_grain(each)
    if unseen == "reserve":
        each = [replace(one, **{"unseen": "reserve"}) if hasattr(one, "unseen") else one for one in each]
    return Columns(each)


def refuse_grain(each: Sequence[Likelihood]) -> None:
    """Refuse cells that are rounded: the kernels of this family take them as exact."""
    for j, one in enumerate(each):
        grain = getattr(one, "grain", None)
        if grain is not None and np.any(grain):
            raise InvalidLikelihoodError(
                f"cross-clustering takes cells as exact, got grain={grain!r} for column {j}. Leave out grain.",
                column=j,
            )


def column_numbers(columns: Any, names: Sequence[str]) -> np.ndarray:
    """Numbers of columns given by number or name, one or several; all for None."""
    if columns is None:
        return np.arange(len(names))
    given = np.atleast_1d(np.asarray(columns, dtype=object)).ravel().tolist()
    return np.array([column_number(column, names) for column in given], np.int64)


def column_number(column: Any, names: Sequence[str]) -> int:
    """Number of a column given by number or name."""
    if isinstance(column, str):
        if column not in names:
            raise InvalidSettingError(
                f"columns are named as in training, got {column!r}. Known are {', '.join(map(repr, names[:8]))}.",
                column=column,
            )
        return names.index(column)
    number = whole_number(column)
    if number is None or not 0 <= number < len(names):
        raise InvalidSettingError(f"columns are numbered 0 to {len(names) - 1}, got {column!r}.", column=column)
    return number


def row_numbers(rows: Any, n_rows: int) -> np.ndarray:
    """Numbers of rows of the training table; all for None."""
    if rows is None:
        return np.arange(n_rows)
    given = [whole_number(row) for row in np.atleast_1d(np.asarray(rows, dtype=object)).ravel().tolist()]
    for row in given:
        if row is None or not 0 <= row < n_rows:
            raise InvalidSettingError(f"rows are numbered 0 to {n_rows - 1}, got {rows!r}.", rows=rows)
    return np.array(given, np.int64)


def whole_number(value: Any) -> int | None:
    """A whole number from what looks like one, else None."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return None
    return int(value) if float(value).is_integer() else None


def encoded_cells(bound: Bound, values: Any, columns: np.ndarray, schema: Schema) -> np.ndarray:
    """Single cells as kernels see them, refused where their column cannot hold them.

    Parameters
    ----------
    bound : Bound
        Of a `Columns` likelihood.
    values : sequence
        One per column of `columns`: numbers, labels in category columns, NaN or None for a missing cell.
    columns : int array
        Columns of the cells.
    schema : pair
        Names of the columns and labels of category columns.
    """
    cells = np.asarray(values, dtype=object).ravel()
    out = np.empty(cells.size)
    for j in np.unique(columns).tolist():
        here = columns == j
        table = column_of_cells(cells[here].tolist(), j, schema)
        likelihood = bound.likelihood.likelihoods[j]  # type: ignore[attr-defined]
        likelihood.check(table)
        out[here] = bound.encoding.column(j).apply(likelihood.cells(table))[:, 0]
    return out


def column_of_cells(cells: list[Any], j: int, schema: Schema) -> Table:
    """Cells of one column as a table; a label that training did not know gets the next code."""
    names, categories = schema
    labels: list[Any] = list(categories.get(j, ()))
    codes = {label: code for code, label in enumerate(labels)}
    numbers = np.empty((len(cells), 1))
    for i, cell in enumerate(cells):
        if isinstance(cell, str) and not labels:
            raise InvalidTableError(f"column {names[j]!r} holds numbers, got {cell!r}.", column=j, value=cell)
        if labels and cell is not None and cell == cell:  # NaN is no label
            if cell not in codes:
                labels.append(cell)
            numbers[i] = codes.get(cell, len(codes))
        else:
            numbers[i] = np.nan if cell is None else float(cell)
    return Table(numbers, (names[j],), ("category" if labels else "float",), {0: tuple(labels)} if labels else {})


def measure_of(bound: Bound) -> np.ndarray:
    """What the encoding of each column adds to the log density of an observed cell."""
    return -LOG_2 * bound.encoding.exponent


def table_kind(X: Any) -> str:
    """What a table was given as: "array", "table", "pandas" or "polars"."""
    if isinstance(X, Table):
        return "table"
    if not is_frame(X):
        return "array"
    return "pandas" if hasattr(X, "iloc") else "polars"


def as_given(table: Table, kind: str, like: Any = None, unused: Sequence[int] = ()) -> Any:
    """A table as an array or a data frame, or as it is.

    Parameters
    ----------
    table : Table
        Raw values; a category column holds codes.
    kind : {"array", "table", "pandas", "polars"}
    like : data frame, optional
        Its index is kept, and its columns where they lack no cell.
    unused : sequence of int
        Columns that are kept in any case.
    """
    if kind in ("array", "table"):
        return table.values if kind == "array" else table
    like = None if is_arrow(like) else like  # what comes back is a polars frame
    library = importlib.import_module(kind)
    columns = [frame_column(library, kind, table, j) for j in range(table.n_columns)]
    if like is not None and is_frame(like):
        columns = [kept_or_new(like, kind, j, column, j in unused) for j, column in enumerate(columns)]
    if kind == "polars":
        return library.DataFrame(dict(zip(table.names, columns, strict=True)))
    frame = library.DataFrame(dict(enumerate(columns)))
    frame.columns = list(table.names) if like is None or not is_frame(like) else like.columns
    return frame if like is None or not hasattr(like, "index") else frame.set_axis(like.index)


def with_unused(table: Table, X: Any, unused: Sequence[int]) -> Any:
    """A filled table as X was given, with the columns of X that the model leaves out as they were."""
    if isinstance(X, Table) and unused:
        values = table.values.copy()
        values[:, unused] = X.values[:, unused]
        kept = {j: labels for j, labels in X.categories.items() if j in unused}
        table = replace(table, values=values, categories={**table.categories, **kept})
    elif not is_frame(X) and unused:
        table.values[:, unused] = np.asarray(X, dtype=float)[:, unused]
    return as_given(table, table_kind(X), X, unused)


def kept_or_new(like: Any, kind: str, j: int, new: Any, is_kept: bool) -> Any:
    """The column as it was where it is kept in any case, or all of its cells were there."""
    if kind == "polars":
        old = like.to_series(j)
        is_kept = is_kept or not (old.null_count() or (old.dtype.is_float() and old.is_nan().any()))
        return old if is_kept else new
    old = like.iloc[:, j]
    return old.array if is_kept or not old.isna().any() else new


def frame_column(library: Any, kind: str, table: Table, j: int) -> Any:
    """One column in the types of a data frame library."""
    cells, missing = table.values[:, j], np.isnan(table.values[:, j])
    if j in table.categories:
        labels = table.categories[j]
        known = ~missing & (cells < len(labels))
        if kind == "pandas":
            return library.Categorical.from_codes(np.where(known, cells, -1).astype(int), categories=list(labels))
        found = [labels[int(cell)] if is_known else None for cell, is_known in zip(cells, known, strict=True)]
        return library.Series(table.names[j], found)
    if missing.any():
        return cells
    if table.kinds[j] == "bool" and np.all((cells == 0) | (cells == 1)):
        return cells.astype(bool)
    is_whole = table.kinds[j] == "integer" and bool(np.all(cells == np.floor(cells)))
    return cells.astype(np.int64) if is_whole else cells
