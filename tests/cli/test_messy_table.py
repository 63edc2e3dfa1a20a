"""One messy table from start to end: read, explained, clustered, reported, predicted; from Python and the shell."""

import csv
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv as csv_of_arrow
import pytest
from sklearn.metrics import adjusted_rand_score

import bayesgrove as bg
from bayesgrove.io.frames import table_from_frame
from bayesgrove.io.tables import read_table
from reference.messy import NAMES, messy_rows, write_messy

LEFT_OUT = ["Kundennummer", "Datum", "Bemerkung", "Land"]


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messy")
    rows, group = messy_rows()
    write_messy(folder / "export.csv", rows)
    return folder / "export.csv", group


def frames(path):
    """The table as users of three libraries read it."""
    pandas = pd.read_csv(path, sep=";", decimal=",", encoding="cp1252")
    polars = pl.read_csv(path, separator=";", decimal_comma=True, encoding="cp1252")
    arrow = csv_of_arrow.read_csv(
        path,
        read_options=csv_of_arrow.ReadOptions(encoding="cp1252"),
        parse_options=csv_of_arrow.ParseOptions(delimiter=";"),
        convert_options=csv_of_arrow.ConvertOptions(decimal_point=",", strings_can_be_null=True),
    )
    return {"pandas": pandas, "polars": polars, "arrow": arrow}


@pytest.mark.unit
def test_every_reader_sees_the_same_cells(messy):
    path, _ = messy
    table = read_table(path)
    assert table.names == NAMES
    assert table.kinds == (
        "category",
        "date",
        "category",
        "category",
        "integer",
        "integer",
        "float",
        "float",
        "category",
    )
    for frame in frames(path).values():
        np.testing.assert_array_equal(table_from_frame(frame).values, table.values)


@pytest.mark.slow
def test_python_and_the_shell_find_the_same_clusters(messy, tmp_path):
    path, group = messy
    models = {name: bg.cluster(frame, random_state=0) for name, frame in frames(path).items()}
    first = models["pandas"]
    assert adjusted_rand_score(group, first.labels_) > 0.9
    columns = first.columns_.set_index("name")
    assert columns.index[columns["family"] == "left out"].tolist() == LEFT_OUT
    assert columns.family["Zufriedenheit"] == "ordinal"
    for model in models.values():
        assert model.labels_.tolist() == first.labels_.tolist()
    report = first.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Zufriedenheit" in report
    shell = [sys.executable, "-m", "bayesgrove"]
    told = run([*shell, "cluster", str(path), "--out", str(tmp_path / "new" / "run"), "--index", "Kundennummer"])
    assert "detected separator ';' (--sep), decimal commas (--decimal), encoding cp1252" in told.stderr
    assert "Zufriedenheit" in told.stdout
    run([*shell, "predict", str(tmp_path / "new" / "run"), str(path), "-o", str(tmp_path / "labels.csv")])
    with open(tmp_path / "labels.csv", encoding="utf-8") as stream:
        predicted = list(csv.DictReader(stream))
    assert [row["row"] for row in predicted] == [row[0] for row in messy_rows()[0]]
    assert [int(row["cluster"]) for row in predicted] == first.predict(frames(path)["pandas"]).tolist()
    with open(tmp_path / "new" / "run" / "labels.csv", encoding="utf-8") as stream:
        assert [int(row["cluster"]) for row in csv.DictReader(stream)] == first.labels_.tolist()
    assert (tmp_path / "new" / "run" / "report.html").is_file()


def run(words):
    """A command that must succeed."""
    told = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"}, check=False)
    assert told.returncode == 0, told.stderr
    return told
