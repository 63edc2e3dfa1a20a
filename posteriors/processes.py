"""Priors over partitions: Dirichlet, normalised generalised gamma, Pitman-Yor, finite mixtures; each in two ways.

With K blocks of sizes m out of n items and p(sizes) the probability of one partition of these sizes,

    DP(alpha)           alpha^K Gamma(alpha) / Gamma(alpha + n) prod Gamma(m)
    NGGP(alpha, sigma)  V(n, K) prod Gamma(m - sigma) / Gamma(1 - sigma),
                        V(n, K) = int_0^inf u^(n-1) / Gamma(n) exp(-alpha ((1+u)^sigma - 1)) (alpha sigma)^K
                                  (1+u)^(K sigma - n) du.

The second way of the NGGP is the closed form of V by incomplete gamma functions (Lijoi, Mena and Pruenster 2007);
that of laws with random numbers is another quadrature.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import integrate
from scipy.special import betaln, gammaln

Sizes = Sequence[int]


class Prior(NamedTuple):
    """A prior over partitions and the means of its random numbers given a partition."""

    log_probability: Callable[[Sizes], float]
    log_again: Callable[[Sizes], float]
    """The same by the second way."""
    means: dict[str, Callable[[Sizes], float]]


def dirichlet(alpha: float) -> Prior:
    """The Dirichlet process; again as the product of the seats in a Chinese restaurant."""
    return Prior(lambda sizes: log_dirichlet(sizes, alpha), lambda sizes: log_seating(sizes, alpha), {})


def log_dirichlet(sizes: Sizes, alpha: float) -> float:
    """Closed form."""
    n = sum(sizes)
    total = len(sizes) * math.log(alpha) + math.lgamma(alpha) - math.lgamma(alpha + n)
    return total + math.fsum(math.lgamma(size) for size in sizes)


def log_seating(sizes: Sizes, alpha: float) -> float:
    """Customer by customer."""
    total, seated = 0.0, 0
    for size in sizes:
        for i in range(size):
            total += math.log((i or alpha) / (seated + alpha))
            seated += 1
    return total


def generalised_gamma(alpha: float, sigma: float) -> Prior:
    """The NGGP; sigma = 1/2 is the normalised inverse Gaussian process."""

    def with_blocks(log_v: Callable[[int, int], float]) -> Callable[[Sizes], float]:
        return lambda sizes: log_v(sum(sizes), len(sizes)) + log_rises(sizes, sigma)

    by_quadrature = cache(lambda n, k: log_v_quadrature(n, k, alpha, sigma))
    by_series = cache(lambda n, k: log_v_series(n, k, alpha, sigma))
    return Prior(with_blocks(by_quadrature), with_blocks(by_series), {})


def log_rises(sizes: Sizes, sigma: float) -> float:
    """Log of prod Gamma(m - sigma) / Gamma(1 - sigma)."""
    return math.fsum(math.lgamma(size - sigma) - math.lgamma(1.0 - sigma) for size in sizes)


def log_v_quadrature(n: int, k: int, alpha: float, sigma: float) -> float:
    """V(n, K) by adaptive quadrature over log u."""

    def log_integrand(v: float) -> float:
        soft = math.log1p(math.exp(v)) if v < 700.0 else v
        return n * v - (n - k * sigma) * soft - alpha * math.expm1(sigma * soft)

    grid = np.linspace(-40.0, 40.0, 801)
    top = max(log_integrand(v) for v in grid)
    peak = float(grid[np.argmax([log_integrand(v) for v in grid])])
    value = integrate.quad(
        lambda v: math.exp(log_integrand(v) - top), peak - 60, peak + 60, points=[peak], limit=500, epsrel=1e-13
    )[0]
    return top + math.log(value) + k * math.log(alpha * sigma) - math.lgamma(n)


def log_v_series(n: int, k: int, alpha: float, sigma: float) -> float:
    """V(n, K) = e^alpha sigma^(K-1) / Gamma(n) sum_i C(n-1, i) (-1)^i alpha^(i/sigma) Gamma(K - i/sigma, alpha)."""
    import mpmath  # of the tests' dependencies: 60 digits, as the terms nearly cancel

    with mpmath.workdps(60):
        a, s = mpmath.mpf(alpha), mpmath.mpf(sigma)
        terms = (mpmath.binomial(n - 1, i) * (-1) ** i * a ** (i / s) * mpmath.gammainc(k - i / s, a) for i in range(n))
        value = mpmath.exp(a) * s ** (k - 1) / mpmath.gamma(n) * mpmath.fsum(terms)
        return float(mpmath.log(value))


def pitman_yor(alpha: float, sigma: float) -> Prior:
    """Pitman and Yor's process; again as the product of the seats in its restaurant."""

    def log_probability(sizes: Sizes) -> float:
        n, k = sum(sizes), len(sizes)
        total = math.lgamma(alpha + 1.0) - math.lgamma(alpha + n) + (k - 1) * math.log(sigma)
        return total + math.lgamma(alpha / sigma + k) - math.lgamma(alpha / sigma + 1.0) + log_rises(sizes, sigma)

    def log_seats(sizes: Sizes) -> float:
        total, seated = 0.0, 0
        for table, size in enumerate(sizes):
            for i in range(size):
                if seated:
                    total += math.log((i - sigma if i else alpha + table * sigma) / (seated + alpha))
                seated += 1
        return total

    return Prior(log_probability, log_seats, {})


def finite_mixture(alpha: float, rate: float) -> Prior:
    """Mixture of finite mixtures, number of components less one ~ Poisson(rate); again as V(n, K) by its recursion.

    Notes
    -----
    V(n, K) = sum_k P(k) k! / (k - K)! Gamma(alpha k) / Gamma(alpha k + n), and it is
    (n + alpha K) V(n+1, K) + alpha V(n+1, K+1).
    """

    @cache
    def v(n: int, k: int) -> float:
        terms = (
            math.exp(
                (j - 1) * math.log(rate) - rate - math.lgamma(j) + math.lgamma(j + 1.0) - math.lgamma(j - k + 1.0)
                + math.lgamma(alpha * j) - math.lgamma(alpha * j + n)
            )
            for j in range(k, k + 200)
        )  # fmt: skip
        return math.fsum(terms)

    def with_blocks(weight: Callable[[int, int], float]) -> Callable[[Sizes], float]:
        return lambda sizes: (
            math.log(weight(sum(sizes), len(sizes)))
            + math.fsum(math.lgamma(size + alpha) - math.lgamma(alpha) for size in sizes)
        )

    return Prior(with_blocks(v), with_blocks(lambda n, k: (n + alpha * k) * v(n + 1, k) + alpha * v(n + 1, k + 1)), {})


def random_dirichlet(shape: float, rate: float) -> Prior:
    """DP with concentration ~ Gamma(shape, rate)."""

    @cache
    def log_moment(n: int, k: int, power: int, way: str) -> float:
        """Log of E[alpha^(K + power) Gamma(alpha) / Gamma(alpha + n)]."""

        def log_integrand(t: np.ndarray) -> np.ndarray:
            a = np.exp(t)  # the Jacobian of t = log alpha is one more power
            return (k + power + shape) * t - rate * a + gammaln(a) - gammaln(a + n)

        constant = shape * math.log(rate) - math.lgamma(shape)
        return constant + log_integral(log_integrand, -60.0, 12.0, way)

    def log_probability(sizes: Sizes, way: str) -> float:
        return log_moment(sum(sizes), len(sizes), 0, way) + math.fsum(math.lgamma(size) for size in sizes)

    def mean(sizes: Sizes) -> float:
        n, k = sum(sizes), len(sizes)
        return math.exp(log_moment(n, k, 1, "adaptive") - log_moment(n, k, 0, "adaptive"))

    return Prior(
        lambda sizes: log_probability(sizes, "adaptive"),
        lambda sizes: log_probability(sizes, "trapezium"),
        {"concentration": mean},
    )


def log_integral(log_integrand: Callable[[np.ndarray], np.ndarray], low: float, high: float, way: str) -> float:
    """Log of the integral of exp(log_integrand): adaptive, or the trapezium rule on 20,001 points."""
    grid = np.linspace(low, high, 20_001)
    values = log_integrand(grid)
    top, peak = float(values.max()), float(grid[values.argmax()])
    if way == "trapezium":
        return top + math.log(integrate.trapezoid(np.exp(values - top), grid))
    found = integrate.quad(
        lambda t: math.exp(float(log_integrand(np.asarray(t))) - top),
        low, high, points=[peak - 3, peak, peak + 3] if low < peak - 3 and peak + 3 < high else None,
        limit=1000, epsrel=1e-13,
    )  # fmt: skip
    return top + math.log(found[0])


def random_generalised_gamma(shapes: tuple[float, float]) -> Prior:
    """NGGP with concentration ~ Gamma(1, 1) and sigma ~ Beta(a, b).

    Notes
    -----
    The integrals over the concentration and u can be done: given sigma,
    p(sizes | sigma) = K! sigma^K B(n, sigma) / Gamma(n) prod Gamma(m - sigma) / Gamma(1 - sigma), and
    E[concentration | partition, sigma] = (K + 1) B(n, 2 sigma) / B(n, sigma). What is left is over sigma, taken over
    its logit. `log_again` leaves u to a sum on a grid as well.
    """
    a, b = shapes

    def log_given(sizes: Sizes, sigma: np.ndarray) -> np.ndarray:
        """log p(sizes | sigma) without B(n, sigma)."""
        n, k = sum(sizes), len(sizes)
        rises = sum(gammaln(size - sigma) - gammaln(1.0 - sigma) for size in sizes)
        return math.lgamma(k + 1.0) + k * np.log(sigma) - math.lgamma(n) + rises

    def log_mean(sizes: Sizes, extra: Callable[[np.ndarray], np.ndarray], way: str = "adaptive") -> float:
        """Log of the integral over sigma of p(sizes | sigma) times exp(extra)."""

        def log_integrand(t: np.ndarray) -> np.ndarray:
            log_sigma, log_rest = -np.logaddexp(0.0, -t), -np.logaddexp(0.0, t)
            sigma = np.exp(log_sigma)
            return log_given(sizes, sigma) + a * log_sigma + b * log_rest + extra(sigma)

        return log_integral(log_integrand, -60.0, 30.0, way) - float(betaln(a, b))

    def mean_of(extra: Callable[[np.ndarray], np.ndarray]) -> Callable[[Sizes], float]:
        def mean(sizes: Sizes) -> float:
            n = sum(sizes)
            plain = log_mean(sizes, lambda sigma: betaln(n, sigma))
            return math.exp(log_mean(sizes, lambda sigma: extra(sigma) + betaln(n, sigma)) - plain)

        return mean

    def mean_concentration(sizes: Sizes) -> float:
        n, k = sum(sizes), len(sizes)
        plain = log_mean(sizes, lambda sigma: betaln(n, sigma))
        return math.exp(log_mean(sizes, lambda sigma: math.log(k + 1.0) + betaln(n, 2.0 * sigma)) - plain)

    def log_again(sizes: Sizes) -> float:
        n = sum(sizes)
        return log_mean(sizes, lambda sigma: log_beta_by_sum(n, sigma), "trapezium")

    return Prior(
        lambda sizes: log_mean(sizes, lambda sigma: betaln(sum(sizes), sigma)),
        log_again,
        {"concentration": mean_concentration, "sigma": mean_of(np.log)},
    )


def log_beta_by_sum(n: int, sigma: np.ndarray) -> np.ndarray:
    """log of int u^(n-1) (1+u)^(-n-sigma) du, as 1 / sigma prod_{i < n} i / (i + sigma)."""
    steps = np.arange(1.0, n)[:, None]
    return -np.log(sigma) - np.log1p(np.asarray(sigma)[None] / steps).sum(axis=0).reshape(np.shape(sigma))
