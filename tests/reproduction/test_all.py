"""`python -m papers --all`: every experiment once, what is done is kept, what fails stops no other."""

import csv
import json

import pytest
from papers import bhcc_columns, bhcc_levels, bhcc_views
from papers import run_all as command
from papers.__main__ import main
from papers.experiments import EXPERIMENTS
from papers.outcome import Claim, Outcome

from bayesgrove.core.errors import InvalidFileError

pytestmark = pytest.mark.unit
THREE = {"bhcc-views": bhcc_views, "bhcc-columns": bhcc_columns, "bhcc-levels": bhcc_levels}
VERDICTS = [Claim("so", "yes", True), Claim("not so", "no", False), Claim("perhaps", "who knows", None)]


@pytest.fixture
def three(monkeypatch):
    """Three experiments that are over at once; gives what was run, in order, and what each does."""
    few = {name: experiment for name, experiment in EXPERIMENTS.items() if name in THREE}
    monkeypatch.setattr(command, "EXPERIMENTS", few)  # the table itself stays, and so does its order
    ran, does = [], {}
    for name, module in THREE.items():

        def run(*, quick, seed, data_home, tell, name=name):
            ran.append(name)
            tell(f"[step] of {name}")
            return does.get(name, lambda: Outcome(name, {"rows": [{"seed": seed}]}, VERDICTS))()

        monkeypatch.setattr(module, "run", run)
    return ran, does


def rows_of(path):
    with open(path, newline="") as stream:
        return list(csv.reader(stream))


def raises(error):
    def fail():
        raise error

    return fail


def test_all_are_run_shown_and_kept(three, tmp_path, capsys):
    out = tmp_path / "all"
    assert main(["--all", "--quick", "--seed", "3", "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert three[0] == list(THREE)
    assert "[2 of 3] bhcc-columns" in shown.err
    assert "[step] of bhcc-levels" in shown.err
    assert "bhcc-views: 1 holds, 1 fails, 1 undecided" in shown.out
    assert shown.out.splitlines()[-3].split() == ["all", "3", "3", "3", "0"]
    assert rows_of(out / "summary.csv")[:2] == [
        ["experiment", "holds", "fails", "undecided", "seconds"],
        ["bhcc-views", "1", "1", "1", "0.0"],
    ]
    assert rows_of(out / "verdicts.csv")[2] == ["bhcc-views", "fails", "not so", "no"]
    assert {path.name for path in out.iterdir()} == {"summary.csv", "verdicts.csv", *THREE}
    assert json.loads((out / "bhcc-levels" / "outcome.json").read_text())["provenance"]["seed"] == 3


def test_without_a_folder_verdicts_are_shown_only(three, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["--all"]) == 0
    assert "tables and verdicts in" not in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_an_interrupted_run_goes_on(three, tmp_path, capsys):
    ran, does = three
    out = tmp_path / "all"
    words = ["--all", "--out", str(out)]
    does["bhcc-columns"] = raises(KeyboardInterrupt())
    assert main(words) == 130
    assert {path.name for path in out.iterdir()} == {"bhcc-views"}
    del does["bhcc-columns"]
    assert main(words) == 0
    assert ran == ["bhcc-views", "bhcc-columns", "bhcc-columns", "bhcc-levels"]
    assert "bhcc-views: 1 holds, 1 fails, 1 undecided (0 s, kept)" in capsys.readouterr().out


def test_an_interruption_while_writing_leaves_nothing_half(three, tmp_path, monkeypatch):
    out = tmp_path / "all"
    monkeypatch.setattr(command, "draw_figures", lambda *_: raises(KeyboardInterrupt())())
    assert main(["--all", "--out", str(out)]) == 130
    assert not list(out.iterdir())


def test_what_a_killed_run_left_is_replaced(three, tmp_path):
    out = tmp_path / "all"
    (out / ".bhcc-views.part").mkdir(parents=True)
    (out / ".bhcc-views.part" / "old.csv").write_text("x")
    assert main(["--all", "--out", str(out)]) == 0
    assert {path.name for path in (out / "bhcc-views").iterdir()} == {"rows.csv", "claims.csv", "outcome.json"}
    assert not list(out.glob(".*"))


def test_force_runs_all_again(three, tmp_path):
    words = ["--all", "--out", str(tmp_path / "all")]
    assert main(words) == 0
    (tmp_path / "all" / "bhcc-views" / "old.csv").write_text("x")
    assert main([*words, "--force"]) == 0
    assert three[0] == [*THREE, *THREE]
    assert not (tmp_path / "all" / "bhcc-views" / "old.csv").exists()


@pytest.mark.parametrize("change", ["quick", "seed", "version", "damaged", "lost"])
def test_results_of_others_are_refused_before_any_work(three, tmp_path, capsys, change):
    out = tmp_path / "all"
    words = ["--all", "--out", str(out)]
    assert main(words) == 0
    three[0].clear()
    path = out / "bhcc-columns" / "outcome.json"
    document = json.loads(path.read_text())
    document["provenance"]["packages"]["bayesgrove"] = "0.0.1"
    if change == "version":
        path.write_text(json.dumps(document))
    elif change == "damaged":
        path.write_text(path.read_text()[:-9])
    elif change == "lost":
        path.unlink()
    asked = {"quick": ["--quick"], "seed": ["--seed", "1"]}.get(change, [])
    assert main([*words, *asked]) == 2
    assert "is not from the same settings and version; choose another folder, or --force" in capsys.readouterr().err
    assert three[0] == []


def test_folders_of_others_are_refused(three, tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("x")
    assert main(["--all", "--force", "--out", str(tmp_path)]) == 2
    assert "holds thesis.txt, which is not ours; choose another folder" in capsys.readouterr().err
    assert main(["--all", "--out", str(tmp_path / "thesis.txt")]) == 2
    assert "is a file; --out names a folder" in capsys.readouterr().err
    assert three[0] == []


def test_data_that_are_missing_stop_no_other(three, tmp_path, capsys):
    ran, does = three
    out = tmp_path / "all"
    does["bhcc-views"] = raises(InvalidFileError("the data set 'zoo' is not here"))
    assert main(["--all", "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert "bhcc-views: no data: the data set 'zoo' is not here" in shown.out
    assert shown.err.splitlines()[-1].startswith("papers: no data for bhcc-views; `bayesgrove doctor`")
    assert ran == list(THREE)
    assert rows_of(out / "summary.csv")[1] == ["bhcc-views", "no data", "no data", "no data", ""]
    del does["bhcc-views"]
    assert main(["--all", "--out", str(out)]) == 0
    assert ran == [*THREE, "bhcc-views"]


def test_a_failure_of_ours_stops_no_other(three, tmp_path, capsys, monkeypatch):
    ran, does = three
    does["bhcc-columns"] = raises(ZeroDivisionError("one by none"))
    assert main(["--all", "--out", str(tmp_path / "all")]) == 1
    shown = capsys.readouterr()
    assert "bhcc-columns: failed: ZeroDivisionError: one by none" in shown.out
    assert "failed: bhcc-columns; BAYESGROVE_TRACEBACK=1 shows where" in shown.err
    assert ran == list(THREE)
    monkeypatch.setenv("BAYESGROVE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["--all"])


def test_all_or_one(three, capsys):
    assert main(["bhcc-views", "--all"]) == 2
    assert "--all runs every experiment; leave bhcc-views out, or --all." in capsys.readouterr().err
    assert three[0] == []


def test_show_runs_nothing(three, tmp_path, capsys):
    ran, does = three
    out = tmp_path / "all"
    does["bhcc-levels"] = raises(InvalidFileError("no data"))
    assert main(["--all", "--out", str(out)]) == 2
    ran.clear()
    (out / "of-another-kind").mkdir()  # where nothing is run, results may stand among others, as in docs/results
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["--all", "--show", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "bhcc-levels: not run: nothing kept" in shown
    assert "tables and verdicts in" not in shown
    assert ran == []
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("words", [["--show"], ["--all", "--show"], ["--all", "--show", "--out", "nowhere"]])
def test_show_needs_a_folder(three, capsys, words):
    assert main(words) == 2
    assert "--show" in capsys.readouterr().err
    assert three[0] == []
