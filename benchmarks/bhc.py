"""Exact BHC against average linkage with its distances: fastcluster, scipy, scikit-learn."""

from typing import Any

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs
from benchmarks import machine
from benchmarks.timing import exponent, in_child, interleaved

COMPARED = (2_000, 10_000)
ALONE = 20_000
QUICK = (300, 600)
LEARNED, SINGLE, FASTCLUSTER = "ours, prior learned", "ours, prior learned, alone", "fastcluster average"


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    sizes = arguments.sizes or (QUICK if arguments.quick else [*COMPARED, ALONE])
    rows = []
    for n in sizes:
        rows += _large(constants, n, arguments.repeats) if n >= ALONE else _compared(constants, n, arguments.repeats)
    return {"rows": rows}


def _compared(constants: dict[str, float], n: int, repeats: int) -> list[dict[str, Any]]:
    works = contenders(make_benchmark_blobs("separated", n, 10, random_state=0).X)
    found = interleaved(works, repeats)
    ours = found["ours"]["seconds"]
    floor = machine.bhc_floor(constants, n)
    rows = []
    for name, times in found.items():
        row = {
            "who": name,
            "n": n,
            "cpu_seconds": times["seconds"],
            "fastest": times["fastest"],
            "slowest": times["slowest"],
            "wall_seconds": times["wall"],
        }
        row["ours_over_this"] = ours / times["seconds"]
        row["over_floor"] = times["seconds"] / floor
        rows.append(row)
    if FASTCLUSTER not in found:
        rows.append({"who": FASTCLUSTER, "n": n, "note": "not measured: fastcluster is not installed"})
    return rows


def _large(constants: dict[str, float], n: int, repeats: int) -> list[dict[str, Any]]:
    """Ours on n rows and on half of them, each fit in a process of its own, and the growth between the two."""
    half, whole = (_alone(constants, size, repeats) for size in (n // 2, n))
    whole["exponent"] = exponent([half["n"], n], [half["cpu_seconds"], whole["cpu_seconds"]])
    return [half, whole]


def _alone(constants: dict[str, float], n: int, repeats: int) -> dict[str, Any]:
    runs = [in_child("fit", model="BHC", kind="separated", n=n) for _ in range(repeats)]
    runs.sort(key=lambda found: found["cpu_seconds"])
    middle = runs[len(runs) // 2]
    return {
        "who": SINGLE,
        "n": n,
        "cpu_seconds": middle["cpu_seconds"],
        "fastest": runs[0]["cpu_seconds"],
        "slowest": runs[-1]["cpu_seconds"],
        "wall_seconds": middle["wall_seconds"],
        "over_floor": middle["cpu_seconds"] / machine.bhc_floor(constants, n),
        "megabytes_above_data": max(found["megabytes_above_data"] for found in runs),
    }


def contenders(X: Any) -> dict[str, Any]:
    """Each does the whole job, from the rows to the tree; fastcluster is left out where it is not installed."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist
    from sklearn.cluster import AgglomerativeClustering

    works = {
        "ours": lambda: bayesgrove.BHC(likelihood="gaussian", search="greedy", n_jobs=1).fit(X),
        LEARNED: lambda: bayesgrove.BHC(search="greedy", random_state=0, n_jobs=1).fit(X),
        "scipy average": lambda: linkage(pdist(X), "average"),
        "scikit-learn average": lambda: AgglomerativeClustering(n_clusters=40, linkage="average").fit(X),
    }
    try:
        import fastcluster
    except ImportError:
        return works
    return {**works, FASTCLUSTER: lambda: fastcluster.linkage(pdist(X), "average")}
