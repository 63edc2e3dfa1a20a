"""The page of a fit: its size, and what writing it takes."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs

SIZES, QUICK_SIZES = (1_000, 20_000), (100,)


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """One row a number of rows."""
    sizes = arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES)
    return {"rows": [_row(n, arguments.repeats) for n in sizes]}


def _row(n: int, repeats: int) -> dict[str, Any]:
    model = bayesgrove.BHC(random_state=0).fit(make_benchmark_blobs("separated", n, 10, random_state=0).X)
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        for _ in range(repeats):
            start = time.process_time()
            model.report(path)
            seconds.append(time.process_time() - start)
        size = path.stat().st_size
    return {"n": n, "who": "BHC", "cpu_seconds": statistics.median(seconds), "megabytes": size / 1e6}
