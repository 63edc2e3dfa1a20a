"""Maps of pairs and cells and the plane: what they say agrees with Python, and selections reach everywhere."""

import numpy as np
import pytest

from bayesgrove.inference.overview import pair_sample, principal_plane
from bayesgrove.plot.colours import PALETTE
from bayesgrove.report.words import chance
from browser.pointing import (
    cell_centre,
    click_cell,
    drag_cells,
    go_narrow_and_dark,
    hover_cell,
    in_window,
    layout_of,
    overflows,
    pixel,
    tip_lines,
)
from browser.results import LEVELS, planted_result

pytestmark = pytest.mark.browser

PAIRS, TABLE, PLANE = "#pairs canvas", "#rows .table-map canvas", "#rows .plane-map canvas"


def words(page, part):
    return page.locator(f"{part} .selected-words").inner_text()


def said(page):
    return page.locator("#said").inner_text()


def expected_colours(result, items):
    """Colour of each item: clusters wear the palette's colours from the left of the tree."""
    in_order = result.labels[result.tree.leaf_order]
    first = np.unique(in_order, return_index=True)[1]
    rank = np.argsort(np.argsort(first))
    return [PALETTE[rank[result.labels[item]] % len(PALETTE)].upper() for item in items]


# Pairs


@pytest.mark.parametrize("chains", [None, (2, 60)])
def test_a_pair_is_named_with_its_probability(open_page, chains):
    result = planted_result(chains=chains)
    pairs = pair_sample(result, 600)
    page = open_page(result)
    for i, j in [(0, 0), (0, 1), (2, 25), (25, 2), (27, 27), (11, 13)]:
        shown = np.rint(255 * pairs.similarity[i, j]) / 255
        lines = hover_cell(page, PAIRS, i, j)
        assert lines[0].split()[-1] == chance(shown)
        assert lines[1:] == [f"row {pairs.items[i]}", f"row {pairs.items[j]}"]
    page.mouse.move(1, 1)
    assert tip_lines(page) == []


def test_the_legend_says_what_a_probability_is_of(open_page):
    legend = "#pairs .scale"
    assert "share of draws" in open_page(planted_result(chains=(2, 20))).locator(legend).inner_text()
    of_tree = open_page(planted_result()).locator(legend).inner_text()
    assert "probability under the partitions this tree allows" in of_tree


def test_a_sample_of_rows_says_so(open_page):
    page = open_page(planted_result((400, 300)))
    assert layout_of(page, PAIRS)["rows"] == 600
    assert "600 of 700 rows are shown, evenly spread" in page.locator("#pairs .note").first.inner_text()
    assert "of 28" not in open_page(planted_result()).locator("#pairs .note").first.inner_text()


@pytest.mark.parametrize("canvas", [PAIRS, TABLE])
def test_strips_wear_the_colours_of_clusters(open_page, canvas):
    result = planted_result(chains=(2, 60))
    items = pair_sample(result, 600).items if canvas == PAIRS else result.description.rows
    page = open_page(result)
    beside = [pixel(page, canvas, *cell_centre(page, canvas, row, -1)) for row in range(items.size)]
    assert beside == expected_colours(result, items)
    if canvas == PAIRS:
        above = [pixel(page, canvas, *cell_centre(page, canvas, -1, column)) for column in range(items.size)]
        assert above == beside


@pytest.mark.parametrize("canvas", [PAIRS, TABLE])
def test_strips_follow_the_cut(open_page, canvas):
    result = planted_result()
    page = open_page(result)
    page.locator("#cut").focus()
    for key, n_clusters in (("Home", 1), ("End", 28)):
        page.keyboard.press(key)
        page.wait_for_function(
            "n => document.querySelectorAll('#rows .plane-legend button').length >= Math.min(n, 16)", arg=n_clusters
        )
        beside = [pixel(page, canvas, *cell_centre(page, canvas, row, -1)) for row in range(28)]
        ranks = np.arange(28) % n_clusters
        assert beside == [PALETTE[rank % len(PALETTE)].upper() for rank in ranks]


def test_cells_are_shaded_by_their_probability(open_page):
    result = planted_result()
    page = open_page(result)
    within, between = (pixel(page, PAIRS, *cell_centre(page, PAIRS, 0, column)) for column in (1, 27))
    assert within != between
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("getComputedStyle(document.documentElement).getPropertyValue('--is-dark').trim() === '1'")
    assert pixel(page, PAIRS, *cell_centre(page, PAIRS, 0, 27)) != between


def test_dragging_over_pairs_selects_the_rows_of_both_sides(open_page):
    page = open_page(planted_result())
    drag_cells(page, PAIRS, (2, 20), (4, 21))
    assert words(page, "#pairs") == "Selected: 5 rows (5 of the 28 rows shown here)."
    assert words(page, "#rows") == "Selected: 5 rows (5 of the 28 rows shown here)."


def test_a_selection_dims_the_rest_here_and_in_the_table(open_page):
    result = planted_result(missing=0.0)
    page = open_page(result)
    spot = {canvas: cell_centre(page, canvas, 20, 3) for canvas in (PAIRS, TABLE)}
    before = {canvas: pixel(page, canvas, *at) for canvas, at in spot.items()}
    inside = cell_centre(page, TABLE, 1, 0)
    kept = pixel(page, TABLE, *inside)
    drag_cells(page, PAIRS, (0, 0), (3, 3))
    assert all(pixel(page, canvas, *at) != before[canvas] for canvas, at in spot.items())
    assert pixel(page, TABLE, *inside) == kept
    page.locator("#pairs .clear").click()
    assert {canvas: pixel(page, canvas, *at) for canvas, at in spot.items()} == before


@pytest.mark.parametrize("canvas", [PAIRS, TABLE])
def test_a_strip_selects_its_cluster(open_page, canvas):
    result = planted_result()
    page = open_page(result)
    label = result.labels[result.tree.leaf_order[0]]
    size = np.bincount(result.labels)[label]
    click_cell(page, canvas, 0, -1)
    assert words(page, "#rows") == f"Selected: cluster {label}, {size} rows ({size} of the 28 rows shown here)."


def test_pairs_are_read_and_selected_with_keys(open_page):
    result = planted_result()
    items = pair_sample(result, 600).items
    page = open_page(result)
    page.locator(PAIRS).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert f"row {items[1]}, row {items[1]}" in said(page)
    page.keyboard.press("Enter")
    assert words(page, "#pairs").startswith(f"Selected: row {items[1]} (1 of")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    assert words(page, "#pairs").startswith("Selected: 3 rows (3 of")
    assert said(page) == "Selected: 3 rows"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert words(page, "#pairs") == "Nothing selected."


def test_zooming_shows_the_selected_rows_and_all_again(open_page):
    result = planted_result(chains=(2, 60))
    pairs = pair_sample(result, 600)
    page = open_page(result)
    assert page.locator("#pairs .zoom-in").is_disabled()
    drag_cells(page, PAIRS, (4, 8), (5, 10))
    page.locator("#pairs .zoom-in").click()
    assert layout_of(page, PAIRS)["rows"] == 5
    lines = hover_cell(page, PAIRS, 1, 4)
    assert lines[1:] == [f"row {pairs.items[5]}", f"row {pairs.items[10]}"]
    assert lines[0].split()[-1] == chance(np.rint(255 * pairs.similarity[5, 10]) / 255)
    page.locator("#pairs .zoom-out").click()
    assert layout_of(page, PAIRS)["rows"] == 28


# Cells


def test_a_cell_is_named_with_its_value(open_page):
    result = planted_result()
    cells = result.description.sample.values
    page = open_page(result)
    kinds = set()
    for i in range(0, 28, 2):
        for j, name in enumerate(result.description.sample.names):
            column, text = hover_cell(page, TABLE, i, j)[0].split(": ")
            assert column == name
            kinds.add(check_cell(text, cells[i, j], cells[:, j], j))
    assert kinds == {"missing", "category", "number", "end"}
    row = result.description.rows[4]
    assert hover_cell(page, TABLE, 4, -1)[0] == f"row {row}"
    assert hover_cell(page, TABLE, 4, -1)[1].startswith(f"cluster {result.labels[row]},")


def check_cell(text, value, column, j):
    """Compare what is said of a cell with its value; gives the kind of cell it was."""
    if np.isnan(value):
        assert text == "missing"
        return "missing"
    if j == 3:
        assert text == LEVELS[int(value)]
        return "category"
    said_value = float(text.split()[0])
    if "or" in text:
        assert value >= said_value - 0.01 if "more" in text else value <= said_value + 0.01
        return "end"
    assert said_value == pytest.approx(
        value, abs=0.006 * np.nanmax(np.abs(column)) + np.ptp(column[~np.isnan(column)]) / 500
    )
    return "number"


def test_missing_cells_are_hatched_and_explained_where_there_are_any(open_page):
    legend = "#rows .table-view .scale"
    assert "missing" in open_page(planted_result()).locator(legend).inner_text()
    assert "missing" not in open_page(planted_result(missing=0.0)).locator(legend).inner_text()
    page = open_page(planted_result())
    cells = planted_result().description.sample.values
    i, j = np.argwhere(np.isnan(cells))[0]
    x, y = cell_centre(page, TABLE, int(i), int(j))
    colours = {pixel(page, TABLE, x + dx, y) for dx in range(-6, 7)}
    assert "#000000" in colours  # clear canvas between lines
    assert len(colours) > 1


def test_dragging_over_rows_selects_them_everywhere(open_page):
    page = open_page(planted_result())
    drag_cells(page, TABLE, (3, 1), (9, 2))
    assert words(page, "#rows") == words(page, "#pairs") == "Selected: 7 rows (7 of the 28 rows shown here)."
    click_cell(page, TABLE, 5, 1)
    row = planted_result().description.rows[5]
    assert words(page, "#rows") == f"Selected: row {row} (1 of the 28 rows shown here)."


def test_rows_are_read_and_selected_with_keys(open_page):
    result = planted_result()
    page = open_page(result)
    page.locator(TABLE).focus()
    for key in ("ArrowDown", "ArrowDown", "End", "Shift+ArrowDown"):
        page.keyboard.press(key)
    assert said(page).startswith("colour: ")
    assert f"row {result.description.rows[2]}" in said(page)
    page.keyboard.press("Enter")
    assert words(page, "#rows").startswith("Selected: 2 rows (2 of")


# Plane


def point_places(page, result):
    """Where the points are on the canvas: within its margins, with a twentieth of air at both ends."""
    width, height = (
        float(page.locator(PLANE).evaluate(f"canvas => parseFloat(canvas.style.{side})"))
        for side in ("width", "height")
    )
    xy = principal_plane(result.description).xy
    low, high = xy.min(axis=0), xy.max(axis=0)
    share = (xy - low + 0.05 * (high - low)) / (1.1 * (high - low))
    return np.column_stack([56 + share[:, 0] * (width - 66), height - 42 - share[:, 1] * (height - 52)])


def test_points_are_where_python_has_them(open_page):
    result = planted_result()
    page = open_page(result)
    places = point_places(page, result)
    alone = [i for i in range(28) if np.partition(np.hypot(*(places - places[i]).T), 1)[1] > 6]
    assert len(alone) > 10
    for i in alone:
        page.mouse.move(*in_window(page, PLANE, *places[i]))
        item = result.description.rows[i]
        assert tip_lines(page)[:2] == [
            f"row {item}",
            f"cluster {result.labels[item]}, {np.bincount(result.labels)[result.labels[item]]} rows",
        ]


def test_points_wear_the_colours_of_their_clusters(open_page):
    result = planted_result()
    page = open_page(result)
    places = point_places(page, result)
    expected = expected_colours(result, result.description.rows)
    for i in [i for i in range(28) if np.partition(np.hypot(*(places - places[i]).T), 1)[1] > 10]:
        shown = pixel(page, PLANE, *places[i])
        nearest = min(PALETTE, key=lambda colour: colour_distance(colour, shown))
        assert nearest.upper() == expected[i]


def colour_distance(one, other):
    parts = [np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) for colour in (one, other)]
    return float(np.abs(parts[0] - parts[1]).sum())


def test_a_loop_around_points_selects_them(open_page):
    result = planted_result()
    page = open_page(result)
    places = point_places(page, result)
    inside = (places[:, 0] > 200) & (places[:, 1] < 300)
    assert 2 < inside.sum() < 28
    corners = [(200, 5), (590, 5), (590, 300), (200, 300)]
    start = in_window(page, PLANE, *corners[0])
    page.mouse.move(*start)
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(start[0] + x - corners[0][0], start[1] + y - corners[0][1], steps=3)
    page.mouse.up()
    assert words(page, "#pairs") == f"Selected: {inside.sum()} rows ({inside.sum()} of the 28 rows shown here)."


def test_the_legend_of_the_plane_selects_clusters_and_axes_say_their_share(open_page):
    result = planted_result()
    page = open_page(result)
    keys = page.locator("#rows .plane-legend button")
    assert [text.strip() for text in keys.all_inner_texts()] == ["cluster 0 (12)", "cluster 1 (9)", "cluster 2 (7)"]
    keys.nth(2).click()
    assert words(page, "#rows").startswith("Selected: cluster 2, 7 rows")
    percent = round(100 * principal_plane(result.description).share.sum())
    assert f"hold {percent} % of the variance" in page.locator("#rows .plane-view .note").first.inner_text()


def test_points_are_read_with_keys(open_page):
    result = planted_result()
    page = open_page(result)
    page.locator(PLANE).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert said(page).startswith(f"row {result.description.rows[1]}, cluster ")
    page.keyboard.press("Enter")
    assert words(page, "#rows").startswith(f"Selected: row {result.description.rows[1]} (1 of")


# Any data


@pytest.mark.parametrize("sizes", [(1,), (2,), (1, 1), (30,)])
@pytest.mark.parametrize("chains", [None, (2, 20)])
def test_pages_of_few_rows_or_one_cluster(open_page, sizes, chains):
    result = planted_result(sizes, chains=chains)
    page = open_page(result)
    assert layout_of(page, PAIRS)["rows"] == layout_of(page, TABLE)["rows"] == sum(sizes)
    assert hover_cell(page, PAIRS, 0, 0)[0].split()[-1] == "1.00"
    go_narrow_and_dark(page)
    assert not overflows(page)


def test_a_result_without_a_table_has_no_rows_to_show(open_page):
    page = open_page(planted_result(description=None))
    assert page.locator("#rows").is_hidden()
    assert page.locator(PAIRS).is_visible()


@pytest.mark.parametrize("chains", [None, (4, 100)])
def test_phones_at_night_do_not_overflow(open_page, chains):
    page = open_page(planted_result((40, 30, 20), chains=chains))
    go_narrow_and_dark(page)
    assert not overflows(page)
    assert layout_of(page, PAIRS)["width"] <= 360
    lines = hover_cell(page, PAIRS, 3, 3)
    assert lines[0].split()[-1] == "1.00"


HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "\"'><svg onload=window.hacked=1>",
    "\u202egnisrever",
    "x" * 10_000,
    "</script><script>window.hacked = 1</script>",
)


def test_hostile_names_are_words(open_page):
    names = tuple(HOSTILE[i % len(HOSTILE)] + str(i) for i in range(28))
    result = planted_result(chains=(2, 20), names=names)
    page = open_page(result)
    for i in range(12):
        lines = hover_cell(page, PAIRS, i, i) + hover_cell(page, TABLE, i, 1)
        assert all(len(line) <= 200 and "\u202e" not in line for line in lines)
    assert page.evaluate("window.hacked") is None
    go_narrow_and_dark(page)
    assert not overflows(page)
