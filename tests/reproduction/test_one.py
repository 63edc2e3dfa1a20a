"""`python -m papers`: lists, runs, keeps, refuses."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from papers import bhcc_views
from papers.__main__ import main
from papers.outcome import Claim, Outcome

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def quick_views(monkeypatch):
    """An experiment that is over at once."""
    seen = {}

    def run(*, quick, seed, data_home, tell):
        seen.update(quick=quick, seed=seed, data_home=data_home)
        tell("table 1 of 1")
        rows = [{"seed": seed, "ari": 0.25, "sizes": "3/4"}, {"seed": seed + 1, "note": "none"}]
        claims = [Claim("it is [so]", "it was so", True), Claim("and so on", "no", False)]
        return Outcome("Views of a table", {"all views": rows}, claims, ["one <note>"])

    monkeypatch.setattr(bhcc_views, "run", run)
    return seen


@pytest.mark.parametrize("words", [[], ["--list"]])
def test_without_a_name_experiments_are_listed(capsys, words):
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "bhcc-views" in shown
    assert "section 8.4" in shown


def test_tables_and_verdicts_are_shown_and_kept(quick_views, tmp_path, capsys):
    out = tmp_path / "found"
    assert main(["bhcc-views", "--quick", "--seed", "7", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert quick_views == {"quick": True, "seed": 7, "data_home": None}
    for text in ("Views of a table", "all views", "0.25", "holds", "fails", "one <note>", "it is [so]"):
        assert text in captured.out
    assert "table 1 of 1" in captured.err
    with open(out / "all-views.csv", newline="") as stream:
        assert list(csv.reader(stream))[:2] == [["seed", "ari", "sizes", "note"], ["7", "0.25", "3/4", ""]]
    with open(out / "claims.csv", newline="") as stream:
        assert list(csv.reader(stream))[1] == ["holds", "it is [so]", "it was so"]
    document = json.loads((out / "outcome.json").read_text())
    assert [claim["verdict"] for claim in document["claims"]] == ["holds", "fails"]
    assert document["provenance"]["seed"] == 7


def test_a_folder_of_ours_is_replaced_only_by_force(quick_views, tmp_path, capsys):
    out = tmp_path / "found"
    words = ["bhcc-views", "--out", str(out)]
    assert main(words) == 0
    assert main(words) == 2
    assert "is not empty; choose another folder, or --force" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0


@pytest.mark.parametrize("place", ["a file", "a folder that is not there"])
def test_bad_places_are_refused_before_any_work(quick_views, tmp_path, capsys, place):
    (tmp_path / "file").write_text("x")
    out = tmp_path / "file" if place == "a file" else tmp_path / "no" / "where"
    assert main(["bhcc-views", "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert ("is a file; --out names a folder" if place == "a file" else "there is no folder") in told
    assert quick_views == {}


def test_an_unknown_name_is_one_line(capsys):
    assert main(["nonsense"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "NAME is one of bhc-purity" in told


@pytest.mark.parametrize("words", [["bhcc-views"], ["--all"]])
def test_a_list_runs_nothing(quick_views, capsys, words):
    assert main(["--list", *words]) == 2
    assert capsys.readouterr().err == "papers: --list runs nothing: leave NAME and --all out.\n"
    assert quick_views == {}


def test_the_command_runs_from_the_source_tree():
    done = subprocess.run([sys.executable, "-m", "papers", "--list"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("bhc-purity")


@pytest.fixture
def pictured(monkeypatch):
    """An experiment with a picture."""

    def run(*, quick, seed, data_home, tell):
        return Outcome("Views", {}, [], [], {"a line (0.1, 1)": lambda ax: ax.plot([0, 1])})

    monkeypatch.setattr(bhcc_views, "run", run)


def test_pictures_are_beside_the_tables(pictured, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "found"
    assert main(["bhcc-views", "--out", str(out)]) == 0
    assert (out / "a-line-0.1-1.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_there_are_no_pictures(pictured, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    out = tmp_path / "found"
    assert main(["bhcc-views", "--out", str(out)]) == 0
    assert "no pictures: matplotlib is not installed" in " ".join(capsys.readouterr().out.split())
    assert not list(out.glob("*.png"))


def test_a_table_that_does_not_fit_is_named(monkeypatch, capsys):
    rows = [{f"a long title {k}": 1.0 for k in range(20)}]
    monkeypatch.setattr(bhcc_views, "run", lambda **options: Outcome("Views", {"wide one": rows}, []))
    assert main(["bhcc-views"]) == 0
    assert "1 rows, too wide for this terminal: in wide-one.csv with --out FOLDER" in capsys.readouterr().out
