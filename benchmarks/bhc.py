"""Exact BHC against average linkage with its distances: fastcluster, scipy, scikit-learn."""

from typing import Any

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs
from benchmarks import machine
from benchmarks.timing import exponent, in_child, interleaved

COMPARED = (2_000, 10_000)
ALONE = 20_000
LEARNED = "ours, prior learned"


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    sizes = arguments.sizes or [*COMPARED, ALONE]
    rows = []
    for n in sizes:
        rows += _alone(constants, n, arguments.repeats) if n >= ALONE else _compared(constants, n, arguments.repeats)
    ours = [(row["n"], row["seconds"]) for row in rows if row["who"] == LEARNED]
    return {"rows": rows, "exponent": exponent([n for n, _ in ours], [seconds for _, seconds in ours])}


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
            "seconds": times["seconds"],
            "fastest": times["fastest"],
            "slowest": times["slowest"],
        }
        row["ours_over_this"] = ours / times["seconds"]
        row["over_floor"] = times["seconds"] / floor
        rows.append(row)
    return rows


def _alone(constants: dict[str, float], n: int, repeats: int) -> list[dict[str, Any]]:
    runs = [in_child("fit", model="BHC", kind="separated", n=n) for _ in range(repeats)]
    runs.sort(key=lambda found: found["seconds"])
    middle = runs[len(runs) // 2]
    return [
        {
            "who": LEARNED,
            "n": n,
            "seconds": middle["seconds"],
            "fastest": runs[0]["seconds"],
            "slowest": runs[-1]["seconds"],
            "over_floor": middle["seconds"] / machine.bhc_floor(constants, n),
            "megabytes_above_data": max(found["megabytes_above_data"] for found in runs),
        }
    ]


def contenders(X: Any) -> dict[str, Any]:
    """Each does the whole job, from the rows to the tree; a peer that is not installed is left out."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist
    from sklearn.cluster import AgglomerativeClustering

    works = {
        "ours": lambda: bayesgrove.BHC(likelihood="gaussian", n_jobs=1).fit(X),
        LEARNED: lambda: bayesgrove.BHC(random_state=0, n_jobs=1).fit(X),
        "scipy average": lambda: linkage(pdist(X), "average"),
        "scikit-learn average": lambda: AgglomerativeClustering(n_clusters=40, linkage="average").fit(X),
    }
    try:
        import fastcluster
    except ImportError:
        return works
    return {**works, "fastcluster average": lambda: fastcluster.linkage(pdist(X), "average")}
