"""Time pylace to a target; runs in an environment of its own: `.venv-lace/bin/python lace_worker.py FOLDER`.

Reads `data.npz` (X, labels) and `task.json` (target_ari, cap_seconds, seed, schedules) of the folder; prints one JSON
line a schedule. With `kernels` and `n_sweeps`, goes on from where the last schedule arrived and prints a line for each
kernel: what a sweep over all rows takes. Imports nothing of bayesgrove, which that environment does not have.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

SCHEDULES = {
    "20 split-merge + slice": ("sams",) * 20 + ("slice",),
    "50 split-merge + slice": ("sams",) * 50 + ("slice",),
    "20 split-merge + gibbs": ("sams",) * 20 + ("gibbs",),
    "5 split-merge + gibbs": ("sams",) * 5 + ("gibbs",),
    "5 split-merge + slice": ("sams",) * 5 + ("slice",),
    "gibbs": ("gibbs",),
    "slice": ("slice",),
}


def adjusted_rand(first, second):
    """Agreement of two partitions, 1 where equal, 0 by chance."""
    first, second = (np.unique(labels, return_inverse=True)[1] for labels in (first, second))
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    both, rows, columns = (pairs(counts) for counts in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = rows * columns / pairs(np.array([first.size]))
    return float((both - chance) / (0.5 * (rows + columns) - chance))


def pairs(counts):
    """Number of pairs within blocks of these sizes."""
    return float((counts * (counts - 1.0) / 2.0).sum())


def make_engine(X, seed):
    """One chain with all columns in one view."""
    import polars
    from lace import Engine

    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    frame = polars.DataFrame({"ID": np.arange(len(X)), **columns})
    return Engine.from_df(frame, n_states=1, rng_seed=seed, flat_columns=True)


def transitions(kernels):
    """Moves of one iteration: rows, then concentration and the columns' priors. Columns never change their view."""
    from lace import RowKernel, StateTransition

    rows = [StateTransition.row_assignment(getattr(RowKernel, name)()) for name in kernels]
    return [*rows, StateTransition.view_prior_process_params(), StateTransition.feature_priors()]


def time_to_target(X, labels, kernels, target_ari, cap_seconds, seed):
    """CPU and wall seconds until the iteration of largest score agrees with the truth; looking is not counted."""
    cpu, wall = time.process_time(), time.perf_counter()
    engine, moves = make_engine(X, seed), transitions(kernels)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    best_score, ari, n_iterations = -np.inf, 0.0, 0
    while ari < target_ari and cpu < cap_seconds:
        cpu_before, wall_before = time.process_time(), time.perf_counter()
        engine.update(1, transitions=moves, quiet=True)
        cpu += time.process_time() - cpu_before
        wall += time.perf_counter() - wall_before
        n_iterations += 1
        score = float(engine.diagnostics("score")[-1, 0])
        if score > best_score:
            best_score, ari = score, adjusted_rand(labels, engine.row_assignments(0)[0])
    found = {"seconds": cpu, "wall_seconds": wall, "ari": ari, "sweeps": n_iterations, "reached": ari >= target_ari}
    return found, engine


def time_of_sweep(engine, labels, kernel, n_sweeps):
    """CPU seconds of a sweep over all rows and nothing else, and where the chain is."""
    from lace import RowKernel, StateTransition

    moves = [StateTransition.row_assignment(getattr(RowKernel, kernel)())]
    engine.update(1, transitions=moves, quiet=True)
    start = time.process_time()
    engine.update(n_sweeps, transitions=moves, quiet=True)
    seconds = (time.process_time() - start) / n_sweeps
    found = engine.row_assignments(0)[0]
    return {"cpu_seconds": seconds, "clusters": len(set(found)), "ari": adjusted_rand(labels, found)}


def main(folder):
    """Every schedule in turn; one that is slower than the best so far is cut short."""
    task = json.loads((folder / "task.json").read_text())
    with np.load(folder / "data.npz", allow_pickle=False) as arrays:
        X, labels = arrays["X"], arrays["labels"]
    time_to_target(X[:200], labels[:200], SCHEDULES["5 split-merge + slice"], 2.0, 0.05, task["seed"])
    cap = task["cap_seconds"]
    for name in task["schedules"]:
        found, engine = time_to_target(X, labels, SCHEDULES[name], task["target_ari"], cap, task["seed"])
        if found["reached"]:
            cap = min(cap, found["seconds"])
        print(json.dumps({"schedule": name, **found}), flush=True)
    for kernel in task.get("kernels", ()):
        print(json.dumps({"kernel": kernel, **time_of_sweep(engine, labels, kernel, task["n_sweeps"])}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
