"""Runs of Markov chains on the command line: fit, status, resume, export; runs that were stopped; damaged folders."""

import io
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bayesgrove import NRMMixture, load
from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.cli.run_folder import OLD
from bayesgrove.cli.show import verdict_for_shell, with_pair_names
from bayesgrove.cli.watch import RunSource
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


def test_dropped_columns_stay_dropped_when_a_run_goes_on(table, tmp_path):
    other, folder = tmp_path / "more.csv", tmp_path / "run"
    lines = table.read_text().splitlines()
    other.write_text("\n".join([f"{lines[0]},c", *(f"{line},word{i}" for i, line in enumerate(lines[1:]))]) + "\n")
    words = ["--drop", "c", *SETTINGS, "--set", "n_draws=10"]
    assert main(["fit", "nrm-mixture", str(other), "--out", str(folder), *words]) == 0
    (folder / "summary.json").unlink()  # as if it had been stopped
    assert RunSource(folder).result().feature_names == ("a", "b")
    assert main(["resume", str(folder), "--draws", "12"]) == 0
    assert json.loads((folder / "summary.json").read_text())["drop"] == ["c"]
    assert main(["report", str(folder), "--output", str(tmp_path / "page.html")]) == 0


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
        "rusted",
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
        (lambda run: (run / "request.json").unlink(), "no chains to resume"),
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


@pytest.mark.parametrize(
    ("setting", "complaint"), [("n_draws=-1", "n_draws must be"), ("sampler=x", "sampler must be")]
)
def test_refused_settings_cost_no_old_run(run, table, capsys, setting, complaint):
    (run / "notes.txt").write_text("mine")
    before = {path.relative_to(run): path.read_bytes() for path in run.rglob("*") if path.is_file()}
    words = ["fit", "nrm-mixture", str(table), "--out", str(run), *SETTINGS, "--set", setting, "--force"]
    assert main(words) == 2
    assert complaint in capsys.readouterr().err
    assert {path.relative_to(run): path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_refused_settings_leave_no_run_that_cannot_go_on(table, tmp_path, capsys):
    words = ["fit", "nrm-mixture", str(table), "--out", str(tmp_path / "new"), *SETTINGS]
    assert main([*words, "--set", "n_draws=-1"]) == 2
    assert list(tmp_path.iterdir()) == []
    assert main([*words, "--set", "n_draws=4"]) == 0
    assert not [path for path in (tmp_path / "new").iterdir() if path.name.startswith(".")]


def killed_beginning(run, *, chains_begun):
    """What `fit --force` leaves when it is killed: the old run aside and a new one that is only asked for, or begun."""
    aside = run / f"{OLD}0123456789ab"
    aside.mkdir()
    for path in [path for path in run.iterdir() if path != aside]:
        path.rename(aside / path.name)
    shutil.copy(aside / "request.json", run)
    if chains_begun:
        shutil.copytree(aside / "chains", run / "chains")


@pytest.mark.parametrize("chains_begun", [False, True])
def test_what_a_killed_command_put_aside_is_settled_by_the_next(run, table, capsys, chains_begun):
    before = (run / "summary.json").read_bytes()
    killed_beginning(run, chains_begun=chains_begun)
    words = ["fit", "nrm-mixture", str(table), "--out", str(run), *SETTINGS, "--force"]
    assert main([*words, "--set", "n_draws=-1"]) == 2  # refused: whatever was there stays
    assert not list(run.glob(f"{OLD}*"))
    if chains_begun:
        assert not (run / "summary.json").exists()
        assert main(["status", str(run)]) == 0
    else:
        assert (run / "summary.json").read_bytes() == before
        assert main([*words, "--set", "n_draws=4"]) == 0
        assert not list(run.glob(f"{OLD}*"))


def test_a_killed_run_that_goes_on_forgets_the_old_one(run, capsys):
    killed_beginning(run, chains_begun=True)
    (run / ".old.mine").mkdir()
    assert main(["resume", str(run)]) == 0
    assert (run / ".old.mine").is_dir()
    assert (run / "summary.json").exists()
    assert not list(run.glob(f"{OLD}*"))


def test_a_run_that_is_getting_ready_says_so(run, capsys):
    for path in run.iterdir():
        if path.name != "request.json":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert main(["status", str(run)]) == 0
    assert "nrm-mixture: no draws yet" in capsys.readouterr().out
    source = RunSource(run)
    assert source.look()[0]["words"].startswith("Getting ready")
    assert source.result() is None
    assert main(["resume", str(run)]) == 0
    assert source.look()[0]["state"] == "ended"


def test_advice_is_a_command_that_can_be_typed(table, tmp_path, capsys):
    folder = tmp_path / "my run"
    assert main(["fit", "nrm-mixture", str(table), "--out", str(folder), *SETTINGS, "--set", "n_draws=5"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "continue_fit" not in shown
    advised = re.search(r"run longer: (bayesgrove resume '[^']*my run' --draws \d+)", shown)
    summary = json.loads((folder / "summary.json").read_text())
    assert advised[1].split(" --")[1] in summary["verdict"]
    assert main(shlex.split(advised[1])[1:]) == 0


def test_pairs_in_a_verdict_are_called_by_their_names(finished):
    result = load(finished / "model.bg").result_
    said = "r_hat of together[0,2] is 1.2 (should be below 1.01); bulk ESS of n_clusters is 5."
    assert with_pair_names(said, result.with_names(None)) == said
    named = result.with_names(("first", "second", "third [x]", *map(str, range(result.labels.size - 3))))
    assert with_pair_names(said, named) == said.replace("0,2", "first, third [x]")


def test_long_lines_break_between_words(finished):
    verdict = load(finished / "model.bg").diagnostics_.verdict
    lines = io.StringIO()
    console = Console(file=lines, width=40)
    words = verdict_for_shell(verdict, Path("run"))
    console.print(words, markup=False)
    assert " ".join(lines.getvalue().split()) == " ".join(words.split())
    assert max(map(len, lines.getvalue().splitlines())) <= 40


def test_a_damaged_run_is_refused_and_repaired(table, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(["fit", "nrm-mixture", str(table), "--out", str(folder), *SETTINGS, "--set", "n_draws=30"]) == 0
    whole = load(folder / "model.bg").posterior_.labels
    log = folder / "chains" / "chain-0.log"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    assert main(["resume", str(folder)]) == 2
    assert "bayesgrove resume RUN --repair" in capsys.readouterr().err
    assert main(["resume", str(folder), "--repair"]) == 0
    np.testing.assert_array_equal(load(folder / "model.bg").posterior_.labels, whole)
    assert log.with_name("chain-0.log.damaged-1").read_bytes() == bytes(data)
