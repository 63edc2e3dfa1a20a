"""Views side by side: each is drawn in its own order and can be chosen, and selected rows are found in all of them."""

import dataclasses
import json

import numpy as np
import pytest

from bayesgrove.inference.views import view_columns
from browser.pointing import go_narrow_and_dark, overflows, pixel, plain, tip_lines, wait_until
from browser.test_hostile_names import NAMES
from reference.planted_views import planted_views, without_tree_of_columns

pytestmark = pytest.mark.browser

CANVAS = "#views-canvas"


@pytest.fixture
def result():
    """Three views of thirty rows."""
    return planted_views()


@pytest.fixture
def page(open_page, result):
    """Its page."""
    return open_page(result)


def panels(page):
    found = json.loads(page.locator(CANVAS).get_attribute("data-panels"))
    return {panel["number"]: panel for panel in found}


def place_of(panel, row, column):
    """The middle of a cell, or of the strip of clusters where the column is -1."""
    layout = panel["layout"]
    x = layout["left"] - 8 if column < 0 else layout["left"] + (column + 0.5) * layout["cellWidth"]
    return {"x": x, "y": layout["top"] + (row + 0.5) * layout["cellHeight"]}


def point_at(page, place):
    page.locator(CANVAS).scroll_into_view_if_needed()
    page.locator(CANVAS).hover(position=place)
    return tip_lines(page)


def shown_view(page):
    return page.locator("#view-table button[aria-pressed=true]").inner_text()


def test_views_have_a_part_of_their_own_and_others_have_none(page, open_page, result):
    assert page.locator("nav a").all_inner_texts()[:3] == ["Overview", "Views", "Tree"]
    assert page.locator("#how-many-views p").inner_text().startswith("10 columns in 3 views (of 5, 3, 2 columns).")
    without = open_page(dataclasses.replace(result, views=(), column_tree=None))
    assert without.locator("#views").is_hidden()
    assert without.locator("#view-choice").count() == 0


def test_the_list_names_the_columns_of_every_view(page, result):
    rows = page.locator("#view-table tbody tr").all()
    assert len(rows) == 3
    for number, row in enumerate(rows):
        cells = row.locator("th, td").all_inner_texts()
        names = [result.feature_names[j] for j in view_columns(result, number)]
        assert cells == [f"view {number}", str(len(names)), str(result.views[number].n_clusters), ", ".join(names)]


def test_panels_stand_in_the_order_of_the_column_tree_and_rows_in_that_of_their_own(page, result):
    drawn = panels(page)
    by_place = sorted(drawn.values(), key=lambda panel: panel["box"]["x"])
    in_tree = [
        next(k for k, view in enumerate(result.views) if j in view.columns) for j in result.column_tree.leaf_order
    ]
    assert [panel["number"] for panel in by_place] == list(dict.fromkeys(in_tree))
    assert [panel["number"] for panel in by_place if panel["isShown"]] == [0]
    for number, view in enumerate(result.views):
        columns = view_columns(result, number)
        assert drawn[number]["layout"]["columns"] == columns.size
        lines = point_at(page, place_of(drawn[number], 4, 1))
        assert lines[0].startswith(f"{result.feature_names[columns[1]]}: ")
        assert lines[1] == f"row {view.tree.leaf_order[4]}"
        assert lines[2].startswith(f"cluster {view.labels[view.tree.leaf_order[4]]}, ")
        assert lines[3] == view.name


def test_cells_have_one_scale_of_colours_and_categories_their_own(page, result):
    rows = result.description.rows.tolist()
    for number in range(3):
        panel, view = panels(page)[number], result.views[number]
        column = view_columns(result, number)[0]
        cells = result.description.sample.values[:, column]
        cells = np.array([cells[rows.index(item)] for item in view.tree.leaf_order.tolist()])
        colours = [
            pixel(page, CANVAS, *place_of(panel, int(at), 0).values())
            for at in (np.nanargmin(cells), np.nanargmax(cells))
        ]
        is_category = int(column) in result.description.sample.categories
        assert colours == (["#66C2A5", "#8DA0CB"] if is_category else ["#FFFFD9", "#081D58"])


def test_the_column_tree_tells_of_its_branches(page, result):
    layout = panels(page)[1]["layout"]
    lines = point_at(page, {"x": layout["left"] + 3, "y": layout["top"] - 22})
    assert lines[0].startswith("Branch of ")
    assert "One view with probability" in lines[1]
    lines = point_at(page, {"x": layout["left"] + 3, "y": layout["top"] - 5})
    assert lines == [result.feature_names[view_columns(result, 1)[0]], "view 1", "3 columns, 2 clusters"]


def test_the_whole_page_shows_the_view_that_is_chosen(page, result):
    assert shown_view(page) == "view 0"
    assert page.locator("#cluster-table").get_attribute("data-clusters") == "3"
    page.locator(CANVAS).scroll_into_view_if_needed()
    page.locator(CANVAS).click(position=place_of(panels(page)[2], 3, 0))
    assert shown_view(page) == "view 2"
    assert page.locator("#cluster-table").get_attribute("data-clusters") == "4"
    assert page.locator("#view-choice").input_value() == "2"
    assert page.locator("#tree-title").get_attribute("data-view") == "view 2"
    assert page.locator("#how-many p").inner_text().startswith("30 rows in 4 clusters (of 12, 9, 6, 3 rows).")
    assert page.locator("#said").inner_text() == "The page shows view 2"
    for number, view in enumerate(result.views):  # the pictures of the others stay what they are
        lines = point_at(page, place_of(panels(page)[number], 4, 1))
        assert lines[0].startswith(f"{result.feature_names[view_columns(result, number)[1]]}: ")
        assert (lines[1], lines[3]) == (f"row {view.tree.leaf_order[4]}", view.name)
    page.locator("#view-choice").focus()
    page.locator("#view-choice").select_option("1")
    assert shown_view(page) == "view 1"
    assert page.locator("#cluster-table").get_attribute("data-clusters") == "2"
    assert page.evaluate("document.activeElement.id") == "view-choice"
    page.locator("#show-view-0").click()
    assert page.locator("#cluster-table").get_attribute("data-clusters") == "3"


def test_selected_rows_stay_selected_in_another_view(page, result):
    panel, view = panels(page)[1], result.views[1]
    page.locator(CANVAS).scroll_into_view_if_needed()
    page.locator(CANVAS).click(position=place_of(panel, 0, -1))
    label = view.labels[view.tree.leaf_order[0]]
    size = int(np.sum(view.labels == label))
    words = f"cluster {label} of view 1, {size} rows"
    assert page.locator("#selected").inner_text() == words
    assert shown_view(page) == "view 0"
    page.locator("#show-view-2").click()
    assert page.locator("#selected").inner_text() == words
    wait_until(page, f"document.querySelector('#tree-canvas').dataset.selected === '{size}'")


def test_a_cut_recolours_the_view_that_is_shown(page, result):
    panel = panels(page)[0]
    strip = place_of(panel, 29, -1)
    before = pixel(page, CANVAS, *strip.values())
    page.locator("#cut").fill("-150")
    wait_until(page, "document.querySelector('#cut-words').textContent.includes('1 cluster')")
    assert before == "#009E73"
    assert pixel(page, CANVAS, *strip.values()) == "#0072B2"


def test_columns_that_share_a_view_are_dark(page, result):
    canvas = ".same-view canvas"
    layout = json.loads(page.locator(canvas).get_attribute("data-cells"))
    assert (layout["rows"], layout["columns"]) == (10, 10)
    page.locator(canvas).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    names = [result.feature_names[j] for j in result.column_tree.leaf_order[:2]]
    said = plain(page.locator("#said").inner_text())
    assert said.startswith("0.9")
    assert said.endswith(f"probability of one view, {names[0]}, {names[1]}")


def test_views_without_a_tree_of_columns_are_shown(open_page, result):
    page = open_page(without_tree_of_columns(result))
    assert page.locator("#view-table tbody tr").count() == 3
    assert page.locator(".same-view").count() == 0
    assert point_at(page, place_of(panels(page)[2], 0, 0))[-1] == "view 2"


def test_views_of_which_no_cells_are_known_are_listed(open_page, result):
    page = open_page(dataclasses.replace(result, description=None))
    assert page.locator("#view-table tbody tr").count() == 3
    assert page.locator(CANVAS).count() == 0
    page.locator("#show-view-2").click()
    assert page.locator("#cluster-table").get_attribute("data-clusters") == "4"


def test_many_views_scroll_in_their_frame_and_phones_do_not_overflow(open_page):
    page = open_page(planted_views((4,) * 30, ((10, 8),) * 30))
    assert len(panels(page)) == 24
    assert "The 24 largest of 30 views are shown." in page.locator("#views .note").first.inner_text()
    frame = page.locator(".views-map")
    assert frame.evaluate("frame => frame.scrollWidth > frame.clientWidth + 500")
    frame.evaluate("frame => { frame.scrollLeft = 400; }")
    page.wait_for_timeout(50)
    page.locator("#show-view-5").click()
    assert frame.evaluate("frame => frame.scrollLeft") == 400
    assert not overflows(page)
    go_narrow_and_dark(page)
    assert not overflows(page)


def test_hostile_names_of_views_and_columns_stay_words(open_page):
    made = planted_views((40, 35, 25), names=NAMES[:30], column_names=NAMES)
    views = tuple(dataclasses.replace(view, name=NAMES[k]) for k, view in enumerate(made.views))
    page = open_page(dataclasses.replace(made, views=views))
    for number in range(3):
        point_at(page, place_of(panels(page)[number], 2, 1))
    page.locator("#show-view-2").click()
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main iframe, main svg[onload], main b").count() == 0
    assert not overflows(page)
