"""What storing costs: draws per second, the share of checkpointing in a run, the engine's own time a sweep."""

import os
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.inference import worker
from bayesgrove.inference.chain import Checkpoint, Draw
from bayesgrove.inference.run import RunSettings, run_chains
from bayesgrove.inference.store import DiskTrace
from benchmarks.child import resident_mb
from benchmarks.mixtures.chains import prepare, schedule_for
from benchmarks.mixtures.data import draw_blobs
from benchmarks.timing import interleaved

WANTED_SHARE, WANTED_GROWTH = 0.03, 0.05


def measure(n: int, n_records: int, n_draws: int, repeats: int) -> list[dict[str, Any]]:
    """Four rows."""
    return [
        records(n, n_records, repeats),
        checkpointing(n, n_draws, repeats),
        overhead(10 * n_draws, repeats),
        memory(200 * n_draws),
    ]


def records(n: int, n_records: int, repeats: int) -> dict[str, Any]:
    """Draws of n labels into a log, against a plain file with a checksum of each and one sync at the end."""
    labels = generator(0).integers(0, 50, n).astype(np.uint16)
    draws = [Draw(i, {"labels": labels}, {"log_joint": 0.0, "n_clusters": 50.0}) for i in range(n_records)]
    header = {"format": 1, "schedule": schedule_for("gibbs", n).to_json()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        works = {"ours": lambda: _append(path / "ours.log", header, draws), "plain": lambda: _plain(path / "p", draws)}
        found = interleaved(works, repeats)
        size = _append(path / "ours.log", header, draws)
    ours = found["ours"]["wall"]
    return {
        "part": "store",
        "who": f"log of draws of {n} labels",
        "wall_seconds": ours,
        "records_per_second": n_records / ours,
        "megabytes_per_second": size / 1e6 / ours,
        "over_floor": ours / found["plain"]["wall"],
    }


def _append(path: Path, header: dict[str, Any], draws: list[Draw]) -> int:
    path.unlink(missing_ok=True)
    trace = DiskTrace(path, header)
    for draw in draws:
        trace.append(draw)
    trace.close()
    return path.stat().st_size


def _plain(path: Path, draws: list[Draw]) -> None:
    with path.open("wb") as stream:
        for draw in draws:
            payload = draw.arrays["labels"].astype(np.uint8).tobytes()  # the log narrows them alike
            stream.write(zlib.crc32(payload).to_bytes(4, "little") + payload)
        stream.flush()
        os.fdatasync(stream.fileno())


class TimedTrace(DiskTrace):
    """A trace on disk that knows how long it took."""

    seconds = 0.0

    def append(self, draw: Draw) -> None:
        """Add a draw."""
        self._timed(super().append, draw)

    def save(self, checkpoint: Checkpoint) -> None:
        """Add a state."""
        self._timed(super().save, checkpoint)

    def close(self) -> None:
        """Force all to the disk."""
        self._timed(super().close)

    def _timed(self, work: Callable[..., None], *given: Any) -> None:
        start = time.perf_counter()
        work(*given)
        TimedTrace.seconds += time.perf_counter() - start


def checkpointing(n: int, n_draws: int, repeats: int) -> dict[str, Any]:
    """Time spent in storing over the time spent in sweeps, of one chain.

    Both clocks run in the same seconds: two runs, one with a folder and one without, differ by more than storing takes.
    """
    data = draw_blobs(2, n, 10, 20, "separated")
    sampler = prepare(data.X, 0, data.labels)
    schedule = schedule_for("tree-guided", n, n_tune=0)
    shares, walls = [], []
    for _ in range(max(3, repeats)):
        TimedTrace.seconds = 0.0
        with tempfile.TemporaryDirectory() as folder, patch.object(worker, "DiskTrace", TimedTrace):
            settings = RunSettings(n_chains=1, n_draws=n_draws, n_jobs=1, run_dir=Path(folder) / "run")
            (result,) = run_chains(sampler, schedule, settings)
        walls.append(result.seconds)
        shares.append(TimedTrace.seconds / (result.seconds - TimedTrace.seconds))
    share = statistics.median(shares)
    return {
        "part": "store",
        "who": "a run with a folder",
        "sweeps": n_draws,
        "wall_seconds": statistics.median(walls),
        "share_of_sweep_time": share,
        "wanted": f"<= {WANTED_SHARE:g}",
        "holds": share <= WANTED_SHARE,
    }


def overhead(n_sweeps: int, repeats: int) -> dict[str, Any]:
    """Five rows: sweeps by the engine against the bare moves."""
    sampler = prepare(generator(3).normal(size=(5, 2)), 0, "one", "gaussian")
    schedule = schedule_for("gibbs", 5, n_tune=0)
    settings = RunSettings(n_chains=1, n_draws=n_sweeps, n_jobs=1)

    def bare() -> None:
        rng = generator(0)
        state = sampler.start(rng)
        for sweep in range(n_sweeps):
            for step in schedule.steps(sweep):
                sampler.move(rng, state, step)

    found = interleaved({"engine": lambda: run_chains(sampler, schedule, settings), "bare": bare}, repeats)
    engine, moves = found["engine"]["fastest"], found["bare"]["fastest"]
    return {
        "part": "store",
        "who": "the engine at 5 rows",
        "sweeps": n_sweeps,
        "microseconds_per_sweep": 1e6 * (engine - moves) / n_sweeps,
        "over_floor": engine / moves,
    }


class WatchedTrace(DiskTrace):
    """A trace on disk that notes the memory in use at its hundredth draws."""

    every = 1
    seen: ClassVar[list[float]] = []

    def append(self, draw: Draw) -> None:
        """Add a draw."""
        super().append(draw)
        if draw.number % self.every == 0:
            WatchedTrace.seen.append(resident_mb())


def memory(n_draws: int) -> dict[str, Any]:
    """Five rows: how much memory grows from a tenth of the draws to the last."""
    sampler = prepare(generator(3).normal(size=(5, 2)), 0, "one", "gaussian")
    WatchedTrace.every, WatchedTrace.seen = max(1, n_draws // 100), []
    with tempfile.TemporaryDirectory() as folder, patch.object(worker, "DiskTrace", WatchedTrace):
        settings = RunSettings(n_chains=1, n_draws=n_draws, n_jobs=1, run_dir=Path(folder) / "run")
        run_chains(sampler, schedule_for("gibbs", 5, n_tune=0), settings)
    late = WatchedTrace.seen[len(WatchedTrace.seen) // 10 :]
    growth = (max(late) - min(late)) / min(late)
    return {
        "part": "store", "who": f"memory over {n_draws} draws of 5 rows", "sweeps": n_draws,
        "megabytes": max(late), "growth": growth, "wanted": f"<= {WANTED_GROWTH:g}", "holds": growth <= WANTED_GROWTH,
    }  # fmt: skip
