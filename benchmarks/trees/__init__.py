"""Models of trees: the E-step against the twin and a floor, shared subtrees, growth, and times of whole fits."""

from typing import Any

from threadpoolctl import threadpool_limits

from bayesgrove.core.rng import resolve_seed
from benchmarks.trees import estep, fits, growth

PARTS = ("estep", "dag", "growth", "fit")
SIZES, QUICK_SIZES = [100_000, 1_000_000, 10_000_000], [10_000, 100_000]


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """All parts, or those asked for, on one thread; the seed is new each time unless given."""
    seed = resolve_seed(arguments.seed) % 2**31
    sizes = arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES)
    works = {
        "estep": lambda: estep.measure_passes(constants, seed, arguments.repeats),
        "dag": lambda: estep.measure_sharing(seed, arguments.repeats),
        "growth": lambda: growth.measure(sizes, seed, arguments.repeats),
        "fit": lambda: fits.measure(seed, quick=arguments.quick),
    }
    with threadpool_limits(1):
        rows = [row for part in arguments.parts or PARTS for row in works[part]()]
    return {"rows": rows, "seed": seed, "single_threaded": True}
