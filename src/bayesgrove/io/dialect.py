"""How a delimited text is written: encoding, separator and decimal mark, detected unless given."""

import codecs
import csv
import io
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError

SEPARATORS = (",", ";", "\t", "|")
DECIMALS = (".", ",")
UTF8, WINDOWS = "utf-8", "cp1252"
SAMPLE_LETTERS, SAMPLE_ROWS = 1 << 16, 50
ANY_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+([eE][+-]?[0-9]+)?")
COMMA_NUMBER = re.compile(r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?([eE][+-]?[0-9]+)?|[+-]?,[0-9]+")
POINT_NUMBER = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})+")


class Dialect(NamedTuple):
    """How a table is written; None is detected.

    Attributes
    ----------
    sep : str or None
        The mark between cells, of .csv, .tsv and .txt.
    decimal : {".", ","} or None
        The decimal mark of these.
    encoding : str or None
        Their encoding, by a name that Python knows.
    sheet : str or None
        Name of the sheet of an .xlsx file; None is the first.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def check(self) -> None:
        """Refuse what no text is written in."""
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n'):
            raise InvalidSettingError(f'sep is one character such as ";" or a tab, got {self.sep!r}.', setting="sep")
        if self.decimal not in (None, *DECIMALS):
            raise InvalidSettingError(f'decimal is "." or ",", got {self.decimal!r}.', setting="decimal")
        if self.decimal is not None and self.decimal == self.sep:
            raise InvalidSettingError(f"sep and decimal are both {self.sep!r}; they must differ.", setting="decimal")
        try:
            codecs.lookup(self.encoding or UTF8)
        except LookupError as error:
            raise InvalidSettingError(
                f"there is no encoding {self.encoding!r}; try utf-8, cp1252 or utf-16.", setting="encoding"
            ) from error


PLAIN = Dialect()


def decoded(content: bytes, encoding: str | None, path: Path) -> tuple[str, str]:
    """The text of a file and its encoding: as given, by its byte order mark, UTF-8, or what Windows writes."""
    if encoding is None:
        encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else UTF8
        tries = [encoding] if encoding != UTF8 else [UTF8, WINDOWS]
    else:
        tries = [encoding]
    for name in tries:
        try:
            return content.decode(name).removeprefix("\ufeff"), name
        except (UnicodeDecodeError, UnicodeError) as error:
            where = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            failure = error
    raise InvalidFileError(
        f"{path} is not {' or '.join(tries)} text{where}; name its encoding (encoding=, --encoding).", path=path
    ) from failure


def separator_of(text: str, default: str) -> str:
    """The mark that divides the first rows into equally many cells, by preference into numbers; else the default."""
    found: list[tuple[float, bool, str]] = []
    for mark in SEPARATORS:
        rows = first_rows(text, mark)
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            body = [cell.strip() for row in rows[1:] or rows for cell in row if cell.strip()]
            numbers = sum(ANY_NUMBER.fullmatch(cell) is not None for cell in body)
            found.append((numbers / max(len(body), 1), mark == default, mark))
    return max(found)[2] if found else default


def first_rows(text: str, mark: str) -> list[list[str]]:
    """Cells of the first rows; of a longer text the last row of the sample may be cut off and is left out."""
    sample = text[:SAMPLE_LETTERS]
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=mark):
            if row:
                rows.append(row)
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:  # said where the whole file is read
        return rows
    return rows[:-1] if len(sample) < len(text) and len(rows) > 1 else rows


def has_decimal_commas(columns: Sequence[Sequence[str]]) -> bool:
    """Whether some columns hold numbers with commas, and none such with points."""
    commas = False
    for cells in columns:
        if any("," in cell for cell in cells):
            commas = commas or all(map(COMMA_NUMBER.fullmatch, cells))
        elif cells and all(map(POINT_NUMBER.fullmatch, cells)) and not all(map(THOUSANDS.fullmatch, cells)):
            return False
    return commas


def with_points(cells: Sequence[str], present: Sequence[str]) -> Sequence[str]:
    """Cells of a column with decimal points in place of commas, where it holds numbers; other columns as they are."""
    if not any("," in cell or "." in cell for cell in present) or not all(map(COMMA_NUMBER.fullmatch, present)):
        return cells
    return [cell.replace(".", "").replace(",", ".") if COMMA_NUMBER.fullmatch(cell) else cell for cell in cells]


def say_detected(path: Path, given: Dialect, found: Dialect, default: str) -> None:
    """One line that tells what was detected, where that is not what the file's ending promises."""
    told = []
    if given.sep is None and found.sep != default:
        told.append(f"separator {found.sep!r} (--sep)")
    if given.decimal is None and found.decimal == ",":
        told.append("decimal commas (--decimal)")
    if given.encoding is None and found.encoding != UTF8:
        told.append(f"encoding {found.encoding} (--encoding)")
    if told:
        logging.getLogger("bayesgrove").warning("%s: detected %s", path.name, ", ".join(told))
