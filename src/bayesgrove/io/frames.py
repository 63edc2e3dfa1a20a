"""pandas and polars frames and Arrow tables by what they can do; none of the libraries is imported here."""

import datetime
import decimal
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import DATE, Table
from bayesgrove.io.cells import is_anndata
from bayesgrove.io.columns import LARGEST_EXACT_INTEGER, Column, assemble, code_labels, from_numbers, rounding_error
from bayesgrove.io.tables import arrow_column
from bayesgrove.io.texts import column_from_texts, days_of

REAL = int | float | np.number | decimal.Decimal


def is_frame(value: Any) -> bool:
    """True for a pandas or polars DataFrame or an Arrow table."""
    return is_polars(value) or _is_pandas(value) or is_arrow(value)


def is_arrow(value: Any) -> bool:
    """True for pyarrow's Table."""
    return hasattr(value, "column_names") and hasattr(value, "to_pylist") and hasattr(value, "schema")


def refuse_unread(value: Any) -> None:
    """Refuse what only leads to a table: a lazy frame, a dict, a path; numpy would make a single cell of it."""
    if hasattr(value, "collect_schema") and not is_polars(value):
        found, remedy = "a polars LazyFrame, which is a plan of a table", "X.collect()"
    elif isinstance(value, Mapping) and not hasattr(value, "shape"):  # some sparse matrices of scipy are dicts
        found = f"a {type(value).__name__}"
        remedy = "pandas.DataFrame(X), or X['data'] of a dataset of scikit-learn"
    elif isinstance(value, str | os.PathLike):
        found = f"the path {os.fspath(value)!r:.200}"
        remedy = "bayesgrove.io.tables.read_table(path) or pandas.read_csv(path)"
    else:
        return
    raise InvalidTableError(f"X is an array, a data frame or a Table, got {found}. Give {remedy}.")


def table_from_frame(frame: Any) -> Table:
    """A table from a pandas or polars DataFrame or an Arrow table; categories keep the order their type declares."""
    if is_polars(frame):
        names = list(frame.columns)
        columns = [_polars_column(series, _where(series.name)) for series in frame.get_columns()]
    elif _is_pandas(frame):
        names = [str(name) for name in frame.columns]
        columns = [_pandas_column(frame.iloc[:, j], _where(name)) for j, name in enumerate(names)]
    elif is_arrow(frame):
        names = list(frame.column_names)
        columns = [arrow_column(frame.column(j), _where(name)) for j, name in enumerate(names)]
    else:
        raise InvalidTableError(f"expected a pandas or polars DataFrame, got {type(frame).__name__}.")
    return assemble(names, columns, "the frame")


def row_names(frame: Any) -> tuple[str, ...] | None:
    """Names of the rows of a pandas frame or of cells, unless they only count them. Other tables have none."""
    if not _is_pandas(frame) and not is_anndata(frame):
        return None
    labels = (frame.index if _is_pandas(frame) else frame.obs_names).tolist()
    if labels == list(range(len(labels))) or labels == [str(i) for i in range(len(labels))]:
        return None
    return tuple(", ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in labels)


def joined_names(
    first: tuple[str, ...] | None, n_first: int, more: tuple[str, ...] | None, n_more: int
) -> tuple[str, ...] | None:
    """Names of rows and of those that came later; rows without names among others are called by their numbers."""
    if first is None and more is None:
        return None
    numbers = tuple(str(i) for i in range(n_first + n_more))
    return (first or numbers[:n_first]) + (more or numbers[n_first:])


def is_polars(value: Any) -> bool:
    """True for a polars DataFrame."""
    return hasattr(value, "get_columns") and hasattr(value, "schema")


def _is_pandas(value: Any) -> bool:
    return hasattr(value, "iloc") and hasattr(value, "columns") and hasattr(value, "dtypes")


def _where(name: Any) -> str:
    return f"column {str(name)!r}"


def _pandas_column(series: Any, where: str) -> Column:
    if hasattr(series, "cat"):
        codes = series.cat.codes.to_numpy().astype(np.float64)
        return Column(np.where(codes < 0, np.nan, codes), "category", tuple(series.cat.categories))
    kind = series.dtype.kind
    if kind in "biuf":
        whole = series.dropna().to_numpy(dtype={"b": bool, "i": np.int64, "u": np.uint64}.get(kind, np.float64))
        checked = from_numbers(whole, where)
        return Column(series.to_numpy(dtype=np.float64, na_value=np.nan), checked.kind)
    if kind in "Mm":
        return Column(days_of(_plain_dates(series)), DATE)
    if kind not in "OUT":
        raise _refusal(where, series.dtype)
    missing = series.isna().to_numpy()
    cells = [None if gone else cell for cell, gone in zip(series.tolist(), missing, strict=True)]
    return column_from_objects(cells, where, str(series.dtype))


def _polars_column(series: Any, where: str) -> Column:
    dtype = series.dtype
    name = str(dtype).split("(")[0]
    if name.endswith("Int128"):  # numpy has none of that width
        return column_from_objects(series.to_list(), where, str(dtype))
    if dtype.is_integer() or dtype.is_float() or name == "Boolean":
        checked = from_numbers(series.drop_nulls().to_numpy(), where)
        if not series.null_count():
            return checked
        cells = [np.nan if cell is None else cell for cell in series.to_list()]
        return Column(np.array(cells, dtype=np.float64), checked.kind)
    if name == "Enum":
        return code_labels(series.to_list(), dtype.categories.to_list())
    if name in ("Date", "Datetime", "Duration"):
        return Column(days_of(series.to_numpy()), DATE)
    if name == "Time":
        return Column(np.array([np.nan if cell is None else cell.hour / 24 for cell in series.to_list()]), DATE)
    if name not in ("String", "Utf8", "Categorical", "Object", "Null", "Decimal"):
        raise _refusal(where, dtype)
    return column_from_objects(series.to_list(), where, str(dtype))


def _plain_dates(series: Any) -> np.ndarray:
    """Dates and times of a pandas column as numpy has them, of time zones those of UTC."""
    return np.asarray(series.to_numpy(dtype="timedelta64[ns]" if series.dtype.kind == "m" else "datetime64[ns]"))


def column_from_objects(cells: Sequence[Any], where: str, dtype: str) -> Column:
    """A column from Python objects that are all texts, all booleans or all numbers; None is missing."""
    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, str) for cell in present):
        texts = column_from_texts(cells, where)
        return code_labels(cells) if texts is None else texts
    if present and all(isinstance(cell, datetime.date) for cell in present):
        return Column(np.array([np.nan if cell is None else float(cell.toordinal()) for cell in cells]), DATE)
    if all(isinstance(cell, bool | np.bool_) for cell in present):
        kind = "bool" if present else "float"
    elif all(isinstance(cell, int | np.integer) and not isinstance(cell, bool) for cell in present):
        kind = "integer"
        if any(abs(cell) > LARGEST_EXACT_INTEGER for cell in present):
            raise rounding_error(where)
    elif all(isinstance(cell, REAL) and not isinstance(cell, np.complexfloating) for cell in present):
        kind = "float"
    else:
        raise _refusal(where, dtype)
    try:
        return Column(np.array([np.nan if cell is None else float(cell) for cell in cells]), kind)
    except OverflowError as error:
        raise InvalidTableError(f"{where} holds a number beyond what a float can be. Scale it.") from error


def _refusal(where: str, dtype: Any) -> InvalidTableError:
    return InvalidTableError(
        f"{where} holds {dtype}; columns are booleans, integers, floats or texts (categories), "
        "not mixed. Convert it or drop it."
    )
