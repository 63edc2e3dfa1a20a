"""Runs of tree mixtures that are killed again and again end with the bits of one that was not."""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.run import RunSettings, run_chains
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler, with_plain_links
from bayesgrove.models.tree_hmm.mixture_target import make_target
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.schedules import default_schedule
from bayesgrove.models.tree_hmm.starts import LabelsStart
from reference.kills import counts, kill_often, n_rounds_with_draws, nursery
from reference.tree_hmm_engine import forest_of
from reference.tree_sets import random_forest

pytestmark = pytest.mark.statistical

SCRIPT = """
import os, sys
import joblib  # takes longer than a run lives
from statistical.test_tree_mixture_kills import run

folder, kind, n_chains, n_draws = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
run(kind, n_chains, 20)  # kernels are read once; each line of input makes a copy of this process that runs chains
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        run(kind, n_chains, n_draws, run_dir=folder, resume=True, n_jobs=n_chains)
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


def run(kind, n_chains, n_draws, **settings):
    """Chains of random trees; all numbers are learned."""
    forest = forest_of(random_forest(generator(1), 40, empty_internal=False), 3, 3)
    n_states = "infinite" if kind == "infinite" else 2
    target = make_target(forest, n_states=n_states, concentration="auto", prior_strength="auto")
    schedule, sampler = default_schedule(5), TreeMixtureSampler(target, LabelsStart("random"))
    if kind == "collapsed":
        schedule = default_schedule(5, method="collapsed", split_merge="sequential")
        sampler = CollapsedTreeSampler(with_plain_links(target, forest), LabelsStart("random"))
    how = RunSettings(n_chains=n_chains, n_draws=n_draws, seed=2, backend="threads", **settings)
    return run_chains(sampler, schedule, how)


def bits(results):
    return [(result.draws["labels"].tobytes(), np.array(list(result.scalars.values())).tobytes()) for result in results]


def kill_and_resume(folder, kind, n_chains, n_draws, n_kills, longest):
    """Kill runs at random moments, then resume twice; gives how many of the rounds added draws."""
    whole = run(kind, n_chains, n_draws)
    with nursery(SCRIPT, folder, kind, n_chains, n_draws) as begin:
        history = kill_often(begin, folder, [result.draws["labels"] for result in whole], n_kills, longest)
    half = max(1, max(history[-1]), n_draws // 2)
    run(kind, n_chains, half, run_dir=folder, resume=True)
    resumed = run(kind, n_chains, n_draws, run_dir=folder, resume=True)
    assert bits(resumed) == bits(whole)
    assert counts(folder, n_chains) == [n_draws] * n_chains
    return n_rounds_with_draws(history)


def test_six_kills(tmp_path):
    assert kill_and_resume(tmp_path / "run", "gibbs", 2, 300, 6, longest=0.03) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gibbs", "collapsed", "infinite"])
def test_sixty_kills(tmp_path, kind):
    assert kill_and_resume(tmp_path / "run", kind, 2, 2_000, 60, longest=0.6) >= 15
