"""Samplers of infinite tree mixtures against the exact posterior over partitions (acceptance 7 and 14).

Five frequencies by 40 batch means: on a fresh seed a right sampler exceeds |z| = 4.4 in one of them with probability
below 5e-4, |z| = 4 with 1.4e-3. Seeds are fixed.
"""

import pytest

from bayesgrove.models.tree_hmm.schedules import default_steps
from reference.tree_hmm import plain_tree
from reference.tree_hmm_chains import golden_sampler, partition_scores, run_chain
from reference.tree_hmm_exact import partition_posterior

pytestmark = pytest.mark.statistical

SAMPLERS = {
    "gibbs": ("gibbs", default_steps(split_merge=None)),
    "retained split-merge": ("gibbs", default_steps()),
    "collapsed": ("collapsed", default_steps(method="collapsed", split_merge=None)),
    "sequential split-merge": ("collapsed", default_steps(method="collapsed", split_merge="sequential", n_moves=1)),
}


@pytest.fixture
def case(golden):
    return golden("htmm")["partition_posterior"]


def largest_z(case, name, n_sweeps, seed, posterior=None):
    method, steps = SAMPLERS[name]
    labels = run_chain(golden_sampler(case, method), steps, n_sweeps, seed)
    return max(map(abs, partition_scores(labels, posterior or case["posterior"]).values()))


@pytest.mark.parametrize("name", SAMPLERS)
def test_frequencies_of_all_partitions(case, name):
    assert largest_z(case, name, 3_000, 1) < 4.4


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("seed", [2, 3])
def test_long_chains(case, name, seed):
    assert largest_z(case, name, 80_000 if name == "retained split-merge" else 40_000, seed) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["retained split-merge", "sequential split-merge"])
def test_split_merge_alone_moves_between_all_partitions(case, name):
    """Retained moves need new tables besides, sequential ones nothing."""
    method, steps = SAMPLERS[name]
    alone = tuple(step for step in steps if step.move in ("split-merge", "tables"))
    labels = run_chain(golden_sampler(case, method), alone, 80_000, 4)
    assert max(map(abs, partition_scores(labels, case["posterior"]).values())) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["bottom_prior", "bottom"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_shared_positions_and_another_prior(mode, name):
    """Three trees with two children at one position, an unknown label and an internal node without children."""
    trees = [
        {"label": [0, 1, 1, 0], "parent": [-1, 0, 0, 0], "pos": [0, 1, 1, 2]},
        {"label": [1, 0], "parent": [-1, 0], "pos": [0, 2]},
        {"label": [-1, 1, 1], "parent": [-1, 0, 0], "pos": [0, 2, 2]},
    ]
    case = {"L": 2, "C": 2, "M": 2, "trees": trees, "mode": mode, "alpha": 0.4, "gamma": 2.0}
    exact = partition_posterior([plain_tree(tree) for tree in trees], 2, 2, 2, mode, 0.4, 2.0)
    assert largest_z(case, name, 30_000, 5, exact.probabilities) < 4.0
