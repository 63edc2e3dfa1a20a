"""15,000 sweeps on Animals (33 x 7, three levels) against the slow twin and a floor; sweeps per second on Fashion."""

import statistics
import sys
import time
from typing import Any

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from benchmarks.nested.chains import animal_rows, burnt_in, fashion_case, make_sampler, seconds_of, size_of
from benchmarks.timing import ROOT

STRENGTHS = (0.0, 0.01)
WANTED_SECONDS = {0.0: 5.0, 0.01: 8.0}
WANTED_RATIO = {0.0: 80.0, 0.01: 200.0}
FULL_SWEEPS, BURN_IN = 15_000, 300
TWIN_SWEEPS = {0.0: 10, 0.01: 4}
"""A round of the twin's; it takes as long as hundreds of ours."""
FLOOR_SWEEPS, MOST_TRIES = 500, 5
UNDERFLOWS = ("NaN", "math domain error")
"""What the twin says when a weight has become 0."""
WANTED_PER_SECOND = {0.0: 1000.0, 0.01: 600.0}
"""Sweeps on 100 x 10 images of clothes."""
MISSING = {"note": "not measured: set BAYESGROVE_DATA to the data's folder"}


@kernel
def floor_sweeps(rng, data, means, weights, chances, n_sweeps):
    """Densities of each datum under all components, their mixture at all nodes, one choice; new weights of all nodes.

    Nothing is taken out of the tree, put in, or kept up to date; candidates are the leaves and one branch below each
    inner node, as many as there are nodes.
    """
    n, d = data.shape
    n_components, n_nodes = means.shape[0], weights.shape[0]
    densities, totals, chosen = np.empty(n_components), np.empty(n_nodes), 0
    for _ in range(n_sweeps):
        for i in range(n):
            for k in range(n_components):
                distance = 0.0
                for j in range(d):
                    gap = data[i, j] - means[k, j]
                    distance += gap * gap
                densities[k] = np.exp(-0.5 * distance)
            total = 0.0
            for z in range(n_nodes):
                mixed = 0.0
                for k in range(n_components):
                    mixed += weights[z, k] * densities[k]
                total += chances[z] * mixed
                totals[z] = total
            left = rng.random() * total
            z = 0
            while z < n_nodes - 1 and totals[z] <= left:
                z += 1
            chosen += z
        for z in range(n_nodes):
            total = 0.0
            for k in range(n_components):
                weights[z, k] = rng.standard_gamma(1.0)
                total += weights[z, k]
            for k in range(n_components):
                weights[z, k] /= total
    return chosen


def floor_seconds(state: Any, data: np.ndarray, n_sweeps: int) -> float:
    """CPU seconds of sweeps that only compute what any must, with as many nodes and components as a state."""
    size = size_of(state)
    rng, n_slots = generator(0), size["components"] + 1
    means = rng.normal(size=(n_slots, data.shape[1]))
    weights = np.full((size["nodes"], n_slots), 1.0 / n_slots)
    arguments = rng, data, means, weights, np.full(size["nodes"], 1.0 / size["nodes"])
    floor_sweeps(*arguments, 1)
    start = time.process_time()
    floor_sweeps(*arguments, n_sweeps)
    return time.process_time() - start


def twin_seconds(sampler: Any, state: Any, n_sweeps: int, seed: int) -> float | None:
    """CPU seconds per sweep of the tests' twin from the same state; None where there are no tests."""
    folder = str(ROOT / "tests")
    if not (ROOT / "tests" / "reference" / "nested_moves.py").is_file():
        return None
    if folder not in sys.path:
        sys.path.append(folder)
    from reference.nested import Model
    from reference.nested_arrays import state_of
    from reference.nested_moves import sweep

    target = sampler.target
    model = Model(target.data, depth=target.depth, strength=target.strength, margin=target.margin)
    rng, arrays = generator(seed), sampler.draw(state)
    arrays.setdefault("discriminants", np.zeros((len(arrays["log_weights"]) - 1, target.data.shape[1])))
    own, total, n_done = state_of(arrays), 0.0, 0
    for _ in range(MOST_TRIES * n_sweeps):
        start = time.process_time()
        try:
            with np.errstate(invalid="ignore"):
                sweep(rng, model, own)
        except ValueError as error:
            if not any(word in str(error) for word in UNDERFLOWS):
                raise
            # its weights underflow now and then, as it has no logs of Dirichlet parameters
            own = state_of(arrays)
            continue
        total, n_done = total + time.process_time() - start, n_done + 1
        if n_done == n_sweeps:
            break
    return total / n_done if n_done else None


def measure(seed: int, n_sweeps: int, repeats: int) -> list[dict[str, Any]]:
    """One row for each table and strength."""
    X = animal_rows()
    if X is None:
        rows = [{"part": "sweeps", "data": "Animals", **MISSING}]
    else:
        rows = [compare(X, strength, seed, n_sweeps, repeats) for strength in STRENGTHS]
    return rows + measure_fashion(seed, n_sweeps // 5, repeats)


def measure_fashion(seed: int, n_sweeps: int, repeats: int) -> list[dict[str, Any]]:
    """Sweeps per CPU second, the median round."""
    case = fashion_case()
    if case is None:
        return [{"part": "sweeps", "data": "Fashion", **MISSING}]
    rows = []
    for strength in STRENGTHS:
        sampler = make_sampler(case.X, strength=strength, **case.settings)
        state, rng = burnt_in(sampler, seed, BURN_IN)
        n = max(1, n_sweeps // repeats)
        own = statistics.median(seconds_of(sampler, rng, state, n) / n for _ in range(repeats))
        wanted = WANTED_PER_SECOND[strength]
        row = {"part": "sweeps", "data": "Fashion 100 x 10", "C": strength, "sweeps": n * repeats}
        row |= {"ms_per_sweep": 1e3 * own, "sweeps_per_second": 1.0 / own, "wanted": f">= {wanted:g}"}
        rows.append({**row, "holds": 1.0 / own >= wanted})
    return rows


def compare(X: np.ndarray, strength: float, seed: int, n_sweeps: int, repeats: int) -> dict[str, Any]:
    """Our sweeps, the twin's and the floor in turns; the twin starts each round where our chain is."""
    sampler = make_sampler(X, strength=strength)
    state, rng = burnt_in(sampler, seed, BURN_IN)
    ours, twins, floors = [], [], []
    for number in range(repeats):
        ours.append(seconds_of(sampler, rng, state, n_sweeps // repeats) / (n_sweeps // repeats))
        sampler.refresh(state)
        twins.append(twin_seconds(sampler, state, TWIN_SWEEPS[strength], seed + number))
        floors.append(floor_seconds(state, X, FLOOR_SWEEPS) / FLOOR_SWEEPS)
    return row_of(strength, statistics.mean(ours), twins, statistics.mean(floors), n_sweeps)


def row_of(strength: float, own: float, twins: list[float | None], floor: float, n_sweeps: int) -> dict[str, Any]:
    """Seconds of 15,000 sweeps, ratios, and whether they are what is wanted."""
    row = {
        "part": "sweeps", "data": "Animals 33 x 7", "C": strength, "sweeps": n_sweeps, "ms_per_sweep": 1e3 * own,
        "seconds_of_15000": FULL_SWEEPS * own, "wanted_seconds": f"<= {WANTED_SECONDS[strength]:g}",
        "over_floor": own / floor,
    }  # fmt: skip
    holds = row["seconds_of_15000"] <= WANTED_SECONDS[strength]
    known = [seconds for seconds in twins if seconds is not None]
    if not known:
        return {**row, "holds": holds, "note": "twin not measured"}
    ratio = statistics.mean(known) / own
    row |= {"twin_ms": 1e3 * statistics.mean(known), "twin_over_ours": ratio}
    return {**row, "wanted_ratio": f">= {WANTED_RATIO[strength]:g}", "holds": holds and ratio >= WANTED_RATIO[strength]}
