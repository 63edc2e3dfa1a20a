"""Dendrograms that stay legible from ten leaves to a million."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.plot.axes import (
    HeightAxis,
    caption,
    choose_vertical,
    drawn_heights,
    dress_height_axis,
    end_names,
    height_axis,
    most_names,
    name_ends,
    new_axes,
)
from bayesgrove.plot.colours import cluster_labels, node_clusters, node_colours
from bayesgrove.plot.subjects import tree_and_labels
from bayesgrove.plot.words import LETTER, font_of, ink, room, set_title, wrapped
from bayesgrove.trees import Layout, Tree, lay_out
from bayesgrove.trees.layout import format_probability

MAX_LEAVES = 40
TRIANGLE = 0.36
"""Half the width of a collapsed branch, in places."""
MAX_CHANCES = 25
FEW_ENDS = 15
"""Up to so many places every merge has its probability, beyond only those on both sides of the cut."""


def dendrogram(
    subject: Any,
    ax: Any = None,
    *,
    labels: Any = None,
    leaf_labels: Any = None,
    max_leaves: int | None = None,
    probabilities: bool = True,
    scale: str = "auto",
    orientation: str = "auto",
    title: str | None = None,
) -> Any:
    """Draw a dendrogram and return the matplotlib axes.

    Parameters
    ----------
    subject : Result, fitted estimator or Tree
    ax : matplotlib axes, optional
        A new figure when missing.
    labels : array of shape (n_leaves,), optional
        Clusters to colour; by default the labels of the fit, and of a bare tree the cut at probability 1/2 where it
        has log merge odds. Branches above the cut are grey.
    leaf_labels : sequence of str, optional
        Names per item in place of the tree's own.
    max_leaves : int, optional
        Larger trees show their highest merges; the branches below become triangles with counts. By default 40, or fewer
        where so many names could not be read.
    probabilities : bool
        Write merge probabilities at the nodes around the cut, as many as fit.
    scale : {"auto", "asinh", "linear"}
        asinh is even-handed on both sides of probability 1/2 and compresses what is far from it; "auto"
        takes it for trees of log merge odds.
    orientation : {"auto", "vertical", "horizontal"}
        "auto" puts the root on the left when leaf names are long.
    title : str, optional

    Notes
    -----
    Log odds are not monotone along a branch; the height drawn is the running maximum of -log odds from the
    leaves up, 0 at probability 1/2.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.dendrogram(bg.BHC(random_state=0).fit(blobs.X), max_leaves=3)
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['(10)', '(10)', '(10)']
    >>> plt.close(ax.figure)
    """
    tree, labels = tree_and_labels(subject, labels)
    clusters = cluster_labels(tree, labels)
    layout = lay_out(tree, MAX_LEAVES if max_leaves is None else max_leaves)
    names = end_names(tree, layout, leaf_labels)
    axis = height_axis(tree, scale)
    is_vertical = choose_vertical(orientation, names)
    if max_leaves is None and ax is not None:
        layout = lay_out(tree, min(MAX_LEAVES, most_names(ax, is_vertical)))
        names = end_names(tree, layout, leaf_labels)
    ax = new_axes(ax, _figure_size(layout.n_ends, is_vertical))
    heights = drawn_heights(tree, layout, axis)
    colours = node_colours(tree, clusters, layout.node)
    draw_branches(ax, layout, heights, axis, colours, is_vertical)
    _draw_triangles(ax, layout, heights, axis, colours, is_vertical)
    _dress(ax, tree, layout, axis, names, is_vertical, title)
    if probabilities and clusters is not None and tree.log_merge_odds is not None:
        around = _around_the_cut(tree, layout, clusters)
        _write_chances(ax, tree, layout, heights, is_vertical, around)
    return ax


def _figure_size(n_ends: int, is_vertical: bool) -> tuple[float, float]:
    long_side = float(np.clip(2.5 + 0.2 * n_ends, 5.0, 12.0))
    return (long_side, 4.6) if is_vertical else (7.0, long_side)


def draw_branches(
    ax: Any, layout: Layout, heights: np.ndarray, axis: HeightAxis, colours: list[str], is_vertical: bool
) -> None:
    """One bar per opened node and one stem per child, in the colour of the node."""
    from matplotlib.collections import LineCollection

    opened = np.flatnonzero(~layout.is_end)
    bars = np.stack([np.column_stack([side[opened], heights[opened]]) for side in (layout.low, layout.high)], axis=1)
    below = np.flatnonzero(layout.parent != NULL)
    stems = np.stack(
        [np.column_stack([layout.x[below], end[below]]) for end in (heights, heights[layout.parent])], axis=1
    )
    segments = np.concatenate([bars, stems])
    shades = [colours[k] for k in (*opened, *layout.parent[below])]
    if layout.node.size == 1:  # a single leaf or a single block: a stem, so that something is seen
        segments = np.array([[[0.0, axis.base], [0.0, axis.top]]])
        shades = colours
    width = float(np.clip(60.0 / max(layout.n_ends, 1), 0.4, 1.4))
    lines = LineCollection(
        list(segments if is_vertical else segments[:, :, ::-1]),
        colors=shades,
        linewidths=width,
        capstyle="round",
    )
    ax.add_collection(lines, autolim=False)


def _draw_triangles(
    ax: Any, layout: Layout, heights: np.ndarray, axis: HeightAxis, colours: list[str], is_vertical: bool
) -> None:
    """Collapsed branches, from their merge height down to the leaves."""
    from matplotlib.collections import PolyCollection

    ends = np.flatnonzero(layout.is_collapsed)
    x, y = layout.x[ends], heights[ends]
    base = np.full(ends.size, axis.base)
    corners = np.stack(
        [np.column_stack(point) for point in ((x, y), (x - TRIANGLE, base), (x + TRIANGLE, base))], axis=1
    )
    shades = [colours[k] for k in ends]
    blocks = PolyCollection(
        list(corners if is_vertical else corners[:, :, ::-1]),
        facecolors=shades,
        edgecolors=shades,
        linewidths=0.6,
        alpha=0.55,
    )
    ax.add_collection(blocks, autolim=False)


def _dress(
    ax: Any,
    tree: Tree,
    layout: Layout,
    axis: HeightAxis,
    names: list[str],
    is_vertical: bool,
    title: str | None,
) -> None:
    margin = max(0.6, 0.01 * layout.n_ends)
    limits = (-margin, layout.n_ends - 1 + margin)
    places = np.arange(layout.n_ends)
    dress_height_axis(ax, axis, is_vertical)
    font, (width, height) = font_of(ax), room(ax)
    if is_vertical:
        ax.set_xlim(*limits)
        ax.set_xlabel(wrapped(caption(tree, layout), width, font), fontsize=font)
    else:
        ax.set_ylim(*reversed(limits))
        ax.set_ylabel(wrapped(caption(tree, layout), height, font), fontsize=font)
    name_ends(ax, places, names, is_vertical)
    set_title(ax, title, above=0.0 if is_vertical else font)


def _around_the_cut(tree: Tree, layout: Layout, clusters: np.ndarray) -> np.ndarray:
    """Indices of the shown merges that decide: whole clusters and the merges just above them.

    All shown merges when the picture is small or ends above the cut.
    """
    is_merge = tree.item[layout.node] == NULL
    if layout.n_ends > FEW_ENDS:
        is_whole = node_clusters(tree, clusters)[layout.node] != NULL
        is_top = is_whole & ~np.append(is_whole[layout.parent[:-1]], False)
        decides = is_top.copy()
        decides[layout.parent[:-1][is_top[:-1]]] = True
        is_merge &= decides | ~(decides & is_merge).any()
    return np.flatnonzero(is_merge)


def _write_chances(
    ax: Any, tree: Tree, layout: Layout, heights: np.ndarray, is_vertical: bool, inner: np.ndarray
) -> None:
    """Probabilities at some nodes, the undecided ones first, skipping those whose words would collide."""
    odds = np.asarray(tree.log_merge_odds)[layout.node]
    taken: list[tuple[float, float]] = []
    letters = 4 * LETTER * chance_font(ax) * ax.figure.dpi / 72.0
    line = 1.25 * chance_font(ax) * ax.figure.dpi / 72.0
    for k in inner[np.argsort(np.abs(odds[inner]), kind="stable")]:
        place = (layout.x[k], heights[k]) if is_vertical else (heights[k], layout.x[k])
        across, up = ax.transData.transform(place)
        if len(taken) < MAX_CHANCES and all(abs(across - x) > letters or abs(up - y) > line for x, y in taken):
            taken.append((across, up))
            _write_chance(ax, place, format_probability(float(odds[k])))


def chance_font(ax: Any) -> float:
    """Size of the probabilities."""
    return max(font_of(ax) - 2.0, 5.5)


def _write_chance(ax: Any, place: tuple[float, float], words: str) -> None:
    ax.annotate(
        words,
        place,
        xytext=(2.0, 2.0),
        textcoords="offset points",
        fontsize=chance_font(ax),
        color=ink(ax, 0.87),
        bbox={"boxstyle": "square,pad=0.08", "facecolor": ink(ax, 0.0), "edgecolor": "none", "alpha": 0.75},
        zorder=4,
    )
