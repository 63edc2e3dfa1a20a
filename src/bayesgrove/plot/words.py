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
    """A plain name of at most so many letters; a name without any is "(blank)"."""
    letters = plain(str(name)[: 8 * most + 64]).replace(r"\$", "$") or "(blank)"
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
    """Words in lines that are no longer than so many points and about equally long; breaks that are there stay."""
    letters = max(int(points / (LETTER * font)), 8)
    return "\n".join(line for part in words.split("\n") for line in _even_lines(part, letters))


def _even_lines(words: str, letters: int) -> list[str]:
    lines = textwrap.wrap(words, letters)
    shorter = lines
    while len(lines) > 1 and len(shorter) == len(lines) and letters > 8:
        lines, letters = shorter, letters - 1
        shorter = textwrap.wrap(words, letters)
    return lines


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
    """A title in up to three lines that fit, so many points above the axes; none for None."""
    if title is not None:
        font, width = font_of(ax) + 0.5, 0.9 * room(ax)[0]
        words = shortened(title, max(int(2.7 * width / (LETTER * font)), 16))
        ax.set_title(wrapped(words, width, font), fontsize=font, pad=4.0 + above)


def name_colour_bar(ax: Any, bar: Any, words: str, share: float = 1.0) -> None:
    """What the colour says, beside a bar, in lines that fit this share of the axes' height."""
    font = font_of(ax)
    bar.set_label(wrapped(words, share * room(ax)[1], font), fontsize=font)
    bar.ax.tick_params(labelsize=font - 1.0)
    bar.outline.set_linewidth(0.5)


def bare(ax: Any) -> None:
    """No frame above and on the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
