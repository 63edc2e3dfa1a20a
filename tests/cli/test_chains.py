"""Runs of Markov chains on the command line: fit, status, resume, export; runs that were stopped; damaged folders."""

import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bayesgrove import NRMMixture, load
from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.core.rng import generator
from bayesgrove.inference.status import run_status

pytestmark = pytest.mark.unit

SETTINGS = ["--set", "n_chains=2", "--set", "n_tune=5", "--set", "likelihood=gaussian", "--seed", "3"]


@pytest.fixture(autouse=True)
def real_loader(fake_models, monkeypatch):
    """Undo what the other tests of this folder put in place."""
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Forty rows in two clear clusters."""
    rng = generator(0)
    values = np.vstack([rng.normal(centre, 1, (20, 2)) for centre in (0, 8)])
    path = tmp_path_factory.mktemp("data") / "table.csv"
    np.savetxt(path, values, delimiter=",", header="a,b", comments="")
    return path


@pytest.fixture(scope="module")
def finished(table, tmp_path_factory):
    """The folder of a run that came to its end."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(["fit", "nrm-mixture", str(table), "--out", str(folder), *SETTINGS, "--set", "n_draws=30"]) == 0
    return folder


@pytest.fixture
def run(finished, tmp_path):
    """A copy that may be changed."""
    return shutil.copytree(finished, tmp_path / "run")


def test_fit_shows_clusters_draws_and_the_verdict(table, tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["fit", "nrm-mixture", str(table), "--out", str(folder), *SETTINGS, "--set", "n_draws=30"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "2 clusters of 40 rows",
        "one with its neighbour",
        "number of clusters in the draws",
        "onverged",
        "run  ",
    ):
        assert words in shown
    files = {path.name for path in folder.iterdir()}
    assert {"chains", "request.json", "model.bg", "labels.csv", "summary.json", "tree.newick"} <= files
    assert "verdict" in json.loads((folder / "summary.json").read_text())
    assert load(folder / "model.bg").posterior_.n_draws == 30


def test_status_of_a_run_that_has_ended(run, capsys):
    assert main(["status", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "NRMMixture: all draws made" in shown
    assert shown.count("30 of 30") == 2
    assert "resume" not in shown


def test_status_of_a_folder_made_from_python(table, tmp_path, capsys):
    values = np.loadtxt(table, delimiter=",", skiprows=1)
    NRMMixture(n_chains=1, n_tune=2, n_draws=4, likelihood="gaussian", run_dir=tmp_path / "own", random_state=0).fit(
        values
    )
    assert main(["status", str(tmp_path / "own")]) == 0
    assert "4 of 4" in capsys.readouterr().out


def test_a_longer_run_is_the_one_that_was_longer_from_the_start(run, table, tmp_path):
    assert main(["resume", str(run), "--draws", "50"]) == 0
    whole = tmp_path / "whole"
    assert main(["fit", "nrm-mixture", str(table), "--out", str(whole), *SETTINGS, "--set", "n_draws=50"]) == 0
    ours, theirs = (load(folder / "model.bg").posterior_.labels for folder in (run, whole))
    np.testing.assert_array_equal(ours, theirs)


def test_a_table_that_has_moved_is_found_by_data(run, table, tmp_path, capsys):
    request = json.loads((run / "request.json").read_text())
    (run / "request.json").write_text(json.dumps(request | {"data": str(tmp_path / "gone.csv")}))
    assert main(["resume", str(run)]) == 2
    assert "gone.csv" in capsys.readouterr().err
    assert main(["resume", str(run), "--data", str(table)]) == 0


def test_another_table_is_refused_and_nothing_is_lost(run, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n" + "\n".join(f"{i},{i}" for i in range(40)) + "\n")
    assert main(["resume", str(run), "--data", str(other)]) == 2
    assert "belongs to another run" in capsys.readouterr().err
    assert load(run / "model.bg").posterior_.n_draws == 30


def test_draws_go_to_netcdf(run, tmp_path, capsys):
    import xarray

    assert main(["export", str(run), "--format", "netcdf"]) == 2
    assert "needs --output" in capsys.readouterr().err
    assert main(["export", str(run), "--format", "netcdf", "-o", str(tmp_path / "draws.nc")]) == 0
    with xarray.open_datatree(tmp_path / "draws.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["labels"].shape == (2, 30, 40)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda run: (run / "request.json").unlink(), "no chains to go on with"),
        (lambda run: (run / "request.json").write_text("{"), "is not JSON"),
        (lambda run: (run / "request.json").write_text('{"model": "nrm-mixture"}'), "is damaged"),
        (lambda run: (run / "request.json").write_text("[]"), "is damaged"),
    ],
)
def test_a_damaged_request_is_refused(run, capsys, damage, complaint):
    damage(run)
    assert main(["resume", str(run)]) == 2
    assert complaint in capsys.readouterr().err


def test_a_run_that_has_not_ended_is_not_begun_again_by_mistake(run, table, capsys):
    (run / "summary.json").unlink()
    words = ["fit", "nrm-mixture", str(table), "--out", str(run), *SETTINGS, "--set", "n_draws=10"]
    assert main(words) == 2
    assert f"bayesgrove resume {run}" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    assert load(run / "model.bg").posterior_.n_draws == 10


def test_status_of_nothing(tmp_path, capsys):
    assert main(["status", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err


def test_ctrl_c_says_how_to_go_on_and_loses_nothing(table, tmp_path, capsys):
    folder = tmp_path / "stopped"
    words = ["fit", "nrm-mixture", str(table), "--out", str(folder), *SETTINGS, "--set", "n_draws=1000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "bayesgrove.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    wait_for_draws(folder / "chains", 20)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"bayesgrove resume {folder}" in told
    n_safe = run_status(folder / "chains").chains[0].n_draws
    assert main(["status", str(folder)]) == 0
    assert "stopped before the end" in capsys.readouterr().out
    assert main(["resume", str(folder), "--draws", "15"]) == 0
    assert load(folder / "model.bg").posterior_.n_draws == 15
    assert run_status(folder / "chains").chains[0].n_draws == n_safe


def wait_for_draws(chains, wanted):
    """Until the first chain has so many draws in its log; two minutes at most, for kernels may have to be compiled."""
    for _ in range(1_200):
        if (chains / "run.json").exists() and run_status(chains).chains[0].n_draws >= wanted:
            return
        time.sleep(0.1)
    raise AssertionError("the run made no draws in two minutes")
