"""Exact draws from the prior of a normalised generalised gamma process over partitions of a few items, with its u.

Symbols: n items in K clusters of sizes m, alpha and sigma as in docs/theory/nrm-mixtures.md, v = log u. Then

    p(partition, v) = exp(g_K(v)) (alpha sigma)^K prod over clusters of Gamma(m - sigma) / Gamma(1 - sigma)
    g_K(v) = n v - (n - K sigma) softplus(v) - alpha expm1(sigma softplus(v)) - lgamma(n),

the Jacobian u of v = log u included. g_K is concave and analytic in the strip |Im v| < pi, so that the trapezoidal rule
converges exponentially in 1 / STEP; what lies DROP below the top weighs e^-DROP and is left out.
"""

import functools
import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from bayesgrove.stats.partitions import all_partitions
from bayesgrove.stats.processes import USUAL_COMPONENTS, Components, fill_pitman_yor, log_finite_weight

STEP, DROP = 0.25, 45.0


def log_kernel(v, n, k, alpha, sigma):
    """g_K(v), of numbers or arrays."""
    soft = np.logaddexp(0.0, v)
    return n * v - (n - k * sigma) * soft - alpha * np.expm1(sigma * soft) - math.lgamma(n)


def slope(v, n, k, alpha, sigma):
    """Derivative of g_K at a number."""
    soft = max(v, 0.0) + math.log1p(math.exp(-abs(v)))
    return n - math.exp(v - soft) * (n - k * sigma + alpha * sigma * math.exp(min(sigma * soft, 700.0)))


def bisect(rises, low, high, tolerance):
    """The place in [low, high], within the tolerance, where `rises` turns from true to false."""
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        if rises(middle):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@functools.lru_cache(maxsize=16)  # asked for again by each step of a draw
def mode(n, k, alpha, sigma):
    """Where g_K is largest."""
    low, high = -1.0, 1.0
    while slope(low, n, k, alpha, sigma) < 0.0:
        low *= 2.0
    while slope(high, n, k, alpha, sigma) > 0.0:
        high *= 2.0
    return bisect(lambda v: slope(v, n, k, alpha, sigma) > 0.0, low, high, 1e-9 * (high - low))


def edge(n, k, alpha, sigma, side):
    """A place left (side -1) or right (1) of the mode, at most twice as far as where g_K has fallen by DROP."""
    top = mode(n, k, alpha, sigma)
    floor = log_kernel(top, n, k, alpha, sigma) - DROP
    width = 1.0
    while log_kernel(top + side * width, n, k, alpha, sigma) > floor:
        width *= 2.0
    return top + side * width


def grid(n, k_low, k_high, alpha, sigma):
    """Points STEP apart over all that matters of g_K for K from k_low to k_high; modes increase with K."""
    low, high = edge(n, k_low, alpha, sigma, -1), edge(n, k_high, alpha, sigma, 1)
    return np.arange(low, high + STEP, STEP)


def log_weights_of_counts(n, alpha, sigma):
    """Log of the integral of exp(g_K) times (alpha sigma)^K, K = 1 .. n."""
    counts = np.arange(1, n + 1)[:, None]
    values = log_kernel(grid(n, 1, n, alpha, sigma), n, counts, alpha, sigma)
    top = values.max(axis=1)
    integrals = top + np.log(np.exp(values - top[:, None]).sum(axis=1) * STEP)
    return integrals + counts[:, 0] * (math.log(alpha) + math.log(sigma))


@functools.cache
def block_sizes(n):
    """All partitions of n items, their numbers of clusters, and how many clusters of size 1 .. n each has."""
    partitions = np.array(list(all_partitions(n)))
    sizes = np.stack([np.bincount(labels, minlength=n) for labels in partitions])
    of_size = np.stack([(sizes == m).sum(axis=1) for m in range(1, n + 1)], axis=1)
    return partitions, partitions.max(axis=1) + 1, of_size


def partition_law(n, alpha, sigma):
    """Probability of each partition, in the order of `all_partitions`, u integrated out."""
    _, counts, of_size = block_sizes(n)
    log_rising = gammaln(np.arange(1, n + 1) - sigma) - math.lgamma(1.0 - sigma)
    return np.exp(log_weights_of_counts(n, alpha, sigma)[counts - 1] + of_size @ log_rising)


def draw_partition(rng, n, alpha, sigma):
    """Labels of a draw from the prior, u integrated out."""
    cumulative = np.cumsum(partition_law(n, alpha, sigma))
    return block_sizes(n)[0][np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")].copy()


def draw_log_u(rng, n, k, alpha, sigma):
    """log u given a partition of n items into k clusters, by rejection from steps that lie above the density."""
    points = grid(n, k, k, alpha, sigma)
    values = log_kernel(points, n, k, alpha, sigma)
    # On a step the concave g_K is largest at one end, but for the step that holds the mode.
    bounds = np.maximum(values[:-1], values[1:])
    top = mode(n, k, alpha, sigma)
    bounds[np.searchsorted(points, top) - 1] = log_kernel(top, n, k, alpha, sigma)
    cumulative = np.cumsum(np.exp(bounds - bounds.max()))
    while True:
        step = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        v = points[step] + STEP * rng.random()
        if math.log1p(-rng.random()) < log_kernel(v, n, k, alpha, sigma) - bounds[step]:
            return float(v)


def log_pitman_yor(sizes: ArrayLike, concentration: float, discount: float) -> float:
    """Log probability of one partition with these block sizes."""
    counts = np.asarray(sizes, float)
    table = np.empty(counts.size + 1)
    fill_pitman_yor(concentration, discount, int(counts.sum()), table)
    return float(table[-1] + (gammaln(counts - discount) - math.lgamma(1.0 - discount)).sum())


def log_finite_mixture(sizes: ArrayLike, concentration: float, components: Components = USUAL_COMPONENTS) -> float:
    """Log probability of one partition with these block sizes."""
    counts = np.asarray(sizes, float)
    log_weight = log_finite_weight(int(counts.sum()), counts.size, concentration, Components(*map(float, components)))
    return float(log_weight + (gammaln(counts + concentration) - math.lgamma(concentration)).sum())
