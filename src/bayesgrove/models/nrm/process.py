"""The prior over partitions: which process, with its own numbers, as the moves of partitions see it.

With U = Gamma(n, 1) / total mass, u = exp(v), the joint distribution is

p(X, partition, u) = u^(n-1) / Gamma(n) exp(-psi(u)) prod_c kappa(|c|, u) p(X_c)

    process   psi(u)                     kappa(m, u)
    NGGP      alpha ((1+u)^sigma - 1)    alpha sigma / Gamma(1-sigma) Gamma(m-sigma) (1+u)^-(m-sigma)
    DP        (u integrates out)         alpha Gamma(m), with Gamma(alpha) / Gamma(alpha+n) in front

The normalised inverse Gaussian process is the NGGP with sigma = 1/2. Pitman and Yor's process (alpha, sigma) and
mixtures of finite mixtures (alpha the parameter of their symmetric Dirichlet weights) need no u, but a factor V(n, K)
that is no product over clusters; see `stats.processes`. Moves of partitions know a process only through the tables
log kappa(m) and log V(K), which is 0 for DP and NGGP. A factor per cluster is free to stand in either: what V charges
for the second cluster stands in kappa, so that proposals, which look at kappa alone, know it. v is stored, never u:
with a small sigma, v of several hundred is legitimate.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.jit import kernel
from bayesgrove.stats.processes import (
    LEAST_FINITE,
    USUAL_COMPONENTS,
    Components,
    fill_finite,
    fill_pitman_yor,
    log_finite_weight,
)
from bayesgrove.stats.sampling import draw_slice
from bayesgrove.stats.special import softplus

DIRICHLET, GENERALISED_GAMMA, PITMAN_YOR, FINITE = 0, 1, 2, 3
V, ALPHA, SIGMA = 0, 1, 2
SLICE_WIDTH_V, SLICE_WIDTH_SIGMA, SLICE_WIDTH_LOG_ALPHA = 1.5, 0.3, 1.5
MOST = 700.0
"""exp of more is too large for a float; a density that has -exp(700) in its log is 0."""


class Process(NamedTuple):
    """Which process, which of its numbers are learned, and their hyperpriors.

    alpha ~ Gamma(alpha_shape, alpha_rate), of mixtures of finite mixtures cut off below `LEAST_FINITE`;
    sigma ~ Beta(sigma_a, sigma_b).
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
    components: Components = USUAL_COMPONENTS
    """Of mixtures of finite mixtures only."""

    @property
    def varies(self) -> bool:
        """Whether any of its numbers changes from draw to draw."""
        return self.kind == GENERALISED_GAMMA or self.free_alpha or self.free_sigma

    def flat(self) -> list[float]:
        """All numbers, as files keep them; the prior of the number of components only where it counts."""
        return [float(number) for number in (*self[:9], *(self.components if self.kind == FINITE else ()))]


def start_numbers(process: Process, n_items: int) -> np.ndarray:
    """v, alpha and sigma to begin with; u begins at n."""
    return np.array([math.log(n_items), process.alpha, process.sigma])


@kernel
def fill_log_kappa(kind, numbers, table):
    """log kappa(m) for m = 1, 2, ...; entry 0 is never used."""
    alpha, sigma = numbers[ALPHA], numbers[SIGMA]
    table[0] = 0.0
    if kind == DIRICHLET:
        first, slope, sigma = math.log(alpha), 0.0, 0.0
    elif kind == PITMAN_YOR:
        first, slope = -math.lgamma(1.0 - sigma), 0.0
    elif kind == FINITE:
        first, slope, sigma = -math.lgamma(alpha), 0.0, -alpha
    else:
        slope = -softplus(numbers[V])
        first = math.log(alpha) + math.log(sigma) - sigma * slope - math.lgamma(1.0 - sigma)
    for m in range(1, table.size):
        table[m] = first + slope * m + math.lgamma(m - sigma)


def log_v_table(process: Process, numbers: np.ndarray, n_items: int, n_clusters: int) -> np.ndarray:
    """log V(K) for K up to twice the present number of clusters, at least 16, or all where that costs nothing."""
    alpha, sigma = float(numbers[ALPHA]), float(numbers[SIGMA])
    table = np.zeros(n_items + 2 if process.kind != FINITE else min(n_items, max(16, 2 * n_clusters)) + 2)
    if process.kind == PITMAN_YOR:
        fill_pitman_yor(alpha, sigma, n_items, table)
    elif process.kind == FINITE:
        fill_finite(alpha, process.components, n_items, table)
    return table


def process_tables(
    process: Process, numbers: np.ndarray, n_items: int, n_clusters: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """log kappa(m) for m up to one more than the items, and log V(K), as the moves look them up."""
    log_kappa, log_v = np.empty(n_items + 2), log_v_table(process, numbers, n_items, n_clusters)
    fill_log_kappa(process.kind, numbers, log_kappa)
    second = log_v[2] - log_v[1] if n_items > 1 else 0.0
    log_kappa[1:] += second
    log_v[1:] -= second * np.arange(1, log_v.size)
    return log_kappa, log_v


def log_kappa_table(process: Process, numbers: np.ndarray, n_items: int) -> np.ndarray:
    """The first of the tables."""
    return process_tables(process, numbers, n_items)[0]


def start_log_kappa(process: Process, n_items: int) -> np.ndarray:
    """The table with the numbers chains begin with."""
    return log_kappa_table(process, start_numbers(process, n_items), n_items)


@kernel
def log_constant(kind, numbers, n_items):
    """What the log joint has besides the clusters' terms."""
    v, alpha, sigma = numbers[V], numbers[ALPHA], numbers[SIGMA]
    if kind == DIRICHLET:
        return math.lgamma(alpha) - math.lgamma(alpha + n_items)
    if kind != GENERALISED_GAMMA:
        return 0.0
    return (n_items - 1.0) * v - alpha * math.expm1(sigma * softplus(v)) - math.lgamma(n_items)


# A few numbers per sweep: plain Python is as fast as the way into a kernel.


def log_density_v(v: float, n_items: int, n_clusters: int, alpha: float, sigma: float) -> float:
    """Log density of v = log u given the partition, up to a constant; the Jacobian u is in it. Strictly concave."""
    plus = softplus(v)
    return n_items * v - (n_items - n_clusters * sigma) * plus - alpha * math.exp(min(sigma * plus, MOST))


def draw_v(rng: np.random.Generator, v: float, n_items: int, n_clusters: int, alpha: float, sigma: float) -> float:
    """One slice-sampling step; stepping out needs no cap because the density is log concave."""
    return draw_slice(rng, v, lambda at: log_density_v(at, n_items, n_clusters, alpha, sigma), width=SLICE_WIDTH_V)


def log_density_sigma(sigma: float, plus: float, alpha: float, process: Process, sizes: np.ndarray) -> float:
    """Log density of sigma given all else, up to a constant; -inf outside (0, 1)."""
    if not 0.0 < sigma < 1.0:
        return -math.inf
    n_clusters = sizes.size
    total = (process.sigma_a + n_clusters - 1.0) * math.log(sigma) + (process.sigma_b - 1.0) * math.log1p(-sigma)
    total += n_clusters * (sigma * plus - math.lgamma(1.0 - sigma)) - alpha * math.exp(min(sigma * plus, MOST))
    return total + float(gammaln(sizes - sigma).sum())


def draw_alpha_dirichlet(
    rng: np.random.Generator, alpha: float, n_items: int, n_clusters: int, process: Process
) -> float:
    """Escobar and West's step: w ~ Beta(alpha, n), then alpha ~ Gamma(shape + K, rate - log w)."""
    log_tail = -rng.standard_exponential() / alpha  # Gamma(a) = Gamma(a + 1) U^(1/a), for alphas whose draws underflow
    log_first = math.log(rng.standard_gamma(alpha + 1.0)) + log_tail
    log_w = log_first - float(np.logaddexp(log_first, math.log(rng.standard_gamma(n_items))))
    return rng.gamma(process.alpha_shape + n_clusters) / (process.alpha_rate - log_w)


def log_density_pitman_yor(alpha: float, sigma: float, n_items: int, process: Process, sizes: np.ndarray) -> float:
    """Log density of a partition and of the numbers that are free; -inf outside their ranges."""
    if not (0.0 <= sigma < 1.0 and alpha > -sigma) or (process.free_alpha and alpha <= 0.0):
        return -math.inf
    total = float(np.log(alpha + sigma * np.arange(1, sizes.size)).sum()) - math.lgamma(alpha + n_items)
    total += math.lgamma(alpha + 1.0) + float(gammaln(sizes - sigma).sum()) - sizes.size * math.lgamma(1.0 - sigma)
    if process.free_alpha:
        total += (process.alpha_shape - 1.0) * math.log(alpha) - process.alpha_rate * alpha
    if process.free_sigma:
        if sigma == 0.0:
            return -math.inf
        total += (process.sigma_a - 1.0) * math.log(sigma) + (process.sigma_b - 1.0) * math.log1p(-sigma)
    return total


def draw_pitman_yor(
    rng: np.random.Generator, process: Process, numbers: np.ndarray, sizes: np.ndarray, n_items: int
) -> None:
    """Slice-sampling steps for log alpha and for sigma, those that are free, in place."""
    alpha, sigma = float(numbers[ALPHA]), float(numbers[SIGMA])
    if process.free_alpha:
        log_alpha = draw_slice(
            rng,
            math.log(alpha),
            lambda at: at + log_density_pitman_yor(math.exp(at), sigma, n_items, process, sizes),
            width=SLICE_WIDTH_LOG_ALPHA,
            limits=(-MOST, MOST),
        )
        alpha = math.exp(log_alpha)
    if process.free_sigma:
        sigma = draw_slice(
            rng,
            sigma,
            lambda at: log_density_pitman_yor(alpha, at, n_items, process, sizes),
            width=SLICE_WIDTH_SIGMA,
            limits=(0.0, 1.0),
        )
    numbers[ALPHA], numbers[SIGMA] = alpha, sigma


def log_density_finite(log_alpha: float, n_items: int, process: Process, sizes: np.ndarray) -> float:
    """Log density of log alpha, the Jacobian in it, and of a partition."""
    if log_alpha < math.log(LEAST_FINITE):
        return -math.inf
    alpha = math.exp(log_alpha)
    total = log_finite_weight(n_items, sizes.size, alpha, process.components)
    total += float(gammaln(sizes + alpha).sum()) - sizes.size * math.lgamma(alpha)
    return total + process.alpha_shape * log_alpha - process.alpha_rate * alpha


def draw_process(
    rng: np.random.Generator, process: Process, numbers: np.ndarray, sizes: np.ndarray, n_items: int
) -> None:
    """Update v, then alpha, then sigma, those that are free, in place; `sizes` are those of the clusters."""
    v, alpha, sigma = (float(number) for number in numbers)
    if process.kind == DIRICHLET:
        if process.free_alpha:
            numbers[ALPHA] = draw_alpha_dirichlet(rng, alpha, n_items, sizes.size, process)
        return
    if process.kind == PITMAN_YOR:
        return draw_pitman_yor(rng, process, numbers, sizes, n_items)
    if process.kind == FINITE:
        if process.free_alpha:
            log_alpha = draw_slice(
                rng,
                math.log(alpha),
                lambda at: log_density_finite(at, n_items, process, sizes),
                width=SLICE_WIDTH_LOG_ALPHA,
            )
            numbers[ALPHA] = math.exp(log_alpha)
        return
    v = draw_v(rng, v, n_items, sizes.size, alpha, sigma)
    plus = softplus(v)
    if process.free_alpha:
        alpha = rng.gamma(process.alpha_shape + sizes.size) / (process.alpha_rate + math.expm1(sigma * plus))
    if process.free_sigma:
        sigma = draw_slice(
            rng,
            sigma,
            lambda at: log_density_sigma(at, plus, alpha, process, sizes),
            width=SLICE_WIDTH_SIGMA,
            limits=(0.0, 1.0),
        )
    numbers[V], numbers[ALPHA], numbers[SIGMA] = v, alpha, sigma
