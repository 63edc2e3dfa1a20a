"""The runs: cached and finished results are kept, the others are computed, one process or several."""

import argparse
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn

import bayesgrove
from benchmarks.scorecard import DATA, LIMIT_ROWS, methods, sets
from benchmarks.scorecard.measure import measure
from benchmarks.scorecard.store import Key, Row, Store

PEERS_FILE = Path(__file__).with_name("peers.csv")
"""Results of peers with the usual number of rows, kept under version control."""


class Task(NamedTuple):
    """One fit of one method to one set."""

    name: str
    method: str
    limit: int
    data: Path
    with_density: bool

    @property
    def key(self) -> Key:
        """Where its result is found."""
        version = bayesgrove.__version__ if self.method in methods.OURS else sklearn.__version__
        return self.name, self.method, self.limit, version


def run_all(names: Sequence[str], arguments: argparse.Namespace) -> list[Row]:
    """All rows that were asked for: finished before, cached, or computed now."""
    asked = methods.chosen(arguments)
    tasks = [
        Task(name, method, arguments.limit_rows, arguments.data, arguments.density)
        for name in names
        for method in asked
    ]
    stores = {True: Store(arguments.out / "results.csv"), False: Store(peers_file(arguments))}
    by_owner = {is_ours: [t for t in tasks if (t.method in methods.OURS) is is_ours] for is_ours in stores}
    to_do = unfinished(by_owner[True], stores[True], arguments)
    missing = unfinished(by_owner[False], stores[False], arguments)
    if missing and not arguments.peers:
        print(f"{len(missing)} results of peers are not cached for scikit-learn {sklearn.__version__} and at most "
              f"{arguments.limit_rows} rows; --peers computes them.", file=sys.stderr)  # fmt: skip
    compute(to_do + (missing if arguments.peers else []), stores, arguments)
    found = [stores[True].rows[task.key] for task in by_owner[True]]
    found += cached_peers(names, stores[False], arguments.limit_rows)
    stores[True].put(*found)
    return found


def cached_peers(names: Iterable[str], store: Store, limit: int) -> list[Row]:
    """All results of peers on these sets, whether or not they were asked for: ours are compared with them."""
    keys = [(name, peer, limit, sklearn.__version__) for name in names for peer in methods.PEERS]
    return [store.rows[key] for key in keys if key in store.rows]


def peers_file(arguments: argparse.Namespace) -> Path:
    """The committed cache, for its own data and number of rows only."""
    is_usual = arguments.limit_rows == LIMIT_ROWS and arguments.data.resolve() == DATA.resolve()
    return PEERS_FILE if is_usual else arguments.out / "peers.csv"


def unfinished(tasks: list[Task], store: Store, arguments: argparse.Namespace) -> list[Task]:
    """Tasks without a result, or all of them by force.

    Peers' results are only replaced on request, and their failures count as results: the same version fails again.
    """
    if store.path.name == PEERS_FILE.name:
        return [task for task in tasks if (arguments.force and arguments.peers) or task.key not in store.rows]
    return [task for task in tasks if arguments.force or not store.is_finished(task.key)]


def compute(tasks: list[Task], stores: dict[bool, Store], arguments: argparse.Namespace) -> None:
    """Run tasks and keep each result as soon as it is there."""
    for number, (task, row, labels) in enumerate(results_of(tasks, arguments.jobs), 1):
        is_ours = task.method in methods.OURS
        stores[is_ours].put(row)
        if is_ours and labels is not None:
            path = labels_file(arguments.out, task.name, task.method)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, labels.astype(np.int32))
        print(f"[{number}/{len(tasks)}] {line_of(row)}", file=sys.stderr, flush=True)


def results_of(tasks: list[Task], n_jobs: int) -> Iterator[tuple[Task, Row, Any]]:
    """Results as they are finished."""
    if n_jobs == 1:
        yield from ((task, *run_task(task)) for task in tasks)
        return
    with ProcessPoolExecutor(n_jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(run_task, task): task for task in tasks}
        for done in as_completed(waiting):
            yield waiting[done], *done.result()


def run_task(task: Task) -> tuple[Row, Any]:
    """The row of a task, with what its key needs, and the labels."""
    data = sets.read(task.name, task.data, task.limit)
    row, labels = measure(data, task.method, with_density=task.with_density)
    return {**row, "limit": task.limit, "version": task.key[-1]}, labels


def labels_file(out: Path, name: str, method: str) -> Path:
    """Where the labels of a fit are kept for pictures."""
    return out / "labels" / method / f"{name}.npy"


def line_of(row: Row) -> str:
    """A line on what was found."""
    told = [
        f"{name} {row[name]:.3g}" for name in ("ari", "clusters", "purity", "cpu_seconds") if row.get(name) is not None
    ]
    return f"{row['set']}, {row['method']}: {row.get('error') or ', '.join(told)}"
