"""Time pylace to the views and score hidden cells; runs in an environment of its own: `... lace_worker.py FOLDER`.

Reads `data.npz` (X, n_categories, views, rows, columns, values) and `task.json` (schedules, cap_seconds, score_seconds,
n_states, n_draws, seed, wanted) of the folder; prints one JSON line a schedule. Imports nothing of bayesgrove, which
that environment does not have.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

SCHEDULES = {
    "slice + sams": ("slice", ("slice", "sams")),
    "gibbs + sams": ("gibbs", ("gibbs", "sams")),
    "slice columns, gibbs rows + sams": ("slice", ("gibbs", "sams")),
    "gibbs columns, slice rows + 5 sams": ("gibbs", ("slice", "sams", "sams", "sams", "sams", "sams")),
    "default": None,
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


def make_engine(data, seed):
    """One state; categories as small whole numbers."""
    import polars
    from lace import Engine

    columns = {"ID": np.arange(len(data["X"]))}
    for j, n_categories in enumerate(data["n_categories"]):
        cells = data["X"][:, j]
        if n_categories == 0:
            columns[f"x{j}"] = polars.Series([None if np.isnan(x) else float(x) for x in cells], dtype=polars.Float64)
        else:
            columns[f"x{j}"] = polars.Series([None if np.isnan(x) else int(x) for x in cells], dtype=polars.UInt8)
    return Engine.from_df(polars.DataFrame(columns), n_states=1, rng_seed=seed)


def transitions(schedule):
    """Moves of one iteration: columns, rows, concentrations, priors of the columns."""
    if schedule is None:
        return None
    from lace import ColumnKernel, RowKernel, StateTransition

    column_kernel, row_kernels = schedule
    return [
        StateTransition.column_assignment(getattr(ColumnKernel, column_kernel)()),
        *(StateTransition.row_assignment(getattr(RowKernel, name)()) for name in row_kernels),
        StateTransition.component_parameters(),
        StateTransition.state_prior_process_params(),
        StateTransition.view_prior_process_params(),
        StateTransition.feature_priors(),
    ]


class Watched:
    """A state whose updates are timed; looking at it is not."""

    def __init__(self, data, schedule, seed):
        start = time.process_time()
        self.engine, self.moves = make_engine(data, seed), transitions(schedule)
        self.seconds, self.n_iterations = time.process_time() - start, 0

    def step(self, n=1):
        """Some iterations."""
        start = time.process_time()
        self.engine.update(n, transitions=self.moves, quiet=True)
        self.seconds += time.process_time() - start
        self.n_iterations += n

    def agreement(self, views):
        """ARI of the views with the truth."""
        return adjusted_rand(views, np.asarray(self.engine.column_assignment(0)))


def time_to_views(state, views, wanted, cap_seconds):
    """CPU seconds until the views agree with the truth for the first time."""
    while state.agreement(views) < wanted:
        if state.seconds >= cap_seconds:
            return None
        state.step()
    return state.seconds


def cell_probabilities(engine, data, j, values):
    """Probability (or density) of one value in each hidden cell of a column."""
    rows = data["rows"][data["columns"] == j]
    found = engine.surprisal(f"x{j}", rows=[str(i) for i in rows], values=values)
    series = found["surprisal"] if hasattr(found, "columns") else found
    return np.exp(-np.asarray(series.to_list(), float))


def draw_probabilities(engine, data):
    """For each hidden cell of the truth, and of each category."""
    width = max(1, int(data["n_categories"].max()))
    truth, by_category = np.zeros(data["rows"].size), np.full((data["rows"].size, width), np.nan)
    for j in np.unique(data["columns"]):
        cells = np.flatnonzero(data["columns"] == j)
        n_categories = int(data["n_categories"][j])
        if n_categories == 0:
            truth[cells] = cell_probabilities(engine, data, j, [float(v) for v in data["values"][cells]])
            continue
        for code in range(n_categories):
            by_category[cells, code] = cell_probabilities(engine, data, j, [code] * cells.size)
        truth[cells] = by_category[cells, data["values"][cells].astype(int)]
    return truth, by_category


def scored(states, data, task):
    """Mean log probability and accuracy of hidden cells, averaged over states and draws."""
    total = None
    for state in states:
        while state.seconds < task["score_seconds"]:
            state.step()
        for _ in range(task["n_draws"]):
            state.step(5)
            found = draw_probabilities(state.engine, data)
            total = found if total is None else tuple(a + b for a, b in zip(total, found, strict=True))
    n = len(states) * task["n_draws"]
    truth, by_category = total[0] / n, total[1] / n
    is_category = ~np.isnan(by_category[:, 0])
    hits = np.nanargmax(by_category[is_category], axis=1) == data["values"][is_category]
    return float(np.mean(np.log(truth))), float(np.mean(hits))


def run_schedule(data, task, name):
    """All states of one schedule."""
    states = [Watched(data, SCHEDULES[name], task["seed"] + k) for k in range(task["n_states"])]
    found = {"schedule": name}
    if task["wanted"] is not None:
        found["seconds"] = [
            time_to_views(state, data["views"], task["wanted"], task["cap_seconds"]) for state in states
        ]
    if name in task["scored"]:
        found["log_score"], found["accuracy"] = scored(states, data, task)
        found["ms_per_sweep"] = 1e3 * sum(s.seconds for s in states) / sum(s.n_iterations for s in states)
    return found


def main(folder):
    """Every schedule in turn."""
    task = json.loads((folder / "task.json").read_text())
    with np.load(folder / "data.npz", allow_pickle=False) as arrays:
        data = {name: arrays[name] for name in arrays.files}
    small = {**data, "X": data["X"][:50]}
    Watched(small, SCHEDULES["slice + sams"], 0).step(2)  # whatever is slow only once
    for name in task["schedules"]:
        print(json.dumps(run_schedule(data, task, name)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
