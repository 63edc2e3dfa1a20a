"""The table of a sweep: tidy, a row per fit, as CSV, Parquet or a data frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from bayesgrove.core.errors import MissingExtraError
from bayesgrove.io.atomic import replacing
from bayesgrove.io.delimited import write_csv
from bayesgrove.sweeps.plan import Fit

INSTALL = "is not installed (pip install 'bayesgrove[tables]')"


@dataclass(frozen=True)
class Sweep:
    """What a sweep found.

    Attributes
    ----------
    model : str
        Name of the estimator's class.
    settings : tuple of str
        Names of the columns that are settings.
    measures : tuple of str
        Names of the columns that are numbers of the fits; those of no use to the model are left out.
    columns : mapping of str to list
        All columns, a cell per fit: settings, repeat, seed, measures. None where a fit has none.
    """

    model: str
    settings: tuple[str, ...]
    measures: tuple[str, ...]
    columns: Mapping[str, list[Any]]

    @classmethod
    def of(cls, model: str, fits: Sequence[Fit], records: Sequence[Mapping[str, Any]]) -> Self:
        """The table of fits and their records."""
        settings = tuple(dict.fromkeys(key for fit in fits for key in fit.settings))
        named = dict.fromkeys(name for record in records for name in record)  # settings may change what is measured
        measures = tuple(name for name in named if any(record.get(name) is not None for record in records))
        columns: dict[str, list[Any]] = {key: [fit.settings.get(key) for fit in fits] for key in settings}
        columns |= {"repeat": [fit.repeat for fit in fits], "seed": [fit.seed for fit in fits]}
        columns |= {name: [record.get(name) for record in records] for name in measures}
        return cls(model, settings, measures, columns)

    @property
    def n_fits(self) -> int:
        """Number of rows."""
        return len(self.columns["seed"])

    @property
    def varied(self) -> tuple[str, ...]:
        """Settings that take more than one value."""
        return tuple(key for key in self.settings if len(levels(self.columns[key])) > 1)

    def mean_by(self, measure: str, row: str, column: str | None = None) -> np.ndarray:
        """Mean of a measure for each pair of values of two settings, over all else; nan where there is no fit.

        Parameters
        ----------
        measure, row, column : str
            Columns of the table; without `column` the array has one column.
        """
        rows = levels(self.columns[row])
        across = [None] if column is None else levels(self.columns[column])
        cells: dict[tuple[int, int], list[float]] = {}
        for fit in range(self.n_fits):
            place = (
                index_of(rows, self.columns[row][fit]),
                0 if column is None else index_of(across, self.columns[column][fit]),
            )
            value = self.columns[measure][fit]
            cells.setdefault(place, []).append(np.nan if value is None else float(value))
        means = np.full((len(rows), len(across)), np.nan)
        for place, values in cells.items():
            known = [value for value in values if value == value]
            means[place] = np.mean(known) if known else np.nan
        return means

    def to_csv(self, path: Any) -> Path:
        """Write the table as CSV; gives the path."""
        write_csv(path, tuple(self.columns), zip(*map(blank, self.columns.values()), strict=True))
        return Path(path)

    def to_parquet(self, path: Any) -> Path:
        """Write the table as Parquet; gives the path."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise MissingExtraError(f"Parquet needs pyarrow, which {INSTALL}.") from error
        with replacing(path) as stream:
            pq.write_table(pa.table({name: uniform(cells) for name, cells in self.columns.items()}), stream)
        return Path(path)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError(f"a data frame needs pandas, which {INSTALL}.") from error
        return pandas.DataFrame(dict(self.columns))


def levels(cells: Sequence[Any]) -> list[Any]:
    """Different cells in the order of their first appearance; numbers alone are sorted."""
    found: list[Any] = []
    for cell in cells:
        if cell not in found:
            found.append(cell)
    numbers = all(isinstance(cell, int | float) for cell in found)
    return sorted(found) if numbers else found


def index_of(found: Sequence[Any], cell: Any) -> int:
    """Place of a cell among the levels."""
    return list(found).index(cell)


def blank(cells: Sequence[Any]) -> list[Any]:
    """Cells for CSV: nothing where there is none."""
    return ["" if cell is None else cell for cell in cells]


def uniform(cells: Sequence[Any]) -> list[Any]:
    """Cells of one type for Parquet: texts where types differ."""
    kinds = {type(cell) for cell in cells if cell is not None}
    plain = len(kinds) == 1 and kinds <= {bool, int, float, str}
    if plain or kinds == {int, float}:
        return list(cells) if plain else [None if cell is None else float(cell) for cell in cells]
    return [None if cell is None else str(cell) for cell in cells]
