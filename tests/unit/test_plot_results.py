"""Pictures of results: what is drawn equals plain numpy, words can be read at two sizes, wrong use is explained."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from scipy import stats

from bayesgrove import plot
from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.inference.overview import count_distribution, pair_sample, principal_plane
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.result import View
from bayesgrove.plot.chains import rank_bars, rank_unit
from bayesgrove.plot.colours import MARKERS, PALETTE, cluster_colours, cluster_markers
from bayesgrove.plot.tables import FARTHEST
from bayesgrove.trees import Tree
from reference.pictures import SIZES, axes_of_size, collisions
from reference.planted_views import planted_view_draws, planted_views
from reference.results import blobs, grouped_tree, make_result, noisy_posterior, table_of

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.text import Text

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def greedy():
    return make_result(*blobs(0))


@pytest.fixture(scope="module")
def sampled():
    table, labels = blobs(0)
    posterior = noisy_posterior(0, labels)
    return make_result(table, labels, posterior=posterior, diagnostics=posterior.diagnostics(), model="NRMMixture")


def yes_no(seed=0, n=24, n_columns=9):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    rates = rng.beta(0.4, 0.4, (3, n_columns))
    values = (rng.random((n, n_columns)) < rates[labels]).astype(float)
    values[0, 0], values[5, 1] = np.nan, np.nan
    values[1, :] = 1.0 - values[2, :]  # no column is the same everywhere
    values[1:4, 0] = 0.0, 1.0, 0.0
    return table_of(values, [f"has feature {j}" for j in range(n_columns)]), labels


def many(n_clusters=24, n=96, names=None):
    rng = np.random.default_rng(1)
    labels = np.arange(n) % n_clusters
    table = table_of(rng.normal(size=(n, 30)) + labels[:, np.newaxis], [f"a long column name {j}" for j in range(30)])
    tree = grouped_tree(labels, names=names)
    return make_result(table, labels, tree, posterior=noisy_posterior(2, labels, n_chains=9))


PICTURES = sorted(
    set(plot.__all__)
    - {"views", "view_map", "level_tree", "level_scores", "score_traces", "sensitivity"}
    - {"labelled_tree", "typical_trees", "class_table", "emissions", "prior_counts"}
)
"""Of all results; those of views, of hierarchies of fixed depth and of models of trees have files of their own.

A prior is no result.
"""
RESULTS = {
    "few": lambda: make_result(*blobs(0), posterior=noisy_posterior(0, blobs(0)[1])),
    "yes/no": lambda: make_result(*yes_no(), posterior=noisy_posterior(0, yes_no()[1])),
    "many": many,
    "named": lambda: many(8, 32, tuple(f"a rather long row name {i}" for i in range(32))),
}


@cache
def result_of(kind):
    return RESULTS[kind]()


def draw(name, result, ax=None, **options):
    return getattr(plot, name)(result, ax, **options)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", PICTURES)
def test_words_can_be_read_at_two_sizes(name, kind, size):
    ax = axes_of_size(size)
    title = "What this picture is about"
    assert draw(name, result_of(kind), ax, title=title) is ax
    assert ax.get_title().replace("\n", " ") == title
    found = collisions(ax)
    if name == "dendrogram":  # probabilities stand on branches; their distance is tested with the trees
        found = [pair for pair in found if not any(words.startswith((".", ">", "<")) for words in pair)]
    assert found == []
    assert ax.get_xlabel()
    assert ax.get_ylabel() or name == "tree_with_members"


def contrast(colour, other):
    """As WCAG has it: 1 for equal colours, 21 for black and white."""
    lights = []
    for rgb in (to_rgb(colour), to_rgb(other)):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("name", PICTURES)
def test_words_stand_out_from_the_paper(name, style):
    with pyplot.style.context(style):
        ax = draw(name, result_of("few"))
        words = [text for text in ax.findobj(Text) if text.get_text() and text.get_visible()]
        assert words
        for text in words:
            assert contrast(text.get_color(), ax.get_facecolor()) >= 4.5, text


@pytest.mark.parametrize("name", PICTURES)
def test_an_estimator_will_do_and_new_figures_are_made(name, sampled):
    ax = draw(name, SimpleNamespace(result_=sampled))
    assert len(pyplot.get_fignums()) == 1
    assert ax.figure.get_layout_engine() is not None
    ax.figure.canvas.draw()


def has_marks(ax):
    """Whether anything but the axes themselves was drawn."""
    return any((ax.collections, ax.lines, ax.patches, ax.images, ax.texts))


@pytest.mark.parametrize("name", PICTURES)
def test_one_and_two_rows_can_be_drawn(name):
    one = make_result(table_of([[1.5, np.nan]]), [0], posterior=Posterior(np.zeros((2, 8, 1), int)))
    two = make_result(table_of([[1.0], [2.0]]), [0, 1], posterior=Posterior(np.zeros((1, 8, 2), int)))
    options = {"scalar": "n_clusters"} if name in ("trace", "ranks") else {}
    for result in (one, two):
        ax = draw(name, result, **options)
        ax.figure.canvas.draw()
        assert has_marks(ax)


@pytest.mark.parametrize("name", [name for name in PICTURES if name not in ("trace", "ranks", "cluster_counts")])
def test_constant_and_empty_columns_can_be_drawn(name):
    values = np.column_stack([np.full(12, 3.0), np.full(12, np.nan), np.arange(12.0)])
    ax = draw(name, make_result(table_of(values), np.arange(12) % 2))
    ax.figure.canvas.draw()
    assert has_marks(ax)


HOSTILE = [
    "$x^2$",
    "a" * 10_000,
    "</script>",
    "two\nlines\tand tab",
    "\u202eright to left",
    "\x00\x07",
    r"\frac{$",
    "%s",
]


@pytest.mark.parametrize("name", ["dendrogram", "icicle", "similarity", "data_heatmap", "profile", "tree_with_members"])
def test_hostile_names_are_harmless(name):
    table, labels = blobs(0, n=8, n_columns=8)
    table = replace(table, names=tuple(HOSTILE))
    view = View(HOSTILE[1], np.arange(4), labels, grouped_tree(labels))
    result = make_result(table, labels, grouped_tree(labels, names=tuple(HOSTILE)), views=[view])
    for size in SIZES:
        ax = draw(name, result, axes_of_size(size), title=HOSTILE[1])
        ax.figure.canvas.draw()
        shown = [text.get_text() for text in ax.findobj(matplotlib.text.Text)]
        assert all(len(line) < 200 and "\x00" not in line for words in shown for line in words.split("\n"))
        assert not any("$" in words.replace(r"\$", "") for words in shown)


# Similarity


def test_similarity_draws_the_pairs_and_the_clusters_beside_them(sampled):
    ax = plot.similarity(sampled)
    pairs = pair_sample(sampled, 600)
    np.testing.assert_array_equal(ax.images[0].get_array(), pairs.similarity)
    assert ax.images[0].get_clim() == (0.0, 1.0)
    colours = cluster_colours(sampled.tree, sampled.labels)
    strip = ax.collections[0]
    spans = [sorted(path.vertices[:, 1])[:: len(path.vertices) - 1] for path in strip.get_paths()]
    assert sum(high - low for low, high in spans) == 40
    for (low, high), shade in zip(spans, strip.get_facecolor(), strict=True):
        rows = pairs.items[int(low + 0.5) : int(high + 0.5)]
        assert {colours[label] for label in sampled.labels[rows]} == {to_hex(shade).upper()}
    assert ax.figure.axes[1].get_ylabel() == "share of draws together"
    assert ax.get_xlabel() == "rows in the order of the consensus tree"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [str(item) for item in pairs.items]


def test_similarity_of_many_rows_shows_some_and_numbers_clusters(greedy):
    ax = plot.similarity(greedy, max_items=10)
    assert ax.images[0].get_array().shape == (10, 10)
    assert ax.get_ylabel() == "10 of 40 rows"
    assert ax.figure.axes[1].get_ylabel() == "probability of one cluster"
    result = result_of("many")
    ax = plot.similarity(result)
    items = pair_sample(result, 600).items
    for tick in ax.yaxis.get_major_ticks():
        assert tick.label1.get_text() == str(result.labels[items[round(tick.get_loc())]])


# Chains


def test_trace_draws_every_chain(sampled):
    ax = plot.trace(sampled)
    values = sampled.posterior.scalars["log_joint"]
    assert [line.get_ydata().tolist() for line in ax.lines] == values.tolist()
    assert ax.lines[0].get_xdata().tolist() == list(range(1, 61))
    assert [line.get_color() for line in ax.lines] == list(PALETTE[:3])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chain 0", "chain 1", "chain 2"]
    assert ax.get_title().startswith(f"r_hat = {sampled.diagnostics['log_joint']['r_hat']:.3f}")
    assert ax.get_ylabel() == "log joint density (nats)"


def test_trace_of_numbers_of_clusters_is_computed_from_labels(sampled):
    ax = plot.trace(sampled, scalar="n_clusters")
    expected = [[np.unique(draw).size for draw in chain] for chain in sampled.posterior.labels]
    assert [line.get_ydata().tolist() for line in ax.lines] == expected
    assert all(float(tick.get_loc()).is_integer() for tick in ax.yaxis.get_major_ticks())


def test_words_say_what_the_draws_divide(sampled):
    views = planted_views(posterior=planted_view_draws())
    trees = replace(sampled, noun="tree")
    assert plot.trace(sampled, scalar="largest_share").get_ylabel() == "share of rows in the largest cluster"
    assert plot.trace(trees, scalar="n_singletons").get_ylabel() == "number of clusters of one tree"
    assert plot.trace(views, scalar="largest_share").get_ylabel() == "share of columns in the largest view"
    assert plot.ranks(views, scalar="entropy").get_xlabel() == "rank of entropy of view sizes (% of all draws)"


@pytest.mark.parametrize("draw", [plot.similarity, plot.profile, plot.data_heatmap, plot.embedding])
def test_pictures_of_trees_do_not_speak_of_rows(draw, sampled):
    ax = draw(replace(sampled, noun="tree"))
    words = " ".join(text.get_text() for text in ax.figure.findobj(Text))
    assert "rows" not in words
    assert "column" not in words
    assert "trees" in words


def test_titles_say_when_chains_disagree_or_nothing_varies(sampled):
    apart = np.arange(3.0)[:, np.newaxis] * 100.0 + np.random.default_rng(0).normal(size=(3, 60))
    scalars = {"apart": apart, "still": np.ones((3, 60)), "$odd$": apart}
    result = replace(sampled, diagnostics=None, posterior=replace(sampled.posterior, scalars=scalars))
    assert plot.trace(result, scalar="apart").get_title().endswith(", above 1.01")
    assert plot.ranks(result, scalar="still").get_title() == "no r_hat: constant"
    assert plot.trace(result, scalar="$odd$").get_ylabel() == r"\$odd\$"


def test_many_chains_differ_by_line_too(sampled):
    result = replace(sampled, diagnostics=None, posterior=noisy_posterior(1, sampled.labels, n_chains=10))
    looks = [(line.get_color(), line.get_linestyle()) for line in plot.trace(result).lines]
    assert len(set(looks)) == 10


def test_rank_bars_are_the_counts_around_their_mean(sampled):
    values = sampled.posterior.scalars["log_joint"]
    bars = rank_bars(values)
    ax = plot.ranks(sampled)
    unit = rank_unit(bars)
    for chain in range(3):
        ranks = stats.rankdata(values)[chain * 60 : (chain + 1) * 60]
        counts = np.histogram(ranks, bins=np.arange(0.5, 181.0, 30.0))[0]
        drawn = [patch.get_height() for patch in ax.containers[chain]]
        np.testing.assert_allclose(drawn, -(counts - 10.0) / unit, atol=1e-12)
        assert {patch.get_y() for patch in ax.containers[chain]} == {float(chain)}
        assert {to_hex(patch.get_facecolor()).upper() for patch in ax.containers[chain]} == {PALETTE[chain]}
    law = stats.hypergeom(180, 30, 60)
    assert set(zip(bars.low, bars.high, strict=True)) == {(law.ppf(0.025), law.ppf(0.975))}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["chain 0", "chain 1", "chain 2"]


def test_rank_band_holds_what_it_says():
    # 1,000 runs of 6 x 4 bars: 95 % or a little more, as counts are whole numbers; bars of a run add up to 0.
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(1000):
        bars = rank_bars(rng.normal(size=(4, 60)))
        inside.append(np.mean((bars.counts >= bars.low) & (bars.counts <= bars.high)))
    assert 0.95 < np.mean(inside) < 0.99


def test_ties_shift_what_is_expected():
    bars = rank_bars(np.tile([1.0, 2.0, 2.0, 3.0], (2, 10)))
    assert (bars.counts == bars.expected).all()
    assert bars.expected.sum() == 40


def test_halves_of_a_single_chain_are_compared(sampled):
    result = replace(sampled, diagnostics=None, posterior=sampled.posterior.subset(chains=[0]))
    ax = plot.ranks(result)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["first half", "second half"]


# Number of clusters


@pytest.mark.parametrize("which", ["greedy", "sampled"])
def test_cluster_counts_draws_the_law(which, request):
    result = request.getfixturevalue(which)
    law = count_distribution(result)
    ax = plot.cluster_counts(result)
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    expected = {k: 100 * p for k, p in zip(law.counts.tolist(), law.probability, strict=True) if p >= 5e-4}
    assert {k: heights[k] for k in expected} == pytest.approx(expected)
    blue = [round(bar.get_x() + 0.41) for bar in ax.patches if to_hex(bar.get_facecolor()).upper() == PALETTE[0]]
    assert blue == [3]
    low, high = law.interval(0.9)
    assert sorted(set(ax.lines[0].get_xdata())) == pytest.approx([low - 0.41, high + 0.41])
    assert ax.texts[0].get_text() == f"90 %: {low}" + (f" to {high}" if high > low else "")
    assert ax.get_ylabel() == ("share of draws (%)" if law.is_sampled else "probability (%)")
    assert ax.get_title() == "fit: 3 clusters (blue)"


# Profiles


def test_profile_is_in_standard_deviations_from_the_mean(greedy):
    ax = plot.profile(greedy)
    table, labels = blobs(0)
    mean, sd = table.values.mean(axis=0), table.values.std(axis=0)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert sorted(names) == sorted(table.names)
    order = [table.names.index(name) for name in names]
    dots = {line.get_color(): line for line in ax.lines if line.get_marker() in MARKERS}
    colours = cluster_colours(greedy.tree, labels)
    for k in range(3):
        own = table.values[labels == k]
        expected = (own.mean(axis=0) - mean) / sd
        np.testing.assert_allclose(dots[colours[k]].get_xdata(), expected[order], atol=1e-9)
        half = stats.t(len(own) - 1).ppf(0.975) * stats.sem(own) / sd
        ends = np.array([segment[:, 0] for segment in ax.collections[k].get_segments()])
        np.testing.assert_allclose(ends, np.column_stack([expected - half, expected + half])[order], atol=1e-9)
    bits = greedy.description.clusters.telling.sum(axis=0)
    assert order == np.argsort(-bits, kind="stable").tolist()
    assert "in standard deviations" in ax.get_xlabel()


def test_profile_of_rates_is_in_percent():
    table, labels = yes_no()
    ax = plot.profile(make_result(table, labels), clusters=[2, 0], max_features=4)
    assert ax.get_xlabel() == "rate (%); grey: all rows"
    assert ax.get_ylabel() == "4 most telling of 9 features"
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    columns = [table.names.index(name) for name in names]
    dots = [line for line in ax.lines if line.get_marker() in MARKERS]
    for line, label in zip(dots, (2, 0), strict=True):
        expected = 100 * np.nanmean(table.values[labels == label][:, columns], axis=0)
        np.testing.assert_allclose(line.get_xdata(), expected, atol=1e-9)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 (8)", "0 (8)"]


def test_profile_shows_the_largest_clusters_and_is_not_squashed_by_tiny_ones():
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(7), 6), [7, 7]])
    values = rng.normal(size=(44, 3))
    values[-2:, 0] = -40.0, 40.0
    result = make_result(table_of(values), labels)
    assert len(plot.profile(result).get_legend().get_texts()) == 6
    ax = plot.profile(result, clusters=[0, 7])
    assert max(np.abs(ax.get_xlim())) < 4.0
    assert max(np.abs(segment[:, 0]).max() for segment in ax.collections[1].get_segments()) > 10.0


def test_small_profiles_show_fewer_features():
    result = result_of("many")
    small, large = (len(plot.profile(result, axes_of_size(size)).get_yticks()) for size in ("small", "large"))
    assert 3 <= small < large == 12


# The table


def drawn_cells(ax):
    return np.ma.hstack([image.get_array() for image in ax.images])


def test_heat_map_has_standardised_cells_in_the_order_of_the_tree(greedy):
    ax = plot.data_heatmap(greedy)
    values = blobs(0)[0].values
    expected = ((values - values.mean(axis=0)) / values.std(axis=0))[greedy.tree.leaf_order]
    np.testing.assert_allclose(drawn_cells(ax), expected, atol=1e-9)
    assert ax.images[0].get_clim() == (-FARTHEST, FARTHEST)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(blobs(0)[0].names)
    assert ax.figure.axes[1].get_ylabel() == "standard deviations from the mean"


def test_heat_map_of_yes_and_no_with_missing_cells_and_views():
    table, labels = yes_no()
    tree = grouped_tree(labels)
    views = [View("limbs", np.array([6, 1, 2]), labels, tree), View("habits", np.array([0, 8]), labels, tree)]
    result = make_result(table, labels, tree, views=views)
    ax = plot.data_heatmap(result)
    columns = [1, 2, 6, 0, 8, 3, 4, 5, 7]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [table.names[j] for j in columns]
    cells = drawn_cells(ax)
    expected = table.values[np.ix_(tree.leaf_order, columns)]
    np.testing.assert_array_equal(cells.mask, np.isnan(expected))
    np.testing.assert_array_equal(cells.filled(0.0), np.nan_to_num(expected))
    assert [image.get_array().shape[1] for image in ax.images] == [3, 2, 4]
    extents = [image.get_extent()[:2] for image in ax.images]
    assert all(left[1] < right[0] for left, right in pairwise(extents))
    assert [text.get_text() for text in ax.texts] == ["limbs", "habits", "other columns"]
    bar = ax.figure.axes[1]
    assert [tick.get_text() for tick in bar.get_yticklabels()] == ["no", "yes"]
    assert bar.get_ylabel() == "cell; yellow: missing"
    shown = ax.images[0].cmap(ax.images[0].norm(np.ma.masked_invalid([np.nan, 0.0, 1.0])))
    assert len({tuple(shade) for shade in shown}) == 3
    assert tuple(shown[0]) == to_rgba("#F0C000")


def test_heat_map_of_an_empty_column_is_missing_and_large_tables_are_cut():
    values = np.column_stack([np.arange(30.0), np.full(30, np.nan), np.arange(30.0) % 7])
    result = make_result(table_of(values), np.arange(30) % 2)
    assert drawn_cells(plot.data_heatmap(result)).mask[:, 1].all()
    ax = plot.data_heatmap(result, max_rows=10, max_columns=2)
    assert drawn_cells(ax).shape == (10, 2)
    assert ax.get_ylabel() == "10 of 30 rows"
    assert ax.get_xlabel() == "2 most telling of 3 columns"


def test_categories_are_yes_no_columns():
    codes = np.array([0.0, 1.0, 2.0, 1.0, np.nan, 0.0])
    table = table_of(codes[:, np.newaxis], ("k",), ("category",), {0: ("a", "b", "c")})
    result = make_result(table, [0, 0, 0, 1, 1, 1])
    ax = plot.data_heatmap(result)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["k = a", "k = b", "k = c"]
    in_order = codes[result.tree.leaf_order]
    expected = np.ma.masked_invalid(in_order)[:, np.newaxis] == np.arange(3)
    np.testing.assert_array_equal(drawn_cells(ax).filled(-1), expected.astype(float).filled(-1))


# The plane


def test_embedding_draws_the_plane_in_the_colours_of_clusters(greedy):
    ax = plot.embedding(greedy)
    plane = principal_plane(greedy.description)
    colours = cluster_colours(greedy.tree, greedy.labels)
    markers = cluster_markers(greedy.tree, greedy.labels)
    sizes = np.bincount(greedy.labels)
    by_colour = {to_hex(points.get_facecolor()[0]).upper(): points for points in ax.collections}
    for label in range(3):
        own = plane.xy[greedy.labels[plane.items] == label]
        np.testing.assert_allclose(by_colour[colours[label]].get_offsets(), own)
    assert len(set(markers)) == 3
    shapes = [points.get_paths()[0].vertices.tolist() for points in ax.collections]
    assert shapes[0] != shapes[1] != shapes[2]
    expected = [f"{label} ({sizes[label]})" for label in np.argsort(-sizes, kind="stable")]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == expected
    assert ax.get_xlabel() == f"first component ({100 * plane.share[0]:.0f} % of variance)"
    assert ax.get_ylabel() == f"second component ({100 * plane.share[1]:.0f} % of variance)"


def test_legends_of_many_clusters_count_the_rest():
    texts = [
        text.get_text() for text in plot.embedding(result_of("many"), axes_of_size("small")).get_legend().get_texts()
    ]
    assert texts[-1] == f"+ {24 - len(texts) + 1} more"


def test_colours_and_markers_differ_together():
    tree = grouped_tree(np.arange(56))
    looks = zip(cluster_colours(tree, np.arange(56)), cluster_markers(tree, np.arange(56)), strict=True)
    assert len(set(looks)) == 56


# Trees


@pytest.mark.parametrize("name", ["dendrogram", "icicle"])
def test_trees_of_results_wear_the_labels_of_the_fit(name):
    tree = grouped_tree([0, 0, 0, 1, 1, 1, 2, 2])
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1])  # another cut than that at probability 1/2
    result = make_result(table_of(np.zeros((8, 1))), labels, tree)

    def shades(subject):
        found = draw(name, subject).collections[0]
        colours = found.get_colors() if name == "dendrogram" else found.get_facecolors()
        return {to_hex(shade).upper() for shade in colours}

    assert len(shades(tree) & set(PALETTE)) == 3
    assert len(shades(result) & set(PALETTE)) == 2


# Errors


@pytest.mark.parametrize("name", ["trace", "ranks"])
def test_chains_need_draws(name, greedy):
    with pytest.raises(InvalidInputError, match=f"{name} shows draws of a chain, and BHC .* Fit a sampled model"):
        draw(name, greedy)


@pytest.mark.parametrize("name", ["embedding", "profile", "data_heatmap"])
def test_rows_need_a_description(name, greedy):
    with pytest.raises(InvalidInputError, match=f"{name} shows the rows .* no description .* Fit the model again"):
        draw(name, replace(greedy, description=None))


@pytest.mark.parametrize("name", ["similarity", "cluster_counts"])
def test_probabilities_need_odds_or_draws(name, greedy):
    tree = Tree.from_merges([[0, 1]], heights=[1.0])
    with pytest.raises(InvalidInputError, match=f"{name} needs draws or a tree with log_merge_odds"):
        draw(name, make_result(table_of([[1.0], [2.0]]), [0, 1], tree))


@pytest.mark.parametrize("name", PICTURES)
def test_other_things_than_results_are_refused(name):
    with pytest.raises(InvalidInputError, match="drawn of a Result or a fitted estimator, got list"):
        draw(name, [1, 2])
    unfitted = SimpleNamespace(fit=None)
    with pytest.raises(InvalidInputError, match=r"needs a fitted model, got a SimpleNamespace before fit\(\)"):
        draw(name, unfitted)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("trace", {"scalar": "speed"}, "scalar is one of .*log_joint.*n_clusters.* got 'speed'"),
        ("similarity", {"max_items": 0}, "max_items is at least 1, got 0"),
        ("profile", {"max_features": 0}, "max_features is at least 1, got 0"),
        ("profile", {"clusters": [0, 3]}, r"clusters are 0 .. 2, got \[0, 3\]"),
        ("profile", {"clusters": ["a"]}, r"clusters is a sequence of labels, got \['a'\]"),
        ("profile", {"clusters": []}, r"clusters is a sequence of labels, got \[\]"),
        ("data_heatmap", {"max_rows": 0}, "max_rows is at least 1, got 0"),
        ("data_heatmap", {"max_columns": -1}, "max_columns is at least 1, got -1"),
        ("tree_with_members", {"max_members": 0}, "max_members is at least 1, got 0"),
        ("tree_with_members", {"max_clusters": 0}, "max_clusters is at least 1, got 0"),
        ("tree_with_members", {"leaf_labels": ["a"]}, "leaf_labels need one entry per item, got 1 for 40"),
        ("cluster_counts", {"level": 90}, "level lies between 0 and 1, got 90"),
    ],
)
def test_settings_out_of_range_are_named(name, options, message, sampled):
    with pytest.raises(InvalidSettingError, match=message):
        draw(name, sampled, **options)


def test_ranks_need_two_draws(sampled):
    short = replace(sampled, diagnostics=None, posterior=sampled.posterior.subset(draws=[0]))
    with pytest.raises(InvalidInputError, match="at least two draws of each chain, got 1"):
        plot.ranks(short)
