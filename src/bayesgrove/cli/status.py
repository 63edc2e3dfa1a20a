"""`bayesgrove status`: how far a run is, without disturbing it."""

import math
import os
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from bayesgrove.cli import run_folder
from bayesgrove.cli.show import count
from bayesgrove.core.errors import InvalidFileError
from bayesgrove.inference.folder import NAME
from bayesgrove.inference.status import RunStatus, run_status


def status(run: Path, console: Console) -> None:
    """Show the chains of a run, or that it has ended."""
    folder = chains_folder(run)
    if folder is not None:
        show_status(run_status(folder), run, console)
    elif os.path.isfile(run / run_folder.SUMMARY):
        summary = run_folder.read_summary(run)
        console.print(f"{summary.get('model', 'model')}: ended, {count(summary.get('n_clusters', 1), 'cluster')}")
    elif os.path.isfile(run / run_folder.REQUEST):
        asked = run_folder.read_request(run).get("model", "model")
        console.print(f"{asked}: no draws yet; it is getting ready, or was stopped before the first one")
        console.print(f"if it was stopped, resume it with: {run_folder.resume_command(run)}", soft_wrap=True)
    else:
        raise InvalidFileError(f"{run} holds no run of bayesgrove.", path=run)


def chains_folder(run: Path) -> Path | None:
    """Where the logs of a run's chains are: in a folder of its own, or `run` itself when it was made from Python."""
    for folder in (run / run_folder.CHAINS, run):
        if os.path.isfile(folder / NAME):
            return folder
    return None


def show_status(found: RunStatus, run: Path, console: Console) -> None:
    """A line for each chain and what to do next."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for title in ("chain", "state", "sweep", "draws saved", "log joint"):
        grid.add_column(title, justify="left" if title == "state" else "right")
    for chain in found.chains:
        state = "complete" if chain.n_draws >= found.n_draws else "waiting" if found.is_running else "stopped"
        state = "running" if chain.is_running else state
        log_joint = "" if math.isnan(chain.log_joint) else f"{chain.log_joint:,.1f}"
        grid.add_row(str(chain.chain), state, f"{chain.sweep:,}", f"{chain.n_draws:,} of {found.n_draws:,}", log_joint)
    console.print(f"{found.model}: {phase(found)}", style="bold")
    console.print(grid)
    if found.looks is not None:
        console.print(approach(found), soft_wrap=True)
    if not found.is_running and not found.is_finished and os.path.isfile(run / run_folder.REQUEST):
        console.print(f"resume it with: {run_folder.resume_command(run)}", soft_wrap=True)


def approach(found: RunStatus) -> str:
    """Verdicts on a run of automatic length so far, and what comes next."""
    told = ", ".join(f"{n:,} draws: {words}" for n, words in found.looks or [])
    then = f"next look at {found.n_draws:,} draws" if found.stopped is None else f"stopped: {found.stopped}"
    return "; ".join(filter(None, (told, then)))


def phase(found: RunStatus) -> str:
    """What a run is doing, in words."""
    if found.is_running:
        return "running until it can be trusted" if found.looks is not None else "running"
    if found.stopped is not None:
        return f"ended ({found.stopped})"
    return "all draws made" if found.is_finished else "stopped before the end"
