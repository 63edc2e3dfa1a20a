"""Batches of the long proof; what must hold is asserted, what came is counted."""

import random
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing.soak import ROOT

sys.path.append(str(ROOT / "tests"))

import joblib

import bayesgrove as bg
from bayesgrove.core.errors import InvalidFileError, RunStoppedError
from reference.damage import damaged
from reference.dask_kills import kill_one_worker
from reference.estimators import chain_estimators, data_for, make, public_estimators, same_draws
from reference.kills import n_rounds_with_draws
from statistical.test_every_kill import Nursery, kill_and_resume

Batch = Callable[[str, int, Path, Counter[str]], None]
"""Takes an estimator's name, the number of the batch, a folder, and the counts to add to."""
N_KILLS, N_RUNS, N_FILES, N_WORKERS = 10, 25, 250, 4
"""Events of a batch."""
REFUSALS = (InvalidFileError, RunStoppedError)


def kills(name: str, batch: int, folder: Path, counts: Counter[str]) -> None:
    """Kill chains again and again: no draw is lost or invented, and the run ends with the draws of one left alone."""
    with Nursery() as nursery:
        history, whole, found = kill_and_resume(name, nursery, folder, N_KILLS, random.Random(f"{name} {batch}"))
    counts["events"] += n_rounds_with_draws(history)  # a kill after the last draw proves nothing
    assert same_draws(found, whole), "other draws after the kills"
    counts["same"] += n_rounds_with_draws(history)


@cache
def fitted(name: str) -> Any:
    """A quick fit."""
    return make(name, n_jobs=1).fit(data_for(name))


def runs(name: str, batch: int, folder: Path, counts: Counter[str]) -> None:
    """Damage files of a run: it goes on to the same draws, or is refused; a refused one is repaired where it can be."""
    whole, moments = folder / "whole", random.Random(f"{name} {batch}")
    make(name, n_jobs=1, run_dir=whole).fit(data_for(name))
    files = sorted(path.name for path in whole.iterdir() if path.suffix in (".log", ".json"))
    for turn in range(N_RUNS):
        copy = folder / f"copy-{turn}"
        shutil.copytree(whole, copy)
        path = copy / moments.choice(files)
        path.write_bytes(damaged(path.read_bytes(), moments))
        counts[outcome_of(name, copy)] += 1
        counts["events"] += 1
        shutil.rmtree(copy)


def outcome_of(name: str, run: Path) -> str:
    """What became of a damaged run: "same", "repaired" or "refused"."""
    for resume, outcome in ((True, "same"), ("repair", "repaired")):
        try:
            model = make(name, n_jobs=1, run_dir=run, resume=resume).fit(data_for(name))
        except REFUSALS:
            continue
        assert same_draws(model, fitted(name)), f"other draws, resume={resume!r}"
        return outcome
    return "refused"


def models(name: str, batch: int, folder: Path, counts: Counter[str]) -> None:
    """Damage model files: they are refused, or have all that was saved."""
    path, again, moments = folder / "model.bg", folder / "again.bg", random.Random(f"{name} {batch}")
    fitted(name).save(path)
    whole = path.read_bytes()
    for _ in range(N_FILES):
        path.write_bytes(damaged(whole, moments))
        counts["events"] += 1
        try:
            loaded = bg.load(path)
        except InvalidFileError:
            counts["refused"] += 1
        else:
            loaded.save(again)
            assert again.read_bytes() == whole, "a damaged file was read as another model"
            counts["same"] += 1


def workers(name: str, batch: int, folder: Path, counts: Counter[str]) -> None:
    """Kill workers of a Dask cluster while chains run there: the draws are those of this process."""
    import distributed

    settings = {"n_chains": 4, "n_draws": 4_000}
    alone = make(name, n_jobs=1, **settings).fit(data_for(name))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        done, is_over = [], threading.Event()
        thread = threading.Thread(target=kill_workers, args=(client, done, is_over))
        thread.start()
        while len(done) < N_WORKERS and thread.is_alive():
            with joblib.parallel_config(backend="dask"):
                assert same_draws(make(name, **settings).fit(data_for(name)), alone), "other draws after the kills"
        is_over.set()
        thread.join()
    counts["events"] += len(done)
    counts["same"] += len(done)
    assert len(done) == N_WORKERS, "workers were not replaced"


def kill_workers(client: Any, done: list[int], is_over: threading.Event) -> None:
    """Kill some workers, one after the other."""
    moments = random.Random(len(done))
    while len(done) < N_WORKERS and not is_over.wait(moments.uniform(0.5, 2.0)):
        kill_one_worker(client, done)


PARTS: dict[str, tuple[Batch, list[str]]] = {
    "kills": (kills, chain_estimators()),
    "runs": (runs, chain_estimators()),
    "models": (models, list(public_estimators())),
    "workers": (workers, ["NRMMixture", "CrossCat"]),
}
"""What runs a batch, and the estimators that take turns."""
