"""Exact posteriors over partitions with the measure's parameters integrated out too, by trapezoids on the line."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from reference.nrm import LogPhi, Posterior, blocks_of, exp_or_inf, normalise, partitions, softplus


class RandomDirichlet(NamedTuple):
    """Dirichlet process, alpha ~ Gamma(a, rate b)."""

    a: float
    b: float


class RandomGeneralisedGamma(NamedTuple):
    """Generalised gamma process, alpha ~ Gamma(a, rate b), sigma ~ Beta(c, d)."""

    a: float
    b: float
    c: float
    d: float


class GammaLaw(NamedTuple):
    """Shape and rate of a gamma density."""

    shape: float
    rate: float


def alpha_given_rest(hyper: RandomGeneralisedGamma, n_clusters: int, sigma: float, v: float) -> GammaLaw:
    """Conditional of the generalised gamma's alpha."""
    return GammaLaw(hyper.a + n_clusters, hyper.b + math.expm1(sigma * softplus(v)))


def dirichlet_alpha_given_rest(hyper: RandomDirichlet, n_clusters: int, auxiliary: float) -> GammaLaw:
    """Conditional of the Dirichlet's alpha given the auxiliary w ~ Beta(alpha, n)."""
    return GammaLaw(hyper.a + n_clusters, hyper.b - math.log(auxiliary))


def log_sigma_density(hyper: RandomGeneralisedGamma, sizes: tuple[int, ...], alpha: float, v: float, sigma: float):
    """Log density of sigma given the rest, but for a constant."""
    prior = (hyper.c + len(sizes) - 1) * math.log(sigma) + (hyper.d - 1) * math.log1p(-sigma)
    clusters = (math.lgamma(size - sigma) - math.lgamma(1 - sigma) + sigma * softplus(v) for size in sizes)
    return prior - alpha * exp_or_inf(sigma * softplus(v)) + math.fsum(clusters)


class Averaged(NamedTuple):
    """Log prior mass of a partition with the given block sizes, and the means of the parameters given it."""

    log_mass: float
    mean_alpha: float
    mean_sigma: float


def averaged(logs: np.ndarray, log_step: float, alpha: np.ndarray, sigma: np.ndarray) -> Averaged:
    """Sums over a grid with log weights."""
    top = logs.max()
    weights = np.exp(logs - top)
    total = weights.sum()
    means = (float((weights * np.broadcast_to(x, logs.shape)).sum() / total) for x in (alpha, sigma))
    return Averaged(float(top + np.log(total)) + log_step, *means)


@cache
def dirichlet_mass(hyper: RandomDirichlet, sizes: tuple[int, ...]) -> Averaged:
    """Integral over log alpha of the prior times the law of the partition."""
    n, step = sum(sizes), 0.01
    alpha = np.exp(np.arange(-40.0, 7.0, step))
    rising = sum(np.log(alpha + i) for i in range(n))
    logs = (hyper.a + len(sizes)) * np.log(alpha) - hyper.b * alpha - rising
    logs += hyper.a * math.log(hyper.b) - math.lgamma(hyper.a) + sum(math.lgamma(size) for size in sizes)
    return averaged(logs, math.log(step), alpha, np.zeros(1))


@cache
def generalised_gamma_mass(hyper: RandomGeneralisedGamma, sizes: tuple[int, ...]) -> Averaged:
    """Integral over sigma and y = sigma log(1+u); alpha integrates in closed form.

    Notes
    -----
    Given y, alpha^(a+K-1) exp(-alpha (b + e^y - 1)) is a gamma density: alpha has mean (a+K)/(b + e^y - 1). The grid
    is in log y and in the logit of sigma.
    """
    n, k, step = sum(sizes), len(sizes), 0.05
    y = np.exp(np.arange(-34.0, 5.5, step))
    logit = np.arange(-25.0, 20.0, step)[:, None]
    log_sigma, log_rest = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    sigma = np.exp(log_sigma)
    rate = hyper.b + np.expm1(y)
    log_beta = math.lgamma(hyper.c) + math.lgamma(hyper.d) - math.lgamma(hyper.c + hyper.d)
    of_sigma = (hyper.c + k - 1) * log_sigma + hyper.d * log_rest - log_beta
    # 1 - sigma, not the rounded sigma, goes into Gamma(size - sigma) = Gamma((1 - sigma) + size - 1).
    of_sigma += sum(gammaln(np.exp(log_rest) + size - 1) - gammaln(np.exp(log_rest)) for size in sizes)
    of_y = (k * y + np.log(y)) - (hyper.a + k) * np.log(rate)
    logs = of_sigma + of_y + (n - 1) * np.log(-np.expm1(-y / sigma)) - math.lgamma(n)
    logs += hyper.a * math.log(hyper.b) + math.lgamma(hyper.a + k) - math.lgamma(hyper.a)
    return averaged(logs, 2 * math.log(step), (hyper.a + k) / rate, sigma)


class HyperPosterior(NamedTuple):
    """The law over partitions and the posterior means of the parameters."""

    law: Posterior
    mean_alpha: float
    mean_sigma: float


def posterior_random_hyper(
    log_evidence: LogPhi, n: int, hyper: RandomDirichlet | RandomGeneralisedGamma
) -> HyperPosterior:
    """Everything but the partition integrated out; the Dirichlet's `mean_sigma` is 0."""
    mass = dirichlet_mass if isinstance(hyper, RandomDirichlet) else generalised_gamma_mass
    states = partitions(n)
    masses = [mass(hyper, tuple(sorted(map(len, blocks_of(state))))) for state in states]
    logs = [own.log_mass + math.fsum(map(log_evidence, blocks_of(s))) for own, s in zip(masses, states, strict=True)]
    law = normalise(states, logs)
    alpha = math.fsum(law.probabilities * [own.mean_alpha for own in masses])
    return HyperPosterior(law, alpha, math.fsum(law.probabilities * [own.mean_sigma for own in masses]))
