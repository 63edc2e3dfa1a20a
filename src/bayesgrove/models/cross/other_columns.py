"""Columns of families without a fast way in row trees: log marginals by the family's own kernels.

Their statistics stand in rows side by side, by place; the last place is room for the union of two clusters.
"""

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.families import by_family
from bayesgrove.models.cross.view_table import FAST, OTHER

SERVED = tuple(FAST)


@by_family("add", but=SERVED)
def other_add(family, row, at, x, fixed):
    """`column_add` of any family that is not served elsewhere."""


@by_family("merge", but=SERVED)
def other_merge(family, out, a, b, start, stop):
    """`column_merge` of any such family."""


@by_family("log_marginal", unknown="math.nan", but=SERVED)
def other_log_marginal(family, row, start, stop, p):
    """`column_log_marginal` of any such family."""


def new_rows(kind: np.ndarray, width: np.ndarray, n_places: int) -> np.ndarray:
    """Room for the statistics of all such columns of a table, (columns, places and one more, width)."""
    others = kind == OTHER
    return np.zeros((np.count_nonzero(others), n_places + 1, int(width[others].max(initial=0))))


@borrower
def load_row(table, column, row, i):
    """Statistics of one cell."""
    for s in range(row.size):
        row[s] = 0.0
    other_add(table.family[column], row, 0, table.values[column, i], table.params[column, 0])


@borrower
def merge_others(table, rows, other_column, n_others, out, a, b):
    """Write the union of the clusters at places a and b to place `out`; give back its log marginal in such columns."""
    total = 0.0
    for k in range(n_others):
        column = other_column[k]
        family, width = table.family[column], table.width[column]
        other_merge(family, rows[k, out], rows[k, a], rows[k, b], 0, width)
        total += other_log_marginal(family, rows[k, out], 0, width, table.params[column])
    return total


@borrower
def other_scores(table, rows, other_column, n_others, own, end, out):
    """Add the log marginals of the unions of the cluster at `own` with those before `end`."""
    for k in range(n_others):
        column, union = other_column[k], rows.shape[1] - 1
        family, width = table.family[column], table.width[column]
        for place in range(end):
            other_merge(family, rows[k, union], rows[k, own], rows[k, place], 0, width)
            out[place] += other_log_marginal(family, rows[k, union], 0, width, table.params[column])


@borrower
def close_row_holes(rows, n_others, living, live):
    """Move the statistics of the living clusters together, keeping their order."""
    for k in range(n_others):
        for at in range(live):
            for s in range(rows.shape[2]):
                rows[k, at, s] = rows[k, living[at], s]


@kernel
def other_on_tree(table, column, children, out):
    """Add the log marginal of such a column in every node of a tree."""
    n, width = table.values.shape[1], table.width[column]
    rows = np.zeros((2 * n - 1, width))
    for i in range(n):
        load_row(table, column, rows[i], i)
    for t in range(n - 1):
        other_merge(table.family[column], rows[n + t], rows[children[t, 0]], rows[children[t, 1]], 0, width)
    for node in range(2 * n - 1):
        out[node] += other_log_marginal(table.family[column], rows[node], 0, width, table.params[column])
