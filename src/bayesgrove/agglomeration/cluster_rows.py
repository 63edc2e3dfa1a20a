"""Rows that stand in parts on the workers of a cluster: randomized trees of them to the same bits as of one array.

What the first process has is a number or two per row: its place in the order, its group, its leaf and merge. Rows go
from worker to worker when blocks are put together, and to the first process in samples only. Statistics of clusters
are added in the order of the rows, part after part, for sums in another order have other last digits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.agglomeration import parts, tasks
from bayesgrove.agglomeration.blocks import Forest, Pieces
from bayesgrove.agglomeration.parts import Chooser, Package
from bayesgrove.agglomeration.splits import (
    ROWS_INSPECTED,
    Division,
    OpenSet,
    Plan,
    Problem,
    Settings,
    draw_sample,
    keep_sample,
    part_at,
    widest_column,
)
from bayesgrove.agglomeration.statistics import combine_known, place_of_middle
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.trees import Tree
from bayesgrove.trees.traverse import heavy_first_postorder

NOTHING = np.empty((0, 0))
FEW_HEADS = 50
"""Rows per subtree that stands in one part, below which rows are put into the tree's order first."""


@dataclass
class Grouping:
    """The rows in another order and other parts, on the workers.

    Attributes
    ----------
    order : array of shape (n_rows,)
        The very array whose order it is; changed in place when sets are halved.
    before : array of shape (n_rows,)
        The order in which the parts' values stand.
    edges : array of shape (n_parts + 1,)
        Part p has the places edges[p] .. edges[p + 1] - 1.
    values, orders : lists of futures
        Rows of a part, and the order of them that halving has made.
    """

    order: np.ndarray
    before: np.ndarray
    edges: np.ndarray
    values: list[Any]
    orders: list[Any]


class ClusterRows:
    """Encoded rows in parts.

    Parameters
    ----------
    client : distributed.Client
    values : list of futures
        The parts' rows, arrays (n, n_columns).
    edges : int array of shape (n_parts + 1,)
        Part p has the rows edges[p] .. edges[p + 1] - 1.
    complete : bool array of shape (n_columns,)
        Which columns miss no cell.
    """

    def __init__(self, client: Any, values: list[Any], edges: np.ndarray, complete: np.ndarray) -> None:
        self.client, self.values, self.edges = client, values, np.asarray(edges, np.int64)
        self.n_rows, self.complete = int(self.edges[-1]), complete
        self.shape = (self.n_rows, complete.size)
        self.part_rows = int(np.diff(self.edges).max())
        self._grouping: Grouping | None = None
        self._largest: np.ndarray | None = None

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return bool(self.complete.all())

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of a call."""
        return tasks.submit(self.client, function, *arguments)

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """The results of calls."""
        return tasks.gather(self.client, futures)

    def on_parts(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """The results of a call for every part."""
        return self.gather([self.submit(function, values, *arguments) for values in self.values])

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return self.take(rows)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Rows of these numbers."""
        return parts.assemble(rows, self.edges, self.gather(self._pieces(rows)))

    def _pieces(self, rows: np.ndarray, *more: Any, function: Callable[..., Any] = parts.take_rows) -> list[Any]:
        """What every part has of some rows, in their order."""
        home = np.searchsorted(self.edges, rows, side="right") - 1
        return [
            self.submit(function, values, (rows[home == number] - self.edges[number]).astype(np.int32), *more)
            for number, values in enumerate(self.values)
        ]

    def typical_row(self) -> np.ndarray:
        """The row whose total is in the middle."""
        totals = np.concatenate(self.on_parts(parts.row_totals))
        return self.take(np.array([place_of_middle(totals)]))[0]

    # Splitting

    def divide_all(
        self, problem: Problem, settings: Settings, order: np.ndarray, sets: Sequence[OpenSet]
    ) -> list[Division | None]:
        """Divisions of several sets by samples of them: a task per sample, then one per part of the rows."""
        members = [np.sort(order[here.low : here.high]) for here in sets]
        samples = [
            draw_sample(problem.seed, settings, rows, here.path) for rows, here in zip(members, sets, strict=True)
        ]
        cuts = np.cumsum([sample.size for sample in samples])[:-1]
        package = Package((problem._replace(values=NOTHING, remote=None, n_threads=1), settings))
        sampled = np.split(self.take(np.concatenate(samples)), cuts)
        futures = [self.submit(parts.part_groups, package, values) for values in sampled]
        labels = self._labels(futures, members)
        divisions: list[Division | None] = []
        for groups, rows, sample, own in zip(self.gather(futures), members, samples, labels, strict=True):
            if groups is not None:
                keep_sample(groups, rows, sample, own)
            divisions.append(None if groups is None else Division(rows, groups, own))
        return divisions

    def _labels(self, groups: list[Any], members: list[np.ndarray]) -> list[np.ndarray]:
        """The group of each row of each set."""
        futures = []
        for number, values in enumerate(self.values):
            low, high = self.edges[number], self.edges[number + 1]
            own: list[np.ndarray | None] = []
            for rows in members:
                here = rows[np.searchsorted(rows, low) : np.searchsorted(rows, high)]
                own.append(None if here.size == high - low else (here - low).astype(np.int32))
            futures.append(self.submit(parts.label_part, values, groups, own))
        found = self.gather(futures)
        return [np.concatenate([labels[k] for labels in found]).astype(np.int64) for k in range(len(members))]

    def halve(
        self, order: np.ndarray, ranges: Sequence[tuple[int, int]], edges: np.ndarray, leaf_size: int
    ) -> list[tuple[np.ndarray, ...]]:
        """Cut ranges of `order` at medians down to blocks, as `splits.halve` does; the shape needs no data."""
        pieces = [piece for low, high in ranges for piece in self._large_halves(order, low, high, leaf_size)]
        lows = np.array([low for low, _ in pieces], np.int64)
        grouping = self._regroup(order, np.union1d(edges, lows))
        own = np.searchsorted(grouping.edges, lows, side="right") - 1
        for number, values in enumerate(grouping.values):
            here = [pieces[k] for k in np.flatnonzero(own == number)]
            relative = np.array(here, np.int64).reshape(-1, 2) - grouping.edges[number]
            grouping.orders.append(self.submit(parts.halve_part, values, relative, leaf_size))
        for number, places in enumerate(self.gather(grouping.orders)):
            low, high = grouping.edges[number], grouping.edges[number + 1]
            order[low:high] = grouping.before[low:high][places]
        self._grouping = grouping
        return [halving_shape(low, high, leaf_size) for low, high in ranges]

    def _large_halves(self, order: np.ndarray, low: int, high: int, leaf_size: int) -> list[tuple[int, int]]:
        """Halve a range here until a part can hold what is left, with the keys of its rows only."""
        done, queue = [], [(low, high)]
        for a, b in queue:
            if b - a <= self.part_rows or b - a < leaf_size:
                done.append((a, b))
                continue
            inspected = self.take(order[a : b : max(1, (b - a) // ROWS_INSPECTED)])
            column = int(widest_column(inspected, np.arange(len(inspected)), 0, len(inspected)))
            key = self._keys(order[a:b], column)
            part_at(key, order[a:b], 0, b - a, (b - a) // 2)
            queue += [(a, (a + b) // 2), ((a + b) // 2, b)]
        return done

    def _keys(self, rows: np.ndarray, column: int) -> np.ndarray:
        """One column of some rows."""
        home, keys = np.searchsorted(self.edges, rows, side="right") - 1, np.empty(rows.size)
        for number, own in enumerate(self.gather(self._pieces(rows, column, function=parts.take_keys))):
            keys[home == number] = own
        return keys

    def _regroup(self, order: np.ndarray, cuts: np.ndarray) -> Grouping:
        """The rows in the order given, in parts that end at some of the cuts; rows go from worker to worker."""
        self._grouping = None
        edges = part_edges(cuts, self.part_rows)
        before = order.copy()
        values = []
        for number in range(edges.size - 1):
            rows = before[edges[number] : edges[number + 1]]
            values.append(self.submit(parts.assemble, rows, self.edges, self._pieces(rows)))
        return Grouping(order, before, edges, values, [])

    # Trees

    def build_blocks(
        self, problem: Problem, order: np.ndarray, plan: Plan, largest: int, forest: Forest, pieces: Pieces
    ) -> None:
        """Trees of all blocks of a plan, written to the forest and the pieces."""
        grouping = self._grouping
        if grouping is None or grouping.order is not order:  # nothing was halved
            grouping = self._grouping = self._regroup(order, plan.starts)
            grouping.orders = [np.arange(n, dtype=np.int32) for n in np.diff(grouping.edges)]
        limits = (largest, largest * self._largest_statistics(problem.prior))
        light = problem._replace(values=NOTHING, remote=None, n_threads=1)
        blocks = np.searchsorted(plan.starts, grouping.edges)
        futures = []
        for number, (low, first, last) in enumerate(zip(grouping.edges, blocks, blocks[1:], strict=False)):
            package = Package((light, plan.starts[first : last + 1] - low, plan.truncated[first:last], limits))
            arguments = (grouping.values[number], grouping.orders[number], package)
            futures.append(self.submit(parts.trees_of_part, *arguments))
        for number, future in enumerate(futures):
            rows = grouping.before[grouping.edges[number] : grouping.edges[number + 1]]
            place_trees(
                self.gather([future])[0], rows, int(grouping.edges[number]), int(blocks[number]), forest, pieces
            )
        for block in np.flatnonzero(plan.truncated):  # rows there stand by their numbers, which parts do not know
            forest.children[plan.starts[block] - block : plan.starts[block + 1] - block - 1].sort(axis=1)

    def _largest_statistics(self, prior: Any) -> np.ndarray:
        if self._largest is None:
            self._largest = np.max(self.on_parts(parts.largest_part, Package(prior)), axis=0)
        return self._largest

    # Clusters

    def cluster_statistics(
        self, problem: Problem, labels: np.ndarray, n_clusters: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Statistics and sizes of clusters: a chain of tasks from part to part."""
        package, narrow = Package((problem.prior, n_clusters)), labels.astype(np.int32)
        total: Any = None
        for number, values in enumerate(self.values):
            own = narrow[self.edges[number] : self.edges[number + 1]]
            total = self.submit(parts.add_part, values, package, own, total)
        rows, sizes = self.gather([total])[0]
        return rows, sizes

    def assign(self, density: Any, log_weight: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> int:
        """Write the best group of every row to `labels`; how many changed."""
        package, narrow = Package(Chooser(density, log_weight, starts)), labels.astype(np.int32)
        futures = [
            self.submit(parts.assign_part, values, package, narrow[self.edges[number] : self.edges[number + 1]])
            for number, values in enumerate(self.values)
        ]
        found = self.gather(futures)
        labels[:] = np.concatenate([own for own, _ in found])
        return sum(n_moved for _, n_moved in found)

    def node_statistics(self, prior: Any, tree: Tree, nodes: np.ndarray) -> np.ndarray:
        """Statistics of some nodes of a binary tree of all rows, shape (n_wanted, n_stats).

        Subtrees whose rows stand in one part are left to it; the nodes above are merged here.
        """
        grouping, home = self._pure_subtrees(tree)
        order = heavy_first_postorder(tree.first_child, tree.next_sibling, tree.size)
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        above = np.append(home, NULL)[tree.parent] == NULL
        heads = np.flatnonzero((home != NULL) & above)
        known = np.unique(np.concatenate([heads, nodes, np.flatnonzero(home == NULL)]))
        rows = np.zeros((known.size, n_stats(prior)))
        futures = {}
        places = np.empty(self.n_rows, np.int32)
        places[grouping.before] = np.arange(self.n_rows)
        for number, low in enumerate(grouping.edges[:-1]):
            own, wanted = heads[home[heads] == number], known[home[known] == number]
            if own.size:
                starts, items, at = program_of_part(tree, order, place, own, wanted)
                items = np.where(items == NULL, NULL, places[items] - low).astype(np.int32)
                package = Package((prior, starts, items, at))
                futures[number] = (wanted, self.submit(parts.statistics_of_part, grouping.values[number], package))
        for wanted, future in futures.values():
            rows[np.searchsorted(known, wanted)] = self.gather([future])[0]
        merge_top(prior, tree, known, home, place, rows)
        return rows[np.searchsorted(known, nodes)]

    def _pure_subtrees(self, tree: Tree) -> tuple[Grouping, np.ndarray]:
        """A grouping, and for each node the part that has all of its rows, NULL where none has."""
        if self._grouping is not None:
            home = self._homes(self._grouping, tree)
            if np.count_nonzero(home == NULL) * FEW_HEADS < self.n_rows:
                return self._grouping, home
        self._grouping = self._regroup(tree.leaf_order.astype(np.int64), np.arange(self.n_rows + 1))
        return self._grouping, self._homes(self._grouping, tree)

    def _homes(self, grouping: Grouping, tree: Tree) -> np.ndarray:
        home = np.empty(self.n_rows, np.int64)
        home[grouping.before] = np.repeat(np.arange(grouping.edges.size - 1), np.diff(grouping.edges))
        return home_of_nodes(tree.parent, tree.item, home)


def program_of_part(
    tree: Tree, order: np.ndarray, place: np.ndarray, heads: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A part's subtrees in postorder: where each starts; its rows at leaves, NULL at joins; where the wanted stand.

    `order` and `place` are the postorder of the whole tree and its inverse.
    """
    heads = heads[np.argsort(place[heads])]
    sizes = 2 * tree.size[heads] - 1
    ends = np.cumsum(sizes)
    shift = place[heads] + 1 - ends  # from places in the program to those in the postorder
    items = tree.item[order[np.repeat(shift, sizes) + np.arange(sizes.sum())]]
    home = np.searchsorted(place[heads], place[wanted])
    return np.append(0, ends), items, place[wanted] - shift[home]


@kernel
def home_of_nodes(parent, item, home):
    """The part that has all rows below each node, NULL where they stand in several."""
    unknown = NULL - 1
    found = np.full(parent.size, unknown)
    for node in range(parent.size):
        if item[node] != NULL:
            found[node] = home[item[node]]
        above = parent[node]
        if above != NULL:
            if found[above] == unknown:
                found[above] = found[node]
            elif found[above] != found[node]:
                found[above] = NULL
    return found


def part_edges(cuts: np.ndarray, part_rows: int) -> np.ndarray:
    """Some of the cuts, the first and the last among them, as far apart as parts may be long."""
    edges = [int(cuts[0])]
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        if high - edges[-1] > part_rows and low > edges[-1]:
            edges.append(low)
    return np.array([*edges, int(cuts[-1])], np.int64)


@kernel
def halving_shape(low, high, leaf_size):
    """The tree that `splits.halve` makes of a range, which depends on its length only."""
    most = 4 * ((high - low) // max(1, leaf_size // 2) + 1)
    left, right = np.full(most, NULL), np.full(most, NULL)
    lows, highs = np.full(most, NULL), np.full(most, NULL)
    lows[0], highs[0], n_nodes, k = low, high, 1, 0
    while k < n_nodes:
        a, b = lows[k], highs[k]
        if b - a >= leaf_size and b - a >= 2:
            middle = (a + b) // 2
            left[k], right[k] = n_nodes, n_nodes + 1
            lows[n_nodes], highs[n_nodes] = a, middle
            lows[n_nodes + 1], highs[n_nodes + 1] = middle, b
            n_nodes += 2
        k += 1
    return left[:n_nodes], right[:n_nodes], lows[:n_nodes], highs[:n_nodes]


def place_trees(
    found: parts.PartTrees, rows: np.ndarray, low: int, first_block: int, forest: Forest, pieces: Pieces
) -> None:
    """Enter a part's trees into the whole: its rows begin at place `low` of the order, its blocks at `first_block`."""
    n_rows, n_own, n_blocks = forest.leaf_log_q.size, rows.size, found.pieces.sizes.size
    first_merge = low - first_block
    merges, blocks = slice(first_merge, first_merge + n_own - n_blocks), slice(first_block, first_block + n_blocks)
    number = np.concatenate([rows, n_rows + first_merge + np.arange(n_own - n_blocks)])
    forest.children[merges] = number[found.forest.children]
    for name in ("log_odds", "log_q", "log_d"):
        getattr(forest, name)[merges] = getattr(found.forest, name)
    forest.leaf_log_q[rows] = found.forest.leaf_log_q
    for name in ("rows", "sizes", "log_q", "log_d"):
        getattr(pieces, name)[blocks] = getattr(found.pieces, name)
    pieces.node[blocks] = number[found.pieces.node]


def merge_top(prior: Any, tree: Tree, known: np.ndarray, home: np.ndarray, place: np.ndarray, rows: np.ndarray) -> None:
    """Statistics of the nodes above all parts, from those of their children, merged as `combine` does."""
    top = np.flatnonzero(home == NULL)
    if top.size == 0:
        return
    top = top[np.argsort(place[top])]
    children = np.array([tree.children(int(node)) for node in top], np.int64)
    later = place[children[:, 0]] > place[children[:, 1]]
    children[later] = children[later][:, ::-1]
    first, second = np.searchsorted(known, children[:, 0]), np.searchsorted(known, children[:, 1])
    combine_known(prior, np.searchsorted(known, top), first, second, rows)
