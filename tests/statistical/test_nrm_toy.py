"""The published toy data (1,300 points in the plane, 13 groups) under the specification's prior (acceptance 13, 14)."""

from functools import cache

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from conftest import find_shared_file
from reference.mixtures import DP, GIBBS, SCHEDULES, anchors, build, run, sweep

pytestmark = [pytest.mark.statistical, pytest.mark.slow]
BURN_IN, N_SWEEPS = 200, 3_000
STEPS = {"3 V1 and Gibbs": (anchors("v1", times=3), GIBBS), "default": SCHEDULES["tree-guided"]}


@cache
def toy_sampler():
    """Normal-inverse-Wishart: mean of the data, strength .1, d + 6 degrees, covariance scaled to determinant .1."""
    values = np.loadtxt(find_shared_file("data/tgmcmc_toy10k/toy_X.txt.gz"))
    values = values if values.shape[0] > values.shape[1] else values.T
    assert values.shape == (1_300, 2)
    covariance = np.cov(values.T)
    scale = covariance * np.sqrt(0.1 / np.linalg.det(covariance))
    return build(GaussianFullPrior(values.mean(axis=0), 0.1, 8.0, scale), values, DP)


@pytest.mark.parametrize("name", STEPS)
def test_number_of_clusters_and_best_log_joint(name):
    """Two chains; the published, biased sampler has P(K = 13) of .90 and a mean of 13.1."""
    counts, best = [], []
    for seed in (1, 2):
        _, scalars = run(toy_sampler(), seed, STEPS[name], BURN_IN + N_SWEEPS, refresh=100)
        counts.append(scalars["n_clusters"][BURN_IN:])
        best.append(scalars["log_joint"].max())
    found = np.concatenate(counts)
    assert 13.4 <= found.mean() <= 13.85
    assert 0.45 <= (found == 13).mean() <= 0.63
    assert -1578.5 <= max(best) <= -1577.0


@pytest.mark.parametrize("seed", range(5))
def test_v1_finds_the_groups_within_forty_sweeps(seed):
    sampler, rng = toy_sampler(), generator(seed)
    state = sampler.start(rng)
    assert state.clusters.n_clusters[0] == 1
    reached = []
    for _ in range(40):
        sweep(sampler, rng, state, (anchors("v1", times=10), GIBBS))
        reached.append(sampler.scalars(state)["log_joint"])
    assert max(reached) > -1590.0, reached
