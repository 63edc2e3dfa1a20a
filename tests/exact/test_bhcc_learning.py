"""Numbers of columns and concentrations learned from the flat bound of views."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln

from bayesgrove import BHCC
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_cross_table
from bayesgrove.likelihoods import Bernoulli, Binomial, GaussianDiagonal, bind
from bayesgrove.likelihoods.contract import hyper
from bayesgrove.likelihoods.coordinates import coordinates, with_coordinates
from bayesgrove.likelihoods.gaussian_diagonal import FACTORS, LIMITS
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.learning import (
    Numbers,
    Wanted,
    climb,
    fixed_views,
    flat_bound_and_gradient,
    learn,
    new_space,
)
from bayesgrove.models.cross.polish import Evaluator, polish
from bayesgrove.models.cross.view_table import view_table
from reference.cross_tables import random_table

pytestmark = pytest.mark.exact


def random_views(seed):
    """A random mixed table, an evaluator under its numbers, and two views of it."""
    rng = np.random.default_rng(seed)
    prior, values = random_table(rng, 14, 7)
    numbers = Numbers(prior, math.log(rng.choice([0.4, 1.0, 3.0])), math.log(rng.choice([0.5, 2.0])))
    evaluator = Evaluator(Problem(view_table(prior, values), numbers.log_rows, numbers.log_columns))
    return numbers, values, evaluator, evaluator.partition(rng.integers(0, 2, 7))


@pytest.mark.parametrize("seed", range(12))
def test_gradients_against_differences(seed):
    numbers, values, _, here = random_views([71, seed])
    views = fixed_views(numbers.prior, values, here.views, here.row_children)
    bound, gradient = flat_bound_and_gradient(numbers, views)
    assert bound == pytest.approx(here.flat_bound, abs=1e-8)
    assert gradient.size == len(coordinates(numbers.prior)) + 2
    step = 1e-5
    for p in range(gradient.size):
        moved = np.zeros(gradient.size)
        moved[p] = step
        high, low = (flat_bound_and_gradient(all_moved(numbers, way * moved), views)[0] for way in (1.0, -1.0))
        assert (high - low) / (2.0 * step) == pytest.approx(gradient[p], rel=1e-5, abs=1e-6)


def all_moved(numbers, factors):
    """Hyperparameters and concentrations after log factors on each of them."""
    prior = with_coordinates(numbers.prior, np.exp(factors[:-2]))
    return Numbers(prior, numbers.log_rows + factors[-2], numbers.log_columns + factors[-1])


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_never_falls(seed):
    numbers, values, _, here = random_views([72, seed])
    names = tuple(name for name, _, _ in hyper(numbers.prior))
    wanted = Wanted(names, rows=True, columns=True)
    views, space = fixed_views(numbers.prior, values, here.views, here.row_children), new_space(numbers, wanted)
    climbed, _ = flat_bound_and_gradient(space.at(climb(space, space.origin, views)), views)
    assert climbed >= here.flat_bound - 1e-9

    def again(moved, there):
        problem = Problem(view_table(moved.prior, values), moved.log_rows, moved.log_columns)
        return polish(Evaluator(problem), there.labels).best

    _, found = learn(space, values, here, again)
    assert found.flat_bound >= here.flat_bound
    assert climbed > here.flat_bound + 0.1


def test_only_what_is_asked_for_moves():
    numbers, values, _, here = random_views([73, 0])
    views = fixed_views(numbers.prior, values, here.views, here.row_children)
    space = new_space(numbers, Wanted((), rows=True, columns=False))
    moved = space.at(climb(space, space.origin, views))
    assert np.array_equal(moved.prior.params, numbers.prior.params)
    assert moved.log_columns == numbers.log_columns
    assert moved.log_rows != numbers.log_rows


def best_beta(successes, trials):
    """Numbers of the beta law that make some counts most probable."""

    def negative(logs):
        a, b = np.exp(logs)
        return -np.sum(betaln(a + successes, b + trials - successes) - betaln(a, b))

    return np.exp(minimize(negative, np.zeros(2)).x)


def test_estimators_learn():
    """The learned numbers lie near those that fit the true clusters best; the bound rises."""
    rng = generator(5)
    labels = [rng.integers(0, 4, 60) for _ in range(2)]
    X = np.concatenate([rng.binomial(20, rng.beta(3.0, 3.0, (4, 15))[z]) for z in labels], axis=1)
    successes = [X[z == k, 15 * v : 15 * v + 15].sum(axis=0) for v, z in enumerate(labels) for k in range(4)]
    trials = [np.full(15, 20 * np.count_nonzero(z == k)) for z in labels for k in range(4)]
    a, b = best_beta(np.concatenate(successes), np.concatenate(trials))
    fixed = BHCC(Binomial(20), random_state=0).fit(X)
    learned = BHCC(Binomial(20, "auto", "auto"), "auto", "auto", random_state=0).fit(X)
    assert learned.log_evidence_ > fixed.log_evidence_ + 10.0
    first = learned.likelihood_.likelihoods[0]
    assert all(first == other for other in learned.likelihood_.likelihoods)
    assert (first.a, first.b) == pytest.approx((a, b), rel=0.1)
    assert learned.row_concentration_ != 1.0
    assert learned.column_concentration_ != 1.0
    assert fixed.row_concentration_ == 1.0


def test_given_numbers_stay():
    X = make_cross_table(20, (3, 3), (2, 2), n_trials=1).X
    model = BHCC(Bernoulli(0.7, "auto"), 0.3, 2.0, random_state=0).fit(X)
    assert bind(model.likelihood_, X, "fixed").likelihood.likelihoods[0].a == 0.7
    assert (model.row_concentration_, model.column_concentration_) == (0.3, 2.0)


def test_rates_are_learned_for_each_column_and_stay_within_limits():
    """Columns of different spread within clusters; the strength and the shape are shared."""
    rng = generator(6)
    group, spread = rng.integers(0, 3, 150), np.array([0.2, 1.0, 3.0])
    X = rng.normal(10.0 * group[:, np.newaxis], spread, (150, 3))
    model = BHCC(GaussianDiagonal(strength="auto", shape="auto", rate="auto"), random_state=0).fit(X)
    variances = [one.rate / one.shape for one in model.likelihood_.likelihoods]
    assert variances == sorted(variances)
    assert variances[2] > 20.0 * variances[0]
    assert len({(one.strength, one.shape) for one in model.likelihood_.likelihoods}) == 1
    for one, variance in zip(model.likelihood_.likelihoods, X.var(axis=0), strict=True):
        assert LIMITS["strength"][0] * 0.999 <= one.strength <= LIMITS["strength"][1] * 1.001
        assert LIMITS["shape"][0] * 0.999 <= one.shape <= LIMITS["shape"][1] * 1.001
        assert 0.9 * FACTORS["rate"][0] <= one.rate / (0.25 * variance) <= 1.1 * FACTORS["rate"][1]
