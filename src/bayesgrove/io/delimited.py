"""Delimited text: how it is written, header, missing cells and column types are detected, or refused clearly."""

import csv
import io
import logging
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.io.atomic import replacing
from bayesgrove.io.columns import LARGEST_EXACT_INTEGER, Column, code_labels, rounding_error
from bayesgrove.io.dialect import (
    ANY_NUMBER,
    PLAIN,
    Dialect,
    decoded,
    has_decimal_commas,
    say_detected,
    separator_of,
    with_points,
)
from bayesgrove.io.texts import column_from_texts

MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A"}
    | {"1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)
"""As pandas has them."""
_TRUTH = {"true": 1.0, "false": 0.0}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|Inf|INF|Infinity|infinity)")
_FORMULA_START = ("=", "+", "-", "@", "\t", "\r")


class TextTable(NamedTuple):
    """Names, columns of stripped cells with decimal points, and the line of the file on which each row ends."""

    names: list[str]
    columns: list[Sequence[str]]
    lines: list[int]


def read_text_table(path: Path, default: str, header: bool | None = None, given: Dialect = PLAIN) -> TextTable:
    """All cells as text; `header=None` decides by looking at the first row; `default` is the separator expected."""
    given.check()
    text, encoding = decoded(_content(path), given.encoding, path)
    sep = separator_of(text, default) if given.sep is None else given.sep
    rows, lines = _read_rows(text, sep, path)
    if not rows:
        raise InvalidTableError(f"{path} is empty; a table needs at least one row.", path=path)
    if header is None:
        header = looks_like_header(rows)
    names = column_names(rows[0]) if header else [f"x{j}" for j in range(len(rows[0]))]
    body, lines = rows[header:], lines[header:]
    if not body:
        raise InvalidTableError(f"{path} has a header but no rows.", path=path)
    columns: list[Sequence[str]] = list(zip(*body, strict=True))
    present = [[cell for cell in cells if cell not in MISSING] for cells in columns]
    decimal = given.decimal or ("," if sep == ";" and has_decimal_commas(present) else ".")
    say_detected(path, given, Dialect(sep, decimal, encoding), default)
    if decimal == ",":
        columns = [with_points(cells, own) for cells, own in zip(columns, present, strict=True)]
    return TextTable(names, columns, lines)


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """True if the first row has words and is not plainly data.

    A row that mixes words and numbers is data when one of its words comes again further down its column.
    """
    first = rows[0]
    words = [j for j, cell in enumerate(first) if cell not in MISSING and not looks_like_number(cell)]
    if not words or all(cell.lower() in _TRUTH for cell in first):
        return False
    has_numbers = any(map(looks_like_number, first))
    return not (has_numbers and any(first[j] == row[j] for j in words for row in rows[1:]))


def is_number(cell: str) -> bool:
    """True for an integer or a decimal number as spreadsheets write them."""
    return _NUMBER.fullmatch(cell) is not None


def looks_like_number(cell: str) -> bool:
    """True for a number with any decimal mark."""
    return is_number(cell) or ANY_NUMBER.fullmatch(cell) is not None


def infer_column(cells: Sequence[str], lines: Sequence[int], where: str) -> Column:
    """Booleans if all true/false, else integers, floats, numbers with commas, dates, else categories."""
    present = [cell for cell in cells if cell not in MISSING]
    if present and all(cell.lower() in _TRUTH for cell in present):
        values = [np.nan if cell in MISSING else _TRUTH[cell.lower()] for cell in cells]
        return Column(np.array(values), "bool")
    n_numbers = sum(map(is_number, present))
    if n_numbers == len(present):
        return _number_column(cells, present, lines, where)
    if n_numbers >= 0.9 * len(present):
        _warn_of_words(cells, lines, where, n_numbers)
    texts = column_from_texts([None if cell in MISSING else cell for cell in cells], where)
    return category_column(cells) if texts is None else texts


def category_column(cells: Sequence[str]) -> Column:
    """A column of categories, whatever the cells look like."""
    return code_labels(None if cell in MISSING else cell for cell in cells)


def _number_column(cells: Sequence[str], present: Sequence[str], lines: Sequence[int], where: str) -> Column:
    values = np.array([math.nan if cell in MISSING else float(cell) for cell in cells])
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise InvalidTableError(f"{where}, line {lines[row]}: {cells[row]!r} is not finite; leave the cell empty.")
    if not present or not all(map(_INTEGER.fullmatch, present)):
        return Column(values, "float")
    if np.nanmax(np.abs(values)) > LARGEST_EXACT_INTEGER:
        raise rounding_error(where)
    return Column(values, "integer")


def _warn_of_words(cells: Sequence[str], lines: Sequence[int], where: str, n_numbers: int) -> None:
    row = next(i for i, cell in enumerate(cells) if cell not in MISSING and not is_number(cell))
    logging.getLogger("bayesgrove").warning(
        "%s is read as categories although %d of its cells are numbers: line %d has %r",
        where, n_numbers, lines[row], cells[row],
    )  # fmt: skip


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidFileError(f"cannot read {path}: {error.strerror}.", path=path) from error


def _read_rows(text: str, sep: str, path: Path) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    try:
        for row in reader:
            if row:
                _check_width(row, rows, reader.line_num, path)
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InvalidFileError(f"{path}, line {reader.line_num}: {error}.", line=reader.line_num) from error
    return rows, lines


def _check_width(row: list[str], rows: list[list[str]], line: int, path: Path) -> None:
    if rows and len(row) != len(rows[0]):
        raise InvalidTableError(
            f"{path}, line {line}: {len(row)} cells where the first row has {len(rows[0])}. "
            "Every row needs the same number; quote cells that hold the separator, or name it (sep=, --sep).",
            path=path,
            line=line,
        )


def column_names(first: Sequence[str]) -> list[str]:
    """Names of the header; an empty one (pandas writes it for its index) becomes x and its number."""
    return [name or f"x{j}" for j, name in enumerate(first)]


def write_csv(path: str | os.PathLike[str], header: Sequence[str], rows: Any, *, overwrite: bool = True) -> None:
    """Write rows of texts and numbers; texts that a spreadsheet would run as formulas are defused."""
    with replacing(path, overwrite=overwrite) as stream:
        write_csv_stream(_Utf8(stream), header, rows)


def write_csv_stream(stream: Any, header: Sequence[str], rows: Any) -> None:
    """Write rows as CSV to an open text stream, formulas defused."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([defuse(name) for name in header])
    writer.writerows([defuse(cell) for cell in row] for row in rows)


def defuse(cell: Any) -> Any:
    """The cell, with an apostrophe in front of a text that starts like a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_START) else cell


class _Utf8:
    """The little of a text stream that csv.writer needs, over a binary stream that stays open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        self._stream.write(text.encode("utf-8"))
