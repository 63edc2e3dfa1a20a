import subprocess
import sys

import matplotlib
import numpy as np
import pytest

from bayesgrove import plot
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.plot.axes import HEIGHT_LABEL, height_axis
from bayesgrove.plot.colours import MIXED, PALETTE, PLAIN, node_clusters, node_colours
from bayesgrove.trees import Tree, lay_out
from reference.trees import leaves_below, random_merges, random_parents

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def odds_tree(n, seed=0, labels=None):
    rng = np.random.default_rng(seed)
    odds = np.sort(rng.normal(2.0, 4.0, n - 1))[::-1]
    return Tree.from_merges(random_merges(rng, n), odds, leaf_labels=labels)


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_public_names():
    assert plot.__all__ == sorted(plot.__all__)
    assert {"dendrogram", "icicle", "similarity", "trace", "ranks", "cluster_counts"} <= set(plot.__all__)
    assert {"profile", "data_heatmap", "embedding", "tree_with_members"} <= set(plot.__all__)
    assert {"views", "view_map"} <= set(plot.__all__)
    assert {"level_tree", "level_scores", "score_traces", "sensitivity"} <= set(plot.__all__)
    assert "prior_counts" in plot.__all__
    assert len(plot.__all__) == 21


def test_matplotlib_is_imported_only_when_drawing():
    code = "import sys, bayesgrove.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("seed", range(10))
def test_node_clusters_equal_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_parents(random_parents(rng, 30))
    labels = rng.integers(0, 3, tree.n_leaves)
    found = node_clusters(tree, np.unique(labels, return_inverse=True)[1])
    order = list(dict.fromkeys(labels[tree.leaf_order].tolist()))
    for node, items in enumerate(leaves_below(tree.parent, tree.item)):
        inside = {order.index(labels[item]) for item in items}
        assert found[node] == (inside.pop() if len(inside) == 1 else -1)


def test_colours_follow_the_cut_and_are_grey_above_it():
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5]], [4.0, 3.0, -5.0])
    labels = tree.cut(probability=0.5)
    nodes = np.arange(tree.n_nodes)
    assert node_colours(tree, labels, nodes)[4:] == [PALETTE[0], PALETTE[1], MIXED]
    assert set(node_colours(tree, None, nodes)) == {PLAIN}


@pytest.mark.parametrize("n", [2, 10, 60, 3000])
@pytest.mark.parametrize("orientation", ["vertical", "horizontal"])
def test_dendrogram_draws_every_branch_inside_the_axes(n, orientation):
    tree = odds_tree(n)
    ax = plot.dendrogram(tree, orientation=orientation, max_leaves=40)
    layout = lay_out(tree, 40)
    lines, triangles = ax.collections
    segments = np.array(lines.get_segments())
    assert len(segments) == np.count_nonzero(~layout.is_end) + layout.node.size - 1
    assert len(triangles.get_paths()) == np.count_nonzero(layout.is_collapsed)
    for axis, (low, high) in enumerate((sorted(ax.get_xlim()), sorted(ax.get_ylim()))):
        assert segments[:, :, axis].min() >= low
        assert segments[:, :, axis].max() <= high
    ax.figure.canvas.draw()


def test_dendrogram_axis_says_what_the_height_is():
    ax = plot.dendrogram(odds_tree(10), orientation="vertical", title="ten")
    assert ax.get_ylabel() == HEIGHT_LABEL == "merge height: running maximum of \N{MINUS SIGN}log odds"
    assert ax.get_yscale() == "asinh"
    assert ax.get_title() == "ten"
    assert "p = ½" in words(ax)
    assert plot.dendrogram(odds_tree(10), orientation="vertical", scale="linear").get_yscale() == "linear"


def test_zero_on_the_axis_is_probability_one_half():
    tree = Tree.from_merges([[0, 1], [2, 3]], [0.0, -3.0])
    lines = np.array(plot.dendrogram(tree).collections[0].get_segments())
    assert {0.0, 3.0} <= set(lines[:, :, 1].ravel().tolist())


def test_dendrogram_without_odds_has_plain_heights():
    ax = plot.dendrogram(Tree.from_merges([[0, 1], [2, 3]], heights=[1.0, 2.5]))
    assert ax.get_ylabel() == "height"
    assert ax.get_yscale() == "linear"
    assert words(ax) == []


def test_probabilities_are_written_and_do_not_collide():
    tree = odds_tree(2000, seed=4)
    ax = plot.dendrogram(tree)
    chances = [text for text in ax.texts if text.get_text() != "p = ½"]
    assert 2 <= len(chances) <= 25
    ax.figure.draw_without_rendering()
    places = [ax.transData.transform(text.xy) for text in chances]
    for i, one in enumerate(places):
        for other in places[:i]:
            assert abs(one[0] - other[0]) > 10 or abs(one[1] - other[1]) > 5
    assert set(words(plot.dendrogram(tree, probabilities=False))) <= {"p = ½"}


def test_small_trees_show_every_probability():
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5]], [9.0, 2.0, -5.0])
    assert sorted(words(plot.dendrogram(tree))) == [".01", ".88", ">.99", "p = ½"]


def test_long_names_lay_the_tree_down():
    names = [f"a rather long name {i}" for i in range(8)]
    ax = plot.dendrogram(odds_tree(8, labels=names))
    assert ax.get_xlabel() == HEIGHT_LABEL
    assert {tick.get_text() for tick in ax.get_yticklabels()} == set(names)
    assert plot.dendrogram(odds_tree(8)).get_ylabel() == HEIGHT_LABEL


def test_collapsed_branches_carry_their_counts():
    tree = odds_tree(500)
    ax = plot.dendrogram(tree, max_leaves=20)
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    counts = [int(name.strip("()").replace(",", "")) if name.startswith("(") else 1 for name in names]
    assert sum(counts) == 500
    assert "500 items in 20 branches" in ax.get_xlabel()


def test_names_are_left_out_when_they_cannot_be_read():
    ax = plot.dendrogram(odds_tree(1500), max_leaves=1500, orientation="vertical")
    assert ax.get_xticklabels() == []


def test_names_are_cut_and_are_no_mathematics():
    ax = plot.dendrogram(odds_tree(3), leaf_labels=["$x$", "y" * 40, "z"])
    names = {tick.get_text() for tick in ax.get_xticklabels()}
    assert names == {r"\$x\$", "y" * 27 + "…", "z"}
    ax.figure.canvas.draw()


@pytest.mark.parametrize("kind", ["dendrogram", "icicle"])
def test_tree_plot_finds_the_drawing_and_uses_given_axes(kind):
    ax = pyplot.figure().add_subplot()
    assert odds_tree(5).plot(ax=ax, kind=kind, title="mine") is ax
    assert ax.get_title() == "mine"


@pytest.mark.parametrize("kind", ["dendrogram", "icicle"])
def test_a_single_leaf_and_a_deep_chain_can_be_drawn(kind):
    leaf = Tree.from_parents([-1]).plot(kind=kind)
    leaf.figure.canvas.draw()
    assert len(leaf.collections[0].get_paths()) == 1
    n = 20_001
    left = np.concatenate([[0], np.arange(n, 2 * n - 2)])
    chain = Tree.from_merges(np.column_stack([np.arange(1, n), left]), np.linspace(5.0, -5.0, n - 1))
    drawn = chain.plot(kind=kind)
    drawn.figure.canvas.draw()
    assert len(drawn.collections[0].get_paths()) > 10


def test_icicle_blocks_tile_each_level():
    tree = odds_tree(30)
    ax = plot.icicle(tree)
    shapes = np.array([path.vertices[:4] for path in ax.collections[0].get_paths()])
    areas = np.ptp(shapes[:, :, 0], axis=1)
    layout = lay_out(tree, 200)
    assert areas.tolist() == tree.size[layout.node].tolist()
    bottoms = shapes[:, :, 1].min(axis=1)
    tops = shapes[:, :, 1].max(axis=1)
    assert tops[:-1].tolist() == pytest.approx(bottoms[layout.parent[:-1]].tolist())


def test_icicle_by_probability_has_a_colour_bar():
    ax = plot.icicle(odds_tree(30), colour="probability")
    assert ax.collections[0].get_clim() == (0.0, 1.0)
    assert ax.figure.axes[1].get_ylabel() == "probability of one cluster"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("dendrogram", {"labels": [0, 1]}, r"labels need one entry per item, got shape \(2,\) for 5 items"),
        ("dendrogram", {"leaf_labels": ["a"]}, "leaf_labels need one entry per item, got 1 for 5"),
        ("dendrogram", {"scale": "log"}, "scale is one of .* got 'log'"),
        ("dendrogram", {"orientation": "up"}, "orientation is one of .* got 'up'"),
        ("icicle", {"colour": "red"}, "colour is one of .* got 'red'"),
    ],
)
def test_bad_settings_are_named(kind, options, message):
    with pytest.raises(InvalidSettingError, match=message):
        odds_tree(5).plot(kind=kind, **options)


def test_probability_colours_need_odds():
    with pytest.raises(InvalidSettingError, match=r'colour="probability" needs log_merge_odds'):
        plot.icicle(Tree.from_merges([[0, 1]]), colour="probability")


def test_height_axis_of_a_flat_tree_has_room():
    axis = height_axis(Tree.from_merges([[0, 1]], [3.0]), "auto")
    assert axis.base < -3.0 < axis.top
