"""Time of a sweep as rows grow, and as paths grow: tables of trees of one shape, so that only one thing grows."""

import statistics
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.datasets import NestedTable
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.paths import number_paths
from benchmarks.nested.chains import make_sampler, seconds_of, size_of, state_at_truth
from benchmarks.timing import exponent

N_COLUMNS, N_COMPONENTS, ALPHA, BASE_VARIANCE = 10, 12, 0.2, 9.0
EVENNESS = 0.3
"""Of the weights of components in a leaf: a few of them make up most of it."""
SHAPE = (4, 3, 3)
"""Children of the root, of each of them, of each of these: 53 nodes."""
SHAPES = ((2, 2, 2), (4, 3, 3), (6, 5, 4), (8, 8, 6))
STRENGTHS = (0.0, 0.001)
SETTLING, SWEEP_ROWS = 10, 30_000
"""As rows grow: sweeps before the clock, and rows times sweeps of a round, of at least one sweep."""
FEW_SWEEPS = 2
"""As paths grow: before the clock and in a round, as chains soon leave a tree with more paths than the prior likes."""
WANTED_EXPONENT = 1.1


def draw_table(n: int, shape: tuple[int, ...], seed: int) -> NestedTable:
    """Rows of a balanced tree; every leaf is a mixture of its own of the same components."""
    rng = generator(seed)
    leaf = rng.integers(0, int(np.prod(shape)), n)
    below = [int(np.prod(shape[level + 1 :])) for level in range(len(shape))]
    weights = rng.dirichlet(np.full(N_COMPONENTS, EVENNESS), int(np.prod(shape)))
    chosen = (weights.cumsum(axis=1)[leaf] < rng.random(n)[:, None]).sum(axis=1).clip(max=N_COMPONENTS - 1)
    means = rng.normal(0.0, np.sqrt(BASE_VARIANCE), (N_COMPONENTS, N_COLUMNS))
    rows = rng.normal(means[chosen])
    levels = number_paths(np.column_stack([leaf // each for each in below]))
    return NestedTable(rows, levels, relabel(chosen), means[list(dict.fromkeys(chosen.tolist()))])


class Clock(NamedTuple):
    """Sweeps before it is started, sweeps of a round, rounds."""

    settling: int
    n_sweeps: int
    repeats: int


def time_sweeps(table: NestedTable, strength: float, seed: int, clock: Clock) -> dict[str, Any]:
    """Median CPU milliseconds of a sweep near the truth, and the state's size at the end."""
    n, depth = table.levels.shape
    sampler = make_sampler(table.X, strength=strength, depth=depth, alpha=ALPHA, base_variance=BASE_VARIANCE)
    state, rng = state_at_truth(sampler, table, seed)
    seconds_of(sampler, rng, state, clock.settling)
    rounds = [seconds_of(sampler, rng, state, clock.n_sweeps) / clock.n_sweeps for _ in range(clock.repeats)]
    own = statistics.median(rounds)
    return {"C": strength, "rows": n, **size_of(state), "ms_per_sweep": 1e3 * own, "us_per_row": 1e6 * own / n}


def measure_rows(sizes: list[int], seed: int, repeats: int) -> list[dict[str, Any]]:
    """More and more rows, without penalty and with a weak one."""
    rows = []
    for strength in STRENGTHS:
        own = []
        for n in sizes:
            clock = Clock(SETTLING, max(1, SWEEP_ROWS // n), repeats)
            own.append({"part": "rows", **time_sweeps(draw_table(n, SHAPE, seed), strength, seed, clock)})
        power = exponent(sizes, [row["ms_per_sweep"] for row in own])
        own[-1] |= {"exponent": power, "wanted": f"<= {WANTED_EXPONENT:g}"}
        own[-1]["holds"] = None if power is None else power <= WANTED_EXPONENT
        rows += own
    return rows


def measure_paths(n: int, seed: int, repeats: int) -> list[dict[str, Any]]:
    """As many rows on more and more paths."""
    rows, clock = [], Clock(FEW_SWEEPS, FEW_SWEEPS, repeats)
    for strength in STRENGTHS:
        for shape in SHAPES:
            found = time_sweeps(draw_table(n, shape, seed), strength, seed, clock)
            rows.append({"part": "paths", "paths_at_start": int(np.prod(shape)), **found})
    return rows
