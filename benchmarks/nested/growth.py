"""Time of a sweep as rows grow, and as paths grow."""

import statistics
from typing import Any

from bayesgrove.datasets import sample_bhmc
from benchmarks.nested.chains import make_sampler, seconds_of, size_of, state_at_truth
from benchmarks.timing import exponent

N_COLUMNS, DEPTH, ALPHA, BASE_VARIANCE = 10, 3, 0.2, 9.0
STRENGTHS = (0.0, 0.001)
PATH_ALPHAS = (0.1, 0.3, 1.0, 3.0)
SETTLING = 2
SWEEP_ROWS = 3_000
"""A round has so many rows times sweeps, and at least one sweep."""
WANTED_EXPONENT = 1.1


def time_sweeps(n: int, alpha: float, strength: float, seed: int, repeats: int) -> dict[str, Any]:
    """Median CPU milliseconds of a sweep near the truth of a table drawn from the prior, and the state's size."""
    numbers = {"depth": DEPTH, "alpha": alpha, "base_variance": BASE_VARIANCE}
    table = sample_bhmc(n, N_COLUMNS, **numbers, random_state=seed)
    sampler = make_sampler(table.X, strength=strength, **numbers)
    state, rng = state_at_truth(sampler, table, seed)
    seconds_of(sampler, rng, state, SETTLING)
    n_sweeps = max(1, SWEEP_ROWS // n)
    own = statistics.median(seconds_of(sampler, rng, state, n_sweeps) / n_sweeps for _ in range(repeats))
    return {"C": strength, "rows": n, **size_of(state), "ms_per_sweep": 1e3 * own, "us_per_row": 1e6 * own / n}


def measure_rows(sizes: list[int], seed: int, repeats: int) -> list[dict[str, Any]]:
    """More and more rows, without penalty and with a weak one; one seed, so that tables are alike."""
    rows = []
    for strength in STRENGTHS:
        own = [{"part": "rows", **time_sweeps(n, ALPHA, strength, seed, repeats)} for n in sizes]
        power = exponent(sizes, [row["ms_per_sweep"] for row in own])
        own[-1] |= {"exponent": power, "wanted": f"<= {WANTED_EXPONENT:g}"}
        own[-1]["holds"] = None if power is None else power <= WANTED_EXPONENT
        rows += own
    return rows


def measure_paths(n: int, seed: int, repeats: int) -> list[dict[str, Any]]:
    """As many rows on more and more paths."""
    return [
        {"part": "paths", "alpha": alpha, **time_sweeps(n, alpha, strength, seed, repeats)}
        for strength in STRENGTHS
        for alpha in PATH_ALPHAS
    ]
