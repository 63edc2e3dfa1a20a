"""The command line with the real estimators, in this process."""

import csv
import io
import json

import numpy as np
import pytest

from bayesgrove import BHC, IncrementalBHC, RandomizedBHC, Tree, load
from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.cli.warm_up import data_for, small_tables
from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.rng import generator
from bayesgrove.estimators import nrm_mixture
from bayesgrove.estimators.clusterer import Clusterer

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def real_models(fake_models, monkeypatch):
    """Undo what the other tests of this folder put in place."""
    monkeypatch.setitem(models.MODELS, "bhc", "bayesgrove.estimators.bhc:BHC")
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")


@pytest.fixture
def wines(tmp_path):
    """A CSV with an index, numbers, categories and missing cells; most grades look like numbers."""
    rng = generator(1)
    lines = ["name,alcohol,acid,colour,grade"]
    for i in range(30):
        high = i % 2
        acid = "" if i % 7 == 3 else f"{rng.normal(8 * high):.3f}"
        grade = "top" if i % 5 == 0 else str(1 + high)
        lines.append(f"w{i},{rng.normal(10 * high):.3f},{acid},{'red' if high else 'white'},{grade}")
    path = tmp_path / "wines.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def fitted(wines, tmp_path, capsys):
    """The folder of a run on the wines."""
    folder = tmp_path / "fitted"
    assert main(["fit", "bhc", str(wines), "--out", str(folder), "--index", "name"]) == 0
    capsys.readouterr()
    return folder


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_tells_and_keeps_the_result(wines, tmp_path, capsys):
    folder = tmp_path / "new"
    words = ["--index", "name", "--set", "concentration=2", "--set", "cut=map", "--seed", "4", "--jobs", "1"]
    assert main(["fit", "bhc", str(wines), "--out", str(folder), *words]) == 0
    shown = capsys.readouterr().out
    assert "2 clusters of 30 rows" in shown
    assert "2 GaussianDiagonal, 2 Categorical" in shown
    assert sorted(path.name for path in folder.iterdir()) == [
        "labels.csv",
        "model.bg",
        "report.html",
        "summary.json",
        "tree.newick",
        "tree.png",
    ]
    model = load(folder / "model.bg")
    assert type(model) is BHC
    assert (model.concentration, model.cut, model.random_state, model.n_jobs) == (2.0, "map", 4, 1)
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["n_clusters"], summary["n_rows"]) == (2, 30)
    assert summary["log_evidence"] == model.log_evidence_
    labels = {row["row"]: int(row["cluster"]) for row in rows_of((folder / "labels.csv").read_text())}
    assert [labels[f"w{i}"] for i in range(30)] == model.labels_.tolist()


def test_predict_finds_columns_by_name(fitted, tmp_path, capsys):
    new = tmp_path / "new.csv"
    # other order, one column more, all grades look like numbers now, no names
    new.write_text("grade,extra,colour,acid,alcohol\n1,9,white,0,0\n2,9,red,8,10\n,9,,,10\n")
    assert main(["predict", str(fitted), str(new), "--proba"]) == 0
    rows = rows_of(capsys.readouterr().out)
    model = load(fitted / "model.bg")
    clusters = [model.labels_[0], model.labels_[1], model.labels_[1]]
    assert [int(row["cluster"]) for row in rows] == clusters
    assert [row["row"] for row in rows] == ["0", "1", "2"]
    for row in rows:
        assert float(row["p0"]) + float(row["p1"]) + float(row["new"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alcohol,acid,colour\n1,2,red\n", "the data lack 1 of the columns asked for: grade"),
        ("alcohol,acid,colour,grade\n1,2,green,1\n", "row 0, column 'colour' holds 'green'"),
        ("alcohol,acid,colour,grade\nx,2,red,1\n", "column 'alcohol' held numbers in training and holds labels now"),
    ],
)
def test_predict_refuses_other_data_in_one_line(fitted, tmp_path, capsys, text, message):
    new = tmp_path / "new.csv"
    new.write_text(text)
    assert main(["predict", str(fitted), str(new)]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1


def test_a_reserved_category_works_from_the_command_line(fitted, tmp_path, capsys):
    from bayesgrove.core.table import Table
    from bayesgrove.likelihoods import Categorical

    codes = np.repeat([[0.0], [1.0]], 10, axis=0)
    table = Table(codes, ("colour",), ("category",), {0: ("red", "white")})
    BHC(likelihood=Categorical(unseen="reserve"), random_state=0).fit(table).save(fitted / "model.bg")
    summary = json.loads((fitted / "summary.json").read_text())
    summary["columns"] = [{"name": "colour", "kind": "category"}]
    (fitted / "summary.json").write_text(json.dumps(summary))
    new = tmp_path / "new.csv"
    new.write_text("colour\nviolet\nred\n")
    assert main(["predict", str(fitted), str(new)]) == 0
    assert len(rows_of(capsys.readouterr().out)) == 2


def test_export_in_all_formats(fitted, capsys):
    model = load(fitted / "model.bg")
    texts = {}
    for format in ("labels", "newick", "linkage", "json"):
        assert main(["export", str(fitted), "--format", format]) == 0
        texts[format] = capsys.readouterr().out
    assert [int(row["cluster"]) for row in rows_of(texts["labels"])] == model.labels_.tolist()
    assert set(Tree.from_newick(texts["newick"]).leaf_labels) == {f"w{i}" for i in range(30)}
    linkage = [[float(cell) for cell in row.values()] for row in rows_of(texts["linkage"])]
    np.testing.assert_allclose(linkage, model.linkage_matrix_, rtol=1e-12)
    np.testing.assert_array_equal(Tree.from_json(texts["json"]).parent, model.tree_.parent)


def test_randomized_bhc_on_an_array(tmp_path, capsys):
    rng = generator(2)
    np.save(tmp_path / "X.npy", rng.normal(size=(300, 2)) + 12.0 * rng.integers(0, 3, (300, 1)))
    words = ["--likelihood", "gaussian", "--set", "leaf_size=32", "--set", "sample_size=40", "--set", "regraft=true"]
    assert main(["fit", "randomized-bhc", str(tmp_path / "X.npy"), "--out", str(tmp_path / "run"), *words]) == 0
    assert "3 clusters of 300 rows" in capsys.readouterr().out
    model = load(tmp_path / "run" / "model.bg")
    assert type(model) is RandomizedBHC
    assert (model.leaf_size, model.sample_size, model.regraft) == (32, 40, True)
    assert main(["predict", str(tmp_path / "run"), str(tmp_path / "X.npy")]) == 0
    assert [int(row["cluster"]) for row in rows_of(capsys.readouterr().out)] == model.labels_.tolist()


def test_incremental_bhc_on_an_array(tmp_path, capsys):
    rng = generator(3)
    np.save(tmp_path / "X.npy", rng.normal(size=(200, 2)) + 12.0 * rng.integers(0, 3, (200, 1)))
    words = ["--likelihood", "gaussian", "--set", "n_init=3", "--set", "cut=half"]
    assert main(["fit", "incremental-bhc", str(tmp_path / "X.npy"), "--out", str(tmp_path / "run"), *words]) == 0
    assert "3 clusters of 200 rows" in capsys.readouterr().out
    model = load(tmp_path / "run" / "model.bg")
    assert type(model) is IncrementalBHC
    assert (model.n_init, model.cut, model.n_rows_seen_) == (3, "half", 200)
    assert main(["predict", str(tmp_path / "run"), str(tmp_path / "X.npy")]) == 0
    assert [int(row["cluster"]) for row in rows_of(capsys.readouterr().out)] == model.labels_.tolist()


def test_demo(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    shown = capsys.readouterr().out
    assert "178 Italian wines" in shown
    assert shown.index("3 clusters") < shown.index("Given this tree") < shown.index("The tree, small branches")
    assert "178 items, merge probability" in shown
    assert max(map(len, shown.split("picture")[0].splitlines())) <= 80
    assert 0 < (tmp_path / "demo" / "tree.png").stat().st_size < 200 * 1024
    assert load(tmp_path / "demo" / "model.bg").labels_.size == 178
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0  # may replace its own


def test_doctor(capsys):
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "numba" in shown
    assert "kernel cache" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "leaf_size=3"], "BHC has no setting 'leaf_size'; it has clusters, concentration, cut,"),
        (["--set", "concentration=-1"], "concentration must be positive and finite, got -1"),
        (["--set", "refine=1.5"], "refine must be a whole number of at least 0, got 1.5"),
        (["--set", "cut=soon"], "a cut by name is"),
        (["--likelihood", "gausian"], "likelihood must be one of"),
        (["--likelihood", "poisson"], "Poisson describes numbers; column 'colour' holds categories such as 'white'"),
        (
            ["--likelihood", "poisson", "--drop", "colour", "--drop", "grade"],
            "Poisson counts must be whole numbers of at least 0; row 0, column 'alcohol'",
        ),
        (["--set", "memory_limit=10"], "rows need about"),
        (["--seed", "-1"], "random_state must be None, a whole number"),
        (["--jobs", "0"], "n_jobs must be None or a whole number other than 0"),
    ],
)
def test_bad_settings_are_the_users_fault(wines, tmp_path, capsys, words, message):
    assert main(["fit", "bhc", str(wines), "--out", str(tmp_path / "run"), "--index", "name", *words]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_an_old_run_stays_whole(fitted, wines, tmp_path, capsys):
    before = {path.name: path.read_bytes() for path in fitted.iterdir()}
    assert main(["fit", "bhc", str(wines), "--out", str(fitted), "--index", "name"]) == 2
    assert "holds a run already; choose another name or add --force" in capsys.readouterr().err
    bad = tmp_path / "bad.csv"
    bad.write_text("a\ninf\n1\n")
    assert main(["fit", "bhc", str(bad), "--out", str(fitted), "--force"]) == 2
    assert "line 2: 'inf' is not finite" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in fitted.iterdir()} == before
    assert main(["fit", "bhc", str(wines), "--out", str(fitted), "--index", "name", "--force", "--seed", "9"]) == 0
    assert load(fitted / "model.bg").random_state == 9


def test_small_tables_are_of_every_kind():
    kinds = small_tables()
    assert not np.isnan(kinds["measurements"]).any()
    assert np.isnan(kinds["measurements with missing cells"]).any()
    assert kinds["a mixed table"].names == ("x", "y", "word", "flag", "count")


class ReadError(Exception):
    """Ends a fit once its data were read."""


@pytest.mark.parametrize("name", [name for name in models.MODELS if name not in models.TREE_MODELS])
def test_models_are_warmed_up_with_the_tables_they_take(name, monkeypatch):
    def stop(*arguments, **settings):
        raise ReadError

    monkeypatch.setattr(nrm_mixture, "covariances_by_evidence", stop)
    monkeypatch.setattr(Clusterer, "_without_labels", stop)
    taken = data_for(name)
    for kind, data in small_tables().items():
        with pytest.raises(ReadError if kind in taken else InvalidTableError):
            models.model_class(name)(random_state=0).fit(data)


def test_models_of_trees_are_warmed_up_with_trees():
    assert all(list(data_for(name)) == ["trees"] for name in models.TREE_MODELS)
