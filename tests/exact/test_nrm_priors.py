"""Pitman-Yor processes and mixtures of finite mixtures: their laws over all partitions against plain twins."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.special import gammaln

from bayesgrove.core.rng import generator
from bayesgrove.models.nrm.predictive import draw_weights
from bayesgrove.models.nrm.process import FINITE, log_constant, process_tables, start_numbers
from bayesgrove.stats.partitions import all_partitions
from bayesgrove.stats.processes import LEAST_FINITE, log_crp_labels
from bayesgrove.stats.testing import mean_z
from reference import nrm
from reference.mixtures import FREE_FEW, FREE_PITMAN, GIBBS_TYPE, PROCESS, build, known_variance, state_of
from reference.nrm_prior import log_finite_mixture, log_pitman_yor

pytestmark = pytest.mark.exact


def log_eppf(process, sizes):
    """The library's log probability of one partition."""
    if process.kind == FINITE:
        return log_finite_mixture(sizes, process.alpha, process.components)
    return log_pitman_yor(sizes, process.alpha, process.sigma)


@pytest.mark.parametrize("kind", GIBBS_TYPE)
@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_probabilities_are_those_of_the_twin_and_sum_to_one(kind, n):
    process, twin = GIBBS_TYPE[kind]
    states = nrm.partitions(n)
    found = np.array([log_eppf(process, np.bincount(state)) for state in states])
    assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-12)
    wanted = [nrm.log_marginal_joint(state, lambda cluster: 0.0, twin) for state in states]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("kind", GIBBS_TYPE)
def test_leaving_out_the_last_item_gives_the_law_of_fewer(kind):
    process, _ = GIBBS_TYPE[kind]
    collected = dict.fromkeys(nrm.partitions(5), 0.0)
    for labels in all_partitions(6):
        collected[tuple(labels[:5].tolist())] += math.exp(log_eppf(process, np.bincount(labels)))
    wanted = [math.exp(log_eppf(process, np.bincount(state))) for state in collected]
    np.testing.assert_allclose(list(collected.values()), wanted, rtol=1e-9)


@pytest.mark.parametrize("kind", GIBBS_TYPE)
@pytest.mark.parametrize("n", [1, 6, 40])
def test_tables_of_the_moves_give_the_same_law(kind, n):
    process, _ = GIBBS_TYPE[kind]
    numbers = start_numbers(process, n)
    log_kappa, log_v = process_tables(process, numbers, n)
    for sizes in ([n], [1] * min(n, 10) + [n - 10] * (n > 10)):
        own = log_constant(process.kind, numbers, n) + log_v[len(sizes)] + sum(log_kappa[size] for size in sizes)
        assert own == pytest.approx(log_eppf(process, sizes), abs=1e-9)


def test_without_a_discount_it_is_the_chinese_restaurant():
    for labels in all_partitions(5):
        assert log_pitman_yor(np.bincount(labels), 0.7, 0.0) == pytest.approx(log_crp_labels(labels, 0.7), abs=1e-12)


@pytest.mark.parametrize("partition", [(0, 0, 0, 0, 0), (0, 0, 1, 1, 2), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("kind", GIBBS_TYPE)
def test_predictive_weights(kind, partition):
    process, twin = GIBBS_TYPE[kind]
    numbers, sizes = start_numbers(process, 5), np.bincount(partition).astype(float)
    clusters, new = draw_weights(process.kind, numbers, sizes, 5, process.components)
    expected = nrm.predictive_weights(partition, twin)
    np.testing.assert_allclose(np.exp(clusters), expected.clusters, rtol=1e-9)
    assert math.exp(new) == pytest.approx(expected.new, rel=1e-9)
    assert np.exp(clusters).sum() + math.exp(new) == pytest.approx(1.0, abs=1e-12)


SIZES = np.array([3.0, 2.0, 1.0])
LABELS = np.array([0, 0, 0, 1, 1, 2])


def draws_of(process, n_draws=6_000):
    """Concentration and sigma on a fixed partition."""
    sampler = build(known_variance(1), np.zeros((6, 1)), process)
    state, rng = state_of(sampler, LABELS), generator(7)
    draws = np.empty((n_draws, 2))
    for at in range(n_draws):
        sampler.move(rng, state, PROCESS)
        draws[at] = state.numbers[1:]
    return draws


@pytest.mark.slow
def test_learned_concentration_of_the_mixture_of_finite_mixtures():
    """Fixed seed; false alarm 1e-5."""

    def density(alpha):
        return math.exp(log_finite_mixture(SIZES, alpha) - alpha)

    total, first = (integrate.quad(lambda x, p=p: x**p * density(x), LEAST_FINITE, 40.0, limit=200)[0] for p in (0, 1))
    assert abs(mean_z(draws_of(FREE_FEW)[:, 0], first / total)) < 4.4


def test_learned_numbers_of_the_pitman_yor_process():
    """Both at once, against a sum over a grid; fixed seed, false alarm 2e-5."""
    alpha, sigma = np.meshgrid(np.linspace(0.005, 20.0, 2_000), (np.arange(400) + 0.5) / 400)
    logs = np.log(alpha + sigma) + np.log(alpha + 2 * sigma) + gammaln(alpha + 1) - gammaln(alpha + 6) - alpha
    logs += sum(gammaln(size - sigma) - gammaln(1 - sigma) for size in SIZES) + 3.0 * np.log1p(-sigma)
    weights = np.exp(logs - logs.max())
    draws = draws_of(FREE_PITMAN, 12_000)
    assert abs(mean_z(draws[:, 0], (weights * alpha).sum() / weights.sum())) < 4.4
    assert abs(mean_z(draws[:, 1], (weights * sigma).sum() / weights.sum())) < 4.4
