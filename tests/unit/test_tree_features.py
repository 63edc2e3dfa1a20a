"""Trees as rows of numbers, what sets clusters apart, and typical trees, against counts made by hand."""

import numpy as np
import pytest

from bayesgrove import TreeData
from bayesgrove.inference.tree_exhibits import class_map, emission_maps, make_class_table, telling_exhibits
from bayesgrove.inference.tree_features import (
    cluster_counts,
    feature_table,
    telling_labels,
    telling_positions,
    typical_trees,
)
from bayesgrove.stats.log_odds import log_odds
from bayesgrove.trees.forest import joined_forest

pytestmark = pytest.mark.unit


@pytest.fixture
def trees():
    return TreeData.from_newick(["(a,b)c;", "(a,(b,b)c)c;", "(x,x,x)c;", "a;"])


def test_features_are_counts_and_shares(trees):
    table = feature_table(trees.forest, trees.vocabulary)
    column = dict(zip(table.names, table.values.T, strict=True))
    np.testing.assert_array_equal(column["nodes"], [3, 5, 4, 1])
    np.testing.assert_array_equal(column["depth"], [1, 2, 1, 0])
    np.testing.assert_array_equal(column["leaves"], [2, 3, 3, 1])
    np.testing.assert_allclose(column["share of b"], [1 / 3, 2 / 5, 0, 0])
    np.testing.assert_allclose(column["child at 2"], [1, 1, 1, 0])
    np.testing.assert_allclose(column["child at 3"], [0, 0, 1, 0])


def test_numbers_have_means():
    data = TreeData.from_parents([[1.0, 3.0], [np.nan]], [[-1, 0], [-1]])
    table = feature_table(data.forest, None)
    means = table.values[:, table.names.index("mean label 0")]
    np.testing.assert_array_equal(np.isnan(means), [False, True])
    assert means[0] == 2.0


def test_counts_by_cluster(trees):
    labels = np.array([0, 0, 1, 1])
    counts = cluster_counts(trees.forest, labels, 2)
    codes = {name: code for code, name in enumerate(trees.vocabulary)}
    assert counts.labels[0, codes["b"]] == 3
    assert counts.labels[1, codes["x"]] == 3
    np.testing.assert_array_equal(counts.nodes, [8, 5])
    np.testing.assert_array_equal(counts.internal, [3, 1])
    np.testing.assert_array_equal(counts.positions, [[3, 3, 0], [1, 1, 1]])


def test_a_place_shared_by_siblings_is_filled_once():
    data = TreeData.from_parents([[0, 0, 0]], [[-1, 0, 0]], [[0, 1, 1]])
    np.testing.assert_array_equal(cluster_counts(data.forest, np.zeros(1, int), 1).positions, [[1]])


def test_log_odds_by_hand():
    found = log_odds(np.array([[3, 1], [0, 4]]), np.array([4, 4]))
    expected = np.log(3.5 / 1.5) - np.log(0.5 / 4.5)
    assert found.log_ratio[0, 0] == pytest.approx(expected)
    assert found.error[0, 0] == pytest.approx(np.sqrt(1 / 3.5 + 1 / 1.5 + 1 / 0.5 + 1 / 4.5))
    np.testing.assert_allclose(found.log_ratio[0], -found.log_ratio[1])
    np.testing.assert_array_equal(found.share, [[0.75, 0.25], [0.0, 1.0]])


def test_what_is_telling(trees):
    counts = cluster_counts(trees.forest, np.array([0, 0, 1, 1]), 2)
    told = telling_labels(counts, trees.vocabulary, 1)
    assert [(t.cluster, t.name) for t in told] == [(0, "b"), (1, "x")]
    assert all(t.log_odds > 0 for t in told)
    lacking = next(t for t in telling_labels(counts, trees.vocabulary, 9) if t.cluster == 0 and t.name == "x")
    assert lacking.log_odds == pytest.approx(-told[1].log_odds)
    assert telling_positions(counts, 1)[1].name == "3"
    assert telling_labels(cluster_counts(trees.forest, np.zeros(4, int), 1), None, 3) == []
    assert [exhibit.title for exhibit in telling_exhibits(counts, trees.vocabulary)] == [
        "Labels that set clusters apart",
        "Positions that set clusters apart",
    ]


def test_the_typical_tree_is_nearest_to_the_mean():
    texts = ["(a,b)c;", "(a,b)c;", "(a,(b,b,b)b)c;", "(x,y)z;", "(x,y,y,y)z;", "(x,y)z;"]
    data = TreeData.from_newick(texts)
    np.testing.assert_array_equal(typical_trees(data.forest, np.array([0, 0, 0, 1, 1, 1]), 2), [0, 3])


def test_class_tables_and_maps():
    table = make_class_table(np.array([0, 1, 1]), 2, ["b", "a", "b"])
    assert table.classes == ("a", "b")
    np.testing.assert_array_equal(table.counts, [[0, 1], [1, 1]])
    assert class_map(table).values.shape == (2, 2)
    maps = emission_maps(np.array([[[0.9, 0.1], [0.1, 0.9]]]), ("p", "q"))
    assert maps[0].title == "Labels by hidden state: all trees"
    np.testing.assert_array_equal(maps[0].values, [[0.9, 0.1], [0.1, 0.9]])


def test_forests_are_joined(trees):
    joined = joined_forest([trees.forest.take([1, 3]), trees.forest.take([0])])
    np.testing.assert_array_equal(joined.labels, trees.forest.take([1, 3, 0]).labels)
    np.testing.assert_array_equal(joined.parents, trees.forest.take([1, 3, 0]).parents)
    np.testing.assert_array_equal(joined.offsets, [0, 5, 6, 9])
