"""Work in another process: an error there is told and forgotten, one here is raised; kernels compiled in both."""

import logging
from concurrent.futures import Future

import numba
import numpy as np
import pytest

from bayesgrove.core.jit import is_compiled
from bayesgrove.core.subprocesses import compile_in_two, working_in_subprocess

pytestmark = pytest.mark.unit


def refuse(**settings):
    raise RuntimeError("no processes here")


def fail(number):
    raise RuntimeError(f"it failed there with {number}")


def write(path, text):
    path.write_text(text)


def test_what_another_process_cannot_do_is_told(caplog):
    reached = []
    with caplog.at_level(logging.DEBUG, logger="bayesgrove"), working_in_subprocess(fail, 7):
        reached.append(True)
    assert reached
    assert "it failed there with 7" in caplog.text


def test_where_there_are_no_processes_the_block_runs(monkeypatch, caplog):
    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", refuse)
    reached = []
    with caplog.at_level(logging.DEBUG, logger="bayesgrove"), working_in_subprocess(fail, 7):
        reached.append(True)
    assert reached
    assert "no processes here" in caplog.text


def test_the_work_is_done_when_the_block_ends(tmp_path):
    with working_in_subprocess(write, tmp_path / "found.txt", "done"):
        pass
    assert (tmp_path / "found.txt").read_text() == "done"


def test_an_error_of_this_process_is_not_swallowed():
    with pytest.raises(ZeroDivisionError), working_in_subprocess(fail, 7):
        raise ZeroDivisionError


@pytest.fixture
def calls():
    """Two kernels that nobody has called, on no disk either, and calls of them with vectors of a type."""

    @numba.njit
    def total(x):
        return x.sum()

    @numba.njit
    def largest(x):
        return x.max()

    return (total, largest), lambda x: [(total, (x,))], lambda x: [(largest, (x,))]


@pytest.fixture
def same_process(monkeypatch):
    """The other process's share is done in this one; it lists the shares."""
    shares = []

    class Here:
        def __init__(self, **_):
            pass

        def submit(self, work, *arguments):
            shares.append(arguments)
            made = Future()
            made.set_result(work(*arguments))
            return made

        def shutdown(self, **_):
            pass

    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", Here)
    return shares


def test_all_kernels_are_compiled_once(calls, same_process):
    kernels, here, there = calls
    x, rehearsals = np.zeros(2), []
    assert not any(is_compiled(one, x) for one in kernels)
    for _ in range(2):
        compile_in_two(here, there, x, rehearse=lambda: rehearsals.append(1))
        assert all(is_compiled(one, x) for one in kernels)
    assert rehearsals == [1]
    assert same_process == [(there, x)]
    assert not is_compiled(kernels[0], np.zeros((2, 2)))


def test_where_no_process_can_be_had_the_calls_here_are_compiled(calls, monkeypatch):
    kernels, here, there = calls
    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", refuse)
    x = np.zeros(2)
    compile_in_two(here, there, x)
    assert [is_compiled(one, x) for one in kernels] == [True, False]
