"""Numbers for drawing: which nodes are shown, where they stand, what is collapsed."""

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree


class Layout(NamedTuple):
    """The nodes of a drawing in ascending tree id, so that parents come after their children."""

    node: np.ndarray
    """Tree id."""
    parent: np.ndarray
    """Index in this layout, -1 for the root."""
    x: np.ndarray
    """Shown leaves at 0, 1, 2, ...; inner nodes midway between their outer children."""
    y: np.ndarray
    """Height."""
    low: np.ndarray
    """x of the leftmost child (of itself for a shown leaf)."""
    high: np.ndarray
    """x of the rightmost child."""
    is_end: np.ndarray
    """Shown without children: a leaf or a collapsed subtree."""
    is_collapsed: np.ndarray
    """Stands for a subtree of several leaves."""

    @property
    def n_ends(self) -> int:
        """Number of places along x."""
        return int(np.count_nonzero(self.is_end))


def opened_nodes(tree: "Tree", max_leaves: int, may_open: np.ndarray | None = None) -> set[int]:
    """Inner nodes to show with their children: the highest first, inside clusters the most even.

    The root is opened even when its own children exceed `max_leaves`: one block would show nothing. `may_open` says
    of each node whether it may be opened at all.
    """
    allowed = np.ones(tree.n_nodes, dtype=bool) if may_open is None else may_open
    if max_leaves < 1:
        raise InvalidSettingError(f"a drawing shows at least one leaf, got max_leaves={max_leaves}.")
    opened: set[int] = set()
    n_shown = 1
    heap: list[tuple[float, int, int]] = []
    push_inner(tree, heap, [tree.root], allowed)
    while heap:
        node = -heapq.heappop(heap)[2]
        children = tree.children(node)
        if n_shown + len(children) - 1 > max_leaves and node != tree.root:
            continue
        opened.add(node)
        n_shown += len(children) - 1
        push_inner(tree, heap, children, allowed)
    return opened


def push_inner(tree: "Tree", heap: list[tuple[float, int, int]], nodes: list[int], allowed: np.ndarray) -> None:
    """Queue those of some nodes that have children and may be opened, by urgency."""
    for node in nodes:
        if tree.item[node] == NULL and allowed[node]:
            heapq.heappush(heap, _urgency(tree, node))


def _urgency(tree: "Tree", node: int) -> tuple[float, int, int]:
    """Sort key, smallest first: by height, but inside clusters by the size of what would split off.

    Greedy trees add one leaf after another to a large cluster: by height alone a drawing would fill with
    these single leaves.
    """
    split_off = int(tree.size[node]) - int(tree.size[tree.children(node)].max())
    half = tree.half_height
    level = float(tree.height[node])
    if half is not None and level <= half:
        return 0.0, -split_off, -node
    return -level + (half or 0.0), -split_off, -node


def lay_out(tree: "Tree", max_leaves: int = 40) -> Layout:
    """Places of the shown nodes, at most `max_leaves` along x.

    Parameters
    ----------
    tree : Tree
    max_leaves : int, default=40
        Larger trees show their highest merges; the branches below are collapsed.

    Examples
    --------
    >>> from bayesgrove.trees import Tree, lay_out
    >>> layout = lay_out(Tree.from_merges([[0, 1], [2, 3], [4, 5]], heights=[1.0, 2.0, 3.0]), max_leaves=3)
    >>> layout.node.tolist(), layout.x.tolist(), layout.is_collapsed.tolist()
    ([2, 3, 4, 5, 6], [1.0, 2.0, 0.0, 1.5, 0.75], [False, False, True, False, False])
    """
    return lay_out_opened(tree, opened_nodes(tree, max_leaves))


def lay_out_opened(tree: "Tree", opened: set[int]) -> Layout:
    """Places of some inner nodes, each with its parents among them, and of their children."""
    shown = {tree.root}.union(*(tree.children(node) for node in opened))
    node = np.array(sorted(shown), dtype=np.int64)
    is_end = np.array([int(k) not in opened for k in node])
    parent = np.searchsorted(node, tree.parent[node])
    parent[-1] = NULL
    x, low, high = _places(parent, is_end, tree.leaf_start[node])
    is_collapsed = is_end & (tree.item[node] == NULL)
    return Layout(node, parent, x, tree.height[node], low, high, is_end, is_collapsed)


def _places(
    parent: np.ndarray, is_end: np.ndarray, leaf_start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.zeros(parent.size)
    ends = np.flatnonzero(is_end)
    x[ends[np.argsort(leaf_start[ends])]] = np.arange(ends.size)
    low, high = np.where(is_end, x, np.inf), np.where(is_end, x, -np.inf)
    for k in range(parent.size):
        x[k] = (low[k] + high[k]) / 2
        if parent[k] != NULL:
            low[parent[k]] = min(low[parent[k]], x[k])
            high[parent[k]] = max(high[parent[k]], x[k])
    return x, low, high


def decision_scale(height: np.ndarray, half_height: float | None) -> np.ndarray:
    """Heights for the eye: asinh of the distance from the half height, so that the root flattens nothing.

    Heights that do not come from odds are returned as they are.
    """
    return height if half_height is None else np.arcsinh(height - half_height)


def describe_merge(tree: "Tree", node: int) -> str:
    """How probably the leaves below a node are one, and how probably its sides are different clusters, if known."""
    parts = []
    if tree.log_merge_odds is not None:
        parts.append(f"merge probability {format_probability(float(tree.log_merge_odds[node]))}")
    if (apart := float(tree.columns["apart"][node]) if "apart" in tree.columns else 0.0) > 0.0:
        parts.append(f"apart {apart:.2f}".replace("0.", "."))
    return ", ".join(parts)


def format_probability(log_odds: float) -> str:
    """Two digits of 1 / (1 + exp(-log_odds)); "<.01" and ">.99" beyond.

    Examples
    --------
    >>> [format_probability(odds) for odds in (-9.0, 0.0, 2.0, 9.0)]
    ['<.01', '.50', '.88', '>.99']
    """
    if log_odds > math.log(0.995 / 0.005):
        return ">.99"
    if log_odds < math.log(0.005 / 0.995):
        return "<.01"
    return f"{1.0 / (1.0 + math.exp(-log_odds)):.2f}"[1:]


def describe_size(n: int) -> str:
    """Number of items for a caption: 12 items, 1 item, 12,300 items."""
    return "1 item" if n == 1 else f"{n:,} items"
