"""Runs that are killed again and again lose no draw, invent none, and end with the bits of one that was not."""

import dataclasses
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bayesgrove.inference.run import RunSettings, run_chains
from reference.kills import counts, kill_often, n_rounds_with_draws, start_python
from reference.toy_sampler import SCHEDULE, ToySampler, digest

pytestmark = pytest.mark.statistical

SCRIPT = """
import sys
from reference.toy_sampler import SCHEDULE, ToySampler
from bayesgrove.inference.run import RunSettings, run_chains

folder, n_chains, n_draws, n_jobs, backend = sys.argv[1:]
settings = RunSettings(n_chains=int(n_chains), n_draws=int(n_draws), seed=3, n_jobs=int(n_jobs), backend=backend,
                       run_dir=folder, resume=True)
if n_jobs != "1":
    import joblib  # takes longer than the run lives
print("ready", flush=True)
run_chains(ToySampler(pause=0.0002), SCHEDULE, settings)
"""


def spawn(folder: Path, settings: RunSettings) -> subprocess.Popen:
    return start_python(SCRIPT, folder, settings.n_chains, settings.n_draws, settings.n_jobs, settings.backend)


def kill_and_resume(folder: Path, settings: RunSettings, n_kills: int, longest: float) -> int:
    """Kill a run at random moments and let it end; gives how many of the rounds added draws."""
    whole = run_chains(ToySampler(), SCHEDULE, dataclasses.replace(settings, n_jobs=1))

    def begin():
        child = spawn(folder, settings)
        assert child.stdout.readline() == b"ready\n"

        def kill():
            with child:
                child.send_signal(signal.SIGKILL)

        return kill

    history = kill_often(begin, folder, [result.draws["labels"] for result in whole], n_kills, longest)
    resumed = run_chains(ToySampler(), SCHEDULE, dataclasses.replace(settings, n_jobs=1, run_dir=folder, resume=True))
    assert digest(resumed) == digest(whole)
    assert counts(folder, settings.n_chains) == [settings.n_draws] * settings.n_chains
    return n_rounds_with_draws(history)


def settings_for(n_chains: int, n_draws: int) -> RunSettings:
    return RunSettings(n_chains=n_chains, n_draws=n_draws, seed=3, n_jobs=n_chains, backend="threads")


@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 900), (4, 300)])
def test_ten_kills_each(tmp_path, n_chains, n_draws):
    assert kill_and_resume(tmp_path / "run", settings_for(n_chains, n_draws), 10, longest=0.05) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 8000), (4, 6000)])
def test_two_hundred_kills(tmp_path, n_chains, n_draws):
    assert kill_and_resume(tmp_path / "run", settings_for(n_chains, n_draws), 200, longest=0.1) >= 50


def test_workers_of_a_killed_run_give_way(tmp_path):
    """Processes whose parent was killed notice it and let go of the logs, so that the run can be resumed at once."""
    settings = dataclasses.replace(settings_for(2, 2000), backend="processes")
    folder = tmp_path / "run"
    for _ in range(2):
        with spawn(folder, settings) as child:
            before = sum(counts(folder, 2))
            give_up = time.monotonic() + 60
            while sum(counts(folder, 2)) < before + 5:
                assert time.monotonic() < give_up
                time.sleep(0.02)
            child.send_signal(signal.SIGKILL)
    short = dataclasses.replace(settings, n_draws=50, n_jobs=1)
    resumed = run_chains(ToySampler(), SCHEDULE, dataclasses.replace(short, run_dir=folder, resume=True))
    assert digest(resumed) == digest(run_chains(ToySampler(), SCHEDULE, short))
