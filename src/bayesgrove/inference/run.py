"""Several chains of one sampler: in turns, in threads or in processes, in memory or in a folder, bit-identical."""

import contextlib
import math
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.additions import ADDITIONS
from bayesgrove.core.errors import InvalidSettingError, RunStoppedError
from bayesgrove.inference.board import Board, new_board
from bayesgrove.inference.dask_cluster import active_client, map_on_cluster
from bayesgrove.inference.folder import write_run, writing
from bayesgrove.inference.monitors import Monitor, heeding_ctrl_c, watching
from bayesgrove.inference.repair import repair_run
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.store import FORMAT, check_log, count_draws, log_path, read_trace
from bayesgrove.inference.trace import MemoryTrace
from bayesgrove.inference.worker import Ending, Task, run_chain, run_in_turns

REPAIR = "repair"
BACKENDS = ("auto", "threads", "processes")


@dataclass(frozen=True)
class RunSettings:
    """How to run chains; nothing here but the seed, the path and the number of chains changes what they draw.

    Attributes
    ----------
    n_chains, n_draws : int
        Chains, and draws of each in all (those of a run that is resumed included).
    seed, path : int and tuple of int
        Chain c draws from the generator keyed by seed, path and c.
    n_jobs : int, optional
        Workers, as joblib counts them; None is 1 unless a `joblib.parallel_config` says otherwise. A worker with
        several chains gives them short turns, so that all chains advance together.
    backend : {"auto", "threads", "processes"}
        "auto" asks the sampler's attribute `parallel` ("threads" or "processes"), and takes threads where it has
        none; a backend chosen by `joblib.parallel_config` wins, Dask's among them.
    run_dir : path-like, optional
        Folder for logs; without it draws stay in memory.
    resume : bool or "repair"
        Go on with the run in `run_dir`, if there is one; "repair" also where its files are damaged: what stands before
        the damage is kept, damaged files are set aside, and the rest is drawn again, to the same bits.
    time_limit : float, optional
        Seconds for all chains; those that share a worker get equal shares.
    model_name, about : str and mapping
        For people: what is run, and whatever else should stand in `run.json`.

    Notes
    -----
    Threads are the default because kernels free Python's lock and processes take a second or two to start. Sweeps that
    are Python for the most part hold it: a sampler of such sweeps should ask for processes.
    """

    n_chains: int = 4
    n_draws: int = 1000
    seed: int = 0
    path: tuple[int, ...] = ()
    n_jobs: int | None = None
    backend: str = "auto"
    run_dir: str | os.PathLike[str] | None = None
    resume: bool | str = False
    time_limit: float | None = None
    model_name: str = "model"
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("n_chains", "n_draws"):
            if getattr(self, name) < 1:
                raise InvalidSettingError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.backend not in BACKENDS:
            raise InvalidSettingError(f"backend must be one of {', '.join(BACKENDS)}, got {self.backend!r}.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InvalidSettingError(f"time_limit must be more than 0 seconds or None, got {self.time_limit}.")
        if self.resume not in (False, True, REPAIR):
            raise InvalidSettingError(f"resume must be True, False or 'repair', got {self.resume!r}.")
        if self.resume and self.run_dir is None:
            raise InvalidSettingError("resume=True needs run_dir, the folder of the run to resume.")


@dataclass(frozen=True, eq=False)
class ChainResult:
    """What one chain has drawn."""

    chain: int
    n_draws: int
    """`chain` and `n_draws`: which, and how many draws; all chains of a run have as many, also where a time limit cut
    some short."""
    counts: Mapping[str, Mapping[str, int]]
    """By move and name, such as {"split-merge": {"proposed": 90, "accepted": 7}}; over all sweeps."""
    seconds: float
    """Since the chain was started or resumed."""
    trace: MemoryTrace
    """All that was drawn, and where the chain can go on from."""

    @property
    def draws(self) -> dict[str, np.ndarray]:
        """Array (draw, ...) by name; (draw,) of arrays where their shapes vary."""
        return self.trace.arrays(self.n_draws)

    @property
    def scalars(self) -> dict[str, np.ndarray]:
        """Float array (draw,) by name."""
        return self.trace.scalars(self.n_draws)


def run_chains(
    sampler: Sampler, schedule: Schedule, settings: RunSettings, monitor: Monitor | None = None
) -> list[ChainResult]:
    """Run all chains to their end, or go on with those of a folder.

    Raises
    ------
    InvalidFileError
        The folder cannot be used: another run, another version, in use, read-only, damaged.
    RunStoppedError
        The disk is full, or a stored draw cannot be made again. What was drawn before is in the folder.
    NumericalError
        A chain met a number that is none; all chains have stopped.
    KeyboardInterrupt
        Ctrl+C; the message says what is safe and how to go on.
    """
    tasks = [Task(chain, settings.n_draws, settings.seed, settings.path) for chain in range(settings.n_chains)]
    if settings.run_dir is None:
        return _results(_run(sampler, schedule, settings, tasks, monitor), settings)
    folder = Path(settings.run_dir).absolute()
    repair = partial(repair_run, folder, settings.n_chains) if settings.resume == REPAIR else None
    with writing(folder, resume=bool(settings.resume), repair=repair):
        header = _header(sampler, schedule, settings)
        tasks = [
            replace(task, log=log_path(folder, task.chain), header={**header, "chain": task.chain}) for task in tasks
        ]
        _refuse_other_runs(tasks)
        write_run(folder, _describe(header, settings))
        endings = _run(sampler, schedule, settings, tasks, monitor)
        return _results(endings, settings, folder)


def continue_chains(
    sampler: Sampler,
    schedule: Schedule,
    results: Sequence[ChainResult],
    n_more: int,
    settings: RunSettings,
    monitor: Monitor | None = None,
) -> list[ChainResult]:
    """The same chains with more draws, equal to those of a run that was longer from the start.

    `settings` are those of the run. Its results stay as they are.
    """
    if n_more < 1:
        raise InvalidSettingError(f"n_more must be at least 1 draw, got {n_more}.")
    longer = replace(settings, n_draws=results[0].n_draws + n_more)
    if settings.run_dir is not None:
        return run_chains(sampler, schedule, replace(longer, resume=True), monitor)
    tasks = [Task(result.chain, longer.n_draws, settings.seed, settings.path, trace=result.trace) for result in results]
    return _results(_run(sampler, schedule, longer, tasks, monitor), longer)


def _header(sampler: Sampler, schedule: Schedule, settings: RunSettings) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "fingerprint": dict(sampler.fingerprint()),
        "schedule": schedule.to_json(),
        "seed": settings.seed,
        "path": list(settings.path),
        "n_chains": settings.n_chains,
    }


def _describe(header: Mapping[str, Any], settings: RunSettings) -> dict[str, Any]:
    return {
        "model": settings.model_name,
        "n_draws": settings.n_draws,
        **{name: value for name, value in header.items() if name != "format"},
        "about": dict(settings.about),
    }


def _refuse_other_runs(tasks: list[Task]) -> None:
    """Raise before anything is changed where one of the logs belongs to another run."""
    for task in tasks:
        if task.log is not None and task.header is not None and task.log.exists():
            check_log(task.log, task.header)


def _run(
    sampler: Sampler, schedule: Schedule, settings: RunSettings, tasks: list[Task], monitor: Monitor | None
) -> list[Ending]:
    """All chains' endings; raises what stopped one of them."""
    client = active_client() if settings.n_jobs != 1 and settings.backend == "auto" else None
    n_jobs = min(_effective_n_jobs(settings.n_jobs), len(tasks))
    waves = math.ceil(len(tasks) / n_jobs)
    seconds = math.inf if settings.time_limit is None else settings.time_limit / waves
    tasks = [replace(task, seconds=seconds) for task in tasks]
    folder = None if settings.run_dir is None else Path(settings.run_dir).absolute()
    with (
        new_board(len(tasks), folder, shared=n_jobs > 1 or client is not None) as board,
        heeding_ctrl_c(board) as interrupted,
        watching(monitor, board),
    ):
        try:
            if client is not None:
                endings = map_on_cluster(client, run_chain, sampler, [(schedule, task, board) for task in tasks])
            else:
                endings = list(_map(sampler, schedule, settings, tasks, board, n_jobs))
                endings.sort(key=lambda ending: ending.chain)
        except Exception as error:  # a worker that another part of the program left idle dies of Ctrl+C
            if interrupted.is_set:
                raise KeyboardInterrupt(_interrupted(tasks, settings)) from error
            raise
    for ending in endings:
        if ending.error is not None:
            raise ending.error
    if interrupted.is_set and min(ending.n_draws for ending in endings) < settings.n_draws:
        raise KeyboardInterrupt(_interrupted(tasks, settings))
    return endings


def _effective_n_jobs(n_jobs: int | None) -> int:
    if n_jobs == 1:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _map(
    sampler: Sampler, schedule: Schedule, settings: RunSettings, tasks: list[Task], board: Board, n_jobs: int
) -> Iterator[Ending]:
    if n_jobs == 1:
        return iter(run_in_turns(sampler, schedule, tasks, board))
    from joblib import Parallel, delayed

    # Large arrays are not mapped: kernels would be compiled once more, for arrays that cannot be written to.
    options: dict[str, Any] = {"n_jobs": n_jobs, "max_nbytes": None, "batch_size": 1, "pre_dispatch": "all"}
    if settings.backend == "auto":
        # Other processes do not know families that were registered in this one.
        options["prefer"] = "threads" if ADDITIONS.names else getattr(sampler, "parallel", "threads")
    else:
        options["backend"] = {"threads": "threading", "processes": "loky"}[settings.backend]
    calls = (delayed(run_in_turns)(sampler, schedule, tasks[worker::n_jobs], board) for worker in range(n_jobs))
    try:
        parallel = Parallel(**options, return_as="generator")
    except ValueError:  # one of joblib's backends can only give a list
        groups = iter(Parallel(**options)(calls))
    else:
        with _ctrl_c_blocked():
            groups = iter(parallel(calls))
    return (ending for group in groups for ending in group)


@contextlib.contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Workers that are started meanwhile inherit it, and so outlive a Ctrl+C until they can say what to do with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupted(tasks: list[Task], settings: RunSettings) -> str:
    if settings.run_dir is None:
        return "stopped by Ctrl+C; its draws were in memory only. Give run_dir to be able to resume after a stop."
    n_safe = [count_draws(task.log) for task in tasks if task.log is not None]
    return (
        f"stopped by Ctrl+C; {sum(n_safe)} draws are safe in {os.fspath(settings.run_dir)} "
        f"({', '.join(map(str, n_safe))} by chain). Run the same again with resume=True to continue from there."
    )


def _results(endings: list[Ending], settings: RunSettings, folder: Path | None = None) -> list[ChainResult]:
    """Results of equal length, read back from the logs where there are any."""
    n_draws = min(settings.n_draws, *(ending.n_draws for ending in endings))
    if n_draws == 0:
        raise RunStoppedError(
            f"the time limit of {settings.time_limit} s was over before each chain had a first draw. "
            + ("Continue it with resume=True." if folder else "Allow more time, or fewer sweeps of burn-in.")
        )
    results = []
    for ending in endings:
        trace = ending.trace if folder is None else read_trace(log_path(folder, ending.chain), n_draws)
        if trace is not None:
            results.append(ChainResult(ending.chain, n_draws, ending.counts or {}, ending.seconds, trace))
    return results
