"""Work in another process: an error there is told and forgotten, one here is raised."""

import logging

import pytest

from bayesgrove.core.elsewhere import working_elsewhere

pytestmark = pytest.mark.unit


def refuse(**settings):
    raise RuntimeError("no processes here")


def fail(number):
    raise RuntimeError(f"it failed there with {number}")


def write(path, text):
    path.write_text(text)


def test_what_another_process_cannot_do_is_told(caplog):
    reached = []
    with caplog.at_level(logging.DEBUG, logger="bayesgrove"), working_elsewhere(fail, 7):
        reached.append(True)
    assert reached
    assert "it failed there with 7" in caplog.text


def test_where_there_are_no_processes_the_block_runs(monkeypatch, caplog):
    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", refuse)
    reached = []
    with caplog.at_level(logging.DEBUG, logger="bayesgrove"), working_elsewhere(fail, 7):
        reached.append(True)
    assert reached
    assert "no processes here" in caplog.text


def test_the_work_is_done_when_the_block_ends(tmp_path):
    with working_elsewhere(write, tmp_path / "found.txt", "done"):
        pass
    assert (tmp_path / "found.txt").read_text() == "done"


def test_an_error_of_this_process_is_not_swallowed():
    with pytest.raises(ZeroDivisionError), working_elsewhere(fail, 7):
        raise ZeroDivisionError
