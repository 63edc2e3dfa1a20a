"""Boards, progress, Ctrl+C."""

import contextlib
import dataclasses
import io
import logging
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import bayesgrove
from bayesgrove.inference import board as boards
from bayesgrove.inference.board import Board, ChainView, new_board, read_board
from bayesgrove.inference.monitors import (
    Monitor,
    PlainMonitor,
    RichMonitor,
    default_monitor,
    describe,
    heeding_ctrl_c,
    watching,
)
from bayesgrove.inference.run import RunSettings, run_chains
from bayesgrove.inference.status import run_status
from reference.toy_sampler import SCHEDULE, ToySampler, digest

pytestmark = pytest.mark.unit

SETTINGS = RunSettings(n_chains=2, n_draws=60, seed=3, n_jobs=1)
VIEW = ChainView(boards.DRAWING, 130, 1000, 30, -12.5, 4.0, 10.0, 30, 5)


def test_a_board_is_shared_through_its_file(tmp_path):
    with new_board(2, tmp_path, shared=True) as board:
        other = pickle.loads(pickle.dumps(board))
        other.write(1, VIEW)
        assert board.views() == [ChainView(log_joint=0.0, n_clusters=0.0), VIEW]
        assert not board.is_stopped
        other.stop()
        assert board.is_stopped
        assert read_board(tmp_path, 2).view(1) == VIEW
        assert read_board(tmp_path, 3) is None
    assert read_board(tmp_path, 2) is None
    assert list(tmp_path.iterdir()) == []


def test_who_comes_late_cannot_touch_the_board_of_the_next_run(tmp_path):
    with new_board(1, tmp_path, shared=True) as board:
        late = pickle.dumps(board)
    for again in (False, True):
        with new_board(1, tmp_path, shared=True) if again else contextlib.nullcontext(Board(1)) as board:
            old = pickle.loads(late)
            assert old.is_stopped
            old.write(0, VIEW)
            assert not board.is_stopped
            assert board.view(0).sweep == 0


def test_a_board_on_another_machine_is_its_own(tmp_path, monkeypatch):
    with new_board(1, tmp_path, shared=True) as board:
        sent = pickle.dumps(board)
        with monkeypatch.context() as patched:
            patched.setattr(boards.platform, "node", lambda: "elsewhere")
            remote = pickle.loads(sent)
        remote.write(0, VIEW)
        board.stop()
        assert not remote.is_stopped
        assert board.view(0).sweep == 0


def test_a_board_without_a_folder():
    with new_board(2, None, shared=True) as board:
        assert board.path.parent.is_dir()
    assert not board.path.parent.exists()
    with new_board(2, None, shared=False) as board:
        assert board.path is None
        board.write(0, VIEW)
        assert board.view(0) == VIEW


def test_nonsense_on_a_board_harms_nobody(tmp_path):
    (tmp_path / "board.bin").write_bytes(np.array([[np.nan, np.inf, -1.0] * 3] * 2).tobytes())
    view = read_board(tmp_path, 1).view(0)
    assert (view.phase, view.sweep, view.n_sweeps) == (0, 0, 0)
    describe(view)


def test_pace_and_time_left():
    assert VIEW.draws_per_second == 2.5
    assert VIEW.seconds_left == 87.0
    assert ChainView().draws_per_second == 0.0
    assert ChainView().seconds_left == math.inf
    assert describe(VIEW) == {
        "phase": "drawing", "sweep": "130/1,000", "draws": "30", "draws/s": "2.5", "log joint": "-12.5",
        "clusters": "4", "left": "1:27",
    }  # fmt: skip
    assert describe(VIEW._replace(seconds=1000.0))["left"] == "2:25:00"
    assert describe(ChainView())["left"] == describe(ChainView())["log joint"] == ""


def test_the_table_has_a_line_per_chain():
    stream = io.StringIO()
    monitor = RichMonitor(Console(file=stream, force_terminal=True, width=120))
    monitor.start([VIEW, ChainView()])
    monitor.update([VIEW, ChainView(boards.FINISHED)])
    monitor.stop([VIEW, VIEW])
    text = stream.getvalue()
    for word in ("draws/s", "log joint", "130/1,000", "-12.5", "1:27", "waiting", "finished"):
        assert word in text


def test_plain_lines_come_for_chains_that_moved(caplog):
    monitor = PlainMonitor()
    with caplog.at_level(logging.INFO, "bayesgrove"):
        monitor.update([VIEW, ChainView()])
        monitor.update([VIEW, VIEW._replace(sweep=131)])
    first, second = (record.getMessage() for record in caplog.records)
    assert first == (
        "chain 0: phase drawing, sweep 130/1,000, draws 30, draws/s 2.5, log joint -12.5, clusters 4, left 1:27"
    )
    assert second.startswith("chain 1: phase drawing, sweep 131/1,000")


def test_the_monitor_fits_the_place(monkeypatch):
    assert isinstance(default_monitor(), PlainMonitor)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert isinstance(default_monitor(), RichMonitor)
    monkeypatch.setattr(sys, "stderr", None)
    assert isinstance(default_monitor(), PlainMonitor)


class Diary(Monitor):
    seconds = 0.02

    def __init__(self):
        self.views = []
        self.calls = []

    def start(self, views):
        self.calls.append("start")

    def update(self, views):
        self.calls.append("update")
        self.views.append(views)

    def stop(self, views):
        self.calls.append("stop")


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "auto"), (2, "threads"), (2, "processes")])
def test_monitors_see_the_chains_move(n_jobs, backend):
    diary = Diary()
    settings = dataclasses.replace(SETTINGS, n_jobs=n_jobs, backend=backend)
    results = run_chains(ToySampler(pause=0.002), SCHEDULE, settings, diary)
    assert diary.calls[0] == "start"
    assert diary.calls[-1] == "stop"
    assert digest(results) == digest(run_chains(ToySampler(), SCHEDULE, SETTINGS))
    for chain in range(2):
        seen = [views[chain] for views in diary.views]
        assert sorted(view.sweep for view in seen) == [view.sweep for view in seen]
        assert sum(0 < view.sweep < 135 for view in seen) >= 3
        last = seen[-1]
        assert (last.phase, last.sweep, last.n_sweeps, last.n_draws) == (boards.FINISHED, 135, 135, 60)
        assert last.n_clusters == results[chain].scalars["n_clusters"][-1]
        assert last.log_joint == results[chain].scalars["log_joint"][-1]


def test_numbers_are_shown_in_the_burn_in_too():
    diary = Diary()
    schedule = dataclasses.replace(SCHEDULE, n_tune=60)
    run_chains(ToySampler(pause=0.002), schedule, dataclasses.replace(SETTINGS, n_draws=1), diary)
    tuning = [views[0] for views in diary.views if views[0].phase == boards.TUNING]
    assert tuning
    assert all(view.n_clusters >= 1 for view in tuning)


@pytest.mark.parametrize("method", ["start", "update", "stop"])
def test_a_monitor_that_fails_harms_no_chain(method, caplog):
    class Clumsy(Diary):
        pass

    def fail(self, views):
        raise RuntimeError("ink is out")

    setattr(Clumsy, method, fail)
    with caplog.at_level(logging.ERROR, "bayesgrove"):
        results = run_chains(ToySampler(), SCHEDULE, SETTINGS, Clumsy())
    assert "the monitor of the run failed; the run goes on" in caplog.text
    assert digest(results) == digest(run_chains(ToySampler(), SCHEDULE, SETTINGS))


def test_no_thread_is_left_behind():
    before = threading.active_count()
    with watching(Diary(), Board(1)):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_the_first_ctrl_c_asks_and_the_second_interrupts(caplog):
    before = signal.getsignal(signal.SIGINT)
    board = Board(1)
    with caplog.at_level(logging.WARNING, "bayesgrove"), heeding_ctrl_c(board) as interrupted:
        assert not interrupted.is_set
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set
        assert board.is_stopped
        assert "chains finish their sweep and save; press it again" in caplog.text
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_cannot_listen_and_do_not():
    results = []
    thread = threading.Thread(target=lambda: results.extend(run_chains(ToySampler(), SCHEDULE, SETTINGS)))
    thread.start()
    thread.join()
    assert digest(results) == digest(run_chains(ToySampler(), SCHEDULE, SETTINGS))


class Pressing(Monitor):
    """Presses Ctrl+C when the first chain has some draws."""

    seconds = 0.01

    def __init__(self):
        self.pressed = False

    def update(self, views):
        if not self.pressed and views[0].n_draws >= 5:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_without_a_folder_says_that_draws_are_lost():
    settings = dataclasses.replace(SETTINGS, n_draws=100_000)
    with pytest.raises(KeyboardInterrupt, match=r"in memory only\. Give run_dir to be able to resume"):
        run_chains(ToySampler(), SCHEDULE, settings, Pressing())


def test_workers_that_die_of_ctrl_c_are_no_error_of_their_own(tmp_path, monkeypatch):
    """Idle workers of an earlier use of joblib get the signal too, and joblib then calls its pool broken."""
    settings = dataclasses.replace(SETTINGS, run_dir=tmp_path / "run", n_draws=12)
    run_chains(ToySampler(), SCHEDULE, settings)

    def broken(*arguments):
        signal.raise_signal(signal.SIGINT)
        raise RuntimeError("a worker has died")

    monkeypatch.setattr("bayesgrove.inference.run._map", broken)
    with pytest.raises(KeyboardInterrupt, match=r"24 draws are safe in .*\(12, 12 by chain\)"):
        run_chains(ToySampler(), SCHEDULE, dataclasses.replace(settings, resume=True, n_draws=20))


SCRIPT = """
import sys
from reference.toy_sampler import SCHEDULE, ToySampler
from bayesgrove.inference.run import RunSettings, run_chains

settings = RunSettings(n_chains=2, n_draws=int(sys.argv[2]), seed=3, n_jobs=int(sys.argv[3]), backend=sys.argv[4],
                       run_dir=sys.argv[1], resume=True)
try:
    run_chains(ToySampler(pause=float(sys.argv[5])), SCHEDULE, settings)
    print("finished")
except KeyboardInterrupt as error:
    print("interrupted:", error)
"""


def spawn(*arguments):
    places = os.pathsep.join((str(Path(bayesgrove.__file__).parents[1]), str(Path(__file__).parents[1])))
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": places}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, start_new_session=True)


def wait_for_draws(folder, n_draws):
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if (folder / "run.json").exists() and run_status(folder).chains[0].n_draws >= n_draws:
            return
        time.sleep(0.02)
    pytest.fail("the chain did not get so far in a minute")


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "auto"), (2, "threads"), (2, "processes")])
def test_ctrl_c_at_a_terminal_saves_and_says_how_to_go_on(tmp_path, n_jobs, backend):
    """A terminal sends the signal to all processes of the group, workers as well."""
    folder = tmp_path / "run"
    with spawn(folder, 100_000, n_jobs, backend, 0.001) as child:
        wait_for_draws(folder, 5)
        os.killpg(child.pid, signal.SIGINT)
        message = child.stdout.read().decode()
    assert child.returncode == 0
    safe = [chain.n_draws for chain in run_status(folder).chains]
    assert f"interrupted: stopped by Ctrl+C; {sum(safe)} draws are safe in" in message
    assert f"({safe[0]}, {safe[1]} by chain). Run the same again with resume=True" in message
    assert not run_status(folder).is_running
    n_draws = safe[0] + 10
    settings = dataclasses.replace(SETTINGS, n_draws=n_draws)
    resumed = run_chains(ToySampler(), SCHEDULE, dataclasses.replace(settings, run_dir=folder, resume=True))
    assert digest(resumed) == digest(run_chains(ToySampler(), SCHEDULE, settings))


def test_a_second_ctrl_c_does_not_wait_for_the_sweep(tmp_path):
    folder = tmp_path / "run"
    with spawn(folder, 100, 1, "auto", 30.0) as child:
        give_up = time.monotonic() + 60
        while not (folder / "chain-0.log").exists() and time.monotonic() < give_up:
            time.sleep(0.02)
        time.sleep(0.2)
        start = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        time.sleep(0.2)
        assert child.poll() is None
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.read() == b"interrupted: \n"
    assert time.monotonic() - start < 15
