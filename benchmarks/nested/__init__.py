"""Nested hierarchies: sweeps against the twin and a floor, growth with rows and paths, mixing, an outside anchor."""

from typing import Any

from threadpoolctl import threadpool_limits

from bayesgrove.core.rng import resolve_seed
from benchmarks.nested import anchor, growth, mixing, sweeps

PARTS = ("sweeps", "rows", "paths", "mixing", "anchor")
SIZES, QUICK_SIZES = [1_000, 3_000, 10_000, 30_000, 100_000], [300, 1_000]


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """All parts, or those asked for, on one thread; the seed is new each time unless given."""
    seed = resolve_seed(arguments.seed) % 2**31
    quick = arguments.quick
    sizes = arguments.sizes or (QUICK_SIZES if quick else SIZES)
    works = {
        "sweeps": lambda: sweeps.measure(seed, 600 if quick else 15_000, arguments.repeats),
        "rows": lambda: growth.measure_rows(sizes, seed, arguments.repeats),
        "paths": lambda: growth.measure_paths(300 if quick else 1_000, seed, arguments.repeats),
        "mixing": lambda: mixing.measure(seed, 2.0 if quick else 20.0),
        "anchor": lambda: anchor.measure(seed, 100 if quick else 1_000, arguments.repeats),
    }
    with threadpool_limits(1):
        rows = [row for part in arguments.parts or PARTS for row in works[part]()]
    return {"rows": rows, "seed": seed, "single_threaded": True}
