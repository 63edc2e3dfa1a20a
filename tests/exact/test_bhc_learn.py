"""Learning by the bound: it rises, stays within its limits, stands still at the optimum, and finds nested clusters."""

import math

import numpy as np
import pytest

from bayesgrove import BHC
from bayesgrove.agglomeration import learn as learning
from bayesgrove.agglomeration.learn import bound_and_gradient, fixed_tree, greedy_tree, learn
from bayesgrove.datasets import make_benchmark_blobs
from bayesgrove.likelihoods import GaussianDiagonal, bind
from bayesgrove.likelihoods.contract import hyper, with_hyper
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.stats.partitions import adjusted_rand
from bayesgrove.trees import expected_clusters
from reference.tables import FAMILIES

pytestmark = pytest.mark.exact


def names_of(prior):
    return tuple(name for name, _, _ in hyper(prior))


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson", "columns"])
@pytest.mark.parametrize("learn_concentration", [False, True])
def test_learning_raises_the_bound(name, learn_concentration):
    rises = []
    for seed in range(3):
        rng = np.random.default_rng([61, seed])
        prior, values = FAMILIES[name](rng, 50)
        before = greedy_tree(prior, values, 0.0)[1]
        got = learn(prior, values, 0.0, names_of(prior), learn_concentration=learn_concentration)
        assert got.bound == pytest.approx(greedy_tree(got.prior, values, got.log_concentration)[1], abs=1e-9)
        assert learn_concentration or got.log_concentration == 0.0
        rises.append(got.bound - before)
    assert min(rises) >= 0.0
    assert np.median(rises) > 0.1  # a tree built again may be worse: then the first one is kept


def test_only_what_is_free_moves():
    prior, values = FAMILIES["gaussian"](np.random.default_rng(62), 50)
    got = learn(prior, values, 0.0, ("rate",), learn_concentration=False)
    assert got.prior.mean.tolist() == prior.mean.tolist()
    assert got.prior.strength.tolist() == prior.strength.tolist()
    assert got.prior.shape.tolist() == prior.shape.tolist()
    factors = got.prior.rate / prior.rate
    assert np.ptp(factors) < 1e-12 * factors[0]
    assert factors[0] != 1.0


def test_learning_respects_its_limits():
    """Equal rows want a rate of nothing and no second cluster: both run into their limits."""
    values = np.zeros((60, 2)) + [[1.0, 2.0]]
    prior = GaussianDiagonalPrior(np.array([1.0, 2.0]), *(np.full(2, x) for x in (0.1, 2.0, 1.0, 0.0)))
    got = learn(prior, values, 0.0, names_of(prior), learn_concentration=True)
    for name, (low, high) in {"strength": (1e-4, 100.0), "shape": (0.5, 32.0), "rate": (0.01, 25.0)}.items():
        assert (getattr(got.prior, name) >= low * (1 - 1e-9)).all()
        assert (getattr(got.prior, name) <= high * (1 + 1e-9)).all()
    low, high = learning.CONCENTRATION_BOUNDS
    assert got.prior.rate[0] == pytest.approx(0.01, rel=1e-6)
    assert low * (1 - 1e-9) <= math.exp(got.log_concentration) <= high * (1 + 1e-9)
    assert math.exp(got.log_concentration) == pytest.approx(low, rel=1e-6)


def test_the_gradient_vanishes_at_the_optimum():
    rows = np.random.default_rng(64).normal(size=(80, 3)) + 6.0 * (np.arange(80) % 3)[:, None]
    bound = bind("gaussian", rows, hyper="fixed")
    prior, values = bound.prior, bound.values
    got = learn(prior, values, 0.0, ("rate",), learn_concentration=True)
    tree, _ = greedy_tree(got.prior, values, got.log_concentration)
    gradient = np.zeros(8)  # three strengths, three rates, the shape, the concentration
    bound_and_gradient(got.prior, fixed_tree(got.prior, values, tree), got.log_concentration, gradient)
    np.testing.assert_allclose([gradient[3:6].sum(), gradient[7]], 0.0, atol=0.05)  # of the others nothing is asked
    assert np.abs(gradient[:3]).max() > 1.0
    higher = greedy_tree(with_hyper(got.prior, np.array([1.0, 1.0, 1.5])), values, got.log_concentration)[1]
    assert higher < got.bound


@pytest.mark.parametrize("n", [100, 300, 600])
def test_expected_clusters_equal_their_prior_expectation(n):
    values = make_benchmark_blobs("nested", 600, random_state=1).X[:n]
    model = BHC("gaussian", concentration="auto", random_state=0).fit(values)
    prior_mean = math.fsum(model.concentration_ / (model.concentration_ + i) for i in range(n))
    assert expected_clusters(model.tree_) == pytest.approx(prior_mean, abs=1e-3)


def test_nested_clusters_are_found_once_the_rate_is_learned():
    values, truth = make_benchmark_blobs("nested", 600, random_state=1)
    broad = BHC("gaussian", search="greedy", random_state=0).fit(values)  # rate = variance / 4
    learned = BHC(GaussianDiagonal(rate="auto"), search="greedy", random_state=0).fit(values)
    assert broad.n_clusters_ < 25
    assert learned.n_clusters_ == 30
    assert adjusted_rand(learned.labels_, truth) == 1.0
    assert learned.log_evidence_ > broad.log_evidence_ + 1_000
    share = np.array(learned.likelihood_.rate) / values.var(axis=0)
    assert (share < 1 / 20).all()
    assert (share > 1 / 200).all()


def test_everything_learned_finds_nested_clusters_on_other_seeds():
    for seed in (2, 3):
        values, truth = make_benchmark_blobs("nested", 600, random_state=seed)
        model = BHC("auto", random_state=0).fit(values)
        assert adjusted_rand(model.labels_, truth) == 1.0
