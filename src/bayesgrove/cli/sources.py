"""What a run is fitted to: the rows of a table, or trees."""

import csv
import dataclasses
import os
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from bayesgrove.cli.models import takes_trees
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.table import Table
from bayesgrove.io.dialect import Dialect
from bayesgrove.io.tables import read_labelled_table
from bayesgrove.io.tree_data import TreeData, read_trees
from bayesgrove.io.tree_files import other_endings

AUTO = "auto"
MOST_REASONS = 5
"""Reasons and endings shown."""


@dataclasses.dataclass(frozen=True)
class Reading:
    """How DATA is read.

    Attributes
    ----------
    index, header
        Of tables: the column that names the rows, and whether the first line holds names.
    format, options
        Of trees: the format, and options of the readers.
    drop
        Of tables: columns to leave out.
    sep, decimal, encoding, sheet
        Of tables: how they are written, where that was given.
    """

    index: str | None = None
    header: bool | None = None
    format: str | None = None
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    drop: list[str] = dataclasses.field(default_factory=list)
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    @property
    def dialect(self) -> Dialect:
        """How tables are written, where that was given."""
        return Dialect(self.sep, self.decimal, self.encoding, self.sheet)

    def to_document(self) -> dict[str, Any]:
        """In JSON's types."""
        return dataclasses.asdict(self)


def reading_of(document: dict[str, Any]) -> Reading:
    """How the data of a run were read, from its request or summary; those of older versions say less."""
    known = {"index": str, "header": bool, "format": str, "options": dict, "drop": list}
    known |= dict.fromkeys(Dialect._fields, str)
    found = {name: document[name] for name in known if document.get(name) is not None}
    wrong = [name for name, kind in known.items() if not isinstance(found.get(name, kind()), kind)]
    if not wrong and not all(isinstance(name, str) for name in found.get("drop", [])):
        wrong = ["drop"]
    if wrong:
        raise InvalidFileError(f"the run's {wrong[0]} is damaged, got {found[wrong[0]]!r:.80}. Fit again.")
    return Reading(**found)


class Rows(NamedTuple):
    """What is fitted or predicted, and names of its rows where there are any."""

    data: Table | TreeData
    names: tuple[str, ...] | None

    @property
    def n_rows(self) -> int:
        """Number of rows or trees."""
        return len(self.data) if isinstance(self.data, TreeData) else self.data.n_rows

    @property
    def words(self) -> str:
        """How much there is."""
        if isinstance(self.data, TreeData):
            return f"{len(self.data)} trees of {self.data.forest.n_nodes} nodes"
        return f"{self.data.n_rows} rows x {self.data.n_columns} columns"

    @property
    def summary(self) -> dict[str, Any]:
        """What a run's summary says of it."""
        data = self.data
        if isinstance(data, TreeData):
            counts = {"n_nodes": data.forest.n_nodes, "n_labels": data.n_labels, "max_outdegree": data.max_outdegree}
            return {"n_rows": self.n_rows, "columns": [], "trees": {**counts, "n_skipped": len(data.skipped)}}
        columns = [{"name": name, "kind": kind} for name, kind in zip(data.names, data.kinds, strict=True)]
        return {"n_rows": self.n_rows, "columns": columns}


def listed(names: list[str] | None) -> list[str]:
    """Names of columns from options like `a,b`; one with a comma in it is written in double quotes."""
    return [name for given in names or [] for name in next(csv.reader([given], skipinitialspace=True), [])]


def check_reading(model: str, reading: Reading) -> None:
    """Refuse options of tables for trees, and of trees for tables."""
    if takes_trees(model):
        given = {
            "--index": reading.index is not None,
            "--header": reading.header is not None,
            "--drop": bool(reading.drop),
            **{f"--{name}": value is not None for name, value in reading.dialect._asdict().items()},
        }
        remedy = f"{model} takes trees; leave it out."
    else:
        given = {"--format": reading.format is not None, "--read": bool(reading.options)}
        remedy = f"{model} takes a table; leave it out."
    wrong = [option for option, is_given in given.items() if is_given]
    if wrong:
        raise InvalidSettingError(f"{wrong[0]} does not go with this model: {remedy}")
    if reading.index in reading.drop:
        raise InvalidSettingError(
            f"--drop {reading.index} names the index, which is no column to cluster by anyway; leave --index or --drop "
            "out."
        )


def read_rows(model: str, data: Path, reading: Reading) -> Rows:
    """The trees or the table of a fit; files of a folder that cannot be read as trees are skipped."""
    if takes_trees(model):
        options = {"errors": "skip", **reading.options} if data.is_dir() else reading.options
        return read_tree_rows(data, dataclasses.replace(reading, options=options))
    return read_table_rows(data, reading)


def read_table_rows(data: Path, reading: Reading) -> Rows:
    """A table and the names of its rows."""
    table, names = read_labelled_table(
        data, index=reading.index, header=reading.header, drop=reading.drop, dialect=reading.dialect
    )
    return Rows(table, names)


def read_tree_rows(data: Path, reading: Reading) -> Rows:
    """Trees and where each comes from; unknown options are refused with the list of the known ones."""
    found = read_trees(data, reading.format or AUTO, **reading.options)
    return Rows(found, short_names(found.sources))


def reading_lines(data: TreeData, place: Path) -> list[str]:
    """How many documents were read, how many skipped and why, and which files of a folder have other endings."""
    lines = [f"Read {len(data):,} tree{'s' * (len(data) != 1)} of {data.n_nodes:,} nodes ({data.origin})."]
    if data.skipped:
        lines.append(f"Skipped {len(data.skipped):,} that could not be read:")
        lines += [f"  {skipped.reason}" for skipped in data.skipped[:MOST_REASONS]]
        if len(data.skipped) > MOST_REASONS:
            lines.append(f"  and {len(data.skipped) - MOST_REASONS:,} more")
    others = other_endings(place) if place.is_dir() else Counter()
    if others:
        kinds = ", ".join(f"{number:,} {ending}" for ending, number in others.most_common(MOST_REASONS))
        lines.append(f"Ignored {others.total():,} file{'s' * (others.total() != 1)} of other formats: {kinds}")
    return lines


def short_names(sources: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Names of trees without the folder that all of them are in: a run that is resumed has the same ones."""
    if sources is None:
        return None
    folder = os.path.commonpath([os.path.dirname(source) for source in sources]) if sources else ""
    return tuple(os.path.relpath(source, folder) if folder else source for source in sources)
