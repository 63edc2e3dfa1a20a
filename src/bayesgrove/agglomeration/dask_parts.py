"""Work on one part of rows that stand on a cluster: what a worker does, with what it is sent and what it gives back.

Whole numbers that travel are as narrow as they can be; kernels get the widths they are compiled for.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.blocks import Forest, Pieces, build_blocks, largest_statistics, new_forest, new_pieces
from bayesgrove.agglomeration.filters import assign
from bayesgrove.agglomeration.halving import halve
from bayesgrove.agglomeration.reopening import look_into
from bayesgrove.agglomeration.splits import Chooser, Groups, Plan, groups_of_values, places_by_label
from bayesgrove.agglomeration.statistics import add_rows
from bayesgrove.core.constants import NULL
from bayesgrove.likelihoods.contract import n_stats


@dataclass(frozen=True)
class Package:
    """Arguments that Dask is not to look into: it would take NamedTuples apart."""

    content: Any


class PartTrees(NamedTuple):
    """Trees of the blocks of a part, by the part's own numbers of rows and merges."""

    forest: Forest
    pieces: Pieces


def narrow(labels: np.ndarray, n_labels: int) -> np.ndarray:
    """Labels -1 .. n_labels - 1 as integers of as few bytes as can hold them."""
    return labels.astype(np.min_scalar_type(-max(n_labels, 1)))


def take_rows(part: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows of a part."""
    return part.take(rows, axis=0)


def take_keys(part: np.ndarray, rows: np.ndarray, column: int) -> np.ndarray:
    """One column of some rows, infinite where a cell is missing."""
    cells = part[rows, column]
    return np.where(np.isnan(cells), np.inf, cells)


def part_groups(package: Package, values: np.ndarray) -> Groups | None:
    """The groups that the rows of a sample show."""
    problem, settings = package.content
    return groups_of_values(problem, settings, values)


def part_clusters(package: Package, values: np.ndarray) -> Chooser | None:
    """The clusters that the rows of a sample of a cluster show."""
    return look_into(package.content, values)


def take_columns(part: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Some columns of a part."""
    return np.ascontiguousarray(part[:, columns])


def columns_with_cells(part: np.ndarray) -> np.ndarray:
    """Whether any cell of each column is observed."""
    return ~np.isnan(part).all(axis=0)


def label_part(
    part: np.ndarray, groups: list[Groups | Chooser | None], rows: list[np.ndarray | None]
) -> list[np.ndarray]:
    """For each set of rows (None: all rows of the part) the group of each row."""
    found = []
    for own, members in zip(groups, rows, strict=True):
        if own is None:
            found.append(np.empty(0, np.int8))
            continue
        order = np.arange(len(part)) if members is None else members.astype(np.int64)
        labels = np.full(order.size, NULL)
        assign(own.filter, own.log_weight, own.group_start, part, order, 0, order.size, labels)
        found.append(narrow(labels, own.group_start.size))
    return found


def assign_part(part: np.ndarray, package: Package, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have another best group than they had, and which."""
    chooser, wide, order = package.content, labels.astype(np.int64), np.arange(len(part))
    assign(chooser.filter, chooser.log_weight, chooser.group_start, part, order, 0, len(part), wide)
    moved = np.flatnonzero(wide != labels).astype(np.int32)
    return moved, wide[moved].astype(np.int32)


def add_part(
    part: np.ndarray, package: Package, labels: np.ndarray, before: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Statistics and sizes of clusters after the rows of this part, given those before."""
    prior, n_clusters = package.content
    if before is None:
        rows, sizes = np.zeros((n_clusters, n_stats(prior))), np.zeros(n_clusters)
    else:
        rows, sizes = before[0].copy(), before[1].copy()
    add_rows(prior, part, labels.astype(np.int64), rows, sizes)
    return rows, sizes


def largest_part(part: np.ndarray, package: Package) -> np.ndarray:
    """Largest value of each statistic of a single row."""
    return largest_statistics(package.content, part)


def assemble(home: np.ndarray, pieces: list[np.ndarray]) -> np.ndarray:
    """Rows in an order of which is known from which part each comes, from what every part has of them in this order."""
    values, first = np.empty((home.size, pieces[0].shape[1])), 0
    order = places_by_label(home, len(pieces))
    for piece in pieces:
        values[order[first : first + len(piece)]] = piece
        first += len(piece)
    return values


def halve_part(values: np.ndarray, ranges: np.ndarray, leaf_size: int) -> np.ndarray:
    """The order of rows after each range was cut at medians down to blocks."""
    order, key = np.arange(len(values)), np.empty(len(values))
    for low, high in ranges:
        halve(values, order, key, low, high, leaf_size)
    return order.astype(np.int32)


def trees_of_part(values: np.ndarray, order: np.ndarray, package: Package) -> PartTrees:
    """Trees of all blocks of a part."""
    problem, starts, truncated, limits = package.content
    nothing = np.empty(0, np.int64)
    plan = Plan(starts, truncated, nothing, nothing)
    forest, pieces = new_forest(len(values)), new_pieces(truncated.size, n_stats(problem.prior))
    build_blocks(problem._replace(values=values), order.astype(np.int64), plan, limits, forest, pieces)
    n_merges = len(values) - truncated.size
    kept = Forest(
        forest.children[:n_merges].astype(np.int32),
        forest.log_odds[:n_merges],
        forest.log_q[:n_merges],
        forest.log_d[:n_merges],
        forest.leaf_log_q,
    )
    return PartTrees(kept, pieces)
