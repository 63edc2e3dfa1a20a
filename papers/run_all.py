"""`python -m papers --all`: every experiment into its own folder, one table of verdicts; what is done is kept."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from bayesgrove.core import provenance
from bayesgrove.core.errors import BayesgroveError, InvalidFileError, InvalidSettingError
from bayesgrove.io.delimited import write_csv
from papers.experiments import EXPERIMENTS
from papers.run_one import OUTCOME, STYLES, check_place, draw_figures, run_timed, write

SUMMARY, VERDICTS = "summary.csv", "verdicts.csv"
RUN, KEPT, NO_DATA, FAILED, NOT_RUN = "run", "kept", "no data", "failed", "not run"


class Judged(NamedTuple):
    """A claim and its verdict."""

    verdict: str
    paper: str
    ours: str


class Found(NamedTuple):
    """What there is of an experiment at the end."""

    name: str
    state: str
    claims: Sequence[Judged] = ()
    seconds: float | None = None
    why: str = ""
    """Of one that could not be run."""

    def count(self, verdict: str) -> int:
        """Claims with this verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)


class Request(NamedTuple):
    """What is asked of every experiment."""

    quick: bool
    seed: int
    data_home: Path | None
    out: Path | None
    force: bool = False
    show: bool = False
    """Run nothing, write nothing."""

    @property
    def settings(self) -> dict[str, Any]:
        """What tells its results from others."""
        return {"quick": self.quick, "seed": self.seed}


def run_all(request: Request, console: Console) -> None:
    """Run what is not there yet, show one table, and complain at the end of what could not be run."""
    if request.show and (request.out is None or request.force or not request.out.is_dir()):
        raise InvalidSettingError("--show shows what an earlier run left: give its folder by --out, without --force.")
    kept = {} if request.out is None else look_into(request.out, request)
    found = []
    for number, name in enumerate(EXPERIMENTS, 1):
        Console(stderr=True).print(f"[{number} of {len(EXPERIMENTS)}] {name}", style="bold", markup=False)
        one = kept.get(name) or (
            Found(name, NOT_RUN, why="nothing kept") if request.show else run_and_keep(name, request)
        )
        console.print(line_of(one), soft_wrap=True, markup=False)
        found.append(one)
    console.print()
    console.print(grid_of(found))
    if request.out is not None and not request.show:
        write_summary(request.out, found)
        console.print(f"\ntables and verdicts in {request.out}", soft_wrap=True, markup=False)
    complain(found)


# What is there already


def look_into(out: Path, request: Request) -> dict[str, Found]:
    """Results of the same settings and version in a folder; nothing is run in one with anything else in it."""
    check_place(out)
    if not request.show:
        out.mkdir(exist_ok=True)
    ours = {SUMMARY, VERDICTS, *EXPERIMENTS, *(stage_of(out, name).name for name in EXPERIMENTS)}
    others = sorted(path.name for path in out.iterdir() if path.name not in ours)
    kept = {} if request.force else kept_in(out, request)
    if others and not request.show and len(kept) < len(EXPERIMENTS):
        raise InvalidFileError(f"{out} holds {others[0]}, which is not ours; choose another folder.", path=out)
    return kept


def kept_in(out: Path, request: Request) -> dict[str, Found]:
    """Results that count; others are refused before any work is done."""
    kept = {}
    for name in EXPERIMENTS:
        if os.path.lexists(out / name):
            one = read_found(out / name / OUTCOME, name, request)
            if one is None:
                raise InvalidFileError(
                    f"{out / name} is not from the same settings and version; "
                    "choose another folder, or --force to run all again.",
                    path=out / name,
                )
            kept[name] = one
    return kept


def read_found(path: Path, name: str, request: Request) -> Found | None:
    """The claims of an outcome; None where it is of other settings, of another version or damaged."""
    try:
        document = json.loads(path.read_bytes())
        about = document["provenance"]
        claims = [Judged(str(c["verdict"]), str(c["paper"]), str(c["ours"])) for c in document["claims"]]
        same = about["settings"] == request.settings and about["model"] == name
        same = same and about["packages"]["bayesgrove"] == provenance.package_versions()["bayesgrove"]
        return Found(name, KEPT, claims, float(about["seconds"])) if same else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


# Running


def run_and_keep(name: str, request: Request) -> Found:
    """Run an experiment and keep it; what goes wrong is told, and stops no other."""
    try:
        outcome, about = run_timed(name, quick=request.quick, seed=request.seed, data_home=request.data_home)
    except InvalidFileError as error:
        return Found(name, NO_DATA, why=str(error))
    except Exception as error:
        if os.environ.get("BAYESGROVE_TRACEBACK"):
            raise
        return Found(name, FAILED, why=f"{type(error).__name__}: {error}")
    if request.out is not None:
        keep(request.out, name, outcome, about)
    claims = [Judged(claim.verdict, claim.paper, claim.ours) for claim in outcome.claims]
    return Found(name, RUN, claims, about["seconds"])


def stage_of(out: Path, name: str) -> Path:
    """Where results are put together before they get their name."""
    return out / f".{name}.part"


def keep(out: Path, name: str, outcome: Any, about: dict[str, Any]) -> None:
    """Tables, verdicts and pictures under their name all at once: whoever interrupts leaves nothing half."""
    stage = stage_of(out, name)
    shutil.rmtree(stage, ignore_errors=True)  # of a run that was killed
    try:
        write(stage, outcome, about)
        draw_figures(stage, outcome)
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        stage.rename(out / name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


# Showing


def line_of(one: Found) -> str:
    """One experiment in a line."""
    if one.why:
        return f"{one.name}: {one.state}: {' '.join(one.why.split())}"
    counts = ", ".join(f"{one.count(verdict)} {verdict}" for verdict in STYLES)
    return f"{one.name}: {counts} ({one.seconds:.0f} s{', kept' if one.state == KEPT else ''})"


def grid_of(found: Sequence[Found]) -> Grid:
    """All verdicts, counted."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("experiment")
    for title in (*STYLES, "seconds"):
        grid.add_column(title, justify="right")
    grid.add_column("")
    for one in found:
        counts = [Text(str(one.count(verdict)), STYLES[verdict] if one.count(verdict) else "dim") for verdict in STYLES]
        seconds = "" if one.seconds is None else f"{one.seconds:.0f}"
        grid.add_row(one.name, *([""] * len(STYLES) if one.why else counts), seconds, one.state)
    counts = [Text(str(sum(one.count(verdict) for one in found)), "bold") for verdict in STYLES]
    grid.add_row(Text("all", "bold"), *counts, f"{sum(one.seconds or 0.0 for one in found):.0f}", "")
    return grid


def write_summary(out: Path, found: Sequence[Found]) -> None:
    """Counts by experiment, and every claim with its verdict; of what could not be run the reason."""
    rows = [
        [one.name, *([one.state] * len(STYLES) if one.why else [one.count(verdict) for verdict in STYLES]), one.seconds]
        for one in found
    ]
    write_csv(out / SUMMARY, ("experiment", *STYLES, "seconds"), rows)
    claims = [[one.name, *claim] for one in found for claim in one.claims]
    write_csv(out / VERDICTS, ("experiment", "verdict", "paper", "here"), claims)


def complain(found: Sequence[Found]) -> None:
    """The exit code of the whole: ours where an experiment failed, the user's where data are missing."""
    failed = [one.name for one in found if one.state == FAILED]
    if failed:
        raise BayesgroveError(f"failed: {', '.join(failed)}; BAYESGROVE_TRACEBACK=1 shows where.")
    absent = [one.name for one in found if one.state == NO_DATA]
    if absent:
        raise InvalidFileError(
            f"no data for {', '.join(absent)}; `bayesgrove doctor` shows where they are looked for, "
            "docs/data.md where to get them."
        )
