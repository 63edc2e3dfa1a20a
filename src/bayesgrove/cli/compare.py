"""`bayesgrove compare`: several runs of the same rows side by side."""

import csv
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from bayesgrove.cli import run_folder
from bayesgrove.cli.predict import check_output, csv_text, write
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.stats.partitions import adjusted_rand, relabel, variation_of_information

HEADINGS = ("run", "model", "clusters", "largest", "log evidence", "seconds", "chains")


class Compared(NamedTuple):
    """What is compared of a run."""

    name: str
    summary: dict[str, Any]
    labels: dict[str, str]
    """The cluster of each row, by the name of the row."""


def compare(runs: list[Path], output: Path | None, console: Console, *, force: bool) -> None:
    """Show what each run found, and how far every two agree on the rows that both have; CSV to a file if wanted."""
    check_output(output, force)
    if len(runs) < 2:
        raise InvalidSettingError(f"compare takes two or more runs, got {len(runs)}.")
    found = [compared(run) for run in runs]
    pairs = [agreement(a, b) for i, a in enumerate(found) for b in found[i + 1 :]]
    console.print(runs_grid(found))
    console.print()
    console.print(pairs_grid(pairs))
    console.print(
        "\nARI: adjusted Rand index, 1 for equal clusters and 0 for chance; VI: variation of information, nats."
    )
    if output is not None:
        write(csv_text(("run", "other_run", "n_rows", "ari", "vi"), pairs), output, force)


def compared(run: Path) -> Compared:
    """A run that has ended, without its model: the summary and the labels."""
    path = run / run_folder.LABELS
    if not os.path.isfile(path):
        run_folder.open_run(run)  # says what it is instead
        raise InvalidFileError(f"{run} has no {path.name}; fit again.", path=path)
    with open(path, encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        next(reader, None)
        labels = {row[0]: row[1] for row in reader if len(row) > 1}
    if not labels:
        raise InvalidFileError(f"{path} is damaged: it has no labels. Fit again.", path=path)
    return Compared(str(run), run_folder.read_summary(run), labels)


def agreement(a: Compared, b: Compared) -> tuple[str, str, int, float, float]:
    """Adjusted Rand index and variation of information over the rows that both runs name."""
    names = [name for name in a.labels if name in b.labels]
    if not names:
        raise InvalidSettingError(f"{a.name} and {b.name} have no row in common; compare runs of the same table.")
    one, two = (relabel(np.array([own.labels[name] for name in names])) for own in (a, b))
    return a.name, b.name, len(names), adjusted_rand(one, two), variation_of_information(one, two)


def runs_grid(found: list[Compared]) -> Grid:
    """A line for each run."""
    grid = _grid(HEADINGS, n_texts=2)
    for name, summary, _ in found:
        sizes = summary.get("cluster_sizes") or [0]
        evidence, verdict = summary.get("log_evidence"), summary.get("verdict")
        grid.add_row(
            name,
            str(summary.get("model", "")),
            str(summary.get("n_clusters", "")),
            str(max(sizes)),
            "-" if evidence is None else f"{evidence:.1f}",
            f"{summary.get('seconds', 0.0):.1f}",
            "-" if verdict is None else str(verdict).partition(":")[0].lower(),
        )
    return grid


def pairs_grid(pairs: list[tuple[str, str, int, float, float]]) -> Grid:
    """A line for each pair of runs."""
    grid = _grid(("run", "other run", "rows", "ARI", "VI"), n_texts=2)
    for one, other, n_rows, ari, vi in pairs:
        grid.add_row(one, other, f"{n_rows:,}", f"{ari:.3f}", f"{vi:.3f}")
    return grid


def _grid(headings: tuple[str, ...], n_texts: int) -> Grid:
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        grid.add_column(heading, justify="left" if place < n_texts else "right", overflow="fold")
    return grid
