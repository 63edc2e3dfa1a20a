"""Local moves: Gibbs steps on the leaves below a node of the guide tree (L2).

Valid because the choice of the node ignores the partition.
"""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.nrm.gibbs import draw_points
from bayesgrove.models.nrm.guide import FLOOR, draw_gap


@kernel
def draw_subtree(rng, cumulative, first, last, depth):
    """First and last place below a node drawn `depth` times, each time inside the one before; leaves included."""
    n = first.size + 1
    low, high = 0, n - 1
    for _ in range(depth):
        if low == high:
            break
        inner, leaves = cumulative[high] - cumulative[low], FLOOR * (high + 1 - low) / n
        if rng.random() * (inner + leaves) < leaves:
            low += rng.integers(0, high + 1 - low)
            high = low
        else:
            gap = draw_gap(rng, cumulative, low, high)
            low, high = first[gap], last[gap]
    return low, high


@kernel
def draw_local_points(rng, cumulative, first, last, depth, most):
    """Places below a drawn node, in order; a uniform subset where there are more than `most`."""
    low, high = draw_subtree(rng, cumulative, first, last, depth)
    points = np.arange(low, high + 1)
    if points.size <= most:
        return points
    draw_points(rng, points.size, most, points)
    return np.sort(points[:most])
