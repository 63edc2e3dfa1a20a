"""Runs that are killed at random moments, and what must hold of their logs after each kill."""

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import bayesgrove
from bayesgrove.inference.status import read_chains
from bayesgrove.inference.store import count_draws, log_path


def start_python(script: str, *arguments: object) -> subprocess.Popen:
    """A process that runs a script with the library and the tests' own modules, its pipes open."""
    own = (str(Path(bayesgrove.__file__).parents[1]), str(Path(__file__).parents[1]))
    places = os.pathsep.join((*own, *filter(None, (os.environ.get("PYTHONPATH"),))))
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": places}
    )


@contextlib.contextmanager
def nursery(script: str, *arguments: object) -> Iterator[Callable[[], Callable[[], None]]]:
    """A process that says "ready", makes a copy of itself for each line of input, and tells its number and its end.

    Gives a function that begins a copy and gives the one that kills it: compiled code is read once, not for each run.
    """
    with start_python(script, *arguments) as process:
        assert process.stdout.readline() == b"ready\n"

        def begin() -> Callable[[], None]:
            process.stdin.write(b"\n")
            process.stdin.flush()
            child = int(process.stdout.readline())

            def kill() -> None:
                with contextlib.suppress(ProcessLookupError):  # it may have come to its end
                    os.kill(child, signal.SIGKILL)
                assert process.stdout.readline() == b"gone\n"

            return kill

        yield begin
        process.stdin.close()


def counts(folder: Path, n_chains: int) -> list[int]:
    """Draws in the log of each chain."""
    return [count_draws(log_path(folder, chain)) for chain in range(n_chains)]


def wait_for_draws(folder: Path, n_chains: int, wanted: int) -> None:
    """Come back when the chains have so many draws together, however slow the machine is."""
    give_up = time.monotonic() + 300
    while sum(counts(folder, n_chains)) < wanted:
        assert time.monotonic() < give_up
        time.sleep(0.001)


def kill_often(
    begin: Callable[[], Callable[[], None]],
    folder: Path,
    whole: Sequence[np.ndarray],
    n_kills: int,
    longest: float,
    name: str = "labels",
    each_adds: bool = False,
    moments: random.Random | None = None,
) -> list[list[int]]:
    """Kill a run again and again; gives the draws in its logs after each kill, and checks all of them.

    Parameters
    ----------
    begin : callable
        Starts or resumes the run in a process of its own and gives a function that kills it.
    folder : path
        Of the run.
    whole : sequence of arrays of shape (n_draws, ...)
        Labels, or what `name` says, of each chain when nobody kills it.
    n_kills, longest : int and float
        How often, and how many seconds at most after it was begun or has added draws.
    name : str
        Of the array of draws.
    each_adds : bool
        Wait for draws before each kill; else every third comes without, mostly before the run has read its logs.
    moments : random.Random, optional
        Chooses for how many draws and how long to wait.
    """
    n_chains, n_draws = len(whole), sum(map(len, whole))
    moments = moments or random.Random(n_chains)
    history = [[0] * n_chains]
    for turn in range(n_kills):
        kill, done = begin(), sum(history[-1])
        if each_adds or turn % 3:
            more = moments.randrange(1, max(2, (n_draws - done) // n_kills))
            wait_for_draws(folder, n_chains, min(n_draws, done + more))
        time.sleep(moments.uniform(0.0, longest))
        acknowledged = counts(folder, n_chains)
        kill()
        after = counts(folder, n_chains)
        assert np.all(np.array(after) >= acknowledged), "a draw was lost"
        assert np.all(np.array(acknowledged) >= history[-1]), "a draw was lost"
        if (folder / "run.json").exists():
            for trace, labels in zip(read_chains(folder), whole, strict=True):
                expected = labels[: trace.n_draws]
                assert np.array_equal(trace.arrays().get(name, expected), expected), "a phantom draw"
        history.append(after)
    return history


def n_rounds_with_draws(history: list[list[int]]) -> int:
    """How many of the rounds added draws."""
    totals = [sum(counts) for counts in history]
    return sum(before < after for before, after in itertools.pairwise(totals))
