"""What models add: every kind is drawn with its title, its note, labels and values."""

import numpy as np
import pytest

from bayesgrove.inference.exhibits import BarsExhibit, GridExhibit, HeatMapExhibit, LinesExhibit
from browser.pointing import cell_centre, go_narrow_and_dark, hover_cell, overflows, pixel, plain, tip_lines
from reference.planted import all_exhibits, planted_result

pytestmark = pytest.mark.browser

MAP = ".exhibit-heat-map:nth-of-type(2) canvas"
TWO_SIDES = ".exhibit-heat-map:nth-of-type(3) canvas"


@pytest.fixture
def page(open_page):
    """The page of a result with one exhibit of each kind."""
    return open_page(planted_result(exhibits=all_exhibits()))


def test_every_exhibit_has_its_title_and_note(page):
    titles = [exhibit.title for exhibit in all_exhibits()]
    assert page.locator("#exhibits h3").all_inner_texts() == titles
    assert page.locator("#exhibits figcaption .note").all_inner_texts() == ["Read it."]
    assert page.locator("nav a", has_text="More").count() == 1


def test_results_without_exhibits_have_no_such_part(open_page):
    assert open_page(planted_result()).locator("#exhibits").is_hidden()


def test_grids_show_texts_and_numbers(page):
    cells = page.locator(".exhibit-grid tr").evaluate_all(
        "rows => rows.map((row) => Array.from(row.children, (c) => c.textContent))"
    )
    assert [[plain(cell) for cell in row] for row in cells] == [
        ["topic", "weight", "n"],
        ["fish", "0.123", "1,200"],
        ["fowl", "-", "-3"],
    ]
    assert page.locator(".exhibit-grid tbody tr").first.locator("td.number").count() == 2


def test_heat_maps_say_their_values(page):
    assert hover_cell(page, MAP, 2, 3) == ["11 grams", "third", "d"]
    assert hover_cell(page, MAP, 1, 2) == ["missing", "second", "c"]
    assert hover_cell(page, TWO_SIDES, 0, 1) == ["-3 z", "first", "b"]
    legends = page.locator(".exhibit-heat-map .scale").all_inner_texts()
    assert [plain(text).split() for text in legends] == [["0", "11", "grams", "missing"], ["-7", "7", "z", "missing"]]


def test_a_scale_of_two_sides_is_plain_in_its_middle(page):
    def spread(row, column):
        colour = pixel(page, TWO_SIDES, *cell_centre(page, TWO_SIDES, row, column))
        parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
        return max(parts) - min(parts)

    assert spread(1, 0) < 8
    assert spread(0, 0) > 40
    assert spread(2, 3) > 100


def test_heat_maps_are_read_with_keys(page):
    page.locator(MAP).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("#said").inner_text() == "5 grams, second, b"


def test_lines_have_labels_a_legend_and_tips(page):
    figure = page.locator(".exhibit-lines")
    assert figure.locator("path.series").count() == 2
    assert figure.locator(".axis-label").all_text_contents() == ["time", "swing"]
    assert figure.locator("button.key").all_inner_texts() == ["sine", "broken"]
    figure.locator("svg.figure").scroll_into_view_if_needed()
    figure.locator("svg.figure").hover(position={"x": 500, "y": 60})
    lines = tip_lines(page)
    time = float(lines[0].split()[1])
    assert float(lines[1].split(": ")[1]) == pytest.approx(np.sin(time), abs=0.006)
    assert float(lines[2].split(": ")[1]) == pytest.approx(time / 5, abs=0.006)
    assert figure.locator("path.series").nth(1).get_attribute("d").count("M") == 1


def test_bars_have_intervals_and_tips(page):
    figure = page.locator(".exhibit-bars")
    assert figure.locator("rect.pillar").count() == figure.locator("path.whisker").count() == 2
    assert figure.locator(".axis-label").first.text_content() == "effect"
    figure.locator("rect.catcher").nth(1).scroll_into_view_if_needed()
    figure.locator("rect.catcher").nth(1).hover()
    assert tip_lines(page) == ["down", "effect -1", "interval -1.4 to -0.5"]
    widths = figure.locator("rect.pillar").evaluate_all("all => all.map((bar) => Number(bar.getAttribute('width')))")
    assert widths[0] == pytest.approx(2 * widths[1])


def test_pictures_are_shown_and_described(page):
    picture = page.locator(".exhibit-picture img")
    assert picture.get_attribute("alt") == "one black pixel"
    assert picture.evaluate("image => image.complete && image.naturalWidth") == 1


def test_phones_at_night_do_not_overflow(page):
    go_narrow_and_dark(page)
    assert not overflows(page)


def wide_exhibits():
    hostile = "<img src=x onerror='window.hacked = 1'>" + "z" * 3000
    names = [f"{hostile} {k}" for k in range(70)]
    rng = np.random.default_rng(0)
    return (
        GridExhibit(title=hostile, note=hostile, columns=names, rows=[names] * 3),
        HeatMapExhibit(
            title="wide", values=rng.normal(size=(70, 70)), row_names=names, column_names=names, unit=hostile
        ),
        LinesExhibit(
            title="many", x=np.arange(3.0), series=dict.fromkeys(names, np.ones(3)), x_label=hostile, y_label=hostile
        ),
        BarsExhibit(title="many", names=names, values=np.full(70, np.nan), y_label=hostile),
        HeatMapExhibit(title="void", values=np.full((1, 1), np.nan), row_names=["a"], column_names=["b"], middle=1.0),
        LinesExhibit(title="empty", x=np.zeros(0), series={}),
    )


def test_wide_and_hostile_exhibits_stay_within_their_frames(open_page):
    page = open_page(planted_result(exhibits=wide_exhibits()))
    assert page.locator("#exhibits figure").count() == 6
    assert not overflows(page)
    go_narrow_and_dark(page)
    assert not overflows(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".exhibit-grid .scroll").evaluate("frame => frame.scrollWidth > frame.clientWidth")
