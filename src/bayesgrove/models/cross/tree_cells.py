"""Cells of the training table under the trees: mixtures over the nodes of both trees that hold the cell.

p(X_ij) = sum over views k on the path to column j of omega_k, over nodes h of its row tree on the path to row i of
omega_h, of p(X_ij | observed cells of column j in the rows of h without i).
"""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import column_add, column_merge, column_remove


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
def fill_terms(column, own_cells, rows, cells, nodes, lightest, log_view, filled, log_weight, stats):
    """Write the terms of the cells `cells` of one column, which stand in `rows`, behind those filled already.

    `column` is (family, params, width), `nodes` (statistics, log weights, next heavy ancestors) of the row tree.
    """
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
