"""Words on pictures: sizes and breaks that suit the room, names that cannot break anything."""

import textwrap
import unicodedata
from typing import Any

import numpy as np

MAX_NAME = 28
LETTER = 0.58
"""Width of an average letter in units of the font size."""
LINE = 1.25
"""Distance of lines in units of the font size."""
LARGEST_FONT, SMALLEST_FONT = 10.0, 5.0
SMALL_PICTURE = 7.0
"""Font of a picture of two inches."""


def plain(name: Any) -> str:
    """A name on one line without what a font cannot draw; `$` is no mathematics."""
    letters = (" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in str(name))
    return " ".join("".join(letters).split()).replace("$", r"\$")


def shortened(name: Any, most: int = MAX_NAME) -> str:
    """A plain name of at most so many letters."""
    letters = plain(str(name)[: 8 * most + 64]).replace(r"\$", "$")
    return (letters if len(letters) <= most else letters[: most - 1] + "…").replace("$", r"\$")


def room(ax: Any) -> tuple[float, float]:
    """Width and height of the axes in points, before a layout engine moves them."""
    box = ax.get_window_extent()
    return float(box.width * 72.0 / ax.figure.dpi), float(box.height * 72.0 / ax.figure.dpi)


def font_of(ax: Any) -> float:
    """A font size that suits the size of the axes."""
    width, height = room(ax)
    return float(np.clip(5.6 + 0.62 * np.sqrt(width * height) / 72.0, SMALL_PICTURE, LARGEST_FONT))


def wrapped(words: str, points: float, font: float) -> str:
    """Words in lines that are no longer than so many points."""
    return "\n".join(textwrap.wrap(words, max(int(points / (LETTER * font)), 8))) if words else ""


def name_axes(ax: Any, across: str | None = None, up: str | None = None) -> None:
    """Names of the axes, in lines that fit, and tick labels in a size that goes with them."""
    width, height = room(ax)
    font = font_of(ax)
    for side, words, length in (("x", across, width), ("y", up, height)):
        if words is not None:
            ax.tick_params(axis=side, labelsize=font - 1.0)
            ax.set(**{f"{side}label": wrapped(words, length, font)})
            getattr(ax, f"{side}axis").label.set_fontsize(font)


def set_title(ax: Any, title: str | None, above: float = 0.0) -> None:
    """A title in lines that fit, so many points above the axes; none for None."""
    if title is not None:
        font = font_of(ax) + 0.5
        ax.set_title(wrapped(plain(title), room(ax)[0], font), fontsize=font, pad=4.0 + above)


def name_colour_bar(ax: Any, bar: Any, words: str) -> None:
    """What the colour says, beside a bar, in lines that fit."""
    font = font_of(ax)
    bar.set_label(wrapped(words, room(ax)[1], font), fontsize=font)
    bar.ax.tick_params(labelsize=font - 1.0)
    bar.outline.set_linewidth(0.5)


def bare(ax: Any) -> None:
    """No frame above and on the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
