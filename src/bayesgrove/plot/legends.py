"""Legends above the axes, where they hide nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesgrove.inference.result import Result
from bayesgrove.plot.subjects import cluster_sizes
from bayesgrove.plot.words import LETTER, font_of, room

SHARE = 0.25
"""Of the axes' height at most goes to a legend."""
CHROME = 3.2
"""Width of an entry besides its letters, in units of the font size."""


def legend_columns(ax: Any, names: Sequence[str]) -> int:
    """How many entries fit side by side."""
    entry = (font_of(ax) - 1.0) * (LETTER * max(map(len, names)) + CHROME)
    return int(np.clip(room(ax)[0] // entry, 1, len(names)))


def legend_above(ax: Any, handles: Sequence[Any], names: Sequence[str], heading: str | None = None) -> float:
    """A legend over the axes, in as many lines as it takes; gives its height in points."""
    font, columns = font_of(ax) - 1.0, legend_columns(ax, names)
    legend = ax.legend(
        handles,
        names,
        title=heading,
        title_fontsize=font,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        fontsize=font,
        frameon=False,
        borderaxespad=0.2,
        borderpad=0.2,
        labelspacing=0.25,
        handlelength=1.4,
        handletextpad=0.4,
        columnspacing=1.0,
    )
    for line in legend.get_lines():
        line.set_linewidth(max(line.get_linewidth(), 1.6))
    n_lines = -(-len(names) // columns) + (heading is not None)
    return 1.4 * font * n_lines + 0.6 * font


def cluster_legend(ax: Any, result: Result, drawn: Mapping[int, Any]) -> float:
    """Clusters with their numbers of rows, as many as there is room for, the rest counted; gives its height.

    Parameters
    ----------
    drawn : mapping of int to artist
        By label, in the order of the entries.
    """
    from matplotlib.lines import Line2D

    sizes = cluster_sizes(result)
    names = [f"{label} ({sizes[label]:,})" for label in drawn]
    handles = list(drawn.values())
    n_lines = max(int(SHARE * room(ax)[1] / (1.4 * (font_of(ax) - 1.0))), 1)
    fitting = n_lines * legend_columns(ax, [*names, "+ 99 more"])
    if len(names) > fitting:
        kept = max(fitting - 1, 1)
        names = [*names[:kept], f"+ {len(names) - kept} more"]
        handles = [*handles[:kept], Line2D([], [], linestyle="")]
    return legend_above(ax, handles, names, f"cluster ({result.noun}s)")
