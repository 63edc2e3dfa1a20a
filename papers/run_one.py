"""`python -m papers NAME`: one experiment, its tables and its claims with verdicts."""

import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from bayesgrove.core import provenance
from bayesgrove.core.errors import InvalidFileError
from bayesgrove.io import atomic
from bayesgrove.io.delimited import write_csv
from papers.experiments import EXPERIMENTS, reproduce
from papers.outcome import Outcome, Row

OUTCOME, CLAIMS = "outcome.json", "claims.csv"
WIDEST = 10_000
"""Letters in a line of the widest table that is measured."""
STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}


def list_experiments(console: Console) -> None:
    """Names and what they show."""
    for name, experiment in EXPERIMENTS.items():
        console.print(f"{name:<16} {experiment.about}", soft_wrap=True)


def run_one(
    name: str, console: Console, *, quick: bool, out: Path | None, seed: int, data_home: Path | None, force: bool
) -> None:
    """Run an experiment, show its tables and verdicts, and keep them where a folder is given."""
    if out is not None:
        check_folder(out, force=force)
    outcome, about = run_timed(name, quick=quick, seed=seed, data_home=data_home)
    show(console, outcome)
    if out is not None:
        write(out, outcome, about)
        why = draw_figures(out, outcome)
        if why:
            console.print(why, soft_wrap=True)
        console.print(f"\ntables and verdicts in {out}", soft_wrap=True)


def run_timed(name: str, *, quick: bool, seed: int, data_home: Path | None) -> tuple[Outcome, dict[str, Any]]:
    """An experiment, its steps told on stderr, and where it came from: versions, settings, seconds."""
    progress = Console(stderr=True)
    start = time.perf_counter()
    outcome = reproduce(
        name,
        quick=quick,
        seed=seed,
        data_home=data_home,
        tell=lambda line: progress.print(line, style="dim", markup=False),
    )
    seconds = round(time.perf_counter() - start, 1)
    return outcome, provenance.record(name, {"quick": quick, "seed": seed}, seed) | {"seconds": seconds}


def check_place(out: Path) -> None:
    """Refuse what is not, and cannot become, a folder."""
    if os.path.lexists(out) and not os.path.isdir(out):
        raise InvalidFileError(f"{out} is a file; --out names a folder.", path=out)
    if not os.path.isdir(out.absolute().parent):
        raise InvalidFileError(f"there is no folder {out.absolute().parent} to make {out.name} in.", path=out)


def check_folder(out: Path, *, force: bool) -> None:
    """Refuse a folder with something else in it before any work is done."""
    check_place(out)
    if os.path.isdir(out) and any(out.iterdir()) and not (force and os.path.isfile(out / OUTCOME)):
        raise InvalidFileError(f"{out} is not empty; choose another folder, or --force for one of ours.", path=out)


def show(console: Console, outcome: Outcome) -> None:
    """Tables, then what the paper says and what was seen."""
    console.print(outcome.title, style="bold")
    for name, rows in outcome.tables.items():
        console.print(f"\n{name}")
        grid = grid_of(rows)
        if console.measure(grid, options=console.options.update(max_width=WIDEST)).maximum <= console.width:
            console.print(grid)
        else:
            console.print(f"{len(rows)} rows, too wide for this terminal: in {file_name(name)}.csv with --out FOLDER")
    console.print()
    claims = Grid(box=None, pad_edge=False, header_style="bold")
    for title in ("verdict", "the paper", "here"):
        claims.add_column(title, overflow="fold")
    for claim in outcome.claims:
        claims.add_row(Text(claim.verdict, STYLES[claim.verdict]), Text(claim.paper), Text(claim.ours))
    console.print(claims)
    for note in outcome.notes:
        console.print(f"note: {note}", soft_wrap=True, markup=False)


def grid_of(rows: Any) -> Grid:
    """Rows as a grid."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    titles = titles_of(rows)
    for title in titles:
        grid.add_column(title, justify="right")
    for row in rows:
        grid.add_row(*(Text(cell_text(row.get(title))) for title in titles))
    return grid


def titles_of(rows: Any) -> list[str]:
    """Names of columns in the order in which they appear."""
    return list(dict.fromkeys(title for row in rows for title in row))


def cell_text(value: Any) -> str:
    """A number in four digits, or a text."""
    value = known(value)
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def known(value: Any) -> Any:
    """None for what is not a number: JSON has no such thing."""
    return None if isinstance(value, float) and math.isnan(value) else value


def rounded(value: Any) -> Any:
    """Numbers to five digits."""
    return float(f"{value:.5g}") if isinstance(known(value), float) else known(value)


def file_name(name: str) -> str:
    """The name of a table or picture in letters that any folder takes.

    Examples
    --------
    >>> file_name("tree max (0.1, 1), printed sampler")
    'tree-max-0.1-1-printed-sampler'
    """
    return "-".join(re.findall(r"[a-z0-9._]+", name.lower()))


def draw_figures(out: Path, outcome: Outcome) -> str | None:
    """One picture for each figure; gives the reason when there are none."""
    if not outcome.figures:
        return None
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no pictures: matplotlib is not installed (pip install 'bayesgrove[plot]')"
    for name, draw in outcome.figures.items():
        figure = Figure(figsize=(9, 6), layout="constrained")
        draw(ax=figure.subplots())
        with atomic.replacing(out / f"{file_name(name)}.png") as stream:
            figure.savefig(stream, format="png", dpi=120)
    return None


def write(out: Path, outcome: Outcome, about: Row) -> None:
    """One CSV for each table, to be read, and one for the claims, and everything in one JSON document."""
    out.mkdir(exist_ok=True)
    for name, rows in outcome.tables.items():
        titles = titles_of(rows)
        file = out / f"{file_name(name)}.csv"
        write_csv(file, titles, [[rounded(row.get(title)) for title in titles] for row in rows])
    claims = [[claim.verdict, claim.paper, claim.ours] for claim in outcome.claims]
    write_csv(out / CLAIMS, ("verdict", "paper", "here"), claims)
    document = {
        "title": outcome.title,
        "claims": [{"paper": c.paper, "ours": c.ours, "verdict": c.verdict} for c in outcome.claims],
        "notes": list(outcome.notes),
        "tables": {
            name: [{title: known(value) for title, value in row.items()} for row in rows]
            for name, rows in outcome.tables.items()
        },
        "provenance": dict(about),
    }
    atomic.write_text(out / OUTCOME, json.dumps(document, indent=2) + "\n")
