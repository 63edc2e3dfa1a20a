"""`bayesgrove sweep`: from words to a table and a page; what is wrong costs nothing that is done."""

import csv
import json

import numpy as np
import pytest

from bayesgrove.cli.main import main

pytestmark = pytest.mark.unit

MODEL = "randomized-bhc"


@pytest.fixture
def table(tmp_path):
    classes = np.repeat([0, 1], 12)
    rows = np.random.default_rng(0).normal(size=(24, 2)) + 8.0 * classes[:, None]
    path = tmp_path / "table.csv"
    lines = [f"{x:.6f},{y:.6f},{'ab'[kind]}" for (x, y), kind in zip(rows, classes, strict=True)]
    path.write_text("x,y,kind\n" + "\n".join(lines) + "\n")
    return path


def rows_of(folder):
    with (folder / "results.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_a_grid_becomes_a_table_and_a_page(table, tmp_path, capsys):
    folder = tmp_path / "sweep"
    words = ["sweep", MODEL, str(table), "--out", str(folder), "--set", "likelihood=gaussian", "--repeats", "2"]
    words += ["--classes", "kind", "--metric", "ari", "--metric", "vi"]
    assert main([*words, "--grid", "concentration=0.5,2"]) == 0
    first = rows_of(folder)
    assert [row["concentration"] for row in first] == ["0.5", "0.5", "2.0", "2.0"]
    assert [row["seed"] for row in first] == ["0", "1", "0", "1"]
    assert {(row["n_clusters"], row["ari"], row["vi"]) for row in first} == {("2", "1.0", "0.0")}
    assert (folder / "results.parquet").is_file()
    assert "<table>" in (folder / "sweep.html").read_text()
    shown = capsys.readouterr().out
    assert "4 fits of RandomizedBHC" in shown
    assert "concentration" in shown
    assert [line.split()[:3] for line in shown.splitlines()[2:4]] == [["0.5", "2", "2"], ["2", "2", "2"]]
    assert main([*words, "--grid", "concentration=0.5,2,4"]) == 0
    assert rows_of(folder)[:4] == first  # to the second: they were not fitted again


def test_a_file_of_settings(table, tmp_path):
    chosen = tmp_path / "settings.json"
    chosen.write_text(json.dumps([{"concentration": 1}, {"leaf_size": 8}]))
    words = ["sweep", MODEL, str(table), "--out", str(tmp_path / "sweep"), "--index", "kind", "--settings", str(chosen)]
    assert main([*words, "--set", "likelihood=gaussian"]) == 0
    assert [(row["concentration"], row["leaf_size"]) for row in rows_of(tmp_path / "sweep")] == [("1.0", ""), ("", "8")]


def test_columns_are_dropped(table, tmp_path):
    words = ["sweep", MODEL, str(table), "--out", str(tmp_path / "sweep"), "--set", "likelihood=gaussian"]
    assert main([*words, "--drop", "kind", "--grid", "concentration=1"]) == 0
    assert [row["n_clusters"] for row in rows_of(tmp_path / "sweep")] == ["2"]


def test_a_bad_value_gives_code_2_and_loses_nothing(table, tmp_path, capsys):
    folder = tmp_path / "sweep"
    words = ["sweep", MODEL, str(table), "--out", str(folder), "--index", "kind", "--set", "likelihood=gaussian"]
    assert main([*words, "--grid", "concentration=1,-1"]) == 2
    said = capsys.readouterr().err
    assert "1 of 2 fits could not be done. The other one is safe in" in said
    assert said.count("\n") == 1
    assert len(list((folder / "fits").iterdir())) == 1
    assert main([*words, "--grid", "concentration=1"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either --grid key=v1,v2 (repeatable) or --settings FILE.json"),
        (["--grid", "depth"], "--grid takes key=value,value, got 'depth'"),
        (["--grid", "cut=1", "--grid", "cut=2"], "--grid cut is given twice"),
        (["--grid", "wings=1,2"], "RandomizedBHC has no setting 'wings'"),
        (["--grid", "cut=1", "--workers", "2", "--cluster", "tcp://127.0.0.1:1"], "give one of them"),
        (["--grid", "cut=1", "--classes", "colour"], "lack 1 of the columns asked for: colour"),
        (["--grid", "cut=1", "--metric", "f1"], "metrics are ari, binder, nmi, vi, got 'f1'"),
        (["--settings", "no-such.json"], "cannot read no-such.json"),
    ],
)
def test_what_is_wrong_gives_code_2_before_any_fit(table, tmp_path, capsys, words, message):
    folder = tmp_path / "sweep"
    assert main(["sweep", MODEL, str(table), "--out", str(folder), *words]) == 2
    assert message in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(
    ("text", "message"), [("{", "is not JSON"), ("3", "neither a list of settings"), ("[3]", "neither a list")]
)
def test_bad_files_of_settings(table, tmp_path, capsys, text, message):
    chosen = tmp_path / "settings.json"
    chosen.write_text(text)
    words = ["sweep", MODEL, str(table), "--out", str(tmp_path / "sweep"), "--settings", str(chosen)]
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_folders_of_other_things_are_refused(table, tmp_path, capsys):
    words = ["sweep", MODEL, str(table), "--grid", "cut=1", "--out"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all I have")
    for place, message in (
        (tmp_path / "mine", "has files that are no sweep"),
        (table, "is a file; --out names a folder"),
        (table / "no" / "such", "cannot make the folder"),
    ):
        assert main([*words, str(place)]) == 2
        assert message in capsys.readouterr().err


def test_a_table_of_classes_alone_is_refused(tmp_path, capsys):
    path = tmp_path / "kinds.csv"
    path.write_text("kind\na\nb\n")
    words = ["sweep", MODEL, str(path), "--out", str(tmp_path / "sweep"), "--grid", "cut=1", "--classes", "kind"]
    assert main(words) == 2
    assert "leaves no column to cluster by" in capsys.readouterr().err


def test_a_cluster_that_does_not_answer(table, tmp_path, capsys, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("bayesgrove.cli.dask_cluster.CONNECT_SECONDS", 0.5)
    words = [MODEL, str(table), "--out", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:9"]
    assert main(["sweep", *words, "--grid", "cut=1"]) == 2
    assert "no scheduler answers there" in capsys.readouterr().err
    assert main(["fit", *words]) == 2
    assert "--cluster tcp://127.0.0.1:9: no scheduler answers" in capsys.readouterr().err
