"""Rows of a set of columns put into clusters one after the other, with the probability of the outcome.

In a given order each row joins cluster c with weight (n_c m(x | c))^beta, or opens one with (alpha m(x))^beta. Q, the
product of the normalised weights, has full support on partitions, so that it may start chains and propose views.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.mcmc_lanes import LANES, add_gaussian, add_others, fill_lane, score_discrete
from bayesgrove.models.cross.mcmc_proposals import LOWEST, draw_weighted
from bayesgrove.models.cross.mcmc_rows import add_row, clear_cluster, wider
from bayesgrove.models.cross.mcmc_state import with_room


@kernel(inline="always")
def weights_of(logs, n):
    """Turn the first n log weights into weights relative to the largest; gives their sum."""
    top, total = logs[0], 0.0
    for k in range(1, n):
        top = max(top, logs[k])
    for k in range(n):
        logs[k] = math.exp(max(logs[k] - top, LOWEST))
        total += logs[k]
    return total


@kernel
def allocate_rows(rng, target, params, tables, alpha, beta, layout, order, n_given, labels, sizes, least):
    """Follow the labels of the first so many rows in `order`, draw the others; gives the number of clusters and log Q.

    Once log Q has fallen below `least` it is given as -inf, and rows left are not looked at.

    Given labels stay as they are where all are given; else they must be numbered in the order in which clusters are
    opened, as the others are then. `sizes` (n_rows + 1) is filled in that order.
    """
    members, at, _, _, n_discrete, n_regular, _ = layout
    cells, codes, log_n, log_alpha = target.by_row, target.codes_by_row, target.log_n, math.log(alpha)
    room, stats = np.zeros((1, 2), np.int64), np.zeros((2, target.start[-1]))
    fields, places = wider(np.zeros((layout.weights.size, 0)), 1), np.full(order.size + 1, -1)
    fill_lane(target, params, tables, layout, stats, 0, fields, 0)
    out, n_open, log_q = np.empty(fields.shape[1]), 0, 0.0
    for t in range(order.size):
        i = order[t]
        n_lanes = (n_open + LANES) // LANES * LANES
        score_discrete(codes, i, members, at, n_discrete, fields, n_lanes, out)
        add_gaussian(cells, codes, i, members, at, n_discrete, n_regular, fields, n_lanes, out)
        add_others(target, params, members, n_regular, stats, i, n_open + 1, out)
        for k in range(n_open):
            out[k] = beta * (out[k] + log_n[sizes[k]])
        out[n_open] = beta * (out[n_open] + log_alpha)
        total = weights_of(out, n_open + 1)
        if t < n_given:
            k = places[labels[i]] if places[labels[i]] >= 0 else n_open
            places[labels[i]] = k
        else:
            k = draw_weighted(rng, out, n_open + 1, total)
            labels[i] = k
        log_q += math.log(out[k] / total)
        if log_q < least:
            return n_open, -np.inf
        if k == n_open:
            n_open += 1
            sizes[k] = 0
            room, stats = with_room(room, stats, n_open + 2)
            if n_open + 1 > fields.shape[1]:
                fields = wider(fields, n_open + 1)
                out = np.empty(fields.shape[1])
            clear_cluster(target.start, members, stats[n_open])
            fill_lane(target, params, tables, layout, stats, n_open, fields, n_open)
        sizes[k] += 1
        add_row(target, params, layout, stats[k], i)
        fill_lane(target, params, tables, layout, stats, k, fields, k)
    return n_open, log_q
