"""The published toy data (1,300 points in the plane, 13 groups) under the specification's prior (acceptance 13, 14)."""

from functools import cache

import numpy as np
import pytest

from bayesgrove import NRMMixture
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import GaussianFull
from bayesgrove.likelihoods.gaussian_full import full_prior
from conftest import find_shared_file
from reference.mixtures import DP, GIBBS, SCHEDULES, anchors, build, run, sweep

pytestmark = [pytest.mark.statistical, pytest.mark.slow]
BURN_IN, N_SWEEPS = 200, 3_000
STEPS = {"3 V1 and Gibbs": (anchors("v1", times=3), GIBBS), "default": SCHEDULES["tree-guided"]}


@cache
def toy_data():
    """The points, and the scale of the prior: their covariance scaled to determinant .1."""
    values = np.loadtxt(find_shared_file("data/tgmcmc_toy10k/toy_X.txt.gz"))
    values = values if values.shape[0] > values.shape[1] else values.T
    assert values.shape == (1_300, 2)
    covariance = np.cov(values.T)
    return values, covariance * np.sqrt(0.1 / np.linalg.det(covariance))


@cache
def toy_sampler():
    """Normal-inverse-Wishart: mean of the data, strength .1, d + 6 degrees."""
    values, scale = toy_data()
    return build(full_prior(values.mean(axis=0), 0.1, 8.0, scale), values, DP)


def fitted(**settings):
    values, scale = toy_data()
    likelihood = GaussianFull(mean=values.mean(axis=0).tolist(), strength=0.1, dof=8.0, scale=scale)
    return NRMMixture(likelihood=likelihood, concentration=1.0, random_state=5, **settings).fit(values)


def test_four_chains_of_the_estimator_agree():
    model = fitted(n_chains=4, n_tune=200, n_draws=4_000)
    numbers = model.posterior_.scalars["n_clusters"]
    assert abs(numbers.mean() - 13.6) <= 0.15
    assert abs((numbers == 13).mean() - 0.54) <= 0.05
    for name in ("n_clusters", "log_joint"):
        assert model.diagnostics_[name]["r_hat"] < 1.01


def test_the_published_sampler_finds_too_few_clusters():
    """P(K = 13) is .54; the authors' logs have .90. Two short chains, so a wide band: .8 to 1."""
    model = fitted(sampler="paper", n_chains=2, n_tune=200, n_draws=800)
    assert (model.posterior_.scalars["n_clusters"] == 13).mean() > 0.8


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
