"""The tree above the clusters, and what is in them: names or pictures."""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.inference.result import Result
from bayesgrove.plot.axes import drawn_heights, dress_height_axis, height_axis, names_of_items, new_axes
from bayesgrove.plot.colours import node_clusters, node_colours
from bayesgrove.plot.dendrograms import draw_branches
from bayesgrove.plot.subjects import as_result
from bayesgrove.plot.words import LETTER, LINE, SMALLEST_FONT, font_of, ink, room, set_title, shortened
from bayesgrove.trees import Layout, Tree
from bayesgrove.trees.layout import lay_out_opened

TREE_SHARE = 0.34
"""Of the width goes to the tree."""
BESIDE, WORDS = TREE_SHARE + 0.008, TREE_SHARE + 0.025
"""Where colours and words stand, in shares of the width."""
MAX_LETTERS = 24
"""Of a member's name."""
LARGEST_PICTURE = 42.0
"""Points."""


def tree_with_members(
    result: Any,
    ax: Any = None,
    *,
    images: Any = None,
    leaf_labels: Any = None,
    max_members: int = 30,
    max_clusters: int = 24,
    title: str | None = None,
) -> Any:
    """Draw the tree down to its clusters, each with its members beside it, and return the matplotlib axes.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    images : array of shape (n_rows, height, width) or (n_rows, height, width, 3), optional
        Pictures of the rows, shown in place of names; numbers run from 0 to the largest of them.
    leaf_labels : sequence of str, optional
        Names per row in place of the tree's own.
    max_members : int
        Of each cluster; fewer where there is no room. The others are counted.
    max_clusters : int
        Branches shown, the highest merges first, and no more than can be read; a branch of several clusters is grey.
    title : str, optional

    Notes
    -----
    Names are in the order of the tree; pictures are evenly spread along it.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> model = bg.BHC(random_state=0).fit([[0.0], [0.1], [0.3], [9.0], [9.1]])
    >>> ax = bg.plot.tree_with_members(model, leaf_labels=["lion", "lynx", "cat", "oak", "elm"])
    >>> [text.get_text() for text in ax.texts[1:]]  # the first is "p = ½"
    ['oak, elm', 'cat, lion, lynx']
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    drawing = prepare_members(result, ax, images, leaf_labels, max_members, max_clusters, (8.0, 11.0))
    ax, slots = drawing.ax, drawing.slots
    _draw_tree(ax, result.tree, drawing.placed, drawing.colours, float(slots.height.sum()))
    draw_members(drawing, result.tree, max_members)
    set_title(ax, title, above=font_of(ax))
    return ax


class Drawing(NamedTuple):
    """Where branches and their members go."""

    ax: Any
    placed: Any
    slots: "Slots"
    colours: Any
    pictures: np.ndarray | None
    """None where names are written."""


def prepare_members(
    result: Result,
    ax: Any,
    images: Any,
    leaf_labels: Sequence[str] | None,
    max_members: int,
    max_clusters: int,
    largest: tuple[float, float],
) -> Drawing:
    """Places and colours of the branches shown; new axes have the width of `largest` and at most its height."""
    for name, value in (("max_members", max_members), ("max_clusters", max_clusters)):
        if value < 1:
            raise InvalidSettingError(f"{name} is at least 1, got {value}. Try 20.")
    pictures = None if images is None else checked_pictures(images, result.labels.size)
    fitting = max_clusters if ax is None else min(max_clusters, most_ends(ax))
    layout = cluster_layout(result.tree, result.labels, fitting)
    ax = new_axes(ax, (largest[0], float(np.clip(1.6 + 0.42 * layout.n_ends, 3.0, largest[1]))))
    if pictures is None:
        members = end_members(result, layout, names_of_items(result.tree, leaf_labels), max_members)
        slots = name_slots(ax, members)
    else:
        slots = Slots(np.ones(layout.n_ends), [[] for _ in range(layout.n_ends)], font_of(ax) - 1.0)
    colours = node_colours(result.tree, result.labels, layout.node)
    return Drawing(ax, with_places(layout, slots.height), slots, colours, pictures)


def draw_members(drawing: Drawing, tree: Tree, max_members: int) -> None:
    """Names or pictures at the ends of the branches."""
    ax, placed, slots, colours, pictures = drawing
    if pictures is None:
        write_members(ax, placed, slots, colours)
    else:
        show_pictures(ax, tree, placed, pictures, colours, max_members)


def most_ends(ax: Any) -> int:
    """How many branches can be read one below the other."""
    return max(int(0.92 * room(ax)[1] / (1.5 * LINE * SMALLEST_FONT)), 2)


def checked_pictures(images: Any, n_rows: int) -> np.ndarray:
    """Pictures as float (n, h, w) or (n, h, w, 3) between 0 and 1."""
    pictures = np.asarray(images)
    is_right = pictures.ndim == 3 or (pictures.ndim == 4 and pictures.shape[3] == 3)
    if not is_right or len(pictures) != n_rows or 0 in pictures.shape or pictures.dtype.kind not in "buif":
        raise InvalidInputError(
            f"images have the shape ({n_rows}, height, width) or ({n_rows}, height, width, 3), one per row and of "
            f"numbers, got {pictures.shape} of {pictures.dtype}. Reshape them: X.reshape({n_rows}, height, width)."
        )
    numbers = np.nan_to_num(pictures.astype(np.float64))
    return np.clip(numbers / max(float(numbers.max()), 1e-300), 0.0, 1.0)


def cluster_layout(tree: Tree, labels: np.ndarray, max_clusters: int) -> Layout:
    """The nodes above the clusters, the highest first, and below them an end for each branch that is in one cluster."""
    mixed = np.flatnonzero(node_clusters(tree, labels) == NULL)
    opened: set[int] = set()
    n_ends = 1
    for node in mixed[np.lexsort((-mixed, -tree.height[mixed]))].tolist():
        more = len(tree.children(node)) - 1
        is_reached = node == tree.root or (int(tree.parent[node]) in opened and n_ends + more <= max_clusters)
        if is_reached:
            opened.add(node)
            n_ends += more
    return lay_out_opened(tree, opened)


class Slots(NamedTuple):
    """The room of each end, from top to bottom."""

    height: np.ndarray
    lines: list[list[str]]
    font: float


def ends_in_order(layout: Layout) -> np.ndarray:
    """Indices of the ends, from the first place to the last."""
    ends = np.flatnonzero(layout.is_end)
    return ends[np.argsort(layout.x[ends], kind="stable")]


def with_places(layout: Layout, heights: np.ndarray) -> Layout:
    """The layout with ends in the middle of slots of these heights, inner nodes midway between their children."""
    return with_ends_at(layout, np.cumsum(heights) - heights / 2.0)


def with_ends_at(layout: Layout, places: np.ndarray) -> Layout:
    """The layout with ends, from left to right, at these places."""
    x = layout.x.copy()
    x[ends_in_order(layout)] = places
    low, high = np.where(layout.is_end, x, np.inf), np.where(layout.is_end, x, -np.inf)
    for k, above in enumerate(layout.parent):
        x[k] = (low[k] + high[k]) / 2.0
        if above != NULL:
            low[above], high[above] = min(low[above], x[k]), max(high[above], x[k])
    return layout._replace(x=x, low=low, high=high)


class Members(NamedTuple):
    """What is said of an end."""

    names: list[str]
    """The first of them."""
    n_rows: int
    opening: str
    """Says that there are several clusters."""
    noun: str = "row"


def end_members(result: Result, layout: Layout, name_of: Callable[[int], str], most: int) -> list[Members]:
    """What is said of each end, from the first place to the last."""
    found = []
    for k in ends_in_order(layout):
        items = result.tree.items_below(int(layout.node[k]))
        n_clusters = np.unique(result.labels[items]).size
        names = [shortened(name_of(int(item)), MAX_LETTERS) for item in items[:most]]
        opening = f"{n_clusters:,} clusters: " if n_clusters > 1 else ""
        found.append(Members(names, items.size, opening, result.noun))
    return found


def name_slots(ax: Any, members: list[Members]) -> Slots:
    """Names in lines; heights in lines, half a line between clusters."""
    width, height = _wide_room(ax)
    font = min(font_of(ax) - 0.5, 0.92 * height / (1.5 * LINE * len(members)))
    letters = max(int((1.0 - WORDS) * 0.98 * width / (LETTER * font)), 12)
    wanted = [len(member_lines(own, letters, 10_000)) for own in members]
    n_lines = allotted(wanted, int(0.96 * height / (LINE * font) - 0.5 * len(members)))
    lines = [member_lines(own, letters, most) for own, most in zip(members, n_lines, strict=True)]
    return Slots(np.array([len(own) + 0.5 for own in lines]), lines, font)


def allotted(wanted: list[int], total: int) -> list[int]:
    """Lines for each end: one, and further ones in turn until all have what they want or there are no more."""
    given = [1] * len(wanted)
    left = total - len(wanted)
    while left > 0:
        short = [k for k, lines in enumerate(wanted) if given[k] < lines]
        if not short:
            break
        for k in short[:left]:
            given[k] += 1
        left -= len(short)
    return given


def member_lines(members: Members, letters: int, most: int) -> list[str]:
    """Names with commas in so many lines at most; those left out are counted: "… and 12 more".

    Examples
    --------
    >>> member_lines(Members(["lion", "tiger", "wolf"], 5, ""), 20, 2)
    ['lion, tiger, wolf …', 'and 2 more']
    """
    # Spaces that do not break keep a name together, and the last words.
    names = [name.replace(" ", "\N{NO-BREAK SPACE}") if len(name) < letters else name for name in members.names]
    for kept in range(len(names), 0, -1):
        rest = (
            f" … and\N{NO-BREAK SPACE}{members.n_rows - kept:,}\N{NO-BREAK SPACE}more" if kept < members.n_rows else ""
        )
        words = members.opening + ", ".join(names[:kept]) + rest
        lines = textwrap.wrap(words, letters, break_on_hyphens=False)
        if len(lines) <= most:
            return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    return [f"{members.n_rows:,} {members.noun}{'' if members.n_rows == 1 else 's'}"]


def _draw_tree(ax: Any, tree: Tree, layout: Layout, colours: list[str], total: float) -> None:
    """Branches on the left, root first; the rest of the width is left to the members."""
    axis = height_axis(tree, "auto")
    heights = np.where(layout.is_end, axis.base, drawn_heights(tree, layout, axis))
    draw_branches(ax, layout, heights, axis, colours, is_vertical=False)
    dress_height_axis(ax, axis, is_vertical=False, share=TREE_SHARE)
    turn, back = (np.arcsinh, np.sinh) if axis.is_asinh else (np.asarray, np.asarray)
    top, base = turn(axis.top), turn(axis.base)
    ax.set_xlim(axis.top, float(back(top - (top - base) / TREE_SHARE)))
    ax.set_ylim(total, 0.0)
    ax.set_yticks([])
    ax.spines["bottom"].set_bounds(axis.base, axis.top)
    ax.xaxis.label.set_horizontalalignment("left")
    ax.xaxis.label.set_x(0.0)


def write_members(ax: Any, layout: Layout, slots: Slots, colours: list[str]) -> None:
    """Names beside the ends, each with its cluster's colour."""
    line = min(1.1 * LINE * slots.font * slots.height.sum() / room(ax)[1], 1.0)
    for k, lines in zip(ends_in_order(layout), slots.lines, strict=True):
        _mark(ax, layout.x[k], 0.5 * line * len(lines), colours[k])
        _write(ax, layout.x[k], "\n".join(lines), slots.font)


def _mark(ax: Any, place: float, half: float, colour: str) -> None:
    """The cluster's colour beside its members, in which words would be hard to read."""
    across = ax.get_yaxis_transform()
    ax.plot([BESIDE, BESIDE], [place - half, place + half], transform=across, color=colour, linewidth=3.0)
    ax.lines[-1].set_solid_capstyle("butt")


def _write(ax: Any, place: float, words: str, font: float) -> None:
    across = ax.get_yaxis_transform()
    ax.text(
        WORDS, place, words, transform=across, va="center", fontsize=font, linespacing=LINE / 1.2, color=ink(ax, 0.87)
    )


def show_pictures(
    ax: Any, tree: Tree, layout: Layout, pictures: np.ndarray, colours: list[str], max_members: int
) -> None:
    """A mosaic for each end and its number of rows."""
    font = font_of(ax) - 1.0
    width, height = _wide_room(ax)
    ends = ends_in_order(layout)
    counts = [f"{tree.size[layout.node[k]]:,} row{'' if tree.size[layout.node[k]] == 1 else 's'}" for k in ends]
    start = WORDS + LETTER * font * (max(map(len, counts)) + 0.5) / width
    shape = mosaic_shape(pictures.shape[1:3], (1.0 - start) * width, 0.94 * height / ends.size, max_members)
    for place, (k, words) in enumerate(zip(ends, counts, strict=True)):
        _mark(ax, layout.x[k], 0.42, colours[k])
        _write(ax, layout.x[k], words, font)
        items = tree.items_below(int(layout.node[k]))
        shown = items[np.linspace(0, items.size - 1, min(items.size, shape[0] * shape[1], max_members)).astype(int)]
        inset = ax.inset_axes((start, 1.0 - (place + 0.97) / ends.size, 1.0 - start, 0.94 / ends.size))
        inset.imshow(mosaic(pictures[shown], *shape), cmap="Greys", vmin=0.0, vmax=1.0, interpolation="nearest")
        inset.set_anchor("W")
        inset.set_axis_off()


def _wide_room(ax: Any) -> tuple[float, float]:
    """Width and height: a layout engine will give the width that names of rows would take elsewhere to the axes."""
    width, height = room(ax)
    return (1.2 if ax.figure.get_layout_engine() is not None else 1.0) * width, height


def mosaic_shape(shape: tuple[int, ...], width: float, height: float, most: int) -> tuple[int, int]:
    """Pictures across and down that fill so many points, none larger than it need be."""
    aspect = shape[1] / shape[0]
    n_down = max(int(np.ceil(height / LARGEST_PICTURE)), 1)
    n_across = max(int(width / (height / n_down * aspect)), 1)
    n_across = min(n_across, max(-(-most // n_down), 1))
    return n_across, min(n_down, -(-most // n_across))


def mosaic(pictures: np.ndarray, n_across: int, n_down: int) -> np.ndarray:
    """Pictures side by side with a white edge of a pixel or more, an array (h, w) or (h, w, 3).

    Grey pictures are masked, coloured ones white, where there is none.
    """
    n, height, width = pictures.shape[:3]
    edge = max(round(0.06 * max(height, width)), 1)
    colour = pictures.shape[3:]
    empty = 1.0 if colour else 0.0
    tiles = np.full((n_across * n_down, height + edge, width + edge, *colour), empty)
    tiles[:n, :height, :width] = pictures[: n_across * n_down]
    rows = tiles.reshape(n_down, n_across, height + edge, width + edge, *colour)
    whole: np.ndarray = rows.swapaxes(1, 2).reshape(n_down * (height + edge), n_across * (width + edge), *colour)
    return whole
