"""Strips of cluster colours along the rows of a heat map."""

from typing import Any

import numpy as np

from bayesgrove.inference.result import Result
from bayesgrove.plot.colours import cluster_colours
from bayesgrove.plot.words import LINE, SMALLEST_FONT, font_of, name_axes, room, shortened, wrapped

WIDTH, GAP = 0.035, 0.012
"""Of the strip and beside it, in shares of the heat map's width."""
MAX_NAMED = 60


def runs_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last + 1 place of each run of equal labels."""
    edges = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1], [True]]))
    return edges[:-1], edges[1:]


def draw_strip(ax: Any, result: Result, items: np.ndarray, n_columns: float) -> None:
    """Clusters of some rows, top to bottom, as coloured blocks on the left of columns 0 .. n_columns."""
    from matplotlib.collections import PolyCollection

    labels = result.labels[items]
    colours = cluster_colours(result.tree, result.labels)
    start, stop = runs_of(labels)
    left, right = -(WIDTH + GAP) * n_columns - 0.5, -GAP * n_columns - 0.5
    blocks = [[(left, a), (right, a), (right, b), (left, b)] for a, b in zip(start - 0.5, stop - 0.5, strict=True)]
    shades = [colours[label] for label in labels[start]]
    strip = PolyCollection(blocks, facecolors=shades, edgecolors="white", linewidths=0.4, label="clusters")
    ax.add_collection(strip, autolim=False)
    ax.set_xlim(left, n_columns - 0.5)
    ax.set_ylim(items.size - 0.5, -0.5)
    for side in ax.spines.values():
        side.set_visible(False)


def name_rows(ax: Any, result: Result, items: np.ndarray, share: float = 1.0) -> None:
    """Names of rows where they can be read, else the numbers of clusters; and how many rows are shown.

    The rows will have this share of the axes' height.
    """
    height = share * room(ax)[1]
    n_all = result.labels.size
    rows = f"{n_all:,} {result.noun}s"
    some = rows if items.size == n_all else f"{items.size:,} of {rows}"
    font = min(font_of(ax) - 1.0, 0.92 * height / items.size)
    is_named = items.size <= MAX_NAMED and font >= SMALLEST_FONT
    name_axes(ax, up=wrapped(some if is_named else f"{some}, by cluster", height, font_of(ax)))
    ax.tick_params(axis="y", length=0)
    if is_named:
        ax.set_yticks(np.arange(items.size), [shortened(result.tree.label(int(k))) for k in items], fontsize=font)
    else:
        _number_clusters(ax, result.labels[items], height)


def _number_clusters(ax: Any, labels: np.ndarray, height: float) -> None:
    """The number of each run of rows that is at least a line high, the largest first where they would touch."""
    font = font_of(ax) - 1.5
    start, stop = runs_of(labels)
    line = LINE * font / height * labels.size
    middle = (start + stop - 1) / 2.0
    kept: list[int] = []
    for k in np.argsort(start - stop, kind="stable").tolist():
        if all(abs(middle[k] - middle[other]) >= line for other in kept):
            kept.append(k)
    ax.set_yticks(middle[kept], [str(labels[start[k]]) for k in kept], fontsize=font)
