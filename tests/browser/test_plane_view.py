"""The plane of the rows: points are where Python has them, wear their cluster's colour, and are selected by a loop."""

import numpy as np
import pytest

from bayesgrove.inference.overview import principal_plane
from bayesgrove.plot.colours import PALETTE
from browser.pointing import click_cell, in_window, pixel, said, selected_words, tip_lines
from reference.planted import expected_colours, planted_result

pytestmark = pytest.mark.browser

TABLE, PLANE = "#rows .table-map canvas", "#rows .plane-map canvas"


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


def test_points_that_are_not_selected_step_back(open_page):
    result = planted_result()
    page = open_page(result)
    places = point_places(page, result)
    alone = [i for i in range(28) if np.partition(np.hypot(*(places - places[i]).T), 1)[1] > 10]
    before = [pixel(page, PLANE, *places[i]) for i in alone]
    click_cell(page, TABLE, alone[0], 1)
    after = [pixel(page, PLANE, *places[i]) for i in alone]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True] + [False] * (len(alone) - 1)


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
    assert (
        selected_words(page, "#pairs") == f"Selected: {inside.sum()} rows ({inside.sum()} of the 28 rows shown here)."
    )


def test_the_legend_of_the_plane_selects_clusters_and_axes_say_their_share(open_page):
    result = planted_result()
    page = open_page(result)
    keys = page.locator("#rows .plane-legend button")
    assert [text.strip() for text in keys.all_inner_texts()] == ["cluster 0 (12)", "cluster 1 (9)", "cluster 2 (7)"]
    keys.nth(2).click()
    assert selected_words(page, "#rows").startswith("Selected: cluster 2, 7 rows")
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
    assert selected_words(page, "#rows").startswith(f"Selected: row {result.description.rows[1]} (1 of")
