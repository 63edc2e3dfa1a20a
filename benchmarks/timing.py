"""Interleaved times, peak memory of a child process, exponents, and a readable table."""

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def interleaved(works: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, Any]]:
    """Median seconds of each work, run in turns so that a slow minute hits all alike.

    The first round warms up and is not counted; its result is kept under "result".
    """
    first = {name: work() for name, work in works.items()}
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            gc.collect()
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return {
        name: {
            "seconds": statistics.median(times),
            "fastest": min(times),
            "slowest": max(times),
            "result": first[name],
        }
        for name, times in seconds.items()
    }


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Slope of log time over log size between the smallest and the largest size."""
    if len(sizes) < 2:
        return None
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])


def in_child(task: str, timeout: float = 3600, **arguments: Any) -> dict[str, Any]:
    """Run `benchmarks.child` in a process of its own and give what it measured."""
    command = [sys.executable, "-m", "benchmarks.child", task, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=timeout, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def cpu_and_wall(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    """CPU seconds and wall seconds of a command."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    after, wall = os.times(), time.perf_counter() - start
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, wall


def format_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table with aligned columns; a column not in a row is empty there."""
    titles = list(dict.fromkeys(title for row in rows for title in row))
    cells = [titles] + [[_cell(row.get(title, "")) for title in titles] for row in rows]
    widths = [max(len(line[j]) for line in cells) for j in range(len(titles))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
