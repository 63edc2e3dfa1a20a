"""`bayesgrove impute`: a table with its missing cells filled, and how sure each of them is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.cli.predict import check_output, csv_text, read_new_table, write
from bayesgrove.cli.run_folder import open_run
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.table import Table

CELLS_ENDING = ".cells.csv"
CELL_COLUMNS = ("row", "column", "value", "probability", "low", "high", "sd")
DIGITS = 12
"""Cells go through the model's own units and back: what is behind these digits is noise."""


def impute(run: Path, data: Path | None, output: Path | None, *, level: float | None, force: bool) -> None:
    """Write the table of the fit, or new rows, with missing cells filled; with `level` a second table of these."""
    check_output(output, force)
    cells_output = _cells_output(output, level)
    check_output(cells_output, force)
    model, summary = open_run(run)
    if not hasattr(model, "impute"):
        raise InvalidSettingError(
            f"impute fills cells by a model of views, and {run} holds {type(model).__name__}. "
            "Fit bhcc, randomized-bhcc or crosscat."
        )
    given, names = (None, model.tree_.leaf_labels) if data is None else read_new_table(data, summary)
    found = model.impute(given, level=0.9 if level is None else level)
    filled: Table = found.values
    index = summary.get("index")
    write(_table_text(filled, given, names if index is not None else None, index), output, force)
    if cells_output is not None:
        write(csv_text(CELL_COLUMNS, _cell_rows(found, filled, names)), cells_output, force)


def _cells_output(output: Path | None, level: float | None) -> Path | None:
    """Where the table of filled cells goes: beside the output."""
    if level is None:
        return None
    if output is None:
        raise InvalidSettingError("--level writes a second table beside the first and needs --output FILE.")
    return output.parent / f"{output.stem}{CELLS_ENDING}"


def _table_text(filled: Table, given: Table | None, names: tuple[str, ...] | None, index: str | None) -> str:
    """The filled table as CSV; cells that were given stay as they were."""
    columns = [_texts(filled, j, None if given is None else given.values[:, j]) for j in range(filled.n_columns)]
    header = filled.names if names is None else (str(index), *filled.names)
    return csv_text(header, zip(*([] if names is None else [names]), *columns, strict=True))


def _texts(filled: Table, j: int, given: np.ndarray | None) -> list[Any]:
    """One column: labels, whole numbers, or numbers; None where a cell is still missing."""
    cells = filled.values[:, j]
    if given is not None and j not in filled.categories:
        cells = np.where(np.isnan(given), cells, given)
    return [cell_text(filled, j, value) for value in cells.tolist()]


def cell_text(table: Table, column: int, value: float) -> Any:
    """A cell as a file holds it."""
    if np.isnan(value):
        return None
    if column in table.categories:
        return str(table.categories[column][int(value)])
    if table.kinds[column] in ("integer", "bool") and value == round(value):
        return int(value)
    return float(f"{value:.{DIGITS}g}")


def _cell_rows(found: Any, filled: Table, names: tuple[str, ...] | None) -> Iterator[list[Any]]:
    """A line for every filled cell: its value with its probability, or with interval and standard deviation."""
    for k, (row, column) in enumerate(zip(found.rows.tolist(), found.columns.tolist(), strict=True)):
        value = filled.values[row, column]
        chances = found.probabilities[k]
        is_listed = chances is not None and not np.isnan(value)
        probability = round(float(chances[int(value)]), 6) if is_listed else None
        numbers: list[Any] = [None] * 3
        if column not in filled.categories:
            numbers = [float(f"{part[k]:.{DIGITS}g}") for part in (found.low, found.high, found.sd)]
        name = str(row) if names is None else names[row]
        yield [name, filled.names[column], cell_text(filled, column, value), probability, *numbers]
