"""Pictures of trees that are data, of classes and of emissions: what is drawn, what is left out, what is refused."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from bayesgrove import Tree, TreeData, plot
from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.inference.result import Result
from bayesgrove.plot.cluster_tables import cluster_order, shown_emissions
from bayesgrove.plot.labelled_trees import tree_lines

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.unit

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(autouse=True)
def close_all():
    yield
    pyplot.close("all")


def tree_of(text, **options):
    return TreeData.from_newick(text, **options)[0]


def subject(n_clusters=2):
    """What a fitted model of trees shows to a picture."""
    labels = np.arange(2 * n_clusters) // 2
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5]], log_merge_odds=[3.0, 3.0, -3.0])
    result = Result("ByHand", labels, tree, None, None, (), {})
    return SimpleNamespace(
        result_=result,
        typical_trees_=[tree_of("((a,b)c,d)e;"), tree_of("(x,x,x)z;")],
        components_=[SimpleNamespace(emission_=np.array([[0.9, 0.1, 0.0], [0.2, 0.1, 0.7]]))] * 2,
        vocabulary_=("p", "q", "a long name of a label"),
    )


def words_on(ax):
    return [text.get_text() for text in ax.texts]


def test_lines_of_a_tree_follow_its_order():
    lines = tree_lines(tree_of("((a,b)c,d)e;"))
    assert lines.words == ["e", "c", "a", "b", "d"]
    np.testing.assert_array_equal(lines.depth, [0, 1, 2, 2, 1])
    np.testing.assert_array_equal(lines.parent, [-1, 0, 1, 1, 0])


def test_equal_leaves_side_by_side_share_a_line():
    assert tree_lines(tree_of("(a,a,a,b,a,(a)a)r;")).words == ["r", f"a {TIMES}3", "b", "a", "a", "a"]


def test_large_trees_are_cut_near_the_root():
    lines = tree_lines(tree_of("((a,(b,c)d)e,(f,g)h)r;"), max_nodes=5)
    assert lines.words == ["r", "e", "a", "d (+2)", "h (+2)"]
    assert tree_lines(tree_of("((a,b)c)r;"), max_nodes=1).words == ["r (+3)"]
    with pytest.raises(InvalidSettingError, match="max_nodes must be at least 1, got 0"):
        tree_lines(tree_of("a;"), max_nodes=0)


def test_positions_are_told_where_they_are_no_order():
    data = TreeData.from_parents([[0, 1, 1, 1, -1]], [[-1, 0, 0, 0, 0]], [[0, 2, 3, 5, 9]])
    assert tree_lines(data[0]).words == ["0", f"2, 3, 5: 1 {TIMES}3", "9: ?"]


def test_children_that_share_the_last_position_stand_in_order():
    assert tree_lines(tree_of("(a,b,c,d)r;", max_children=2)).words == ["r", "a", "b", "c", "d"]


def test_numbers_are_short():
    data = TreeData.from_parents([[[1.23456, 2.0], [0.5, -1.0]]], [[-1, 0]])
    assert tree_lines(data[0]).words == ["1.23, 2", "0.5, -1"]


def test_a_labelled_tree_is_drawn():
    ax = plot.labelled_tree(tree_of("((a,b)c,d)e;"), title="one")
    assert words_on(ax) == ["e", "c", "a", "b", "d"]
    assert ax.get_xlabel() == "5 nodes, depth 2"
    ax.figure.canvas.draw()
    with pytest.raises(InvalidInputError, match="labelled_tree draws one tree"):
        plot.labelled_tree("((a,b)c,d)e;")


def test_a_very_deep_tree_is_drawn():
    n = 3_000
    data = TreeData.from_parents([np.zeros(n, int)], [np.arange(n) - 1])
    ax = plot.labelled_tree(data[0])
    assert ax.get_xlabel() == "3,000 nodes, depth 2,999"
    assert len(ax.texts) == 100


def test_typical_trees_stand_side_by_side():
    ax = plot.typical_trees(subject())
    words = words_on(ax)
    assert "cluster 0 (2)" in words
    assert f"x {TIMES}3" in words
    ax.figure.canvas.draw()
    assert "cluster 0 (2)" not in words_on(plot.typical_trees(subject(), clusters=[1]))
    with pytest.raises(InvalidSettingError, match=r"clusters are some of 0 .. 1, got \[2\]"):
        plot.typical_trees(subject(), clusters=[2])
    with pytest.raises(InvalidInputError, match="has no typical_trees_"):
        plot.typical_trees(subject().result_)


def test_names_cannot_break_a_picture():
    ax = plot.labelled_tree(TreeData.from_parents([["$x^", "a\nb\x00" + 500 * "y"]], [[-1, 0]])[0])
    ax.figure.canvas.draw()
    assert max(map(len, words_on(ax))) < 100


def test_a_table_of_classes():
    ax = plot.class_table(subject(), ["b", "b", "a", "b"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "0"]
    assert sorted(words_on(ax)) == ["", "1", "1", "2"]
    ax = plot.class_table(subject(), ["b", None, "a", "b"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "missing"]
    with pytest.raises(InvalidInputError, match=r"classes are one per item, 4, got shape \(1,\)"):
        plot.class_table(subject(), ["a"])
    np.testing.assert_array_equal(cluster_order(np.array([[0.0, 3.0], [2.0, 0.0]])), [1, 0])


def test_emissions_of_a_cluster():
    ax = plot.emissions(subject(), cluster=1, max_labels=2)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["p", "a long name of a …"]
    assert "1 more, less probable" in ax.get_xlabel()
    states, labels = shown_emissions(np.array([[0.9, 0.1, 0.0], [0.2, 0.1, 0.7]]), 3)
    np.testing.assert_array_equal(labels, [0, 1, 2])
    np.testing.assert_array_equal(states, [0, 1])
    with pytest.raises(InvalidSettingError, match=r"clusters are 0 \.\. 1, got 2"):
        plot.emissions(subject(), cluster=2)
    with pytest.raises(InvalidSettingError, match="max_labels is at least 1, got 0"):
        plot.emissions(subject(), max_labels=0)
    with pytest.raises(InvalidInputError, match="has no table of them"):
        plot.emissions(SimpleNamespace())
