import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import find_front, labels_of_front, logit
from reference.trees import children_of, leaves_below, random_merges, random_parents

pytestmark = pytest.mark.unit


def slow_front(tree, is_stop):
    front, stack = [], [tree.root]
    children = children_of(tree.parent)
    while stack:
        node = stack.pop()
        if not children[node] or is_stop(node):
            front.append(node)
        else:
            stack.extend(children[node])
    return sorted(front)


def odds_tree(seed, n=25):
    rng = np.random.default_rng(seed)
    return Tree.from_merges(random_merges(rng, n), rng.normal(0.0, 2.0, n - 1).round())


@pytest.mark.parametrize("seed", range(20))
def test_probability_and_height_cuts_equal_the_slow_twin(seed):
    tree = odds_tree(seed)
    odds = tree.log_merge_odds
    for probability in (0.0, 0.1, 0.5, 0.9, 1.0):
        wanted = slow_front(tree, lambda k, p=probability: odds[k] >= logit(p))
        assert find_front(tree, probability=probability).tolist() == wanted
    for height in (-1.0, 0.0, 2.0, 1e9):
        wanted = slow_front(tree, lambda k, h=height: tree.height[k] <= h)
        assert find_front(tree, height=height).tolist() == wanted
    assert find_front(tree).tolist() == find_front(tree, "half").tolist()


@pytest.mark.parametrize("seed", range(20))
def test_count_cut_opens_the_least_certain_first(seed):
    tree = odds_tree(seed)
    children = children_of(tree.parent)
    front = [tree.root]
    for n_clusters in range(1, tree.n_leaves + 1):
        assert find_front(tree, n_clusters=n_clusters).tolist() == sorted(front)
        node = min(front, key=lambda k: (tree.log_merge_odds[k], -k))
        front = [k for k in front if k != node] + children[node]


def test_count_cut_without_odds_opens_the_highest():
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5]], heights=[1.0, 5.0, 6.0])
    assert tree.cut(n_clusters=3).tolist() == [0, 0, 1, 2]


def test_count_cut_of_many_children_may_overshoot():
    assert Tree.from_parents([3, 3, 3, -1]).cut(n_clusters=2).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_labels_number_the_front_by_first_item(seed):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, 20)
    n_leaves = 20 - np.unique(parent[:-1]).size
    is_leaf = ~np.isin(np.arange(20), parent)
    item = np.full(20, -1)
    item[is_leaf] = rng.permutation(n_leaves)
    tree = Tree.from_parents(parent, item=item)
    front = find_front(tree, height=1.0)
    labels = labels_of_front(tree, front)
    below = leaves_below(tree.parent, tree.item)
    assert labels.dtype == np.int64
    first_items = sorted(min(below[node]) for node in front)
    for node in front:
        assert set(labels[list(below[node])].tolist()) == {first_items.index(min(below[node]))}


def test_equality_keeps_the_node_whole():
    tree = Tree.from_merges([[0, 1]], [0.0], columns={"log_q": [-1.0, -1.0, -2.0 + np.log(2.0)]})
    assert tree.cut("map").tolist() == [0, 0]
    assert tree.cut(probability=0.5).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "best"}, 'a cut by name is "half" or "map", got \'best\''),
        ({"probability": 0.5, "n_clusters": 2}, "a cut takes one rule, got 2"),
        ({"probability": 1.5}, "probability lies between 0 and 1, got 1.5"),
        ({"probability": float("nan")}, "probability lies between 0 and 1, got nan"),
        ({"n_clusters": 0}, r"between 1 and the number of items \(3\), got 0"),
        ({"n_clusters": 4}, "got 4"),
        ({"height": float("nan")}, "height must be a number, got nan"),
    ],
)
def test_bad_settings_are_named(options, message):
    tree = Tree.from_merges([[0, 1], [2, 3]], [4.0, -3.0])
    with pytest.raises(InvalidSettingError, match=message):
        tree.cut(**options)


def test_missing_columns_are_named():
    with pytest.raises(InvalidTreeError, match=r"a cut by probability needs the column 'log_merge_odds'"):
        Tree.from_merges([[0, 1]]).cut(probability=0.5)
    with pytest.raises(InvalidTreeError, match=r"needs the column 'log_q', the tree has \['log_merge_odds'\]"):
        Tree.from_merges([[0, 1]], [1.0]).cut("map")


def test_a_front_with_holes_is_refused():
    tree = Tree.from_merges([[0, 1], [2, 3]])
    with pytest.raises(InvalidTreeError, match="item 2 has no front node above it"):
        labels_of_front(tree, np.array([3]))
