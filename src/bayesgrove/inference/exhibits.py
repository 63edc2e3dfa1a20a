"""What a family of models may add to a report: tables, heat maps, lines, bars and pictures with a title and a note.

The report draws these kinds and knows nothing of the model they come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayesgrove.core.errors import InvalidInputError


@dataclass(frozen=True, eq=False, kw_only=True)
class Exhibit:
    """A part of a report of its own."""

    title: str
    """What it shows, in a few words."""
    note: str = ""
    """How to read it, in a sentence or two."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GridExhibit(Exhibit):
    """A table of texts and numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float | None]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidInputError(
                    f"a row of {self.title!r} has one cell per column, got {len(row)} for {len(self.columns)}."
                )


@dataclass(frozen=True, eq=False, kw_only=True)
class TextsExhibit(Exhibit):
    """Texts side by side, line by line as they were written."""

    names: Sequence[str]
    texts: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.texts):
            raise InvalidInputError(
                f"{self.title!r} has a name per text, got {len(self.names)} for {len(self.texts)} texts."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class HeatMapExhibit(Exhibit):
    """A matrix of numbers as colours."""

    values: np.ndarray
    """(n_rows, n_columns): nan is drawn as missing."""
    row_names: Sequence[str]
    column_names: Sequence[str]
    unit: str = ""
    """What the colour says."""
    middle: float | None = None
    """Where a two-sided colour scale has its middle; without it the scale runs from the least to the largest."""

    def __post_init__(self) -> None:
        if np.shape(self.values) != (len(self.row_names), len(self.column_names)):
            raise InvalidInputError(
                f"{self.title!r} has a name per row and column, got {len(self.row_names)} and "
                f"{len(self.column_names)} for the shape {np.shape(self.values)}."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class LinesExhibit(Exhibit):
    """Lines over one axis."""

    x: np.ndarray
    """(n,)."""
    series: Mapping[str, np.ndarray]
    """(n,)."""
    x_label: str = ""
    y_label: str = ""

    def __post_init__(self) -> None:
        for name, values in self.series.items():
            if np.shape(values) != np.shape(self.x):
                raise InvalidInputError(
                    f"line {name!r} of {self.title!r} has a value per x, got {np.shape(values)} for {np.shape(self.x)}."
                )


@dataclass(frozen=True, eq=False, kw_only=True)
class BarsExhibit(Exhibit):
    """Bars with names, and intervals where there are any."""

    names: Sequence[str]
    values: np.ndarray
    """(n,)."""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    """`low` and `high`, (n,): ends of intervals."""
    y_label: str = ""

    def __post_init__(self) -> None:
        for part in (self.values, self.low, self.high):
            if part is not None and np.shape(part) != (len(self.names),):
                raise InvalidInputError(
                    f"{self.title!r} has a value per bar, got {np.shape(part)} for {len(self.names)} names."
                )


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureExhibit(Exhibit):
    """A picture made elsewhere."""

    png: bytes = field(repr=False)
    """The file's content."""
    alt: str
    """What is seen, for those who cannot see it."""

    def __post_init__(self) -> None:
        if not self.png.startswith(b"\x89PNG\r\n\x1a\n"):
            raise InvalidInputError(f"the picture of {self.title!r} must be a PNG file's bytes.")
