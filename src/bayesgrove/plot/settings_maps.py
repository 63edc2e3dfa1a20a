"""What many fits say together: a heat map over two settings, and box plots of scores level by level."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import PALETTE
from bayesgrove.plot.legends import legend_above
from bayesgrove.plot.words import bare, font_of, name_axes, name_colour_bar, plain, room, set_title

DARK = 0.55
"""Brightness below which letters are white."""
MISSING = "#BDBDBD"
MOST_DIGITS = 7


def sensitivity(
    values: Any,
    C: Sequence[float],
    margin: Sequence[float],
    ax: Any = None,
    *,
    name: str = "",
    reference: float | None = None,
    title: str | None = None,
) -> Any:
    """Draw a number for each pair of strength and margin as a heat map and return the matplotlib axes.

    Parameters
    ----------
    values : float array of shape (n_strengths, n_margins)
        For instance the mean AID of the draws of `RBHMC`; nan where there is none.
    C, margin : sequences of float
        Of the rows and of the columns.
    ax : matplotlib axes, optional
        A new figure when missing.
    name : str
        What the numbers are.
    reference : float, optional
        The number without a penalty: colours then say how far values are above (orange) or below it (purple).
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> values = [[13.2, 13.3], [18.0, 15.1]]
    >>> ax = bg.plot.sensitivity(values, [0.01, 1.0], [0.1, 1.0], name="AID", reference=13.2)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('margin', ['13.2', '13.3', '18', '15.1'])
    >>> plt.close(ax.figure)
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(C), len(margin)) or not numbers.size:
        raise InvalidInputError(
            f"values have a row per C and a column per margin, ({len(C)}, {len(margin)}), got shape {numbers.shape}."
        )
    middle = reference if reference is not None and np.isfinite(reference) else None
    words = plain(name) if middle is None else f"{plain(name)} (white: {middle:.3g}, without penalty)"
    return settings_map(numbers, ("C", C), ("margin", margin), ax, name=words, middle=middle, title=title)


def settings_map(
    numbers: np.ndarray,
    rows: tuple[str, Sequence[Any]],
    columns: tuple[str, Sequence[Any]],
    ax: Any = None,
    *,
    name: str = "",
    middle: float | None = None,
    from_zero: bool = True,
    title: str | None = None,
) -> Any:
    """Draw a number for each pair of values of two settings, given with their names; returns the matplotlib axes.

    Without `from_zero` the colours span the numbers alone, which large ones need that hardly differ.
    """
    ax = new_axes(ax, (1.8 + 0.9 * len(columns[1]), 1.4 + 0.55 * len(rows[1])))
    image = ax.imshow(numbers, aspect="auto", interpolation="nearest", **colour_scale(numbers, middle, from_zero))
    ax.set_facecolor(MISSING)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    name_axes(ax, plain(columns[0]), plain(rows[0]))
    ax.set_xticks(np.arange(len(columns[1])), [value_words(value) for value in columns[1]])
    ax.set_yticks(np.arange(len(rows[1])), [value_words(value) for value in rows[1]])
    write_cells(ax, image, numbers)
    bar.ax.ticklabel_format(axis="y", useOffset=False)
    name_colour_bar(ax, bar, name)
    set_title(ax, title)
    return ax


def value_words(value: Any) -> str:
    """A setting's value as the axis shows it."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return f"{value:g}" if is_number else plain(str(value))


def colour_scale(numbers: np.ndarray, middle: float | None, from_zero: bool) -> dict[str, Any]:
    """One-sided, or two-sided around a middle."""
    known = numbers[np.isfinite(numbers)]
    if middle is None and not from_zero and known.size:
        return {"cmap": "Greys", "vmin": known.min(), "vmax": known.max()}
    if middle is None:
        return {"cmap": "Greys", "vmin": known.min(initial=0.0), "vmax": known.max(initial=0.0)}
    farthest = float(np.abs(known - middle).max(initial=0.0)) or 1.0
    return {"cmap": "PuOr_r", "vmin": middle - farthest, "vmax": middle + farthest}


def digits_to_tell_apart(numbers: np.ndarray) -> int:
    """Significant digits that show whole numbers, and two digits of what lies between the least and the largest."""
    known = np.abs(numbers[np.isfinite(numbers)])
    top = known.max(initial=0.0)
    spread = np.ptp(numbers[np.isfinite(numbers)]) if known.size else 0.0
    if top == 0.0:
        return 3
    power = np.floor(np.log10(top))
    n_apart = power - np.floor(np.log10(spread)) + 2 if spread > 0.0 else 0
    return int(min(max(3, power + 1, n_apart), MOST_DIGITS))


def write_cells(
    ax: Any, image: Any, numbers: np.ndarray, shades: np.ndarray | None = None, missing: str = "none"
) -> None:
    """The numbers themselves, where cells are large enough; white on dark colours, which show `shades` if given."""
    shades = numbers if shades is None else shades
    width, height = room(ax)
    font = min(font_of(ax) - 1.0, 0.6 * height / numbers.shape[0], width / numbers.shape[1] / 3.0)
    if font < 4.5:
        return
    digits = digits_to_tell_apart(numbers)
    for row, column in np.ndindex(numbers.shape):
        value = numbers[row, column]
        red, green, blue, _ = image.cmap(image.norm(shades[row, column]))
        is_dark = np.isfinite(value) and 0.3 * red + 0.59 * green + 0.11 * blue < DARK
        words = f"{value:.{digits}g}" if np.isfinite(value) else missing
        ax.text(column, row, words, ha="center", va="center", fontsize=font, color="white" if is_dark else "#222222")


def level_scores(
    scores: Mapping[str, Any], ax: Any = None, *, name: str = "F-measure", title: str | None = None
) -> Any:
    """Draw box plots of a score at each level, a group of boxes per level, and return the matplotlib axes.

    Boxes have the quartiles, whiskers all values, dots the values of single fits.

    Parameters
    ----------
    scores : mapping of str to float array of shape (n_fits, n_levels)
        A colour for each entry; for instance F-measures of several chains of `BHMC` and `RBHMC`.
    ax : matplotlib axes, optional
        A new figure when missing.
    name : str
        What the numbers are.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> ax = bg.plot.level_scores({"BHMC": [[0.5, 0.6], [0.6, 0.7]], "RBHMC": [[0.6, 0.6], [0.7, 0.8]]})
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('F-measure', ['BHMC', 'RBHMC'])
    >>> plt.close(ax.figure)
    """
    if not isinstance(scores, Mapping):
        raise InvalidInputError(
            "level_scores takes scores of fits of BHMC or RBHMC as {name: array (fit, level)}, such as F-measures, got "
            f"{type(scores).__name__}. To draw one fitted model take level_tree(model) or score_traces(model)."
        )
    groups = {str(key): np.asarray(values, dtype=np.float64) for key, values in scores.items()}
    n_levels = {values.shape[1] if values.ndim == 2 else 0 for values in groups.values()}
    if len(n_levels) != 1 or 0 in n_levels or any(len(values) == 0 for values in groups.values()):
        raise InvalidInputError(
            "scores are arrays (fit, level) with the same number of levels, got "
            f"{ {key: values.shape for key, values in groups.items()} }."
        )
    levels = np.arange(1, n_levels.pop() + 1)
    ax = new_axes(ax, (2.0 + 0.7 * levels.size * max(len(groups), 2), 3.6))
    width = 0.8 / len(groups)
    boxes = []
    for number, values in enumerate(groups.values()):
        place = levels + (number - (len(groups) - 1) / 2.0) * width
        boxes.append(draw_boxes(ax, values, place, width, PALETTE[number % len(PALETTE)]))
    ax.set_xlim(0.5, levels.size + 0.5)
    ax.set_xticks(levels, [str(level) for level in levels])
    above = legend_above(ax, boxes, [plain(key) for key in groups])
    name_axes(ax, "level", plain(name))
    set_title(ax, title, above)
    bare(ax)
    return ax


def draw_boxes(ax: Any, values: np.ndarray, places: np.ndarray, width: float, colour: str) -> Any:
    """A box and the single values of each column; gives one box for the legend."""
    known = [column[np.isfinite(column)] for column in values.T]
    drawn = ax.boxplot(
        known,
        positions=places,
        widths=0.8 * width,
        whis=(0, 100),
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
        whiskerprops={"color": colour},
        capprops={"color": colour},
        medianprops={"color": colour, "linewidth": 2.0},
    )
    for place, column in zip(places, known, strict=True):
        aside = np.linspace(-0.18, 0.18, column.size) if column.size > 1 else np.zeros(column.size)
        ax.plot(place + width * aside, column, ".", color=colour, markersize=3.5, alpha=0.8)
    return drawn["boxes"][0]
