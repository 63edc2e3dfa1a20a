"""Consensus trees: average linkage, true shares at nodes, the same with and without grouping."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from bayesgrove.core.errors import InvalidTreeError, MemoryLimitError
from bayesgrove.stats.partitions import co_clustering
from bayesgrove.trees import consensus, same_cluster_matrix
from bayesgrove.trees.consensus import consensus_tree, identical_items, link_averages
from reference.point_estimate import share_together

pytestmark = pytest.mark.unit


def random_draws(seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, int(rng.integers(1, 6)), (int(rng.integers(1, 30)), int(rng.integers(1, 20))))


@pytest.mark.parametrize("seed", range(20))
def test_linkage_equals_scipy_where_there_are_no_ties(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    condensed = rng.random(n * (n - 1) // 2)
    pairs, heights = link_averages(squareform(condensed), np.ones(n))
    wanted = linkage(condensed, "average")
    np.testing.assert_array_equal(pairs, wanted[:, :2])
    np.testing.assert_allclose(heights, wanted[:, 2], rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_weights_stand_for_copies(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    points = squareform(rng.random(n * (n - 1) // 2))
    copies = rng.integers(1, 5, n)
    whole = np.repeat(np.arange(n), copies)
    wanted = linkage(squareform(points[np.ix_(whole, whole)]), "average")
    _, heights = link_averages(points.copy(), copies.astype(float))
    np.testing.assert_allclose(heights, wanted[-(n - 1) :, 2], rtol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_nodes_tell_the_truth(seed):
    draws = random_draws(seed)
    tree = consensus_tree(draws)
    tree.check()
    assert tree.n_leaves == draws.shape[1]
    assert (tree.height[tree.item != -1] == 0.0).all()
    similarity = co_clustering(draws)
    for node in range(tree.n_nodes):
        assert tree.columns["together"][node] == pytest.approx(share_together(draws, tree.items_below(node)))
        if tree.item[node] == -1:
            left, right = (tree.items_below(child) for child in tree.children(node))
            mean = similarity[np.ix_(left, right)].mean()
            assert tree.columns["similarity"][node] == pytest.approx(mean, abs=1e-9)
        else:
            assert tree.columns["similarity"][node] == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_the_trees_own_posterior_gives_the_shares_back(seed):
    tree = consensus_tree(random_draws(seed))
    matrix = same_cluster_matrix(tree)
    for i in range(tree.n_leaves):
        for j in range(tree.n_leaves):
            assert matrix[i, j] == pytest.approx(tree.columns["together"][tree.lca(i, j)], abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_the_items_that_no_draw_parts(seed):
    draws = random_draws(seed)
    first, group = identical_items(np.ascontiguousarray(draws, np.int32))
    matrix = co_clustering(draws)
    np.testing.assert_array_equal(group[:, None] == group, matrix == 1.0)
    assert first.tolist() == [int(np.argmax(group == k)) for k in range(first.size)]


def test_certain_clusters_are_cut_out():
    truth = np.repeat([0, 1, 2], [4, 3, 2])
    tree = consensus_tree(np.tile(truth, (5, 1)))
    assert tree.cut(n_clusters=3).tolist() == truth.tolist()
    assert tree.cut(probability=0.5).tolist() == truth.tolist()
    assert tree.to_linkage().shape == (8, 4)


def test_names_are_kept_and_one_item_is_a_tree():
    tree = consensus_tree([[0, 0, 1]], ("ant", "bee", "cat"))
    assert tree.leaf_labels == ("ant", "bee", "cat")
    with pytest.raises(InvalidTreeError, match="one text per item, got 1 for 3"):
        consensus_tree([[0, 0, 1]], ("ant",))
    assert consensus_tree([[3], [4]]).n_nodes == 1


def test_a_hundred_thousand_items_in_few_groups():
    truth = np.arange(100_000) % 300
    draws = np.stack([truth, truth // 2, truth])
    tree = consensus_tree(draws)
    assert tree.n_leaves == 100_000
    assert (tree.cut(n_clusters=150) == truth // 2).all()


def test_too_many_groups_are_refused(monkeypatch):
    monkeypatch.setattr(consensus, "MAX_GROUPS", 3)
    with pytest.raises(MemoryLimitError, match=r"up to 3 groups .* got 4 groups of 5 items. Give a sample"):
        consensus_tree([[0, 1, 2, 3, 3]])
