"""Kernels compiled in two processes: asked for once, and without the other process too."""

from concurrent.futures import Future

import numba
import numpy as np
import pytest

from bayesgrove.core import elsewhere
from bayesgrove.core.elsewhere import compile_in_two
from bayesgrove.core.jit import is_compiled


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

    def refuse(**_):
        raise OSError("no more processes")

    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", refuse)
    x = np.zeros(2)
    compile_in_two(here, there, x)
    assert [is_compiled(one, x) for one in kernels] == [True, False]


def test_errors_of_the_block_are_not_taken_for_those_of_the_other_process(same_process):
    with pytest.raises(ZeroDivisionError), elsewhere.working_elsewhere(len, ()):
        raise ZeroDivisionError
