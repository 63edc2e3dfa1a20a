"""Likelihoods against golden numbers, numerical integration, sums over all data, and many digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from bayesgrove import likelihoods
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.binomial import BinomialPrior
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import full_prior
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.likelihoods.poisson import PoissonPrior
from bayesgrove.stats.special import log_rising
from reference import compiled

pytestmark = pytest.mark.exact


def golden_likelihood(model):
    kind, *numbers = model
    if kind == "cat":
        return likelihoods.Categorical(pseudo_count=numbers[1], n_categories=numbers[0])
    family = {
        "bern": likelihoods.Bernoulli,
        "binom": likelihoods.Binomial,
        "pois": likelihoods.Poisson,
        "nig": likelihoods.GaussianDiagonal,
        "niw": likelihoods.GaussianFull,
    }[kind]
    return family(*numbers)


def test_golden_components(golden):
    components = golden("bhcc")["components"]
    assert len(components) == 18
    for case in components:
        tolerance = 1e-6 if "note" in case else 1e-9
        data = np.array(case["x"], float).reshape(len(case["x"]), -1)
        likelihood = golden_likelihood(case["model"])
        assert likelihoods.log_marginal(likelihood, data) == pytest.approx(case["log_m"], abs=tolerance)
        bound = likelihoods.bind(likelihood, data)
        new, measure = likelihoods.encode(bound, np.reshape(case["new"], (1, -1)))
        row = compiled.statistics(bound.prior, bound.values)
        got = compiled.log_predictive(bound.prior, row, new[0]) + measure[0]
        assert got == pytest.approx(case["log_predictive"], abs=tolerance)


def test_golden_tables_with_mixed_columns_and_missing_cells(golden):
    for table in golden("bhcc")["tables"].values():
        data = np.array([[np.nan if x is None else x for x in row] for row in table["X"]], float)
        mixed = likelihoods.Columns([golden_likelihood(model) for model in table["models"]])
        expected = sum(table["log_m_all_rows_per_col"])
        assert likelihoods.log_marginal(mixed, data) == pytest.approx(expected, abs=1e-9)


def log_marginal(prior, data):
    return compiled.log_marginal(prior, compiled.statistics(prior, np.array(data, float)))


def integral(function, low, high):
    value, error = integrate.quad(function, low, high, epsabs=1e-13, epsrel=1e-11, limit=200)
    assert error < 1e-8 * value + 1e-12
    return value


def test_bernoulli_is_the_integral_over_its_probability():
    prior = stats.beta(1.4, 2.2)
    expected = integral(lambda p: prior.pdf(p) * p**2 * (1 - p), 0, 1)
    got = log_marginal(BernoulliPrior(np.array([1.4]), np.array([2.2])), [[1], [0], [1]])
    assert got == pytest.approx(math.log(expected), abs=1e-8)


def test_binomial_is_the_integral_over_its_probability():
    prior = stats.beta(1.4, 2.2)
    expected = integral(lambda p: prior.pdf(p) * stats.binom.pmf([2, 5], 6, p).prod(), 0, 1)
    got = log_marginal(BinomialPrior(np.array([6.0]), np.array([1.4]), np.array([2.2])), [[2], [5]])
    assert got == pytest.approx(math.log(expected), abs=1e-8)


def on_the_simplex(function):
    """Integral of function(p0, p1, p2) over the triangle of probabilities."""
    inner = lambda p0: integral(lambda p1: function(p0, p1, 1 - p0 - p1), 0, 1 - p0)  # noqa: E731
    return integral(inner, 0, 1)


def test_categorical_is_the_integral_over_its_probabilities():
    weight = math.gamma(4.5) / math.gamma(1.5) ** 3
    expected = on_the_simplex(lambda p, q, r: weight * math.sqrt(p * q * max(r, 0)) * p * p * r)
    got = log_marginal(CategoricalPrior(np.array([1.5]), np.array([0, 3])), [[0], [2], [0]])
    assert got == pytest.approx(math.log(expected), abs=1e-8)


def test_multinomial_is_the_integral_over_its_probabilities():
    weight = math.gamma(4.5) / math.gamma(1.5) ** 3 * (3 * 2)  # orderings of (2, 1, 0) and of (0, 1, 1)
    expected = on_the_simplex(lambda p, q, r: weight * math.sqrt(p * q * max(r, 0)) * p**2 * q * q * r)
    got = log_marginal(MultinomialPrior(np.full(3, 1.5)), [[2, 1, 0], [0, 1, 1]])
    assert got == pytest.approx(math.log(expected), abs=1e-8)


def test_poisson_is_the_integral_over_its_mean():
    prior = stats.gamma(1.7, scale=1 / 0.6)
    expected = integral(lambda mean: prior.pdf(mean) * stats.poisson.pmf([2, 5, 0], mean).prod(), 0, np.inf)
    got = log_marginal(PoissonPrior(np.array([1.7]), np.array([0.6])), [[2], [5], [0]])
    assert got == pytest.approx(math.log(expected), abs=1e-8)


def test_known_variance_is_the_integral_over_its_mean():
    prior, cells = stats.norm(0.4, math.sqrt(1.5)), [0.3, -1.1, 0.8]
    sd = math.sqrt(0.7)
    expected = integral(lambda mean: prior.pdf(mean) * stats.norm.pdf(cells, mean, sd).prod(), -8, 8)
    numbers = GaussianKnownVariancePrior(np.array([0.7]), np.array([0.4]), np.array([1.5]))
    assert log_marginal(numbers, np.reshape(cells, (-1, 1))) == pytest.approx(math.log(expected), abs=1e-8)


def normal_gamma_evidence(cells, mean, strength, shape, rate):
    """Integral over the log of the precision and the mean in units of its own spread."""

    def given_precision(log_precision):
        precision = math.exp(log_precision)
        spread = 1 / math.sqrt(strength * precision)

        def density(z):
            gaps = np.array(cells) - mean - z * spread
            return stats.norm.pdf(z) * math.exp(-0.5 * precision * np.sum(gaps**2))

        factor = (precision / (2 * math.pi)) ** (len(cells) / 2)
        return stats.gamma.pdf(precision, shape, scale=1 / rate) * precision * factor * integral(density, -12, 12)

    return integral(given_precision, -8, 5)


def test_the_diagonal_gaussian_is_the_integral_over_mean_and_precision():
    cells = [0.3, -1.1, 0.8]
    expected = normal_gamma_evidence(cells, 0.2, 0.8, 2.5, 1.3)
    numbers = GaussianDiagonalPrior(*(np.array([x]) for x in (0.2, 0.8, 2.5, 1.3, 0.0)))
    assert log_marginal(numbers, np.reshape(cells, (-1, 1))) == pytest.approx(math.log(expected), abs=1e-7)


def test_the_full_gaussian_in_one_dimension_is_the_same_integral():
    cells = [0.3, -1.1, 0.8]
    expected = normal_gamma_evidence(cells, 0.2, 0.8, 2.5, 1.3)
    prior = full_prior(np.array([0.2]), 0.8, 5.0, np.array([[2.6]]))
    assert log_marginal(prior, np.reshape(cells, (-1, 1))) == pytest.approx(math.log(expected), abs=1e-7)


SUPPORTS = {
    "bernoulli": [range(2)] * 3,
    "binomial": [range(6), range(13)],
    "categorical": [range(3), range(5)],
}


@pytest.mark.parametrize("name", SUPPORTS)
@pytest.mark.parametrize("n", [0, 6])
def test_discrete_predictives_sum_to_one(by_name, name, n):
    example = by_name[name]
    row = compiled.statistics(example.prior, example.data(1, n))
    points = itertools.product(*SUPPORTS[name])
    total = math.fsum(math.exp(compiled.log_predictive(example.prior, row, np.array(x, float))) for x in points)
    assert total == pytest.approx(1.0, abs=1e-9)


def test_documents_of_one_length_sum_to_one(by_name):
    example = by_name["multinomial"]
    row = compiled.statistics(example.prior, example.data(1, 6))
    documents = [x for x in itertools.product(range(6), repeat=4) if sum(x) == 5]
    total = math.fsum(math.exp(compiled.log_predictive(example.prior, row, np.array(x, float))) for x in documents)
    assert total == pytest.approx(1.0, abs=1e-9)


def one_cell(prior, row, size, j, x):
    cells = np.full(size, np.nan)
    cells[j] = x
    return math.exp(compiled.log_predictive(prior, row, cells))


@pytest.mark.parametrize(("name", "j"), [("poisson", 0), ("poisson", 1), ("columns", 5)])
def test_poisson_predictives_sum_to_one(by_name, name, j):
    example = by_name[name]
    values = example.data(1, 6)
    row = compiled.statistics(example.prior, values)
    total = math.fsum(one_cell(example.prior, row, values.shape[1], j, x) for x in range(400))
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "j"), [("gaussian-known-variance", 1), ("gaussian", 0), ("columns", 0), ("columns", 2)]
)
def test_continuous_predictives_integrate_to_one(by_name, name, j):
    example = by_name[name]
    values = example.data(1, 6)
    row = compiled.statistics(example.prior, values)
    total = integral(lambda x: one_cell(example.prior, row, values.shape[1], j, x), -np.inf, np.inf)
    assert total == pytest.approx(1.0, abs=1e-7)


def test_the_full_gaussian_predictive_integrates_to_one(by_name):
    example = by_name["gaussian-full"]
    row = compiled.statistics(example.prior, example.data(1, 12))
    grid = np.linspace(-40, 40, 801)
    density = [math.exp(compiled.log_predictive(example.prior, row, np.array([x, y]))) for x in grid for y in grid]
    assert math.fsum(density) * 0.1**2 == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("x", [1e-6, 0.5, 49.9, 50.1, 3e3, 1e8, 1e14])
@pytest.mark.parametrize("count", [1.0, 7.0, 1e5])
def test_log_rising_against_many_digits(x, count):
    with mpmath.workdps(50):
        expected = float(mpmath.loggamma(mpmath.mpf(x) + count) - mpmath.loggamma(x))
    assert log_rising(x, count) == pytest.approx(expected, rel=1e-13, abs=1e-12)


def raw_log_marginal_by_digits(cells, variance_default):
    """Normal-gamma evidence with the default numbers (mean, 0.1, 2, variance / 4), in 60 digits."""
    with mpmath.workdps(60):
        data = [mpmath.mpf(float(x)) for x in cells]
        n = len(data)
        mean = sum(data) / n
        spread = sum((x - mean) ** 2 for x in data)
        a, b, kappa = mpmath.mpf(2), spread / n / variance_default, mpmath.mpf(0.1)
        a_n, b_n = a + mpmath.mpf(n) / 2, b + spread / 2
        return float(
            mpmath.loggamma(a_n)
            - mpmath.loggamma(a)
            + a * mpmath.log(b)
            - a_n * mpmath.log(b_n)
            + mpmath.log(kappa / (kappa + n)) / 2
            - mpmath.mpf(n) / 2 * mpmath.log(2 * mpmath.pi)
        )


@pytest.mark.parametrize(("scale", "offset"), [(1e-150, 0.0), (1e150, 0.0), (1.0, 1e12), (1e-3, 1e8), (1e140, 1e151)])
def test_extreme_scales_and_offsets_keep_all_digits(by_name, scale, offset):
    cells = scale * by_name["gaussian"].data(2, 50)[:, :1] + offset
    got = likelihoods.log_marginal("gaussian", cells)
    expected = raw_log_marginal_by_digits(cells[:, 0], 4)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "gaussian-full", "gaussian-known-variance"])
@pytest.mark.parametrize("exponent", [-498, 498])
def test_powers_of_two_change_nothing_but_the_measure(by_name, name, exponent):
    data = by_name["gaussian"].data(3, 40)
    plain = likelihoods.bind(name, data)
    scaled = likelihoods.bind(name, np.ldexp(data, exponent))
    assert np.array_equal(plain.values, scaled.values)
    for before, after in zip(plain.prior, scaled.prior, strict=True):
        assert np.array_equal(before, after)
    change = -data.size * exponent * math.log(2)
    assert scaled.log_measure - plain.log_measure == pytest.approx(change, rel=1e-14)
