"""A small dendrogram as inline SVG, for notebooks."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.trees.layout import Layout, decision_scale, describe_size, format_probability, lay_out

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
    along = _across(tree, layout)
    down = ROW * (layout.x + 0.75)
    marks = [
        *(_branch(layout, along, down, k) for k in range(layout.node.size)),
        *(_caption(tree, layout, along, down, k) for k in range(layout.node.size)),
    ]
    height = ROW * (layout.n_ends + 0.5)
    title = f"Tree of {describe_size(tree.n_leaves)}" + (
        f", its top {layout.n_ends} branches" if layout.n_ends < tree.n_leaves else ""
    )
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


def _branch(layout: Layout, along: np.ndarray, down: np.ndarray, k: int) -> str:
    stroke = 'fill="none" stroke="currentColor" stroke-width="1.2"'
    parts = []
    if layout.parent[k] != NULL:
        parts.append(f"M{along[layout.parent[k]]:.1f} {down[k]:.1f}H{along[k]:.1f}")
    if not layout.is_end[k]:
        low, high = ROW * (layout.low[k] + 0.75), ROW * (layout.high[k] + 0.75)
        parts.append(f"M{along[k]:.1f} {low:.1f}V{high:.1f}")
    if layout.is_collapsed[k]:
        parts.append(f"M{along[k]:.1f} {down[k]:.1f}L{WIDTH - 6} {down[k] - 5:.1f}v10Z")
    return f'<path d="{"".join(parts)}" {stroke}/>' if parts else ""


def _caption(tree: "Tree", layout: Layout, along: np.ndarray, down: np.ndarray, k: int) -> str:
    node = int(layout.node[k])
    odds = tree.log_merge_odds
    chance = "" if odds is None else f"merge probability {format_probability(float(odds[node]))}"
    if not layout.is_end[k]:
        tip = ", ".join(part for part in (describe_size(int(tree.size[node])), chance) if part)
        return f'<circle cx="{along[k]:.1f}" cy="{down[k]:.1f}" r="2.5"><title>{escape(tip)}</title></circle>'
    if layout.is_collapsed[k]:
        words = ", ".join(part for part in (describe_size(int(tree.size[node])), chance) if part)
    else:
        words = tree.label(int(tree.item[node]))
    shown = words if len(words) <= MAX_NAME else words[: MAX_NAME - 1] + "…"
    return f'<text x="{WIDTH}" y="{down[k] + 4:.1f}">{escape(shown)}<title>{escape(words)}</title></text>'
