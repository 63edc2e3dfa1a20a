"""Interleaved times, peak memory of a child process, exponents, and a readable table."""

import gc
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FEW_SECONDS = 5.0
MOST_ROUNDS = 25
"""Works that are over in a moment take more turns than asked for: three moments say little of a shared machine."""


def interleaved(works: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, Any]]:
    """Median seconds of each work, run in turns so that a slow minute hits all alike.

    CPU seconds, and under "wall" those of the clock, which count what other processes do besides. The first round
    warms up and is not counted; its result is kept under "result". Rounds, where several are asked for, go on for a few
    seconds.
    """
    first = {name: work() for name, work in works.items()}
    cpu: dict[str, list[float]] = {name: [] for name in works}
    wall: dict[str, list[float]] = {name: [] for name in works}
    begun = time.perf_counter()
    for n_done in range(max(repeats, MOST_ROUNDS)):
        if n_done >= repeats and (repeats == 1 or time.perf_counter() - begun > FEW_SECONDS):
            break
        for name, work in works.items():
            gc.collect()
            start, started = time.process_time(), time.perf_counter()
            work()
            cpu[name].append(time.process_time() - start)
            wall[name].append(time.perf_counter() - started)
    return {
        name: {
            "seconds": statistics.median(times),
            "fastest": min(times),
            "slowest": max(times),
            "wall": statistics.median(wall[name]),
            "result": first[name],
        }
        for name, times in cpu.items()
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


class Cost(NamedTuple):
    """CPU seconds of a command and all its processes, seconds by the clock, its exit code and what it printed."""

    cpu: float
    wall: float
    code: int
    output: str


def cost_of(command: Sequence[str], environment: Mapping[str, str] | None = None, *, check: bool = True) -> Cost:
    """Run a command and see what it takes."""
    before, start = _cpu_of_children(), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, check=check, stdout=subprocess.PIPE, text=True)
    wall = time.perf_counter() - start
    return Cost(_cpu_of_children() - before, wall, done.returncode, done.stdout)


def _cpu_of_children() -> float:
    """CPU seconds of all processes waited for, in microseconds: `os.times` drops up to two hundredths of a second."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def titles_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every column that a row has, in the order they come."""
    return list(dict.fromkeys(title for row in rows for title in row))


def by_part(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows that share their columns, without the name of their part, each group a table of its own."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row.get("part", ""), []).append({k: v for k, v in row.items() if k != "part"})
    return groups


def format_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table with aligned columns; a column not in a row is empty there."""
    titles = titles_of(rows)
    cells = [titles] + [[cell(row.get(title)) for title in titles] for row in rows]
    widths = [max(len(line[j]) for line in cells) for j in range(len(titles))]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in cells)


def cell(value: Any) -> str:
    """Four digits of a number; nothing for nothing."""
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
