"""What waiting costs before any work: import, help, and the first fit with a cold and a warm kernel cache."""

import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.timing import cpu_and_wall

FIRST_FIT = """
import numpy as np
import bayesgrove
bayesgrove.{model}(random_state=0{settings}).fit(np.random.default_rng(0).normal(size=(400, 10)))
"""

# few sweeps: what is measured is the wait before the work, not the work
MODELS = {"BHC": "", "RandomizedBHC": "", "NRMMixture": ", n_chains=2, n_tune=10, n_draws=20"}


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    python = [sys.executable, "-c"]
    bare = _median([*python, "pass"], arguments.repeats)
    peer = _median([*python, "import sklearn.cluster"], arguments.repeats)
    rows = [
        _row("python alone", bare, peer),
        _row("import sklearn.cluster", peer, peer),
        _row("import bayesgrove", _median([*python, "import bayesgrove"], arguments.repeats), peer),
        _row("--help", _median([sys.executable, "-m", "bayesgrove.cli", "--help"], arguments.repeats), peer),
    ]
    for model in MODELS:
        rows += _first_fits(model, arguments.repeats, peer)
    return {"rows": rows}


def _first_fits(model: str, repeats: int, peer: tuple[float, float]) -> list[dict[str, Any]]:
    command = [sys.executable, "-c", FIRST_FIT.format(model=model, settings=MODELS[model])]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        cold = cpu_and_wall(command, environment)
        warm = _median(command, repeats, environment)
    return [
        _row(f"first {model} fit, cold cache", cold, peer),
        _row(f"first {model} fit, warm cache", warm, peer),
    ]


def _median(command: Sequence[str], repeats: int, environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    runs = [cpu_and_wall(command, environment) for _ in range(repeats)]
    return statistics.median(cpu for cpu, _ in runs), statistics.median(wall for _, wall in runs)


def _row(what: str, cost: tuple[float, float], peer: tuple[float, float]) -> dict[str, Any]:
    return {
        "what": what,
        "cpu_seconds": cost[0],
        "wall_seconds": cost[1],
        "cpu_over_sklearn_import": cost[0] / peer[0],
    }
