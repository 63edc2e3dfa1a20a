"""Losses that are no plain sums, several representatives and certain items: against brute force and definitions."""

import itertools

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.posterior import Posterior
from bayesgrove.stats.partition_losses import distances_to_draws, named_loss
from bayesgrove.stats.partitions import all_partitions, relabel_draws
from reference import point_estimate as twin

pytestmark = pytest.mark.unit
RATIOS = ("omari", "nvi", "nid")
WEIGHTED = (("vi", 0.5), ("vi", 1.4), ("binder", 0.7), ("binder", 1.6))
CASES = (*((loss, 1.0) for loss in RATIOS), *WEIGHTED)


@pytest.fixture(scope="module")
def every_eight():
    """All 4,140 partitions of eight items."""
    return relabel_draws(np.array(list(all_partitions(8))))


def random_draws(seed, n_items=8):
    rng = np.random.default_rng(seed)
    return relabel_draws(rng.integers(0, int(rng.integers(2, 6)), (int(rng.integers(2, 25)), n_items)))


@pytest.mark.parametrize(("loss", "a"), CASES)
def test_losses_equal_plain_ones_for_all_partitions_of_five_items(loss, a):
    every = relabel_draws(np.array(list(all_partitions(5))))
    found = distances_to_draws(every, every, named_loss(loss, 5, a))
    for (row, first), (column, second) in itertools.product(enumerate(every.tolist()), repeat=2):
        plain = twin.distance(first, second, loss) if loss in RATIOS else twin.weighted(first, second, loss, a)
        assert found[row, column] == pytest.approx(max(plain, 0.0), abs=1e-12)


@pytest.mark.parametrize(("loss", "a"), CASES)
@pytest.mark.parametrize("seed", range(12))
def test_the_estimate_is_the_minimum_over_all_partitions_of_eight_items(every_eight, seed, loss, a):
    draws = random_draws(seed)
    expected = distances_to_draws(every_eight, draws, named_loss(loss, 8, a)).mean(axis=1)
    found = Posterior(draws[np.newaxis]).point_estimate(loss, a=a, random_state=seed)
    assert found.expected_loss == pytest.approx(expected.min(), abs=1e-10)
    again = distances_to_draws(relabel_draws(found.labels[np.newaxis]), draws, named_loss(loss, 8, a)).mean()
    assert found.expected_loss == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_parting_that_costs_more_gives_fewer_clusters(loss):
    draws = random_draws(3, 30)
    few, many = (Posterior(draws[np.newaxis]).point_estimate(loss, a=a, random_state=0).n_clusters for a in (1.9, 0.1))
    assert few < many


@pytest.mark.parametrize("loss", RATIOS)
def test_no_more_clusters_than_asked_for(loss):
    found = Posterior(random_draws(5, 20)[np.newaxis]).point_estimate(loss, max_clusters=2, random_state=0)
    assert found.n_clusters <= 2


def two_modes(noise=0.02, n_draws=200):
    """Three clusters of ten items in three draws of five, else two."""
    rng = np.random.default_rng(0)
    modes = np.repeat([0, 1, 2], 10), np.repeat([0, 1, 1], 10)
    draws = np.array([modes[at % 5 >= 3] for at in range(n_draws)])
    moved = rng.random(draws.shape) < noise
    draws[moved] = rng.integers(0, 3, int(moved.sum()))
    return draws, modes


def test_representatives_of_two_modes():
    draws, modes = two_modes()
    posterior = Posterior(draws.reshape(2, 100, 30))
    found = posterior.representatives(2, random_state=0)
    np.testing.assert_array_equal(found.labels, modes)
    np.testing.assert_allclose(found.weights, [0.6, 0.4])
    np.testing.assert_array_equal(found.assignment, np.arange(200) % 5 >= 3)
    distances = distances_to_draws(relabel_draws(found.labels), relabel_draws(draws), named_loss("vi", 30))
    assert found.expected_loss == pytest.approx(distances.min(axis=0).mean(), abs=1e-12)
    one = posterior.representatives(1, random_state=0)
    np.testing.assert_array_equal(one.labels[0], posterior.point_estimate(random_state=0).labels)
    assert one.expected_loss > 2.0 * found.expected_loss


def test_no_more_representatives_than_different_draws():
    found = Posterior([[[0, 0, 1], [0, 0, 1]]]).representatives(3, random_state=0)
    assert found.labels.tolist() == [[0, 0, 1]]
    assert found.expected_loss == pytest.approx(0.0, abs=1e-12)


def largest_certain(draws, probability):
    """Largest number of items of which one partition has at least this share of the draws, by brute force."""
    n_items = draws.shape[1]
    for size in range(n_items, 0, -1):
        for items in itertools.combinations(range(n_items), size):
            restricted = relabel_draws(draws[:, items])
            if np.unique(restricted, axis=0, return_counts=True)[1].max() >= probability * len(draws) - 1e-9:
                return size
    return 0


@pytest.mark.parametrize("probability", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("seed", range(10))
def test_certain_items(seed, probability):
    """What is given has its probability; greedy search is at most one item short of brute force."""
    rng = np.random.default_rng(seed)
    draws = np.tile(rng.integers(0, 3, 9), (40, 1))
    moved = rng.random(draws.shape) < rng.random(9) * 0.5
    draws[moved] = rng.integers(0, 3, int(moved.sum()))
    draws = relabel_draws(draws)
    found = Posterior(draws[np.newaxis]).certain(probability, random_state=seed)
    agree = (relabel_draws(draws[:, found.items]) == found.labels[found.items]).all(axis=1)
    assert found.probability == pytest.approx(agree.mean(), abs=1e-12)
    assert found.probability >= probability - 1e-12
    assert largest_certain(draws, probability) - 1 <= found.items.size <= largest_certain(draws, probability)


def test_all_items_are_certain_where_draws_agree():
    found = Posterior(np.tile(np.arange(12) % 10, (1, 7, 1))).certain(1.0, random_state=0)
    assert found.labels.tolist() == [*range(10), 0, 1]
    assert found.probability == 1.0
    assert repr(found) == "CertainItems(n_items=12, n_clusters=10, probability=1)"


def test_bad_settings_are_named():
    posterior = Posterior([[[0, 0, 1], [0, 1, 2]]])
    with pytest.raises(InvalidSettingError, match="a lies between 0 and 2"):
        posterior.point_estimate("vi", a=2.5)
    with pytest.raises(InvalidSettingError, match='a lies between 0 and 2 and is 1 but for "vi" and "binder"'):
        posterior.point_estimate("nvi", a=0.5)
    with pytest.raises(InvalidSettingError, match="probability lies above 0 and is at most 1, got 95"):
        posterior.certain(95)
    with pytest.raises(InvalidSettingError, match="n_starts must be at least 1, got 0"):
        posterior.certain(n_starts=0)
    with pytest.raises(InvalidSettingError, match="n must be at least 1, got 0"):
        posterior.representatives(0)
