"""A table of named float columns: what every reader produces and every likelihood consumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidTableError

KINDS = ("bool", "integer", "float", "category")


@dataclass(frozen=True)
class Table:
    """Rows and named columns of float64 numbers; NaN is a missing cell.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        C-contiguous float64. A category column holds codes 0, 1, ...
    names : tuple of str
        One per column.
    kinds : tuple of str
        "bool", "integer", "float" or "category", one per column: what the source said it was.
    categories : mapping
        Column number to the tuple of its category labels, in code order.
    """

    values: np.ndarray
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)

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
        values = np.ascontiguousarray(self.values[:, j : j + 1])
        return Table(values, (self.names[j],), (self.kinds[j],), categories)

    def take(self, rows: np.ndarray) -> "Table":
        """The table of some rows, in the order given."""
        values = np.ascontiguousarray(self.values[rows])
        return Table(values, self.names, self.kinds, self.categories)


def table_from_array(values: Any, names: Sequence[str] | None = None) -> Table:
    """A table from a 2-d array of numbers or booleans; kinds follow its dtype.

    Examples
    --------
    >>> table_from_array([[1.0, 2.0], [3.0, float("nan")]]).kinds
    ('float', 'float')
    """
    array = np.asarray(values)
    if array.ndim != 2:
        raise InvalidTableError(
            f"a table has rows and columns, got an array of {array.ndim} dimension(s). "
            "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    kind = {"b": "bool", "i": "integer", "u": "integer"}.get(array.dtype.kind, "float")
    names = tuple(names) if names is not None else tuple(f"x{j}" for j in range(array.shape[1]))
    return Table(np.ascontiguousarray(array, dtype=np.float64), names, (kind,) * array.shape[1])
