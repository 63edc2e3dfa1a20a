"""`python -m benchmarks all`: parts in new processes, finished ones kept, failures said and passed over."""

import argparse
import importlib
import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def suite():
    """Of the benchmarks, which are beside the package, not in it."""
    sys.path.append(str(ROOT))
    yield importlib.import_module("benchmarks.suite")
    sys.path.remove(str(ROOT))


def asked(tmp_path, **changes):
    usual = {"out": tmp_path, "quick": True, "repeats": 1, "force": False, "only": None, "seed": 3, "hours": 1.0}
    return argparse.Namespace(**{**usual, **changes})


def test_parts_are_chosen_by_name(suite):
    jobs = [suite.Job("a"), suite.Job("b", "x"), suite.Job("b", "y")]
    assert suite.choose(jobs, None) == jobs
    assert suite.choose(jobs, ["b"]) == jobs[1:]
    assert suite.choose(jobs, ["a", "b/y"]) == [jobs[0], jobs[2]]
    with pytest.raises(SystemExit, match="must name benchmarks, got b/z"):
        suite.choose(jobs, ["b/z"])


def test_what_is_finished_with_the_same_settings_is_not_run_again(suite, tmp_path):
    job = suite.Job("b", "x")
    assert not suite.is_finished(job, asked(tmp_path))
    (tmp_path / "b-x.json").write_text(json.dumps({"quick": True, "repeats": 1}))
    assert suite.is_finished(job, asked(tmp_path))
    assert not suite.is_finished(job, asked(tmp_path, quick=False))
    assert not suite.is_finished(job, asked(tmp_path, repeats=5))
    (tmp_path / "b-x.json").write_text('{"quick": tr')
    assert not suite.is_finished(job, asked(tmp_path))


def test_a_part_that_fails_says_so_and_leaves_no_document(suite, tmp_path, capsys):
    (tmp_path / "no-such-benchmark.json").write_text("{}")
    suite.run_job(suite.Job("no-such-benchmark"), asked(tmp_path))
    assert suite.read_documents(tmp_path) == []
    assert "invalid choice" in suite.read_failures(tmp_path)["no-such-benchmark"]
    assert "failed" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="needs a shell and process groups")
def test_a_part_that_takes_too_long_is_ended_with_its_children(suite):
    """Both hold the pipe's end to write: it closes when the last of them is gone."""
    reading, writing = os.pipe()
    try:
        assert suite.wait(["sh", "-c", "sleep 600 & echo begun >&2; wait"], writing, 1.5) is None
    finally:
        os.close(writing)
    assert os.read(reading, 100) == b"begun\n"
    is_over, _, _ = select.select([reading], [], [], 60.0)
    assert is_over
    assert os.read(reading, 100) == b""
    os.close(reading)


@pytest.mark.slow
def test_all_on_tiny_parts(suite, tmp_path):
    """Two parts in a quick run by the command itself, twice: the second time nothing is run."""
    command = [sys.executable, "-m", "benchmarks", "all", "--quick", "--repeats", "1", "--out", str(tmp_path)]
    command += ["--only", "report", "nested/anchor"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    first = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert {path.name for path in tmp_path.glob("*.json")} == {"report.json", "nested-anchor.json"}
    assert "page of a fit of 1,000 rows | <= 1.5 MB |  | not measured" in first.stdout
    (document,) = (d for d in suite.read_documents(tmp_path) if d["benchmark"] == "nested")
    assert document["load"]["before"]["cores"] == os.cpu_count()
    assert document["quick"]
    again = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert again.stderr.count("finished before") == 2
    assert again.stdout == first.stdout
