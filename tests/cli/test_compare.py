"""`bayesgrove compare`: runs side by side."""

import csv

import pytest

from bayesgrove.cli.compare import Compared, runs_grid
from bayesgrove.cli.main import main

pytestmark = pytest.mark.unit


@pytest.fixture
def runs(tmp_path):
    """Two runs of the same rows under other columns, and one of other rows."""
    tables = {
        "one": "id,a\nx,-1\ny,2\nz,-3\nw,4\n",
        "two": "id,a\nw,-1\nz,-2\ny,3\nx,4\n",
        "three": "id,a\np,-1\nq,2\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
        words = ["fit", "bhc", str(tmp_path / f"{name}.csv"), "--out", str(tmp_path / name), "--index", "id"]
        assert main(words) == 0
    return {name: str(tmp_path / name) for name in tables}


def test_agreement_is_by_the_names_of_rows(runs, tmp_path, capsys):
    capsys.readouterr()
    out = tmp_path / "pairs.csv"
    assert main(["compare", runs["one"], runs["two"], "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "ARI" in shown
    assert "bhc" in shown
    with open(out, encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    # {x, z}, {y, w} against {w, z}, {y, x}: no pair is together in both
    assert int(row["n_rows"]) == 4
    assert float(row["ari"]) == pytest.approx(-0.5)


def test_a_verdict_is_told_in_two_words():
    verdict = "Not trusted: r_hat of together[262,322] is 1.636 (should be below 1.050), and 12 more"
    grid = runs_grid([Compared("run", {"verdict": verdict}, {}), Compared("tree", {}, {})])
    assert list(grid.columns[-1].cells) == ["not trusted", "-"]


def test_a_run_agrees_with_itself(runs, capsys):
    assert main(["compare", runs["one"], runs["one"]]) == 0
    assert "1.000" in capsys.readouterr().out


def test_what_cannot_be_compared_is_refused(runs, tmp_path, capsys):
    assert main(["compare", runs["one"]]) == 2
    assert "two or more runs" in capsys.readouterr().err
    assert main(["compare", runs["one"], runs["three"]]) == 2
    assert "no row in common" in capsys.readouterr().err
    assert main(["compare", runs["one"], str(tmp_path / "none")]) == 2
    assert "there is no run folder" in capsys.readouterr().err
