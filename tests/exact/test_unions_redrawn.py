"""P(apart) at the branches of BHC's tree: its parts against slow counts, and what it says of one cloud and of two."""

import numpy as np
import pandas
import pytest

from bayesgrove import BHC, RandomizedBHC, load
from bayesgrove.datasets import make_shapes
from bayesgrove.models.bhc.apart import apart_at_branches, drawn_components, together_in
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import node_labels

pytestmark = pytest.mark.exact


def test_rows_are_drawn_by_their_shares():
    shares = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    drawn = drawn_components(np.random.default_rng(0), shares, 20_000)
    found = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(found, shares, atol=5.0 * np.sqrt(0.25 / 20_000))
    assert (found[shares == 0.0] == 0.0).all()


def test_components_are_together_where_most_of_their_rows_are():
    labels = np.array([0, 0, 0, 1, 1, 2])
    draws = np.array([[0, 0, 1, 0, 0, 1], [0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2]])
    pairs = [[[d[labels == a], d[labels == b]] for a in range(3) for b in range(3)] for d in draws]
    most = [[np.bincount(side).argmax() for side in pair] for draw in pairs for pair in draw]
    counts = np.array([a == b for a, b in most]).reshape(3, 3, 3).sum(axis=0)
    np.testing.assert_allclose(together_in(draws, labels), (counts + 0.5) / 4.0)


def test_a_branch_has_the_mean_over_pairs_of_rows():
    tree = Tree.from_merges([[0, 1], [2, 3], [5, 6], [4, 8], [7, 9], [10, 11]])
    components = np.array([0, 0, 1, 1, 2, 3, 3])
    owner = node_labels(tree, components)
    draws = np.random.default_rng(1).random((4, 4))
    together = 0.5 * (draws + draws.T)
    found = apart_at_branches(tree, owner, together, np.bincount(components).astype(float))
    for node in range(tree.n_nodes):
        if owner[node] >= 0:
            assert found[node] == 0.0
            continue
        left, right = (components[tree.items_below(child)] for child in tree.children(node))
        assert found[node] == pytest.approx(1.0 - together[np.ix_(left, right)].mean())


def test_far_clouds_are_apart_and_the_pieces_of_one_are_not(tmp_path):
    two = make_shapes("two gaussians", 300, separation=8.0, random_state=0).X
    model = BHC(random_state=0).fit(two)
    assert model.tree_.columns["apart"][-1] > 0.98
    assert "apart .99" in model.tree_.to_text()
    assert model.node_summary()["apart"].iloc[0] == model.tree_.columns["apart"][-1]
    model.save(tmp_path / "model.bg")
    np.testing.assert_array_equal(load(tmp_path / "model.bg").tree_.columns["apart"], model.tree_.columns["apart"])
    one = RandomizedBHC(random_state=0).fit(make_shapes("banana", 300, random_state=0).X)
    assert one.n_components_ > 1
    assert one.tree_.columns["apart"].max() < 0.5


def test_mixed_tables_have_it_and_constraints_do_not():
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 200)
    table = pandas.DataFrame({name: np.where(rng.random(200) < 0.95, group, 1 - group) for name in "abcdefgh"})
    table = table.astype("category")
    free = BHC(random_state=0).fit(table)
    assert free.n_clusters_ == 2
    assert free.tree_.columns["apart"][-1] > 0.9
    linked = BHC(random_state=0).fit(table, must_link=[[0, 1]])
    assert "apart" not in linked.tree_.columns
