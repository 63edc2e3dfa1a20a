"""What a run on disk is at, also while another process makes it, and its draws without the model."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.inference.board import ChainView, read_board
from bayesgrove.inference.chain import n_sweeps
from bayesgrove.inference.folder import NAME, read_run
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.store import last_draw, log_path, read_trace
from bayesgrove.inference.trace import MemoryTrace
from bayesgrove.io.lock import is_locked


class ChainStatus(NamedTuple):
    """What a chain has in its log, whether it is being written, and where it is if so.

    `sweep` and `log_joint` are the newest known: the board's while a process writes, else the last draw's.
    """

    chain: int
    n_draws: int
    sweep: int
    log_joint: float
    is_running: bool
    view: ChainView | None


@dataclass(frozen=True)
class RunStatus:
    """A run as its folder tells."""

    model: str
    """Name of the model."""
    n_draws: int
    """Draws asked of each chain."""
    is_running: bool
    """Whether a process works on it."""
    chains: list[ChainStatus]
    """One for each chain."""
    document: Mapping[str, Any]
    """All of `run.json`."""

    @property
    def is_finished(self) -> bool:
        """Whether every chain has all draws asked for; of automatic length, whether the run has come to its end."""
        if self.looks is not None:
            return self.stopped is not None
        return all(chain.n_draws >= self.n_draws for chain in self.chains)

    @property
    def looks(self) -> list[tuple[int, str]] | None:
        """Verdicts on a run of automatic length so far, as (draws, status); None where the length is given."""
        found = self._auto.get("looks")
        if not isinstance(found, list):
            return None
        return [(int(n), str(words)) for n, words in found]

    @property
    def stopped(self) -> str | None:
        """Why a run of automatic length has come to its end."""
        return self._auto.get("stopped")

    @property
    def _auto(self) -> Mapping[str, Any]:
        about = self.document.get("about", {})
        auto = about.get("auto", {}) if isinstance(about, dict) else {}
        return auto if isinstance(auto, dict) else {}


def run_status(run_dir: str | os.PathLike[str]) -> RunStatus:
    """What a run is at; takes no lock and changes nothing."""
    folder = Path(run_dir)
    document = read_run(folder)
    schedule, n_chains = document_schedule(folder, document), document["n_chains"]
    is_running = is_locked(folder / NAME)
    board = read_board(folder, n_chains) if is_running else None
    views = [None] * n_chains if board is None else board.views()
    chains = [_chain_status(folder, chain, schedule, view) for chain, view in enumerate(views)]
    return RunStatus(document["model"], document["n_draws"], is_running, chains, document)


def document_schedule(folder: Path, document: Mapping[str, Any]) -> Schedule:
    """The schedule that `run.json` tells."""
    try:
        return Schedule.from_json(document["schedule"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFileError(f"{folder / NAME} is damaged: its schedule is none ({error}).", path=folder) from error


def read_chains(run_dir: str | os.PathLike[str], n_draws: int | None = None) -> list[MemoryTrace]:
    """Draws that are in the logs, by chain; `n_draws` of each at most."""
    folder = Path(run_dir)
    document = read_run(folder)
    limit = document["n_draws"] if n_draws is None else n_draws
    return [read_trace(log_path(folder, chain), limit) for chain in range(document["n_chains"])]


def _chain_status(folder: Path, chain: int, schedule: Schedule, view: ChainView | None) -> ChainStatus:
    path = log_path(folder, chain)
    last = last_draw(path) if os.path.exists(path) else None
    n_draws = 0 if last is None else last.number + 1
    sweep = n_sweeps(schedule, n_draws) if n_draws else 0
    log_joint = math.nan if last is None else last.scalars.get("log_joint", math.nan)
    running = is_locked(path)
    if running and view is not None:
        sweep, log_joint = view.sweep, view.log_joint
    return ChainStatus(chain, n_draws, sweep, log_joint, running, view if running else None)
