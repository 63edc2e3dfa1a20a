"""Randomized BHC up to a million rows against MiniBatchKMeans and Birch: time, truth found, memory."""

from typing import Any

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs
from benchmarks import machine
from benchmarks.timing import exponent, in_child, interleaved

SIZES = (10_000, 100_000, 1_000_000)
KINDS = ("separated", "outliers", "skewed", "nested", "overlapping")
LARGEST_FOR_BIRCH = 100_000  # its last step is quadratic in its sub-clusters


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    sizes = sorted(arguments.sizes or SIZES)
    rows, exponents = [], {}
    for kind in arguments.kinds or KINDS:
        ours = []
        for n in sizes:
            found = _measure(constants, kind, n, arguments.repeats)
            ours.append(found[0]["seconds"])
            rows += found
        exponents[kind] = exponent(sizes, ours)
    return {"rows": rows, "exponents": exponents}


def _measure(constants: dict[str, float], kind: str, n: int, repeats: int) -> list[dict[str, Any]]:
    from sklearn.metrics import adjusted_rand_score

    data = make_benchmark_blobs(kind, n, 10, random_state=0)
    found = interleaved(contenders(data.X), repeats)
    ours = found["ours"]["seconds"]
    memory = in_child("fit", model="RandomizedBHC", kind=kind, n=n, n_jobs=None)["megabytes_above_data"]
    rows = []
    for name, times in found.items():
        row = {"kind": kind, "n": n, "who": name, "seconds": times["seconds"]}
        row["ours_over_this"] = ours / times["seconds"]
        row["ari_with_truth"] = float(adjusted_rand_score(data.labels, times["result"]))
        if name == "ours":
            row["over_floor"] = ours / machine.randomized_floor(constants, n)
            row["megabytes_above_data"] = memory
        rows.append(row)
    return rows


def contenders(X: Any) -> dict[str, Any]:
    """Each gives labels; the peers are told the number of clusters, we are not."""
    from sklearn.cluster import Birch, MiniBatchKMeans

    works = {
        "ours": lambda: bayesgrove.RandomizedBHC(random_state=0).fit(X).labels_,
        "MiniBatchKMeans(40)": lambda: MiniBatchKMeans(n_clusters=40, random_state=0, n_init=3).fit(X).labels_,
    }
    if len(X) <= LARGEST_FOR_BIRCH:
        # radius of a unit Gaussian in 10 columns; at the default .5 every row is its own sub-cluster
        works["Birch(40)"] = lambda: Birch(threshold=3.2, n_clusters=40).fit(X).labels_
    return works
