"""Pictures of hierarchies of fixed depth, of scores over settings, and of scores by level."""

import dataclasses

import matplotlib
import numpy as np
import pytest

from bayesgrove import plot
from bayesgrove.inference.path_trees import hierarchy_tree
from bayesgrove.plot.levels import two_digits
from bayesgrove.plot.settings_maps import MISSING, digits_to_tell_apart
from reference.hierarchies import LEVELS, NAMES, hierarchy_result
from reference.results import grouped_tree, make_result, table_of

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.colors import to_rgba

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def result():
    return hierarchy_result()


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_the_tree_says_levels_and_credibility(result):
    tree = result.tree
    inner = range(10, tree.n_nodes)
    by_items = {tuple(sorted(tree.items_below(node).tolist())): node for node in inner}
    assert tree.columns["level"][by_items[(0, 1)]] == 2
    assert tree.columns["level"][by_items[(7, 8, 9)]] == 1  # its only child is left out
    assert tree.columns["level"][2] == 2  # alone in a node
    assert tree.columns["level"][7] == 3
    draws = result.posterior._path_draws
    share = np.mean([any(set(np.flatnonzero(d[:, 0] == k)) == {7, 8, 9} for k in range(10)) for d in draws])
    assert tree.columns["credibility"][by_items[(7, 8, 9)]] == pytest.approx(share)
    together = np.mean([d[0, 1] == d[1, 1] for d in draws])
    odds = tree.columns["log_merge_odds"][by_items[(0, 1)]]
    assert 1.0 / (1.0 + np.exp(-odds)) == pytest.approx(together)


def test_every_member_is_named_beside_its_leaf(result):
    ax = plot.level_tree(result)
    written = [words for words in texts(ax) if any(name in words for name in NAMES)]
    assert sorted(", ".join(written).split(", ")) == sorted(NAMES)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["root", "level 1", "level 2"]


def test_nodes_stand_at_their_levels_with_their_credibility(result):
    ax = plot.level_tree(result)
    places = ax.collections[-1].get_offsets()[:, 0]
    assert sorted(places.tolist()) == [0, 1, 1, 1, 2, 2, 2, 2]
    node = next(n for n in range(10, 18) if set(result.tree.items_below(n)) == {7, 8, 9})
    assert two_digits(result.tree.columns["credibility"][node]) in texts(ax)
    assert ax.get_xlabel() == "numbers: share of draws with this node"


def test_without_numbers_the_axis_says_nothing_of_them(result):
    bare = plot.level_tree(result, credibility=False)
    assert not {".", ">"} & {words[:1] for words in texts(bare)}
    assert bare.get_xlabel() == ""
    tiny = plot.level_tree(result, pyplot.subplots(figsize=(2.0, 0.15))[1])
    assert not {".", ">"} & {words[:1] for words in texts(tiny)}
    assert tiny.get_xlabel() == "level"


def test_pictures_take_the_place_of_names(result):
    ax = plot.level_tree(result, images=np.random.default_rng(0).random((10, 4, 4)))
    assert len(ax.child_axes) == 5
    assert "3 rows" in texts(ax)


def test_a_single_path_and_a_small_picture():
    alone = hierarchy_result(np.zeros((10, 2), int))
    ax = plot.level_tree(alone)
    assert any("ant, bee" in words for words in texts(ax))
    small = pyplot.subplots(figsize=(2.0, 1.6), layout="constrained")[1]
    plot.level_tree(hierarchy_result(), small)
    small.figure.canvas.draw()
    assert [tick.get_text() for tick in small.get_xticklabels()] == ["0", "1", "2"]


def test_score_traces_draw_both_scores(result):
    ax = plot.score_traces(result)
    drawn = [line.get_ydata() for line in ax.lines]
    np.testing.assert_array_equal(drawn[0], result.posterior.scalars["cdl"][0])
    np.testing.assert_array_equal(drawn[1], result.posterior.scalars["rcdl"][0])
    assert "r_hat" in ax.get_title()


def test_sensitivity_writes_every_number_and_marks_missing_ones():
    ax = plot.sensitivity([[13.2, np.nan], [18.0, 15.1]], [0.01, 1.0], [0.1, 1.0], name="AID", reference=14.0)
    assert texts(ax) == ["13.2", "none", "18", "15.1"]
    assert ax.get_facecolor() == to_rgba(MISSING)
    image = ax.images[0]
    assert image.norm(14.0) == pytest.approx(0.5)
    assert plot.sensitivity([[1.0]], [1.0], [1.0]).images[0].get_cmap().name == "Greys"


@pytest.mark.parametrize(
    ("numbers", "digits"),
    [([[5.6, 5.4]], 3), ([[-1234.7, -1232.9]], 5), ([[4000.0, 9000.0]], 4), ([[1.0, 1.0]], 3), ([[0.0]], 3),
     ([[np.nan]], 3), ([[1e6, 1e6 + 1e-6]], 7)],
)  # fmt: skip
def test_numbers_of_a_map_are_told_apart(numbers, digits):
    assert digits_to_tell_apart(np.array(numbers)) == digits


def test_level_scores_have_a_box_per_level_and_group():
    rng = np.random.default_rng(0)
    ax = plot.level_scores({"BHMC": rng.random((10, 3)), "RBHMC": rng.random((8, 3))})
    assert len(ax.patches) == 6
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "3"]
    assert [words.get_text() for words in ax.get_legend().get_texts()] == ["BHMC", "RBHMC"]


def flat_result():
    labels = np.array([0, 0, 1])
    return make_result(table_of(np.arange(6.0).reshape(3, 2)), labels, grouped_tree(labels))


def without_scores(result):
    """As of NRMMixture: draws that have other scalars."""
    posterior = dataclasses.replace(result.posterior, scalars={"log_joint": result.posterior.scalars["cdl"]})
    return dataclasses.replace(result, posterior=posterior)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda r: plot.level_tree(flat_result()), "hierarchy of fixed depth"),
        (lambda r: plot.level_tree(r, max_members=0), "max_members is at least 1"),
        (lambda r: plot.level_tree(r, images=np.zeros((3, 2, 2))), "one per row"),
        (lambda r: plot.sensitivity([[1.0]], [1.0, 2.0], [1.0]), "a row per C and a column per margin"),
        (lambda r: plot.level_scores({"a": [[1.0]], "b": [[1.0, 2.0]]}), "same number of levels"),
        (lambda r: plot.level_scores({}), "same number of levels"),
        (lambda r: plot.level_scores(r), "takes scores of fits of BHMC or RBHMC.*got Result"),
        (lambda r: plot.level_scores([[0.5, 0.6]]), "takes scores of fits of BHMC or RBHMC.*got list"),
        (
            lambda r: plot.score_traces(without_scores(r)),
            "draws CDL and RCDL of BHMC and RBHMC, and .* has",
        ),
        (lambda r: plot.score_traces(flat_result()), "draws CDL and RCDL of BHMC and RBHMC, and .* has"),
    ],
)
def test_refusals(result, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(result)


def test_the_tree_of_many_rows_looks_at_fewer_draws(result, monkeypatch):
    monkeypatch.setattr("bayesgrove.inference.path_trees.MOST_COHESION_STEPS", 0.0)
    tree = hierarchy_tree(result.posterior, LEVELS, NAMES)
    assert np.array_equal(tree.parent, result.tree.parent)
