"""Models of views from the command line: a mixed table with missing cells goes all the way."""

import csv
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from bayesgrove import BHCC, CrossCat, RandomizedBHCC, Tree, load
from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.cli.show import view_grid
from bayesgrove.core.rng import generator

pytestmark = pytest.mark.unit

MODELS = {
    "bhcc": (BHCC, []),
    "randomized-bhcc": (RandomizedBHCC, []),
    "crosscat": (CrossCat, ["--set", "n_draws=60", "--set", "n_tune=60", "--set", "n_chains=2"]),
}
FIRST, SECOND = ("weight", "length", "legs", "fur"), ("diet", "home", "active")
N_ROWS = 36


@pytest.fixture(autouse=True)
def real_models(fake_models, monkeypatch):
    """Undo what the other tests of this folder put in place."""
    monkeypatch.setitem(models.MODELS, "bhc", "bayesgrove.estimators.bhc:BHC")
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")


def animal(rng, i):
    """Cells of one row: two groups by body, three by life."""
    body, life = i % 2, i // 2 % 3
    return [
        f"{rng.normal(10.0 * body):.2f}",
        f"{rng.normal(30.0 - 8.0 * body):.2f}",
        str(rng.poisson(2 + 14 * body)),
        ("yes", "no")[body],
        ("grass", "meat", "fish")[life],
        ("wood", "field", "sea")[life],
        ("day", "dusk", "night")[life],
    ]


@pytest.fixture(scope="module")
def animals(tmp_path_factory):
    """A CSV of numbers, counts and categories; every third row lacks a cell; and the cells as they were."""
    rng = generator(5)
    whole = [animal(rng, i) for i in range(N_ROWS)]
    lines = [",".join(("name", *FIRST, *SECOND))]
    for i, cells in enumerate(whole):
        shown = ["" if i % 3 == 0 and j == i // 3 % 7 else cell for j, cell in enumerate(cells)]
        lines.append(",".join((f"animal {i}", *shown)))
    path = tmp_path_factory.mktemp("animals") / "animals.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, whole


@pytest.fixture(scope="module", params=list(MODELS))
def fitted(request, animals, tmp_path_factory):
    """The folder of a run of each model, and what was said."""
    folder = tmp_path_factory.mktemp(request.param) / "run"
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as said:
        patch.setattr("sys.stdout", said)
        patch.setenv("COLUMNS", "100")
        words = ["--index", "name", "--out", str(folder), *MODELS[request.param][1]]
        assert main(["fit", request.param, str(animals[0]), *words]) == 0
        return request.param, folder, said.getvalue()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_shows_and_keeps_the_views(fitted):
    name, folder, shown = fitted
    assert "2 views of 7 columns" in shown
    assert re.search(r"0 +4 +2 +18, 18 +weight, length, legs, fur", shown)
    assert re.search(r"1 +3 +3 +12, 12, 12 +diet, home, active", shown)
    assert ("number of views in the draws" in shown) == (name == "crosscat")
    assert ("log evidence" in shown) == (name != "crosscat")
    files = {path.name for path in folder.iterdir()}
    assert files >= {"model.bg", "labels.csv", "views.csv", "tree.newick", "columns.newick", "tree.png", "report.html"}
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_views"] == 2
    assert [(view["n_clusters"], tuple(view["columns"])) for view in summary["views"]] == [(2, FIRST), (3, SECOND)]
    assert ("verdict" in summary) == (name == "crosscat")
    views = [(row["column"], int(row["view"])) for row in rows_of((folder / "views.csv").read_text())]
    assert views == [*((column, 0) for column in FIRST), *((column, 1) for column in SECOND)]
    columns = Tree.from_newick((folder / "columns.newick").read_text())
    assert set(columns.leaf_labels) == {*FIRST, *SECOND}


def test_labels_are_given_by_view(fitted):
    _, folder, _ = fitted
    rows = rows_of((folder / "labels.csv").read_text())
    assert list(rows[0]) == ["row", "view_0", "view_1"]
    assert [(row["row"], int(row["view_0"]), int(row["view_1"])) for row in rows] == [
        (f"animal {i}", i % 2, i // 2 % 3) for i in range(N_ROWS)
    ]


def test_the_loaded_model_is_the_fitted_one(fitted):
    name, folder, _ = fitted
    model = load(folder / "model.bg")
    assert type(model) is MODELS[name][0]
    assert model.views_[1].tree_.leaf_labels[3] == "animal 3"
    assert model.result_.column_tree.leaf_labels == (*FIRST, *SECOND)


def test_predict_gives_a_cluster_per_view(fitted, tmp_path, capsys):
    _, folder, _ = fitted
    new = tmp_path / "new.csv"
    new.write_text(f"active,home,{','.join(FIRST)},diet\nnight,sea,10,22,16,no,fish\n,,,,2,yes,\n")
    assert main(["predict", str(folder), str(new), "--proba"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert (int(rows[0]["view_0"]), int(rows[0]["view_1"])) == (1, 2)
    assert int(rows[1]["view_0"]) == 0
    for row in rows:
        for view, n_clusters in ((0, 2), (1, 3)):
            chances = [float(row[f"view_{view}_p{k}"]) for k in range(n_clusters)]
            assert sum(chances) + float(row[f"view_{view}_new"]) == pytest.approx(1.0)


def test_impute_fills_the_table_of_the_fit(fitted, animals, tmp_path, capsys):
    _, folder, _ = fitted
    path, whole = animals
    out = tmp_path / "filled.csv"
    assert main(["impute", str(folder), "-o", str(out), "--level", "0.9"]) == 0
    rows, given = rows_of(out.read_text()), rows_of(path.read_text())
    assert list(rows[0]) == list(given[0])
    cells = {(row["row"], row["column"]): row for row in rows_of((tmp_path / "filled.cells.csv").read_text())}
    missing = {(row["name"], name) for row in given for name in (*FIRST, *SECOND) if row[name] == ""}
    assert set(cells) == missing
    assert len(missing) == N_ROWS // 3
    for i, (row, before) in enumerate(zip(rows, given, strict=True)):
        for j, name in enumerate((*FIRST, *SECOND)):
            assert row[name] != ""
            if before[name] != "":
                assert row[name] == before[name] or float(row[name]) == pytest.approx(float(before[name]), rel=1e-9)
            elif name in ("weight", "length", "legs"):
                cell = cells[row["name"], name]
                assert float(cell["low"]) <= float(cell["value"]) <= float(cell["high"])
                assert float(cell["sd"]) > 0.0
                assert abs(float(row[name]) - float(whole[i][j])) < 8.0
            else:
                assert row[name] == whole[i][j]
                assert 0.5 < float(cells[row["name"], name]["probability"]) <= 1.0


def test_impute_fills_new_rows_and_leaves_given_cells_as_they_are(fitted, tmp_path, capsys):
    _, folder, _ = fitted
    new = tmp_path / "new.csv"
    new.write_text(f"name,{','.join(FIRST)},{','.join(SECOND)}\nx,0.123456789,,3,yes,fish,,night\n")
    assert main(["impute", str(folder), str(new)]) == 0
    row = rows_of(capsys.readouterr().out)[0]
    assert (row["name"], row["weight"], row["legs"], row["home"]) == ("x", "0.123456789", "3", "sea")
    assert abs(float(row["length"]) - 30.0) < 4.0


def test_export_by_view(fitted, capsys):
    _, folder, _ = fitted
    model = load(folder / "model.bg")
    texts = {}
    for words in (["labels"], ["views"], ["newick", "--view", "1"], ["newick", "--view", "columns"], ["json"]):
        assert main(["export", str(folder), "--format", *words]) == 0
        texts[words[-1]] = capsys.readouterr().out
    assert texts["labels"] == (folder / "labels.csv").read_text()
    assert texts["views"] == (folder / "views.csv").read_text()
    assert texts["1"].strip() == model.views_[1].tree_.to_newick().strip()
    assert texts["columns"] == (folder / "columns.newick").read_text()
    np.testing.assert_array_equal(Tree.from_json(texts["json"]).parent, model.tree_.parent)


def test_report_has_the_views(fitted, tmp_path):
    _, folder, _ = fitted
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert [view["name"] for view in data["views"]["list"]] == ["view 0", "view 1"]
    assert data["items"]["names"][0] == "animal 0"
    assert data["views"]["sentence"].startswith("7 columns in 2 views (of 4, 3 columns).")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export", "--format", "newick", "--view", "7"], "--view is one of 0 to 1 or columns, got '7'"),
        (["impute", "--level", "0.9"], "--level writes a second table beside the first and needs --output FILE"),
        (["impute", "--level", "2", "-o", "x.csv"], "level is a probability between 0 and 1, got 2.0"),
        (["impute", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_errors_are_one_line(fitted, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    command, *rest = words
    assert main([command, str(fitted[1]), *rest]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1


def test_what_has_no_views_says_so(tmp_path, capsys):
    (tmp_path / "two.csv").write_text("a,b\n1.5,2\n2,3\n8,9\n9,8\n")
    assert main(["fit", "bhc", str(tmp_path / "two.csv"), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    for words, message in (
        (["impute"], "impute fills cells by a model of views, and"),
        (["export", "--format", "views"], "--format views writes views, and BHC does not divide the columns"),
        (["export", "--format", "json", "--view", "1"], "--view chooses a view, and BHC does not divide the columns"),
    ):
        assert main([words[0], str(tmp_path / "run"), *words[1:]]) == 2
        assert message in capsys.readouterr().err


def test_a_narrow_terminal_keeps_the_numbers_of_views():
    view = SimpleNamespace(name="view 0", columns=np.arange(16), labels=np.repeat([0, 1], 20), n_clusters=2)
    result = SimpleNamespace(views=[view], feature_names=[f"a long name {j}" for j in range(16)])
    console = Console(width=80, file=io.StringIO())
    console.print(view_grid(result))
    shown = console.file.getvalue()
    assert shown.splitlines()[1].split()[:5] == ["0", "16", "2", "20,", "20"]
    assert "a long name 15" in " ".join(shown.split())
