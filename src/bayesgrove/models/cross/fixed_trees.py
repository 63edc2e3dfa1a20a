"""Any set of columns on a given tree of rows: log marginals of its nodes, q of its root, what one more column adds.

For any tree q of the root gives a lower bound, and q(T; v and j) - q(T; v) is exactly the log probability of column j
given the columns v and the tree: the recursion over products of children of Li and Shafto's eq. 12.
"""

import math
from collections.abc import Sequence

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.evidence import Problem, run_jobs
from bayesgrove.models.cross.other_columns import other_on_tree
from bayesgrove.models.cross.row_scores import (
    N_FIELDS,
    field_log_marginal,
    load_cell,
    merge_moments,
    set_posterior,
)
from bayesgrove.models.cross.row_trees import FORGOTTEN, log_weights
from bayesgrove.models.cross.tree_lanes import LANES, counted_lanes, fold_lanes
from bayesgrove.models.cross.view_table import COUNTED, NORMAL, NORMAL_KNOWN, OTHER, ViewTable
from bayesgrove.trees import Tree


@kernel
def column_on_tree(table, column, children, codes, fields, out):
    """Write the log marginal of one column in every node of a tree, without the constants of cells."""
    n, numbers, all_codes = table.singles.shape[1], table.table, table.codes
    for node in range(2 * n - 1):
        out[node] = 0.0
    for part in range(table.part_start[column], table.part_start[column + 1]):
        first = table.code_table[part]
        for i in range(n):
            codes[i] = all_codes[part, i]
            out[i] += numbers[first + codes[i]]
        for t in range(n - 1):
            codes[n + t] = codes[children[t, 0]] + codes[children[t, 1]]
            out[n + t] += numbers[first + codes[n + t]]
    kind = table.kind[column]
    if kind == COUNTED:
        return
    if kind == OTHER:
        other_on_tree(table, column, children, out)
        return
    for i in range(n):
        load_cell(kind, table.params, column, fields, 0, table.values[column, i], i)
        out[i] += field_log_marginal(kind, table.params[column], fields, 0, i)
    for t in range(n - 1):
        a, b = children[t, 0], children[t, 1]
        if kind in (NORMAL, NORMAL_KNOWN):
            merge_moments(fields, 0, n + t, a, b)
            set_posterior(kind, table.params, column, fields, 0, n + t)
        else:
            fields[0, 0, n + t] = fields[0, 0, a] + fields[0, 0, b]
            fields[0, 1, n + t] = fields[0, 1, a] + fields[0, 1, b]
        out[n + t] += field_log_marginal(kind, table.params[column], fields, 0, n + t)


@kernel
def node_weights(children, log_weight, out):
    """log concentration + lgamma(size) of every node."""
    n = children.shape[0] + 1
    sizes = np.ones(2 * n - 1, np.int64)
    for i in range(n):
        out[i] = log_weight[1]
    for t in range(n - 1):
        sizes[n + t] = sizes[children[t, 0]] + sizes[children[t, 1]]
        out[n + t] = log_weight[sizes[n + t]]


@kernel
def root_log_q(children, weights, first, sign, second, log_q):
    """log q of the root where a node's log marginal is first + sign * second; `log_q` is room for all nodes."""
    n = children.shape[0] + 1
    for i in range(n):
        log_q[i] = weights[i] + first[i] + sign * second[i]
    for t in range(n - 1):
        node = n + t
        high = weights[node] + first[node] + sign * second[node]
        low = log_q[children[t, 0]] + log_q[children[t, 1]]
        if low > high:
            high, low = low, high
        log_q[node] = high
        if high - low < FORGOTTEN:
            log_q[node] += math.log1p(math.exp(low - high))
    return log_q[2 * n - 2]


@kernel
def set_on_tree(table, columns, children, out):
    """Write the log marginals of a set of columns in every node of a tree."""
    n_nodes = 2 * table.singles.shape[1] - 1
    codes, fields, own = np.empty(n_nodes, np.uint32), np.empty((1, N_FIELDS, n_nodes)), np.empty(n_nodes)
    for node in range(n_nodes):
        out[node] = 0.0
    for column in columns:
        column_on_tree(table, column, children, codes, fields, own)
        for node in range(n_nodes):
            out[node] += own[node]


@kernel
def columns_side_by_side(table, columns, children, codes, fields, own, out):
    """Write the log marginals of LANES columns in every node of a tree, (nodes, LANES)."""
    parts = table.part_start[columns]
    is_simple = True
    for column in columns:
        has_one = table.part_start[column + 1] == table.part_start[column] + 1
        is_simple &= has_one and table.kind[column] == COUNTED
    if is_simple:
        counted_lanes(table.codes, parts, table.code_table[parts], table.table, children, codes, out)
        return
    room = codes.reshape(codes.size)[: own.size]
    for lane in range(LANES):
        column_on_tree(table, columns[lane], children, room, fields, own)
        for node in range(own.size):
            out[node, lane] = own[node]


@kernel
def score_columns(table, view, children, log_weight, columns, share, out):
    """Log probability of each column given a view (without the column itself) and the view's tree."""
    n_nodes = 2 * table.singles.shape[1] - 1
    codes, fields = np.empty((n_nodes, LANES), np.uint32), np.empty((1, N_FIELDS, n_nodes))
    own, base, weights, log_q = np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes)
    lanes, signs, together = np.empty((n_nodes, LANES)), np.empty(LANES), np.empty(LANES, np.int64)
    split = np.empty(LANES)
    node_weights(children, log_weight, weights)
    set_on_tree(table, view, children, base)
    is_member = np.zeros(table.kind.size, np.bool_)
    for column in view:
        is_member[column] = True
    whole = root_log_q(children, weights, base, 0.0, base, log_q)
    for k in range(LANES * share[0], columns.size, LANES * share[1]):
        for lane in range(LANES):
            together[lane] = columns[min(k + lane, columns.size - 1)]
            signs[lane] = -1.0 if is_member[together[lane]] else 1.0
        columns_side_by_side(table, together, children, codes, fields, own, lanes)
        for node in range(n_nodes):
            for lane in range(LANES):
                lanes[node, lane] = weights[node] + base[node] + signs[lane] * lanes[node, lane]
        fold_lanes(children, lanes, split)
        for lane in range(min(LANES, columns.size - k)):
            out[k + lane] = signs[lane] * (lanes[n_nodes - 1, lane] - whole)


def column_scores(
    problem: Problem, views: Sequence[np.ndarray], row_children: Sequence[np.ndarray], columns: np.ndarray
) -> np.ndarray:
    """log p(column | the view's other columns, its row tree) for all columns and views, (columns, views).

    0 where a column is alone in its view.
    """
    if not isinstance(problem.table, ViewTable):
        scores: np.ndarray = problem.table.column_scores(views, row_children, columns, problem.log_rows)
        return scores.T + constant_sums(problem, columns)[:, np.newaxis]
    weight, n_threads = log_weights(problem.table.n_rows, problem.log_rows), problem.n_threads
    out = np.empty((len(views), columns.size))
    run_jobs(
        [
            (score_columns, (problem.table, view, children, weight, columns, (first, n_threads), out[v]))
            for v, (view, children) in enumerate(zip(views, row_children, strict=True))
            for first in range(n_threads)
        ],
        n_threads,
    )
    return out.T + constant_sums(problem, columns)[:, np.newaxis]


def constant_sums(problem: Problem, columns: np.ndarray) -> np.ndarray:
    """What the cells of each of some columns add to every log marginal."""
    if not isinstance(problem.table, ViewTable):
        sums: np.ndarray = problem.table.constant_sums()[columns]
        return sums
    return problem.table.constants[columns].sum(axis=1)


def root_logs(problem: Problem, columns: np.ndarray, row_children: np.ndarray) -> tuple[float, float]:
    """log q and log d of the root of a given tree of the rows for a set of columns, constants of cells included."""
    table = problem.table
    if isinstance(table, ViewTable):
        marginals, weights, room, nothing = (np.zeros(2 * table.n_rows - 1) for _ in range(4))
        node_weights(row_children, log_weights(table.n_rows, problem.log_rows), weights)
        set_on_tree(table, columns, row_children, marginals)
        log_q = root_log_q(row_children, weights, marginals, 0.0, marginals, room)
        log_d = root_log_q(row_children, weights, nothing, 0.0, nothing, room)
    else:
        log_q, log_d = table.root_logs(columns, row_children, problem.log_rows)
    return log_q + float(constant_sums(problem, columns).sum()), log_d


def node_marginals(problem: Problem, columns: np.ndarray, row_children: np.ndarray) -> np.ndarray:
    """Log marginals of a set of columns in every node of a given tree of the rows, constants of cells included."""
    table = problem.table
    if not isinstance(table, ViewTable):
        found: np.ndarray = table.marginals_with_constants(columns, row_children)
        return found
    marginals = np.zeros(2 * table.n_rows - 1)
    set_on_tree(table, columns, row_children, marginals)
    add_constants(row_children, table.constants[columns].sum(axis=0), marginals)
    return marginals


def row_tree(problem: Problem, columns: np.ndarray, row_children: np.ndarray) -> Tree:
    """A given tree of the rows for a set of columns, with the columns log_merge_odds, log_q and log_d."""
    n_rows = problem.table.n_rows
    nothing, weights, log_q, log_d = (np.zeros(2 * n_rows - 1) for _ in range(4))
    node_weights(row_children, log_weights(n_rows, problem.log_rows), weights)
    root_log_q(row_children, weights, nothing, 0.0, nothing, log_d)
    marginals = node_marginals(problem, columns, row_children)
    root_log_q(row_children, weights, marginals, 0.0, marginals, log_q)
    odds = (weights + marginals)[n_rows:] - log_q[row_children[:, 0]] - log_q[row_children[:, 1]]
    return Tree.from_merges(row_children, log_merge_odds=odds, columns={"log_q": log_q, "log_d": log_d})


@kernel
def add_constants(children, constants, marginals):
    """Add to the log marginals of nodes what their rows' cells add."""
    n = children.shape[0] + 1
    sums = np.empty(2 * n - 1)
    for i in range(n):
        sums[i] = constants[i]
    for t in range(n - 1):
        sums[n + t] = sums[children[t, 0]] + sums[children[t, 1]]
    for node in range(2 * n - 1):
        marginals[node] += sums[node]
