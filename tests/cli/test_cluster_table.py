"""`bayesgrove cluster`: the run it writes and what it says."""

import json

import numpy as np
import pytest

from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.estimators.registry import MODELS

pytestmark = pytest.mark.unit


@pytest.fixture
def real_bhc(monkeypatch):
    monkeypatch.setitem(models.MODELS, "bhc", f"{MODELS['BHC'].module}:BHC")
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    cells = np.vstack([rng.normal(c, 1, (40, 2)) for c in (0, 8)])
    path = tmp_path / "table.csv"
    np.savetxt(path, cells, delimiter=",", header="a,b", comments="")
    return path


def test_a_run_with_all_its_files_and_three_lines_of_reasons(real_bhc, table, tmp_path, capsys):
    assert main(["cluster", str(table), "--out", str(tmp_path / "run")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "80 rows x 2 columns (2 float), 0 missing cells"
    assert lines[1].startswith("BHC: ")
    assert "2 clusters of 80 rows" in lines
    assert "Columns as understood" in lines
    assert lines[-1].startswith("2 clusters: the mixture components")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"labels.csv", "model.bg", "report.html", "summary.json", "tree.newick", "tree.png"}
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["model"], summary["n_clusters"]) == ("bhc", 2)
    assert main(["predict", str(tmp_path / "run"), str(table)]) == 0


def test_a_run_is_not_replaced_unasked(real_bhc, table, tmp_path, capsys):
    run = tmp_path / "run"
    run.mkdir()
    (run / "notes.txt").write_text("mine")
    assert main(["cluster", str(table), "--out", str(run)]) == 2
    assert "do not belong to a bayesgrove run" in capsys.readouterr().err


def test_settings_and_time_are_checked(real_bhc, table, tmp_path, capsys):
    out = ["--out", str(tmp_path / "run")]
    assert main(["cluster", str(table), *out, "--set", "colour=1"]) == 2
    assert "BHC has no setting 'colour'" in capsys.readouterr().err
    assert main(["cluster", str(table), *out, "--time-limit", "-1"]) == 2
    assert "time_limit" in capsys.readouterr().err
