"""Weights, expected clusters, pair probabilities and cuts against every partition a tree allows."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidTreeError, MemoryLimitError
from bayesgrove.trees import (
    Tree,
    cluster_count_law,
    expected_clusters,
    neighbours_together,
    node_log_weights,
    same_cluster_matrix,
    same_cluster_probability,
)
from bayesgrove.trees import weights as weights_module
from bayesgrove.trees.cuts import find_front
from reference.trees import (
    front_probability,
    labels_by_size,
    leaves_below,
    random_merges,
    random_parents,
    tree_partitions,
)

pytestmark = pytest.mark.exact
GOLDEN = Path(__file__).resolve().parents[2].parent / "shared" / "golden" / "bhcc.json"
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")


def random_tree(seed):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, int(rng.integers(1, 12)))
    is_leaf = ~np.isin(np.arange(parent.size), parent)
    odds = np.where(is_leaf, np.inf, rng.normal(0.0, 3.0, parent.size))
    return Tree.from_parents(parent, columns={"log_merge_odds": odds})


@pytest.mark.parametrize("seed", range(60))
def test_weights_equal_enumeration(seed):
    tree = random_tree(seed)
    fronts = tree_partitions(tree.parent)
    chance = [front_probability(tree.parent, tree.log_merge_odds, front) for front in fronts]
    by_node = np.zeros(tree.n_nodes)
    for front, probability in zip(fronts, chance, strict=True):
        by_node[list(front)] += probability
    assert sum(chance) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(np.exp(node_log_weights(tree)), by_node, atol=1e-12)
    mean = sum(len(front) * probability for front, probability in zip(fronts, chance, strict=True))
    assert expected_clusters(tree) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_pairs_equal_enumeration(seed):
    tree = random_tree(seed)
    below = leaves_below(tree.parent, tree.item)
    together = np.zeros((tree.n_leaves, tree.n_leaves))
    for front in tree_partitions(tree.parent):
        probability = front_probability(tree.parent, tree.log_merge_odds, front)
        for node in front:
            together[np.ix_(list(below[node]), list(below[node]))] += probability
    matrix = same_cluster_matrix(tree)
    np.testing.assert_allclose(matrix, together, atol=1e-12)
    pairs = [[same_cluster_probability(tree, i, j) for j in range(tree.n_leaves)] for i in range(tree.n_leaves)]
    np.testing.assert_allclose(pairs, matrix, atol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_neighbours_give_all_pairs(seed):
    tree = random_tree(seed)
    matrix = same_cluster_matrix(tree)[np.ix_(tree.leaf_order, tree.leaf_order)]
    neighbours = neighbours_together(tree)
    assert neighbours.shape == (tree.n_leaves - 1,)
    np.testing.assert_allclose(neighbours, np.diagonal(matrix, 1), atol=1e-15)
    for i in range(tree.n_leaves):
        for j in range(i + 1, tree.n_leaves):
            assert neighbours[i:j].min() == pytest.approx(matrix[i, j], abs=1e-14)


@pytest.mark.parametrize("seed", range(60))
def test_count_law_equals_enumeration(seed):
    tree = random_tree(seed)
    expected = np.zeros(tree.n_leaves + 1)
    for front in tree_partitions(tree.parent):
        expected[len(front)] += front_probability(tree.parent, tree.log_merge_odds, front)
    least, law = cluster_count_law(tree)
    found = np.zeros(tree.n_leaves + 1)
    found[least : least + law.size] = law
    np.testing.assert_allclose(found, expected, atol=1e-7)  # tails below 1e-9 are cut at every node
    assert law[0] > 0.0
    assert law.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_mean_of_the_count_law(seed):
    rng = np.random.default_rng(seed)
    n = 300
    tree = Tree.from_merges(random_merges(rng, n), rng.normal(0.0, 3.0, n - 1))
    least, law = cluster_count_law(tree)
    assert law @ np.arange(least, least + law.size) == pytest.approx(expected_clusters(tree), abs=1e-4)


def test_count_law_of_certain_trees():
    assert cluster_count_law(Tree.from_parents([-1], columns={"log_merge_odds": np.array([np.inf])}))[0] == 1
    merges = [[0, 1], [2, 3], [4, 5]]
    for odds, n_clusters in ((-800.0, 4), (800.0, 1)):
        least, law = cluster_count_law(Tree.from_merges(merges, [odds] * 3))
        assert (least, law.tolist()) == (n_clusters, [1.0])


@pytest.mark.parametrize("negligible", [0.0, 0.1, 0.5, 2.0])
def test_count_law_keeps_what_is_likeliest_however_much_is_negligible(negligible):
    tree = Tree.from_merges([[0, 1], [2, 3]], [0.0, 0.0])  # one cluster: 1/2, two and three: 1/4 each
    least, law = cluster_count_law(tree, negligible)
    assert least == 1
    assert law.tolist() == ([0.5, 0.25, 0.25] if negligible <= 0.1 else [1.0])


@pytest.mark.parametrize("seed", range(20))
def test_identities_of_the_weights(seed):
    rng = np.random.default_rng(seed)
    n = 200
    tree = Tree.from_merges(random_merges(rng, n), rng.normal(0.0, 20.0, n - 1))
    weight = np.exp(node_log_weights(tree))
    assert (weight * tree.size).sum() == pytest.approx(n, rel=1e-12)
    for item in range(0, n, 17):
        assert same_cluster_probability(tree, item, item) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_map_is_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    merges = random_merges(rng, n)
    log_one = rng.normal(-5.0, 2.0, 2 * n - 1)
    log_q = log_one.copy()
    odds = np.full(2 * n - 1, np.inf)
    for step, (a, b) in enumerate(merges):
        odds[n + step] = log_one[n + step] - log_q[a] - log_q[b]
        log_q[n + step] = np.logaddexp(log_one[n + step], log_q[a] + log_q[b])
    tree = Tree.from_merges(merges, odds, columns={"log_q": log_q})
    best = max(tree_partitions(tree.parent), key=lambda front: log_one[list(front)].sum())
    assert find_front(tree, "map").tolist() == sorted(best)
    most_likely = max(tree_partitions(tree.parent), key=lambda u: front_probability(tree.parent, odds, u))
    assert sorted(most_likely) == sorted(best)


def golden_tree(table):
    """Leaf q is not in the file: q_parent = logaddexp(g, s) and odds = g - s give s, the children's sum."""
    merges = table["merges"]
    n = len(merges) + 1
    odds = np.array([merge["log_odds"] for merge in merges])
    log_q = np.full(2 * n - 1, np.nan)
    log_q[n:] = [merge["q"] for merge in merges]
    apart = log_q[n:] - np.logaddexp(odds, 0.0)
    for merge, total in zip(merges, apart, strict=True):
        pair = [merge["a"], merge["b"]]
        known = np.nansum(log_q[pair])
        unknown = [child for child in pair if np.isnan(log_q[child])]
        log_q[unknown] = (total - known) / max(len(unknown), 1)  # of two leaves only the sum matters
    return Tree.from_merges([[m["a"], m["b"]] for m in merges], odds, columns={"log_q": log_q})


@pytest.mark.parametrize("name", TABLES)
def test_golden_tables(name):
    if not GOLDEN.exists():
        pytest.skip("the golden numbers (../shared/golden/bhcc.json) are not beside the project")
    table = json.loads(GOLDEN.read_text())["tables"][name]["bhc_all_cols"]
    tree = golden_tree(table)
    n = tree.n_leaves
    np.testing.assert_allclose(same_cluster_matrix(tree), table["p_together"], atol=1e-12)
    assert expected_clusters(tree) == pytest.approx(table["expected_clusters"], abs=1e-12)
    assert tree.cut(probability=0.5).tolist() == labels_by_size(table["cut05"], n).tolist()
    assert tree.cut("map").tolist() == labels_by_size(table["map_partition"], n).tolist()


def test_leaves_must_be_certain():
    tree = Tree.from_merges([[0, 1]], [0.0, np.inf, 1.0])
    with pytest.raises(InvalidTreeError, match=r"must be \+inf at leaves"):
        node_log_weights(tree)


def test_large_matrix_is_refused(monkeypatch):
    monkeypatch.setattr(weights_module, "MAX_MATRIX_ITEMS", 2)
    with pytest.raises(MemoryLimitError, match="matrix of 3 items needs"):
        same_cluster_matrix(Tree.from_merges([[0, 1], [2, 3]], [1.0, 2.0]))
