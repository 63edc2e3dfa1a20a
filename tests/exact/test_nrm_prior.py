"""The exact prior of a normalised generalised gamma process: against golden numbers, quadrature, its own consistency.

Draws are with fixed seeds; each comparison fails for 1 fresh seed in 10,000.
"""

import math

import mpmath
import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.stats.partitions import all_partitions
from bayesgrove.stats.processes import log_crp_labels
from bayesgrove.stats.testing import g_test, mean_z, partition_counts, total_variation
from reference import nrm_prior
from reference.nrm_prior import STEP, draw_log_u, draw_partition, grid, log_kernel, mode, partition_law

pytestmark = pytest.mark.exact
SETTINGS = [(1.0, 0.5), (0.05, 0.5), (30.0, 0.2), (1e4, 0.7), (2.0, 1e-3), (2.0, 1 - 1e-3), (1e-3, 1e-2)]


def log_marginal(values, inputs):
    """Log density of rows of one cluster: N(centre, s2), centre ~ N(mu0, t2), all columns alike."""
    s2, t2 = inputs["s2"], inputs["t2"]
    centred = values - np.array(inputs["mu0"])
    n = len(values)
    spread = (centred**2).sum(axis=0) / s2 - t2 * centred.sum(axis=0) ** 2 / (s2 * (s2 + n * t2))
    return float(-0.5 * (n * math.log(2 * math.pi * s2) + math.log1p(n * t2 / s2) + spread).sum())


@pytest.mark.parametrize("data", ["one_d", "two_d"])
def test_golden_log_joint(golden, data):
    numbers = golden("nrm")["posterior"][data]
    inputs, wanted = numbers["inputs"], numbers["nggp"]
    values, prior = np.array(inputs["X"]), wanted["prior"]
    law = partition_law(len(values), prior["alpha"], prior["sigma"])
    log_joint = [
        math.log(probability) + sum(log_marginal(values[labels == k], inputs) for k in range(labels.max() + 1))
        for labels, probability in zip(all_partitions(len(values)), law, strict=True)
    ]
    order = {"".join(map(str, labels)): k for k, labels in enumerate(all_partitions(len(values)))}
    places = [order[text] for text in wanted["partitions"]]
    np.testing.assert_allclose(np.array(log_joint)[places], wanted["log_joint"], atol=1e-9)


@pytest.mark.parametrize("row", [0, 1])
def test_golden_u_given_the_partition(golden, row):
    numbers = golden("nrm")["u_conditional"]
    setting = (numbers["n"], numbers["rows"][row]["K"], numbers["alpha"], numbers["sigma"])
    points = grid(setting[0], setting[1], setting[1], *setting[2:])
    weights = np.exp(log_kernel(points, *setting))
    mean = np.average(points, weights=weights)
    sd = math.sqrt(np.average((points - mean) ** 2, weights=weights))
    assert mean == pytest.approx(numbers["rows"][row]["mean_log_u"], abs=1e-9)
    assert sd == pytest.approx(numbers["rows"][row]["sd_log_u"], abs=1e-9)
    draws = draw_many(5_000, setting)
    assert abs(mean_z(draws, mean)) < 4.4
    assert abs(mean_z((draws - mean) ** 2, sd**2)) < 4.4


def draw_many(n_draws, setting):
    rng = generator(1)
    return np.array([draw_log_u(rng, *setting) for _ in range(n_draws)])


@pytest.mark.parametrize(("alpha", "sigma"), SETTINGS)
@pytest.mark.parametrize("n", [1, 2, 6])
def test_probabilities_sum_to_one(n, alpha, sigma):
    assert partition_law(n, alpha, sigma).sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("alpha", "sigma"), SETTINGS)
def test_leaving_out_the_last_item_gives_the_law_of_fewer(alpha, sigma):
    shorter = {tuple(labels): k for k, labels in enumerate(np.array(list(all_partitions(5))).tolist())}
    collected = np.zeros(len(shorter))
    for labels, probability in zip(all_partitions(6), partition_law(6, alpha, sigma), strict=True):
        collected[shorter[tuple(labels[:5].tolist())]] += probability
    np.testing.assert_allclose(collected, partition_law(5, alpha, sigma), rtol=1e-9, atol=1e-13)


def test_weights_equal_quadrature_with_many_digits():
    n, k, alpha, sigma = 6, 3, 0.8, 0.4

    def integrand(u):
        tilt = mpmath.exp(-alpha * ((1 + u) ** sigma - 1))
        return u ** (n - 1) / mpmath.gamma(n) * tilt * (1 + u) ** (-(n - k * sigma))

    with mpmath.workdps(25):
        wanted = mpmath.log((alpha * sigma) ** k * mpmath.quad(integrand, [0, 1, 10, 100, 1e4, 1e7]))
    assert nrm_prior.log_weights_of_counts(n, alpha, sigma)[k - 1] == pytest.approx(float(wanted), abs=1e-12)


def test_the_limit_is_the_chinese_restaurant_of_alpha_times_sigma():
    crp = [math.exp(log_crp_labels(labels, 1.5)) for labels in all_partitions(6)]
    assert total_variation(partition_law(6, 1.5e5, 1e-5), crp) < 1e-4
    assert total_variation(partition_law(6, 1.5, 1e-5), crp) > 0.5


def test_partitions_are_drawn_from_their_law():
    rng = generator(2)
    draws = np.array([draw_partition(rng, 6, 1.3, 0.4) for _ in range(5_000)])
    assert g_test(partition_counts(draws), partition_law(6, 1.3, 0.4)).p_value > 1e-4


@pytest.mark.parametrize(("alpha", "sigma"), SETTINGS)
def test_log_u_is_drawn_from_its_density(alpha, sigma):
    """Over bins that the trapezoidal rule makes, at settings where the law is narrow, wide or far out."""
    setting = (6, 2, alpha, sigma)
    draws = draw_many(3_000, setting)
    fine = np.arange(grid(6, 2, 2, alpha, sigma)[0], grid(6, 2, 2, alpha, sigma)[-1], STEP / 50.0)
    weights = np.exp(log_kernel(fine, *setting) - log_kernel(mode(*setting), *setting))
    cumulative = np.cumsum(weights) / weights.sum()
    edges = fine[np.searchsorted(cumulative, np.arange(1, 20) / 20.0)]
    counts = np.bincount(np.searchsorted(edges, draws), minlength=20)
    law = np.diff(np.interp(edges, fine + STEP / 100.0, cumulative), prepend=0.0, append=1.0)
    assert g_test(counts, law).p_value > 1e-4
