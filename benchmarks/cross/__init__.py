"""Cross-clustering: CrossCat against pylace, searches for views against each other, growth, large tables."""

from typing import Any

from threadpoolctl import threadpool_limits

from bayesgrove.core.rng import resolve_seed
from benchmarks.cross import large, searches, target

PARTS = ("cells", "searches", "wide", "long")


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """All parts, or those asked for, on one thread; the seed is new each time unless given."""
    seed = resolve_seed(arguments.seed) % 2**31
    seeds = [seed + i for i in range(min(2, arguments.repeats) if arguments.quick else arguments.repeats)]
    works = {
        "cells": lambda: target.measure(seeds, quick=arguments.quick),
        "searches": lambda: searches.measure(constants, seeds, quick=arguments.quick),
        "wide": lambda: [large.wide(seed, quick=arguments.quick)],
        "long": lambda: [large.long(seed, quick=arguments.quick)],
    }
    with threadpool_limits(1):
        rows = [row for part in arguments.parts or PARTS for row in works[part]()]
    return {"rows": rows, "seeds": seeds, "single_threaded": True}
