"""Local moves: Gibbs steps on the leaves below a node of the guide tree (L2).

Valid because the choice of the node ignores the partition. A few numbers per sweep: plain Python.
"""

import numpy as np

from bayesgrove.models.nrm.guide import FLOOR, Guide


def draw_subtree(rng: np.random.Generator, guide: Guide, depth: int) -> tuple[int, int]:
    """First and last place below a node drawn `depth` times, each time inside the one before; leaves included."""
    n, cumulative = guide.order.size, guide.cumulative
    low, high = 0, n - 1
    for _ in range(depth):
        if low == high:
            break
        inner, leaves = cumulative[high] - cumulative[low], FLOOR * (high + 1 - low) / n
        goal = rng.random() * (inner + leaves)
        if goal < leaves:
            low = high = low + int(rng.integers(0, high + 1 - low))
        else:
            gap = int(np.searchsorted(cumulative, cumulative[low] + goal - leaves, side="right")) - 1
            gap = min(max(gap, low), high - 1)  # rounding at the ends
            low, high = int(guide.first[gap]), int(guide.last[gap])
    return low, high


def draw_local_points(rng: np.random.Generator, guide: Guide, depth: int, most: int) -> np.ndarray:
    """Places below a drawn node, in order; a uniform subset where there are more than `most`."""
    low, high = draw_subtree(rng, guide, depth)
    if high + 1 - low <= most:
        return np.arange(low, high + 1)
    return low + rng.choice(high + 1 - low, most, replace=False)
