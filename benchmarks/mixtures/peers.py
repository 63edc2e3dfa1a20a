"""Each contender from raw data to the target: CPU and wall seconds, the agreement reached, sweeps."""

import json
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.stats.partitions import adjusted_rand
from benchmarks.mixtures.chains import prepare, schedule_for, start, sweeps
from benchmarks.mixtures.data import Blobs
from benchmarks.timing import ROOT

LACE_PYTHON = ROOT / ".venv-lace" / "bin" / "python"
LACE_WORKER = Path(__file__).with_name("lace_worker.py")
LACE_SCHEDULES = (
    "20 split-merge + slice",
    "20 split-merge + gibbs",
    "50 split-merge + slice",
    "5 split-merge + gibbs",
    "5 split-merge + slice",
    "gibbs",
    "slice",
)
THREADS = ("RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Found(NamedTuple):
    """How long it took to agree with the truth, or how long it was tried."""

    seconds: float
    wall_seconds: float
    ari: float
    sweeps: int
    reached: bool
    note: str = ""


class Stopwatch:
    """CPU and wall seconds of this process while it runs."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0
        self._since: tuple[float, float] | None = None

    def __enter__(self) -> "Stopwatch":
        self._since = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        if self._since is not None:
            self.cpu += time.process_time() - self._since[0]
            self.wall += time.perf_counter() - self._since[1]
            self._since = None


def ours(name: str, init: str) -> Callable[[Blobs, int, float], Found]:
    """A sampler of ours from a start, judged on the sweep of largest log joint so far."""

    def run(data: Blobs, seed: int, cap_seconds: float) -> Found:
        watch = Stopwatch()
        with watch:
            sampler = prepare(data.X, seed, init)
            position = start(sampler, seed)
            chain = sweeps(sampler, schedule_for(name, len(data.X)), position)
        best, ari, target = -np.inf, 0.0, data.target_ari
        while True:
            log_joint = sampler.scalars(position.state)["log_joint"]
            if log_joint > best:
                best, ari = log_joint, adjusted_rand(data.labels, sampler.labels(position.state))
            if ari >= target or watch.cpu >= cap_seconds:
                return Found(watch.cpu, watch.wall, float(ari), position.sweep, ari >= target)
            with watch:
                next(chain)

    return run


class _ReachedError(Exception):
    """Leaves scikit-learn's loop."""


def variational(data: Blobs, seed: int, cap_seconds: float, n_components: int = 100, max_iter: int = 1000) -> Found:
    """scikit-learn's truncated mixture, stopped inside its own loop, so that no iteration costs more than usual.

    The bound it climbs never falls: the labels of the present iteration are those of the largest bound so far.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    watch = Stopwatch()
    state = {"ari": 0.0, "sweeps": 0}

    class Watched(BayesianGaussianMixture):
        def _e_step(self, X: Any, **options: Any) -> Any:
            result = super()._e_step(X, **options)
            watch.__exit__()
            state["ari"] = float(adjusted_rand(data.labels, np.argmax(result[1], axis=1)))
            state["sweeps"] += 1
            if state["ari"] >= data.target_ari or watch.cpu >= cap_seconds:
                raise _ReachedError
            watch.__enter__()
            return result

    model = Watched(
        n_components=n_components, covariance_type="diag", weight_concentration_prior_type="dirichlet_process",
        max_iter=max_iter, n_init=1, random_state=seed % 2**32,
    )  # fmt: skip
    note = ""
    try:
        with watch, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(data.X)
        note = "converged elsewhere"
    except _ReachedError:
        pass
    return Found(watch.cpu, watch.wall, state["ari"], state["sweeps"], state["ari"] >= data.target_ari, note)


def has_lace() -> bool:
    """Whether `make bench-peers` was run."""
    return LACE_PYTHON.exists()


def lace(
    data: Blobs, seed: int, cap_seconds: float, schedules: tuple[str, ...] = LACE_SCHEDULES, timeout: float = 7200
) -> Found:
    """The schedule of pylace that turned out best on these very data, known only afterwards: a favour to it."""
    task = {"target_ari": data.target_ari, "cap_seconds": cap_seconds, "seed": seed, "schedules": schedules}
    lines = lace_lines(data, task, timeout)
    best = min(lines, key=lambda line: (not line["reached"], line["seconds"] if line["reached"] else -line["ari"]))
    return Found(best["seconds"], best["wall_seconds"], best["ari"], best["sweeps"], best["reached"], best["schedule"])


def lace_sweeps(data: Blobs, seed: int, n_sweeps: int, cap_seconds: float = 120.0) -> list[dict[str, Any]]:
    """What a sweep over all rows takes pylace by each of its kernels, from where it agrees with the truth."""
    task = {"target_ari": data.target_ari, "cap_seconds": cap_seconds, "seed": seed, "n_sweeps": n_sweeps}
    return lace_lines(data, {**task, "schedules": ("20 split-merge + slice",), "kernels": ("gibbs", "slice")}, 7200)[1:]


def lace_lines(data: Blobs, task: dict[str, Any], timeout: float) -> list[dict[str, Any]]:
    """What the worker prints, in pylace's own environment and on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "data.npz", X=data.X, labels=data.labels)
        (Path(folder) / "task.json").write_text(json.dumps(task))
        command = [str(LACE_PYTHON), str(LACE_WORKER), folder]
        environment = {**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, **dict.fromkeys(THREADS, "1")}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=timeout, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
