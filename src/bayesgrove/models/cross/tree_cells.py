"""Cells of the training table under the trees: mixtures over the nodes of both trees that hold the cell.

p(X_ij) = sum over views k on the path to column j of omega_k, over nodes h of its row tree on the path to row i of
omega_h, of p(X_ij | observed cells of column j in the rows of h without i).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_add, column_merge, column_remove
from bayesgrove.models.cross.cell_mixtures import CellMixtures, normalised, widest
from bayesgrove.models.cross.tree_views import LIGHTEST
from bayesgrove.trees import Tree, node_log_weights


class ViewNodes(NamedTuple):
    """Nodes of the row tree of a possible view."""

    columns: np.ndarray
    log_view: float
    """Log probability of the view."""
    children: np.ndarray
    log_weight: np.ndarray
    """(n_nodes,) log probability that a node is exactly one cluster."""
    above: np.ndarray
    """(n_nodes,) the next node above that carries weight, or NULL."""
    lightest: float
    """Log weight from which on a node carries weight, all views taken together."""


def view_nodes(columns: np.ndarray, log_view: float, children: np.ndarray, tree: Tree) -> ViewNodes:
    """Weights of a row tree's nodes, and how to climb it over those that matter."""
    log_weight, lightest = node_log_weights(tree), LIGHTEST - log_view
    above = next_heavy(tree.parent, log_weight, lightest)
    return ViewNodes(columns, log_view, children, log_weight, above, lightest)


def table_cell_mixtures(
    prior: ColumnsPrior, values: np.ndarray, views: Sequence[ViewNodes], rows: np.ndarray, columns: np.ndarray
) -> CellMixtures:
    """Predictives of cells of a table: count the terms of each, then write them, one view and column at a time."""
    counts = np.zeros(len(rows), np.int64)
    groups = list(cell_groups(views, rows, columns))
    for _, view, own_rows, cells in groups:
        count_terms(own_rows, cells, view.log_weight, view.above, view.lightest, counts)
    start = np.concatenate([[0], np.cumsum(counts)])
    filled, log_weight, stats = start[:-1].copy(), np.empty(start[-1]), np.zeros((start[-1], widest(prior)))
    for j, view, own_rows, cells in groups:
        column = int(prior.family[j]), prior.params[j], int(prior.start[j + 1] - prior.start[j])
        own = np.ascontiguousarray(values[:, j])
        nodes = column_statistics(*column, own, view.children), view.log_weight, view.above
        weights = view.lightest, view.log_view
        fill_terms(column, own, own_rows, cells, nodes, weights, filled, log_weight, stats)
    return CellMixtures(columns, start, normalised(log_weight, start), stats)


def cell_groups(
    views: Sequence[ViewNodes], rows: np.ndarray, columns: np.ndarray
) -> Iterator[tuple[int, ViewNodes, np.ndarray, np.ndarray]]:
    """Column, a view it may stand in, rows and numbers of the cells asked for in it."""
    order = np.argsort(columns, kind="stable")
    wanted, first = np.unique(columns[order], return_index=True)
    groups = dict(zip(wanted.tolist(), np.split(order, first[1:]), strict=True)) if wanted.size else {}
    for view in views:
        for j in view.columns.tolist():
            if j in groups:
                yield j, view, rows[groups[j]], groups[j]


@kernel
def column_statistics(family, params, width, cells, children):
    """Statistics of one column in every node of a row tree, (n_nodes, width)."""
    n = cells.size
    out = np.zeros((2 * n - 1, width))
    for i in range(n):
        column_add(family, out[i], 0, cells[i], params[0])
    for t in range(n - 1):
        column_merge(family, out[n + t], out[children[t, 0]], out[children[t, 1]], 0, width)
    return out


@kernel
def next_heavy(parent, log_weight, lightest):
    """For every node the lowest strict ancestor of at least this weight, or NULL."""
    out = np.full(parent.size, NULL)
    for node in range(parent.size - 2, -1, -1):
        above = parent[node]
        out[node] = above if log_weight[above] >= lightest else out[above]
    return out


@kernel
def count_terms(rows, cells, log_weight, above, lightest, counts):
    """Add to the number of terms of each cell the heavy nodes above its row."""
    for c in range(rows.size):
        node = rows[c] if log_weight[rows[c]] >= lightest else above[rows[c]]
        while node != NULL:
            counts[cells[c]] += 1
            node = above[node]


@kernel
def fill_terms(column, own_cells, rows, cells, nodes, weights, filled, log_weight, stats):
    """Write the terms of the cells `cells` of one column, which stand in `rows`, behind those filled already.

    `column` is (family, params, width), `nodes` (statistics, log weights, next heavy ancestors) of the row tree,
    `weights` the log weights from which on a node counts and of the view.
    """
    lightest, log_view = weights
    family, params, width = column
    node_stats, node_weight, above = nodes
    for c in range(rows.size):
        i = rows[c]
        node = i if node_weight[i] >= lightest else above[i]
        while node != NULL:
            at = filled[cells[c]]
            log_weight[at] = log_view + node_weight[node]
            for s in range(width):
                stats[at, s] = node_stats[node, s]
            column_remove(family, stats[at], 0, own_cells[i], params[0])
            filled[cells[c]] += 1
            node = above[node]
