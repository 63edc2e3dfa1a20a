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
    draw_binomial,
    draw_dirichlet,
    draw_log_categorical,
    draw_log_dirichlet,
    draw_log_gamma,
)

pytestmark = pytest.mark.statistical
FALSE_ALARMS = 1e-4


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
def many_binomial(rng, size, probability, n_draws):
    draws = np.empty(n_draws, np.int64)
    for k in range(n_draws):
        draws[k] = draw_binomial(rng, size, probability)
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


def test_log_categorical_frequencies_far_from_zero():
    log_weights = np.array([-np.inf, -1000.0, -1001.0, -1003.5, -1800.0])
    counts = many_log_categorical(generator(2), log_weights, 200_000)
    assert counts[[0, 4]].sum() == 0
    assert agreement(counts[1:4], np.exp(log_weights[1:4] + 1000.0)) > FALSE_ALARMS


def test_impossible_weights_give_null():
    rng = generator(3)
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
    draws = np.exp(draw_log_dirichlet(generator(5), np.tile(concentrations, (20_000, 1))))
    for j, a in enumerate(concentrations):
        law = stats.beta(a, concentrations.sum() - a)
        if scale < 0.1:  # most of the mass lies within rounding of 0 or 1, where ties upset the KS test
            n_low = np.count_nonzero(draws[:, j] < 0.5)
            assert stats.binomtest(n_low, 20_000, law.cdf(0.5)).pvalue > FALSE_ALARMS
        else:
            assert stats.kstest(draws[:, j], law.cdf).pvalue > FALSE_ALARMS


def test_dirichlet_of_tiny_concentrations_picks_one_corner():
    concentrations = 1e-9 * np.array([1.0, 2.0, 5.0])
    draws = draw_log_dirichlet(generator(6), np.tile(concentrations, (20_000, 1)))
    assert np.isfinite(draws).all()
    counts = np.bincount(draws.argmax(axis=1), minlength=3)
    assert agreement(counts, concentrations) > FALSE_ALARMS


@pytest.mark.parametrize("concentration", [1e-12, 1e-3, 1.0, 1e6])
def test_dirichlet_sums_to_one(concentration):
    rng = generator(7)
    out = draw_dirichlet(rng, np.full((4, 5, 50), concentration))
    assert out.min() >= 0.0
    np.testing.assert_allclose(out.sum(axis=-1), 1.0, atol=1e-14)


def test_cells_without_concentration_are_not_drawn():
    """Others are drawn as if they were not there, the next number of the generator included."""
    first, second = generator(7), generator(7)
    with_holes = draw_dirichlet(first, np.array([[0.0, 2.0, 0.3], [1.0, 0.0, 5.0]]))
    assert (with_holes == 0.0).tolist() == [[True, False, False], [False, True, False]]
    np.testing.assert_array_equal(
        with_holes[with_holes > 0.0], draw_dirichlet(second, [[2.0, 0.3], [1.0, 5.0]]).ravel()
    )
    assert first.random() == second.random()


BINOMIALS = [
    (size, probability)
    for size in (1, 2, 5, 19, 21, 60, 1_000)
    for probability in (1e-3, 0.07, 0.3, 0.49, 0.5, 0.51, 0.8, 0.999)
]


@pytest.mark.parametrize(("size", "probability"), [*BINOMIALS, (100_000, 2e-5), (100_000, 0.4), (10**8, 3e-7)])
def test_binomial_frequencies(size, probability):
    """Both ways to draw, both sides of one half; rare cells are put together."""
    draws = many_binomial(generator(11, size, int(1e6 * probability)), size, probability, 20_000)
    law = stats.binom(size, probability)
    edges = np.unique(law.ppf(np.linspace(0.0, 1.0, 41)[1:-1]))  # about 500 draws between two of them
    expected = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, draws), minlength=edges.size + 1)
    possible = expected > 1e-5
    assert counts[~possible].sum() <= 5
    if possible.sum() > 1:
        assert agreement(counts[possible], expected[possible]) > FALSE_ALARMS
    assert stats.binomtest(int((draws > law.mean()).sum()), 20_000, law.sf(np.floor(law.mean()))).pvalue > FALSE_ALARMS


@pytest.mark.parametrize(("size", "probability"), [(40, 0.25), (40, 0.75), (64, 0.5), (90, 0.12)])
def test_tails_of_rejected_binomials(size, probability):
    """Every cell that 400,000 draws fill with at least five, where a wrong squeeze or bound would show."""
    draws = many_binomial(generator(12, size), size, probability, 400_000)
    law = stats.binom(size, probability).pmf(np.arange(size + 1))
    counts, cells = np.bincount(draws, minlength=size + 1), 400_000 * law >= 5.0
    pooled = np.append(counts[cells], counts[~cells].sum())
    assert agreement(pooled, np.append(law[cells], law[~cells].sum())) > FALSE_ALARMS


@pytest.mark.parametrize(
    ("size", "probability", "only"),
    [(0, 0.3, 0), (7, 0.0, 0), (7, 1.0, 7), (10**12, 0.0, 0), (10**12, 1.0, 10**12), (10**9, 1e-30, 0)],
)
def test_binomials_that_are_certain(size, probability, only):
    assert set(many_binomial(generator(13), size, probability, 1_000).tolist()) == {only}


@pytest.mark.parametrize("probability", [1e-12, 0.5, 0.9])
def test_binomials_of_a_thousand_million(probability):
    """Mean and variance within 4 standard errors: one false alarm in 8,000 for each probability."""
    size, n_draws = 10**9, 20_000
    draws = many_binomial(generator(14), size, probability, n_draws).astype(float)
    variance = size * probability * (1.0 - probability)
    assert abs(draws.mean() - size * probability) < 4.0 * np.sqrt(variance / n_draws)
    if probability > 1e-3:
        assert abs(draws.var() / variance - 1.0) < 4.0 * np.sqrt(2.0 / n_draws)


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
