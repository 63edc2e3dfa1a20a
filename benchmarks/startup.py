"""What waiting costs before any work: import, help, every estimator's first fit, the demo, all papers quickly."""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.first_fit import MODELS
from benchmarks.timing import Cost, cost_of

COMMANDS = ("commands", "demo", "papers")
PARTS = (*COMMANDS, *MODELS)
QUICK_PARTS = ("commands", "BHC")


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """All parts, or those asked for; in a quick run the commands and one estimator."""
    python = [sys.executable, "-c"]
    peer = _median([*python, "import sklearn.cluster"], arguments.repeats)
    rows = []
    for part in arguments.parts or (QUICK_PARTS if arguments.quick else PARTS):
        if part == "commands":
            rows += _commands(arguments.repeats, peer)
        elif part in MODELS:
            rows += _first_fits(part, arguments.repeats, peer)
        else:
            rows.append(_whole_command(part, peer))
    return {"rows": rows}


def _commands(repeats: int, peer: Cost) -> list[dict[str, Any]]:
    python = [sys.executable, "-c"]
    works = {
        "python alone": [*python, "pass"],
        "import bayesgrove": [*python, "import bayesgrove"],
        "--help": [sys.executable, "-m", "bayesgrove.cli", "--help"],
    }
    rows = [_row("commands", "import sklearn.cluster", peer, peer)]
    return rows + [_row("commands", what, _median(command, repeats), peer) for what, command in works.items()]


def _first_fits(model: str, repeats: int, peer: Cost) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.first_fit", model]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        cold = cost_of(command, environment)
        warm = _median(command, repeats, environment)
    found = {"cold": cold, "warm": warm}
    return [
        {**_row(model, f"first {model} fit, {name} cache", cost, peer), "model": model, "cache": name, **_said(cost)}
        for name, cost in found.items()
    ]


def _whole_command(name: str, peer: Cost) -> dict[str, Any]:
    """The demo, or a quick run of all papers, as somebody sees it who has just installed the library."""
    words = {"demo": ["bayesgrove", "demo"], "papers": ["papers", "--all", "--quick"]}[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", *words, "--out", str(Path(folder) / "out")]
        cost = cost_of(command, {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "cache")}, check=False)
    row = _row(name, f"{' '.join(words)}, cold cache", cost, peer)
    if cost.code != 0:
        return {"part": name, "what": row["what"], "note": f"not measured: the command ended with code {cost.code}"}
    return row


def _median(command: Sequence[str], repeats: int, environment: Mapping[str, str] | None = None) -> Cost:
    """The run of median CPU time."""
    runs = [cost_of(command, environment) for _ in range(repeats)]
    return runs[[cost.cpu for cost in runs].index(statistics.median_low(cost.cpu for cost in runs))]


def _said(cost: Cost) -> dict[str, float]:
    """What the process itself measured."""
    return json.loads(cost.output.splitlines()[-1])


def _row(part: str, what: str, cost: Cost, peer: Cost) -> dict[str, Any]:
    return {
        "part": part,
        "what": what,
        "cpu_seconds": cost.cpu,
        "wall_seconds": cost.wall,
        "cpu_over_sklearn_import": cost.cpu / peer.cpu,
    }
