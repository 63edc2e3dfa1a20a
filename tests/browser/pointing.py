"""Where things are on a page, and what it says about them."""

import json
from typing import Any


def layout_of(page: Any, canvas: str) -> dict[str, float]:
    """Rows, columns and places of the cells of a map, in pixels from the canvas's corner."""
    layout: dict[str, float] = json.loads(page.locator(canvas).get_attribute("data-cells"))
    return layout


def cell_centre(page: Any, canvas: str, row: float, column: float) -> tuple[float, float]:
    """The middle of a cell, from the canvas's corner; -1 is the strip beside the rows or above the columns."""
    at = layout_of(page, canvas)
    x = at["left"] + (column + 0.5) * at["cellWidth"] if column >= 0 else at["left"] - 8
    y = at["top"] + (row + 0.5) * at["cellHeight"] if row >= 0 else at["top"] - 8
    return x, y


def in_window(page: Any, canvas: str, x: float, y: float) -> tuple[float, float]:
    """A point of a canvas in the window, after scrolling to it."""
    found: list[float] = page.locator(canvas).evaluate(
        """(canvas, [x, y]) => {
            const before = canvas.getBoundingClientRect();
            window.scrollBy({ top: before.top + y - window.innerHeight / 2, behavior: "instant" });
            const frame = canvas.parentNode;
            frame.scrollLeft = x - frame.clientWidth / 2;
            const box = canvas.getBoundingClientRect();
            return [box.left + x, box.top + y];
        }""",
        [x, y],
    )
    return found[0], found[1]


def hover_cell(page: Any, canvas: str, row: int, column: int) -> list[str]:
    """The lines beside the pointer on a cell."""
    page.mouse.move(*in_window(page, canvas, *cell_centre(page, canvas, row, column)))
    return tip_lines(page)


def tip_lines(page: Any) -> list[str]:
    """The lines beside the pointer; none when there are no words."""
    tip = page.locator("#tip")
    if tip.is_hidden():
        return []
    return [plain(line) for line in tip.evaluate("tip => Array.from(tip.children, (line) => line.textContent)")]


def plain(text: str) -> str:
    """A text with hyphens for the minus signs and dashes of a page."""
    return text.replace("\u2212", "-").replace("\u2013", "-")


def click_cell(page: Any, canvas: str, row: int, column: int) -> None:
    """Click the middle of a cell or of a strip."""
    page.mouse.click(*in_window(page, canvas, *cell_centre(page, canvas, row, column)))


def drag_cells(page: Any, canvas: str, start: tuple[int, int], stop: tuple[int, int]) -> None:
    """Press in one cell, release in another."""
    x, y = in_window(page, canvas, *cell_centre(page, canvas, *start))
    to = cell_centre(page, canvas, *stop)
    since = cell_centre(page, canvas, *start)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + to[0] - since[0], y + to[1] - since[1], steps=4)
    page.mouse.up()


def pixel(page: Any, canvas: str, x: float, y: float) -> str:
    """The colour of a canvas at a point, #rrggbb."""
    colour: str = page.locator(canvas).evaluate(
        """(canvas, [x, y]) => {
            const ratio = canvas.width / parseFloat(canvas.style.width);
            // Chromium complains of a canvas that is read again and again: each time a copy is read.
            const copy = document.createElement("canvas");
            const pen = copy.getContext("2d");
            pen.drawImage(canvas, -Math.round(x * ratio), -Math.round(y * ratio));
            const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
            return "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("").toUpperCase();
        }""",
        [x, y],
    )
    return colour


def wait_until(page: Any, condition: str, argument: Any = None) -> None:
    """Wait for a JavaScript condition to hold, and for what follows from it to be drawn (two frames).

    `page.wait_for_function` asks again by `eval` inside the page, which the page's content security policy refuses, so
    it works only where the condition holds at once.
    """
    waits = 0
    while not page.evaluate(condition, argument):
        waits += 1
        assert waits < 1200, f"a minute passed before {condition}"
        page.wait_for_timeout(50)
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def overflows(page: Any) -> bool:
    """Whether the page is wider than the window."""
    wide: bool = page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth")
    return wide


def go_narrow_and_dark(page: Any) -> None:
    """A phone's window at night."""
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    wait_until(page, "window.innerWidth === 360")


def said(page: Any) -> str:
    """What those hear who listen."""
    return str(page.locator("#said").inner_text())


def selected_words(page: Any, part: str) -> str:
    """What a part of the page says of the selection."""
    return str(page.locator(f"{part} .selected-words").inner_text())
