"""Reads wanted figures from the rows of benchmarks: which rows, which column, what limit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MET, MISSED, QUICK, ABSENT = "met", "missed", "quick", "not measured"
AT_MOST, AT_LEAST = "<=", ">="


class Figure(NamedTuple):
    """Something that was promised, and where it can be read.

    Attributes
    ----------
    name : str
        In words.
    said : str
        Issue or section that asks for it.
    benchmark : str
        Whose rows are read.
    where : mapping
        Values that columns of the rows must have; a tuple stands for any of its values.
    column : str
        A number, or "3/4", which is a share.
    sense, limit : str, float
        "<=" or ">="; the worst of the rows is judged.
    unit : str
        Of the limit.
    over : mapping, or None
        Differences to `where` of the row that the number is divided by.
    beside : str
        A column shown besides.
    """

    name: str
    said: str
    benchmark: str
    where: Mapping[str, Any]
    column: str
    sense: str
    limit: float
    unit: str = ""
    over: Mapping[str, Any] | None = None
    beside: str = ""


class Judged(NamedTuple):
    """A line of the table."""

    figure: str
    wanted: str
    measured: str
    state: str
    load: str
    remark: str
    said: str


def judge_all(
    figures: Iterable[Figure], documents: Sequence[Mapping[str, Any]], failures: Mapping[str, str] | None = None
) -> list[Judged]:
    """One line a figure."""
    return [judge(figure, documents, failures or {}) for figure in figures]


def judge(figure: Figure, documents: Sequence[Mapping[str, Any]], failures: Mapping[str, str]) -> Judged:
    """The worst row that the figure speaks of, against its limit."""
    found = [
        (value, row, document)
        for document in documents
        if document["benchmark"] == figure.benchmark
        for row in document["rows"]
        if fits(row, figure.where) and (value := value_of(figure, row, document["rows"])) is not None
    ]
    wanted = f"{figure.sense} {figure.limit:g}{figure.unit and ' ' + figure.unit}"
    if not found:
        return Judged(figure.name, wanted, "", ABSENT, "", why_absent(figure, documents, failures), figure.said)
    worst = max if figure.sense == AT_MOST else min
    value, row, document = worst(found, key=lambda entry: entry[0])
    is_met = value <= figure.limit if figure.sense == AT_MOST else value >= figure.limit
    state = QUICK if document["quick"] else MET if is_met else MISSED
    measured = f"{'at least ' if row.get('at_least') else ''}{value:.3g}"
    remark = remark_of(figure, row, document)
    return Judged(figure.name, wanted, measured, state, load_of(document), remark, figure.said)


def fits(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether the columns have the values asked for."""
    return all(row.get(name) in (value if isinstance(value, tuple) else (value,)) for name, value in where.items())


def value_of(figure: Figure, row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The number of a row, or its ratio to that of another row of the same document; None where it has none."""
    value = number(row.get(figure.column))
    if value is None or figure.over is None:
        return value
    others = [number(other.get(figure.column)) for other in rows if fits(other, {**figure.where, **figure.over})]
    return value / others[0] if others and others[0] else None


def number(cell: Any) -> float | None:
    """A finite number; "3/4" is a share."""
    if isinstance(cell, str) and cell.count("/") == 1:
        part, whole = cell.split("/")
        return int(part) / int(whole) if part.isdigit() and whole.isdigit() and int(whole) else None
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
        return None
    return float(cell)


def why_absent(figure: Figure, documents: Sequence[Mapping[str, Any]], failures: Mapping[str, str]) -> str:
    """What the rows themselves say, or which part failed, or that nothing was run."""
    own = [document for document in documents if document["benchmark"] == figure.benchmark]
    notes = [row["note"] for document in own for row in document["rows"] if row.get("note") and speaks(row, figure)]
    if notes:
        return notes[0].removeprefix("not measured: ")
    named = {name: figure.where[name] for name in ("part", "kind", "model") if name in figure.where}
    pieces = [value for value in named.values() if isinstance(value, str)]
    stems = (figure.benchmark, *(f"{figure.benchmark}-{piece}" for piece in pieces))
    failed = [failures[stem] for stem in stems if stem in failures]
    if failed:
        return f"failed: {failed[0]}"
    if not any(fits(row, named) for document in own for row in document["rows"]):
        return f"`{'/'.join([figure.benchmark, *pieces])}` was not run"
    return "a quick run has smaller cases" if any(document["quick"] for document in own) else "no such row"


def speaks(row: Mapping[str, Any], figure: Figure) -> bool:
    """Whether a row with a note stands for those of a figure: no column says that it is another one."""
    return all(
        name not in row or row[name] in (value if isinstance(value, tuple) else (value,)) or name == "data"
        for name, value in figure.where.items()
    )


def load_of(document: Mapping[str, Any]) -> str:
    """Load averages before and after."""
    load = document.get("load")
    if not load:
        return ""
    before, after = load["before"], load["after"]
    stolen = (after.get("stolen") or 0.0) - (before.get("stolen") or 0.0)
    return f"{before['minute']:.1f}, {after['minute']:.1f}" + (f"; {stolen:.0f} s stolen" if stolen >= 0.5 else "")


def remark_of(figure: Figure, row: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """The column besides, and what the row notes."""
    parts = []
    if figure.beside and number(row.get(figure.beside)) is not None:
        parts.append(f"{figure.beside.replace('_', ' ')} {row[figure.beside]:.3g}")
    if document["quick"]:
        parts.append("small case, proves nothing")
    if row.get("note"):
        parts.append(str(row["note"]))
    return "; ".join(parts)
