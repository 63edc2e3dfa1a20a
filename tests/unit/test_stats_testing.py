"""Statistics of tests of samplers, against scipy, closed forms and, with fixed seeds, their own laws."""

import math

import numpy as np
import pytest
from scipy import stats

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.stats import testing
from bayesgrove.stats.partitions import all_partitions, relabel
from bayesgrove.stats.processes import draw_crp, log_crp_labels

pytestmark = pytest.mark.unit


def autoregression(seed, n, coefficient):
    noise = generator(seed).normal(size=n)
    series = np.empty(n)
    series[0] = noise[0] / math.sqrt(1.0 - coefficient**2)
    for i in range(1, n):
        series[i] = coefficient * series[i - 1] + noise[i]
    return series


def test_tests_of_counts_equal_scipy():
    law = np.array([0.1, 0.2, 0.3, 0.4])
    counts = generator(1).multinomial(200, law)
    for test, name in ((testing.g_test, "log-likelihood"), (testing.chi_square_test, "pearson")):
        wanted = stats.power_divergence(counts, 200 * law, lambda_=name)
        found = test(counts, 7.0 * law)  # any scale
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-12)
        assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
        assert found.n_cells == 4


def test_small_cells_are_pooled():
    law = np.array([0.5, 0.02, 0.455, 0.025])
    found = testing.chi_square_test([45, 1, 44, 10], law)
    wanted = stats.chisquare([45, 44, 11], [50, 45.5, 4.5])
    assert found.n_cells == 2  # 4.5 expected are still too few: they join the rarest of the others
    assert found.statistic == pytest.approx(stats.chisquare([45, 55], [50, 50]).statistic, rel=1e-12)
    assert testing.chi_square_test([45, 1, 44, 10], law, minimum=4.0).statistic == pytest.approx(wanted.statistic)


@pytest.mark.parametrize("test", [testing.g_test, testing.chi_square_test])
def test_an_impossible_draw_is_never_forgiven(test):
    assert test([50, 1, 50], [0.5, 0.0, 0.5]).p_value == 0.0
    assert test([50, 0, 50], [0.5, 0.0, 0.5]).p_value == 1.0


def test_one_cell_compares_nothing():
    assert testing.g_test([3, 1], [0.5, 0.5]) == (pytest.approx(0.0), 1.0, 1)


@pytest.mark.parametrize("test", [testing.g_test, testing.chi_square_test])
def test_p_values_of_the_right_law_are_uniform(test):
    """False alarm for 1 seed in 10,000."""
    law = np.array([0.3, 0.3, 0.2, 0.1, 0.1])
    counts = generator(2).multinomial(2_000, law, size=400)
    assert stats.kstest([test(row, law).p_value for row in counts], "uniform").pvalue > 1e-4


def test_batch_means_and_their_z_score():
    values = np.arange(83.0)
    assert testing.batch_means(values, 40).tolist() == [3.5 + 2 * k for k in range(40)]
    both = testing.batch_means(np.column_stack([values, -values]), 40)
    np.testing.assert_array_equal(both[:, 1], -both[:, 0])
    batches = testing.batch_means(values, 40)
    wanted = stats.ttest_1samp(batches, 40.0)
    assert testing.mean_z(values, 40.0) == pytest.approx(wanted.statistic, rel=1e-12)
    assert testing.z_p_value(wanted.statistic) == pytest.approx(wanted.pvalue, rel=1e-9)


def test_z_scores_of_a_correlated_chain_follow_t():
    """False alarm for 1 seed in 10,000: z scores that ignore the correlation would be 1.7 times too wide."""
    scores = [testing.mean_z(autoregression(seed, 4_000, 0.5), 0.0) for seed in range(200)]
    assert stats.kstest(scores, stats.t(39).cdf).pvalue > 1e-4


def test_standardise_of_constants():
    found = testing.standardise([0.0, 2.0, -2.0, 3.0], [0.0, 0.0, 0.0, 2.0])
    assert found.tolist() == [0.0, math.inf, -math.inf, 1.5]


def test_thresholds_of_several_tests():
    assert testing.bonferroni_level(1e-3, 10) == pytest.approx(1e-4)
    assert testing.z_p_value(testing.bonferroni_z(1e-3, 10)) == pytest.approx(1e-4, rel=1e-9)


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 0.9, -0.5])
def test_autocorrelation_time_of_an_autoregression(coefficient):
    wanted = (1.0 + coefficient) / (1.0 - coefficient)
    found = testing.autocorrelation_time(autoregression(3, 100_000, coefficient))
    assert found == pytest.approx(wanted, rel=0.1)


def test_autocorrelation_time_of_special_series():
    assert testing.autocorrelation_time(np.full(10, 3.0)) == math.inf
    assert testing.autocorrelation_time(np.tile([0.0, 1.0], 50)) < 0.1  # a mean that is nearly exact


def test_exact_law_of_the_chinese_restaurant():
    law = testing.exact_partition_law(lambda labels: 5.0 + log_crp_labels(labels, 0.7), 5)
    wanted = [math.exp(log_crp_labels(labels, 0.7)) for labels in all_partitions(5)]
    np.testing.assert_allclose(law.probabilities, wanted, rtol=1e-12)
    assert law.log_evidence == pytest.approx(5.0, abs=1e-12)
    assert law.partitions.shape == (52, 5)


def test_exact_law_with_impossible_partitions():
    law = testing.exact_partition_law(lambda labels: 0.0 if labels.max() == 0 else -math.inf, 4)
    assert law.probabilities.tolist() == [1.0] + [0.0] * 14


@pytest.mark.parametrize("n_items", [1, 2, 5, 6])
def test_partition_counts_whatever_the_labels(n_items):
    rng = generator(4, n_items)
    draws = rng.integers(0, 9, (500, n_items)) * 11 - 30
    order = {tuple(labels.tolist()): k for k, labels in enumerate(all_partitions(n_items))}
    wanted = np.zeros(len(order), np.int64)
    for row in draws:
        wanted[order[tuple(relabel(row).tolist())]] += 1
    np.testing.assert_array_equal(testing.partition_counts(draws), wanted)


def test_total_variation_and_its_bound():
    assert testing.total_variation([1, 3], [0.5, 0.5]) == pytest.approx(0.25)
    law = np.array([0.5, 0.3, 0.2])
    counts = generator(5).multinomial(10_000, law, size=2_000)
    distances = [testing.total_variation(row, law) for row in counts]
    expectation = testing.total_variation_bound(law, 10_000, multiple=1.0)
    assert np.mean(distances) == pytest.approx(expectation, rel=0.05)
    assert max(distances) < 4.0 * expectation
    assert testing.total_variation_bound(law, 10_000, time=4.0) == pytest.approx(6.0 * expectation)


def crp_draws(concentration):
    rng = generator(6)
    return np.array([draw_crp(rng, 5, concentration) for _ in range(20_000)])


def test_partition_agreement_tells_right_from_wrong():
    """False alarm of the right law below 2 seeds in 10,000."""
    law = testing.exact_partition_law(lambda labels: log_crp_labels(labels, 1.0), 5)
    right, wrong = crp_draws(1.0), crp_draws(1.3)
    agreed = testing.partition_agreement(right, law.probabilities, right.max(axis=1))
    assert agreed.p_value > 1e-4
    assert agreed.total_variation < agreed.total_variation_bound
    assert agreed.autocorrelation_time == pytest.approx(1.0, abs=0.1)
    assert agreed.n_cells == 52
    refused = testing.partition_agreement(wrong, law.probabilities, wrong.max(axis=1))
    assert refused.p_value < 1e-4
    assert refused.total_variation > refused.total_variation_bound


def sticky_draws(concentration, stay):
    """A chain that keeps its partition with probability `stay`, or draws from the Chinese restaurant process."""
    rng, n_draws = generator(7), 60_000
    moves = rng.random(n_draws) >= stay
    moves[0] = True
    fresh = np.array([draw_crp(rng, 5, concentration) for _ in range(n_draws)])
    return fresh[np.maximum.accumulate(np.where(moves, np.arange(n_draws), 0))]


@pytest.mark.parametrize("stay", [0.5, 0.8])
def test_partition_agreement_of_a_chain_with_a_memory(stay):
    """False alarm of the right law below 2 seeds in 10,000; draws taken for independent would be refused."""
    law = testing.exact_partition_law(lambda labels: log_crp_labels(labels, 1.0), 5)
    scores = [log_crp_labels(labels, 1.0) for labels in all_partitions(5)]
    codes = testing.partition_codes(np.array(list(all_partitions(5))))
    found = []
    for concentration in (1.0, 1.6):
        draws = sticky_draws(concentration, stay)
        series = np.array(scores)[np.searchsorted(codes, testing.partition_codes(draws))]
        found.append(testing.partition_agreement(draws, law.probabilities, series))
    right, wrong = found
    assert right.autocorrelation_time == pytest.approx((1 + stay) / (1 - stay), rel=0.15)
    assert right.p_value > 1e-4
    assert right.total_variation <= right.total_variation_bound
    assert wrong.p_value < 1e-6
    assert wrong.total_variation > wrong.total_variation_bound


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: testing.g_test([1, 2], [1.0]), InvalidInputError, r"one entry per cell .* shapes \(2,\) and \(1,\)"),
        (lambda: testing.g_test([0, 0], [0.5, 0.5]), InvalidInputError, "and 0 draws"),
        (lambda: testing.g_test([1, 2], [1.5, -0.5]), InvalidInputError, "at least 0, not all 0; the smallest is -0.5"),
        (lambda: testing.batch_means([1.0] * 39), InvalidSettingError, "got 40 batches of 39 values"),
        (lambda: testing.bonferroni_level(0.0, 3), InvalidSettingError, "got level 0.0 and 3 tests"),
        (lambda: testing.autocorrelation_time(np.ones((5, 5))), InvalidInputError, r"got shape \(5, 5\)"),
        (lambda: testing.exact_partition_law(lambda _: -math.inf, 3), InvalidInputError, "largest value is -inf"),
        (lambda: testing.exact_partition_law(lambda _: math.nan, 3), InvalidInputError, "largest value is nan"),
        (lambda: testing.partition_codes(np.zeros((3, 15))), InvalidInputError, r"1 to 14 items, got shape \(3, 15\)"),
        (
            lambda: testing.partition_agreement(np.zeros((9, 2)), [0.5, 0.5], np.zeros(9)),
            InvalidInputError,
            "varies, got a constant",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
