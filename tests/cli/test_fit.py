"""`bayesgrove fit`: the run it writes, what it refuses, and that no failure costs an old run."""

import json
import sys
from pathlib import Path

import fake_model
import pytest

from bayesgrove.cli.main import main

pytestmark = pytest.mark.unit
FILES = {"labels.csv", "model.bg", "report.html", "summary.json", "tree.newick", "tree.png"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_has_all_its_files(run, capsys):
    assert set(contents(run)) == FILES
    assert (run / "labels.csv").read_text() == "row,cluster\n'=x1,0\ny2,1\nz3,1\n"
    assert (run / "tree.newick").read_text() == "(=x1,y2,z3);\n"
    assert (run / "tree.png").read_bytes().startswith(b"\x89PNG")
    assert not [path for path in run.parent.iterdir() if path.name.startswith(".")]


def test_the_summary_tells_where_the_result_came_from(run):
    summary = json.loads((run / "summary.json").read_text())
    assert summary["model"] == "bhc"
    assert summary["seed"] == 0
    assert summary["data"] == "data.csv"
    assert (summary["n_rows"], summary["n_clusters"], summary["cluster_sizes"]) == (3, 2, [1, 2])
    assert summary["log_evidence"] == -12.5
    assert summary["columns"][2] == {"name": "colour", "kind": "category"}
    assert str(run.parent) not in json.dumps(summary)


def test_the_terminal_shows_clusters_numbers_tree_and_picture(data, tmp_path, capsys):
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "r"), "--index", "id"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[0] == "2 clusters of 3 rows"
    assert lines[2].split() == ["1", "2", "66.7%", ".900", ".040"]
    assert lines[3].split() == ["0", "1", "33.3%", "-", ".040"]
    assert "log evidence   -12.500" in shown
    assert "0 to 1 (2 numbers)" in shown
    tree = [line for line in lines if line.startswith("├─ =x1 [bold] long")]
    assert len(tree) == 1
    assert len(tree[0]) == 80
    assert f"picture  {tmp_path / 'r' / 'tree.png'}" in lines
    assert f"report   {tmp_path / 'r' / 'report.html'} (open it in a browser)" in lines


def test_a_run_is_whole_where_nobody_reads_what_is_shown(data, tmp_path, monkeypatch):
    class Gone:
        """A pipe whose reader went away, as `| head` does."""

        encoding = "utf-8"

        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr("rich.console.Console.on_broken_pipe", lambda console: sys.exit(1))
    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(SystemExit):
        main(["fit", "bhc", str(data), "--out", str(tmp_path / "r"), "--index", "id"])
    assert set(contents(tmp_path / "r")) == FILES


def test_settings_are_typed(data, tmp_path):
    arguments = ["--set", "concentration=2", "--set", "likelihood=gaussian", "--seed", "7", "--jobs", "2"]
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "r"), *arguments]) == 0
    settings = json.loads((tmp_path / "r" / "summary.json").read_text())["settings"]
    assert settings["concentration"] == 2.0
    assert isinstance(settings["concentration"], float)
    assert settings["likelihood"] == "gaussian"
    assert (settings["random_state"], settings["n_jobs"]) == (7, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "alpha=1"], "Fake has no setting 'alpha'; it has concentration, fail, likelihood"),
        (["--set", "concentration"], "--set takes key=value, got 'concentration'"),
        (["--set", "a=1", "--set", "a=2"], "--set a is given twice"),
        (["--set", "random_state=1"], "random_state is given by an option and by --set"),
        (["--index", "nobody"], "no column 'nobody'"),
        (["--drop", "nobody"], "no column 'nobody' to drop; it has id, a, b, colour"),
        (["--index", "id", "--drop", "id"], "--drop id names the index, which is no column to cluster by anyway"),
        (["--seed", "x"], "Invalid value for '--seed'"),
        (["--nonsense"], "No such option: --nonsense"),
        (["--set", "fail=memory"], "needs 9 GB"),
    ],
)
def test_users_faults_are_one_line_and_code_2(data, tmp_path, capsys, arguments, message):
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "r"), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.startswith("bayesgrove: ")
    assert shown.err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}


def test_unknown_model_and_missing_data(data, tmp_path, capsys):
    assert main(["fit", "kmeans", str(data), "--out", str(tmp_path / "r")]) == 2
    complaint = capsys.readouterr().err
    assert "MODEL is one of bhc, bhcc, bhmc, crosscat, incremental-bhc, infinite-tree-hmm-mixture, nrm-" in complaint
    assert "got 'kmeans'" in complaint
    assert main(["fit", "bhc", str(tmp_path / "no.csv"), "--out", str(tmp_path / "r")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert main(["fit", "bhc", str(data)]) == 2
    assert "Missing option '--out'" in capsys.readouterr().err
    assert main(["nonsense"]) == 2
    assert "No such command 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("number", 1, "bayesgrove: a score is not finite"),
        ("bug", 1, "internal error, please report it: ZeroDivisionError: division by zero"),
        ("interrupt", 130, "bayesgrove: interrupted before the end."),
        ("memory", 2, "needs 9 GB"),
    ],
)
def test_failures_have_their_code_and_keep_the_old_run(run, data, capsys, kind, code, message):
    before = contents(run)
    capsys.readouterr()
    arguments = ["fit", "bhc", str(data), "--out", str(run), "--force", "--set", f"fail={kind}"]
    assert main(arguments) == code
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert contents(run) == before


def test_traceback_on_demand(data, tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESGROVE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["fit", "bhc", str(data), "--out", str(tmp_path / "r"), "--set", "fail=bug"])


def test_a_failed_save_keeps_the_old_run(run, data, monkeypatch, capsys):
    import fake_model

    before = contents(run)
    monkeypatch.setattr(fake_model.FakeTree, "to_newick", lambda tree: 1 / 0)
    assert main(["fit", "bhc", str(data), "--out", str(run), "--force"]) == 1
    assert contents(run) == before
    assert {path.name for path in run.parent.iterdir()} == {"data.csv", "run"}


def test_a_failed_picture_keeps_the_model(data, tmp_path, monkeypatch, capsys):
    import fake_model

    monkeypatch.setattr(fake_model.FakeTree, "plot", lambda tree, **_: 1 / 0)
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "r")]) == 1
    assert set(contents(tmp_path / "r")) == FILES - {"tree.png", "report.html"}


def test_existing_runs_are_replaced_only_by_force(run, data, capsys):
    (run / "notes.txt").write_text("mine")
    before = contents(run)
    assert main(["fit", "bhc", str(data), "--out", str(run)]) == 2
    assert "holds a run already; choose another name or add --force" in capsys.readouterr().err
    assert contents(run) == before
    assert main(["fit", "bhc", str(data), "--out", str(run), "--force", "--seed", "5"]) == 0
    assert json.loads((run / "summary.json").read_text())["seed"] == 5
    assert (run / "notes.txt").read_text() == "mine"


def test_other_folders_are_never_touched(data, tmp_path, capsys):
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "a.jpg").write_text("x")
    assert main(["fit", "bhc", str(data), "--out", str(folder), "--force"]) == 2
    assert "has files that do not belong to a bayesgrove run" in capsys.readouterr().err
    assert main(["fit", "bhc", str(data), "--out", str(data), "--force"]) == 2
    assert "is a file; --out names a folder" in capsys.readouterr().err
    assert main(["fit", "bhc", str(data), "--out", str(data / "no" / "r")]) == 2
    assert "cannot make the folder" in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"a.jpg"}


def test_folders_above_a_run_are_made(data, tmp_path):
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "no" / "such" / "run")]) == 0
    assert (tmp_path / "no" / "such" / "run" / "labels.csv").is_file()


def test_an_empty_folder_is_welcome(data, tmp_path):
    (tmp_path / "r").mkdir()
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "r")]) == 0
    assert set(contents(tmp_path / "r")) == FILES


def test_without_matplotlib_it_says_so(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "r")]) == 0
    assert "no picture: matplotlib is not installed (pip install 'bayesgrove[plot]')" in capsys.readouterr().out
    assert set(contents(tmp_path / "r")) == FILES - {"tree.png"}


def test_header_options(tmp_path, capsys):
    path = tmp_path / "d.csv"
    path.write_text("1,2\n-3,4\n")
    assert main(["fit", "bhc", str(path), "--out", str(tmp_path / "r"), "--header"]) == 0
    assert (tmp_path / "r" / "labels.csv").read_text() == "row,cluster\n0,0\n"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no folder here that nobody can write to")
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(data, capsys, monkeypatch):
    monkeypatch.setattr(fake_model.Fake, "fit", lambda *_: pytest.fail("the work began"))
    assert main(["fit", "bhc", str(data), "--out", "/proc/self/run", "--index", "id"]) == 2
    assert "cannot write to /proc/self" in capsys.readouterr().err
