"""Rows that stand in parts on the workers of a cluster: their randomized trees are bit-identical to those of one array.

What the first process has is a number or two per row: its place in the order, its group, its leaf and merge. Rows go
from worker to worker when blocks are put together, and to the first process in samples only. Statistics of clusters
are added in the order of the rows, part after part, for sums in another order have other last digits.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.agglomeration import dask_parts as parts
from bayesgrove.agglomeration import dask_tasks as tasks
from bayesgrove.agglomeration.blocks import Forest, Pieces
from bayesgrove.agglomeration.dask_parts import Package
from bayesgrove.agglomeration.halving import ROWS_INSPECTED, halving_shape, part_at, widest_column
from bayesgrove.agglomeration.splits import (
    Chooser,
    Division,
    OpenSet,
    Plan,
    Problem,
    Settings,
    draw_sample,
    keep_sample,
    places_by_label,
)

NOTHING = np.empty((0, 0))


@dataclass
class Grouping:
    """The rows in another order and other parts, on the workers."""

    order: np.ndarray
    """(n_rows,): the very array whose order it is; changed in place when sets are halved."""
    before: np.ndarray
    """(n_rows,): the order in which the parts' values stand."""
    edges: np.ndarray
    """(n_parts + 1,): part p has the places edges[p] .. edges[p + 1] - 1."""
    values: list[Any]
    orders: list[Any]
    """`values` and `orders`: rows of a part, and the order of them that halving has made."""


class DaskRows:
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
        home, pieces = self._pieces(rows)
        return parts.assemble(home, self.gather(pieces))

    def _pieces(
        self, rows: np.ndarray, *more: Any, function: Callable[..., Any] = parts.take_rows
    ) -> tuple[np.ndarray, list[Any]]:
        """The part each of some rows stands in, and what every part has of them, in their order."""
        home = parts.narrow(np.searchsorted(self.edges, rows, side="right") - 1, len(self.values))
        by_part = rows[places_by_label(home, len(self.values))]
        cuts = np.cumsum(np.bincount(home, minlength=len(self.values)))[:-1]
        return home, [
            self.submit(function, values, (own - low).astype(np.int32), *more)
            for values, own, low in zip(self.values, np.split(by_part, cuts), self.edges, strict=False)
        ]

    def columns_in_use(self) -> np.ndarray:
        """Whether any cell of each column is observed."""
        if self.is_complete:
            return self.complete
        return np.any(self.on_parts(parts.columns_with_cells), axis=0)

    def only_columns(self, used: np.ndarray) -> "DaskRows":
        """The same rows with some of their columns."""
        values = [self.submit(parts.take_columns, part, used) for part in self.values]
        return DaskRows(self.client, values, self.edges, self.complete[used])

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

    def look_into(
        self, problem: Problem, samples: Sequence[np.ndarray], members: list[np.ndarray]
    ) -> list[np.ndarray | None]:
        """For each cluster the part of each of its rows by a sample of them; None where the sample is one cluster."""
        cuts = np.cumsum([sample.size for sample in samples])[:-1]
        package = Package(problem._replace(values=NOTHING, remote=None, n_threads=1))
        sampled = np.split(self.take(np.concatenate(samples)), cuts)
        futures = [self.submit(parts.part_clusters, package, values) for values in sampled]
        labels = self._labels(futures, members)
        return [own if own.size else None for own in labels]

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
        """Cut ranges of `order` at medians down to blocks, as `halving.halve` does; the shape needs no data."""
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
        home, pieces = self._pieces(rows, column, function=parts.take_keys)
        keys = np.empty(rows.size)
        keys[places_by_label(home, len(self.values))] = np.concatenate(self.gather(pieces))
        return keys

    def _regroup(self, order: np.ndarray, cuts: np.ndarray) -> Grouping:
        """The rows in the order given, in parts that end at some of the cuts; rows go from worker to worker."""
        self._grouping = None
        edges = part_edges(cuts, self.part_rows)
        before = order.copy()
        values = []
        for low, high in itertools.pairwise(edges):
            values.append(self.submit(parts.assemble, *self._pieces(before[low:high])))
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
        self._grouping = None  # workers need not keep rows in this order any longer
        for block in np.flatnonzero(plan.truncated):  # rows there stand by their numbers, which parts do not know
            forest.children[plan.starts[block] - block : plan.starts[block + 1] - block - 1].sort(axis=1)

    def _largest_statistics(self, prior: Any) -> np.ndarray:
        if self._largest is None:
            self._largest = np.max(self.on_parts(parts.largest_part, Package(prior)), axis=0)
        return self._largest

    # Clusters

    def cluster_statistics(self, prior: Any, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """Statistics and sizes of clusters: a chain of tasks from part to part."""
        package, narrow = Package((prior, n_clusters)), parts.narrow(labels, n_clusters)
        total: Any = None
        for number, values in enumerate(self.values):
            own = narrow[self.edges[number] : self.edges[number + 1]]
            total = self.submit(parts.add_part, values, package, own, total)
        rows, sizes = self.gather([total])[0]
        return rows, sizes

    def assign(self, density: Any, log_weight: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> int:
        """Write the best group of every row to `labels`; how many changed."""
        package, narrow = Package(Chooser(density, log_weight, starts)), parts.narrow(labels, starts.size)
        futures = [
            self.submit(parts.assign_part, values, package, narrow[self.edges[number] : self.edges[number + 1]])
            for number, values in enumerate(self.values)
        ]
        n_moved = 0
        for low, (moved, own) in zip(self.edges, self.gather(futures), strict=False):
            labels[low + moved.astype(np.int64)] = own
            n_moved += moved.size
        return n_moved


def part_edges(cuts: np.ndarray, part_rows: int) -> np.ndarray:
    """Some of the cuts, the first and the last among them, as far apart as parts may be long."""
    edges = [int(cuts[0])]
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        if high - edges[-1] > part_rows and low > edges[-1]:
            edges.append(low)
    return np.array([*edges, int(cuts[-1])], np.int64)


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
