"""Proposals of row partitions for a new view of one column, and their probabilities.

Sequential: rows in order, each joins cluster c with weight n_c m_j(x | c), or opens one with weight alpha m_j(x); a
missing cell weighs 1. Q is the product of the normalised weights. Prior: Q is the Chinese restaurant process.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import column_add, column_log_predictive
from bayesgrove.likelihoods.families import GAUSSIAN
from bayesgrove.likelihoods.moments import added
from bayesgrove.models.cross.mcmc_lanes import (
    CENTRE,
    CONSTANT,
    N_GAUSSIAN_FIELDS,
    POWER,
    SCALE,
    code_weight,
    fill_gaussian_lane,
)
from bayesgrove.models.cross.mcmc_state import log_crp_sizes
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_log
from bayesgrove.stats.processes import draw_crp

SEQUENTIAL, PRIOR = 0, 1
PROPOSALS = {"sequential": SEQUENTIAL, "prior": PRIOR}
TINY = 1e-150
"""Products of probabilities smaller than this are turned into logarithms."""
LOWEST = -300.0
"""Log predictives relative to the largest are cut off here, so that Q is never 0: any Q of full support is right."""


@kernel
def draw_weighted(rng, weights, n, total):
    """Index below n by weights of a known sum."""
    left = rng.random() * total
    for k in range(n - 1):
        left -= weights[k]
        if left < 0.0:
            return k
    return n - 1


@kernel(inline="always")
def cell_weights(family, p, rows, sizes, n_open, x, alpha, weights):
    """Weights of the clusters and of a new one, relative to the largest predictive; gives their sum.

    `rows` has an empty cluster at the end.
    """
    top = -np.inf
    for k in range(n_open + 1):
        weights[k] = 0.0 if math.isnan(x) else column_log_predictive(family, rows[k], 0, rows.shape[1], x, p)
        top = max(top, weights[k])
    total = 0.0
    for k in range(n_open + 1):
        weights[k] = (sizes[k] if k < n_open else alpha) * math.exp(max(weights[k] - top, LOWEST))
        total += weights[k]
    return total


@kernel(inline="always")
def place_of(rng, i, weights, total, n_open, forced, labels, places):
    """The cluster that row i joins, drawn by the weights, or that of its label; `n_open` is a new one."""
    if forced:
        k = places[labels[i]] if places[labels[i]] >= 0 else n_open
        places[labels[i]] = k
    else:
        k = draw_weighted(rng, weights, n_open + 1, total)
        labels[i] = k
    return k


@kernel
def sequential_codes(rng, codes, code_weights, alpha, forced, labels, sizes):
    """`sequential` of a discrete column; `code_weights` are prior weights of the categories, 1, 2, ..., 0 their sum."""
    n, n_codes, all_weights = labels.size, code_weights.size - 1, code_weights[0]
    counts, scales, weights, places = np.zeros((n + 1, n_codes)), np.empty(n + 1), np.empty(n + 1), np.full(n + 1, -1)
    observed = np.zeros(n + 1)
    n_open, log_q, product = 0, 0.0, 1.0
    for i in range(n):
        code, total = codes[i], 0.0
        if code == 0:
            for k in range(n_open):
                weights[k] = sizes[k]
                total += weights[k]
            weights[n_open] = alpha
        else:
            weight = code_weights[code]
            for k in range(n_open):
                weights[k] = scales[k] * (counts[k, code - 1] + weight)
                total += weights[k]
            weights[n_open] = alpha * weight / all_weights
        total += weights[n_open]
        k = place_of(rng, i, weights, total, n_open, forced, labels, places)
        product *= weights[k] / total
        if product < TINY:
            log_q += math.log(product)
            product = 1.0
        if k == n_open:
            n_open += 1
            sizes[k] = 0
        sizes[k] += 1
        if code > 0:
            observed[k] += 1.0
            counts[k, code - 1] += 1.0
        scales[k] = sizes[k] / (observed[k] + all_weights)
    return n_open, log_q + math.log(product)


@kernel
def sequential_cells(rng, family, p, width, cells, alpha, forced, labels, sizes):
    """`sequential` of a column of any family."""
    n = labels.size
    rows, weights, places = np.zeros((n + 1, width)), np.empty(n + 1), np.full(n + 1, -1)
    n_open, log_q = 0, 0.0
    for i in range(n):
        total = cell_weights(family, p, rows, sizes, n_open, cells[i], alpha, weights)
        k = place_of(rng, i, weights, total, n_open, forced, labels, places)
        log_q += math.log(weights[k] / total)
        if k == n_open:
            n_open += 1
            sizes[k] = 0
        sizes[k] += 1
        column_add(family, rows[k], 0, cells[i], p[0])
    return n_open, log_q


@kernel(fastmath=SAFE_FLAGS)
def gaussian_weights(fields, x, n_open, sizes, alpha, weights):
    """Weights of the clusters and of a new one, relative to the largest predictive; gives their sum."""
    top = -1e300
    for k in range(n_open + 1):
        gap = x - fields[CENTRE, k]
        inner = fast_log(1.0 + fields[SCALE, k] * gap * gap, 0.0)
        weights[k] = fields[CONSTANT, k] - fields[POWER, k] * inner
        top = max(top, weights[k])
    total = 0.0
    for k in range(n_open + 1):
        weights[k] = (sizes[k] if k < n_open else alpha) * math.exp(max(weights[k] - top, LOWEST))
        total += weights[k]
    return total


@kernel
def sequential_gaussian(rng, cells, observed, params, j, tables, at, alpha, forced, labels, sizes):
    """`sequential` of a Gaussian column: Student's t of each cluster is kept ready."""
    n = labels.size
    fields, moments = np.empty((N_GAUSSIAN_FIELDS, n + 1)), np.zeros((n + 1, 3))
    weights, places = np.empty(n + 1), np.full(n + 1, -1)
    n_open, log_q = 0, 0.0
    fill_gaussian_lane(fields, 0, 0, 0.0, 0.0, 0.0, params, j, tables, at)
    for i in range(n):
        x = cells[i]
        if observed[i] > 0:
            total = gaussian_weights(fields, x, n_open, sizes, alpha, weights)
        else:
            for k in range(n_open):
                weights[k] = sizes[k]
            weights[n_open] = alpha
            total = i + alpha
        k = place_of(rng, i, weights, total, n_open, forced, labels, places)
        log_q += math.log(weights[k] / total)
        if k == n_open:
            n_open += 1
            sizes[k] = 0
            if n_open <= n:
                for f in range(N_GAUSSIAN_FIELDS):
                    fields[f, n_open] = fields[f, k]
        sizes[k] += 1
        moments[k, 0], moments[k, 1], moments[k, 2] = added(moments[k, 0], moments[k, 1], moments[k, 2], x)
        fill_gaussian_lane(fields, 0, k, moments[k, 0], moments[k, 1], moments[k, 2], params, j, tables, at)
    return n_open, log_q


@kernel(inline="always")
def sequential(rng, target, params, tables, alpha, j, forced, labels, sizes):
    """Draw the labels of the rows or, where they are forced, follow them; gives the number of clusters and log Q.

    `labels` and `sizes` are filled; forced labels stay, and sizes are then those of clusters by first appearance.
    """
    family, n_codes = target.family[j], target.n_codes[j]
    if family == GAUSSIAN:
        return sequential_gaussian(
            rng, target.by_column[j], target.codes_by_column[j], params, j, tables, target.table_at[j], alpha, forced,
            labels, sizes,
        )  # fmt: skip
    if n_codes == 0:
        width = target.start[j + 1] - target.start[j]
        return sequential_cells(rng, family, params[j], width, target.by_column[j], alpha, forced, labels, sizes)
    code_weights = np.zeros(n_codes + 1)
    for code in range(n_codes):
        code_weights[code + 1] = code_weight(family, params, j, code)
        code_weights[0] += code_weights[code + 1]
    return sequential_codes(rng, target.codes_by_column[j], code_weights, alpha, forced, labels, sizes)


@kernel(inline="always")
def count_labels(labels, sizes):
    """Sizes of clusters 0 .. K - 1; gives K."""
    n_open = 0
    for label in labels:
        while n_open <= label:
            sizes[n_open] = 0
            n_open += 1
        sizes[label] += 1
    return n_open


@kernel
def propose(rng, target, params, tables, alpha, kind, j, forced, labels, sizes):
    """Labels of a new view for column j, drawn or forced; gives the number of clusters and log Q."""
    if kind == SEQUENTIAL:
        return sequential(rng, target, params, tables, alpha, j, forced, labels, sizes)
    if not forced:
        drawn = draw_crp(rng, labels.size, alpha)
        for i in range(labels.size):
            labels[i] = drawn[i]
    n_open = count_labels(labels, sizes)
    return n_open, log_crp_sizes(target.log_gamma_n, sizes, n_open, labels.size, alpha)
