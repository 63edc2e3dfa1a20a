"""Trees that are data: one with its labels line by line, or the typical one of each cluster side by side."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.io.tree_data import LabelledTree
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import PLAIN, cluster_colours
from bayesgrove.plot.subjects import as_result, cluster_sizes
from bayesgrove.plot.words import LETTER, LINE, font_of, ink, room, set_title, shortened

LARGEST, SMALLEST = 9.0, 3.6
"""Fonts of labels."""
INDENT = 1.5
"""Of a level, in units of the font size; less where a tree is deep."""
INK = "#9AA5AF"
MOST_PANELS = 8


class TreeLines(NamedTuple):
    """The lines of a tree drawn as an indented list, from the top."""

    depth: np.ndarray
    parent: np.ndarray
    """Line of the parent, -1 at the root."""
    words: list[str]


def labelled_tree(tree: Any, ax: Any = None, *, max_nodes: int = 100, title: str | None = None) -> Any:
    """Draw a tree that is data, a line per node with its label, and return the matplotlib axes.

    Leaves of one label that stand side by side share a line (`p ×3`). Of more than `max_nodes` lines those near the
    root are drawn; `(+7)` counts the nodes below that are not. Positions stand before labels (`3: p`) where they are
    not simply the order of the children.

    Parameters
    ----------
    tree : LabelledTree
        `data[i]` of a `TreeData`.
    ax : matplotlib axes, optional
        A new figure when missing.
    max_nodes : int
        Lines at most.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> ax = bg.plot.labelled_tree(bg.TreeData.from_newick("((a,b)c,d)e;")[0])
    >>> ax.get_xlabel()
    '5 nodes, depth 2'
    >>> plt.close(ax.figure)
    """
    lines = tree_lines(_checked(tree), max_nodes)
    ax = new_axes(ax, (4.6, min(max(1.2 + 0.17 * lines.depth.size, 2.0), 12.0)))
    width, height = _blank(ax)
    draw_lines(ax, lines, (0.0, width), (0.0, height), PLAIN)
    ax.set_xlabel(_size_words(tree), fontsize=font_of(ax))
    set_title(ax, title)
    return ax


def typical_trees(
    model: Any, ax: Any = None, *, clusters: Sequence[int] | None = None, max_nodes: int = 100, title: str | None = None
) -> Any:
    """Draw the most typical tree of each cluster side by side and return the matplotlib axes.

    Parameters
    ----------
    model : fitted estimator
        Of trees, such as `InfiniteTreeHMMMixture`: it has `typical_trees_`.
    ax : matplotlib axes, optional
        A new figure when missing.
    clusters : sequence of int, optional
        Which, from left to right; by default the largest, at most eight.
    max_nodes : int
        Lines of each tree at most.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> trees = bg.TreeData.from_newick(["((a,b)c,d)e;", "((a,b)c)e;", "(x,(y,y)x,x)z;", "(x,(y,y)x)z;"])
    >>> model = bg.TreeHMMMixture(n_clusters=2, n_states=2, n_init=5, random_state=0).fit(trees)
    >>> ax = bg.plot.typical_trees(model)
    >>> [text.get_text() for text in ax.texts if "cluster" in text.get_text()]
    ['cluster 0 (2)', 'cluster 1 (2)']
    >>> plt.close(ax.figure)
    """
    trees, sizes, colours = _subjects(model)
    shown = _chosen(clusters, sizes)
    lines = [tree_lines(trees[cluster], max_nodes) for cluster in shown]
    tallest = max(own.depth.size for own in lines)
    ax = new_axes(ax, (2.1 * len(shown) + 0.6, min(max(1.6 + 0.16 * tallest, 2.4), 12.0)))
    width, height = _blank(ax)
    panel, head = width / len(shown), 2.6 * font_of(ax)
    for place, (cluster, own) in enumerate(zip(shown, lines, strict=True)):
        left, right = place * panel, (place + 0.97) * panel
        words = f"cluster {cluster} ({sizes[cluster]:,})"
        ax.text(left, 0.0, words, fontsize=font_of(ax), va="top", color=colours[cluster], weight="bold")
        bottom = head + (height - head) * own.depth.size / tallest
        draw_lines(ax, own, (left, right), (head, bottom), colours[cluster])
    left_out = sizes.size - len(shown)
    note = f"; {left_out} more clusters" if clusters is None and left_out else ""
    ax.set_xlabel(f"the most typical tree of each cluster (number of trees){note}", fontsize=font_of(ax))
    set_title(ax, title)
    return ax


def _checked(tree: Any) -> LabelledTree:
    if not isinstance(tree, LabelledTree):
        raise InvalidInputError(f"labelled_tree draws one tree, data[i] of a TreeData, got {type(tree).__name__}.")
    return tree


def _subjects(model: Any) -> tuple[list[LabelledTree], np.ndarray, list[str]]:
    """Typical trees of a fitted model, sizes and colours of its clusters."""
    result = as_result(model)
    trees = getattr(model, "typical_trees_", None)
    if trees is None:
        raise InvalidInputError(
            f"typical_trees shows clusters of trees, and {result.model} has no typical_trees_. Fit a model of trees, "
            "such as InfiniteTreeHMMMixture, and give the model itself."
        )
    return trees, cluster_sizes(result), cluster_colours(result.tree, result.labels)


def _chosen(clusters: Sequence[int] | None, sizes: np.ndarray) -> list[int]:
    if clusters is None:
        return sorted(np.argsort(-sizes, kind="stable")[:MOST_PANELS].tolist())
    wrong = [cluster for cluster in clusters if not 0 <= cluster < sizes.size]
    if wrong or not len(clusters):
        raise InvalidSettingError(f"clusters are some of 0 .. {sizes.size - 1}, got {list(clusters)}.")
    return [int(cluster) for cluster in clusters]


def _size_words(tree: LabelledTree) -> str:
    depth = _depths(tree.parents).max()
    n = tree.parents.size
    return f"{n:,} node{'' if n == 1 else 's'}, depth {depth:,}"


def _depths(parents: np.ndarray) -> np.ndarray:
    depth = np.zeros(parents.size, np.int64)
    for node in range(1, parents.size):
        depth[node] = depth[parents[node]] + 1
    return depth


def tree_lines(tree: LabelledTree, max_nodes: int = 100) -> TreeLines:
    """Which nodes are shown, in which order, and what is written of them."""
    if max_nodes < 1:
        raise InvalidSettingError(f"max_nodes must be at least 1, got {max_nodes}. Try 100.")
    groups = _grouped_children(tree)
    opened = _opened(groups, max_nodes)
    n_below = _n_below(tree.parents)
    is_placed = not _is_in_order(tree)
    depth: list[int] = []
    parent: list[int] = []
    words: list[str] = []
    stack: list[tuple[tuple[int, ...], int, int]] = [((0,), 0, NULL)]
    while stack:
        nodes, level, above = stack.pop()
        line = len(words)
        depth.append(level)
        parent.append(above)
        words.append(_node_words(tree, nodes, is_placed and level > 0))
        if nodes[0] in opened:
            stack.extend((group, level + 1, line) for group in reversed(groups[nodes[0]]))
        elif n_below[nodes[0]]:
            words[-1] += f" (+{n_below[nodes[0]]:,})"
    return TreeLines(np.array(depth), np.array(parent), words)


def _grouped_children(tree: LabelledTree) -> dict[int, list[tuple[int, ...]]]:
    """Children of every node by position, neighbouring leaves of one label together."""
    groups: dict[int, list[tuple[int, ...]]] = {}
    order = np.argsort(tree.positions, kind="stable")
    for node in order.tolist():
        above = int(tree.parents[node])
        if above == NULL:
            continue
        own = groups.setdefault(above, [])
        before = own[-1][-1] if own else NULL
        if before != NULL and not tree.internal[node] and not tree.internal[before] and _same(tree, node, before):
            own[-1] = (*own[-1], node)
        else:
            own.append((node,))
    return groups


def _same(tree: LabelledTree, node: int, other: int) -> bool:
    return bool(np.all(tree.labels[node] == tree.labels[other]))


def _opened(groups: dict[int, list[tuple[int, ...]]], max_nodes: int) -> set[int]:
    """Nodes shown with their children: those near the root first, as long as there is room for all children."""
    opened: set[int] = set()
    n_lines, queue, at = 1, [0], 0
    while at < len(queue):
        node = queue[at]
        at += 1
        own = groups.get(node, [])
        if own and n_lines + len(own) <= max_nodes:
            opened.add(node)
            n_lines += len(own)
            queue.extend(group[0] for group in own)
    return opened


def _n_below(parents: np.ndarray) -> np.ndarray:
    below = np.zeros(parents.size, np.int64)
    for node in range(parents.size - 1, 0, -1):
        below[parents[node]] += below[node] + 1
    return below


def _is_in_order(tree: LabelledTree) -> bool:
    """Whether children of all nodes stand at 1, 2, 3, ..., those beyond the largest position sharing it."""
    order = np.lexsort((tree.positions, tree.parents))
    parents, positions = tree.parents[order][1:], tree.positions[order][1:]
    is_first = np.diff(parents, prepend=NULL) != 0
    steps = np.where(is_first, positions, np.diff(positions, prepend=0))
    return bool(np.all((steps == 1) | (~is_first & (steps == 0))))


def _node_words(tree: LabelledTree, nodes: tuple[int, ...], is_placed: bool) -> str:
    label = tree.labels[nodes[0]]
    if isinstance(label, np.ndarray):
        words = ", ".join(f"{value:.3g}" for value in label)
    else:
        words = "?" if label is None or label == NULL else str(label)
    if len(nodes) > 1:
        words += f" \N{MULTIPLICATION SIGN}{len(nodes)}"
    return f"{_place_words(tree.positions[list(nodes)])}: {words}" if is_placed else words


def _place_words(positions: np.ndarray) -> str:
    """Positions as `3`, `1-3` or `1, 3`; of many with gaps the first and the last."""
    first, last = int(positions[0]), int(positions[-1])
    if first == last:
        return str(first)
    if last - first + 1 == positions.size:
        return f"{first}-{last}"
    return ", ".join(map(str, positions)) if positions.size <= 4 else f"{first} .. {last}"


def _blank(ax: Any) -> tuple[float, float]:
    """Axes without frame in units of points, the origin above on the left; gives their width and height."""
    width, height = room(ax)
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return width, height


def draw_lines(ax: Any, lines: TreeLines, across: tuple[float, float], down: tuple[float, float], colour: str) -> None:
    """The list within a rectangle: names, and elbows from parents to children."""
    from matplotlib.collections import LineCollection

    n, width = lines.depth.size, across[1] - across[0]
    each = (down[1] - down[0]) / n
    font = float(np.clip(each / LINE, SMALLEST, min(LARGEST, font_of(ax))))
    each = min(each, 2.0 * font)
    step = min(INDENT * font, 0.5 * width / max(int(lines.depth.max()), 1))
    x = across[0] + 0.5 * font + step * lines.depth
    y = down[0] + each * (np.arange(n) + 0.5)
    below = np.flatnonzero(lines.parent != NULL)
    above = lines.parent[below]
    elbows = [
        [(x[a], y[a] + 0.3 * font), (x[a], y[k]), (x[k] - 0.2 * font, y[k])] for k, a in zip(below, above, strict=True)
    ]
    ax.add_collection(LineCollection(elbows, colors=INK, linewidths=0.6), autolim=False)
    has_children = np.isin(np.arange(n), lines.parent)
    for k in range(n):
        most = max(int((across[1] - x[k]) / (LETTER * font)), 4)
        shade = colour if has_children[k] else ink(ax, 0.8)
        ax.text(x[k], y[k], shortened(lines.words[k], most), fontsize=font, va="center", color=shade)
