"""Fits in a process of their own: seconds, and peak memory above what was there before the fit."""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs
from bayesgrove.stats.partitions import adjusted_rand


def fit(model: str, kind: str, n: int, d: int = 10, n_jobs: int | None = 1) -> dict[str, Any]:
    """Warm up on few rows (compiling), then fit; memory in MB."""
    estimator = getattr(bayesgrove, model)
    warm = make_benchmark_blobs(kind, 2000, d, random_state=1).X
    estimator(random_state=0, n_jobs=n_jobs).fit(warm)
    X = make_benchmark_blobs(kind, n, d, random_state=0).X
    is_reset = reset_peak()
    before = resident_mb()
    start, started = time.process_time(), time.perf_counter()
    fitted = estimator(random_state=0, n_jobs=n_jobs).fit(X)
    return {
        "cpu_seconds": time.process_time() - start,
        "wall_seconds": time.perf_counter() - started,
        "megabytes_above_data": peak_mb() - before,
        "peak_was_reset": is_reset,
        "n_clusters": int(np.unique(fitted.labels_).size),
    }


def fit_long_table(n_rows: int, n_columns: int, seed: int) -> dict[str, Any]:
    """Randomized cross-clustering of a mixed table with a fifth of its cells missing."""
    from benchmarks.cross.large import long_model, long_table

    long_model(8, seed).fit(long_table(300, 8, seed)[0])
    X, views = long_table(n_rows, n_columns, seed)
    is_reset, before, start = reset_peak(), resident_mb(), time.process_time()
    fitted = long_model(n_columns, seed).fit(X)
    return {
        "cpu_seconds": time.process_time() - start,
        "megabytes_above_data": peak_mb() - before,
        "peak_megabytes": peak_mb(),
        "peak_was_reset": is_reset,
        "ari_of_views": float(adjusted_rand(views, fitted.view_labels_)),
    }


def reset_peak() -> bool:
    """Let the system forget the warm-up's peak; False where it cannot: the peak is then an upper bound."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def resident_mb() -> float:
    """Memory in use now."""
    status = _status()
    return status["VmRSS"] if status else _rusage_mb()


def peak_mb() -> float:
    """Largest memory in use since `reset_peak`."""
    status = _status()
    return status["VmHWM"] if status else _rusage_mb()


def _status() -> dict[str, float]:
    path = Path("/proc/self/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))}


def _rusage_mb() -> float:
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 2**20 if sys.platform == "darwin" else size / 1024


TASKS = {"fit": fit, "fit_long_table": fit_long_table}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
