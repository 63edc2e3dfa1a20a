"""Proposals of row partitions for a new view of one column, and their probabilities (section 9.2).

Sequential: rows in order, each joins cluster c with weight n_c m_j(x | c), or opens one with weight alpha m_j(x); a
missing cell weighs 1. Q is the product of the normalised weights. Prior: Q is the Chinese restaurant process.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import column_add, column_log_predictive
from bayesgrove.models.cross.mcmc_lanes import code_weight
from bayesgrove.models.cross.mcmc_state import log_crp_sizes
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


@kernel
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
        if forced:
            k = places[labels[i]] if places[labels[i]] >= 0 else n_open
            places[labels[i]] = k
        else:
            k = draw_weighted(rng, weights, n_open + 1, total)
            labels[i] = k
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
        if forced:
            k = places[labels[i]] if places[labels[i]] >= 0 else n_open
            places[labels[i]] = k
        else:
            k = draw_weighted(rng, weights, n_open + 1, total)
            labels[i] = k
        log_q += math.log(weights[k] / total)
        if k == n_open:
            n_open += 1
            sizes[k] = 0
        sizes[k] += 1
        column_add(family, rows[k], 0, cells[i], p[0])
    return n_open, log_q


@kernel
def sequential(rng, target, params, alpha, j, forced, labels, sizes):
    """Draw the labels of the rows or, where they are forced, follow them; gives the number of clusters and log Q.

    `labels` and `sizes` are filled; forced labels stay, and sizes are then those of clusters by first appearance.
    """
    family, n_codes = target.family[j], target.n_codes[j]
    if n_codes == 0:
        width = target.start[j + 1] - target.start[j]
        return sequential_cells(rng, family, params[j], width, target.by_column[j], alpha, forced, labels, sizes)
    code_weights = np.zeros(n_codes + 1)
    for code in range(n_codes):
        code_weights[code + 1] = code_weight(family, params, j, code)
        code_weights[0] += code_weights[code + 1]
    return sequential_codes(rng, target.codes_by_column[j], code_weights, alpha, forced, labels, sizes)


@kernel
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
def propose(rng, target, params, alpha, kind, j, forced, labels, sizes):
    """Labels of a new view for column j, drawn or forced; gives the number of clusters and log Q."""
    if kind == SEQUENTIAL:
        return sequential(rng, target, params, alpha, j, forced, labels, sizes)
    if not forced:
        drawn = draw_crp(rng, labels.size, alpha)
        for i in range(labels.size):
            labels[i] = drawn[i]
    n_open = count_labels(labels, sizes)
    return n_open, log_crp_sizes(target.log_gamma_n, sizes, n_open, labels.size, alpha)
