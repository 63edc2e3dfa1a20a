"""The prior over partitions: Dirichlet process and normalised generalised gamma process, with their own numbers.

With U = Gamma(n, 1) / total mass, u = exp(v), the joint law is

p(X, partition, u) = u^(n-1) / Gamma(n) exp(-psi(u)) prod_c kappa(|c|, u) p(X_c)

    process   psi(u)                     kappa(m, u)
    NGGP      alpha ((1+u)^sigma - 1)    alpha sigma / Gamma(1-sigma) Gamma(m-sigma) (1+u)^-(m-sigma)
    DP        (u integrates out)         alpha Gamma(m), with Gamma(alpha) / Gamma(alpha+n) in front

The normalised inverse Gaussian process is the NGGP with sigma = 1/2. Moves of partitions know the process only
through the table log kappa(m). v is stored, never u: with a small sigma, v of several hundred is legitimate.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.stats.sampling import draw_log_gamma
from bayesgrove.stats.special import log_add

DIRICHLET, GENERALISED_GAMMA = 0, 1
V, ALPHA, SIGMA = 0, 1, 2
SLICE_WIDTH_V, SLICE_WIDTH_SIGMA = 1.5, 0.3


class Process(NamedTuple):
    """Which process, which of its numbers are learned, and their hyperpriors.

    alpha ~ Gamma(alpha_shape, alpha_rate), sigma ~ Beta(sigma_a, sigma_b).
    """

    kind: int
    alpha: float
    sigma: float
    free_alpha: bool
    free_sigma: bool
    alpha_shape: float = 1.0
    alpha_rate: float = 1.0
    sigma_a: float = 1.5
    sigma_b: float = 1.5


def start_numbers(process: Process, n_items: int) -> np.ndarray:
    """v, alpha and sigma to begin with; u begins at n."""
    return np.array([math.log(n_items), process.alpha, process.sigma])


@kernel
def softplus(x):
    """log(1 + exp(x))."""
    return log_add(0.0, x)


@kernel
def fill_log_kappa(kind, numbers, table):
    """log kappa(m) for m = 1, 2, ...; entry 0 is never used."""
    alpha, sigma = numbers[ALPHA], numbers[SIGMA]
    table[0] = 0.0
    if kind == DIRICHLET:
        first, slope, sigma = math.log(alpha), 0.0, 0.0
    else:
        slope = -softplus(numbers[V])
        first = math.log(alpha) + math.log(sigma) - sigma * slope - math.lgamma(1.0 - sigma)
    for m in range(1, table.size):
        table[m] = first + slope * m + math.lgamma(m - sigma)


@kernel
def log_constant(kind, numbers, n_items):
    """What the log joint has besides the clusters' terms."""
    v, alpha, sigma = numbers[V], numbers[ALPHA], numbers[SIGMA]
    if kind == DIRICHLET:
        return math.lgamma(alpha) - math.lgamma(alpha + n_items)
    return (n_items - 1.0) * v - alpha * math.expm1(sigma * softplus(v)) - math.lgamma(n_items)


@kernel
def log_density_v(v, n_items, n_clusters, alpha, sigma):
    """Log density of v = log u given the partition, up to a constant; the Jacobian u is in it. Strictly concave."""
    plus = softplus(v)
    return n_items * v - (n_items - n_clusters * sigma) * plus - alpha * math.exp(sigma * plus)


@kernel
def draw_v(rng, v, n_items, n_clusters, alpha, sigma):
    """One slice-sampling step; stepping out needs no cap because the density is log concave."""
    level = log_density_v(v, n_items, n_clusters, alpha, sigma) - rng.standard_exponential()
    low = v - SLICE_WIDTH_V * rng.random()
    high = low + SLICE_WIDTH_V
    while log_density_v(low, n_items, n_clusters, alpha, sigma) > level:
        low -= SLICE_WIDTH_V
    while log_density_v(high, n_items, n_clusters, alpha, sigma) > level:
        high += SLICE_WIDTH_V
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density_v(proposed, n_items, n_clusters, alpha, sigma) >= level:
            return proposed
        if proposed < v:
            low = proposed
        else:
            high = proposed


@kernel
def log_density_sigma(sigma, plus, alpha, a, b, sizes, n_clusters):
    """Log density of sigma given all else, up to a constant; -inf outside (0, 1)."""
    if not 0.0 < sigma < 1.0:
        return -np.inf
    total = (a + n_clusters - 1.0) * math.log(sigma) + (b - 1.0) * math.log1p(-sigma)
    total += n_clusters * (sigma * plus - math.lgamma(1.0 - sigma)) - alpha * math.exp(sigma * plus)
    for k in range(n_clusters):
        total += math.lgamma(sizes[k] - sigma)
    return total


@kernel
def draw_sigma(rng, sigma, plus, alpha, a, b, sizes, n_clusters):
    """One slice-sampling step on (0, 1)."""
    level = log_density_sigma(sigma, plus, alpha, a, b, sizes, n_clusters) - rng.standard_exponential()
    low = sigma - SLICE_WIDTH_SIGMA * rng.random()
    high = low + SLICE_WIDTH_SIGMA
    while log_density_sigma(low, plus, alpha, a, b, sizes, n_clusters) > level:
        low -= SLICE_WIDTH_SIGMA
    while log_density_sigma(high, plus, alpha, a, b, sizes, n_clusters) > level:
        high += SLICE_WIDTH_SIGMA
    low, high = max(low, 0.0), min(high, 1.0)
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density_sigma(proposed, plus, alpha, a, b, sizes, n_clusters) >= level:
            return proposed
        if proposed < sigma:
            low = proposed
        else:
            high = proposed


@kernel
def draw_alpha_dirichlet(rng, alpha, n_items, n_clusters, shape, rate):
    """Escobar and West's step: w ~ Beta(alpha, n), then alpha ~ Gamma(shape + K, rate - log w)."""
    log_first, log_second = draw_log_gamma(rng, alpha), draw_log_gamma(rng, float(n_items))
    log_w = log_first - log_add(log_first, log_second)
    return rng.gamma(shape + n_clusters, 1.0) / (rate - log_w)


@kernel
def draw_process(rng, process, numbers, sizes, n_clusters, n_items):
    """Update v, then alpha, then sigma, those that are free, in place."""
    kind, free_alpha, free_sigma = process.kind, process.free_alpha, process.free_sigma
    if kind == DIRICHLET:
        if free_alpha:
            numbers[ALPHA] = draw_alpha_dirichlet(
                rng, numbers[ALPHA], n_items, n_clusters, process.alpha_shape, process.alpha_rate
            )
        return
    numbers[V] = draw_v(rng, numbers[V], n_items, n_clusters, numbers[ALPHA], numbers[SIGMA])
    plus = softplus(numbers[V])
    if free_alpha:
        rate = process.alpha_rate + math.expm1(numbers[SIGMA] * plus)
        numbers[ALPHA] = rng.gamma(process.alpha_shape + n_clusters, 1.0) / rate
    if free_sigma:
        numbers[SIGMA] = draw_sigma(
            rng, numbers[SIGMA], plus, numbers[ALPHA], process.sigma_a, process.sigma_b, sizes, n_clusters
        )
