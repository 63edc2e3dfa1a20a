"""The helpers that judge a chain over partitions, on cases whose answer is known.

Seeds are fixed; on a fresh seed each comparison of a right chain would fail with probability about 1e-4 or less.
"""

import math

import numpy as np
import pytest
from scipy import stats

from bayesgrove.core.rng import generator
from reference import nrm, nrm_chain
from reference.nrm_hyper import RandomDirichlet

pytestmark = pytest.mark.unit
ROWS = [-1.0, 0.2, 1.5, 1.9]


@pytest.fixture(scope="module")
def law():
    return nrm_chain.exact_law(ROWS, 1.0, 4.0, nrm.Dirichlet(1.0))


def sticky_chain(law, seed, n_draws, stay):
    """States of a chain that keeps its state with probability `stay`, or draws from the law; and its states' ranks."""
    rng = generator(seed)
    fresh = rng.choice(len(law), size=n_draws, p=list(law.values()))
    moves = rng.random(n_draws) >= stay
    moves[0] = True
    ranks = fresh[np.maximum.accumulate(np.where(moves, np.arange(n_draws), 0))]
    return np.array(list(law))[ranks], np.log(np.array(list(law.values()))[ranks])


def test_exact_law_sums_to_one_and_knows_random_parameters(law):
    assert len(law) == 15
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-12)
    sharp = nrm_chain.exact_law(ROWS, 1.0, 4.0, RandomDirichlet(1e6, 1e6))  # alpha is 1 within 1e-3
    np.testing.assert_allclose(list(sharp.values()), list(law.values()), atol=1e-5)


def test_counts_do_not_mind_how_clusters_are_numbered():
    counts = nrm_chain.partition_counts([[5, 5, 2], [0, 0, 1], [1, 1, 0], [3, 4, 3]])
    assert counts == {(0, 0, 1): 3, (0, 1, 0): 1}


@pytest.mark.parametrize(("slope", "expected"), [(0.0, 1.0), (0.5, 3.0), (0.9, 19.0)])
def test_autocorrelation_time_of_a_first_order_process(slope, expected):
    noise = generator(3).normal(size=200_000)
    series = np.empty_like(noise)
    state = 0.0
    for t, shock in enumerate(noise):
        state = slope * state + shock
        series[t] = state
    assert nrm_chain.autocorrelation_time(series) == pytest.approx(expected, rel=0.1)


def test_autocorrelation_time_of_constant_and_alternating_series():
    assert nrm_chain.autocorrelation_time(np.full(100, 2.5)) == 1.0
    assert nrm_chain.autocorrelation_time(np.tile([0.0, 1.0], 50)) == 1.0


def test_p_values_are_those_of_scipy():
    law = {(0, 0, 0): 0.5, (0, 0, 1): 0.3, (0, 1, 0): 0.2}
    counts = {(0, 0, 0): 60, (0, 0, 1): 25, (0, 1, 0): 15}
    expected = [50.0, 30.0, 20.0]
    chi = stats.chisquare(list(counts.values()), expected).pvalue
    assert nrm_chain.chi_square_p_value(counts, law) == pytest.approx(chi, rel=1e-12)
    ratio = stats.power_divergence(list(counts.values()), expected, lambda_="log-likelihood").pvalue
    assert nrm_chain.g_test_p_value(counts, law) == pytest.approx(ratio, rel=1e-12)


def test_rare_partitions_are_pooled_until_five_are_expected():
    law = {(0, 0, 0): 0.88, (0, 0, 1): 0.05, (0, 1, 0): 0.03, (0, 1, 1): 0.03, (0, 1, 2): 0.01}
    counts = {(0, 0, 0): 85, (0, 0, 1): 6, (0, 1, 0): 4, (0, 1, 1): 3, (0, 1, 2): 2}
    cells = nrm_chain.pooled_cells(counts, law)
    np.testing.assert_allclose(cells.expected, [88, 5, 7])
    np.testing.assert_allclose(cells.observed, [85, 6, 9])
    half = nrm_chain.pooled_cells({state: count // 2 for state, count in counts.items()}, law)
    assert len(half.expected) == 2  # 43, and what is left: expectation 5.9
    few = nrm_chain.pooled_cells({(0, 0, 0): 20}, law)
    np.testing.assert_allclose(few.expected, [20.0])  # the pool of 2.4 joins the only cell
    assert nrm_chain.chi_square_p_value({(0, 0, 0): 20}, law) == 1.0


def test_a_partition_unknown_to_the_law_is_an_error(law):
    with pytest.raises(ValueError, match="must name every partition visited"):
        nrm_chain.chi_square_p_value({(0, 0, 0, 0): 5, (0, 0): 1}, law)


def test_bound_is_three_times_the_mean_total_variation_of_independent_draws(law):
    rng, n = generator(11), 4_000
    counts = rng.multinomial(n, list(law.values()), size=400)
    gaps = [nrm_chain.total_variation(dict(zip(law, row.tolist(), strict=True)), law) for row in counts]
    assert nrm_chain.total_variation_bound(law, n) == pytest.approx(3 * np.mean(gaps), rel=0.03)
    assert max(gaps) < nrm_chain.total_variation_bound(law, n)
    assert nrm_chain.total_variation_bound(law, n, 9.0) == pytest.approx(3 * nrm_chain.total_variation_bound(law, n))


@pytest.mark.parametrize("stay", [0.0, 0.8])
def test_a_right_chain_passes(law, stay):
    found = nrm_chain.compare(*sticky_chain(law, 21, 60_000, stay), law)
    assert found.time == pytest.approx((1 + stay) / (1 - stay), rel=0.15)
    assert min(found.p_value, found.g_p_value) > 1e-4
    assert found.total_variation <= found.bound


def test_a_chain_of_another_law_is_refused(law):
    wrong = nrm_chain.exact_law(ROWS, 1.0, 4.0, nrm.Dirichlet(1.6))
    found = nrm_chain.compare(*sticky_chain(wrong, 21, 60_000, 0.8), law)
    assert max(found.p_value, found.g_p_value) < 1e-6
    assert found.total_variation > found.bound


def test_batch_z_of_a_known_series():
    series = np.repeat(np.arange(40.0), 5)
    error = np.arange(40).std(ddof=1) / math.sqrt(40)
    assert nrm_chain.batch_z(series, 19.5) == pytest.approx(0.0, abs=1e-12)
    assert nrm_chain.batch_z(np.append(series, 1e9), 19.5 - 2 * error) == pytest.approx(2.0)
