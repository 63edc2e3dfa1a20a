"""Sheets of Excel workbooks (.xlsx) as columns of cells."""

import datetime
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.core.table import DATE
from bayesgrove.io.columns import Column
from bayesgrove.io.delimited import MISSING, category_column, column_names, infer_column, looks_like_header

EPOCH = datetime.date(1970, 1, 1)


class Sheet(NamedTuple):
    """Names and columns of a sheet, and the row of the sheet that each row of the table stands in."""

    names: list[str]
    columns: list[tuple[Any, ...]]
    lines: list[int]


def read_sheet(path: Path, sheet: str | None, header: bool | None) -> Sheet:
    """A sheet of a workbook, the first one unless named; empty rows and columns are left out."""
    rows, lines = _rows(path, sheet)
    n_columns = max((len(row) for row in rows), default=0)
    used = [j for j in range(n_columns) if any(j < len(row) and row[j] is not None for row in rows)]
    if not used:
        raise InvalidTableError(f"{path} has an empty sheet; a table needs at least one row.", path=path)
    cells = [[row[j] if j < len(row) else None for j in used] for row in rows]
    texts = [[_text(cell) for cell in row] for row in cells]
    has_names = looks_like_header(texts) if header is None else header
    if len(cells) == has_names:
        raise InvalidTableError(f"{path} has a header but no rows.", path=path)
    names = column_names(texts[0]) if has_names else [f"x{j}" for j in range(len(used))]
    return Sheet(names, list(zip(*cells[has_names:], strict=True)), lines[has_names:])


def _rows(path: Path, sheet: str | None) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Rows with cells, and their numbers in the sheet."""
    try:
        import openpyxl
    except ImportError as error:
        raise InvalidFileError(
            f"reading {path} needs openpyxl; install it with: pip install 'bayesgrove[excel]'.", path=path
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises whatever zip, XML and its own parts raise
        raise InvalidFileError(f"{path} is damaged or not an .xlsx file ({error!s:.200}).", path=path) from error
    try:
        numbered = enumerate(_chosen(book, sheet, path).iter_rows(values_only=True), start=1)
        kept = [(row, line) for line, row in numbered if any(cell is not None for cell in row)]
    except (KeyError, ValueError, TypeError, SyntaxError, OSError, EOFError) as error:
        if isinstance(error, InvalidTableError):
            raise
        raise InvalidFileError(f"{path} is damaged or not an .xlsx file ({error!s:.200}).", path=path) from error
    finally:
        book.close()
    return [row for row, _ in kept], [line for _, line in kept]


def _chosen(book: Any, sheet: str | None, path: Path) -> Any:
    names = [page.title for page in book.worksheets]
    if sheet is not None and sheet not in names:
        raise InvalidTableError(f"{path} has no sheet {sheet!r}; it has {', '.join(names)}.", path=path)
    if not names:
        raise InvalidTableError(f"{path} has no sheet of cells.", path=path)
    if sheet is None and len(names) > 1:
        logging.getLogger("bayesgrove").warning(
            "%s: the first of its sheets is read, %r; name another with sheet= or --sheet", path.name, names[0]
        )
    return book.worksheets[0 if sheet is None else names.index(sheet)]


def sheet_column(cells: Sequence[Any], lines: Sequence[int], where: str) -> Column:
    """Numbers, dates or truth values as the sheet has them; what is mixed with texts is read as in a .csv file."""
    present = [cell for cell in cells if cell is not None and _text(cell) not in MISSING]
    missing = np.array([cell is None or _text(cell) in MISSING for cell in cells])
    if present and all(isinstance(cell, datetime.date) for cell in present):
        days = [np.nan if gone else _days(cell) for cell, gone in zip(cells, missing, strict=True)]
        return Column(np.array(days), DATE)
    if present and all(isinstance(cell, float) for cell in present):  # would look like integers if all are whole
        return Column(np.array([np.nan if gone else cell for cell, gone in zip(cells, missing, strict=True)]), "float")
    return infer_column([_text(cell) for cell in cells], lines, where)


def sheet_category(cells: Sequence[Any]) -> Column:
    """A column of categories."""
    return category_column([_text(cell) for cell in cells])


def _text(cell: Any) -> str:
    """A cell as a .csv file would have it."""
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ") if cell.time() != datetime.time() else cell.date().isoformat()
    return str(cell).strip()


def _days(cell: datetime.date) -> float:
    """Days since 1970."""
    seconds = 3600 * cell.hour + 60 * cell.minute + cell.second if isinstance(cell, datetime.datetime) else 0
    return float(cell.toordinal() - EPOCH.toordinal()) + seconds / 86_400.0
