"""Fits of `NRMMixture` that are killed again and again end with the bits of one that was not."""

import hashlib

import numpy as np
import pytest

from bayesgrove import NRMMixture
from bayesgrove.core.rng import generator
from reference.kills import counts, kill_often, n_rounds_with_draws, nursery

pytestmark = pytest.mark.statistical

SCRIPT = """
import os, sys
import joblib  # takes longer than a run lives
from statistical.test_nrm_kills import make_data, make_model

folder, n_chains, n_draws = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X = make_data()
make_model(n_chains, 20).fit(X)  # kernels are read once; each line of input makes a copy of this process that fits
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        make_model(n_chains, n_draws, run_dir=folder, resume=True, n_jobs=n_chains).fit(X)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


def make_data():
    """Enough rows for threads, and clusters that overlap."""
    rng = generator(12)
    return np.vstack([rng.normal(centre, 1.0, (110, 2)) for centre in (0.0, 2.5, 5.0)])


def make_model(n_chains, n_draws, **settings):
    """With a start that takes no time: what is killed before its first draws begins anew each time."""
    shared = {"likelihood": "gaussian", "hyper": "optimize", "init": "one", "n_tune": 10, "random_state": 5}
    return NRMMixture(process="nggp", n_chains=n_chains, n_draws=n_draws, **shared, **settings)


def digest(model):
    """Of all labels drawn and of the point estimate."""
    return hashlib.sha256(model.posterior_.labels.tobytes() + model.labels_.tobytes()).hexdigest()


def kill_and_resume(folder, n_chains, n_draws, n_kills, longest):
    """Kill fits at random moments, then resume twice; gives how many of the rounds added draws."""
    X = make_data()
    whole = make_model(n_chains, n_draws).fit(X)
    with nursery(SCRIPT, folder, n_chains, n_draws) as begin:
        history = kill_often(begin, folder, list(whole.posterior_.labels), n_kills, longest)
    half = max(1, max(history[-1]), n_draws // 2)
    make_model(n_chains, half, run_dir=folder, resume=True).fit(X)
    resumed = make_model(n_chains, n_draws, run_dir=folder, resume=True).fit(X)
    assert digest(resumed) == digest(whole)
    assert counts(folder, n_chains) == [n_draws] * n_chains
    return n_rounds_with_draws(history)


@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 240), (4, 80)])
def test_ten_kills_each(tmp_path, n_chains, n_draws):
    assert kill_and_resume(tmp_path / "run", n_chains, n_draws, 10, longest=0.03) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 9000), (4, 2500)])
def test_two_hundred_kills(tmp_path, n_chains, n_draws):
    assert kill_and_resume(tmp_path / "run", n_chains, n_draws, 200, longest=0.2) >= 50
