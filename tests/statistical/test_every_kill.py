"""Every estimator killed while it fits and saves: files are whole or absent, chains lose no draw and invent none."""

import contextlib
import os
import random
import signal
import time

import pytest

import bayesgrove as bg
from reference.estimators import chain_estimators, data_for, draws_of, make, public_estimators, same_draws
from reference.kills import counts, kill_often, n_rounds_with_draws, start_python

pytestmark = pytest.mark.statistical

N_DRAWS = 400
SCRIPT = """
import os, sys
import joblib  # takes longer than a run lives
from statistical.test_every_kill import fit_and_save, fit_chains

WORK = {"save": fit_and_save, "chains": fit_chains}
print("ready", flush=True)
for line in sys.stdin:
    task, name, folder = line.split()
    if os.path.exists(folder):
        child = os.fork()
        if child == 0:
            WORK[task](name, folder)
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)
    else:
        WORK[task](name, None)  # kernels are read once; later lines make copies of this process
    print("gone", flush=True)
"""


def fit_and_save(name, folder):
    """Fit, and save again and again until killed; without a folder fit once."""
    model = make(name, n_jobs=1).fit(data_for(name))
    while folder is not None:
        model.save(os.path.join(folder, "model.bg"))


def fit_chains(name, folder):
    """Go on with the chains in a folder; without one in memory."""
    place = {} if folder is None else {"run_dir": os.path.join(folder, "run"), "resume": True}
    return make(name, n_jobs=1, n_draws=N_DRAWS, **place).fit(data_for(name))


class Nursery:
    """One process for all estimators, of which it makes a copy for each fit that is to be killed."""

    def __enter__(self):
        self.process = start_python(SCRIPT).__enter__()
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.__exit__(*error)

    def ask(self, task, name, folder):
        """A line of input, and the answer."""
        self.process.stdin.write(f"{task} {name} {folder}\n".encode())
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def ready(self, task, name):
        """A function that begins a fit in a folder and gives the one that kills it; kernels have been read."""
        assert self.ask(task, name, os.devnull + "-not") == b"gone\n"
        return lambda folder: self.begin(task, name, folder)

    def begin(self, task, name, folder):
        """Begin a fit; gives the function that kills it."""
        child = int(self.ask(task, name, folder))

        def kill():
            with contextlib.suppress(ProcessLookupError):  # it may have come to its end
                os.kill(child, signal.SIGKILL)
            assert self.process.stdout.readline() == b"gone\n"

        return kill


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


@pytest.mark.parametrize("name", tuple(public_estimators()))
def test_killed_saves_leave_whole_files_or_none(name, nursery, tmp_path):
    whole = make(name, n_jobs=1).fit(data_for(name)).labels_
    begin, moments, n_files = nursery.ready("save", name), random.Random(name), 0
    for turn in range(5):
        folder = tmp_path / str(turn)
        folder.mkdir()
        kill = begin(folder)
        give_up = time.monotonic() + 60
        while turn > 0 and not (folder / "model.bg").exists():  # the first is killed while it fits
            assert time.monotonic() < give_up
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.02))
        kill()
        for path in folder.iterdir():  # whatever its name, for a file is linked in before it is renamed
            assert (bg.load(path).labels_ == whole).all()
            n_files += 1
    assert n_files >= 4


def kill_and_resume(name, nursery, folder, n_kills, moments):
    """Kill chains, each time after some more draws, however slow the machine is, and let them end.

    Gives the draws in the logs after each kill, the chains when nobody kills them, and those that were killed.
    """
    whole = fit_chains(name, None)
    shown = next(kind for kind in ("view_labels", "paths", "labels") if kind in draws_of(whole))
    chains, begin = list(draws_of(whole)[shown]), nursery.ready("chains", name)
    folder.joinpath("killed").mkdir()
    run = folder / "killed" / "run"
    history = kill_often(
        lambda: begin(folder / "killed"), run, chains, n_kills, 0.005, shown, each_adds=True, moments=moments
    )
    found = fit_chains(name, folder / "killed")
    assert counts(run, len(chains)) == [N_DRAWS] * len(chains)
    return history, whole, found


@pytest.mark.slow
@pytest.mark.parametrize("name", tuple(chain_estimators()))
def test_killed_chains_end_with_the_same_draws(name, nursery, tmp_path):
    history, whole, found = kill_and_resume(name, nursery, tmp_path, 4, random.Random(name))
    assert n_rounds_with_draws(history) == 4
    assert same_draws(found, whole)
