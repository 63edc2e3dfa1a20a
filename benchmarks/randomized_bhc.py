"""Randomized BHC up to a million rows against exact BHC and others: time, truth found, memory."""

import importlib
import importlib.util
from typing import Any

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs
from benchmarks import machine
from benchmarks.timing import exponent, in_child, interleaved

SIZES, QUICK_SIZES = (10_000, 100_000, 1_000_000), (1_000, 4_000)
KINDS = ("separated", "outliers", "skewed", "nested", "overlapping")
LARGEST_FOR_BIRCH = 100_000  # its last step is quadratic in its sub-clusters
LARGEST_FOR_QUADRATIC = 10_000
EXACT, HDBSCAN, PACKAGE = "exact BHC", "HDBSCAN of scikit-learn", "hdbscan"


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    sizes = sorted(arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES))
    rows = []
    for kind in arguments.kinds or KINDS:
        found = [_measure(constants, kind, n, arguments.repeats) for n in sizes]
        ours = [group[0] for group in found]
        ours[-1]["exponent"] = exponent(sizes, [row["cpu_seconds"] for row in ours])
        rows += [row for group in found for row in group]
    return {"rows": rows}


def _measure(constants: dict[str, float], kind: str, n: int, repeats: int) -> list[dict[str, Any]]:
    from sklearn.metrics import adjusted_rand_score

    data = make_benchmark_blobs(kind, n, 10, random_state=0)
    works = contenders(data.X)
    found = interleaved(works, repeats)
    rows = []
    for name, times in found.items():
        row = {"kind": kind, "n": n, "who": name, "seconds": times["wall"], "cpu_seconds": times["seconds"]}
        row["ours_over_this"] = found["ours"]["wall"] / times["wall"]
        row["ari_with_truth"] = float(adjusted_rand_score(data.labels, times["result"].labels_))
        rows.append(row)
    rows[0] |= _about_ours(kind, n, {name: times["result"] for name, times in found.items()})
    rows[0]["over_floor"] = rows[0]["seconds"] / machine.randomized_floor(constants, n)
    if n <= LARGEST_FOR_QUADRATIC and PACKAGE not in works:
        rows.append({"kind": kind, "n": n, "who": PACKAGE, "note": "not measured: hdbscan is not installed"})
    return rows


def _about_ours(kind: str, n: int, fitted: dict[str, Any]) -> dict[str, Any]:
    """Memory and depth of our fit; how it agrees with the exact method where that was run."""
    from sklearn.metrics import adjusted_rand_score

    ours = fitted["ours"]
    memory = in_child("fit", model="RandomizedBHC", kind=kind, n=n, n_jobs=None)["megabytes_above_data"]
    about = {"megabytes_above_data": memory, "depth": ours.depth_}
    if EXACT not in fitted:
        return about
    exact = fitted[EXACT]
    return {
        **about,
        "ari_with_exact": float(adjusted_rand_score(exact.labels_, ours.labels_)),
        "bound_per_row_above_exact": (ours.log_evidence_ - exact.log_evidence_) / n,
    }


def contenders(X: Any) -> dict[str, Any]:
    """Each gives a fitted model, ours first; MiniBatchKMeans and Birch are told the number of clusters."""
    from sklearn.cluster import HDBSCAN as OfScikitLearn
    from sklearn.cluster import Birch, MiniBatchKMeans

    works = {
        "ours": lambda: bayesgrove.RandomizedBHC(random_state=0).fit(X),
        "MiniBatchKMeans(40)": lambda: MiniBatchKMeans(n_clusters=40, random_state=0, n_init=3).fit(X),
    }
    if len(X) <= LARGEST_FOR_BIRCH:
        # radius of a unit Gaussian in 10 columns; at the default .5 every row is its own sub-cluster
        works["Birch(40)"] = lambda: Birch(threshold=3.2, n_clusters=40).fit(X)
    if len(X) <= LARGEST_FOR_QUADRATIC:
        works[EXACT] = lambda: bayesgrove.BHC(random_state=0).fit(X)
        works[HDBSCAN] = lambda: OfScikitLearn(min_cluster_size=10, copy=True).fit(X)
        if importlib.util.find_spec(PACKAGE):
            works[PACKAGE] = lambda: importlib.import_module(PACKAGE).HDBSCAN(min_cluster_size=10).fit(X)
    return works
