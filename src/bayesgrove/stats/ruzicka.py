"""Ruzicka distances between trees: how far tables of labels by position agree; silhouettes of clusters of trees.

Tables are sparse: sorted lists of (cell, count). Trees with the same table are treated as one, and of all distances
only one row is held at a time unless all are asked for.
"""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel


class LabelTables(NamedTuple):
    """The different tables of a set of trees."""

    start: np.ndarray
    """int64 (n_tables + 1,): where the cells of each table begin."""
    cells: np.ndarray
    """int64 (n_entries,): numbers of (position, label), ascending within a table."""
    counts: np.ndarray
    """int64 (n_entries,)"""
    totals: np.ndarray
    """int64 (n_tables,): nodes counted."""
    table_of: np.ndarray
    """int64 (n_trees,): table of every tree."""
    n_cells: int


class Postings(NamedTuple):
    """The same entries by cell: which tables have it."""

    start: np.ndarray
    """int64 (n_cells + 1,)"""
    tables: np.ndarray
    counts: np.ndarray


def label_tables(trees: np.ndarray, positions: np.ndarray, symbols: np.ndarray, n_trees: int) -> LabelTables:
    """The different tables of trees, from the tree, position and symbol (from 0) of every node counted."""
    n_symbols = int(symbols.max(initial=0)) + 1
    known, cells = np.unique(positions.astype(np.int64) * n_symbols + symbols, return_inverse=True)
    n_cells = max(known.size, 1)
    entries, counts = np.unique(trees.astype(np.int64) * n_cells + cells.reshape(-1), return_counts=True)
    start = np.searchsorted(entries, np.arange(n_trees + 1, dtype=np.int64) * n_cells)
    return _different(start, entries % n_cells, counts, n_cells)


def _different(start: np.ndarray, cells: np.ndarray, counts: np.ndarray, n_cells: int) -> LabelTables:
    """Each different table once, numbered by first appearance."""
    pairs = np.stack([cells, counts], axis=1)
    numbers: dict[bytes, int] = {}
    table_of = np.empty(start.size - 1, np.int64)
    for tree in range(table_of.size):
        table_of[tree] = numbers.setdefault(pairs[start[tree] : start[tree + 1]].tobytes(), len(numbers))
    first = np.unique(table_of, return_index=True)[1]
    sizes = np.diff(start)[first]
    new_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kept = np.repeat(start[first] - new_start[:-1], sizes) + np.arange(new_start[-1])
    totals = np.diff(np.concatenate([[0], np.cumsum(counts[kept])])[new_start])
    return LabelTables(new_start, cells[kept], counts[kept], totals, table_of, n_cells)


def postings(tables: LabelTables) -> Postings:
    """For every cell the tables that have it, with their counts."""
    order = np.argsort(tables.cells, kind="stable")
    owners = np.repeat(np.arange(tables.totals.size), np.diff(tables.start))
    start = np.searchsorted(tables.cells[order], np.arange(tables.n_cells + 1))
    return Postings(start, owners[order], tables.counts[order])


def distances(tables: LabelTables, n_rows: int, first_column: int) -> np.ndarray:
    """Distances of trees 0 .. n_rows - 1 to trees first_column and after."""
    rows, columns = tables.table_of[:n_rows], tables.table_of[first_column:]
    order = np.argsort(rows, kind="stable")
    tree_start = np.searchsorted(rows[order], np.arange(tables.totals.size + 1))
    found = np.empty((rows.size, columns.size))
    _fill_distances(
        tables.start, tables.cells, tables.counts, tables.totals, *postings(tables), columns, order, tree_start, found
    )
    return found


def silhouettes(tables: LabelTables, clusters: np.ndarray, counts_itself: bool) -> np.ndarray:
    """Silhouette of every tree for clusters numbered from 0, none of them empty and at least two.

    `counts_itself`: the mean distance within a cluster divides by all members, the tree itself included.
    """
    n_clusters = int(clusters.max()) + 1
    pairs, of_tree, sizes = np.unique(tables.table_of * n_clusters + clusters, return_inverse=True, return_counts=True)
    start = np.searchsorted(pairs, np.arange(tables.totals.size + 1) * n_clusters)
    values = np.empty(pairs.size)
    _fill_silhouettes(
        tables.start, tables.cells, tables.counts, tables.totals, *postings(tables), start, pairs % n_clusters, sizes,
        np.bincount(clusters), counts_itself, values,
    )  # fmt: skip
    return values[of_tree.reshape(-1)]


@kernel
def _fill_row(table, start, cells, counts, totals, cell_start, cell_tables, cell_counts, shared, row):
    """Distance of one table to every other; `shared` is scratch."""
    for other in range(totals.size):
        shared[other] = 0
    for entry in range(start[table], start[table + 1]):
        count = counts[entry]
        for place in range(cell_start[cells[entry]], cell_start[cells[entry] + 1]):
            shared[cell_tables[place]] += min(count, cell_counts[place])
    for other in range(totals.size):
        whole = totals[table] + totals[other] - shared[other]
        row[other] = 1.0 - shared[other] / whole if whole > 0 else 0.0


@kernel
def _fill_distances(
    start, cells, counts, totals, cell_start, cell_tables, cell_counts, columns, order, tree_start, found
):
    """All rows, table by table: trees with the same table have the same row."""
    shared, row = np.empty(totals.size, np.int64), np.empty(totals.size)
    for table in range(totals.size):
        if tree_start[table] == tree_start[table + 1]:
            continue
        _fill_row(table, start, cells, counts, totals, cell_start, cell_tables, cell_counts, shared, row)
        for place in range(tree_start[table], tree_start[table + 1]):
            tree = order[place]
            for other in range(columns.size):
                found[tree, other] = row[columns[other]]


@kernel
def _fill_silhouettes(
    start, cells, counts, totals, cell_start, cell_tables, cell_counts, pair_start, pair_cluster, pair_size,
    cluster_sizes, counts_itself, values,
):  # fmt: skip
    """Value of each pair of a table and a cluster, of which there are pair_size trees."""
    shared, row = np.empty(totals.size, np.int64), np.empty(totals.size)
    sums = np.empty(cluster_sizes.size)
    for table in range(totals.size):
        _fill_row(table, start, cells, counts, totals, cell_start, cell_tables, cell_counts, shared, row)
        for cluster in range(sums.size):
            sums[cluster] = 0.0
        for other in range(totals.size):
            for pair in range(pair_start[other], pair_start[other + 1]):
                sums[pair_cluster[pair]] += pair_size[pair] * row[other]
        for pair in range(pair_start[table], pair_start[table + 1]):
            values[pair] = _silhouette(sums, cluster_sizes, pair_cluster[pair], counts_itself)


@kernel
def _silhouette(sums, cluster_sizes, own, counts_itself):
    """(b - a) / max(a, b) from sums of distances to the members of every cluster."""
    nearest = np.inf
    for cluster in range(sums.size):
        if cluster != own:
            nearest = min(nearest, sums[cluster] / cluster_sizes[cluster])
    size = cluster_sizes[own] if counts_itself else cluster_sizes[own] - 1
    if size == 0:
        return 0.0
    within = sums[own] / size
    larger = max(within, nearest)
    return (nearest - within) / larger if larger > 0.0 else 0.0
