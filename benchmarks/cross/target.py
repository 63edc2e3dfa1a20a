"""CrossCat against pylace: time to the true views, prediction of hidden cells, how many states get there."""

import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cross.data import TABLES, Hidden
from benchmarks.cross.ours import Chain, draw_probabilities, time_to_views
from benchmarks.mixtures.peers import LACE_PYTHON, THREADS, has_lace

LACE_WORKER = Path(__file__).with_name("lace_worker.py")
LACE_SCHEDULES = ("gibbs + sams", "slice + sams", "gibbs columns, slice rows + 5 sams")
WANTED_ARI, N_STATES, N_DRAWS, SWEEPS_BETWEEN = 0.95, 4, 5, 5
WANTED = {"binary": 5.0, "mixed": 3.0}
CAPS = {"binary": 5.0, "mixed": 12.0}
SCORE_SECONDS = {"binary": 1.0, "mixed": 5.0, "zoo": 0.5}
"""CPU seconds of each state before the first of the draws that are scored, the same on both sides."""
WORST_SCORE, RANGE = 0.003, 3.0
"""Nats per cell that we may be behind; states count within so many times sqrt(cells) of the best."""
MEANS, LISTED = ("log_score", "accuracy", "ms_per_sweep"), ("seconds", "near_best")
PEER = "pylace, its best schedule"


def measure(seeds: list[int], *, quick: bool) -> list[dict[str, Any]]:
    """One row a table and contender."""
    kinds = ("zoo",) if quick else tuple(TABLES)
    rows = []
    for kind in kinds:
        tables = {seed: TABLES[kind](seed) for seed in seeds}
        if not tables[seeds[0]]:
            rows.append({"part": "cells", "data": kind, "note": "no data found"})
            continue
        warm_up(tables[seeds[0]][0])
        ours = [seed_mean([our_states(kind, table, seed) for table in tables[seed]]) for seed in seeds]
        theirs = [[lace_states(kind, table, seed) for table in tables[seed]] for seed in seeds]
        by_schedule = [[seed_mean(list(entries)) for entries in zip(*found, strict=True)] for found in theirs]
        rows += table_rows(kind, tables[seeds[0]][0], ours, by_schedule)
    return rows


def seed_mean(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """One entry for the tables of a seed: means of scores, and all times and flags."""
    means = {name: statistics.mean(entry[name] for entry in entries) for name in MEANS}
    listed = {name: [one for entry in entries for one in entry[name]] for name in LISTED if name in entries[0]}
    return {"schedule": entries[0]["schedule"], **means, **listed}


def warm_up(table: Hidden) -> None:
    """Compile, or read from the cache, what the chains use."""
    chain = Chain(table, 0, 0)
    chain.step(12)
    draw_probabilities(chain, table)


def our_states(kind: str, table: Hidden, seed: int) -> dict[str, Any]:
    """Times to the views, score and log joints of four states."""
    chains = [Chain(table, seed, number) for number in range(N_STATES)]
    found: dict[str, Any] = {"schedule": "default"}
    if table.views is not None:
        found["seconds"] = [time_to_views(chain, table.views, WANTED_ARI, CAPS[kind]) for chain in chains]
    total: tuple[np.ndarray, np.ndarray] | None = None
    for chain in chains:
        while chain.seconds < SCORE_SECONDS[kind]:
            chain.step()
        for _ in range(N_DRAWS):
            chain.step(SWEEPS_BETWEEN)
            own = draw_probabilities(chain, table)
            total = own if total is None else (total[0] + own[0], total[1] + own[1])
    log_joints = np.array([chain.log_joint for chain in chains])
    near = log_joints.max() - log_joints <= RANGE * np.sqrt(table.X.size)
    found |= scored(table, total, N_STATES * N_DRAWS)
    return found | {
        "near_best": near.tolist(),
        "ms_per_sweep": 1e3 * sum(c.seconds for c in chains) / sum(c.n_sweeps for c in chains),
    }


def scored(table: Hidden, total: Any, n: int) -> dict[str, float]:
    """Mean log probability of the hidden cells, and accuracy where they are categories."""
    truth, by_category = total[0] / n, total[1] / n
    is_category = table.n_categories[table.columns] > 0
    hits = np.nanargmax(by_category[is_category], axis=1) == table.values[is_category]
    return {"log_score": float(np.mean(np.log(truth))), "accuracy": float(np.mean(hits))}


def lace_states(kind: str, table: Hidden, seed: int) -> list[dict[str, Any]]:
    """The same of pylace, one entry a schedule; nothing where it is not installed."""
    if not has_lace():
        return []
    has_views = table.views is not None
    task = {
        "schedules": LACE_SCHEDULES, "scored": LACE_SCHEDULES, "cap_seconds": CAPS.get(kind, 0.0),
        "score_seconds": SCORE_SECONDS[kind], "n_states": N_STATES, "n_draws": N_DRAWS, "seed": seed,
        "wanted": WANTED_ARI if has_views else None,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        arrays = {name: value for name, value in table._asdict().items() if isinstance(value, np.ndarray)}
        np.savez(Path(folder) / "data.npz", **arrays)
        (Path(folder) / "task.json").write_text(json.dumps(task))
        environment = {**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, **dict.fromkeys(THREADS, "1")}
        command = [str(LACE_PYTHON), str(LACE_WORKER), folder]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=7200, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def times_of(found: list[dict[str, Any]], cap: float) -> list[float]:
    """Seconds of all states; one that did not arrive has at least the limit."""
    return [cap if seconds is None else seconds for entry in found for seconds in entry["seconds"]]


def best_schedule(theirs: list[list[dict[str, Any]]], cap: float, *, has_views: bool) -> list[dict[str, Any]]:
    """Entries of the schedule of least median time, or of the best score, on these very tables: a favour to it."""

    def badness(entries: tuple[dict[str, Any], ...]) -> float:
        if has_views:
            return statistics.median(times_of(list(entries), cap))
        return -statistics.mean(entry["log_score"] for entry in entries)

    return list(min(zip(*theirs, strict=True), key=badness))


def table_rows(
    kind: str, table: Hidden, ours: list[dict[str, Any]], theirs: list[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Our row and the peer's."""
    has_views, cap, about = table.views is not None, CAPS.get(kind, 0.0), {"part": "cells", "data": table.name}
    near = [flag for entry in ours for flag in entry["near_best"]]
    first = {**about, "who": "CrossCat", **summary(ours, cap, has_views=has_views)}
    first["near_best"] = f"{sum(near)}/{len(near)}"
    first["holds"] = sum(near) >= 0.95 * len(near)
    if not theirs[0]:
        return [first, {**about, "who": PEER, "note": "not measured: run make bench-peers"}]
    best = best_schedule(theirs, cap, has_views=has_views)
    row = {**about, "who": PEER, **summary(best, cap, has_views=has_views), "schedule": best[0]["schedule"]}
    behind = [b["log_score"] - a["log_score"] for a, b in zip(ours, best, strict=True)]
    row |= {"least_ahead_per_cell": -max(behind), "most_ahead_per_cell": -min(behind)}
    row["ours_ahead_in_accuracy"] = first["accuracy"] - row["accuracy"]
    row["holds"] = max(behind) <= WORST_SCORE
    if has_views:
        ratio = statistics.median(times_of(best, cap)) / statistics.median(times_of(ours, cap))
        row |= {"time_over_ours": ratio, "wanted": f">= {WANTED[kind]:g}"}
        row["holds"] = row["holds"] and ratio >= WANTED[kind]
    return [first, row, *schedule_rows(about, first["ms_per_sweep"], theirs)]


def schedule_rows(about: dict[str, Any], own: float, theirs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Sweeps of each schedule against ours, though time to the views is what counts."""
    rows = []
    for entries in zip(*theirs, strict=True):
        found = statistics.median(entry["ms_per_sweep"] for entry in entries)
        who = f"pylace, {entries[0]['schedule']}"
        rows.append({**about, "who": who, "ms_per_sweep": found, "sweep_over_ours": found / own})
    return rows


def summary(found: list[dict[str, Any]], cap: float, *, has_views: bool) -> dict[str, Any]:
    """Medians and means over tables."""
    row: dict[str, Any] = {}
    if has_views:
        seconds = [s for entry in found for s in entry["seconds"]]
        row["reached"] = f"{sum(s is not None for s in seconds)}/{len(seconds)}"
        row["median_seconds"] = statistics.median(times_of(found, cap))
    return row | {
        "ms_per_sweep": statistics.median(entry["ms_per_sweep"] for entry in found),
        "log_score": statistics.mean(entry["log_score"] for entry in found),
        "accuracy": statistics.mean(entry["accuracy"] for entry in found),
    }
