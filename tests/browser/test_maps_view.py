"""Maps of pairs and cells and the plane: what they say agrees with Python, and selections reach everywhere."""

import numpy as np
import pytest

from bayesgrove.core.table import Table
from bayesgrove.inference.overview import pair_sample
from bayesgrove.plot.colours import PALETTE
from browser.pointing import (
    cell_centre,
    click_cell,
    drag_cells,
    go_narrow_and_dark,
    hover_cell,
    layout_of,
    overflows,
    pixel,
    said,
    selected_words,
    tip_lines,
    wait_until,
)
from reference.planted import LEVELS, describe, expected_colours, planted_labels, planted_result, planted_tree

pytestmark = pytest.mark.browser

PAIRS, TABLE = "#pairs canvas", "#rows .table-map canvas"


def expected_words(pairs, i, j):
    """A probability as the page knows it: in 255 steps, of which the first and the last stand for what is near."""
    share = np.rint(255 * pairs.similarity[i, j]) / 255
    near_end = ">.99" if share >= 0.995 else "<.01" if share < 0.005 else None
    return "1.00" if i == j else near_end or f"{share:.2f}"


# Pairs


@pytest.mark.parametrize("chains", [None, (2, 60)])
def test_a_pair_is_named_with_its_probability(open_page, chains):
    result = planted_result(chains=chains)
    pairs = pair_sample(result, 600)
    page = open_page(result)
    for i, j in [(0, 0), (0, 1), (2, 25), (25, 2), (27, 27), (11, 13)]:
        lines = hover_cell(page, PAIRS, i, j)
        assert lines[0].split()[-1] == expected_words(pairs, i, j)
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
        wait_until(
            page, "n => document.querySelectorAll('#rows .plane-legend button').length >= Math.min(n, 16)", n_clusters
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
    wait_until(page, "getComputedStyle(document.documentElement).getPropertyValue('--is-dark').trim() === '1'")
    assert pixel(page, PAIRS, *cell_centre(page, PAIRS, 0, 27)) != between


def test_dragging_over_pairs_selects_the_rows_of_both_sides(open_page):
    page = open_page(planted_result())
    drag_cells(page, PAIRS, (2, 20), (4, 21))
    assert selected_words(page, "#pairs") == "Selected: 5 rows (5 of the 28 rows shown here)."
    assert selected_words(page, "#rows") == "Selected: 5 rows (5 of the 28 rows shown here)."


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
    assert (
        selected_words(page, "#rows") == f"Selected: cluster {label}, {size} rows ({size} of the 28 rows shown here)."
    )


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
    assert selected_words(page, "#pairs").startswith(f"Selected: row {items[1]} (1 of")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    assert selected_words(page, "#pairs").startswith("Selected: 3 rows (3 of")
    assert said(page) == "Selected: 3 rows"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert selected_words(page, "#pairs") == "Nothing selected."


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
    assert lines[0].split()[-1] == expected_words(pairs, 5, 10)
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


def test_rare_categories_and_outliers_are_not_taken_for_others(open_page):
    labels = planted_labels((60, 40))
    tree = planted_tree(labels)
    values = np.column_stack([np.zeros(100), np.linspace(0.0, 1.0, 100)])
    values[7] = 2.0, 50.0
    table = Table(values, ("colour", "size"), ("category", "float"), {0: LEVELS})
    page = open_page(planted_result((60, 40), description=describe(table, tree, labels)))
    row = tree.leaf_order.tolist().index(7)
    assert hover_cell(page, TABLE, row, 0)[0] == f"colour: {LEVELS[2]}"
    assert hover_cell(page, TABLE, row + 1, 0)[0] == f"colour: {LEVELS[0]}"
    assert hover_cell(page, TABLE, row, 1)[0].endswith(" or more")


def test_categories_have_colours_without_order(open_page):
    labels = planted_labels((50, 50))
    tree = planted_tree(labels)
    values = np.column_stack([np.arange(100) % 3, np.linspace(0.0, 1.0, 100)])
    table = Table(values, ("colour", "size"), ("category", "float"), {0: LEVELS})
    page = open_page(planted_result((50, 50), description=describe(table, tree, labels)))
    rows = {tuple(values[item]): place for place, item in enumerate(tree.leaf_order.tolist())}
    low, middle, high = (next(place for cells, place in rows.items() if cells[0] == k) for k in range(3))
    found = {pixel(page, TABLE, *cell_centre(page, TABLE, place, 0)) for place in (low, middle, high)}
    assert found == {"#66C2A5", "#FC8D62", "#8DA0CB"}
    assert "categories have colours without order" in page.locator("#rows .table-view .scale").inner_text()


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
    assert (
        selected_words(page, "#rows")
        == selected_words(page, "#pairs")
        == "Selected: 7 rows (7 of the 28 rows shown here)."
    )
    click_cell(page, TABLE, 5, 1)
    row = planted_result().description.rows[5]
    assert selected_words(page, "#rows") == f"Selected: row {row} (1 of the 28 rows shown here)."


def test_names_of_columns_are_no_rows(open_page):
    page = open_page(planted_result())
    click_cell(page, TABLE, -1, 2)
    assert selected_words(page, "#rows") == "Nothing selected."
    assert hover_cell(page, TABLE, -1, 2) == ["noise"]


def test_dragging_along_a_strip_selects_its_rows(open_page):
    page = open_page(planted_result())
    for canvas, start, stop in ((PAIRS, (4, -1), (7, -1)), (PAIRS, (-1, 9), (-1, 12)), (TABLE, (2, -1), (5, -1))):
        drag_cells(page, canvas, start, stop)
        assert selected_words(page, "#rows").startswith("Selected: 4 rows (4 of")
        page.locator("#pairs .clear").click()


def test_rows_are_read_and_selected_with_keys(open_page):
    result = planted_result()
    page = open_page(result)
    page.locator(TABLE).focus()
    for key in ("ArrowDown", "ArrowDown", "End", "Shift+ArrowDown"):
        page.keyboard.press(key)
    assert said(page).startswith("colour: ")
    assert f"row {result.description.rows[2]}" in said(page)
    page.keyboard.press("Enter")
    assert selected_words(page, "#rows").startswith("Selected: 2 rows (2 of")


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
