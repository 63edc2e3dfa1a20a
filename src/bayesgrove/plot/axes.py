"""What all pictures of trees share: the axis of merge heights and the names along the other one."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.plot.words import LETTER, SMALLEST_FONT, font_of, ink, room, told_apart, wrapped
from bayesgrove.trees import Layout, Tree

HEIGHT_LABEL = "merge height: running maximum of \N{MINUS SIGN}log odds"
SCALES = ("auto", "asinh", "linear")
ORIENTATIONS = ("auto", "vertical", "horizontal")
LONG_NAME = 10
LARGEST_NAME = 9.0


class HeightAxis(NamedTuple):
    """How tree heights become drawn heights."""

    shift: float
    """Subtracted from a tree height: the half height, so that 0 is probability 1/2."""
    base: float
    """Where leaves are drawn."""
    top: float
    """End of the axis, above the root."""
    is_asinh: bool
    is_odds: bool


def height_axis(tree: Tree, scale: str) -> HeightAxis:
    """The axis for a tree: -log odds, by asinh, when heights come from odds; plain heights otherwise."""
    if scale not in SCALES:
        raise InvalidSettingError(f"scale is one of {SCALES}, got {scale!r}.")
    is_odds = tree.half_height is not None
    is_asinh = scale == "asinh" or (scale == "auto" and is_odds)
    shift = tree.half_height or 0.0
    ends = np.array([-shift, float(tree.height[tree.root]) - shift])
    eye = np.arcsinh(ends) if is_asinh else ends
    span = float(eye[1] - eye[0]) or 1.0
    # Leaves are certain (odds +inf): they stand a little below the most certain merge.
    base, top = eye[0] - 0.06 * span * is_odds, eye[1] + 0.06 * span
    return HeightAxis(
        shift,
        float(np.sinh(base) if is_asinh else base),
        float(np.sinh(top) if is_asinh else top),
        is_asinh,
        is_odds,
    )


def drawn_heights(tree: Tree, layout: Layout, axis: HeightAxis) -> np.ndarray:
    """Height of each shown node on the axis; leaves of odds trees at its base."""
    heights = layout.y - axis.shift
    return np.where(axis.is_odds & (tree.item[layout.node] != NULL), axis.base, heights)


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def dress_height_axis(ax: Any, axis: HeightAxis, is_vertical: bool, share: float = 1.0) -> None:
    """Scale, limits, name, and the dashed line of probability 1/2; the tree has this share of the axes' length."""
    name = HEIGHT_LABEL if axis.is_odds else "height"
    line = {"color": ink(ax, 0.73), "linewidth": 0.9, "linestyle": (0, (4, 3)), "zorder": 1}
    if is_vertical:
        set_scale, set_limits, set_name, draw = ax.set_yscale, ax.set_ylim, ax.set_ylabel, ax.axhline
    else:
        set_scale, set_limits, set_name, draw = ax.set_xscale, ax.set_xlim, ax.set_xlabel, ax.axvline
    if axis.is_asinh:
        set_scale("asinh", linear_width=1.0)
    set_limits((axis.base, axis.top) if is_vertical else (axis.top, axis.base))
    font, length = font_of(ax), room(ax)[1 if is_vertical else 0]
    set_name(wrapped(name, length, font), fontsize=font)
    ax.tick_params(axis="y" if is_vertical else "x", labelsize=font - 1.0)
    _place_ticks(ax, axis, is_vertical, share)
    if axis.is_odds and axis.base < 0.0 < axis.top:
        draw(0.0, **line)
        _name_half(ax, is_vertical)
    for side in ("top", "right", "bottom" if is_vertical else "left"):
        ax.spines[side].set_visible(False)


def _place_ticks(ax: Any, axis: HeightAxis, is_vertical: bool, share: float) -> None:
    """Round numbers at even distances for the eye: 0, 1, 3, 10, 30, ... on both sides, as many as can be read."""
    from matplotlib.ticker import AutoLocator, FixedLocator, FuncFormatter, NullLocator

    ticks = ax.yaxis if is_vertical else ax.xaxis
    if not axis.is_asinh:
        if share < 1.0:  # none beside the tree, where other things stand
            places = np.asarray(AutoLocator().tick_values(axis.base, axis.top))
            ticks.set_major_locator(FixedLocator(places[(places >= axis.base) & (places <= axis.top)].tolist()))
        return
    font = font_of(ax) - 1.0
    width, height = room(ax)
    ends = np.arcsinh([axis.base, axis.top])
    per_point = float(ends[1] - ends[0]) / (share * (height if is_vertical else width))
    kept: list[tuple[float, float]] = []
    for place in _round_numbers(axis):
        half = (0.6 * font if is_vertical else 0.5 * LETTER * font * len(_written(place)) + 2.0) * per_point
        at = float(np.arcsinh(place))
        if all(abs(at - other) > half + other_half for other, other_half in kept):
            kept.append((at, half))
    ticks.set_major_locator(FixedLocator(sorted(float(np.sinh(at)) for at, _ in kept)))
    ticks.set_minor_locator(NullLocator())
    ticks.set_major_formatter(FuncFormatter(lambda value, _: _written(value)))


def _round_numbers(axis: HeightAxis) -> list[float]:
    """Places for ticks, the most wanted first: 0, powers of ten from the largest down, then three times these."""
    largest = max(abs(axis.base), abs(axis.top))
    powers = [10.0**power for power in range(15, -1, -1)]
    thirds = [3.0 * power for power in powers] if largest < 300 else []
    sizes = [sign * size for size in (*powers, *thirds) for sign in (1.0, -1.0)]
    return [place for place in (0.0, *sizes) if axis.base <= place <= axis.top]


def _written(value: float) -> str:
    return f"{value:,.0f}".replace("-", "\N{MINUS SIGN}")


def _name_half(ax: Any, is_vertical: bool) -> None:
    """Beside the axes, where no branch is."""
    words = {"fontsize": font_of(ax) - 1.5, "color": ink(ax, 0.73), "textcoords": "offset points"}
    if is_vertical:
        place = {"xycoords": ax.get_yaxis_transform(), "xytext": (2, 0), "ha": "left", "va": "center"}
        ax.annotate("p = ½", (1.0, 0.0), **place, **words)
    else:
        place = {"xycoords": ax.get_xaxis_transform(), "xytext": (0, 1), "ha": "center", "va": "bottom"}
        ax.annotate("p = ½", (0.0, 1.0), **place, **words)


def end_names(tree: Tree, layout: Layout, leaf_labels: Any = None) -> list[str]:
    """Names along the leaves, left to right: labels, and (n) for a collapsed branch of n items."""
    item_names = names_of_items(tree, leaf_labels)
    ends = np.flatnonzero(layout.is_end)
    names = []
    for k in ends[np.argsort(layout.x[ends])]:
        node = layout.node[k]
        if layout.is_collapsed[k]:
            names.append(f"({int(tree.size[node]):,})")
        else:
            names.append(item_names(int(tree.item[node])))
    return told_apart(names)


def names_of_items(tree: Tree, leaf_labels: Any) -> Callable[[int], str]:
    """A function that gives the name of an item: the tree's own, or one of those given."""
    if leaf_labels is None:
        return tree.label
    if len(leaf_labels) != tree.n_leaves:
        raise InvalidSettingError(
            f"leaf_labels need one entry per item, got {len(leaf_labels)} for {tree.n_leaves} items."
        )
    return lambda item: str(leaf_labels[item])


def choose_vertical(orientation: str, names: list[str]) -> bool:
    """Whether the root is on top; "auto" lays the tree down when names are long."""
    if orientation not in ORIENTATIONS:
        raise InvalidSettingError(f"orientation is one of {ORIENTATIONS}, got {orientation!r}.")
    if orientation == "auto":
        return len(names) <= 3 or max(map(len, names)) <= LONG_NAME
    return orientation == "vertical"


def most_names(ax: Any, is_vertical: bool) -> int:
    """How many names can be read along the leaves."""
    return max(int(0.92 * room(ax)[0 if is_vertical else 1] / SMALLEST_FONT), 2)


def name_ends(ax: Any, places: np.ndarray, names: list[str], is_vertical: bool) -> None:
    """Tick labels turned, shrunk or left out so that they stay readable."""
    each = room(ax)[0 if is_vertical else 1] / max(len(names), 1)
    largest = min(LARGEST_NAME, font_of(ax))
    font = min(largest, 0.92 * each)
    if font < SMALLEST_FONT:
        places, names = places[:0], []
    if is_vertical:
        is_wide = max(map(len, names), default=0) * LETTER * largest > 0.9 * each
        rotation = 90 if is_wide else 0
        ax.set_xticks(places, names, rotation=rotation, fontsize=font if is_wide else largest)
    else:
        ax.set_yticks(places, names, fontsize=font)
        ax.yaxis.tick_right()
    ax.tick_params(axis="x" if is_vertical else "y", length=0)


def caption(tree: Tree, layout: Layout) -> str:
    """What the axis of leaves shows."""
    if not layout.is_collapsed.any():
        return f"{tree.n_leaves:,} items"
    return f"{tree.n_leaves:,} items in {layout.n_ends:,} branches; (n): branch of n items, collapsed"
