"""Plain arrays for pictures against brute force."""

from dataclasses import replace

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.inference import overview
from bayesgrove.inference.overview import (
    CountDistribution,
    cluster_certainty,
    count_distribution,
    feature_cells,
    pair_sample,
    principal_plane,
    rank_counts,
    sampled_features,
)
from bayesgrove.inference.posterior import Posterior
from bayesgrove.trees import Tree, same_cluster_matrix
from reference.results import blobs, grouped_tree, make_result, noisy_posterior, table_of
from reference.trees import front_probability, random_merges, tree_partitions

pytestmark = pytest.mark.unit


def odds_result(seed, n, n_clusters=None):
    """A result of a random tree; labels are its cut, or a random partition."""
    rng = np.random.default_rng(seed)
    tree = Tree.from_merges(random_merges(rng, n), rng.normal(1.0, 3.0, n - 1))
    labels = tree.cut(probability=0.5) if n_clusters is None else np.arange(n) % n_clusters
    return make_result(table_of(rng.normal(size=(n, 2))), labels, tree)


def plain_heights(result):
    """The same result, with a tree that has heights and no odds."""
    merges = random_merges(np.random.default_rng(0), result.labels.size)
    return replace(result, tree=Tree.from_merges(merges, heights=np.arange(1.0, len(merges) + 1)))


# Pairs


@pytest.mark.parametrize("seed", range(10))
def test_pairs_of_a_tree_are_its_matrix(seed):
    result = odds_result(seed, 30)
    pairs = pair_sample(result, 100)
    assert pairs.items.tolist() == result.tree.leaf_order.tolist()
    assert not pairs.is_sampled
    expected = same_cluster_matrix(result.tree)[np.ix_(pairs.items, pairs.items)]
    np.testing.assert_allclose(pairs.similarity, expected, atol=1e-14)


@pytest.mark.parametrize("most", [1, 2, 7, 29, 30])
def test_some_pairs_of_a_tree_are_part_of_its_matrix(most):
    result = odds_result(3, 30)
    pairs = pair_sample(result, most)
    assert pairs.items.size == np.unique(pairs.items).size == most
    expected = same_cluster_matrix(result.tree)[np.ix_(pairs.items, pairs.items)]
    np.testing.assert_allclose(pairs.similarity, expected, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_draws_are_shares_of_draws_cluster_by_cluster(seed):
    table, labels = blobs(seed)
    result = make_result(table, labels, posterior=noisy_posterior(seed, labels))
    pairs = pair_sample(result, 1000)
    draws = result.posterior.labels.reshape(-1, labels.size)[:, pairs.items]
    np.testing.assert_allclose(pairs.similarity, (draws[:, :, np.newaxis] == draws[:, np.newaxis]).mean(axis=0))
    assert sorted(pairs.items.tolist()) == list(range(labels.size))
    runs = labels[pairs.items][np.flatnonzero(np.diff(labels[pairs.items], prepend=-1))]
    in_tree = labels[result.tree.leaf_order]
    assert runs.tolist() == in_tree[np.flatnonzero(np.diff(in_tree, prepend=-1))].tolist()


def test_pairs_of_many_draws_take_some_of_them(monkeypatch):
    monkeypatch.setattr(overview, "MOST_PAIR_DRAWS", 10)
    table, labels = blobs(1)
    result = make_result(table, labels, posterior=noisy_posterior(1, labels))
    some = result.posterior.labels.reshape(-1, labels.size)[np.arange(10) * 18]
    pairs = pair_sample(result, 20)
    draws = some[:, pairs.items]
    np.testing.assert_allclose(pairs.similarity, (draws[:, :, np.newaxis] == draws[:, np.newaxis]).mean(axis=0))


def test_pairs_of_one_and_two_rows():
    one = make_result(table_of([[1.0]]), [0])
    assert pair_sample(one, 5).similarity.tolist() == [[1.0]]
    tree = Tree.from_merges([[0, 1]], [0.0])
    two = make_result(table_of([[1.0], [2.0]]), [0, 0], tree)
    np.testing.assert_allclose(pair_sample(two, 5).similarity, [[1.0, 0.5], [0.5, 1.0]])


def test_a_tree_without_odds_or_draws_has_no_probabilities():
    result = plain_heights(odds_result(0, 6))
    assert pair_sample(result, 5) is None
    assert cluster_certainty(result) is None
    assert count_distribution(result) is None


# Certainty


def mean_within(similarity, labels):
    found = []
    for k in range(labels.max() + 1):
        own = similarity[np.ix_(labels == k, labels == k)]
        pairs = own[np.triu_indices(len(own), 1)]
        found.append(pairs.mean() if pairs.size else 1.0)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_certainty_of_a_tree_is_the_mean_over_pairs(seed):
    result = odds_result(seed, 25)
    expected = mean_within(same_cluster_matrix(result.tree), result.labels)
    np.testing.assert_allclose(cluster_certainty(result), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_certainty_of_draws_is_the_mean_over_pairs(seed):
    table, labels = blobs(seed)
    result = make_result(table, labels, posterior=noisy_posterior(seed, labels))
    expected = mean_within(result.posterior.similarity(), labels)
    np.testing.assert_allclose(cluster_certainty(result), expected, atol=1e-12)


def test_clusters_that_are_no_branches_have_no_certainty_in_a_tree():
    tree = grouped_tree([0, 0, 0, 1, 1, 1])
    labels = np.array([0, 1, 0, 1, 0, 2])
    certainty = cluster_certainty(make_result(table_of(np.zeros((6, 1))), labels, tree))
    assert np.isnan(certainty[:2]).all()
    assert certainty[2] == 1.0


def test_certainty_of_single_rows_is_one():
    assert cluster_certainty(make_result(table_of([[1.0]]), [0])).tolist() == [1.0]
    tree = Tree.from_merges([[0, 1]], [-2.0])
    assert cluster_certainty(make_result(table_of([[1.0], [2.0]]), [0, 1], tree)).tolist() == [1.0, 1.0]


# Number of clusters


@pytest.mark.parametrize("seed", range(10))
def test_count_law_of_a_tree_equals_enumeration(seed):
    result = odds_result(seed, 7)
    law = count_distribution(result)
    assert not law.is_sampled
    expected = np.zeros(8)
    for front in tree_partitions(result.tree.parent):
        expected[len(front)] += front_probability(result.tree.parent, result.tree.log_merge_odds, front)
    np.testing.assert_allclose(law.probability, expected[law.counts], atol=1e-7)
    assert expected[law.counts].sum() == pytest.approx(1.0, abs=1e-7)


def test_count_law_of_draws_counts_them():
    draws = np.array([[[0, 0, 1], [5, 5, 5]], [[0, 1, 2], [2, 0, 0]]])
    result = make_result(table_of(np.zeros((3, 1))), [0, 0, 1], posterior=Posterior(draws))
    law = count_distribution(result)
    assert law.is_sampled
    assert law.counts.tolist() == [1, 2, 3]
    assert law.probability.tolist() == [0.25, 0.5, 0.25]
    stored = Posterior(draws, {"n_clusters": np.array([[2.0, 1.0], [3.0, 2.0]])})
    again = count_distribution(replace(result, posterior=stored))
    assert (again.counts.tolist(), again.probability.tolist()) == ([1, 2, 3], [0.25, 0.5, 0.25])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("level", [0.5, 0.9, 1.0])
def test_interval_is_the_shortest_that_holds_enough(seed, level):
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.full(9, 0.7))
    law = CountDistribution(np.arange(3, 12), probability, True)
    low, high = law.interval(level)
    assert probability[low - 3 : high - 2].sum() >= level - 1e-9
    width = high - low
    shorter = [probability[first : first + width].sum() for first in range(9 - width + 1)] if width else [0.0]
    assert max(shorter) < level - 1e-12


def test_interval_of_one_number():
    assert CountDistribution(np.array([4]), np.array([1.0]), False).interval() == (4, 4)
    assert CountDistribution(np.array([4, 9]), np.array([0.95, 0.05]), True).interval() == (4, 4)


# Ranks


@pytest.mark.parametrize("seed", range(5))
def test_rank_counts_equal_naive_ones(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3, 40))
    ranks = np.array([[np.sum(values < value) for value in chain] for chain in values])
    expected = [np.histogram(chain, bins=np.arange(0, 121, 12))[0] for chain in ranks]
    assert rank_counts(values, 10).tolist() == np.array(expected).tolist()
    assert rank_counts(values, 10).sum(axis=0).tolist() == [12] * 10


def test_ties_share_their_mean_rank():
    values = np.array([[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]])
    assert rank_counts(values, 4).tolist() == [[2, 0, 2, 0]] * 2  # mean ranks 1.5 and 5.5 of 8
    assert rank_counts(np.zeros((2, 5)), 5).tolist() == [[0, 0, 5, 0, 0]] * 2


# The plane


@pytest.mark.parametrize("seed", range(5))
def test_plane_of_complete_numbers_is_that_of_numpy(seed):
    table, labels = blobs(seed)
    result = make_result(table, labels)
    plane = principal_plane(result.description)
    values = table.values[plane.items]
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    variances, directions = np.linalg.eigh(np.cov(scaled.T, bias=True))
    np.testing.assert_allclose(plane.share, variances[::-1][:2] / variances.sum(), rtol=1e-9)
    for axis in range(2):
        along = scaled @ directions[:, -1 - axis]
        np.testing.assert_allclose(np.abs(plane.xy[:, axis]), np.abs(along), atol=1e-8)
        assert plane.xy[np.abs(plane.xy[:, axis]).argmax(), axis] > 0.0


def test_missing_cells_stand_at_the_mean():
    table, labels = blobs(2)
    values = table.values.copy()
    values[3, 1] = np.nan
    filled = values.copy()
    filled[3, 1] = np.nanmean(values[:, 1])
    found = principal_plane(make_result(table_of(values), labels).description)
    # The filled column has a smaller deviation: scale both the same way by hand.
    scaled = np.nan_to_num((values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0))[found.items]
    left, lengths, _ = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(found.xy), np.abs(left * lengths)[:, :2], atol=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        [[1.0]],
        [[1.0, 2.0]],
        [[1.0], [2.0]],
        [[1.0, 5.0], [2.0, 5.0]],
        np.full((6, 3), 4.0),
        np.full((6, 2), np.nan),
        np.column_stack([np.arange(6.0), np.full(6, np.nan)]),
    ],
)
def test_plane_of_small_constant_and_empty_tables(values):
    table = table_of(values)
    plane = principal_plane(make_result(table, np.zeros(table.n_rows)).description)
    assert plane.xy.shape == (table.n_rows, 2)
    assert np.isfinite(plane.xy).all()
    assert ((plane.share >= 0.0) & (plane.share <= 1.0 + 1e-12)).all()
    varying = np.ptp(np.nan_to_num(table.values), axis=0).any()
    assert plane.share.sum() == pytest.approx(1.0 if varying else 0.0)


def test_feature_cells_are_numbers_rates_and_no_columns_left_out():
    values = np.array([[5.0, 1.0, 0.0], [6.0, np.nan, 2.0], [7.0, 0.0, np.nan]])
    table = table_of(values, ("n", "yes", "k"), ("float", "bool", "category"), {2: ("a", "b", "c")})
    described = make_result(table, [0, 0, 1]).description
    cells = feature_cells(described)
    assert [described.features[f].name for f in sampled_features(described)] == ["n", "yes", "k = a", "k = c"]
    in_rows = cells[np.argsort(described.rows)]
    expected = [[5.0, 1.0, 1.0, 0.0], [6.0, np.nan, 0.0, 1.0], [7.0, 0.0, np.nan, np.nan]]
    np.testing.assert_array_equal(in_rows, expected)


def test_features_whose_columns_are_not_in_the_sample_are_left_out():
    table, labels = blobs(0)
    described = make_result(table, labels).description
    narrow = replace(described, columns=np.array([1, 4]), sample=described.sample.select_columns([1, 4]))
    assert sampled_features(narrow).tolist() == [1, 4]
    np.testing.assert_array_equal(feature_cells(narrow), described.sample.values[:, [1, 4]])
    none = replace(described, columns=np.zeros(0, np.int64), sample=described.sample.select_columns([]))
    assert feature_cells(none).shape == (described.rows.size, 0)
    assert principal_plane(none).xy.tolist() == [[0.0, 0.0]] * described.rows.size
    assert NULL not in sampled_features(narrow)
