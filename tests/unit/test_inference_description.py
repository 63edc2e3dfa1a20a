"""Descriptions of rows: profiles of clusters and branches, and which rows and columns are kept."""

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.inference import description
from bayesgrove.inference.description import describe_rows, spread
from bayesgrove.stats.profiles import profile_groups
from bayesgrove.trees import Tree
from reference.results import blobs, make_result, table_of
from reference.trees import random_merges

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(("n", "most"), [(1, 1), (5, 9), (10, 10), (10, 4), (1000, 7)])
def test_spread_is_even_and_starts_at_the_first(n, most):
    places = spread(n, most)
    assert places.size == min(n, most)
    assert places[0] == 0
    assert (np.diff(places) > 0).all()
    assert places[-1] < n
    assert np.ptp(np.diff(places)) <= 1 if places.size > 1 else True


def test_rows_are_in_the_order_of_the_tree_with_their_cells():
    table, labels = blobs(0)
    result = make_result(table, labels)
    described = result.description
    assert described.rows.tolist() == result.tree.leaf_order.tolist()
    np.testing.assert_array_equal(described.sample.values, table.values[described.rows])
    assert described.columns.tolist() == [0, 1, 2, 3, 4]
    assert described.n_profiled == 40


def test_clusters_are_profiled_by_label():
    table, labels = blobs(1)
    described = make_result(table, labels).description
    for k in range(3):
        np.testing.assert_allclose(described.clusters.mean[k], table.values[labels == k].mean(axis=0), rtol=1e-12)


def test_nodes_have_their_own_strongest_features():
    rng = np.random.default_rng(2)
    table, _ = blobs(2, n=20, n_columns=12)
    tree = Tree.from_merges(random_merges(rng, 20), rng.normal(0.0, 3.0, 19))
    described = make_result(table, tree.cut(probability=0.5), tree).description
    nodes = described.nodes
    assert nodes.node.tolist() == np.flatnonzero(tree.item == NULL).tolist()
    assert nodes.feature.shape == (19, description.TOP_FEATURES)
    for k, node in enumerate(nodes.node):
        items = tree.items_below(int(node))
        np.testing.assert_allclose(nodes.mean[k], table.values[items].mean(axis=0)[nodes.feature[k]], rtol=1e-9)
        in_order = table.take(np.concatenate([items, np.setdiff1d(np.arange(20), items)]))
        alone = profile_groups(in_order, np.array([0]), np.array([items.size]))
        assert nodes.feature[k].tolist() == alone.strongest(description.TOP_FEATURES)[0].tolist()
        np.testing.assert_allclose(nodes.telling[k], alone.telling[0][nodes.feature[k]], atol=1e-9)


def test_large_tables_are_sampled(monkeypatch):
    monkeypatch.setattr(description, "SAMPLE_ROWS", 10)
    monkeypatch.setattr(description, "MOST_CELLS", 100)
    monkeypatch.setattr(description, "SAMPLE_COLUMNS", 2)
    monkeypatch.setattr(description, "MOST_NODES", 4)
    table, labels = blobs(3)
    asked = []

    def read_rows(items):
        asked.append(items)
        return table.take(items)

    tree = make_result(table, labels).tree
    described = describe_rows(read_rows, 5, tree, labels)
    assert [items.size for items in asked] == [20]  # 100 cells of 5 columns
    assert described.n_profiled == 20
    assert described.rows.tolist() == tree.leaf_order[::4].tolist()
    assert described.nodes.node.size == 4
    bits = described.clusters.telling.sum(axis=0)
    assert described.columns.tolist() == sorted(np.argsort(-bits)[:2].tolist())
    np.testing.assert_array_equal(described.sample.values, table.values[np.ix_(described.rows, described.columns)])


def test_many_clusters_and_features_are_cut_off(monkeypatch):
    monkeypatch.setattr(description, "MOST_CLUSTERS", 2)
    monkeypatch.setattr(description, "MOST_FEATURES", 3)
    table, labels = blobs(4)
    described = make_result(table, labels).description
    assert described.clusters.mean.shape == (2, 3)
    assert len(described.features) == 3


def test_one_row_can_be_described():
    described = make_result(table_of([[1.5, np.nan]]), [0]).description
    assert described.nodes.node.size == 0
    assert described.clusters.mean[0, 0] == 1.5
    assert np.isnan(described.clusters.low[0]).all()
