"""What hierarchies of fixed depth add to a report: nodes, levels, scores, agreement with classes, settings."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.description import spread
from bayesgrove.inference.exhibits import BarsExhibit, Exhibit, GridExhibit, LinesExhibit
from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.paths import best_f_measure, number_paths
from bayesgrove.trees import Tree

MOST_NODES, MOST_MEMBERS = 60, 12
MOST_POINTS = 1_000
MOST_SCORED_DRAWS = 500
QUARTILES = (5.0, 95.0)


def hierarchy_exhibits(posterior: PathPosterior, tree: Tree, levels: np.ndarray) -> tuple[Exhibit, ...]:
    """Levels, nodes and traces of the scores."""
    lines = [score_lines(posterior, name) for name in ("cdl", "rcdl") if name in posterior.scalars]
    return (level_grid(posterior, levels), node_grid(tree), *lines)


def level_grid(posterior: PathPosterior, levels: np.ndarray) -> GridExhibit:
    """Number of nodes at each level, of the tree shown and of the draws."""
    numbered = number_paths(levels)
    rows = []
    for level in range(1, posterior.n_levels + 1):
        counts = posterior.paths[..., level - 1].max(axis=2).astype(np.float64) + 1.0
        low, high = np.percentile(counts, QUARTILES)
        shown = int(numbered[:, level - 1].max()) + 1
        rows.append((level, shown, round(float(counts.mean()), 2), f"{low:.0f} to {high:.0f}"))
    return GridExhibit(
        title="Levels",
        note="Nodes at each level of the tree, only children counted: in the tree shown, and in the draws.",
        columns=("level", "nodes in the tree shown", "mean of the draws", "90 % of the draws"),
        rows=rows,
    )


def node_grid(tree: Tree) -> GridExhibit:
    """Nodes with siblings: level, number of rows, credibility, members."""
    inner = np.flatnonzero((tree.item == NULL) & (tree.parent != NULL))
    alone = np.flatnonzero((tree.item != NULL) & (tree.columns["level"] < tree.height[tree.root]))
    nodes = np.concatenate([inner, alone])
    order = np.lexsort((tree.leaf_start[nodes], tree.columns["level"][nodes]))[:MOST_NODES]
    rows = [_node_row(tree, int(node)) for node in nodes[order]]
    left = nodes.size - len(rows)
    return GridExhibit(
        title="Nodes of the hierarchy",
        note="Every node that has siblings. Credibility is the share of draws in which exactly these rows are a node."
        + (f" The {left} further nodes are not listed." if left else ""),
        columns=("level", "rows", "credibility", "members"),
        rows=rows,
    )


def _node_row(tree: Tree, node: int) -> tuple[int, int, float, str]:
    items = tree.items_below(node)
    names = ", ".join(tree.label(int(item)) for item in items[:MOST_MEMBERS])
    more = f" and {items.size - MOST_MEMBERS} more" if items.size > MOST_MEMBERS else ""
    credible = round(float(tree.columns["credibility"][node]), 3)
    return int(tree.columns["level"][node]), int(items.size), credible, names + more


def score_lines(posterior: PathPosterior, name: str) -> LinesExhibit:
    """The trace of a score, a line per chain."""
    values = posterior.scalars[name]
    draws = spread(values.shape[1], MOST_POINTS)
    words = {"cdl": "log complete-data likelihood", "rcdl": "regularised log complete-data likelihood"}[name]
    return LinesExhibit(
        title=f"{name.upper()} by draw",
        note=f"The {words} of each draw, in nats. It should rise to a plateau that all chains share.",
        x=draws + 1.0,
        series={f"chain {chain}": own[draws] for chain, own in enumerate(values)},
        x_label="draw",
        y_label=f"{name.upper()} (nats)",
    )


def level_scores(posterior: PathPosterior, classes: Any) -> np.ndarray:
    """F-measure of up to 500 draws, evenly spread, at each level: shape (n_draws, n_levels)."""
    known = relabel(classes)
    draws = posterior.paths.reshape(-1, posterior.n_items, posterior.n_levels)
    chosen = draws[spread(len(draws), MOST_SCORED_DRAWS)].astype(np.int64)
    return np.array([[best_f_measure(draw[:, level], known) for level in range(draw.shape[1])] for draw in chosen])


def class_bars(posterior: PathPosterior, classes: Any) -> BarsExhibit:
    """How well each level agrees with known classes: mean of the draws, and 90 % of them."""
    scores = level_scores(posterior, classes)
    low, high = np.percentile(scores, QUARTILES, axis=0)
    return BarsExhibit(
        title="Agreement with known classes",
        note="F-measure of the partition at each level: mean of the draws, and where 90 % of them lie.",
        names=[f"level {level}" for level in range(1, scores.shape[1] + 1)],
        values=scores.mean(axis=0),
        low=low,
        high=high,
        y_label="F-measure",
    )
