"""Texts that are numbers or dates: recognised and read, with one line in the log."""

import datetime
import logging
import re
from collections.abc import Callable, Sequence

import numpy as np

from bayesgrove.core.table import DATE
from bayesgrove.io.columns import Column

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
CODE = re.compile(r"[+-]?0[0-9]+")
"""A number that starts with 0 is a code, such as a postcode."""
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)?([eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]{1,3})(\.[0-9]*)?")
ISO_DATE = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)? ?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)
"""As pandas and databases write it: a day, or a day and a time."""
OTHER_DATE = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1([0-9]{4}|[0-9]{2})( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?")
TIME = re.compile(r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?")
EPOCH = datetime.date(1970, 1, 1).toordinal()


def column_from_texts(cells: Sequence[str | None], where: str) -> Column | None:
    """The numbers or dates that all texts of a column are; None for other texts. None is a missing cell."""
    present = [cell.strip() for cell in cells if cell is not None]
    if not present:
        return None
    if all(map(NUMBER.fullmatch, present)) and not any(map(CODE.fullmatch, present)):
        return numbers(cells, float, where, "texts as numbers")
    has_commas = any("," in cell for cell in present)
    if has_commas and all(map(THOUSANDS.fullmatch, present)):
        return numbers(cells, lambda cell: float(cell.replace(",", "")), where, "commas as thousands separators")
    if has_commas and all(map(DECIMAL_COMMA.fullmatch, present)):
        return numbers(cells, lambda cell: float(cell.replace(",", ".")), where, "commas as decimal points")
    return dates(cells, present)


def numbers(cells: Sequence[str | None], read: Callable[[str], float], where: str, how: str) -> Column:
    """A column of numbers, and a line that says how they were read."""
    logging.getLogger("bayesgrove").info("%s: read %s", where, how)
    return Column(np.array([np.nan if cell is None else read(cell.strip()) for cell in cells]), "float")


def dates(cells: Sequence[str | None], present: Sequence[str]) -> Column | None:
    """A column of dates in days; those that are not in ISO's order, and times, as their rank."""
    if all(map(ISO_DATE.fullmatch, present)):
        return Column(np.array([np.nan if cell is None else days(cell.strip()) for cell in cells]), DATE)
    if not all(map(OTHER_DATE.fullmatch, present)) and not all(map(TIME.fullmatch, present)):
        return None
    order = {text: float(rank) for rank, text in enumerate(sorted(set(present)))}
    return Column(np.array([np.nan if cell is None else order[cell.strip()] for cell in cells]), DATE)


def days(text: str) -> float:
    """Days since 1970, without the time of day."""
    year, month, day = (int(part) for part in text[:10].split("-"))
    last = (datetime.date(year + month // 12, month % 12 + 1, 1) - datetime.timedelta(1)).day if year < 9999 else day
    return float(datetime.date(max(year, 1), month, min(day, last)).toordinal() - EPOCH)


def days_of(values: np.ndarray) -> np.ndarray:
    """Days since 1970 of numpy's dates and times, days of its durations."""
    unit = "datetime64[s]" if values.dtype.kind == "M" else "timedelta64[s]"
    seconds = values.astype(unit)
    return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 86_400.0)
