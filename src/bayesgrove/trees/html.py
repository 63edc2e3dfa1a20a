"""A small dendrogram as inline SVG, for notebooks."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.trees.cuts import node_labels
from bayesgrove.trees.layout import (
    Layout,
    decision_scale,
    describe_merge,
    describe_size,
    lay_out,
    lay_out_opened,
    opened_nodes,
)

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree

MAX_LEAVES = 24
ROW = 16
WIDTH = 360
LABEL_WIDTH = 220
MAX_NAME = 32


def tree_to_html(tree: "Tree") -> str:
    """A figure with the root on the left; large trees are collapsed to their top."""
    layout = lay_out(tree, MAX_LEAVES)
    is_whole = layout.n_ends == tree.n_leaves
    title = f"Tree of {describe_size(tree.n_leaves)}" + ("" if is_whole else f", its top {layout.n_ends} branches")
    captions = [_caption(tree, layout, k) for k in range(layout.node.size)]
    return _figure(tree, layout, title, captions, ["currentColor"] * layout.node.size)


def folded_to_html(tree: "Tree", labels: np.ndarray, colours: list[str]) -> str:
    """A figure of the tree folded to its clusters, each in its colour; of very many clusters only the top is shown.

    Parameters
    ----------
    tree : Tree
    labels : int array of shape (n_leaves,)
        Cluster of each item, 0 .. n_clusters - 1.
    colours : list of str
        Of each cluster.
    """
    cluster = node_labels(tree, labels)
    layout = lay_out_opened(tree, opened_nodes(tree, MAX_LEAVES, cluster == NULL))
    shown = cluster[layout.node]
    n_parts = np.bincount(shown[layout.is_end & (shown != NULL)], minlength=len(colours))
    captions = [_caption(tree, layout, k) for k in range(layout.node.size)]
    for k in np.flatnonzero(layout.is_end & (shown != NULL)).tolist():
        part = "part of " if n_parts[shown[k]] > 1 else ""
        captions[k] = f"{part}cluster {shown[k]}: {describe_size(int(tree.size[layout.node[k]]))}"
    clusters = "1 cluster" if len(colours) == 1 else f"{len(colours):,} clusters"
    strokes = ["currentColor" if label == NULL else colours[label] for label in shown.tolist()]
    return _figure(tree, layout, f"Tree of {describe_size(tree.n_leaves)} in {clusters}", captions, strokes)


def _figure(tree: "Tree", layout: Layout, title: str, captions: list[str], strokes: list[str]) -> str:
    """The drawing, with a caption and a colour for each node."""
    along = _across(tree, layout)
    down = ROW * (layout.x + 0.75)
    marks = [
        *(_branch(layout, along, down, k, strokes[k]) for k in range(layout.node.size)),
        *(_mark(layout, along, down, k, captions[k]) for k in range(layout.node.size)),
    ]
    height = ROW * (layout.n_ends + 0.5)
    return (
        f'<figure style="margin:0"><figcaption>{title}</figcaption>'
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" '
        f'viewBox="0 0 {WIDTH + LABEL_WIDTH} {height:g}" width="{WIDTH + LABEL_WIDTH}" height="{height:g}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor" stroke="none">'
        f"{''.join(marks)}</svg></figure>"
    )


def _across(tree: "Tree", layout: Layout) -> np.ndarray:
    """Horizontal place of each shown node: the root on the left, height 0 on the right."""
    ends = decision_scale(np.array([0.0, tree.height[tree.root]]), tree.half_height)
    span = float(ends[1] - ends[0]) or 1.0
    return 6 + (WIDTH - 12) * (1 - (decision_scale(layout.y, tree.half_height) - ends[0]) / span)


def _branch(layout: Layout, along: np.ndarray, down: np.ndarray, k: int, colour: str) -> str:
    stroke = f'fill="none" stroke="{colour}" stroke-width="1.2"'
    parts = []
    if layout.parent[k] != NULL:
        parts.append(f"M{along[layout.parent[k]]:.1f} {down[k]:.1f}H{along[k]:.1f}")
    if not layout.is_end[k]:
        low, high = ROW * (layout.low[k] + 0.75), ROW * (layout.high[k] + 0.75)
        parts.append(f"M{along[k]:.1f} {low:.1f}V{high:.1f}")
    if layout.is_collapsed[k]:
        parts.append(f"M{along[k]:.1f} {down[k]:.1f}L{WIDTH - 6} {down[k] - 5:.1f}v10Z")
    return f'<path d="{"".join(parts)}" {stroke}/>' if parts else ""


def _caption(tree: "Tree", layout: Layout, k: int) -> str:
    """The name of an item; of several how many they are, and their merge probability."""
    node = int(layout.node[k])
    if layout.is_end[k] and not layout.is_collapsed[k]:
        return tree.label(int(tree.item[node]))
    return ", ".join(filter(None, (describe_size(int(tree.size[node])), describe_merge(tree, node))))


def _mark(layout: Layout, along: np.ndarray, down: np.ndarray, k: int, words: str) -> str:
    if not layout.is_end[k]:
        return f'<circle cx="{along[k]:.1f}" cy="{down[k]:.1f}" r="2.5"><title>{escape(words)}</title></circle>'
    shown = words if len(words) <= MAX_NAME else words[: MAX_NAME - 1] + "…"
    return f'<text x="{WIDTH}" y="{down[k] + 4:.1f}">{escape(shown)}<title>{escape(words)}</title></text>'
