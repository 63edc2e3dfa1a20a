"""predict, export, doctor, demo, and a help that is quick."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import fake_model
import pytest

import bayesgrove
from bayesgrove.cli.main import main
from bayesgrove.cli.models import MODELS
from bayesgrove.cli.settings import parse_value
from bayesgrove.cli.show import describe, format_chance
from bayesgrove.cli.sources import listed, reading_of
from bayesgrove.core.errors import InvalidFileError

pytestmark = pytest.mark.unit


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("colour,b,id,a,extra\nblue,1,n1,5,x\n,,n2,-4,y\n")
    return path


def test_predict_finds_columns_by_name_and_names_rows(run, rows, capsys):
    capsys.readouterr()
    assert main(["predict", str(run), str(rows)]) == 0
    assert capsys.readouterr().out == "row,cluster\nn1,1\nn2,0\n"


def test_predict_needs_no_index_column_and_bears_long_identifiers(run, tmp_path, capsys):
    path = tmp_path / "new.csv"
    path.write_text("a,b,colour\n1,1,red\n")
    capsys.readouterr()
    assert main(["predict", str(run), str(path)]) == 0
    assert capsys.readouterr().out == "row,cluster\n0,1\n"
    path.write_text("id,a,b,colour\n123456789012345678901,1,1,red\n")
    assert main(["predict", str(run), str(path)]) == 0
    assert capsys.readouterr().out == "row,cluster\n123456789012345678901,1\n"


def test_columns_are_listed_with_commas_or_one_by_one():
    assert listed(["a", "b, c", '"price, net",d', "two words"]) == ["a", "b", "c", "price, net", "d", "two words"]
    assert listed(None) == []


def test_dropped_columns_are_kept_in_mind(data, tmp_path, capsys):
    folder = tmp_path / "dropped"
    assert main(["fit", "bhc", str(data), "--out", str(folder), "--drop", "id, colour"]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert ([column["name"] for column in summary["columns"]], summary["drop"]) == (["a", "b"], ["id", "colour"])
    capsys.readouterr()
    assert main(["predict", str(folder), str(data)]) == 0
    assert capsys.readouterr().out == "row,cluster\n0,0\n1,1\n2,1\n"
    (tmp_path / "bare.csv").write_text("a,b\n1,1\n")  # new rows need no columns that were dropped
    assert main(["predict", str(folder), str(tmp_path / "bare.csv")]) == 0


@pytest.mark.parametrize("damaged", ["colour", [1]])
def test_a_damaged_list_of_dropped_columns_is_told(damaged):
    with pytest.raises(InvalidFileError, match="the run's drop is damaged"):
        reading_of({"drop": damaged})


def test_predict_probabilities(run, rows, tmp_path, capsys):
    output = tmp_path / "new" / "folder" / "p.csv"
    assert main(["predict", str(run), str(rows), "--proba", "-o", str(output)]) == 0
    assert output.read_text().splitlines() == [
        "row,cluster,p0,p1,new",
        "n1,1,0.125,0.75,0.125",
        "n2,0,0.625,0.25,0.125",
    ]


def test_categories_keep_their_training_codes(run, rows, monkeypatch, capsys):
    import fake_model

    seen = {}

    def remember(model, table):
        seen["table"] = table
        return table.values[:, 0].astype(int)

    monkeypatch.setattr(fake_model.Fake, "predict", remember)
    assert main(["predict", str(run), str(rows)]) == 0
    assert seen["table"].names == ("a", "b", "colour")
    assert seen["table"].kinds[2] == "category"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "the data lack 1 of the columns asked for: colour"),
        ("b\n2\n", "the data lack 2 of the columns asked for: a, colour"),
    ],
)
def test_predict_refuses_other_tables(run, tmp_path, capsys, text, message):
    path = tmp_path / "other.csv"
    path.write_text(text)
    capsys.readouterr()
    assert main(["predict", str(run), str(path)]) == 2
    assert message in capsys.readouterr().err


def test_outputs_are_not_overwritten_unasked(run, rows, tmp_path, capsys):
    output = tmp_path / "kept.csv"
    output.write_text("mine")
    for command in (["predict", str(run), str(rows)], ["export", str(run), "--format", "labels"]):
        assert main([*command, "-o", str(output)]) == 2
        assert "exists already; choose another name or add --force" in capsys.readouterr().err
        assert output.read_text() == "mine"
    (run / "model.bg").write_bytes(b"broken")
    assert main(["export", str(run), "--format", "labels", "-o", str(output), "--force"]) == 2
    assert "damaged or not a bayesgrove model file" in capsys.readouterr().err
    assert output.read_text() == "mine"


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("labels", "row,cluster\n'=x1,0\ny2,1\nz3,1\n"),
        ("newick", "(=x1,y2,z3);\n"),
        ("linkage", "left,right,height,size\n0,1,0.5,2\n"),
        ("json", '{"parent": [4, 3, 3, 4, -1]}\n'),
    ],
)
def test_export(run, tmp_path, capsys, format, expected):
    capsys.readouterr()
    assert main(["export", str(run), "--format", format]) == 0
    assert capsys.readouterr().out == expected
    assert main(["export", str(run), "--format", format, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text() == expected


def test_export_refusals(run, tmp_path, capsys):
    assert main(["export", str(run), "--format", "yaml"]) == 2
    assert "--format is one of labels, views, newick, linkage, json, netcdf, got 'yaml'" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "no"), "--format", "labels"]) == 2
    assert "there is no run folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"{}", "lists no columns"),
        (None, "not a bayesgrove run"),
    ],
)
def test_damaged_summaries(run, capsys, content, message):
    (run / "summary.json").unlink() if content is None else (run / "summary.json").write_bytes(content)
    capsys.readouterr()
    assert main(["export", str(run), "--format", "labels"]) == 2
    assert message in capsys.readouterr().err


def test_pipes_and_devices_neither_hang_nor_vanish(run, tmp_path, capsys):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert main(["fit", "bhc", str(pipe), "--out", str(tmp_path / "r")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert main(["export", str(run), "--format", "labels", "-o", str(pipe), "--force"]) == 2
    assert "is no ordinary file" in capsys.readouterr().err
    for name, message in (("summary.json", "it has no summary.json"), ("model.bg", "there is no model file")):
        kept = (run / name).read_bytes()
        (run / name).unlink()
        os.mkfifo(run / name)
        assert main(["export", str(run), "--format", "labels"]) == 2
        assert message in capsys.readouterr().err
        (run / name).unlink()
        (run / name).write_bytes(kept)


def test_doctor(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "uci" / "zoo").mkdir(parents=True)
    (tmp_path / "uci" / "zoo" / "zoo.data.gz").write_bytes(b"")
    monkeypatch.setenv("BAYESGROVE_DATA", str(tmp_path))
    assert main(["doctor"]) == 0
    shown = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert shown["zoo"] == ["found"]
    assert shown["sonar"] == ["missing"]
    assert shown["numpy"][0][0].isdigit()


def test_doctor_without_a_cache(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    assert main(["doctor"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "not writable" in shown
    assert "set NUMBA_CACHE_DIR to a folder you may write to" in shown


def test_demo(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    shown = capsys.readouterr().out
    assert "cluster  class_0  class_1  class_2" in shown
    assert "Given this tree" in shown
    assert "import bayesgrove as bg" in shown
    assert (tmp_path / "demo" / "tree.png").is_file()
    assert json.loads((tmp_path / "demo" / "summary.json").read_text())["n_rows"] == 178
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0  # it may replace its own run
    assert main(["export", str(tmp_path / "demo"), "--format", "newick"]) == 0
    assert "class_0 #0," in capsys.readouterr().out


def test_values_are_json_scalars_or_text():
    found = [parse_value(text) for text in ("1", "0.5", "true", "null", "half", '"1"', "[1]", "1e-3", "")]
    assert found == [1, 0.5, True, None, "half", "1", "[1]", 0.001, ""]


def test_chances_never_claim_certainty():
    assert [format_chance(p) for p in (1.0, 0.5, 0.0)] == ["> .999", ".500", "< .001"]


def test_describe_is_short():
    assert describe(0.1 + 0.2) == "0.3"
    assert describe("x" * 100) == "x" * 59 + "…"


PROBE = """
import sys
from bayesgrove.cli.main import main
for arguments in (["--help"], ["fit", "--help"], ["demo", "--help"], ["fit", "bhc"]):
    main(arguments)
heavy = {"numba", "sklearn", "scipy", "pandas", "matplotlib", "numpy"} & set(sys.modules)
print("HEAVY", sorted(heavy))
"""


def test_help_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "HEAVY []" in done.stdout
    names = f"{','.join(MODELS)}."
    assert f"Oneof:{names}" in "".join(done.stdout.split())  # lines break at hyphens, too


def test_a_closed_pipe_ends_quietly(run):
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from bayesgrove.cli import models;"
        "models.LOADER = 'fake_model:load'; from bayesgrove.cli.main import main;"
        f"sys.exit(main(['export', {str(run)!r}, '--format', 'labels']))"
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", script], stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""


def test_the_package_is_the_command():
    done = subprocess.run([sys.executable, "-m", "bayesgrove", "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("bayesgrove ")
    done = subprocess.run([sys.executable, "-m", "bayesgrove", "unknown"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2


def test_no_arguments_give_help(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: bayesgrove [OPTIONS] COMMAND")


def test_demo_spares_other_runs(run, capsys):
    assert main(["demo", "--out", str(run)]) == 2
    assert "holds a run already" in capsys.readouterr().err


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"bayesgrove {bayesgrove.__version__}\n"


def test_the_list_of_commands_is_not_cut_short(capsys):
    assert main(["--help"]) == 0
    assert "..." not in capsys.readouterr().out.split("Commands:")[1]
    assert main(["impute", "--help"]) == 0
    assert "RUN} [DATA]\n" in capsys.readouterr().out


@pytest.fixture
def usual_ctrl_c():
    """Python's own handler: a shell that runs tests in the background has SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_ctrl_c")
def test_ctrl_c_that_the_compiler_swallows_is_no_fault_of_ours(data, tmp_path, capsys, monkeypatch):
    """Compilers call back through ctypes, which drops exceptions: what comes out is an error of the compiler's own."""

    def compile_and_fail(*_):
        @ctypes.CFUNCTYPE(None)
        def callback():
            signal.raise_signal(signal.SIGINT)

        callback()
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(fake_model.Fake, "fit", compile_and_fail)
    assert main(["fit", "bhc", str(data), "--out", str(tmp_path / "new"), "--index", "id"]) == 130
    assert capsys.readouterr().err == "bayesgrove: interrupted before the end.\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
