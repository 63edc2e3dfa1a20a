"""New rows under the row tree of a view, and under the tree of the columns.

In a view p(x | X_v) = [alpha m_0(x) + sum_k omega_k n_k m(x | X_k)] / (n + alpha); over the tree of the columns
R_c = r_c p(x_c | view c) + (1 - r_c) product over children of R (Li and Shafto's eq. 10).

**Erratum** (Heller and Ghahramani's form in a view, sum_k omega_k m(x | X_k), here form="paper"): its mass is the
expected number of clusters, not 1; tests/exact/test_bhcc_predictive.py shows it.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.predictive import weighty_nodes
from bayesgrove.agglomeration.statistics import node_statistics
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_predictive
from bayesgrove.likelihoods.families import IS_STUDENT
from bayesgrove.models.cross.cell_gaussians import student_terms
from bayesgrove.models.cross.tree_views import Skeleton
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_log, stand_alone
from bayesgrove.stats.special import LOG_2PI, LOG_PI, log_sum
from bayesgrove.trees import Tree

MOST_TABLE_ENTRIES = 20_000_000
"""Of the log densities of a block of rows' distinct cells under all nodes."""
CENTRE, SCALE, POWER, HALF_PRECISION, CONSTANT = range(5)
"""Fields of a Gaussian term: constant - power log(1 + scale gap^2) - half_precision gap^2."""
N_FIELDS = 5


class ViewMixture(NamedTuple):
    """The components a new row may join in a view: nodes of its row tree, last a new cluster."""

    prior: ColumnsPrior
    """Of the view's columns."""
    rows: np.ndarray
    """(n_nodes + 1, n_stats), zeros at the last."""
    log_weight: np.ndarray
    """(n_nodes + 1,) omega times size and the concentration, divided by their sum."""
    log_omega: np.ndarray
    """(n_nodes + 1,) without sizes, as in print; nothing for a new cluster."""


def view_mixture(prior: ColumnsPrior, values: np.ndarray, tree: Tree, log_rows: float) -> ViewMixture:
    """The mixture of a view from the prior and cells of its columns and its row tree."""
    kept, log_weight = weighty_nodes(tree)
    rows = node_statistics(prior, values, tree, kept)
    own = log_weight[kept] - np.logaddexp.reduce(log_weight[kept]) + math.log(tree.n_leaves)
    total = math.log(tree.n_leaves + math.exp(log_rows))
    return ViewMixture(
        prior,
        np.vstack([rows, np.zeros((1, rows.shape[1]))]),
        np.append(own, log_rows) - total,
        np.append(log_weight[kept] - np.log(tree.size[kept]), -np.inf),
    )


def some_columns(mixture: ViewMixture, columns: np.ndarray) -> ViewMixture:
    """The mixture of some columns of the view, by their places in it."""
    start, family, params = mixture.prior.start, mixture.prior.family[columns], mixture.prior.params[columns]
    places = [np.arange(start[j], start[j + 1]) for j in columns]
    prior = ColumnsPrior(family, params, np.concatenate([[0], np.cumsum([own.size for own in places])]))
    return mixture._replace(prior=prior, rows=np.ascontiguousarray(mixture.rows[:, np.concatenate(places)]))


class DensityTables(NamedTuple):
    """Log densities of the distinct cells of some rows under every component."""

    codes: np.ndarray
    """(n_rows, n_columns) line of `table` for a discrete cell, 0 for a Gaussian one, NULL for a missing one."""
    table: np.ndarray
    """(n_lines, n_components)"""
    lane: np.ndarray
    """(n_columns,) place of a Gaussian column in `fields`, NULL for discrete ones."""
    fields: np.ndarray
    """(n_gaussian_columns, 5, n_components)"""
    values: np.ndarray


def density_tables(mixture: ViewMixture, values: np.ndarray) -> DensityTables:
    """Tables for new rows of the view's columns."""
    is_student = IS_STUDENT[mixture.prior.family]
    codes = np.where(np.isnan(values), NULL, 0)
    parts, size = [np.empty((0, len(mixture.rows)))], 0
    for j in np.flatnonzero(~is_student):
        seen = codes[:, j] == 0
        distinct, code = np.unique(values[seen, j], return_inverse=True)
        codes[seen, j] = size + code
        parts.append(line_densities(mixture.prior, mixture.rows, j, distinct))
        size += distinct.size
    lane = np.where(is_student, np.cumsum(is_student) - 1, NULL)
    fields = gaussian_fields(mixture.prior, mixture.rows, np.flatnonzero(is_student))
    return DensityTables(codes, np.concatenate(parts), lane, fields, values)


@kernel
def line_densities(prior, rows, j, cells):
    """Log densities of cells of one column under every component, (n_cells, n_components)."""
    out = np.empty((cells.size, rows.shape[0]))
    family, p, start, stop = prior.family[j], prior.params[j], prior.start[j], prior.start[j + 1]
    for line in range(cells.size):
        for k in range(rows.shape[0]):
            out[line, k] = column_log_predictive(family, rows[k], start, stop, cells[line], p)
    return out


@kernel
def gaussian_fields(prior, rows, columns):
    """Numbers of the Student-t and normal densities of real columns under every component."""
    out = np.zeros((columns.size, N_FIELDS, rows.shape[0]))
    for at in range(columns.size):
        j = columns[at]
        own = out[at]
        for k in range(rows.shape[0]):
            mean, scale, freedom = student_terms(prior.family[j], rows[k, prior.start[j] :], prior.params[j])
            own[CENTRE, k] = mean
            if freedom == np.inf:
                own[HALF_PRECISION, k] = 0.5 / scale
                own[CONSTANT, k] = -0.5 * (LOG_2PI + math.log(scale))
            else:
                half = 0.5 * freedom
                own[SCALE, k], own[POWER, k] = 1.0 / (freedom * scale), half + 0.5
                gammas = math.lgamma(half + 0.5) - math.lgamma(half)
                own[CONSTANT, k] = gammas - 0.5 * (LOG_PI + math.log(freedom * scale))
    return out


@kernel(fastmath=SAFE_FLAGS)
def add_gaussian(fields, x, out):
    """Add the log densities of a real cell under every component."""
    stand_alone()
    centre, scale, power, half, constant = fields[0], fields[1], fields[2], fields[3], fields[4]
    for k in range(out.size):
        gap = x - centre[k]
        square = gap * gap
        out[k] += constant[k] - power[k] * fast_log(1.0 + scale[k] * square, 0.0) - half[k] * square


@kernel
def add_line(line, out):
    """Add the log densities of a discrete cell under every component."""
    for k in range(out.size):
        out[k] += line[k]


@kernel
def score_row(tables, log_weight, i, out):
    """Log of weight times density of row i under every component."""
    codes, lane = tables.codes, tables.lane
    for k in range(out.size):
        out[k] = log_weight[k]
    for j in range(lane.size):
        if codes[i, j] != NULL:
            if lane[j] == NULL:
                add_line(tables.table[codes[i, j]], out)
            else:
                add_gaussian(tables.fields[lane[j]], tables.values[i, j], out)


@kernel
def all_scores(tables, log_weight):
    """`score_row` of all rows, (n_rows, n_components)."""
    out = np.empty((tables.codes.shape[0], log_weight.size))
    for i in range(out.shape[0]):
        score_row(tables, log_weight, i, out[i])
    return out


@kernel
def all_log_sums(tables, log_weight):
    """Log of the sum over all components for every row; no table of rows and components."""
    out, scores = np.empty(tables.codes.shape[0]), np.empty(log_weight.size)
    for i in range(out.size):
        score_row(tables, log_weight, i, scores)
        out[i] = log_sum(scores)
    return out


def row_blocks(n_rows: int, n_columns: int, n_components: int) -> Iterator[slice]:
    """Rows in blocks whose tables stay small even where all cells differ."""
    step = max(64, MOST_TABLE_ENTRIES // (n_columns * n_components))
    for low in range(0, n_rows, step):
        yield slice(low, low + step)


def view_log_density(mixture: ViewMixture, values: np.ndarray, form: str = "normalised") -> np.ndarray:
    """Log density of new rows of a view's columns; missing cells are left out."""
    log_weight = mixture.log_omega if form == "paper" else mixture.log_weight
    blocks = row_blocks(values.shape[0], values.shape[1], log_weight.size)
    parts = [all_log_sums(density_tables(mixture, values[block]), log_weight) for block in blocks]
    return np.concatenate([*parts, np.empty(0)])


class Passed(NamedTuple):
    """New rows passed up a tree of columns, (n_nodes, n_rows) each."""

    log_p: np.ndarray
    """Log density in each node as one view; -inf where it is none."""
    below: np.ndarray
    """Log density of the node's columns given that they are parted."""
    log_density: np.ndarray
    """Log density of the node's columns; the last line is that of whole rows."""


def pass_up(skeleton: Skeleton, log_p: np.ndarray) -> Passed:
    """Eq. 10 for many rows at once."""
    below, out = np.zeros_like(log_p), np.empty_like(log_p)
    for node, above in enumerate(skeleton.parent):
        out[node] = np.logaddexp(skeleton.log_one[node] + log_p[node], skeleton.log_split[node] + below[node])
        if above != NULL:
            below[above] += out[node]
    return Passed(log_p, below, out)


def posterior_weights(skeleton: Skeleton, passed: Passed) -> tuple[np.ndarray, np.ndarray]:
    """Given each row: log probability to be one view where not parted above, and to be exactly one view."""
    log_one = skeleton.log_one[:, np.newaxis] + passed.log_p - passed.log_density
    log_split = skeleton.log_split[:, np.newaxis] + passed.below - passed.log_density
    reach = np.zeros_like(log_one)
    for node in range(len(reach) - 2, -1, -1):
        above = skeleton.parent[node]
        reach[node] = reach[above] + log_split[above]
    return log_one, reach + log_one
