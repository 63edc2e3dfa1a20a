"""The prior distribution of the number of clusters under processes of Gibbs type.

With V(n, K) and w(m) as in `stats.processes`, P(K) = V(n, K) S(n, K), where S(n, K) is the sum of prod w(m) over all
partitions of n items into K blocks: for w(m) = Gamma(m - d) / Gamma(1 - d) it follows S(n + 1, K) = S(n, K - 1) +
(n - K d) S(n, K), the recursion of Stirling's numbers for d = 0. A mixture of finite mixtures has d = -a and a factor
a^K.
"""

import math
from collections.abc import Callable

import numpy as np

from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.stats.processes import Components, fill_finite, fill_pitman_yor
from bayesgrove.stats.special import log_add

MISSING = 1e-9
"""Probability of more clusters that may be left out."""


@kernel
def log_stirling(n_items, discount, most):
    """log S(n, K) for K = 0 .. most."""
    table = np.full(most + 1, -np.inf)
    table[1] = 0.0
    for n in range(1, n_items):
        for k in range(min(n + 1, most), 0, -1):
            stay = table[k] + math.log(n - k * discount) if k <= n else -np.inf
            table[k] = log_add(stay, table[k - 1])
    return table


def log_v_dirichlet(n_items: int, concentration: float, most: int) -> np.ndarray:
    """log V(n, K), K = 1 .. most."""
    constant = math.lgamma(concentration) - math.lgamma(concentration + n_items)
    return constant + np.arange(1, most + 1) * math.log(concentration)


def log_v_pitman_yor(n_items: int, concentration: float, discount: float, most: int) -> np.ndarray:
    """log V(n, K), K = 1 .. most."""
    table = np.empty(most + 1)
    fill_pitman_yor(concentration, discount, n_items, table)
    return table[1:]


def log_v_finite(n_items: int, concentration: float, components: Components, most: int) -> np.ndarray:
    """log V(n, K) a^K, K = 1 .. most."""
    table = np.empty(most + 1)
    fill_finite(concentration, components, n_items, table)
    return table[1:] + np.arange(1, most + 1) * math.log(concentration)


def log_v_generalised_gamma(n_items: int, concentration: float, sigma: float, most: int) -> np.ndarray:
    """log V(n, K), K = 1 .. most, u integrated out.

    V = (a s)^K / Gamma(n) int u^(n-1) exp(-a ((1+u)^s - 1)) (1+u)^(K s - n) du. With y = s log(1+u) it is the integral
    over y > 0 of (1 - e^(-y/s))^(n-1) e^(Ky - a(e^y - 1)) dy a^K s^(K-1) / Gamma(n); the trapezoid in log y converges
    faster than any power of its step.
    """
    step = min(0.02, 0.1 / math.sqrt(most))
    log_y = np.arange(-40.0, 6.5, step)
    y = np.exp(log_y)
    fixed = (n_items - 1) * np.log(-np.expm1(-y / sigma)) - concentration * np.expm1(y) + log_y
    counts = np.arange(1, most + 1)
    values = np.array([np.logaddexp.reduce(fixed + k * y) for k in counts])
    constant = math.log(step) - math.log(sigma) - math.lgamma(n_items)
    return values + constant + counts * (math.log(concentration) + math.log(sigma))


def log_v_generalised_gamma_learned(n_items: int, sigma: float, most: int) -> np.ndarray:
    """The mean of V over a concentration ~ Gamma(1, 1): K! s^K B(n, s) / Gamma(n)."""
    counts = np.arange(1, most + 1)
    log_beta = math.lgamma(sigma) - math.lgamma(n_items + sigma)
    return np.array([math.lgamma(k + 1.0) for k in counts]) + counts * math.log(sigma) + log_beta


def count_probabilities(n_items: int, parts: Callable[[int], tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """P(K), K = 1, 2, ..., until what is left out is negligible.

    `parts(most)` gives log P(K | numbers) for K = 1 .. most, one row per node of a quadrature over the numbers, and the
    weights of the nodes, which sum to 1.
    """
    most = min(n_items, 16)
    while True:
        logs, weights = parts(most)
        probabilities = weights @ np.exp(logs)
        if 1.0 - probabilities.sum() <= MISSING or most == n_items:
            break
        most = min(n_items, 2 * most)
    if not abs(probabilities.sum() - 1.0) < 1e-5:
        raise NumericalError(f"probabilities of the number of clusters sum to {probabilities.sum():.8g} instead of 1.")
    last = int(np.flatnonzero(np.cumsum(probabilities) <= 1.0 - 1e-12)[-1]) + 2 if probabilities.size > 1 else 1
    return probabilities[:last] / probabilities[:last].sum()
