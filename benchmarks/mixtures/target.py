"""Time to target: raw data to an ARI of .95 with the truth, kernels warm, every contender on the same data in turn."""

import statistics
from collections.abc import Callable
from typing import Any

from benchmarks.mixtures import peers
from benchmarks.mixtures.chains import warm_up
from benchmarks.mixtures.data import Blobs, draw_blobs

OURS = "ours (tree-guided)"
LACE = "pylace, its best schedule"
VARIATIONAL = "BayesianGaussianMixture(100)"
WANTED = {(LACE, 20): 20.0, (LACE, 50): 20.0, (VARIATIONAL, 20): 10.0, (VARIATIONAL, 50): 5.0}
N_COLUMNS, JUDGED_ROWS = 10, 10_000
CAPS = {"full": (60.0, 60.0, 400.0), "quick": (3.0, 5.0, 30.0)}
"""CPU seconds after which we are stopped; multiples of our time after which our baselines and the others are."""
LEAST_CAP_SECONDS = 0.5

Contender = Callable[[Blobs, int, float], peers.Found]


def contenders() -> dict[str, Contender]:
    """Ours comes first: its time sets the others' limits."""
    found: dict[str, Contender] = {
        OURS: peers.ours("tree-guided", "guide"),
        "our tree-guided from one cluster": peers.ours("tree-guided", "one"),
        "our Jain-Neal from one cluster": peers.ours("split-merge", "one"),
        "our Gibbs from one cluster": peers.ours("gibbs", "one"),
        VARIATIONAL: peers.variational,
    }
    if peers.has_lace():
        found[LACE] = peers.lace
    return found


def measure(n: int, cluster_counts: list[int], seeds: list[int], mode: str) -> list[dict[str, Any]]:
    """One row a contender for each kind of data and number of clusters."""
    warm_up(draw_blobs(0, min(n, 2_500), N_COLUMNS, 5, "separated").X)
    peers.variational(draw_blobs(0, 300, N_COLUMNS, 5, "separated"), 0, 0.1)
    rows = []
    for n_clusters in cluster_counts:
        for kind in ("separated", "overlapping"):
            rows += _rows(n, n_clusters, kind, seeds, mode)
    return rows


def _rows(n: int, n_clusters: int, kind: str, seeds: list[int], mode: str) -> list[dict[str, Any]]:
    works = contenders()
    found: dict[str, list[peers.Found]] = {name: [] for name in works}
    oracles = []
    for seed in seeds:
        data = draw_blobs(seed, n, N_COLUMNS, n_clusters, kind)
        oracles.append(data.oracle_ari)
        for name, times in run_in_turn(works, data, seed, mode).items():
            found[name].append(times)
    about = {"part": "target", "data": f"{n} x {N_COLUMNS} {kind}", "clusters": n_clusters}
    about["oracle_ari"] = statistics.median(oracles)
    rows = [
        {**about, "who": name, **summary(times, found[OURS], wanted_of(name, n, n_clusters))}
        for name, times in found.items()
    ]
    if not peers.has_lace():
        rows.append({**about, "who": LACE, "note": "not measured: run make bench-peers"})
    return rows


def run_in_turn(works: dict[str, Contender], data: Blobs, seed: int, mode: str) -> dict[str, peers.Found]:
    """Each contender once, ours first; the others' limits are multiples of our time."""
    first, baseline, other = CAPS[mode]
    found = {OURS: works[OURS](data, seed, first)}
    for name, work in works.items():
        if name != OURS:
            share = baseline if name.startswith("our") else other
            found[name] = work(data, seed, max(LEAST_CAP_SECONDS, share * found[OURS].seconds))
    return found


def wanted_of(name: str, n: int, n_clusters: int) -> float | None:
    """The ratio that is to be reached; none for smaller tables, where our start is most of the time."""
    return WANTED.get((name, n_clusters)) if n >= JUDGED_ROWS else None


def summary(times: list[peers.Found], ours: list[peers.Found], wanted: float | None) -> dict[str, Any]:
    """Medians over seeds; a contender that did not always arrive has at least the ratio shown."""
    ratios = [time.seconds / own.seconds for time, own in zip(times, ours, strict=True)]
    ratio = statistics.median(ratios)
    n_reached = sum(time.reached for time in times)
    row = {
        "reached": f"{n_reached}/{len(times)}",
        "cpu_seconds": statistics.median(time.seconds for time in times),
        "wall_seconds": statistics.median(time.wall_seconds for time in times),
        "sweeps": statistics.median(time.sweeps for time in times),
        "ari": statistics.median(time.ari for time in times),
        "this_over_ours": ratio,
        "least_ratio": min(ratios),
        "largest_ratio": max(ratios),
        "at_least": n_reached < len(times),
        "note": ", ".join(sorted({time.note for time in times if time.note})),
    }
    if wanted is not None:
        row |= {"wanted": f">= {wanted:g}", "holds": ratio >= wanted and all(own.reached for own in ours)}
    return row
