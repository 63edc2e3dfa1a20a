"""What one core of this machine can do, measured in the same run as everything else."""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

L1_NUMBERS = 256  # 2 kB an array: three of them leave room in any first-level cache
MEMORY_NUMBERS = 2**24  # 128 MB: beyond any cache
FLOPS_PER_SCORE = 28.8  # product over 10 columns: 1.8 ns at 16 Gflop/s, the reference rate
REFERENCE_SCORE_SECONDS = 3.5e-9  # the same plus one log of 1.7 ns


@numba.njit(cache=True)
def sum_logs(values, rounds):
    total = 0.0
    for _ in range(rounds):
        for value in values:
            total += math.log(value)
    return total


@numba.njit(cache=True)
def sum_exps(values, rounds):
    total = 0.0
    for _ in range(rounds):
        for value in values:
            total += math.exp(value)
    return total


@numba.njit(cache=True)
def sum_lgammas(values, rounds):
    total = 0.0
    for _ in range(rounds):
        for value in values:
            total += math.lgamma(value)
    return total


@numba.njit(cache=True)
def gather(table, places, rounds):
    # four sums: one alone would measure the latency of addition
    a = b = c = d = 0.0
    for _ in range(rounds):
        for i in range(0, len(places), 4):
            a += table[places[i]]
            b += table[places[i + 1]]
            c += table[places[i + 2]]
            d += table[places[i + 3]]
    return a + b + c + d


@numba.njit(cache=True)
def multiply_add(out, left, right, rounds):
    for _ in range(rounds):
        for i in range(len(out)):
            out[i] = out[i] * left[i] + right[i]


@numba.njit(cache=True, fastmath={"reassoc", "nsz"})
def read_all(values):
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total


def measure() -> dict[str, float]:
    """Operations per second on one core: the best of seven rounds, as a floor is what can be reached."""
    rng = np.random.default_rng(0)
    values = aligned(rng.uniform(1, 20, L1_NUMBERS))
    places = rng.integers(0, L1_NUMBERS, L1_NUMBERS)
    left, right, out = (aligned(np.full(L1_NUMBERS, number)) for number in (0.5, 1.0, 2.0))
    matrix, memory = rng.normal(size=(512, 512)), np.ones(MEMORY_NUMBERS)
    with threadpool_limits(1):
        return {
            "log_per_s": rate(lambda: sum_logs(values, 2000), 2000 * L1_NUMBERS),
            "exp_per_s": rate(lambda: sum_exps(values, 2000), 2000 * L1_NUMBERS),
            "lgamma_per_s": rate(lambda: sum_lgammas(values, 800), 800 * L1_NUMBERS),
            "gather_per_s": rate(lambda: gather(values, places, 8000), 8000 * L1_NUMBERS),
            "l1_flops_per_s": rate(lambda: multiply_add(out, left, right, 16000), 32000 * L1_NUMBERS),
            "dgemm_flops_per_s": rate(lambda: matrix @ matrix, 2 * 512**3),
            "memory_bytes_per_s": rate(lambda: read_all(memory), 8 * MEMORY_NUMBERS),
        }


def load() -> dict[str, float | None]:
    """Processes that wanted to run in the last minute and quarter of an hour, where the system counts them; cores.

    Under "stolen" the seconds, of all cores since the start, that the host of a virtual machine gave to others.
    """
    averages = os.getloadavg() if hasattr(os, "getloadavg") else (math.nan,) * 3
    return {
        "minute": averages[0],
        "quarter_hour": averages[2],
        "cores": os.cpu_count() or 1,
        "stolen": stolen_seconds(Path("/proc/stat")),
    }


def stolen_seconds(statistics: Path) -> float | None:
    """The eighth number of the first line of Linux's /proc/stat; None where there is none."""
    try:
        return int(statistics.read_text().splitlines()[0].split()[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy that starts at a cache line, where numpy's own may straddle two."""
    room = np.empty(len(values) + 8)
    start = -room.ctypes.data % 64 // 8
    room[start : start + len(values)] = values
    return room[start : start + len(values)]


def rate(work: Callable[[], object], operations: int) -> float:
    """Operations per CPU second; the first call compiles and is not counted."""
    work()
    seconds = []
    for _ in range(7):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return operations / min(seconds)


def score_seconds(constants: dict[str, float]) -> float:
    """Least time of one merge score over 10 columns: its products at L1 speed and one log."""
    return FLOPS_PER_SCORE / constants["l1_flops_per_s"] + 1 / constants["log_per_s"]


def bhc_floor(constants: dict[str, float], n: int) -> float:
    """Least seconds of exact BHC on n x 10: 4.0e6 (n / 2000)^2 scores."""
    return 4.0e6 * (n / 2000) ** 2 * score_seconds(constants)


def randomized_floor(constants: dict[str, float], n: int) -> float:
    """2.5 s for a million rows at the reference rates, linear in n, scaled to this machine's score time."""
    return 2.5 * n / 1e6 * score_seconds(constants) / REFERENCE_SCORE_SECONDS
