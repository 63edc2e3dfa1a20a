"""Fits of `BHMC` and `RBHMC` that are killed again and again end with the bits of one that was not."""

import hashlib

import pytest

from bayesgrove import BHMC, RBHMC
from bayesgrove.datasets import sample_bhmc
from reference.kills import counts, kill_often, n_rounds_with_draws, nursery

pytestmark = pytest.mark.statistical

KINDS = {"bhmc": (BHMC, {}), "rbhmc": (RBHMC, {"C": 0.01, "margin_scale": "rms", "margin": 0.2, "penalty": "chance"})}
SCRIPT = """
import os, sys
import joblib  # takes longer than a run lives
from statistical.test_nested_kills import make_data, make_model

folder, name, n_chains, n_draws = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
X = make_data()
make_model(name, n_chains, 20).fit(X)  # kernels are read once; each line of input makes a copy that fits
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        make_model(name, n_chains, n_draws, run_dir=folder, resume=True, n_jobs=n_chains).fit(X)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


def make_data():
    """Enough rows for threads."""
    return sample_bhmc(310, 2, depth=2, base_variance=9.0, random_state=3).X


def make_model(name, n_chains, n_draws, **settings):
    kind, options = KINDS[name]
    return kind(
        depth=2, base_variance=9.0, n_chains=n_chains, n_tune=5, n_draws=n_draws, random_state=5, **options, **settings
    )


def digest(model):
    """Of all paths drawn and of the tree shown."""
    return hashlib.sha256(model.posterior_.paths.tobytes() + model.level_labels_.tobytes()).hexdigest()


def kill_and_resume(folder, name, n_chains, n_draws, n_kills, longest):
    """Kill fits at random moments, then resume twice; gives how many of the rounds added draws."""
    X = make_data()
    whole = make_model(name, n_chains, n_draws).fit(X)
    with nursery(SCRIPT, folder, name, n_chains, n_draws) as begin:
        history = kill_often(begin, folder, list(whole.posterior_.paths), n_kills, longest, "paths")
    half = max(1, max(history[-1]), n_draws // 2)
    make_model(name, n_chains, half, run_dir=folder, resume=True).fit(X)
    resumed = make_model(name, n_chains, n_draws, run_dir=folder, resume=True).fit(X)
    assert digest(resumed) == digest(whole)
    assert counts(folder, n_chains) == [n_draws] * n_chains
    return n_rounds_with_draws(history)


@pytest.mark.parametrize(("name", "n_chains", "n_draws"), [("bhmc", 1, 400), ("bhmc", 4, 150), ("rbhmc", 2, 200)])
def test_eight_kills_each(tmp_path, name, n_chains, n_draws):
    assert kill_and_resume(tmp_path / "run", name, n_chains, n_draws, 8, longest=0.03) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", list(KINDS))
def test_a_hundred_kills(tmp_path, name):
    assert kill_and_resume(tmp_path / "run", name, 2, 8_000, 100, longest=0.5) >= 25
