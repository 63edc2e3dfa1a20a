"""Nothing is silent: lines while kernels are compiled and while people wait, and Ctrl+C meanwhile."""

import logging
import os
import signal
import subprocess
import sys
import time

import numba
import pytest

from bayesgrove.core import compilation, notices
from bayesgrove.core.compilation import COMPILATION, telling_of_compilation, tells_of_compilation
from bayesgrove.core.notices import tell, telling

pytestmark = pytest.mark.unit


@pytest.fixture
def at_once(monkeypatch):
    """No patience: whatever is compiled is told of, again and again."""
    for name, seconds in (("FIRST", 0.0), ("LAST", 0.02), ("SECONDS", 0.02), ("TICK", 0.005)):
        monkeypatch.setattr(compilation, name, seconds)


def wait_for(condition):
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.002)


def test_compilation_is_told_of_at_its_start_every_while_and_at_its_end(at_once, caplog):
    with caplog.at_level(logging.INFO, "bayesgrove.progress"), telling_of_compilation("Model"):
        COMPILATION.begin()
        wait_for(lambda: "kernels so far" in caplog.text)
        COMPILATION.end()
        wait_for(lambda: "compiled 0 kernels of Model in" in caplog.text)
    assert caplog.records[0].getMessage().startswith("compiling Model for this kind of data")
    assert not COMPILATION.n_active


def test_kernels_are_counted(at_once, caplog):
    with caplog.at_level(logging.INFO, "bayesgrove.progress"), telling_of_compilation("Model"):
        before = COMPILATION.n_done
        numba.njit(lambda x: x + 1)(1)
    assert COMPILATION.n_done == before + 1


def test_what_is_compiled_outside_of_fits_is_not_told_of(at_once, caplog):
    with caplog.at_level(logging.INFO, "bayesgrove.progress"):
        COMPILATION.begin()
        time.sleep(0.05)
        COMPILATION.end()
    assert not caplog.records


def test_fits_within_fits_speak_with_one_voice():
    class Inner:
        @tells_of_compilation
        def fit(self):
            return COMPILATION.what

    with telling_of_compilation("Outer"):
        assert Inner().fit() == "Outer"
    assert Inner().fit() == "Inner"
    assert COMPILATION.what == ""


class Pressed:
    """A fit during which Ctrl+C is pressed: its exception is lost in a callback, or becomes another one."""

    @tells_of_compilation
    def fit(self, then):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            then()
        return "the fit went on"


def fail():
    raise RuntimeError("lowering failed")


@pytest.mark.parametrize("then", [lambda: numba.njit(lambda x: x + 2)(1), fail], ids=["swallowed", "made an error"])
def test_a_ctrl_c_while_kernels_are_compiled_ends_the_fit(then):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        Pressed().fit(then)
    assert signal.getsignal(signal.SIGINT) is before


def test_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="lowering"), telling_of_compilation("Model"):
        fail()


def test_lines_go_to_stderr_where_nobody_has_set_up_logging():
    script = "from bayesgrove.core.notices import tell; tell('one line')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "bayesgrove: one line\n")


def test_lines_can_be_silenced(monkeypatch, capsys):
    monkeypatch.setattr(notices.logger, "propagate", False)
    monkeypatch.setattr(notices.logger, "level", logging.WARNING)
    notices.logger.manager._clear_cache()
    tell("not wanted")
    assert capsys.readouterr().err == ""
    monkeypatch.undo()
    notices.logger.manager._clear_cache()


def test_a_line_comes_now_and_then_until_it_is_ended(caplog):
    with caplog.at_level(logging.INFO, "bayesgrove.progress"), telling(lambda: "waiting", 0.01) as end:
        wait_for(lambda: len(caplog.records) >= 2)
        end()
        time.sleep(0.03)
        n_lines = len(caplog.records)
        time.sleep(0.05)
        assert len(caplog.records) == n_lines
    assert {record.getMessage() for record in caplog.records} == {"waiting"}
