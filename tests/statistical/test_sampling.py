"""Draws against their laws, seeds fixed; a right sampler fails each comparison for 1 seed in 10,000."""

import numpy as np
import pytest
from scipy import stats

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.stats.partitions import all_partitions, relabel
from bayesgrove.stats.processes import draw_crp, log_crp_labels
from bayesgrove.stats.sampling import (
    draw_categorical,
    draw_dirichlet,
    draw_log_categorical,
    draw_log_dirichlet,
    draw_log_gamma,
)

pytestmark = pytest.mark.statistical
FALSE_ALARMS = 1e-4


@kernel
def many_categorical(rng, weights, n_draws):
    counts = np.zeros(weights.size, np.int64)
    for _ in range(n_draws):
        counts[draw_categorical(rng, weights)] += 1
    return counts


@kernel
def many_log_categorical(rng, log_weights, n_draws):
    counts = np.zeros(log_weights.size, np.int64)
    for _ in range(n_draws):
        counts[draw_log_categorical(rng, log_weights)] += 1
    return counts


@kernel
def many_log_gamma(rng, shape, n_draws):
    draws = np.empty(n_draws)
    for k in range(n_draws):
        draws[k] = draw_log_gamma(rng, shape)
    return draws


@kernel
def many_log_dirichlet(rng, concentrations, n_draws):
    draws = np.empty((n_draws, concentrations.size))
    for k in range(n_draws):
        draw_log_dirichlet(rng, concentrations, draws[k])
    return draws


@kernel
def many_crp(rng, n_items, concentration, n_draws):
    draws = np.empty((n_draws, n_items), np.int64)
    for k in range(n_draws):
        draws[k] = draw_crp(rng, n_items, concentration)
    return draws


def agreement(counts, probabilities):
    """p-value of a chi-square test of counts against probabilities."""
    return stats.chisquare(counts, probabilities / probabilities.sum() * counts.sum()).pvalue


def test_categorical_frequencies():
    weights = np.array([0.0, 3.0, 1e-3, 0.0, 1.0, 0.5, 0.0])
    counts = many_categorical(generator(1), weights, 200_000)
    assert counts[weights == 0].sum() == 0
    possible = weights > 0
    assert agreement(counts[possible], weights[possible]) > FALSE_ALARMS


def test_log_categorical_frequencies_far_from_zero():
    log_weights = np.array([-np.inf, -1000.0, -1001.0, -1003.5, -1800.0])
    counts = many_log_categorical(generator(2), log_weights, 200_000)
    assert counts[[0, 4]].sum() == 0
    assert agreement(counts[1:4], np.exp(log_weights[1:4] + 1000.0)) > FALSE_ALARMS


def test_impossible_weights_give_null():
    rng = generator(3)
    for broken in ([0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], []):
        assert draw_categorical(rng, np.array(broken)) == NULL
    for broken in ([-np.inf, -np.inf], [np.nan, 1.0], [0.0, np.nan], [np.inf, 1.0], []):
        assert draw_log_categorical(rng, np.array(broken)) == NULL


@pytest.mark.parametrize("shape", [1e-5, 0.01, 0.4, 1.0, 3.0, 250.0])
def test_log_gamma_law(shape):
    draws = many_log_gamma(generator(4, int(1e5 * shape)), shape, 20_000)
    assert np.isfinite(draws).all()
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > FALSE_ALARMS


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_dirichlet_marginals_are_beta(scale):
    concentrations = scale * np.array([0.5, 1.0, 2.5])
    draws = np.exp(many_log_dirichlet(generator(5), concentrations, 20_000))
    for j, a in enumerate(concentrations):
        law = stats.beta(a, concentrations.sum() - a)
        if scale < 0.1:  # most of the mass lies within rounding of 0 or 1, where ties upset the KS test
            n_low = np.count_nonzero(draws[:, j] < 0.5)
            assert stats.binomtest(n_low, 20_000, law.cdf(0.5)).pvalue > FALSE_ALARMS
        else:
            assert stats.kstest(draws[:, j], law.cdf).pvalue > FALSE_ALARMS


def test_dirichlet_of_tiny_concentrations_picks_one_corner():
    concentrations = 1e-9 * np.array([1.0, 2.0, 5.0])
    draws = many_log_dirichlet(generator(6), concentrations, 20_000)
    assert np.isfinite(draws).all()
    counts = np.bincount(draws.argmax(axis=1), minlength=3)
    assert agreement(counts, concentrations) > FALSE_ALARMS


@pytest.mark.parametrize("concentration", [1e-12, 1e-3, 1.0, 1e6])
def test_dirichlet_sums_to_one(concentration):
    rng = generator(7)
    out = np.empty(50)
    for _ in range(20):
        draw_dirichlet(rng, np.full(50, concentration), out)
        assert out.min() >= 0.0
        assert out.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("concentration", [0.4, 2.0])
def test_crp_visits_partitions_by_their_law(concentration):
    draws = many_crp(generator(8), 5, concentration, 100_000)
    wanted = {tuple(labels.tolist()): np.exp(log_crp_labels(labels, concentration)) for labels in all_partitions(5)}
    found, counts = np.unique(draws, axis=0, return_counts=True)
    tally = dict(zip(map(tuple, found.tolist()), counts, strict=True))
    assert set(tally) <= set(wanted)
    frequencies = np.array([tally.get(key, 0) for key in wanted])
    assert agreement(frequencies, np.array(list(wanted.values()))) > FALSE_ALARMS


def test_crp_labels_are_in_normal_form():
    labels = draw_crp(generator(9), 1000, 10.0)
    assert relabel(labels).tolist() == labels.tolist()


def test_the_same_seed_gives_the_same_draws():
    first, second = (many_crp(generator(10), 30, 1.0, 20) for _ in range(2))
    np.testing.assert_array_equal(first, second)
