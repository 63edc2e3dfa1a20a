"""The board: what every chain is at, in a small array that chains write and monitors read, and a flag to stop."""

import contextlib
import math
import os
import platform
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from bayesgrove.io.atomic import replacing

WAITING, TUNING, DRAWING, FINISHED, STOPPED, FAILED = range(6)
PHASES = ("waiting", "tuning", "drawing", "finished", "stopped", "failed")
NAME = "board.bin"


class ChainView(NamedTuple):
    """What a chain is at. Sweeps and draws are counted from the chain's first; seconds from when it was started."""

    phase: int = WAITING
    sweep: int = 0
    n_sweeps: int = 0
    n_draws: int = 0
    log_joint: float = math.nan
    n_clusters: float = math.nan
    seconds: float = 0.0
    first_sweep: int = 0
    first_draw: int = 0

    @property
    def draws_per_second(self) -> float:
        """Since the chain was started or resumed."""
        return (self.n_draws - self.first_draw) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        """At the pace of the sweeps since the chain was started or resumed; infinite before the first."""
        done = self.sweep - self.first_sweep
        return (self.n_sweeps - self.sweep) * self.seconds / done if done > 0 else math.inf


_WIDTH = len(ChainView._fields)


class Board:
    """One row per chain, and one for the flag to stop and the board's own number.

    A board in a file is pickled as its path. Whoever comes late, when the file is gone or belongs to the next run, gets
    a board of his own that says stop; on another machine, one that never does.
    """

    def __init__(self, n_chains: int) -> None:
        self.n_chains = n_chains
        self.path: Path | None = None
        self._rows: np.ndarray = np.zeros((n_chains + 1, _WIDTH))

    @classmethod
    def in_folder(cls, folder: Path, n_chains: int) -> Self:
        """A new board in a file of this folder."""
        board = cls(n_chains)
        number = board._rows[0, 1] = float(secrets.randbits(50))
        with replacing(folder / NAME) as stream:  # written out: touching a hole of a full disk would end the process
            stream.write(board._rows.tobytes())
        return cls._open(n_chains, folder / NAME, number, platform.node())

    @classmethod
    def _open(cls, n_chains: int, path: Path, number: float, machine: str) -> Self:
        board = cls(n_chains)
        if platform.node() != machine:
            return board
        try:
            rows = np.memmap(path, float, "r+", shape=board._rows.shape)
        except (OSError, ValueError):
            rows = None
        if rows is None or rows[0, 1] != number:
            board.stop()
        else:
            board.path, board._rows = path, rows
        return board

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            return type(self), (self.n_chains,)
        return type(self)._open, (self.n_chains, self.path, float(self._rows[0, 1]), platform.node())

    def write(self, chain: int, view: ChainView) -> None:
        """Show what a chain is at."""
        self._rows[chain + 1] = view

    def view(self, chain: int) -> ChainView:
        """What a chain is at."""
        phase, sweep, n_sweeps, n_draws, log_joint, n_clusters, seconds, first_sweep, first_draw = map(
            float, self._rows[chain + 1]
        )
        return ChainView(
            min(_whole(phase), FAILED),
            _whole(sweep),
            _whole(n_sweeps),
            _whole(n_draws),
            log_joint,
            n_clusters,
            seconds,
            _whole(first_sweep),
            _whole(first_draw),
        )

    def views(self) -> list[ChainView]:
        """What all chains are at."""
        return [self.view(chain) for chain in range(self.n_chains)]

    def stop(self) -> None:
        """Ask all chains to stop after their sweep."""
        self._rows[0, 0] = 1.0

    @property
    def is_stopped(self) -> bool:
        """Whether chains have been asked to stop."""
        return bool(self._rows[0, 0])


def _whole(value: float) -> int:
    return int(value) if 0 <= value < 2**53 else 0


@contextlib.contextmanager
def new_board(n_chains: int, folder: Path | None, *, shared: bool) -> Iterator[Board]:
    """A board for one run: in the run's folder, else in a temporary one if processes share it, else in memory."""
    with contextlib.ExitStack() as held:
        if folder is None and not shared:
            yield Board(n_chains)
            return
        if folder is None:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="bayesgrove-")))
        board = Board.in_folder(folder, n_chains)
        try:
            yield board
        finally:
            with contextlib.suppress(OSError):
                os.unlink(folder / NAME)


def read_board(folder: Path, n_chains: int) -> Board | None:
    """The board of a run that another process makes, or None where there is none."""
    path = folder / NAME
    try:
        if path.stat().st_size != (n_chains + 1) * _WIDTH * 8:
            return None
        board = Board(n_chains)
        board._rows[:] = np.fromfile(path).reshape(n_chains + 1, _WIDTH)
    except (OSError, ValueError):
        return None
    return board
