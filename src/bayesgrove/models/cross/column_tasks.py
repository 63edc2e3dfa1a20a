"""Work on single columns of a table that stands on a cluster: what a worker does for `ClusterTable`."""

from typing import Any

import numpy as np

from bayesgrove.agglomeration.dask_parts import Package
from bayesgrove.models.cross.fixed_trees import add_constants, node_weights, root_log_q, set_on_tree
from bayesgrove.models.cross.row_trees import log_weights
from bayesgrove.models.cross.tree_lanes import lane_log_q
from bayesgrove.models.cross.view_table import ViewTable, view_table

ONLY = np.zeros(1, np.int64)
"""The column of a table of one."""


def take_columns(part: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Some columns of a part of the rows."""
    return np.ascontiguousarray(part[:, columns])


def take_column(part: np.ndarray, column: int) -> np.ndarray:
    """One column of a part of the rows."""
    return part[:, column].copy()


def itself(value: Any) -> Any:
    """What is sent, as the result of a task."""
    return value


def one_column(package: Package, pieces: list[np.ndarray]) -> ViewTable:
    """The table of one column of all rows."""
    prior, log_measure, square = package.content
    return view_table(prior, np.concatenate(pieces)[:, np.newaxis], log_measure, square)


def add_marginals(table: ViewTable, children: np.ndarray, total: np.ndarray | None) -> np.ndarray:
    """Log marginals of a column in every node of a tree, added to those of the columns before."""
    own = np.empty(2 * table.n_rows - 1)
    set_on_tree(table, ONLY, children, own)
    return own if total is None else total + own


def constant_sum(table: ViewTable) -> float:
    """What all cells of a column add."""
    return float(table.constants[0].sum())


def add_constant(table: ViewTable, total: np.ndarray | None) -> np.ndarray:
    """What the cells of each row add, after the columns before."""
    return table.constants[0] if total is None else total + table.constants[0]


def with_constants(children: np.ndarray, marginals: np.ndarray, constants: np.ndarray) -> np.ndarray:
    """Log marginals of nodes with what their rows' cells add."""
    found = marginals.copy()
    add_constants(children, constants, found)
    return found


def root_logs(children: np.ndarray, marginals: np.ndarray, log_rows: float) -> tuple[float, float]:
    """log q and log d of the root of a tree whose nodes have these log marginals."""
    weights, room, nothing = weights_of(children, log_rows), np.empty(marginals.size), np.zeros(marginals.size)
    log_q = root_log_q(children, weights, marginals, 0.0, marginals, room)
    return float(log_q), float(root_log_q(children, weights, nothing, 0.0, nothing, room))


def column_score(
    table: ViewTable,
    children: np.ndarray,
    base: np.ndarray,
    whole: tuple[float, float],
    log_rows: float,
    sign: float,
) -> float:
    """Log score of a column on the tree of a view whose columns have the log marginals `base`.

    `sign` is -1 for a column of the view, which is taken out of it, and 1 for another.
    """
    own, weights = np.empty(base.size), weights_of(children, log_rows)
    set_on_tree(table, ONLY, children, own)
    return sign * (float(lane_log_q(children, weights, base, sign, own)) - whole[0])


def weights_of(children: np.ndarray, log_rows: float) -> np.ndarray:
    """log concentration + lgamma(size) of every node."""
    weights = np.zeros(2 * len(children) + 1)
    node_weights(children, log_weights(len(children) + 1, log_rows), weights)
    return weights
