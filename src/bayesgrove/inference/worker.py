"""Chains from their starts or last checkpoints to their ends, and all that happens between two sweeps."""

import contextlib
import math
import os
import platform
import signal
import threading
import time
import traceback
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesgrove.core.errors import NumericalError, RunStoppedError
from bayesgrove.core.rng import generator
from bayesgrove.inference.board import DRAWING, FAILED, FINISHED, STOPPED, TUNING, Board, ChainView
from bayesgrove.inference.chain import (
    REFRESHED,
    Draw,
    Position,
    Refreshed,
    begin,
    from_checkpoint,
    n_draws_after,
    n_sweeps,
    to_checkpoint,
    walk,
)
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.store import DiskTrace
from bayesgrove.inference.trace import MemoryTrace
from bayesgrove.io.lock import is_alive

TICK_SECONDS = 0.02
"""Between two looks at the board and the clock, and the length of a turn; a chain stops this late at most, or when its
sweep ends."""
SCALARS_SECONDS = 1.0
"""Between two looks at the scalars while there are no draws to take them from."""
CHECKPOINT_SECONDS = (0.02, 1.0)
CHECKPOINT_SHARE = 0.1
"""A tenth of the time spent so far passes between two checkpoints, within the bounds above: a chain that is killed
again and again gets on all the same, and one that runs for hours writes one in a second."""


@dataclass(frozen=True)
class Task:
    """One chain to run."""

    chain: int
    n_draws: int
    """`chain` and `n_draws`: which chain, and draws wanted in all."""
    seed: int
    path: tuple[int, ...] = ()
    """`seed` and `path`: the generator is keyed by the seed, the path and the chain."""
    seconds: float = math.inf
    """The chain stops after this long."""
    log: Path | None = None
    header: Mapping[str, Any] | None = None
    """`log` and `header`: where draws go and what the log says it belongs to; in memory when there is no log."""
    trace: MemoryTrace | None = None
    """Draws there are already, in memory."""
    parent: int = field(default_factory=os.getpid)
    machine: str = field(default_factory=platform.node)
    """`parent` and `machine`: process that started the run, and where it is."""


@dataclass(frozen=True)
class Ending:
    """How a chain ended: draws there are, counts by move, the draws themselves where kept in memory, an error."""

    chain: int
    n_draws: int = 0
    counts: Mapping[str, Mapping[str, int]] | None = None
    seconds: float = 0.0
    trace: MemoryTrace | None = None
    error: Exception | None = None


class _Clock:
    """Decides between two sweeps what is due: the board, stopping, a checkpoint. Turns of other chains do not count."""

    def __init__(self, task: Task, board: Board, sampler: Sampler, position: Position, schedule: Schedule) -> None:
        self.task, self.board, self.sampler, self.position, self.schedule = task, board, sampler, position, schedule
        self.until = n_sweeps(schedule, task.n_draws)
        self.begun = self.start = time.monotonic()
        self.saved = self.start
        self.tick = self.start
        self.scalars: Mapping[str, float] = {}
        self.scalars_time = -math.inf
        self.first_sweep = position.sweep
        self.was_child = os.getppid() == task.parent

    def must_stop(self, now: float) -> bool:
        """Look at the flag and the time, and show where the chain is; asked once a tick."""
        _refuse_orphans(self.task, was_child=self.was_child)
        self.tick = now + TICK_SECONDS
        stop = self.board.is_stopped or now - self.start >= self.task.seconds
        self.show(TUNING if self.position.sweep < self.schedule.n_tune else DRAWING)
        return stop

    def skip(self, seconds: float) -> None:
        """Do not count the time in which other chains had their turns."""
        self.start += seconds
        self.saved += seconds
        self.tick = time.monotonic() + TICK_SECONDS

    def show(self, phase: int) -> None:
        """Write this chain's row of the board."""
        now = time.monotonic()
        sweep = self.position.sweep
        if phase == TUNING and now - self.scalars_time >= SCALARS_SECONDS:
            self.scalars = self.sampler.scalars(self.position.state)
            self.scalars_time = now
        view = ChainView(
            phase,
            sweep,
            self.until,
            n_draws_after(self.schedule, sweep),
            self.scalars.get("log_joint", math.nan),
            self.scalars.get("n_clusters", math.nan),
            now - self.begun,
            self.first_sweep,
            n_draws_after(self.schedule, self.first_sweep),
        )
        self.board.write(self.task.chain, view)

    def must_save(self) -> bool:
        """Whether a checkpoint is due, at a moment when one may be made; the last such moment always is."""
        now = time.monotonic()
        shortest, longest = CHECKPOINT_SECONDS
        pause = min(longest, max(shortest, CHECKPOINT_SHARE * (now - self.start)))
        return now - self.saved >= pause or self.position.sweep + self.schedule.refresh > self.until


def run_chain(sampler: Sampler, schedule: Schedule, task: Task, board: Board) -> Ending:
    """Run one chain."""
    return run_in_turns(sampler, schedule, [task], board)[0]


def run_in_turns(sampler: Sampler, schedule: Schedule, tasks: Sequence[Task], board: Board) -> list[Ending]:
    """Run chains in short turns, so that they advance together: a run that is stopped has draws of all of them."""
    with _deaf_to_ctrl_c(tasks[0]), contextlib.ExitStack() as opened:
        chains = [opened.enter_context(contextlib.closing(_turns(sampler, schedule, task, board))) for task in tasks]
        endings: dict[int, Ending] = {}
        while len(endings) < len(chains):
            for place, chain in enumerate(chains):
                if place not in endings and (ending := next(chain)) is not None:
                    endings[place] = ending
        return [endings[place] for place in range(len(chains))]


def _turns(sampler: Sampler, schedule: Schedule, task: Task, board: Board) -> Generator[Ending | None]:
    """None after each turn of a chain, then its ending, which holds what stopped it: others can then stop and save."""
    try:
        _refuse_orphans(task, was_child=False)
        yield from _run(sampler, schedule, task, board)
    except Exception as error:
        board.stop()
        board.write(task.chain, board.view(task.chain)._replace(phase=FAILED))
        if os.getpid() != task.parent:  # what went on in another process is not in the traceback
            error.add_note(traceback.format_exc())
        yield Ending(task.chain, error=error)


@contextlib.contextmanager
def _deaf_to_ctrl_c(task: Task) -> Iterator[None]:
    """A terminal sends Ctrl+C to all processes; only the first one listens and asks the others to stop."""
    if os.getpid() == task.parent or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked while the worker was started
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _refuse_orphans(task: Task, *, was_child: bool) -> None:
    """Raise where the process that started the run is another one of this machine and gone."""
    if os.getpid() == task.parent or platform.node() != task.machine:
        return
    if (was_child and os.getppid() != task.parent) or not is_alive(task.parent):
        raise RunStoppedError(f"chain {task.chain} stopped: the process that started the run is gone.")


def _run(sampler: Sampler, schedule: Schedule, task: Task, board: Board) -> Iterator[Ending | None]:
    trace = _open(task)
    kept = trace if isinstance(trace, MemoryTrace) else None
    try:
        if board.is_stopped:  # a chain that waited for its turn need not make a first state now
            yield Ending(task.chain, trace.n_draws, trace=kept)
            return
        position = _first_position(sampler, task, trace)
        clock = _Clock(task, board, sampler, position, schedule)
        # Also what is there already is made again behind the last checkpoint, which tells that it can be.
        clock.until = max(clock.until, n_sweeps(schedule, trace.n_draws))
        yield from _follow(walk(sampler, schedule, position, clock.until), clock, trace)
        clock.show(FINISHED if position.sweep >= clock.until else STOPPED)
    finally:
        trace.close()
    counts = {move: dict(totals) for move, totals in position.counts.items()}
    yield Ending(task.chain, trace.n_draws, counts, time.monotonic() - clock.start, kept)


def _first_position(sampler: Sampler, task: Task, trace: MemoryTrace | DiskTrace) -> Position:
    if trace.checkpoint is not None:
        return from_checkpoint(sampler, trace.checkpoint)
    return begin(sampler, generator(task.seed, *task.path, task.chain))


def _open(task: Task) -> MemoryTrace | DiskTrace:
    if task.log is not None and task.header is not None:
        return DiskTrace(task.log, task.header)
    return MemoryTrace(task.n_draws) if task.trace is None else task.trace.copy(task.n_draws)


def _follow(events: Iterator[Draw | Refreshed | None], clock: _Clock, trace: MemoryTrace | DiskTrace) -> Iterator[None]:
    """Store what a chain yields until it ends or must stop; gives way to other chains once a tick."""
    if clock.must_stop(clock.start):
        return
    now, append = time.monotonic, trace.append
    for event in events:
        if event is REFRESHED:
            if clock.must_save():
                trace.save(to_checkpoint(clock.sampler, clock.position))
                clock.saved = now()
            continue
        if isinstance(event, Draw):
            clock.scalars = event.scalars
            log_joint = event.scalars.get("log_joint", 0.0)
            if log_joint != log_joint:
                raise _not_a_number(clock)
            append(event)
        if now() >= clock.tick:
            if clock.must_stop(now()):
                return
            turn_over = now()
            yield
            clock.skip(now() - turn_over)


def _not_a_number(clock: _Clock) -> NumericalError:
    chain, sweep = clock.task.chain, clock.position.sweep
    kept = "All draws before it are in the log" if clock.task.log is not None else "The chain was stopped"
    return NumericalError(
        f"the log joint became nan in chain {chain}, sweep {sweep}. {kept}. Look for extreme values in the data or "
        "hyperparameters; if there are none this is an error of the model's moves.",
        chain=chain,
        sweep=sweep,
    )
