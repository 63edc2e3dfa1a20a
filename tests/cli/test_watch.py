"""`bayesgrove report` and `bayesgrove watch` on runs that have ended, run, and were killed."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.cli.watch import RunSource
from bayesgrove.estimators.nrm_mixture import NRMMixture
from bayesgrove.estimators.saving import load
from bayesgrove.inference.status import run_status
from bayesgrove.io.delimited import write_csv_stream

pytestmark = pytest.mark.unit

PATIENCE = 600.0
"""Seconds for what should take few; kernels may have to be compiled first."""


@pytest.fixture(autouse=True)
def real_models(monkeypatch):
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")
    monkeypatch.setattr(models, "MODELS", {"nrm-mixture": "bayesgrove.estimators.nrm_mixture:NRMMixture"})


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(centre, 1.0, (20, 2)) for centre in (0.0, 8.0)])
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    with path.open("w") as stream:
        write_csv_stream(stream, ("name", "x", "y"), ((f"row {i}", *row) for i, row in enumerate(rows.tolist())))
    return path


def fit_words(table, out, n_draws, n_chains=2):
    words = ["fit", "nrm-mixture", str(table), "--out", str(out), "--index", "name"]
    return [*words, "--set", f"n_draws={n_draws}", "--set", f"n_chains={n_chains}", "--set", "n_tune=10"]


@pytest.fixture(scope="module")
def ended(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "ended"
    assert (
        subprocess.run([sys.executable, "-m", "bayesgrove.cli", *fit_words(table, out, 60)], check=False).returncode
        == 0
    )
    return out


@pytest.fixture
def stopped(ended, tmp_path):
    """The run as it was before its end: chains and the request, no model."""
    out = tmp_path / "stopped"
    (out / "chains").mkdir(parents=True)
    for name in ("request.json", *(f"chains/{path.name}" for path in (ended / "chains").iterdir())):
        (out / name).write_bytes((ended / name).read_bytes())
    return out


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_a_report_of_an_ended_run(ended, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", str(ended), "-o", str(page), "--title", "Two <groups>"]) == 0
    assert f"report   {page}" in capsys.readouterr().out
    data = data_of(page.read_text())
    model = load(ended / "model.bg")
    assert data["title"] == "Two <groups>"
    assert data["summary"]["n_clusters"] == model.n_clusters_
    assert data["items"]["names"][7] == "row 7"
    assert data["chains"]["n_draws"] == 60
    assert [feature["name"] for feature in data["features"]] == ["x", "y"]
    assert (ended / "report.html").is_file()  # every run has one


def test_a_report_is_replaced_only_by_force(ended, tmp_path, capsys):
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert main(["report", str(ended), "-o", str(page)]) == 2
    assert page.read_text() == "mine"
    assert "exists already" in capsys.readouterr().err
    assert main(["report", str(ended), "-o", str(page), "--force"]) == 0
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_a_report_without_a_name_goes_into_the_run(ended, capsys):
    (ended / "report.html").unlink()
    assert main(["report", str(ended)]) == 0
    assert f"report   {ended / 'report.html'}" in capsys.readouterr().out
    assert (ended / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_predictions_of_a_stopped_run_say_how_to_go_on(stopped, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("x,y\n0,0\n")
    assert main(["predict", str(stopped), str(tmp_path / "new.csv")]) == 2
    assert f"resume it with: bayesgrove resume {stopped}" in capsys.readouterr().err


def test_a_report_of_draws_so_far(stopped, ended, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(stopped), "-o", str(page)]) == 0
    data = data_of(page.read_text())
    assert data["summary"]["n_clusters"] == load(ended / "model.bg").n_clusters_ == 2
    assert data["items"]["names"][7] == "row 7"
    assert data["features"] is not None
    assert ["draws", "60 of 60 so far, 2 chains"] in data["provenance"]


def test_without_the_table_a_page_has_no_rows(stopped):
    request = json.loads((stopped / "request.json").read_text())
    (stopped / "request.json").write_text(json.dumps({**request, "data": str(stopped / "gone.csv")}))
    document = RunSource(stopped).document()
    assert document["features"] is None
    assert document["items"]["names"] is None
    assert document["summary"]["n_clusters"] == 2


def test_a_run_made_from_python_can_be_watched(tmp_path):
    X = np.concatenate([np.zeros((5, 1)), np.ones((5, 1))]) + np.arange(10)[:, None] / 100
    NRMMixture(n_chains=2, n_tune=5, n_draws=20, random_state=0, run_dir=tmp_path / "run").fit(X)
    status, _ = RunSource(tmp_path / "run").look()
    assert status["state"] == "complete"
    assert [chain["draws"] for chain in status["chains"]] == [20, 20]
    assert RunSource(tmp_path / "run").document()["summary"]["n_items"] == 10


@pytest.mark.parametrize("command", [["report", "-o", "page.html"], ["watch", "--no-browser"]], ids=["report", "watch"])
def test_a_folder_that_is_no_run_is_refused(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([command[0], str(tmp_path / "nowhere"), *command[1:]]) == 2
    assert "there is no run folder" in capsys.readouterr().err
    assert main([command[0], str(tmp_path), *command[1:]]) == 2
    assert "holds no run of bayesgrove" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


class Watch:
    """A `bayesgrove watch` of its own process."""

    def __init__(self, run):
        words = [sys.executable, "-u", "-m", "bayesgrove.cli", "watch", str(run), "--no-browser"]
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:  # what a shell starts in the background ignores Ctrl+C, and so would its children
            self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        finally:
            signal.signal(signal.SIGINT, usual)
        line = self.process.stdout.readline()
        self.url = urlsplit(re.search(r"http://\S+", line)[0])

    def news(self):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=10)
        connection.request("GET", f"{self.url.path}news?version=-1")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def wait_for(self, holds):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if holds(news := self.news()):
                return news
            time.sleep(0.1)
        raise AssertionError(f"still {self.news()['status']} after {PATIENCE:.0f} s")


def n_draws(status):
    return sum(chain["draws"] for chain in status.get("chains", []))


def wait_for_draws(folder):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if (folder / "run.json").is_file() and any(chain.n_draws for chain in run_status(folder).chains):
            return
        time.sleep(0.1)
    raise AssertionError("the chains made no draw")


@pytest.mark.parametrize("wait", [PATIENCE, pytest.param(3.0, marks=pytest.mark.slow, id="draws within 3 s")])
def test_watching_follows_a_run_through_a_kill_and_to_its_end(table, tmp_path, wait):
    out = tmp_path / "run"
    words = [sys.executable, "-m", "bayesgrove.cli"]
    chains = subprocess.Popen([*words, *fit_words(table, out, 10**7)], start_new_session=True)
    watch = None
    try:
        wait_for_draws(out / "chains")
        watch = Watch(out)
        seen = n_draws(watch.wait_for(lambda news: n_draws(news["status"]))["status"])
        start = time.monotonic()
        watch.wait_for(lambda news: n_draws(news["status"]) > seen)
        assert time.monotonic() - start < wait
        first = watch.wait_for(lambda news: news["document"])
        assert first["status"]["state"] == "running"
        os.killpg(chains.pid, signal.SIGKILL)
        chains.wait()
        after = watch.wait_for(lambda news: news["status"]["state"] == "stopped")
        assert after["document"]["summary"]["n_items"] == 40
        made = min(chain["draws"] for chain in after["status"]["chains"])
        request = json.loads((out / "request.json").read_text())
        assert request["settings"]["n_draws"] == 10**7
        assert subprocess.run([*words, "resume", str(out), "--draws", str(made + 5)], check=False).returncode == 0
        last = watch.wait_for(lambda news: news["status"]["state"] == "ended")
        assert Path(out / "model.bg").is_file()
        watch.wait_for(lambda news: news["version"] > last["version"] or news["document"]["provenance"])
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(PATIENCE) == 0
    finally:
        for process in (chains, *([watch.process] if watch else [])):
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
        if watch:
            watch.process.stdout.close()
