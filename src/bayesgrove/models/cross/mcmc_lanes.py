"""Predictives of one row in all clusters of a view at once.

What a cell's log predictive needs is kept per column in *fields*, clusters side by side, so that a row is scored by
adding up contiguous lanes. A discrete column has one field per category, its log probability. A Gaussian column has
four: constant, centre, scale and power of Student's t. Columns of other families have none and are scored one by one.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    column_log_predictive,
    column_remove,
)
from bayesgrove.likelihoods.gaussian_diagonal import posterior_rate
from bayesgrove.likelihoods.moments import removed
from bayesgrove.models.cross.mcmc_target import rate_marginal
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_log, stand_alone

CONSTANT, CENTRE, SCALE, POWER = range(4)
N_GAUSSIAN_FIELDS = 4
LANES = 8
"""Places for clusters come in multiples of this: loops over them need no rest."""
FACTORS = 16
"""So many probabilities are multiplied before a logarithm is taken."""


@kernel
def members_of(of_column, view, width):
    """Columns of a view."""
    members = np.empty(width, np.int64)
    n = 0
    for j in range(of_column.size):
        if of_column[j] == view:
            members[n] = j
            n += 1
    return members


@kernel
def field_places(target, members):
    """Where the fields of each column begin, and last their number."""
    at = np.zeros(members.size + 1, np.int64)
    for m in range(members.size):
        j = members[m]
        at[m + 1] = at[m] + (N_GAUSSIAN_FIELDS if target.family[j] == GAUSSIAN else target.n_codes[j])
    return at


@kernel
def code_weight(family, p, code):
    """Prior weight of a category, 0, 1, ..., of a discrete column."""
    return p[1 - code] if family == BERNOULLI else p[0]


@kernel
def fill_gaussian_lane(fields, at, lane, n, mean, spread, p, table):
    """Student's t of one cluster: log p(x) = constant - power log(1 + scale (x - centre)^2)."""
    strength_n = p[1] + n
    rate_n = posterior_rate(n, mean, spread, p[0], p[1], p[3])
    count = int(n)
    # log p(centre) is the difference of two log marginals whose rates are equal.
    constant = table[count + 1] - table[count] - 0.5 * math.log(rate_n)
    fields[at + CONSTANT, lane] = constant
    fields[at + CENTRE, lane] = (p[1] * p[0] + n * mean) / strength_n
    fields[at + SCALE, lane] = strength_n / (2.0 * rate_n * (strength_n + 1.0))
    fields[at + POWER, lane] = p[2] + 0.5 * n + 0.5


@kernel
def fill_lane(target, params, tables, members, at, row, fields, lane):
    """Fields of one cluster with the statistics `row`."""
    for m in range(members.size):
        j = members[m]
        family, first, n_codes, p = target.family[j], target.start[j], target.n_codes[j], params[j]
        if family == GAUSSIAN:
            table = tables[target.table_at[j]]
            fill_gaussian_lane(fields, at[m], lane, row[first], row[first + 1], row[first + 2], p, table)
        elif n_codes > 0:
            total = 0.0
            for code in range(n_codes):
                total += row[first + code] + code_weight(family, p, code)
            for code in range(n_codes):
                fields[at[m] + code, lane] = math.log((row[first + code] + code_weight(family, p, code)) / total)


@kernel
def copy_lane(fields, source, target):
    """Copy all fields of a cluster to another place."""
    for f in range(fields.shape[0]):
        fields[f, target] = fields[f, source]


@kernel(fastmath=SAFE_FLAGS)
def add_gaussian(fields, at, x, n_lanes, out):
    """Add a Gaussian cell's log predictives."""
    stand_alone()
    for k in range(n_lanes):
        gap = x - fields[at + CENTRE, k]
        inner = fast_log(1.0 + fields[at + SCALE, k] * gap * gap, 0.0)
        out[k] += fields[at + CONSTANT, k] - fields[at + POWER, k] * inner


@kernel
def score_lanes(target, params, members, at, fields, stats, i, n_places, out):
    """Log predictives of row i in the first places; the last of them is the empty cluster."""
    cells, codes, family, start = target.by_row[i], target.codes_by_row[i], target.family, target.start
    n_lanes = (n_places + LANES - 1) // LANES * LANES
    for k in range(n_lanes):
        out[k] = 0.0
    for m in range(members.size):
        j = members[m]
        if at[m + 1] == at[m]:
            if not math.isnan(cells[j]):
                for k in range(n_places):
                    out[k] += column_log_predictive(family[j], stats[k], start[j], start[j + 1], cells[j], params[j])
        elif family[j] == GAUSSIAN:
            if not math.isnan(cells[j]):
                add_gaussian(fields, at[m], cells[j], n_lanes, out)
        elif codes[j] > 0:
            lane = fields[at[m] + codes[j] - 1]
            for k in range(n_lanes):
                out[k] += lane[k]


@kernel
def score_without(target, params, tables, members, row, scratch, i):
    """Log predictive of row i in its own cluster, with the statistics `row`, once it has left it."""
    cells, codes = target.by_row[i], target.codes_by_row[i]
    total, above, below, n_factors = 0.0, 1.0, 1.0, 0
    for m in range(members.size):
        j = members[m]
        family, first, last, p = target.family[j], target.start[j], target.start[j + 1], params[j]
        if target.n_codes[j] > 0:
            if codes[j] > 0:
                weights = -1.0
                for s in range(first, last):
                    weights += row[s] + code_weight(family, p, s - first)
                above *= row[first + codes[j] - 1] - 1.0 + code_weight(family, p, codes[j] - 1)
                below *= weights
                n_factors += 1
                if n_factors == FACTORS:
                    total += math.log(above / below)
                    above, below, n_factors = 1.0, 1.0, 0
        elif not math.isnan(cells[j]):
            if family == GAUSSIAN:
                table = tables[target.table_at[j]]
                n, mean, spread = row[first], row[first + 1], row[first + 2]
                total += rate_marginal(n, mean, spread, p, table)
                n, mean, spread = removed(n, mean, spread, cells[j])
                total -= rate_marginal(n, mean, spread, p, table)
            else:
                for s in range(first, last):
                    scratch[s] = row[s]
                column_remove(family, scratch, first, cells[j], p[0])
                total += column_log_predictive(family, scratch, first, last, cells[j], p)
    return total + math.log(above / below)
