"""The tree with members: which branches, which names and pictures, and how they share the room."""

import matplotlib
import numpy as np
import pytest

from bayesgrove import plot
from bayesgrove.core.errors import InvalidInputError
from bayesgrove.plot.colours import MIXED, cluster_colours
from bayesgrove.plot.members import (
    Members,
    allotted,
    checked_pictures,
    cluster_layout,
    ends_in_order,
    member_lines,
    mosaic,
    mosaic_shape,
    with_places,
)
from bayesgrove.trees import Tree
from reference.pictures import axes_of_size
from reference.results import grouped_tree, make_result, table_of

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.unit

LABELS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
NAMES = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def result():
    return make_result(table_of(np.arange(20.0).reshape(10, 2)), LABELS, grouped_tree(LABELS, names=NAMES))


def items_of_ends(tree, layout):
    return [tree.items_below(int(layout.node[k])).tolist() for k in ends_in_order(layout)]


def test_ends_are_the_clusters_when_these_are_branches(result):
    ends = items_of_ends(result.tree, cluster_layout(result.tree, LABELS, 20))
    assert sorted(map(sorted, ends)) == [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9]]


def test_clusters_that_are_no_branches_have_several_ends(result):
    labels = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 1])
    layout = cluster_layout(result.tree, labels, 20)
    ends = items_of_ends(result.tree, layout)
    assert all(np.unique(labels[items]).size == 1 for items in ends)
    assert sorted(np.concatenate(ends).tolist()) == list(range(10))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_few_ends_hold_all_items_and_the_highest_merges_are_open(result, most):
    layout = cluster_layout(result.tree, LABELS, most)
    assert layout.n_ends == max(most, 2)  # the root is open in any case
    assert sorted(np.concatenate(items_of_ends(result.tree, layout)).tolist()) == list(range(10))
    opened, closed = (result.tree.height[layout.node[keep]] for keep in (~layout.is_end, layout.is_end))
    assert opened.min() >= closed.max()


def test_one_cluster_is_one_end():
    tree = grouped_tree([0, 0, 0])
    assert cluster_layout(tree, np.zeros(3, int), 5).n_ends == 1


def test_places_are_the_middles_of_slots(result):
    layout = cluster_layout(result.tree, LABELS, 20)
    placed = with_places(layout, np.array([2.0, 4.0, 1.0, 3.0]))
    assert placed.x[ends_in_order(layout)].tolist() == [1.0, 4.0, 6.5, 8.5]
    for k in np.flatnonzero(~layout.is_end):
        below = placed.x[layout.parent == k]
        assert placed.x[k] == (below.min() + below.max()) / 2
        assert (placed.low[k], placed.high[k]) == (below.min(), below.max())


def test_names_are_written_beside_their_cluster(result):
    ax = plot.tree_with_members(result)
    texts = [text for text in ax.texts if text.get_text() != "p = ½"]
    layout = cluster_layout(result.tree, LABELS, 20)
    written = [text.get_text().replace("\n", " ").split(", ") for text in texts]
    assert written == [[NAMES[item] for item in items] for items in items_of_ends(result.tree, layout)]
    colours = cluster_colours(result.tree, LABELS)
    marks = [line for line in ax.lines if line.get_linewidth() == 3.0]
    for mark, text, items in zip(marks, texts, items_of_ends(result.tree, layout), strict=True):
        assert mark.get_color() == colours[LABELS[items[0]]]
        assert np.mean(mark.get_ydata()) == pytest.approx(text.get_position()[1])


def test_heights_end_where_the_tree_does(result):
    """Beside it stand members; a tree without odds once had negative heights below them."""
    tree = Tree.from_parents(result.tree.parent, item=result.tree.item, leaf_labels=NAMES)
    ax = plot.tree_with_members(make_result(table_of(np.arange(20.0).reshape(10, 2)), LABELS, tree))
    places = ax.get_xticks()
    assert 0.0 in places
    assert places.min() >= 0.0
    assert places.max() <= ax.get_xlim()[0]


def test_given_names_and_branches_of_several_clusters(result):
    ax = plot.tree_with_members(result, leaf_labels=[f"${i}$" for i in range(10)], max_clusters=2, max_members=3)
    texts = [text.get_text().replace("\n", " ") for text in ax.texts]
    assert any(text.startswith("3 clusters: ") and text.endswith("… and 6 more") for text in texts)
    assert r"\$9\$" in texts
    assert MIXED in {line.get_color() for line in ax.lines}
    ax.figure.canvas.draw()


def test_lines_of_members_count_those_left_out():
    names = [f"name{i}" for i in range(9)]
    assert member_lines(Members(names[:2], 2, ""), 40, 1) == ["name0, name1"]
    assert member_lines(Members(names, 9, ""), 30, 1) == ["name0, name1 … and 7 more"]
    assert member_lines(Members(names, 30, ""), 30, 2) == ["name0, name1, name2, name3,", "name4, name5 … and 24 more"]
    assert member_lines(Members(["x" * 24], 4, ""), 12, 1) == ["4 rows"]
    assert member_lines(Members(["polar bear", "grey seal", "cow"], 3, ""), 16, 3) == ["polar bear,", "grey seal, cow"]
    assert member_lines(Members(["a name of more than a line"], 1, ""), 16, 3) == ["a name of more", "than a line"]
    for most in range(1, 6):
        lines = member_lines(Members(names, 20, "2 clusters: "), 24, most)
        assert len(lines) <= most
        assert all(len(line) <= 24 for line in lines)


@pytest.mark.parametrize(
    ("wanted", "total", "given"),
    [
        ([1, 1], 9, [1, 1]),
        ([5, 1, 2], 20, [5, 1, 2]),
        ([5, 1, 2], 5, [2, 1, 2]),
        ([4, 4], 1, [1, 1]),
        ([9, 2], 8, [6, 2]),
    ],
)
def test_lines_are_shared_in_turn(wanted, total, given):
    assert allotted(wanted, total) == given


@pytest.mark.parametrize("colour", [(), (3,)])
def test_pictures_are_evenly_spread_members(result, colour):
    pictures = np.zeros((10, 4, 4, *colour))
    pictures += np.arange(10.0).reshape(10, *([1] * (pictures.ndim - 1)))
    ax = plot.tree_with_members(result, images=pictures, max_members=3)
    layout = cluster_layout(result.tree, LABELS, 20)
    words = [text.get_text() for text in ax.texts if text.get_text() != "p = ½"]
    ends = items_of_ends(result.tree, layout)
    assert words == [f"{len(items)} row{'' if len(items) == 1 else 's'}" for items in ends]
    for inset, items in zip(ax.child_axes, ends, strict=True):
        tiles = np.asarray(inset.images[0].get_array())
        tiles = tiles[..., 0] if colour else tiles
        n_across = tiles.shape[1] // 5
        places = [divmod(place, n_across) for place in range(min(len(items), 3))]
        shown = [round(9 * tiles[5 * down + 1, 5 * across + 1]) for down, across in places]
        expected = np.array(items)[np.linspace(0, len(items) - 1, min(len(items), 3)).astype(int)]
        assert shown == expected.tolist()


def test_pictures_stand_beside_their_branch(result):
    ax = plot.tree_with_members(result, axes_of_size("large"), images=np.ones((10, 5, 5)))
    ax.figure.canvas.draw()
    texts = [text for text in ax.texts if text.get_text() != "p = ½"]
    for inset, text in zip(ax.child_axes, texts, strict=True):
        box = inset.get_window_extent()
        assert box.y0 < ax.transData.transform((1.0, text.get_position()[1]))[1] < box.y1


@pytest.mark.parametrize(
    ("shape", "width", "height", "most", "expected"),
    [
        ((8, 8), 100.0, 20.0, 30, (5, 1)),
        ((8, 8), 100.0, 20.0, 3, (3, 1)),
        ((8, 16), 100.0, 20.0, 30, (2, 1)),
        ((8, 8), 200.0, 80.0, 30, (5, 2)),
        ((8, 8), 200.0, 80.0, 4, (2, 2)),
        ((8, 8), 5.0, 20.0, 9, (1, 1)),
    ],
)
def test_shape_of_a_mosaic(shape, width, height, most, expected):
    assert mosaic_shape(shape, width, height, most) == expected


def test_mosaic_puts_pictures_row_by_row():
    pictures = np.arange(1.0, 4.0)[:, np.newaxis, np.newaxis] * np.ones((3, 2, 2))
    tiles = mosaic(pictures, 2, 2)
    assert tiles.shape == (6, 6)
    assert tiles[::3, ::3].tolist() == [[1.0, 2.0], [3.0, 0.0]]
    assert (tiles[2::3] == 0.0).all()
    assert mosaic(np.zeros((1, 2, 2, 3)), 2, 1)[0, 3].tolist() == [1.0, 1.0, 1.0]


def test_pictures_are_scaled_to_one():
    assert checked_pictures(np.full((2, 3, 3), 255, np.uint8), 2).max() == 1.0
    assert checked_pictures(np.full((2, 3, 3), 255, np.uint8), 2).min() == 1.0
    assert checked_pictures(np.zeros((2, 3, 3), bool), 2).max() == 0.0
    assert checked_pictures(np.full((1, 1, 1), np.nan), 1).tolist() == [[[0.0]]]


@pytest.mark.parametrize(
    "images",
    [np.zeros((9, 3, 3)), np.zeros((10, 9)), np.zeros((10, 3, 3, 4)), np.full((10, 1, 1), "a"), np.zeros((10, 0, 3))],
)
def test_pictures_of_other_shapes_are_refused(images, result):
    with pytest.raises(InvalidInputError, match=r"images have the shape \(10, height, width\) .* Reshape them"):
        plot.tree_with_members(result, images=images)
