import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import adjusted_rand_score, mutual_info_score, rand_score

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, MemoryLimitError
from bayesgrove.stats import partitions
from bayesgrove.stats.partitions import (
    adjusted_rand,
    all_partitions,
    binder_loss,
    co_clustering,
    relabel,
    variation_of_information,
)

pytestmark = pytest.mark.unit
BELL = {1: 1, 2: 2, 3: 5, 4: 15, 5: 52, 6: 203, 7: 877, 8: 4140}


def random_pair(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    return rng.integers(0, 5, n) * 7 - 3, rng.integers(0, 9, n)


@pytest.mark.parametrize("seed", range(30))
def test_relabel_numbers_by_first_appearance(seed):
    labels, _ = random_pair(seed)
    seen = list(dict.fromkeys(labels.tolist()))
    assert relabel(labels).tolist() == [seen.index(label) for label in labels]
    assert relabel(labels).dtype == np.int64


def test_relabel_of_nothing():
    assert relabel(np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize("seed", range(60))
def test_comparisons_equal_their_oracles(seed):
    first, second = random_pair(seed)
    n = first.size
    assert adjusted_rand(first, second) == pytest.approx(adjusted_rand_score(first, second), abs=1e-12)
    apart = 1.0 - rand_score(first, second) if n > 1 else 0.0
    assert binder_loss(first, second) == pytest.approx(apart, abs=1e-12)
    information = mutual_info_score(first, second)
    wanted = sum(entropy(np.bincount(relabel(x))) for x in (first, second)) - 2.0 * information
    assert variation_of_information(first, second) == pytest.approx(wanted, abs=1e-12)


def test_equal_partitions_are_at_distance_zero():
    for labels in ([0, 0, 0], [0, 1, 2], [0, 1, 0], [5]):
        moved = [9 - label for label in labels]
        assert variation_of_information(labels, moved) == 0.0
        assert binder_loss(labels, moved) == 0.0
        assert adjusted_rand(labels, moved) == 1.0


def test_a_million_singletons_need_no_square_table():
    labels = np.arange(1_000_000)
    assert adjusted_rand(labels, labels[::-1]) == 1.0
    assert variation_of_information(labels, np.zeros_like(labels)) == pytest.approx(np.log(1e6), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_co_clustering_is_the_share_of_draws(seed):
    draws = np.random.default_rng(seed).integers(0, 3, (2, 7, 11))
    flat = draws.reshape(14, 11)
    wanted = (flat[:, :, None] == flat[:, None, :]).mean(axis=0)
    np.testing.assert_allclose(co_clustering(draws), wanted, atol=1e-15)


@pytest.mark.parametrize(("n", "count"), BELL.items())
def test_all_partitions_are_different_and_complete(n, count):
    found = [tuple(labels.tolist()) for labels in all_partitions(n)]
    assert len(found) == len(set(found)) == count
    assert found == sorted(found)
    assert all(relabel(labels).tolist() == list(labels) for labels in found)


def test_bad_input_is_named(monkeypatch):
    with pytest.raises(InvalidInputError, match=r"labels are a vector, got shape \(1, 2\)"):
        relabel([[1, 2]])
    with pytest.raises(InvalidInputError, match="the same items are compared, got 2 and 3 items"):
        adjusted_rand([0, 1], [0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"at least one draw of at least one item, got shape \(3,\)"):
        co_clustering([0, 1, 2])
    with pytest.raises(InvalidSettingError, match=r"between 1 and 14 .* got 15"):
        next(all_partitions(15))
    monkeypatch.setattr(partitions, "MAX_MATRIX_ITEMS", 2)
    with pytest.raises(MemoryLimitError, match="matrix of 3 items needs"):
        co_clustering([[0, 1, 2]])
