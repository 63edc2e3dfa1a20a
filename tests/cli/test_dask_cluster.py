"""`--cluster` from end to end: a real scheduler and workers as users start them, on this machine alone."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.cli.main import main
from bayesgrove.inference.status import read_chains

pytest.importorskip("distributed")
pytestmark = [pytest.mark.unit, pytest.mark.slow]

PATIENCE = 600
SETTINGS = ["--set", "n_chains=2", "--set", "n_tune=10", "--set", "n_draws={}"]


@contextlib.contextmanager
def running(*words):
    """A command of dask's in a process of its own, with all it started ended together."""
    with subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, words)], start_new_session=True, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of a scheduler that has two workers."""
    place = tmp_path_factory.mktemp("dask")
    told, local = place / "scheduler.json", ("--local-directory", place)
    scheduler = ("--host", "127.0.0.1", "--port", 0, "--dashboard-address", ":0", "--scheduler-file", told)
    worker = ("--nworkers", 2, "--nthreads", 1, "--host", "127.0.0.1", "--no-dashboard", *local)
    with running("scheduler", *scheduler):
        found = patiently(lambda: told.exists() and json.loads(told.read_text()))["address"]
        with running("worker", found, *worker):
            yield found


def patiently(ask):
    """The first answer that is not false."""
    give_up = time.monotonic() + PATIENCE
    while not (found := ask()):
        assert time.monotonic() < give_up
        time.sleep(0.1)
    return found


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(centre, 1, (60, 2)) for centre in (0, 4)])
    np.savetxt(tmp_path / "table.csv", rows, delimiter=",", header="x,y", comments="")
    return tmp_path / "table.csv"


def fit_words(table, out, n_draws, *more):
    settings = [word.format(n_draws) for word in SETTINGS]
    return ["fit", "nrm-mixture", str(table), "--out", str(out), "--seed", "3", *settings, *more]


def draws(run: Path):
    return [trace.arrays()["labels"].tobytes() for trace in read_chains(run / "chains")]


def test_a_fit_on_a_cluster_is_the_fit_without(address, table, tmp_path):
    assert main(fit_words(table, tmp_path / "here", 30)) == 0
    assert main(fit_words(table, tmp_path / "there", 30, "--cluster", address)) == 0
    for name in ("labels.csv", "tree.newick"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    assert draws(tmp_path / "there") == draws(tmp_path / "here")


def test_a_killed_command_is_resumed_on_the_cluster(address, table, tmp_path):
    n_draws, run = 40_000, tmp_path / "there"
    command = [sys.executable, "-m", "bayesgrove.cli", *fit_words(table, run, n_draws, "--cluster", address)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        patiently(lambda: n_stored(run) > 50)
        process.kill()
    assert n_stored(run) < 2 * n_draws
    patiently(lambda: main(["resume", str(run), "--cluster", address]) == 0)  # workers let go of the logs in their time
    assert main(fit_words(table, tmp_path / "here", n_draws)) == 0
    assert draws(run) == draws(tmp_path / "here")


def n_stored(run: Path) -> int:
    """Draws of all chains so far."""
    if not (run / "chains" / "run.json").exists():
        return 0
    return sum(trace.n_draws for trace in read_chains(run / "chains"))


def test_a_sweep_on_a_cluster_is_the_sweep_without(address, table, tmp_path):
    words = ["sweep", "bhmc", str(table), "--set", "n_chains=1", "--set", "n_tune=2", "--set", "n_draws=5"]
    words += ["--grid", "depth=2,3", "--repeats", "2"]
    assert main([*words, "--out", str(tmp_path / "here")]) == 0
    assert main([*words, "--out", str(tmp_path / "there"), "--cluster", address]) == 0
    here, there = (timeless(tmp_path / place / "results.csv") for place in ("here", "there"))
    assert there == here
    assert len(here) == 5


def timeless(path: Path) -> list[list[str]]:
    """Lines of cells without the seconds."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    at = lines[0].index("seconds")
    return [cells[:at] + cells[at + 1 :] for cells in lines]
