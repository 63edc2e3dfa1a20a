"""The prior of the number of clusters against sums over all partitions, closed forms and plain quadrature."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import integrate

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.stats.partitions import all_partitions
from bayesgrove.stats.processes import (
    LEAST_FINITE,
    expected_crp_clusters,
    log_crp,
)
from reference.nrm_prior import log_finite_mixture, log_pitman_yor, partition_law

pytestmark = pytest.mark.exact
N = 6
SHAPES = Counter(tuple(sorted(np.bincount(labels).tolist())) for labels in all_partitions(N))
"""How many partitions have these block sizes."""
COUNTS = np.array([len(sizes) - 1 for sizes in SHAPES])


def summed(probabilities):
    """P(K) from the probabilities of one partition of each shape."""
    return np.bincount(COUNTS, weights=np.array(probabilities) * list(SHAPES.values()), minlength=N)


def dp(alpha):
    return [math.exp(log_crp(np.array(sizes), alpha)) for sizes in SHAPES]


def pitman_yor(alpha, sigma):
    return [math.exp(log_pitman_yor(sizes, alpha, sigma)) for sizes in SHAPES]


def finite(alpha):
    return [math.exp(log_finite_mixture(sizes, alpha)) for sizes in SHAPES]


def generalised_gamma(alpha, sigma):
    law = zip(all_partitions(N), partition_law(N, alpha, sigma), strict=True)
    of_shape = {tuple(sorted(np.bincount(labels).tolist())): probability for labels, probability in law}
    return [of_shape[sizes] for sizes in SHAPES]


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (("dp", {"concentration": 0.7}), lambda: dp(0.7)),
        (("pitman-yor", {"concentration": 0.7, "sigma": 0.4}), lambda: pitman_yor(0.7, 0.4)),
        (("pitman-yor", {"concentration": -0.3, "sigma": 0.4}), lambda: pitman_yor(-0.3, 0.4)),
        (("mfm", {"concentration": 0.7}), lambda: finite(0.7)),
        (("nggp", {"concentration": 0.7, "sigma": 0.3}), lambda: generalised_gamma(0.7, 0.3)),
        (("nig", {"concentration": 2.0}), lambda: generalised_gamma(2.0, 0.5)),
    ],
    ids=["dp", "pitman-yor", "negative", "mfm", "nggp", "nig"],
)
def test_sums_over_all_partitions(settings, wanted):
    process, given = settings
    found = bg.prior_clusters(process, N, **given)
    np.testing.assert_allclose(found.probabilities, summed(wanted()), atol=1e-10)


def learned_alone(law, low=0.0):
    """P(K) averaged over a Gamma(1, 1) concentration by the trapezoid in its logarithm."""
    alphas = np.geomspace(low, 50.0, 300)
    value = integrate.trapezoid([summed(law(a)) * a * math.exp(-a) for a in alphas], np.log(alphas), axis=0)
    return value / value.sum()


@pytest.mark.parametrize(
    ("process", "law", "low"),
    [("dp", dp, 1e-9), pytest.param("mfm", finite, LEAST_FINITE, marks=pytest.mark.slow)],
    ids=["dp", "mfm"],
)
def test_learned_concentration(process, law, low):
    np.testing.assert_allclose(bg.prior_clusters(process, N).probabilities, learned_alone(law, low), atol=1e-5)


def test_learned_numbers_of_the_generalised_gamma_and_pitman_yor_processes():
    """Sigma and concentration on midpoints of their distribution functions."""
    alphas = -np.log1p(-(np.arange(30) + 0.5) / 30)
    nig = np.mean([summed(generalised_gamma(alpha, 0.5)) for alpha in alphas], axis=0)
    np.testing.assert_allclose(bg.prior_clusters("nig", N).probabilities, nig, atol=3e-3)
    sigmas = 1.0 - (1.0 - (np.arange(15) + 0.5) / 15) ** 0.25
    both = np.mean([summed(pitman_yor(alpha, sigma)) for alpha in alphas for sigma in sigmas], axis=0)
    np.testing.assert_allclose(bg.prior_clusters("pitman-yor", N).probabilities, both, atol=3e-3)


def test_many_items():
    prior = bg.prior_clusters("dp", 3_000, concentration=2.5)
    assert prior.mean == pytest.approx(expected_crp_clusters(3_000, 2.5), rel=1e-9)
    alpha, sigma, n = 0.8, 0.4, 2_000
    wanted = (
        math.exp(
            math.lgamma(alpha + sigma + n)
            - math.lgamma(alpha + n)
            + math.lgamma(alpha + 1)
            - math.lgamma(alpha + sigma)
        )
        / sigma
        - alpha / sigma
    )  # Pitman (2006), equation 3.13
    assert bg.prior_clusters("pitman-yor", n, concentration=alpha, sigma=sigma).mean == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("process", ["dp", "nggp", "nig", "pitman-yor", "mfm"])
def test_concentration_of_an_expected_number(process):
    expected = {"nggp": 9.0, "nig": 12.0, "mfm": 1.9}.get(process, 6.0)
    given = {"sigma": 0.3, "components": "poisson"}
    prior = bg.prior_clusters(process, 80, expected=expected, **given)
    assert prior.mean == pytest.approx(expected, abs=1e-6)
    again = bg.prior_clusters(process, 80, concentration=prior.concentration, **given)
    np.testing.assert_array_equal(again.probabilities, prior.probabilities)


def test_what_it_says():
    prior = bg.prior_clusters("dp", 50, concentration=1.0)
    cumulative = np.cumsum(prior.probabilities)
    assert prior.quantile(0.5) == int(np.flatnonzero(cumulative >= 0.5)[0]) + 1
    assert prior.counts[-1] == prior.probabilities.size
    assert prior.sd == pytest.approx(math.sqrt(sum(1.0 / (1 + i) * (1 - 1.0 / (1 + i)) for i in range(50))), rel=1e-7)
    assert prior.sigma is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"n": 200_000}, "n must be at most 100,000"),
        ({"expected": 1_000.0}, "expected must lie between"),
        ({"process": "crp"}, "process must be one of"),
        ({"process": "mfm", "concentration": 1e-9}, "concentration of the 'mfm' must be at least"),
        ({"process": "mfm", "components": "uniform"}, "components must be one of"),
        ({"process": "mfm", "components": ("poisson", -1.0)}, "takes 1 positive number"),
        ({"process": "mfm", "components": ("geometric", 1.5)}, "must be below 1"),
        ({"process": "pitman-yor", "sigma": 1.0}, "sigma of the 'pitman-yor' must be"),
        ({"process": "pitman-yor", "sigma": 0.2, "concentration": -0.2}, "must be a finite number above -sigma"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(InvalidSettingError, match=words):
        bg.prior_clusters(**given)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_refused_levels(level):
    with pytest.raises(InvalidSettingError, match="level lies between 0 and 1"):
        bg.prior_clusters("dp", 5).quantile(level)
