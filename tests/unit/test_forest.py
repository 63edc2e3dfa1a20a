"""Many trees in flat arrays: rules, children, different subtrees, out-degrees, choosing trees."""

import pickle

import networkx
import numpy as np
import pytest
from sklearn.model_selection import train_test_split

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError, MissingExtraError
from bayesgrove.trees.forest import Forest
from reference.tree_sets import as_lists, lcrs, nested, random_forest, subtree_keys

pytestmark = pytest.mark.unit

N_LABELS, MAX_OUTDEGREE = 3, 3


def make(trees, **options):
    labels, parents, positions, internal = as_lists(trees)
    options = {"max_outdegree": MAX_OUTDEGREE, "n_labels": N_LABELS, "internal": internal, **options}
    return bg.TreeData.from_parents(labels, parents, positions, **options)


@pytest.fixture
def trees():
    return random_forest(np.random.default_rng(1))


def test_trees_come_back_as_they_were(trees):
    data = make(trees)
    assert len(data) == 30
    for given, got in zip(trees, data, strict=True):
        assert [part.tolist() for part in got] == [list(part) for part in given]


def test_children_are_sorted_by_position(trees):
    forest = make(trees).forest
    for node in range(forest.n_nodes):
        children = forest.children[forest.child_start[node] : forest.child_start[node + 1]]
        np.testing.assert_array_equal(np.sort(children), np.flatnonzero(forest.parents == node))
        positions = forest.positions[children]
        assert (np.diff(positions) >= 0).all()
        share = forest.child_shares[forest.child_start[node] : forest.child_start[node + 1]]
        np.testing.assert_allclose(share, [1 / np.sum(positions == position) for position in positions])


@pytest.mark.parametrize("seed", range(5))
def test_different_subtrees_are_those_of_the_slow_twin(seed):
    trees = random_forest(np.random.default_rng(seed), 40)
    forest = make(trees).forest
    unique = forest.subtrees
    keys = [key for tree in trees for key in subtree_keys(tree)]
    id_of_key = {}
    for key, found in zip(keys, unique.node_ids.tolist(), strict=True):
        assert id_of_key.setdefault(key, found) == found
    assert len(set(id_of_key.values())) == len(id_of_key) == unique.labels.size
    np.testing.assert_array_equal(unique.counts, np.bincount(unique.node_ids))
    np.testing.assert_array_equal(unique.roots, unique.node_ids[forest.offsets[:-1]])
    np.testing.assert_array_equal(unique.node_ids[unique.first_nodes], np.arange(unique.labels.size))


def test_a_table_of_different_subtrees_says_what_they_are(trees):
    unique = make(trees).forest.subtrees
    keys = {}
    for k in range(unique.labels.size):
        entries = slice(unique.child_start[k], unique.child_start[k + 1])
        assert (unique.child_ids[entries] < k).all()
        children = zip(unique.child_positions[entries].tolist(), unique.child_ids[entries].tolist(), strict=True)
        own = () if unique.internal[k] else (int(unique.leaf_positions[k]),)
        keys[k] = (
            int(unique.labels[k]),
            bool(unique.internal[k]),
            tuple(sorted((p, keys[c]) for p, c in children)),
            own,
        )
    expected = {key for tree in trees for key in subtree_keys(tree)}
    assert set(keys.values()) == expected


def test_many_siblings_at_one_position_in_any_order_are_one_subtree():
    rng = np.random.default_rng(2)
    labels = [np.concatenate([[0], rng.permutation(np.arange(300) % 3)]) for _ in range(4)]
    data = bg.TreeData.from_parents(labels, [[-1] + [0] * 300] * 4, [[0] + [1] * 300] * 4)
    unique = data.forest.subtrees
    assert unique.labels.size == 4  # three leaves and the root
    assert unique.child_ids.size == 300


def test_a_chain_of_a_million_nodes():
    n = 1_000_000
    data = bg.TreeData.from_parents([np.arange(n) % 2], [np.arange(-1, n - 1)])
    assert data.summary()[:6] == (1, n, n, n, n, n - 1)
    assert data.forest.subtrees.labels.size == n


def test_continuous_labels_are_kept_and_shared():
    values = [np.array([0.5, 1.5, 1.5]), np.array([0.5, 1.5, 1.5])]
    data = bg.TreeData.from_parents(values, [[-1, 0, 0]] * 2, [[0, 1, 2], [0, 1, 2]])
    np.testing.assert_array_equal(data[1].labels, [[0.5], [1.5], [1.5]])
    assert data.forest.subtrees.labels.size == 3
    np.testing.assert_array_equal(data[[1]].forest.values, data.forest.values[3:])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (slice(2, 9, 3), [2, 5, 8]),
        ([4, -1, 4], [4, 29, 4]),
        (np.arange(30) % 10 == 3, [3, 13, 23]),
        ((np.array([7, 1]), Ellipsis), [7, 1]),
        ([], []),
    ],
)
def test_choosing_trees(trees, key, expected):
    data = make(trees)
    chosen = data[key]
    assert isinstance(chosen, bg.TreeData)
    assert chosen.shape == (len(expected),)
    for place, number in enumerate(expected):
        for got, wanted in zip(chosen[place], data[number], strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_sources_and_classes_go_with_their_trees():
    data = bg.TreeData.from_inex("3:1($)\n5:2($)\n7:1(2($))")
    chosen = data[[2, 0]]
    assert chosen.targets.tolist() == [7, 3]
    assert chosen.sources == ("text 0:3", "text 0:1")


def test_wrong_keys_are_refused(trees):
    data = make(trees)
    with pytest.raises(IndexError, match="tree 30 of 30"):
        data[30]
    with pytest.raises(IndexError, match=r"trees are 0 \.\. 29, got 0 \.\. 31"):
        data[[0, 31]]
    with pytest.raises(InvalidSettingError, match="one truth value per tree, 30, got 2"):
        data[np.array([True, False])]
    with pytest.raises(InvalidSettingError, match="ask for trees by number, slice"):
        data["a"]


def test_scikit_learn_divides_trees(trees):
    data = make(trees)
    train, test, numbers, _ = train_test_split(data, np.arange(30), test_size=10, random_state=0)
    assert (len(train), len(test)) == (20, 10)
    for tree, number in zip(train, numbers, strict=True):
        np.testing.assert_array_equal(tree.labels, data[int(number)].labels)


def test_pickled_trees_are_the_same(trees):
    data = make(trees)
    again = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(again.forest.parents, data.forest.parents)
    np.testing.assert_array_equal(again.forest.subtrees.roots, data.forest.subtrees.roots)


# Positions


def test_children_without_positions_stand_in_their_order():
    data = bg.TreeData.from_parents([[0, 1, 2, 0]], [[-1, 0, 1, 0]])
    assert data[0].positions.tolist() == [0, 1, 1, 2]
    assert data.max_outdegree == 2


def test_binary_form_is_that_of_the_slow_twin(trees):
    forest = make(trees).forest.as_binary()
    for number, tree in enumerate(trees):
        first, last = forest.offsets[number : number + 2]
        parents, positions = lcrs(tree.parents)
        local = np.where(forest.parents[first:last] < 0, -1, forest.parents[first:last] - first)
        assert local.tolist() == parents
        assert forest.positions[first:last].tolist() == positions
        assert forest.internal[first:last].tolist() == [node in parents for node in range(len(parents))]


def test_overflow_rules():
    data = bg.TreeData.from_parents([[0, 1, 2, 0, 1, 2]], [[-1, 0, 0, 0, 3, 1]], [[0, 1, 2, 3, 1, 1]])
    shared = data.with_max_outdegree(2)
    assert shared[0].positions.tolist() == [0, 1, 2, 2, 1, 1]
    assert (shared.max_outdegree, shared.n_overflowing) == (2, 1)
    cut = data.with_max_outdegree(2, "truncate")
    assert cut[0].parents.tolist() == [-1, 0, 0, 1]
    assert cut[0].labels.tolist() == [0, 1, 2, 2]
    assert cut.n_overflowing == 1
    with pytest.raises(InvalidTreeError, match=r"tree 0, node 3: position 3 is beyond the largest out-degree 2"):
        data.with_max_outdegree(2, "error")
    assert data.with_max_outdegree(7, "error").max_outdegree == 7
    with pytest.raises(InvalidSettingError, match="the largest out-degree is at least 1, got 0"):
        data.with_max_outdegree(0)
    with pytest.raises(InvalidSettingError, match="overflow is one of share_last, truncate, error, got 'drop'"):
        data.with_max_outdegree(2, "drop")


def test_a_node_that_loses_all_children_stays_internal():
    data = bg.TreeData.from_parents([[0, 1]], [[-1, 0]], [[0, 5]]).with_max_outdegree(2, "truncate")
    assert data[0].internal.tolist() == [True]


# Labels


def test_texts_become_codes_in_order():
    data = bg.TreeData.from_parents([["b", "a", None], ["Z"]], [[-1, 0, 0], [-1]])
    assert data.vocabulary == ("Z", "a", "b")
    assert data.forest.labels.tolist() == [2, 1, -1, 0]
    assert data[0].labels == ["b", "a", None]


def test_a_vocabulary_of_its_own():
    data = bg.TreeData.from_newick(["(a,a,b)r;", "(c,c)r;"])
    first = data[:1].with_own_vocabulary()
    assert first.vocabulary == ("a", "b", "r")
    assert first[0].labels == data[0].labels
    folded = data.with_own_vocabulary(min_count=2)
    assert folded.vocabulary == ("<rare>", "a", "c", "r")
    assert folded[0].labels == ["r", "a", "a", "<rare>"]
    assert data.with_own_vocabulary(reserve_rare=True).vocabulary == ("<rare>", "a", "b", "c", "r")
    codes = bg.TreeData.from_parents([[0, 2]], [[-1, 0]], n_labels=5)
    assert codes.with_own_vocabulary().n_labels == 5


def test_labels_never_seen():
    train = bg.TreeData.from_newick("(a,b)r;").with_own_vocabulary()
    new = bg.TreeData.from_newick("(a,(x,b)y)r;")
    unknown = new.with_vocabulary(train.vocabulary)
    assert unknown[0].labels == ["r", "a", None, None, "b"]
    assert (unknown.n_unseen, unknown.vocabulary, unknown.n_labels) == (2, ("a", "b", "r"), 3)
    rare = new.with_vocabulary(("<rare>", "a", "b", "r"), unseen="rare")
    assert rare[0].labels == ["r", "a", "<rare>", "<rare>", "b"]
    assert rare.n_unseen == 2
    with pytest.raises(InvalidTreeError, match="tree 0, node 2: the label 'y' was never seen in fitting"):
        new.with_vocabulary(train.vocabulary, unseen="error")
    with pytest.raises(InvalidSettingError, match="unseen is one of marginal, rare, error, got 'drop'"):
        new.with_vocabulary(train.vocabulary, unseen="drop")
    with pytest.raises(InvalidSettingError, match="needs the label '<rare>' in the vocabulary"):
        new.with_vocabulary(train.vocabulary, unseen="rare")


def test_codes_never_seen():
    data = bg.TreeData.from_parents([[0, 3, -1]], [[-1, 0, 0]])
    assert data.with_vocabulary(2)[0].labels.tolist() == [0, -1, -1]
    assert data.with_vocabulary(2).n_unseen == 1
    assert data.with_vocabulary(9).n_labels == 9
    with pytest.raises(InvalidSettingError, match="labels of these trees are codes, those of the model texts"):
        data.with_vocabulary(("a", "b"))
    with pytest.raises(InvalidSettingError, match="labels of these trees are texts, those of the model codes"):
        bg.TreeData.from_newick("a;").with_vocabulary(3)


# Rules


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        (([[]], [[]], [[]]), {}, "tree 0 is empty; a tree has at least its root"),
        (([[0], [0]], [[-1]], [[0]]), {}, r"one array per tree, got \[2, 1, 1\]"),
        (([[0], [0, 1]], [[-1], [-1]], [[0], [0]]), {}, r"tree 1: .*one entry per node, got \[2, 1, 1\]"),
        (([[0, 0]], [[0, -1]], [[1, 0]]), {}, "tree 0, node 0: the root is node 0 with parent -1"),
        (([[0]] + [[0, 0]], [[-1]] + [[-1, -1]], [[0]] + [[0, 0]]), {}, "tree 1, node 1: .*got parent -1"),
        (([[0, 0, 0]], [[-1, 2, 0]], [[0, 1, 1]]), {}, "tree 0, node 1: .*got parent 2"),
        (([[0, 0]], [[-1, 0]], [[0, 4]]), {"max_outdegree": 3}, r"node 1: positions are 0 at the root and 1 \.\. 3"),
        (([[0, 0]], [[-1, 0]], [[0, 0]]), {}, "node 1: positions are 0 at the root"),
        (([[0]], [[-1]], [[1]]), {}, "node 0: positions are 0 at the root"),
        (([[0, 5]], [[-1, 0]], [[0, 1]]), {"n_labels": 5}, r"node 1: labels are 0 \.\. 4, or -1 where unknown, got 5"),
        (([[-2]], [[-1]], [[0]]), {}, "node 0: labels are 0"),
        (([[0, 1]], [[-1, 0]], [[0, 1]]), {"internal": [[False, False]]}, "node 0: a node with children is marked"),
        (([[0, 1]], [[-1, 0.0]], [[0, 1]]), {}, "tree 0: parents are integers, got float64"),
        (([[2**40]], [[-1]], [[0]]), {}, "labels are numbers of 32 bits"),
        (([["a", 1]], [[-1, 0]], [[0, 1]]), {}, "tree 0, node 1: where some labels are texts all are"),
        (([["a"]], [[-1]], [[0]]), {"vocabulary": ["b"]}, "the label 'a' is not in the vocabulary"),
        (([[np.inf]], [[-1]], [[0]]), {}, "node 0: an infinite label"),
    ],
)
def test_broken_rules_are_named_with_tree_and_node(arrays, options, message):
    with pytest.raises(InvalidTreeError, match=message):
        bg.TreeData.from_parents(*arrays, **options)


def test_flat_arrays_that_do_not_fit_are_refused():
    one = np.zeros(1, int)
    with pytest.raises(InvalidTreeError, match="one entry per node, 1 nodes"):
        Forest(one, np.array([-1, 0]), one, one, np.array([0, 1]), 1, 1)
    with pytest.raises(InvalidTreeError, match="offsets begin with 0 and end with the number of nodes 1"):
        Forest(one, one - 1, one, one, np.array([0, 2]), 1, 1)


# Graphs and words


def test_networkx_there_and_back(trees):
    data = make(trees)
    for given, graph in zip(data, data.to_networkx(), strict=True):
        got = bg.TreeData.from_networkx(graph)[0]
        expected = nested(given.labels.tolist(), given.parents.tolist(), given.positions.tolist())
        same_order = nested(list(got.labels), got.parents.tolist(), got.positions.tolist())
        assert leaves_sorted(same_order) == leaves_sorted(expected)


def leaves_sorted(part):
    """Children that share a position may come in any order."""
    position, label, children = part
    return (position, label, tuple(sorted(map(leaves_sorted, children))))


def test_a_graph_without_attributes_gives_its_names():
    graph = networkx.DiGraph([("r", "a"), ("r", "b"), ("b", "c")])
    tree = bg.TreeData.from_networkx([graph])[0]
    assert tree.labels == ["r", "a", "b", "c"]
    assert tree.positions.tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (networkx.Graph([(0, 1)]), "graph 0 is not a networkx.DiGraph"),
        (networkx.DiGraph([(0, 1), (2, 3)]), "graph 0 is no tree: 2 nodes have no parent"),
        (networkx.DiGraph([(0, 1), (0, 2), (1, 2)]), "graph 0 is no tree: 1 nodes have no parent, node 2 has several"),
        (networkx.DiGraph([(0, 1), (2, 3), (3, 2)]), "graph 0 is no tree: 2 nodes lie on a circle"),
        (networkx.DiGraph(), "graph 0 is no tree: 0 nodes have no parent"),
    ],
)
def test_graphs_that_are_no_trees(graph, message):
    with pytest.raises(InvalidTreeError, match=message):
        bg.TreeData.from_networkx(graph)


def test_graphs_need_networkx(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(MissingExtraError, match="pip install networkx"):
        bg.TreeData.from_newick("(a,b);").to_networkx()


def test_words_and_numbers_of_a_set():
    data = bg.TreeData.from_newick(["((a,b)c,d)e;", "(a,b)c;"])
    assert repr(data) == "TreeData(n_trees=2, n_nodes=8, n_labels=5, max_outdegree=2, origin='newick')"
    assert data.summary() == (2, 8, 3, 4.0, 5, 2, 2, 5, 5, 2)
    assert data[:0].summary()[:2] == (0, 0)
