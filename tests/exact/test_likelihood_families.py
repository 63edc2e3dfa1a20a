"""Negative binomial, log-Gaussian, zero-inflated and ordinal columns: marginals are the integrals they claim to be,
predictives sum or integrate to one, rounding keeps evidences comparable, and defaults come from the data."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidTableError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import (
    Categorical,
    Columns,
    GaussianDiagonal,
    LogGaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
    ZeroInflated,
    bind,
    encode,
    log_marginal,
)
from bayesgrove.likelihoods.bind import decode
from bayesgrove.likelihoods.families import CODE_OF, FAMILIES, log_interval_widths
from bayesgrove.likelihoods.negative_binomial import best_dispersion
from reference import compiled
from reference.likelihoods import ordered_probabilities

pytestmark = pytest.mark.exact
NUMBERS = {"mean": 0.2, "strength": 0.8, "shape": 2.5, "rate": 1.3}


def column(cells):
    return np.reshape(np.asarray(cells, float), (-1, 1))


def predictive(likelihood, seen):
    """Density of one more cell after some."""
    bound = bind(likelihood, column(seen))
    row = compiled.statistics(bound.prior, bound.values)
    return lambda x: math.exp(compiled.log_predictive(bound.prior, row, encode(bound, [[x]])[0][0]))


def test_negative_binomial_is_the_integral_over_its_probability():
    prior, cells = stats.beta(1.4, 2.2), [2, 7, 0]
    density = lambda p: prior.pdf(p) * stats.nbinom.pmf(cells, 2.5, p).prod()  # noqa: E731
    expected, _ = integrate.quad(density, 0, 1, epsabs=1e-13)
    got = log_marginal(NegativeBinomial(dispersion=2.5, a=1.4, b=2.2), column(cells))
    assert got == pytest.approx(math.log(expected), abs=1e-8)


def test_negative_binomial_predictives_sum_to_one_and_have_their_moments():
    likelihood, seen = NegativeBinomial(dispersion=2.5, a=4.0, b=2.2), [2, 7, 0]
    chance = predictive(likelihood, seen)
    weights = np.array([chance(x) for x in range(4_000)])
    assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    bound = bind(likelihood, column(seen))
    row = compiled.statistics(bound.prior, bound.values)
    mean, variance = FAMILIES[CODE_OF[NegativeBinomial]].moments(row, 3, bound.prior.params[0])
    assert mean == pytest.approx(weights @ np.arange(4_000), rel=1e-6)
    assert variance == pytest.approx(weights @ np.arange(4_000) ** 2 - mean**2, rel=1e-4)


def test_large_dispersions_are_poisson():
    cells, r = column([3, 5, 0, 2]), 1e7
    nearly = log_marginal(NegativeBinomial(dispersion=r, a=2.0 + r * 0.5, b=2.0), cells)
    assert nearly == pytest.approx(log_marginal(Poisson(shape=2.0, rate=0.5), cells), abs=1e-4)


@pytest.mark.parametrize(
    ("draw", "low", "high"),
    [
        (lambda rng: rng.negative_binomial(2, 2 / 12, 400), 1.2, 3.2),
        (lambda rng: rng.poisson(8, 400), 30.0, 10_000.0),
        (lambda rng: rng.poisson(rng.choice([2, 20], 400)), 30.0, 10_000.0),
    ],
    ids=["dispersed", "poisson", "two clusters"],
)
def test_distances_between_clusters_are_not_taken_for_dispersion(draw, low, high):
    """The three seeds are fixed; of 100 others none left these limits."""
    found = [best_dispersion(draw(generator(seed)).astype(float)) for seed in range(3)]
    assert all(low <= dispersion <= high for dispersion in found), found


def log_normal_evidence(cells):
    """Integral over the log of the precision and over the mean in units of its own spread, by Simpson's rule."""
    log_precision, z = np.linspace(-8, 5, 801)[:, np.newaxis], np.linspace(-10, 10, 801)
    precision = np.exp(log_precision)
    mean = NUMBERS["mean"] + z / np.sqrt(NUMBERS["strength"] * precision)
    prior = stats.gamma.pdf(precision, NUMBERS["shape"], scale=1 / NUMBERS["rate"]) * precision * stats.norm.pdf(z)
    for x in cells:
        prior = prior * stats.lognorm.pdf(x, 1 / np.sqrt(precision), scale=np.exp(mean))
    return math.log(integrate.simpson(integrate.simpson(prior, x=z, axis=1), x=log_precision[:, 0]))


def test_log_gaussian_and_zero_inflated_are_integrals_over_their_parameters():
    expected = log_normal_evidence([1.3, 0.4, 2.2])
    assert log_marginal(LogGaussian(**NUMBERS), column([1.3, 0.4, 2.2])) == pytest.approx(expected, abs=1e-6)
    share = stats.beta(0.5, 0.5).expect(lambda p: p**3 * (1 - p) ** 2)
    got = log_marginal(ZeroInflated(**NUMBERS), column([1.3, 0.0, 0.4, 2.2, 0.0]))
    assert got == pytest.approx(expected + math.log(share), abs=1e-6)


@pytest.mark.parametrize("likelihood", [LogGaussian(**NUMBERS), ZeroInflated(**NUMBERS)])
def test_predictives_of_positive_cells_integrate_to_one(likelihood):
    seen = [1.3, 0.4, 2.2] + [0.0] * isinstance(likelihood, ZeroInflated)
    density = predictive(likelihood, seen)
    total, _ = integrate.quad(lambda y: density(math.exp(y)) * math.exp(y), -60, 60, limit=400)
    if isinstance(likelihood, ZeroInflated):
        assert density(0.0) == pytest.approx(1.5 / 5.0, abs=1e-12)
        total += density(0.0)
    assert total == pytest.approx(1.0, abs=1e-6)


def test_rounded_logs_have_the_expected_log_density_of_cells_spread_over_their_intervals():
    """Where the rounding is fine against the spread, up to terms of higher order."""
    cells = generator(3).lognormal(2.0, 0.8, 60).round()
    cells = cells[cells > 1.0]
    within = np.linspace(-0.5, 0.5, 401)[1::2]
    rng, expected = generator(5), []
    for _ in range(200):
        expected.append(log_marginal(LogGaussian(**NUMBERS), column(cells + rng.choice(within, cells.size))))
    error = np.std(expected) / math.sqrt(len(expected))
    got = log_marginal(LogGaussian(grain=1.0, **NUMBERS), column(cells))
    assert abs(got - np.mean(expected)) < 4 * error + 0.1


def test_log_interval_widths_make_densities_probabilities_of_rounded_cells():
    """Probabilities of the intervals of whole numbers sum to one; counts and zeros have probabilities already."""
    likelihood, cells = GaussianDiagonal(mean=5, strength=1, shape=4, rate=9, grain=2.0), column([4, 6, 10])
    assert log_interval_widths(likelihood, cells, 2.0) == pytest.approx(3 * math.log(2.0))
    assert log_interval_widths(NegativeBinomial(), cells, 2.0) == 0.0
    assert log_interval_widths(ZeroInflated(), column([0, 0, 4]), 2.0) == pytest.approx(math.log(2.0))
    mass = [
        log_marginal(likelihood, [[x]]) + log_interval_widths(likelihood, [[x]], 2.0) for x in range(-3000, 3001, 2)
    ]
    assert 0.9 < np.exp(mass).sum() <= 1.0 + 1e-9


def test_ordinal_is_the_sum_over_its_grid_and_the_integral_over_free_probabilities():
    cells, flexibility, weight = [0, 2, 0], 0.7, math.gamma(4.5) / math.gamma(1.5) ** 3
    free, _ = integrate.dblquad(
        lambda q, p: weight * math.sqrt(p * q * max(1 - p - q, 0)) * p * p * max(1 - p - q, 0), 0, 1, 0, lambda p: 1 - p
    )
    ordered = np.mean([row[0] ** 2 * row[2] for row in ordered_probabilities(3)])
    expected = math.log((ordered + flexibility * free) / (1 + flexibility))
    got = log_marginal(Ordinal(levels=(0, 1, 2), pseudo_count=1.5, flexibility=flexibility), column(cells))
    assert got == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seen", [[], [3, 3, 5]])
def test_ordinal_predictives_sum_to_one_and_favour_neighbours(seen):
    chance = predictive(Ordinal(levels=(1, 3, 5, 8, 9)), seen or [np.nan])
    chances = {level: chance(level) for level in (1, 3, 5, 8, 9)}
    assert math.fsum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    assert not seen or min(chances[1], chances[8]) > 1.2 * chances[9]


def test_only_the_order_of_levels_counts_and_cells_come_back():
    cells = column([1, 2, 2, np.nan, 4])
    far = np.select([cells == 1, cells == 2, cells == 4], [-7.5, 0.25, 1e6], np.nan)
    bound = bind("ordinal", far)
    assert bound.likelihood.likelihoods[0].levels == (-7.5, 0.25, 1e6)
    np.testing.assert_array_equal(bound.values, column([0, 1, 1, np.nan, 2]))
    np.testing.assert_array_equal(decode(bound, bound.values), far)
    assert log_marginal("ordinal", far) == log_marginal("ordinal", cells)
    many = Columns([Ordinal(levels=(1, 2, 3, 4)), Categorical()])
    assert bind(many, np.column_stack([cells, cells])).prior.start.tolist() == [0, 4, 9]
    whole = bind(Ordinal(levels=(1, 2, 4)), np.column_stack([cells, cells]))
    assert [one.levels for one in whole.likelihood.likelihoods] == [(1.0, 2.0, 4.0)] * 2


@pytest.mark.parametrize(
    ("likelihood", "cells", "message"),
    [
        (NegativeBinomial(), [0.5], "counts must be whole numbers of at least 0"),
        (LogGaussian(), [0.0, 1.0], "cells of a column on the log scale must be positive; row 0"),
        (ZeroInflated(), [1.0, -1.0], "must be at least 0; row 1"),
        (Ordinal(levels=(1, 2)), [1, 3], "must be one of its levels 1, 2; row 1, column 'x0' holds 3.0"),
        (Ordinal(), list(range(21)), "at most 20 levels, 'x0' has 21"),
    ],
)
def test_cells_that_a_family_cannot_describe_are_refused(likelihood, cells, message):
    with pytest.raises(InvalidTableError, match=message):
        bind(likelihood, column(cells))


@pytest.mark.parametrize("levels", [(1, 1), (), ("a",), (1, math.inf)])
def test_levels_are_different_numbers(levels):
    with pytest.raises(InvalidLikelihoodError, match="levels must be different numbers"):
        bind(Ordinal(levels=levels), [[1.0]])
