"""Families and the fast selection of tests: every file has a family, and the slowest tests are left out first."""

import subprocess
import sys
from pathlib import Path

import pytest

import families
import selection
from families import PATTERNS, ROOT, family_of
from selection import CompilerClock, Durations, longest_first, read_record, summed, too_slow, write_record

pytestmark = pytest.mark.unit

RECORD = {
    "a.py": Durations(short=3.0, long={"test_x": 5.0, "test_y[1]": 20.0}),
    "b.py": Durations(short=1.0, long={"test_x": 10.0}),
}


def test_every_file_with_tests_belongs_to_a_family():
    assert not [path for path in families.test_files() if family_of(path) not in PATTERNS]


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("tests/exact/test_bhc_exact.py", "bhc"),
        ("tests/estimators/test_bhcc.py", "cross"),
        ("tests/unit/test_crosscat_lanes.py", "cross"),
        ("tests/statistical/test_nrm_geweke.py", "nrm"),
        ("tests/estimators/test_bhmc.py", "nested"),
        ("tests/unit/test_tree_em.py", "trees"),
        ("src/bayesgrove/estimators/tree_hmm_mixture.py", "trees"),
        ("tests/unit/test_fastlog.py", "likelihoods"),
        ("tests/unit/test_inference_chain.py", "engine"),
        ("tests/browser/test_live.py", "report"),
        ("tests/unit/test_new_thing.py", None),
    ],
)
def test_the_first_pattern_that_fits_decides(path, family):
    assert family_of(path) == family


def test_every_family_has_files():
    paths = families.test_files()
    assert {family for family in PATTERNS if not any(family_of(path) == family for path in paths)} == set()


@pytest.mark.parametrize("name", ["nrm", "docs"])
def test_the_files_of_a_family_are_printed(name, capsys):
    assert families.main([name]) == 0
    printed = capsys.readouterr().out.split()
    assert printed
    assert all(family_of(path) == name and (ROOT / path).exists() for path in printed)


@pytest.mark.parametrize("names", [[], ["nonsense"], ["nrm", "nonsense"]])
def test_an_unknown_family_is_answered_with_all_names(names, capsys):
    assert families.main(names) == 2
    assert "bhc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("budget", "left_out"),
    [
        (39.0, set()),
        (38.0, {"a.py::test_y[1]"}),
        (10.0, {"a.py::test_y[1]", "b.py::test_x"}),
        (0.0, {"a.py::test_y[1]", "b.py::test_x", "a.py::test_x"}),
    ],
)
def test_the_slowest_tests_are_left_out_first(budget, left_out):
    assert too_slow(RECORD, budget) == left_out


def test_files_that_take_long_come_first():
    tests = ["new.py::test_z", "b.py::test_x", "a.py::test_y[1]", "b.py::test_w", "a.py::test_x"]
    assert [tests[place] for place in longest_first(tests, RECORD)] == [
        "a.py::test_y[1]", "a.py::test_x", "b.py::test_x", "b.py::test_w", "new.py::test_z",
    ]  # fmt: skip


def test_short_tests_are_recorded_as_a_sum():
    seconds = {"a.py::test_x": 0.1, "a.py::test_y": 0.05, "a.py::TestZ::test_z[1::2]": 2.3449}
    assert summed(seconds) == {"a.py": Durations(0.15, {"TestZ::test_z[1::2]": 2.34})}


def test_a_record_is_read_as_it_was_written(tmp_path):
    write_record(RECORD, tmp_path / "record.json")
    assert read_record(tmp_path / "record.json") == RECORD
    assert len((tmp_path / "record.json").read_text().splitlines()) == 2 + len(RECORD)


def test_compiling_of_callees_counts_once(monkeypatch):
    times = iter([1.0, 4.0, 10.0, 11.5])
    monkeypatch.setattr(selection.time, "perf_counter", lambda: next(times))
    clock = CompilerClock()
    for call in (clock.on_start, clock.on_start, clock.on_end, clock.on_end, clock.on_start, clock.on_end):
        call(None)
    assert clock.seconds == 4.5


def test_the_committed_record_leaves_out_only_tests_that_are_there():
    files = {test.partition("::")[0] for test in too_slow(read_record(), selection.BUDGET)}
    assert {file for file in files if not (ROOT / file).exists()} == set()


CONFTEST = """
from pathlib import Path
import selection
selection.RECORD = Path(__file__).with_name("durations.json")
selection.BUDGET = 1.0
selection.read_record.__defaults__ = selection.write_record.__defaults__ = (selection.RECORD,)
pytest_addoption, pytest_configure = selection.add_options, selection.configure
def pytest_collection_modifyitems(config, items): selection.select(config, items)
"""
TESTS = """
import time
def test_slow(): time.sleep(0.4)
def test_quick(): pass
"""


@pytest.fixture
def run(tmp_path):
    """Run pytest on a project of two tests."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_two.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {Path(selection.__file__).parent}\n")

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_durations_are_recorded_and_used(run, tmp_path, options):
    assert run("--record-durations", *options).returncode == 0
    (file, recorded), *others = read_record(tmp_path / "durations.json").items()
    assert (file, set(recorded.long), others) == ("test_two.py", {"test_slow"}, [])
    assert recorded.long["test_slow"] >= 0.4
    assert "2 passed" in run("--fast", *options).stdout
    write_record({"test_two.py": Durations(0.0, {"test_slow": 10.0})}, tmp_path / "durations.json")
    shown = run("--fast").stdout
    assert "1 passed" in shown
    assert "1 deselected" in shown
    write_record({"test_two.py": Durations(0.0, {selection.ALL: 10.0})}, tmp_path / "durations.json")
    assert "2 deselected" in run("--fast").stdout


def test_whole_files_are_recorded(run):
    done = run("--record-durations", "--fast")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "needs whole files" in done.stderr
