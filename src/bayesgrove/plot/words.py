"""Words on pictures: sizes and breaks that suit the room, names that cannot break anything."""

import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
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


def told_apart(names: Iterable[Any], most: int = MAX_NAME) -> list[str]:
    """Names of at most so many letters each; different ones that would be cut to the same keep their ends.

    Examples
    --------
    >>> told_apart(["weight", "treatment = drug", "treatment = none"], 12)
    ['weight', 'treat…= drug', 'treat…= none']
    """
    listed = [str(name) for name in names]
    short = [shortened(name, most) for name in listed]
    names_of = defaultdict(set)
    for words, name in zip(short, listed, strict=True):
        names_of[words].add(name)
    return [
        _without_middle(name, most) if words.endswith("…") and len(names_of[words]) > 1 else words
        for words, name in zip(short, listed, strict=True)
    ]


def _without_middle(name: str, most: int) -> str:
    enough, front = 8 * most + 64, (most - 1) // 2
    first, last = (plain(part).replace(r"\$", "$") for part in (name[:enough], name[-enough:]))
    return f"{first[:front]}…{last[front + 1 - most :]}".replace("$", r"\$")


def ink(ax: Any, strength: float) -> str:
    """The colour of words, so strong on this paper: 0 is the paper's own, 1 that of words, whatever the style sheet."""
    from matplotlib import rcParams
    from matplotlib.colors import to_hex, to_rgb, to_rgba

    words = np.array(to_rgb(rcParams["text.color"]))
    papers = (to_rgba(own.get_facecolor()) for own in (ax, ax.figure))
    see_through = (0.0 if words.mean() > 0.5 else 1.0,) * 4
    paper = np.array(next((own for own in papers if own[3] > 0.0), see_through)[:3])
    return str(to_hex(paper + strength * (words - paper)))


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
