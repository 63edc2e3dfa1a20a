"""The Chinese restaurant process: its law over partitions, seating and expected number of clusters.

Kernels expect a concentration > 0 and do not check it; `check_concentration` is for the Python before them.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.special import log_gamma_table, log_rising


def check_concentration(concentration: float) -> float:
    """The concentration as a float, when it is a finite number above 0."""
    value = float(concentration)
    if not 0.0 < value < math.inf:
        raise InvalidSettingError(
            f"a concentration is a finite number above 0, got {concentration}. Try 1.0.", value=value
        )
    return value


@kernel
def log_crp(sizes, concentration):
    """Log probability of one partition with these block sizes; empty blocks (0) are skipped.

    Notes
    -----
    lgamma(a) - lgamma(n + a) + K log a + sum of lgamma(size).
    """
    n_items = 0
    total = 0.0
    log_concentration = math.log(concentration)
    for size in sizes:
        if size > 0:
            n_items += size
            total += log_concentration + math.lgamma(size)
    return total - log_rising(concentration, n_items)


def log_crp_labels(labels: ArrayLike, concentration: float) -> float:
    """Log probability of the partition that labels describe.

    Examples
    --------
    >>> round(float(np.exp(log_crp_labels([0, 0, 1], 1.0))), 6)
    0.166667
    """
    return float(log_crp(np.bincount(relabel(labels)), check_concentration(concentration)))


def dirichlet_log_kappa(log_concentration: float, n_items: int) -> np.ndarray:
    """What a cluster brings to the law, by its size 0 .. n_items: log concentration + lgamma(size), size > 0."""
    table = np.zeros(n_items + 1)
    table[1:] = log_concentration + log_gamma_table(1.0, n_items)
    return table


@kernel
def expected_crp_clusters(n_items, concentration):
    """Prior mean number of clusters: the sum of a / (a + i), i = 0 .. n - 1."""
    total = 0.0
    for i in range(n_items - 1, -1, -1):
        total += concentration / (concentration + i)
    return total


@kernel
def draw_crp(rng, n_items, concentration):
    """Labels of a draw, int64, numbered by first appearance, in time proportional to the number of items.

    An item opens a block with probability a / (a + i) or else copies the label of an earlier item chosen
    uniformly, which chooses blocks in proportion to their sizes.
    """
    labels = np.empty(n_items, np.int64)
    n_blocks = 0
    for i in range(n_items):
        if rng.random() * (concentration + i) < concentration:
            labels[i] = n_blocks
            n_blocks += 1
        else:
            labels[i] = labels[rng.integers(0, i)]
    return labels
