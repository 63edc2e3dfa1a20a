"""Hierarchies of fixed depth from the command line: fit, look, go on, ask, export, report."""

import csv
import io
import json

import numpy as np
import pytest

from bayesgrove import BHMC, RBHMC, load
from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.core.rng import generator

pytestmark = pytest.mark.unit

MODELS = {"bhmc": BHMC, "rbhmc": RBHMC}
SETTINGS = ("depth=2", "n_pca=2", "component_variance=0.3", "base_variance=9", "n_draws=30", "n_tune=20", "n_chains=2")


@pytest.fixture(autouse=True)
def real_models(fake_models, monkeypatch):
    """Undo what the other tests of this folder put in place."""
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")


@pytest.fixture(scope="module")
def beasts(tmp_path_factory):
    """A CSV of two groups with names."""
    rng = generator(4)
    lines = ["name,size,speed,weight"]
    for i in range(16):
        lines.append(f"beast {i}," + ",".join(f"{x:.3f}" for x in rng.normal(6.0 * (i % 2), 0.5, 3)))
    path = tmp_path_factory.mktemp("beasts") / "beasts.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module", params=list(MODELS))
def fitted(request, beasts, tmp_path_factory):
    """The folder of a run of each model, and what was said."""
    folder = tmp_path_factory.mktemp(request.param) / "run"
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as said:
        patch.setattr("sys.stdout", said)
        patch.setenv("COLUMNS", "100")
        command = ["fit", request.param, str(beasts), "--index", "name", "--out", str(folder), "--seed", "2", *words]
        assert main([*command, "--jobs", "1"]) == 0
        return request.param, folder, said.getvalue()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_run_tells_levels_and_scores(fitted):
    name, folder, said = fitted
    assert "nodes by level (mean of the draws)" in said
    assert "CDL" in said
    summary = json.loads((folder / "summary.json").read_text())
    model = load(folder / "model.bg")
    assert isinstance(model, MODELS[name])
    assert summary["nodes_by_level"] == [int(level.max()) + 1 for level in model.level_labels_.T]
    assert summary["scores"]["cdl"] == model.scores_["cdl"]
    assert model.tree_.leaf_labels[3] == "beast 3"
    assert (folder / "tree.png").stat().st_size > 5_000
    assert "The hierarchy, level by level" in (folder / "report.html").read_text(encoding="utf-8")
    labels = rows_of((folder / "labels.csv").read_text())
    assert list(labels[0]) == ["row", "cluster", "level_1", "level_2"]
    assert [int(row["level_2"]) for row in labels] == model.level_labels_[:, 1].tolist()


def test_status_report_and_exports(fitted, tmp_path, capsys):
    _, folder, _ = fitted
    assert main(["status", str(folder)]) == 0
    assert "30 of 30" in capsys.readouterr().out
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    assert "Nodes of the hierarchy" in (tmp_path / "page.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["export", str(folder), "--format", "labels"]) == 0
    assert list(rows_of(capsys.readouterr().out)[0]) == ["row", "cluster", "level_1", "level_2"]
    assert main(["export", str(folder), "--format", "newick"]) == 0
    assert "beast" in capsys.readouterr().out
    pytest.importorskip("h5netcdf")
    assert main(["export", str(folder), "--format", "netcdf", "--output", str(tmp_path / "draws.nc")]) == 0
    assert (tmp_path / "draws.nc").stat().st_size > 1_000


def test_new_rows_have_clusters_chances_and_paths(fitted, beasts, capsys):
    _, folder, _ = fitted
    assert main(["predict", str(folder), str(beasts), "--proba"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert len(rows) == 16
    model = load(folder / "model.bg")
    chances = [float(rows[0][name]) for name in (*(f"p{k}" for k in range(model.n_clusters_)), "new")]
    assert sum(chances) == pytest.approx(1.0)
    assert {"level_1", "level_2"} <= set(rows[0])


def test_a_run_goes_on(fitted, capsys):
    _, folder, _ = fitted
    before = load(folder / "model.bg").posterior_.paths
    assert main(["resume", str(folder), "--draws", "40", "--jobs", "1"]) == 0
    capsys.readouterr()
    after = load(folder / "model.bg").posterior_.paths
    assert after.shape[1] == 40
    np.testing.assert_array_equal(after[:, :30], before)
