"""Mixtures: time to target, sweeps against their floor, effective draws per second, the store."""

from typing import Any

from threadpoolctl import threadpool_limits

from bayesgrove.core.rng import resolve_seed
from benchmarks.mixtures import mixing, store, sweep, target

PARTS = ("target", "sweep", "mixing", "store")
CLUSTER_COUNTS = [20, 50]


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """All parts, or those asked for, on one thread; the seed is new each time unless given."""
    seed = resolve_seed(arguments.seed) % 2**31
    parts = arguments.parts or PARTS
    quick, repeats = arguments.quick, arguments.repeats
    n = (arguments.sizes or [2_500 if quick else 10_000])[0]
    counts = [20] if quick else CLUSTER_COUNTS
    seeds = [seed + i for i in range(min(2, repeats) if quick else repeats)]
    works = {
        "target": lambda: target.measure(n, counts, seeds, "quick" if quick else "full"),
        "sweep": lambda: sweep.measure(n, counts, 3 * repeats),
        "mixing": lambda: mixing.measure(seed, 10.0 if quick else 60.0),
        "store": lambda: store.measure(n, 200 if quick else 2_000, 50 if quick else 500, repeats),
    }
    with threadpool_limits(1):
        rows = [row for part in parts for row in works[part]()]
    return {"rows": rows, "seeds": seeds, "single_threaded": True}
