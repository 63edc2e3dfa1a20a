"""Runs that are killed again and again lose no draw, invent none, and end with the bits of one that was not."""

import dataclasses
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bayesgrove
from bayesgrove.inference.run import RunSettings, run_chains
from bayesgrove.inference.status import read_chains
from bayesgrove.inference.store import count_draws, log_path
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
    places = os.pathsep.join((str(Path(bayesgrove.__file__).parents[1]), str(Path(__file__).parents[1])))
    arguments = (folder, settings.n_chains, settings.n_draws, settings.n_jobs, settings.backend)
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": places})


def counts(folder: Path, n_chains: int) -> list[int]:
    return [count_draws(log_path(folder, chain)) for chain in range(n_chains)]


def kill_and_resume(folder: Path, settings: RunSettings, n_kills: int, longest: float) -> list[list[int]]:
    """Kill a run at random moments; gives the draws in its logs after each kill, and checks each of them."""
    whole = run_chains(ToySampler(), SCHEDULE, dataclasses.replace(settings, n_jobs=1))
    moments = random.Random(settings.n_chains)
    history = [[0] * settings.n_chains]
    for _ in range(n_kills):
        with spawn(folder, settings) as child:
            assert child.stdout.readline() == b"ready\n"
            time.sleep(moments.uniform(0.0, longest))
            acknowledged = counts(folder, settings.n_chains)
            child.send_signal(signal.SIGKILL)
        after = counts(folder, settings.n_chains)
        assert np.all(np.array(after) >= acknowledged), "a draw was lost"
        assert np.all(np.array(acknowledged) >= history[-1]), "a draw was lost"
        if (folder / "run.json").exists():
            for trace, result in zip(read_chains(folder), whole, strict=True):
                expected = result.draws["labels"][: trace.n_draws]
                assert trace.arrays().get("labels", expected).tobytes() == expected.tobytes(), "a phantom draw"
        history.append(after)
    resumed = run_chains(ToySampler(), SCHEDULE, dataclasses.replace(settings, n_jobs=1, run_dir=folder, resume=True))
    assert digest(resumed) == digest(whole)
    assert counts(folder, settings.n_chains) == [settings.n_draws] * settings.n_chains
    return history


def settings_for(n_chains: int, n_draws: int) -> RunSettings:
    return RunSettings(n_chains=n_chains, n_draws=n_draws, seed=3, n_jobs=n_chains, backend="threads")


@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 900), (4, 300)])
def test_ten_kills_each(tmp_path, n_chains, n_draws):
    history = kill_and_resume(tmp_path / "run", settings_for(n_chains, n_draws), 10, longest=0.2)
    assert sum(sum(before) < sum(after) for before, after in itertools.pairwise(history)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 8000), (4, 3000)])
def test_two_hundred_kills(tmp_path, n_chains, n_draws):
    history = kill_and_resume(tmp_path / "run", settings_for(n_chains, n_draws), 200, longest=0.2)
    assert sum(sum(before) < sum(after) for before, after in itertools.pairwise(history)) >= 50


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
