"""`bayesgrove sweep`: a model under many settings, several times each, to a table and a page."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from bayesgrove.cli import models
from bayesgrove.cli.dask_cluster import on_cluster
from bayesgrove.cli.run_folder import make_parents
from bayesgrove.cli.settings import build_model, parse_settings, parse_value
from bayesgrove.cli.show import count
from bayesgrove.cli.sources import Reading, check_reading, read_rows
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError, MissingExtraError
from bayesgrove.core.table import Table
from bayesgrove.io.json_files import read_small_json
from bayesgrove.io.tree_data import TreeData
from bayesgrove.sweeps import Sweep
from bayesgrove.sweeps import sweep as run_sweep
from bayesgrove.sweeps.page import SPREAD, by_setting, write_page
from bayesgrove.sweeps.records import NAME as RECORD

RESULTS, PAGE = "results.csv", "sweep.html"
PARQUET = "results.parquet"
MAX_BYTES = 16 * 2**20
MOST_LINES = 40


@dataclasses.dataclass(frozen=True)
class SweepRequest:
    """What the user asked for."""

    model: str
    data: Path
    out: Path
    grid: list[str]
    file: Path | None
    fixed: list[str]
    n_repeats: int
    metrics: list[str]
    classes: str | None
    reading: Reading
    seed: int
    n_workers: int | None
    cluster: str | None


def sweep(request: SweepRequest, console: Console) -> None:
    """Make the fits that are not done yet, write the table and the page, show the means."""
    grid = read_grid(request)
    if request.n_workers is not None and request.cluster is not None:
        raise InvalidSettingError("--workers and --cluster are two ways to go; give one of them.")
    check_destination(request.out)
    model = build_model(models.model_class(request.model), parse_settings(request.fixed))
    check_reading(request.model, request.reading)
    rows, classes = take_classes(read_rows(request.model, request.data, request.reading).data, request.classes)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Console(stderr=True)
    with (
        on_cluster(request.cluster),
        Progress(*columns, console=progress, transient=True, disable=not progress.is_terminal) as bar,
    ):
        task = bar.add_task("fits", total=None)
        found = run_sweep(
            model,
            rows,
            grid,
            n_repeats=request.n_repeats,
            y=classes,
            metrics=request.metrics or ("ari",),
            folder=request.out,
            n_jobs=None if request.cluster else request.n_workers or 1,
            random_state=request.seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    write(request.out, found, console)


def check_destination(out: Path) -> None:
    """Refuse what is no folder, or one with something else in it, before any work is done."""
    if os.path.lexists(out) and not os.path.isdir(out):
        raise InvalidFileError(f"{out} is a file; --out names a folder.", path=out)
    make_parents(out)
    if os.path.isdir(out) and any(out.iterdir()) and not os.path.isfile(out / RECORD):
        raise InvalidFileError(f"{out} has files that are no sweep; choose a new or empty folder.", path=out)


def read_grid(request: SweepRequest) -> Any:
    """The grid of `--grid` words, or the settings of a file."""
    if bool(request.grid) == (request.file is not None):
        raise InvalidSettingError("give either --grid key=v1,v2 (repeatable) or --settings FILE.json.")
    if request.file is not None:
        return read_settings(request.file)
    grid: dict[str, list[Any]] = {}
    for text in request.grid:
        key, equals, values = text.partition("=")
        if not equals or not key.strip() or not values.strip():
            raise InvalidSettingError(f"--grid takes key=value,value, got {text!r}. Example: --grid depth=2,3.")
        if key.strip() in grid:
            raise InvalidSettingError(f"--grid {key.strip()} is given twice; give each key once.")
        grid[key.strip()] = [parse_value(value.strip()) for value in values.split(",")]
    return grid


def read_settings(path: Path) -> Any:
    """A list of settings, or an object of lists, from a JSON file."""
    document = read_small_json(path, MAX_BYTES)
    if isinstance(document, list) and all(isinstance(settings, dict) for settings in document):
        return document
    if isinstance(document, dict):
        return document
    raise InvalidFileError(
        f'{path} holds neither a list of settings, [{{"depth": 2}}, ...], nor an object of lists, {{"depth": [2, 3]}}.',
        path=path,
    )


def take_classes(table: Table | TreeData, name: str | None) -> tuple[Table | TreeData, np.ndarray | None]:
    """The table without its column of known classes, and the classes; trees with those their format has."""
    if isinstance(table, TreeData):
        if name is not None:
            raise InvalidSettingError(f"--classes {name} names a column, and trees have none; leave it out.")
        return table, table.targets
    if name is None:
        return table, None
    classes = table.select([name]).values[:, 0]
    rest = [j for j, column in enumerate(table.names) if column != name]
    if not rest:
        raise InvalidSettingError(f"--classes {name} leaves no column to cluster by.")
    return table.select_columns(rest), classes


def means_grid(found: Sweep) -> Grid:
    """A line of means for each setting, as many as a screen bears; it is too narrow for spreads, which the page has."""
    header, rows = by_setting(found)
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for title in header:
        grid.add_column(Text(title), justify="right", overflow="fold")
    for row in rows[:MOST_LINES]:
        grid.add_row(*(Text(cell.partition(SPREAD)[0]) for cell in row))
    if len(rows) > MOST_LINES:
        grid.add_row(Text(f"and {len(rows) - MOST_LINES} more"))
    return grid


def write(out: Path, found: Sweep, console: Console) -> None:
    """The table and the page into the folder; shows the means and tells where the rest is."""
    places = [found.to_csv(out / RESULTS)]
    try:
        places.append(found.to_parquet(out / PARQUET))
    except MissingExtraError as error:
        console.print(f"no Parquet: {error}", soft_wrap=True, markup=False)
    places.append(write_page(found, out / PAGE))
    console.print(count(found.n_fits, "fit") + f" of {found.model}, means of the repeats", style="bold")
    console.print(means_grid(found))
    console.print()
    for place in places:
        console.print(str(place), soft_wrap=True, markup=False)
