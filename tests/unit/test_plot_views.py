"""Pictures of views: what is drawn equals plain numpy, words can be read at two sizes, wrong use is explained."""

import dataclasses
import itertools

import matplotlib
import numpy as np
import pytest

from bayesgrove import plot
from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.inference.result import View
from bayesgrove.inference.views import (
    columns_to_draw,
    same_view_sample,
    view_columns,
    view_count_law,
    view_numbers,
    view_order,
    view_result,
)
from bayesgrove.plot.colours import PALETTE
from bayesgrove.plot.tables import FARTHEST
from bayesgrove.plot.views import make_panels
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees import same_cluster_matrix
from reference.pictures import SIZES, axes_of_size, collisions
from reference.planted import planted_result
from reference.planted_views import planted_views, without_tree_of_columns

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def result():
    return planted_views()


def drawn_views(result):
    """The result with two draws: its own views, and all columns in one view with the rows of the second."""
    views = np.stack([relabel(view_numbers(result)), np.zeros(10, np.int64)])[np.newaxis]
    order = np.unique(view_numbers(result), return_index=True)[1].argsort()
    rows = np.stack([*(result.views[k].labels for k in order), result.views[1].labels])
    return dataclasses.replace(result, posterior=CrossPosterior(views, rows=rows))


def test_pairs_and_numbers_of_clusters_are_those_of_the_rows_in_the_largest_view(result):
    """Draws of views are of columns: taken for rows they are out of bounds, or wrong without a word."""
    drawn = drawn_views(result)
    draws = [result.views[0].labels, result.views[1].labels]
    ax = plot.similarity(drawn)
    together = np.mean([own[:, np.newaxis] == own for own in draws], axis=0)
    assert sorted(ax.images[0].get_array().ravel()) == sorted(together.ravel())
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in plot.cluster_counts(drawn).patches}
    assert bars == {2: 50.0, 3: 50.0}


def test_draws_of_a_view_are_of_the_rows(result):
    own = view_result(drawn_views(result), 2)
    expected = [result.views[2].labels, result.views[1].labels]
    np.testing.assert_array_equal(own.posterior.labels, [expected])


def test_a_view_is_a_result_of_its_own(result):
    own = view_result(result, 2)
    np.testing.assert_array_equal(own.labels, result.views[2].labels)
    columns = view_columns(result, 2)
    assert own.feature_names == tuple(result.feature_names[j] for j in columns)
    assert {feature.column for feature in own.description.features} == set(columns.tolist())
    np.testing.assert_array_equal(own.description.rows, own.tree.leaf_order)
    whole = result.description
    cells = whole.sample.values[np.argsort(whole.rows)][own.description.rows][:, columns]
    np.testing.assert_array_equal(own.description.sample.values, cells)
    assert own.views == ()


def test_means_of_a_view_are_those_of_its_clusters(result):
    own = view_result(result, 1)
    cells = own.description.sample.values
    for cluster in range(own.n_clusters):
        mean = np.nanmean(cells[own.labels[own.description.rows] == cluster], axis=0)
        np.testing.assert_allclose(own.description.clusters.mean[cluster], mean)


def test_columns_and_views_follow_the_column_tree(result):
    order = np.concatenate([view_columns(result, k) for k in view_order(result)])
    np.testing.assert_array_equal(order, result.column_tree.leaf_order)
    assert [view_numbers(result)[j] for j in result.views[1].columns] == [1, 1, 1]
    assert view_order(without_tree_of_columns(result)) == [0, 1, 2]


def test_probabilities_of_sharing_a_view_are_those_of_the_tree(result):
    pairs = same_view_sample(result, 100)
    expected = same_cluster_matrix(result.column_tree)[np.ix_(pairs.columns, pairs.columns)]
    np.testing.assert_allclose(pairs.probability, expected)
    assert not pairs.is_sampled
    drawn = same_view_sample(drawn_views(result), 4)
    assert drawn.is_sampled
    assert drawn.columns.size == 4
    together = np.equal.outer(view_numbers(result)[drawn.columns], view_numbers(result)[drawn.columns])
    np.testing.assert_array_equal(drawn.probability, np.where(together, 1.0, 0.5))
    assert same_view_sample(without_tree_of_columns(result), 4) is None


def test_the_number_of_views_has_a_law(result):
    law = view_count_law(result)
    assert law.probability.sum() == pytest.approx(1.0)
    assert law.counts[law.probability.argmax()] == 3
    law = view_count_law(drawn_views(result))
    assert (law.counts.tolist(), law.probability.tolist(), law.is_sampled) == ([1, 3], [0.5, 0.5], True)
    assert view_count_law(without_tree_of_columns(result)) is None


def test_of_wide_tables_every_view_has_columns_to_draw():
    sizes = (400, 90, 9, 1)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    made = tuple(View(f"{a}", np.arange(a, b), np.zeros(1), None) for a, b in itertools.pairwise(starts))
    drawn = columns_to_draw(made, None, 50)
    assert [np.isin(drawn, view.columns).sum() for view in made] == [39, 9, 1, 1]
    np.testing.assert_array_equal(columns_to_draw(made, None, 500), np.arange(500))


def test_names_of_rows_reach_every_view(result):
    names = tuple(f"animal {i}" for i in range(30))
    assert {view.tree.leaf_labels for view in result.with_names(names).views} == {names}


def test_panels_show_the_cells_of_each_view(result):
    ax = plot.views(result)
    panels = make_panels(result, 1000, 12)
    assert [panel.number for panel in panels] == view_order(result)
    for image, panel in zip(ax.images, panels, strict=True):
        own = view_result(result, panel.number)
        numbers = [f for f, feature in enumerate(own.description.features) if not feature.is_rate]
        columns = [own.description.features[f].column for f in numbers]
        places = [own.description.columns.tolist().index(column) for column in columns]
        cells = own.description.sample.values[:, places]
        expected = (cells - np.nanmean(cells, axis=0)) / np.nanstd(cells, axis=0)
        np.testing.assert_allclose(np.ma.filled(image.get_array(), np.nan)[:, numbers], expected, rtol=1e-9)
        assert image.get_clim() == (-FARTHEST, FARTHEST)
        left, right, bottom, top = image.get_extent()
        assert (right - left, bottom, top) == (pytest.approx(panel.grid.cells.shape[1]), 1.0, 0.0)


def test_leaves_of_the_column_tree_stand_over_their_columns(result):
    ax = plot.views(result)
    lines = [part for part in ax.collections if isinstance(part, LineCollection)]
    assert len(lines) == 4
    tree = lines[-1]
    ends = {round(float(segment[0, 0]), 6) for segment in tree.get_segments() if np.ptp(segment[:, 0]) == 0.0}
    for panel in make_panels(result, 1000, 12):
        for column in np.unique(panel.columns):
            middle = panel.cells_at + 0.5 + np.flatnonzero(panel.columns == column).mean()
            assert round(float(middle), 6) in ends
    shades = {to_hex(colour).upper() for colour in tree.get_colors()}
    assert shades == {PALETTE[0], PALETTE[1], PALETTE[2], "#8A8A8A"}


def test_yes_no_tables_have_two_colours():
    table_views = planted_views()
    yes_no = dataclasses.replace(
        table_views.description.sample,
        values=(np.nan_to_num(table_views.description.sample.values) > 0).astype(float),
        kinds=("bool",) * 10,
        categories={},
    )
    described = dataclasses.replace(table_views.description, sample=yes_no)
    ax = plot.views(dataclasses.replace(table_views, description=described))
    assert all(image.get_clim() == (0.0, 1.0) for image in ax.images)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("picture", [plot.views, plot.view_map])
def test_words_do_not_collide(result, picture, size):
    ax = axes_of_size(size)
    picture(result, ax, title="thirty animals")
    assert collisions(ax) == []


def test_of_many_views_and_columns_the_largest_are_shown():
    many = planted_views((20,) * 15, ((8, 6),) * 15)
    ax = plot.views(many, max_views=5)
    assert len(ax.images) == 5
    assert ax.get_xlabel().startswith("5 of 15 views, ")
    np.testing.assert_array_equal(sum(panel.columns.size for panel in make_panels(many, 9, 5)), 65)


def test_views_without_a_column_tree_are_drawn(result):
    ax = plot.views(without_tree_of_columns(result))
    assert len(ax.images) == 3


def test_the_map_of_views_is_drawn_as_it_is(result):
    ax = plot.view_map(result)
    np.testing.assert_allclose(ax.images[0].get_array(), same_view_sample(result, 200).probability)
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        result.feature_names[j] for j in result.column_tree.leaf_order
    ]


@pytest.mark.parametrize("picture", [plot.views, plot.view_map])
def test_results_without_views_are_refused(picture):
    with pytest.raises(InvalidInputError, match=r"shows views, and Planted does not divide the columns\. Fit BHCC"):
        picture(planted_result())


def test_wrong_use_is_explained(result):
    with pytest.raises(InvalidSettingError, match="max_views is at least 1, got 0"):
        plot.views(result, max_views=0)
    with pytest.raises(InvalidSettingError, match="max_columns is at least 1, got 0"):
        plot.view_map(result, max_columns=0)
    with pytest.raises(InvalidInputError, match="view_map needs draws or a column tree with log_merge_odds"):
        plot.view_map(without_tree_of_columns(result))
    with pytest.raises(InvalidInputError, match="views shows the rows of the table"):
        plot.views(dataclasses.replace(result, description=None))
