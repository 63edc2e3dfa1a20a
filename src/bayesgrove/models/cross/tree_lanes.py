"""Several sets of columns on one tree of rows at a time, side by side as the numbers of a vector.

A set's log q of the root takes a logarithm and an exponential per node, one after another up the tree; of sets side by
side a node's are computed at once.
"""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.row_trees import FORGOTTEN
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_exp, fast_log, stand_alone

LANES = 32


@kernel(fastmath=SAFE_FLAGS)
def either(log_one, log_split):
    """log(exp(log_one) + exp(log_split)) to a few last digits of 1, without branches; both are finite."""
    gap = abs(log_one - log_split)
    gap = gap if gap < FORGOTTEN else FORGOTTEN
    return (log_one if log_one > log_split else log_split) + fast_log(1.0 + fast_exp(-gap), 0.0)


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def fold_lanes(children, lanes, split):
    """From log concentration + lgamma(size) + log marginal of every node, (nodes, lanes), to log q, in place.

    `split` is room for a number per lane. Loops become vectors only because it is an array of its own, which rows of
    `lanes` cannot overlap, and because the number of lanes is not known beforehand: they would be unrolled.
    """
    stand_alone()
    n, n_lanes = children.shape[0] + 1, lanes.shape[1]
    for t in range(n - 1):
        a, b = children[t, 0], children[t, 1]
        for lane in range(n_lanes):
            split[lane] = lanes[a, lane] + lanes[b, lane]
        for lane in range(n_lanes):
            lanes[n + t, lane] = either(lanes[n + t, lane], split[lane])


@kernel
def lane_log_q(children, weights, first, sign, second):
    """log q of the root where a node's log marginal is first + sign * second, with the bits of a lane among others."""
    lanes = np.empty((weights.size, 1))
    for node in range(weights.size):
        lanes[node, 0] = weights[node] + first[node] + sign * second[node]
    fold_lanes(children, lanes, np.empty(1))
    return lanes[weights.size - 1, 0]


@kernel(_nrt=False)
def counted_lanes(codes, parts, starts, numbers, children, room, out):
    """Log marginals in every node of a tree, (nodes, lanes), of one part per lane whose table starts as given."""
    stand_alone()
    n, n_lanes = children.shape[0] + 1, out.shape[1]
    for lane in range(n_lanes):
        part, start = parts[lane], starts[lane]
        for i in range(n):
            room[i, lane] = codes[part, i]
            out[i, lane] = numbers[start + room[i, lane]]
    for t in range(n - 1):
        a, b = children[t, 0], children[t, 1]
        for lane in range(n_lanes):
            room[n + t, lane] = room[a, lane] + room[b, lane]
            out[n + t, lane] = numbers[starts[lane] + room[n + t, lane]]
