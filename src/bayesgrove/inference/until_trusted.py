"""Chains that go on until they can be trusted: looked at when all have reached fixed lengths, until time is up."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayesgrove.inference.board import ChainView
from bayesgrove.inference.folder import read_run, write_run
from bayesgrove.inference.monitors import Monitor
from bayesgrove.inference.run import ChainResult, RunSettings, continue_chains, run_chains
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.verdict import Verdict

FIRST_LOOK = 250
MOST_DRAWS = 64_000
"""Chains that cannot be trusted by then are stopped: longer ones will not help."""
DEFAULT_SECONDS = 120.0
WORTH_WORKERS = 2.0
"""Seconds: a run that has taken less so far gains nothing by starting workers."""
TRUSTED, TIME_LIMIT, TOO_LONG = "trusted", "time limit", f"{MOST_DRAWS:,} draws without trust"


@dataclass(frozen=True)
class Stop:
    """Why chains of automatic length have stopped, and the verdicts on the way, as (draws, status)."""

    reason: str
    looks: tuple[tuple[int, str], ...]


def look_lengths() -> Iterator[int]:
    """Draws per chain at which a run is looked at: 250, 500, 750, 1,000, 1,500, 2,000, 3,000 and so on.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(look_lengths(), 9))
    [250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000]
    """
    length = FIRST_LOOK
    yield length
    while length < MOST_DRAWS:
        length *= 2
        yield length
        if length < MOST_DRAWS:
            yield length + length // 2


class _OneRun(Monitor):
    """Makes several runs one for another monitor."""

    def __init__(self, inner: Monitor) -> None:
        self.seconds, self._inner = inner.seconds, inner
        self._has_begun = False
        self._last: list[ChainView] = []

    def start(self, views: list[ChainView]) -> None:
        """Told of the first run only."""
        if not self._has_begun:
            self._inner.start(views)
        self._has_begun = True

    def update(self, views: list[ChainView]) -> None:
        """What the chains are at."""
        self._last = views
        self._inner.update(views)

    def end(self) -> None:
        """The last run is over."""
        if self._has_begun:
            self._inner.stop(self._last)


def run_until_trusted(
    sampler: Sampler,
    schedule: Schedule,
    settings: RunSettings,
    judge: Callable[[list[ChainResult]], Verdict],
    monitor: Monitor | None = None,
    *,
    n_jobs_later: int | None = None,
) -> tuple[list[ChainResult], Stop]:
    """Run all chains, side by side, until the verdict on their draws is "trusted" or `settings.time_limit` is over.

    Lengths depend on the draws alone unless time is up, so that draws are the same for any number of workers and after
    any interruption. `settings.n_draws` is not looked at. From the second look on, `n_jobs_later` (if given) replaces
    `settings.n_jobs` where the first draws took so long that starting workers pays.
    """
    shared = None if monitor is None else _OneRun(monitor)
    try:
        return _run_stages(sampler, schedule, settings, judge, shared, n_jobs_later)
    finally:
        if shared is not None:
            shared.end()


def _run_stages(
    sampler: Sampler,
    schedule: Schedule,
    settings: RunSettings,
    judge: Callable[[list[ChainResult]], Verdict],
    monitor: Monitor | None,
    n_jobs_later: int | None,
) -> tuple[list[ChainResult], Stop]:
    begin, reason = time.monotonic(), TOO_LONG
    looks: list[tuple[int, str]] = []
    results: list[ChainResult] = []
    for n_draws in look_lengths():
        stage = replace(settings, n_draws=n_draws, about={**settings.about, "auto": _told(looks, None)})
        if settings.time_limit is not None and results:
            left = settings.time_limit - (time.monotonic() - begin)
            if left <= 0:
                reason = TIME_LIMIT
                break
            stage = replace(stage, time_limit=left)
        if results and n_jobs_later is not None and time.monotonic() - begin >= WORTH_WORKERS:
            stage = replace(stage, n_jobs=n_jobs_later)
        if results:
            results = continue_chains(sampler, schedule, results, n_draws - results[0].n_draws, stage, monitor)
        else:
            results = run_chains(sampler, schedule, stage, monitor)
        if results[0].n_draws < n_draws:
            reason = TIME_LIMIT
            break
        verdict = judge(results)
        looks.append((n_draws, verdict.status))
        if verdict.converged:
            reason = TRUSTED
            break
    stop = Stop(reason, tuple(looks))
    if settings.run_dir is not None:
        _note_end(Path(settings.run_dir), stop)
    return results, stop


def _told(looks: Sequence[tuple[int, str]], reason: str | None) -> dict[str, Any]:
    """What `run.json` says of it."""
    return {"looks": [list(look) for look in looks], "stopped": reason}


def _note_end(folder: Path, stop: Stop) -> None:
    """Write into `run.json` why the run has stopped."""
    document = {name: value for name, value in read_run(folder).items() if name not in ("format", "version")}
    write_run(folder, {**document, "about": {**document["about"], "auto": _told(stop.looks, stop.reason)}})
