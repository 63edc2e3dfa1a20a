"""Priors over partitions: the Chinese restaurant process, Pitman and Yor's, and mixtures of finite mixtures.

Each is of Gibbs type: a partition of n items into K blocks of sizes m has probability V(n, K) prod w(m), with

    process                  w(m)                                 V(n, K)
    Chinese restaurant       Gamma(m)                             a^K Gamma(a) / Gamma(a + n)
    Pitman-Yor               Gamma(m - d) / Gamma(1 - d)          prod_{i=1}^{K-1} (a + i d) Gamma(a+1) / Gamma(a + n)
    mixture of finite ones   Gamma(m + a) / Gamma(a)              sum_k P(k) k! / (k - K)! Gamma(a k) / Gamma(a k + n)

a the concentration, d the discount, P(k) the prior of the number of components (Miller and Harrison 2018). Kernels
expect parameters in their ranges; `check_concentration` is for the Python before them.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.special import log_beta, log_gamma_table, log_rising


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
    """What a cluster adds to the log prior, by its size 0 .. n_items: log concentration + lgamma(size), size > 0."""
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


# Pitman-Yor process


@kernel
def fill_pitman_yor(concentration, discount, n_items, table):
    """log V(n, K) for K = 1, 2, ... to `table`; entry 0 is 0."""
    total = math.lgamma(concentration + 1.0) - math.lgamma(concentration + n_items)
    table[0] = 0.0
    for k in range(1, table.size):
        table[k] = total
        total += math.log(concentration + k * discount)


# Mixture of finite mixtures

GEOMETRIC, POISSON, BETA_NEGATIVE_BINOMIAL = 0, 1, 2
LEAST_FINITE = 1e-3
"""Smallest concentration of a mixture of finite mixtures: below it the sums V(n, K) need millions of terms."""
NEGLIGIBLE = -34.0
"""Log share of a sum below which its tail is left out."""


class Components(NamedTuple):
    """Prior of the number of components k = 1, 2, ...

    k - 1 is geometric (success probability `a`), Poisson (mean `a`), or beta-negative-binomial: a negative binomial
    number of `a` successes whose probability is Beta(b, c).
    """

    kind: float = float(BETA_NEGATIVE_BINOMIAL)
    a: float = 1.0
    b: float = 4.0
    c: float = 3.0


USUAL_COMPONENTS = Components()


@kernel
def log_components(components, k):
    """log P(k)."""
    j, (kind, a, b, c) = k - 1.0, components
    if kind == GEOMETRIC:
        return math.log(a) + j * math.log1p(-a) if j > 0.0 else math.log(a)
    if kind == POISSON:
        return j * math.log(a) - a - math.lgamma(j + 1.0)
    return math.lgamma(a + j) - math.lgamma(a) - math.lgamma(j + 1.0) + log_beta(a + b, j + c) - log_beta(b, c)


@kernel
def log_finite_weight(n_items, n_clusters, concentration, components):
    """log V(n, K): its terms rise to one peak and then fall; the sum ends when k times the last one is negligible."""
    k, top, total = float(n_clusters), -np.inf, 0.0
    while True:
        log_term = math.lgamma(k + 1.0) - math.lgamma(k - n_clusters + 1.0) + log_components(components, k)
        log_term -= log_rising(concentration * k, n_items)
        if log_term > top:
            total = total * math.exp(top - log_term) + 1.0
            top = log_term
        else:
            total += math.exp(log_term - top)
        if log_term == -np.inf or log_term + math.log(k) < top + math.log(total) + NEGLIGIBLE:
            return top + math.log(total)
        k += 1.0


@kernel
def fill_finite(concentration, components, n_items, table):
    """log V(n, K) for K = 1 .. n to `table`; entry 0 and those beyond n are 0."""
    for k in range(table.size):
        table[k] = log_finite_weight(n_items, k, concentration, components) if 0 < k <= n_items else 0.0
