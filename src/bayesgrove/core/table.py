"""A table of named float columns: what every reader produces and every likelihood consumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidTableError

DATE = "date"
KINDS = ("bool", "integer", "float", "category", DATE)


@dataclass(frozen=True)
class Table:
    """Rows and named columns of float64 numbers; NaN is a missing cell."""

    values: np.ndarray
    """(n_rows, n_columns): C-contiguous float64. A category column holds codes 0, 1, ..."""
    names: tuple[str, ...]
    """One per column."""
    kinds: tuple[str, ...]
    """As the source said: "bool", "integer", "float", "category" or "date" (days), one per column."""
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    """Column number to the tuple of its category labels, in code order."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def column(self, j: int) -> "Table":
        """The table of column `j` alone."""
        categories = {0: self.categories[j]} if j in self.categories else {}
        cells = np.ascontiguousarray(self.values[:, j])[:, np.newaxis]
        return Table(cells, (self.names[j],), (self.kinds[j],), categories)

    def select(self, names: Sequence[str]) -> "Table":
        """The table of the columns of these names, in the order given."""
        check_columns(self.names, names)
        return self.select_columns([self.names.index(name) for name in names])

    def select_columns(self, places: Sequence[int]) -> "Table":
        """The table of the columns of these numbers, in the order given."""
        categories = {j: self.categories[place] for j, place in enumerate(places) if place in self.categories}
        names, kinds = (tuple(source[place] for place in places) for source in (self.names, self.kinds))
        return Table(np.ascontiguousarray(self.values[:, places]), names, kinds, categories)

    def without(self, columns: Sequence[int]) -> "Table":
        """The same columns, but without a cell in those of these numbers."""
        if not columns:
            return self
        values = self.values.copy()
        values[:, columns] = np.nan
        kinds = tuple("float" if j in columns else kind for j, kind in enumerate(self.kinds))
        return Table(values, self.names, kinds, {j: x for j, x in self.categories.items() if j not in columns})

    def take(self, rows: np.ndarray) -> "Table":
        """The table of some rows, in the order given."""
        values = np.ascontiguousarray(self.values[rows])
        return Table(values, self.names, self.kinds, self.categories)


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Counts of named columns, most of them 0."""

    counts: Any
    """(n_rows, n_columns): whole numbers."""
    names: tuple[str, ...]
    """One per column."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (int(self.counts.shape[0]), int(self.counts.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> "SparseTable":
        """Some rows, by slice, list of numbers or mask."""
        return SparseTable(self.counts[rows], self.names)

    def toarray(self) -> np.ndarray:
        """All counts as an array."""
        found: np.ndarray = self.counts.toarray()
        return found

    def to_dense(self, *, presence: bool = False) -> Table:
        """The table of all cells: counts, or whether there is any."""
        counts = self.counts > 0 if presence else self.counts
        values = counts.astype(np.float64).toarray(order="C")  # one dense copy, in the type that models need
        return Table(values, self.names, ("bool" if presence else "integer",) * self.shape[1])


def check_columns(found: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise unless every column that is wanted is there."""
    missing = [name for name in wanted if name not in found]
    if missing:
        raise InvalidTableError(
            f"the data lack {len(missing)} of the columns asked for: {', '.join(missing[:5])}. "
            "Give a table with the columns the model was fitted on.",
            missing=missing,
        )


def table_from_array(values: Any, names: Sequence[str] | None = None) -> Table:
    """A table from a 2-d array of numbers or booleans; kinds follow its dtype.

    Examples
    --------
    >>> table_from_array([[1.0, 2.0], [3.0, float("nan")]]).kinds
    ('float', 'float')
    """
    try:
        array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)  # sparse is welcome
    except ValueError as error:
        raise InvalidTableError(f"the rows of a table have equal lengths: {error}. Complete them.") from error
    if array.ndim != 2:
        raise InvalidTableError(
            f"a table has rows and columns, got an array of {array.ndim} dimension(s). "
            "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    kind = {"b": "bool", "i": "integer", "u": "integer"}.get(array.dtype.kind, "float")
    names = tuple(names) if names is not None else tuple(f"x{j}" for j in range(array.shape[1]))
    if len(names) != array.shape[1]:
        raise InvalidTableError(f"a table needs one name per column, got {len(names)} for {array.shape[1]}.")
    return Table(as_numbers(array), names, (kind,) * array.shape[1])


def as_numbers(array: np.ndarray) -> np.ndarray:
    """The array as C-contiguous float64, or an error that says what it holds."""
    if array.dtype.kind not in "biufO":
        raise InvalidTableError(f"a table holds numbers, got an array of {array.dtype}. Code them as numbers.")
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidTableError(f"a table holds numbers: {error}. Code them as numbers.") from None


def align(table: Table, names: Sequence[str], categories: Mapping[int, tuple[Any, ...]]) -> Table:
    """A table of new rows in the terms of the training table, whose column names and category labels are given.

    Columns must be the same in the same order. Labels are recoded to the training table's codes; labels it did not know
    get the code len(labels), and the first of them is named there for error messages.
    """
    check_names(table.names, tuple(names))
    values, labels = table.values.copy(), {}
    for j, name in enumerate(table.names):
        if (j in categories) != (j in table.categories) and not np.isnan(values[:, j]).all():
            now, then = ("numbers", "labels") if j in categories else ("labels", "numbers")
            raise InvalidTableError(
                f"column {name!r} held {then} in training and holds {now} now. Convert it.", column=j
            )
        if j in categories:
            values[:, j], labels[j] = recode(values[:, j], table.categories.get(j, ()), categories[j])
    return Table(values, table.names, table.kinds, labels)


def check_names(names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """Refuse other column names than the expected ones, saying which are missing and which too many."""
    if names == expected:
        return
    missing = [name for name in expected if name not in names]
    unexpected = [name for name in names if name not in expected]
    if missing or unexpected:
        raise InvalidTableError(
            f"columns must be those of training; missing: {missing}, unexpected: {unexpected}.",
            missing=missing,
            unexpected=unexpected,
        )
    raise InvalidTableError(
        f"columns must be in the order of training, got {list(names)}. Reorder them: {list(expected)}."
    )


def recode(codes: np.ndarray, labels: tuple[Any, ...], known: tuple[Any, ...]) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Codes into `labels` as codes into `known`, and `known` with the first unknown label that occurs."""
    code_of = {label: code for code, label in enumerate(known)}
    new_codes = np.array([code_of.get(label, len(known)) for label in labels] or [0], float)
    seen = ~np.isnan(codes)
    out = codes.copy()
    out[seen] = new_codes[codes[seen].astype(np.int64)]
    strange = np.flatnonzero(seen & (out == len(known)))
    if strange.size:
        return out, (*known, labels[int(codes[strange[0]])])
    return out, known
