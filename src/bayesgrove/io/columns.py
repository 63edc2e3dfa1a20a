"""One column of anything becomes one column of float64, with its kind and its category labels."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import Table

LARGEST_EXACT_INTEGER = 2**53


class Column(NamedTuple):
    """Float64 values (NaN = missing), the kind of `core.table.KINDS`, and labels of a category column."""

    values: np.ndarray
    kind: str
    categories: tuple[Any, ...] | None = None


def assemble(names: Sequence[str], columns: Sequence[Column], where: str) -> Table:
    """The table of these columns; names must be unique."""
    if not columns:
        raise InvalidTableError(f"{where} has no columns.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidTableError(f"{where} has two columns named {name!r}; rename one of them.", column=name)
        seen.add(name)
    values = np.empty((len(columns[0].values), len(columns)))
    for j, column in enumerate(columns):
        values[:, j] = column.values
    categories = {j: column.categories for j, column in enumerate(columns) if column.categories is not None}
    return Table(values, tuple(names), tuple(column.kind for column in columns), categories)


def code_labels(labels: Iterable[str | None], categories: Iterable[str] = ()) -> Column:
    """A category column: labels coded in the order given, else of first appearance; None is missing."""
    codes = {label: code for code, label in enumerate(categories)}
    values = [np.nan if label is None else codes.setdefault(label, len(codes)) for label in labels]
    return Column(np.array(values, dtype=np.float64), "category", tuple(codes))


def from_numbers(values: np.ndarray, where: str) -> Column:
    """A column from a numpy array of booleans, integers or floats."""
    kind = {"b": "bool", "i": "integer", "u": "integer", "f": "float"}.get(values.dtype.kind)
    if kind is None:
        raise InvalidTableError(
            f"{where} holds {values.dtype}; columns are booleans, integers, floats or categories. "
            "Convert it or drop it."
        )
    if kind == "integer":
        check_exact(values, where)
    return Column(values.astype(np.float64), kind)


def unmasked(array: Any) -> Any:
    """NaN in place of what a masked array hides, which numpy and scikit-learn would read; anything else as it is."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    return np.ma.filled(array.astype(np.float64), np.nan) if np.ma.is_masked(array) else array.data


def check_exact(values: np.ndarray, where: str) -> None:
    """Refuse integers that float64 would round."""
    if values.size and max(abs(int(values.max())), abs(int(values.min()))) > LARGEST_EXACT_INTEGER:
        raise rounding_error(where)


def rounding_error(where: str) -> InvalidTableError:
    """The refusal of integers that float64 would round."""
    return InvalidTableError(
        f"{where} has integers beyond 2**53, which would be rounded. "
        "If they are identifiers, use the column as the index or drop it."
    )
