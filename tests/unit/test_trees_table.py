import copy
import pickle

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.core.lazy import lazy_import
from bayesgrove.trees import Tree, traverse
from reference.trees import children_of, leaves_below, random_merges, random_parents

pytestmark = pytest.mark.unit


def chain(n_leaves, odds=None):
    """Each merge adds one leaf: depth n - 1."""
    left = np.concatenate([[0], np.arange(n_leaves, 2 * n_leaves - 2)])
    return Tree.from_merges(np.column_stack([np.arange(1, n_leaves), left]), odds)


@pytest.mark.parametrize("seed", range(25))
def test_derived_columns_equal_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_parents(random_parents(rng, int(rng.integers(1, 30))))
    children = children_of(tree.parent)
    assert [tree.children(node) for node in range(tree.n_nodes)] == children
    below = leaves_below(tree.parent, tree.item)
    assert tree.size.tolist() == [len(items) for items in below]
    assert all(set(tree.items_below(node).tolist()) == below[node] for node in range(tree.n_nodes))
    for i in range(tree.n_leaves):
        for j in range(tree.n_leaves):
            assert tree.lca(i, j) == min(k for k in range(tree.n_nodes) if {i, j} <= below[k])


@pytest.mark.parametrize("seed", range(10))
def test_levels(seed):
    parent = random_parents(np.random.default_rng(seed), 20)
    paths = []
    for node in range(20):
        paths.append([node])
        while parent[paths[-1][-1]] != -1:
            paths[-1].append(int(parent[paths[-1][-1]]))
    longest = [max(path.index(k) for path in paths if k in path) for k in range(20)]
    assert traverse.levels(parent).tolist() == longest


def test_leaf_order_goes_left_to_right():
    tree = Tree.from_parents([4, 3, 3, 5, 5, -1], item=[2, 0, 1, -1, -1, -1])
    assert tree.leaf_order.tolist() == [0, 1, 2]
    assert tree.leaf_of_item.tolist() == [1, 2, 0]


@pytest.mark.parametrize("seed", range(20))
def test_heights_of_odds_are_monotone_and_show_the_half(seed):
    rng = np.random.default_rng(seed)
    n = 40
    odds = rng.normal(1.0, 5.0, n - 1)
    tree = Tree.from_merges(random_merges(rng, n), odds)
    offset = max(0.0, odds.max())
    items = leaves_below(tree.parent, tree.item)
    for node in range(n, 2 * n - 1):
        inside = [odds[k - n] for k in range(n, 2 * n - 1) if items[k] <= items[node]]
        assert tree.height[node] == pytest.approx(offset - min(inside), abs=1e-12)
    assert tree.half_height == offset
    assert (tree.height[:n] == 0).all()


def test_infinite_odds_give_finite_heights():
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5], [6, 7]], [np.inf, 2.0, -np.inf, -3.0])
    assert tree.height.tolist() == [0, 0, 0, 0, 0, 0, 0, 5, 5]
    assert np.isfinite(Tree.from_merges([[0, 1]], [np.inf]).height).all()


def test_half_height_needs_heights_from_odds():
    assert Tree.from_merges([[0, 1]], [2.0], heights=[7.0]).half_height is None
    assert Tree.from_merges([[0, 1]]).half_height is None


def test_single_leaf():
    tree = Tree.from_merges(np.empty((0, 2), np.int64), log_merge_odds=[], leaf_labels=("alone",))
    assert tree.n_nodes == tree.n_leaves == 1
    assert tree.cut(probability=0.5).tolist() == tree.cut(n_clusters=1).tolist() == [0]
    assert tree.nodes["probability"].tolist() == [1.0]
    assert tree.to_text() == "alone"
    assert tree.to_linkage().shape == (0, 4)
    assert "alone" in tree._repr_html_()


def test_nodes_table():
    tree = Tree.from_merges([[0, 1], [2, 3]], [800.0, -800.0])
    nodes = tree.nodes
    assert nodes.dtype.names == ("id", "parent", "size", "log_merge_odds", "probability", "height")
    assert nodes["size"].tolist() == [1, 1, 1, 2, 3]
    assert nodes["probability"].tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]
    plain = Tree.from_merges([[0, 1]]).nodes
    assert np.isnan(plain["probability"]).tolist() == [False, False, True]


def test_arrays_are_read_only_and_the_callers_stay_writable():
    parent = np.array([2, 2, -1])
    tree = Tree.from_parents(parent, columns={"log_q": [1.0, 2.0, 3.0]})
    parent[0] = 2
    for array in (tree.parent, tree.item, tree.height, tree.size, tree.leaf_order, tree.columns["log_q"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError, match="does not support item assignment"):
        tree.columns["log_q"] = np.zeros(3)


def test_pickle_and_deepcopy_keep_everything():
    tree = Tree.from_merges([[0, 1], [2, 3]], [4.0, -3.0], leaf_labels=("a", "b", "c"))
    assert tree.size.tolist() == [1, 1, 1, 2, 3]
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert twin.to_json() == tree.to_json()


def test_repr_is_short():
    assert repr(Tree.from_merges([[0, 1]], [1.0])) == "Tree(n_leaves=2, n_nodes=3, columns=['log_merge_odds'])"
    assert repr(Tree.from_parents([-1])) == "Tree(n_leaves=1, n_nodes=1)"


def test_a_hundred_thousand_deep():
    n = 100_001
    tree = chain(n, np.linspace(5.0, -5.0, n - 1))
    assert traverse.levels(tree.parent).max() == n - 1
    assert tree.cut(probability=0.5).max() == 50_000
    assert tree.lca(0, n - 1) == tree.root
    assert len(tree.to_text(20).splitlines()) <= 20
    assert "svg" in tree._repr_html_()
    assert tree.to_linkage().shape == (n - 1, 4)


def test_late_finds_names_when_called():
    assert lazy_import("math:sqrt")(9.0) == 3.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parent": []}, "at least one node"),
        ({"parent": [2, 2, 2]}, r"the last node is the root and has no parent \(-1\), got parent 2"),
        ({"parent": [-1, -1]}, "greater than its child's, got parent -1 for node 0"),
        ({"parent": [2, 0, -1]}, "got parent 0 for node 1 of 3"),
        ({"parent": [2, 9, -1]}, "got parent 9 for node 1 of 3"),
        ({"parent": [1.5, -1.0]}, "ids are integers, got an array of float64"),
        ({"parent": [2, 2, -1], "item": [0, 1]}, r"items have one entry per node, got shape \(2,\)"),
        ({"parent": [2, 2, -1], "item": [0, -1, -1]}, "got item -1 at leaf 1"),
        ({"parent": [2, 2, -1], "item": [0, 1, 2]}, "got item 2 at inner node 2"),
        ({"parent": [2, 2, -1], "item": [0, 0, -1]}, r"items are 0 \.\. 1, each once"),
        ({"parent": [2, 2, -1], "item": [1, 2, -1]}, "got values between 1 and 2"),
        ({"parent": [2, 2, -1], "height": [0, 0]}, r"heights have one entry per node, got shape \(2,\)"),
        ({"parent": [2, 2, -1], "height": [0, -1, 0]}, "finite and not negative, got -1.0 at node 1"),
        ({"parent": [2, 2, -1], "height": [0, 0, np.nan]}, "finite and not negative, got nan at node 2"),
        ({"parent": [2, 2, -1], "height": [0, 3, 1]}, "got 3.0 at node 1 below 1.0"),
        ({"parent": [2, 2, -1], "columns": {"log_q": [1.0]}}, "column 'log_q' needs one number per node"),
        (
            {"parent": [2, 2, -1], "columns": {"log_merge_odds": [np.inf, np.inf, np.nan]}},
            "must be numbers .* got nan at node 2",
        ),
        ({"parent": [2, 2, -1], "leaf_labels": ["a"]}, "one text per item, got 1 for 2 items"),
        ({"parent": [2, 2, -1], "leaf_labels": ["a", 3]}, "leaf_labels are texts, got 3"),
    ],
)
def test_broken_invariants_are_named(arguments, message):
    with pytest.raises(InvalidTreeError, match=message):
        Tree.from_parents(**arguments)


@pytest.mark.parametrize(
    ("children", "options", "message"),
    [
        ([[0, 3], [1, 2]], {}, r"merge 0 makes node 3 and may join ids 0 \.\. 2, got \[0, 3\]"),
        ([[0, 1], [0, 3]], {}, "got node 0 merged 2 times"),
        ([[0, -1]], {}, r"got \[0, -1\]"),
        ([[0, 1]], {"log_merge_odds": [1.0, 2.0]}, r"one number per merge \(1\) or per node \(3\)"),
        ([[0, 1]], {"heights": [1.0, 2.0]}, "heights need one number per merge"),
    ],
)
def test_broken_merges_are_named(children, options, message):
    with pytest.raises(InvalidTreeError, match=message):
        Tree.from_merges(children, **options)


def test_lca_and_plot_refuse_nonsense():
    tree = Tree.from_merges([[0, 1]])
    with pytest.raises(InvalidSettingError, match=r"items are 0 \.\. 1, got 2"):
        tree.lca(0, 2)
    with pytest.raises(InvalidSettingError, match='kind is "dendrogram" or "icicle", got \'pie\''):
        tree.plot(kind="pie")


def test_half_height_is_zero_when_every_merge_is_unlikely():
    tree = Tree.from_merges([[0, 1], [2, 3]], [-1.0, -4.0])
    assert tree.half_height == 0.0
    assert tree.height.tolist() == [0.0, 0.0, 0.0, 1.0, 4.0]
