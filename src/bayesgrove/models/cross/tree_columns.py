"""New columns under the trees.

In a view P_k = r_k p(y in k) + (1 - r_k) P_a P_b, a product over children (Li and Shafto's eq. 12); over the tree of
the columns [alpha_c p_0(y) + sum_k omega_k N_k p(y | view k)] / (J + alpha_c), p_0 the evidence of a view of its own.

**Erratum** (eq. 11, here form="paper"): its children are added without weights, so that it is sum_k omega_k p(y | view
k), whose mass is the expected number of views; tests/exact/test_bhcc_predictive.py shows it.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_add, column_log_marginal, column_log_predictive
from bayesgrove.models.cross.evidence import Problem, grow_views, log_crp_constant
from bayesgrove.models.cross.tree_cells import column_statistics
from bayesgrove.models.cross.view_table import view_table
from bayesgrove.stats.partitions import all_partitions
from bayesgrove.stats.special import log_sum

NEW_VIEWS = ("sequential", "exact", "bound", "none")
FORMS = ("normalised", "paper")
MOST_ROWS_EXACT = 10
N_SEQUENTIAL = 100
"""Draws of the unbiased estimate of a new view's evidence."""


class NewColumn(NamedTuple):
    """Encoded cells of a new column, its family's code and the hyperparameters."""

    cells: np.ndarray
    family: int
    params: np.ndarray
    width: int


@kernel
def log_p_on_tree(column, children, log_odds):
    """Log density of a new column given the row tree of a view."""
    cells, family, params, width = column
    n = cells.size
    stats = column_statistics(family, params, width, cells, children)
    out = np.empty(2 * n - 1)
    for node in range(2 * n - 1):
        out[node] = column_log_marginal(family, stats[node], 0, width, params)
    for t in range(n - 1):
        odds = log_odds[t]
        one = out[n + t] - np.logaddexp(0.0, -odds)
        apart = out[children[t, 0]] + out[children[t, 1]] - np.logaddexp(0.0, odds)
        out[n + t] = np.logaddexp(one, apart)
    return out[2 * n - 2]


def log_p_alone(column: NewColumn, log_rows: float, new_view: str, rng: np.random.Generator | None) -> float:
    """Log evidence of a column in a view of its own: the mixture of all partitions of the rows."""
    if new_view == "exact":
        return exact_log_evidence(column, log_rows)
    if new_view == "bound":
        return bound_log_evidence(column, log_rows)
    if rng is None:
        raise InvalidSettingError('new_view="sequential" draws numbers, got no generator. Give rng.')
    found = sequential_log_evidences(rng, *column, math.exp(log_rows), N_SEQUENTIAL)
    return float(np.logaddexp.reduce(found)) - math.log(N_SEQUENTIAL)


def exact_log_evidence(column: NewColumn, log_rows: float) -> float:
    """By enumeration of all partitions of the rows."""
    n = column.cells.size
    if n > MOST_ROWS_EXACT:
        raise InvalidSettingError(
            f'new_view="exact" enumerates partitions of at most {MOST_ROWS_EXACT} rows, got {n}. Use "sequential".'
        )
    logs = [partition_log_joint(*column, labels, log_rows) for labels in all_partitions(n)]
    return float(np.logaddexp.reduce(logs)) + log_crp_constant(n, log_rows)


@kernel
def partition_log_joint(cells, family, params, width, labels, log_rows):
    """Log weight of a partition of the rows times the evidence of a column's cells in its blocks."""
    n_blocks, total = labels.max() + 1, 0.0
    for block in range(n_blocks):
        row, size = np.zeros(width), 0
        for i in range(cells.size):
            if labels[i] == block:
                column_add(family, row, 0, cells[i], params[0])
                size += 1
        total += log_rows + math.lgamma(size) + column_log_marginal(family, row, 0, width, params)
    return total


def bound_log_evidence(column: NewColumn, log_rows: float) -> float:
    """A lower bound, from the greedy tree of the rows in this column alone."""
    prior = ColumnsPrior(np.array([column.family]), column.params.reshape(1, -1), np.array([0, column.width]))
    problem = Problem(view_table(prior, column.cells.reshape(-1, 1)), log_rows, 0.0)
    grown = grow_views(problem, [np.array([0])])
    return float(grown.log_q[0]) + log_crp_constant(column.cells.size, log_rows)


@kernel
def sequential_log_evidences(rng, cells, family, params, width, alpha, n_draws):
    """Unbiased estimates of the evidence: products of what normalises each row's choice of a cluster."""
    n, out = cells.size, np.zeros(n_draws)
    rows, sizes, logs = np.zeros((n + 1, width)), np.zeros(n + 1), np.empty(n + 1)
    for d in range(n_draws):
        n_open = 0
        for k in range(n + 1):
            sizes[k] = 0.0
            for s in range(width):
                rows[k, s] = 0.0
        for i in range(n):
            for k in range(n_open + 1):
                logs[k] = math.log(sizes[k] if k < n_open else alpha)
                if not math.isnan(cells[i]):
                    logs[k] += column_log_predictive(family, rows[k], 0, width, cells[i], params)
            total = log_sum(logs[: n_open + 1])
            out[d] += total - math.log(i + alpha)
            left, k = rng.random(), 0
            while k < n_open:
                left -= math.exp(logs[k] - total)
                if left < 0.0:
                    break
                k += 1
            n_open += k == n_open
            sizes[k] += 1.0
            column_add(family, rows[k], 0, cells[i], params[0])
    return out
