"""Icicles: every node a block as wide as its number of leaves."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.plot.axes import (
    HeightAxis,
    drawn_heights,
    dress_height_axis,
    end_names,
    height_axis,
    name_ends,
    new_axes,
)
from bayesgrove.plot.colours import cluster_labels, node_colours
from bayesgrove.plot.subjects import tree_and_labels
from bayesgrove.plot.words import font_of, name_colour_bar, room, set_title, wrapped
from bayesgrove.trees import Layout, Tree, lay_out

COLOURS = ("cluster", "probability")
MAX_NAMED = 60


def icicle(
    subject: Any,
    ax: Any = None,
    *,
    labels: Any = None,
    leaf_labels: Any = None,
    max_leaves: int = 200,
    colour: str = "cluster",
    scale: str = "auto",
    title: str | None = None,
) -> Any:
    """Draw the tree as nested blocks, root on top, and return the matplotlib axes.

    A block reaches from its node's merge height up to its parent's and is as wide as its number of items,
    so sizes are read directly where a dendrogram gives every branch the same room.

    Parameters
    ----------
    subject, ax, labels, leaf_labels, scale, title
        As for `dendrogram`.
    max_leaves : int
        Blocks side by side; what lies below them is not divided further.
    colour : {"cluster", "probability"}
        Clusters of a cut (grey above it), or the probability that a block is one cluster.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.icicle(bg.BHC(random_state=0).fit(blobs.X))
    >>> len(ax.collections[0].get_paths())  # 30 leaves and 29 merges
    59
    >>> plt.close(ax.figure)
    """
    if colour not in COLOURS:
        raise InvalidSettingError(f"colour is one of {COLOURS}, got {colour!r}.")
    tree, labels = tree_and_labels(subject, labels)
    clusters = cluster_labels(tree, labels)
    if colour == "probability" and tree.log_merge_odds is None:
        raise InvalidSettingError('colour="probability" needs log_merge_odds. Use colour="cluster".')
    layout = lay_out(tree, max_leaves)
    axis = height_axis(tree, scale)
    ax = new_axes(ax, (9.0, 4.6))
    blocks = _draw_blocks(ax, tree, layout, axis)
    if colour == "cluster":
        blocks.set_facecolor(node_colours(tree, clusters, layout.node))
    else:
        _colour_by_chance(ax, tree, layout, blocks)
    _dress(ax, tree, layout, axis, leaf_labels, title)
    return ax


def _draw_blocks(ax: Any, tree: Tree, layout: Layout, axis: HeightAxis) -> Any:
    from matplotlib.collections import PolyCollection

    heights = drawn_heights(tree, layout, axis)
    bottom = np.where(layout.is_end, axis.base, heights)
    top = np.where(layout.parent == NULL, axis.top, heights[layout.parent])
    left = tree.leaf_start[layout.node].astype(np.float64)
    right = left + tree.size[layout.node]
    corners = ((left, bottom), (right, bottom), (right, top), (left, top))
    shapes = np.stack([np.column_stack(corner) for corner in corners], axis=1)
    edge = float(np.clip(40.0 / layout.n_ends, 0.15, 0.8))
    blocks = PolyCollection(list(shapes), edgecolors="white", linewidths=edge, alpha=0.85)
    return ax.add_collection(blocks, autolim=False)


def _colour_by_chance(ax: Any, tree: Tree, layout: Layout, blocks: Any) -> None:
    odds = np.asarray(tree.log_merge_odds)[layout.node]
    blocks.set_array(np.exp(-np.logaddexp(0.0, -odds)))
    blocks.set_cmap("cividis")
    blocks.set_clim(0.0, 1.0)
    name_colour_bar(ax, ax.figure.colorbar(blocks, ax=ax, pad=0.01), "probability of one cluster")


def _dress(ax: Any, tree: Tree, layout: Layout, axis: HeightAxis, leaf_labels: Any, title: str | None) -> None:
    dress_height_axis(ax, axis, is_vertical=True)
    ax.set_xlim(0, tree.n_leaves)
    names = end_names(tree, layout, leaf_labels)
    if tree.n_leaves <= MAX_NAMED and not layout.is_collapsed.any():
        name_ends(ax, np.arange(tree.n_leaves) + 0.5, names, is_vertical=True)
    else:
        ax.tick_params(axis="x", labelsize=font_of(ax) - 1.0)
    ax.set_xlabel(wrapped(f"{tree.n_leaves:,} items, in the order of the tree", room(ax)[0], font_of(ax)))
    ax.xaxis.label.set_fontsize(font_of(ax))
    set_title(ax, title)
