"""Tables as CSV and Markdown."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import ABSENT, MET, MISSED, QUICK
from benchmarks.timing import by_part, cell, titles_of


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table; a column not in a row is empty there."""
    titles = titles_of(rows)
    lines = [titles, ["---"] * len(titles)]
    lines += [[cell(row.get(title)).replace("|", "\\|").replace("\n", " ") for title in titles] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Both files of a table."""
    with (folder / f"{name}.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(titles_of(rows))
        writer.writerows([[cell(row.get(title)) for title in titles_of(rows)] for row in rows])
    (folder / f"{name}.md").write_text(markdown(rows) + "\n")


def write_rows(folder: Path, documents: Sequence[Mapping[str, Any]]) -> None:
    """All rows of all benchmarks in one file, a table for each part."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for document in documents:
        for part, rows in by_part(document["rows"]).items():
            groups.setdefault(" ".join(filter(None, (document["benchmark"], part))), []).extend(rows)
    pieces = [f"### {name}\n\n{markdown(rows)}" for name, rows in groups.items()]
    (folder / "rows.md").write_text("\n\n".join(pieces) + "\n")


def counts(judged: Sequence[Mapping[str, Any]]) -> str:
    """How many figures are met, missed and not measured."""
    found = Counter(line["state"] for line in judged)
    said = [f"{found[state]} {state}" for state in (MET, MISSED, QUICK, ABSENT) if found[state]]
    return f"{len(judged)} figures: {', '.join(said)}."


def conditions(documents: Sequence[Mapping[str, Any]]) -> str:
    """When, on what and how busy a machine, with which versions."""
    if not documents:
        return "Nothing was measured."
    times = sorted(document["provenance"]["time"] for document in documents)
    loads = [document["load"][when]["minute"] for document in documents for when in ("before", "after")]
    first = documents[0]
    versions = {f"{k} {v}" for document in documents for k, v in document["provenance"]["packages"].items()}
    return (
        f"Measured {times[0]} to {times[-1]} on {first['load']['before']['cores']} cores of a "
        f"{first['provenance']['system']} with Python {first['provenance']['python']}; "
        f"load average (1 minute) {min(loads):.1f} to {max(loads):.1f}: "
        f"{'other work shared the machine' if max(loads) > first['load']['before']['cores'] else 'a quiet machine'}. "
        f"Rounds: {', '.join(sorted({str(document['repeats']) for document in documents}))}. "
        f"Versions: {', '.join(sorted(versions))}."
    )
