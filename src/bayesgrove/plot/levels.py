"""Hierarchies of fixed depth, level by level, with what is in their leaves: names or pictures."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.result import Result
from bayesgrove.plot.colours import MIXED
from bayesgrove.plot.members import (
    BESIDE,
    TREE_SHARE,
    Slots,
    draw_members,
    prepare_members,
)
from bayesgrove.plot.subjects import as_result
from bayesgrove.plot.words import LETTER, font_of, ink, room, set_title
from bayesgrove.trees import Layout

FIRST, LAST = -0.25, 0.2
"""Room before the root and after the last level, in levels."""
SMALLEST_NUMBER = 4.0
"""Font of a number that can be read."""


def level_tree(
    result: Any,
    ax: Any = None,
    *,
    images: Any = None,
    leaf_labels: Any = None,
    max_members: int = 30,
    max_clusters: int = 40,
    credibility: bool = True,
    title: str | None = None,
) -> Any:
    """Draw a hierarchy of fixed depth, its nodes at their levels, members beside the leaves; gives the axes.

    Nodes without siblings are left out, as in `tree_`. Numbers at nodes are their credibility: the share of draws in
    which exactly these rows are a node.

    Parameters
    ----------
    result : Result or fitted estimator
        Of `BHMC` or `RBHMC`.
    ax : matplotlib axes, optional
        A new figure when missing.
    images : array of shape (n_rows, height, width) or (n_rows, height, width, 3), optional
        Pictures of the rows, shown in place of names.
    leaf_labels : sequence of str, optional
        Names per row in place of the tree's own.
    max_members : int
        Of each leaf; fewer where there is no room. The others are counted.
    max_clusters : int
        Branches shown, those near the root first; a branch of several leaves is grey.
    credibility : bool
        Write the numbers at the nodes, where they can be read.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> model = bg.BHMC(depth=2, n_chains=2, n_tune=10, n_draws=20, random_state=0).fit(blobs.X)
    >>> ax = bg.plot.level_tree(model)
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['root', 'level 1', 'level 2']
    >>> plt.close(ax.figure)
    """
    result = leveled_result(result)
    drawing = prepare_members(result, ax, images, leaf_labels, max_members, max_clusters, (8.5, 12.0))
    ax, placed, slots = drawing.ax, drawing.placed, drawing.slots
    font = credibility_font(ax, slots)
    has_numbers = credibility and font >= SMALLEST_NUMBER
    dress_levels(ax, result, float(slots.height.sum()), has_numbers=has_numbers)
    draw_levels(ax, result, placed, drawing.colours)
    draw_members(drawing, result.tree, max_members)
    if has_numbers:
        write_credibility(ax, result, placed, font)
    set_title(ax, title)
    return ax


def leveled_result(subject: Any) -> Result:
    """The result, if its tree says at which level its nodes are."""
    result = as_result(subject)
    if not {"level", "credibility"} <= result.tree.columns.keys():
        raise InvalidInputError(
            f"level_tree shows a hierarchy of fixed depth, and the tree of {result.model} has no levels. "
            "Fit BHMC or RBHMC, or draw dendrogram(result)."
        )
    return result


def n_levels_of(result: Result) -> int:
    """Levels below the root: that of rows that are no nodes less 1, or the deepest."""
    return round(float(result.tree.height[result.tree.root])) - 1 if result.tree.n_nodes > 1 else 1


def dress_levels(ax: Any, result: Result, total: float, *, has_numbers: bool) -> None:
    """An axis of levels below the tree; the rest of the width is left to the members."""
    n_levels, font = n_levels_of(result), font_of(ax) - 1.0
    start, end = FIRST, n_levels + LAST
    ax.set_xlim(start, start + (end - start) / TREE_SHARE)
    ax.set_ylim(total, 0.0)
    ax.set_yticks([])
    each = room(ax)[0] * TREE_SHARE / (end - start)
    long_names = ["root", *(f"level {level}" for level in range(1, n_levels + 1))]
    is_long = each > LETTER * font * 8.0
    names = long_names if is_long else ["0", *map(str, range(1, n_levels + 1))]
    ax.set_xticks(np.arange(n_levels + 1), names, fontsize=font)
    words = [*([] if is_long else ["level"]), *(["numbers: share of draws with this node"] if has_numbers else [])]
    ax.set_xlabel("; ".join(words), fontsize=font, loc="left")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_bounds(0, n_levels)


def draw_levels(ax: Any, result: Result, layout: Layout, colours: list[str]) -> None:
    """Every node at its level, joined to its parent by a stem and a bar; dots lead from ends to their members."""
    from matplotlib.collections import LineCollection

    level = result.tree.columns["level"][layout.node]
    below = np.flatnonzero(layout.parent != NULL)
    above = layout.parent[below]
    stems = [[(level[a], layout.x[k]), (level[k], layout.x[k])] for k, a in zip(below, above, strict=True)]
    opened = np.flatnonzero(~layout.is_end)
    bars = [[(level[k], layout.low[k]), (level[k], layout.high[k])] for k in opened]
    shades = [colours[k] for k in (*below, *opened)]
    ax.add_collection(LineCollection([*stems, *bars], colors=shades, linewidths=1.3, capstyle="round"), autolim=False)
    ends = np.flatnonzero(layout.is_end)
    right = ax.get_xlim()[0] + BESIDE * (ax.get_xlim()[1] - ax.get_xlim()[0])
    leaders = [[(level[k], layout.x[k]), (right, layout.x[k])] for k in ends]
    dots = LineCollection(leaders, colors=[colours[k] for k in ends], linewidths=0.8, linestyles=":")
    ax.add_collection(dots, autolim=False)
    ax.scatter(level, layout.x, s=14, c=[colours[k] or MIXED for k in range(level.size)], zorder=3)


def credibility_font(ax: Any, slots: Slots) -> float:
    """Size of the numbers at nodes: small where lines are close together."""
    return min(font_of(ax) - 2.5, 0.85 * room(ax)[1] / max(float(slots.height.sum()), 1.0) * float(slots.height.min()))


def write_credibility(ax: Any, result: Result, layout: Layout, font: float) -> None:
    """Credibility above each node below the root."""
    tree = result.tree
    for k in np.flatnonzero(layout.parent != NULL):
        node = int(layout.node[k])
        ax.annotate(
            two_digits(float(tree.columns["credibility"][node])),
            (tree.columns["level"][node], layout.x[k]),
            xytext=(-3, 1.5),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=font,
            color=ink(ax, 0.73),
        )


def two_digits(share: float) -> str:
    """A share of draws in two digits; neither 1 nor 0 unless it is.

    Examples
    --------
    >>> [two_digits(share) for share in (1.0, 0.999, 0.5, 0.001, 0.0)]
    ['1', '>.99', '.50', '<.01', '0']
    """
    if share in (0.0, 1.0):
        return f"{share:.0f}"
    return ">.99" if share >= 0.995 else "<.01" if share < 0.005 else f"{share:.2f}"[1:]
