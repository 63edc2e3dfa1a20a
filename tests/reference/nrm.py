"""Slow, clear twin of the mixture model under a normalised random measure: every number from its formula.

A partition is a tuple of restricted growth labels, a cluster a frozen set of points. `log_evidence(cluster)` is the
log marginal likelihood of its points, `log_phi(cluster)` adds the measure's log moment; see `phi_of`.

Symbols: alpha, sigma the measure's parameters; u the auxiliary variable, v = log u; n points, K clusters.
"""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from reference.bhc import evidence_of

Cluster = frozenset[int]
Partition = tuple[int, ...]
LogPhi = Callable[[Cluster], float]


class Dirichlet(NamedTuple):
    """The Dirichlet process, u integrated out."""

    alpha: float


class GeneralisedGamma(NamedTuple):
    """The normalised generalised gamma process; sigma = 1/2 is the normalised inverse Gaussian."""

    alpha: float
    sigma: float


class PitmanYor(NamedTuple):
    """Pitman and Yor's process."""

    alpha: float
    sigma: float


class FiniteMixture(NamedTuple):
    """Mixture of finite mixtures with symmetric Dirichlet(alpha) weights; `components(k)` is P(k), k = 1, 2, ..."""

    alpha: float
    components: Callable[[np.ndarray], np.ndarray]


Process = Dirichlet | GeneralisedGamma | PitmanYor | FiniteMixture
MOST_COMPONENTS = 200_000


def log_sum(logs: Iterable[float]) -> float:
    """Log of the sum of exponentials."""
    logs = list(logs)
    top = max(logs)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(x - top) for x in logs))


def normalised(logs: Iterable[float]) -> list[float]:
    """Probabilities in proportion to the exponentials."""
    logs = list(logs)
    total = log_sum(logs)
    return [math.exp(x - total) for x in logs]


def softplus(x: float) -> float:
    """log(1 + e^x) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x) without overflow."""
    return math.exp(-softplus(-x))


def exp_or_inf(x: float) -> float:
    """e^x, infinite where it is too large for a float."""
    return math.exp(x) if x < 709.0 else math.inf


def relabel(labels: Iterable[int]) -> Partition:
    """The same partition with labels by first appearance."""
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


@cache
def blocks_of(partition: Partition) -> tuple[Cluster, ...]:
    """The clusters, in the order of their labels."""
    return tuple(frozenset(i for i, own in enumerate(partition) if own == k) for k in range(max(partition) + 1))


def partition_of(blocks: Iterable[Cluster]) -> Partition:
    """The labels of disjoint clusters that hold points 0 .. n-1."""
    label = {point: k for k, block in enumerate(blocks) for point in block}
    return relabel(label[point] for point in range(len(label)))


def partitions(n: int) -> list[Partition]:
    """All partitions of n points, in lexicographic order of their labels."""
    grown: list[Partition] = [(0,)]
    for _ in range(n - 1):
        grown = [(*labels, k) for labels in grown for k in range(max(labels) + 2)]
    return grown


def gaussian_evidence(rows, variance: float, prior_variance: float, prior_mean: float = 0.0) -> LogPhi:
    """Log marginal of any set of rows under one known-variance Gaussian, each set computed once."""
    values = np.array(rows, float).reshape(len(rows), -1)
    numbers = (np.full(values.shape[1], x) for x in (variance, prior_mean, prior_variance))
    return evidence_of("gaussian-known-variance", GaussianKnownVariancePrior(*numbers), values)


def log_cluster_weight(process: Process, size: int) -> float:
    """The part of log kappa(size, u) that is free of u."""
    if isinstance(process, Dirichlet):
        return math.log(process.alpha) + math.lgamma(size)
    if isinstance(process, FiniteMixture):
        return math.lgamma(size + process.alpha) - math.lgamma(process.alpha)
    alpha, sigma = process
    if isinstance(process, PitmanYor):
        return math.fsum(math.log(i - sigma) for i in range(1, size))
    return math.log(alpha * sigma) + math.lgamma(size - sigma) - math.lgamma(1 - sigma)


def log_kappa(process: Process, size: int, v: float | None = None) -> float:
    """Log of the tilted moment of the Levy intensity at u = e^v (the Dirichlet process needs no u)."""
    weight = log_cluster_weight(process, size)
    return weight if isinstance(process, Dirichlet) else weight - (size - process.sigma) * softplus(v)


def laplace_exponent(process: GeneralisedGamma, v: float) -> float:
    """psi(u) = alpha ((1+u)^sigma - 1) at u = e^v."""
    power = process.sigma * softplus(v)
    return process.alpha * (math.expm1(power) if power < 700.0 else exp_or_inf(power))


def log_constant(process: Process, n: int, v: float | None = None) -> float:
    """What the log joint holds besides its clusters: u^(n-1) exp(-psi(u)) / Gamma(n), or the Dirichlet's ratio."""
    if isinstance(process, Dirichlet):
        return math.lgamma(process.alpha) - math.lgamma(process.alpha + n)
    return (n - 1) * v - laplace_exponent(process, v) - math.lgamma(n)


def phi_of(log_evidence: LogPhi, process: Process, v: float | None = None) -> LogPhi:
    """Log potential of "this set is one cluster": log kappa plus log marginal, each set computed once."""
    return cache(lambda cluster: log_kappa(process, len(cluster), v) + log_evidence(cluster))


def log_joint(partition: Partition, log_evidence: LogPhi, process: Process, v: float | None = None) -> float:
    """Log of p(X, Pi, u), or of p(X, Pi) for the Dirichlet process."""
    log_phi = phi_of(log_evidence, process, v)
    return math.fsum(map(log_phi, blocks_of(partition))) + log_constant(process, len(partition), v)


@cache
def log_total(process: Process, n: int, n_clusters: int) -> float:
    """What is left of p(X, Pi) besides `log_cluster_weight` and the evidence, u integrated out.

    Notes
    -----
    log I(n, K), I = integral of u^(n-1)/Gamma(n) exp(-psi(u)) (1+u)^-(n-K sigma) du. With y = sigma log(1+u) it is
    the integral over y > 0 of (1 - e^(-y/sigma))^(n-1) e^(Ky - alpha(e^y - 1)) dy / (sigma Gamma(n)), and the
    trapezoid in log y converges faster than any power of its step.
    """
    if isinstance(process, Dirichlet):
        return log_constant(process, n)
    if isinstance(process, FiniteMixture):
        k = np.arange(n_clusters, MOST_COMPONENTS, dtype=float)
        ways, seats = (np.prod([k - i for i in range(n_clusters)], axis=0), np.ones_like(k))
        for i in range(n):
            seats *= process.alpha * k + i
        return math.log(math.fsum(process.components(k) * ways / seats))
    alpha, sigma = process
    if isinstance(process, PitmanYor):
        new = math.fsum(math.log(alpha + i * sigma) for i in range(1, n_clusters))
        return new - math.fsum(math.log(alpha + i) for i in range(1, n))
    step = 0.01
    y = np.exp(np.arange(-40.0, 6.5, step))
    logs = (n - 1) * np.log(-np.expm1(-y / sigma)) + n_clusters * y - alpha * np.expm1(y) + np.log(y)
    return float(np.logaddexp.reduce(logs)) + math.log(step) - math.log(sigma) - math.lgamma(n)


def log_marginal_joint(partition: Partition, log_evidence: LogPhi, process: Process) -> float:
    """Log of p(X, Pi), u integrated out."""
    blocks = blocks_of(partition)
    weights = math.fsum(log_cluster_weight(process, len(block)) + log_evidence(block) for block in blocks)
    return weights + log_total(process, len(partition), len(blocks))


class Posterior(NamedTuple):
    """All partitions, their probabilities, and the log evidence of the data."""

    states: list[Partition]
    probabilities: np.ndarray
    log_evidence: float

    def as_dict(self) -> dict[Partition, float]:
        """Probability by partition."""
        return dict(zip(self.states, self.probabilities.tolist(), strict=True))


def normalise(states: list[Partition], logs: list[float]) -> Posterior:
    """The law in proportion to the exponentials."""
    total = log_sum(logs)
    return Posterior(states, np.exp(np.array(logs) - total), total)


def posterior(log_evidence: LogPhi, n: int, process: Process) -> Posterior:
    """The law over all partitions given the data, u integrated out."""
    states = partitions(n)
    return normalise(states, [log_marginal_joint(state, log_evidence, process) for state in states])


def posterior_given_phi(log_phi: LogPhi, n: int) -> Posterior:
    """The law over all partitions at fixed u; its `log_evidence` leaves `log_constant` out."""
    states = partitions(n)
    return normalise(states, [math.fsum(map(log_phi, blocks_of(state))) for state in states])


@cache
def gibbs_probabilities(partition: Partition, point: int, log_phi: LogPhi) -> tuple[tuple[Cluster, ...], list[float]]:
    """The clusters without the point, and the probability that it joins each, last that it opens a new one."""
    others = tuple(block - {point} for block in blocks_of(partition) if block != {point})
    gains = [log_phi(block | {point}) - log_phi(block) for block in others]
    return others, normalised([*gains, log_phi(frozenset([point]))])


def log_u_density(v: float, n: int, n_clusters: int, process: GeneralisedGamma) -> float:
    """Log density of v = log u given the partition, but for a constant (Jacobian included)."""
    slope = n - n_clusters * process.sigma
    return n * v - slope * softplus(v) - process.alpha * exp_or_inf(process.sigma * softplus(v))


class Weights(NamedTuple):
    """Predictive weights of a partition, u integrated out: one per cluster, and of a new cluster."""

    clusters: list[float]
    new: float


def predictive_weights(partition: Partition, process: Process) -> Weights:
    """Predictive weights; for the generalised gamma from ratios of I(n, K), they sum to 1."""
    n, blocks = len(partition), blocks_of(partition)
    if isinstance(process, Dirichlet):
        total = n + process.alpha
        return Weights([len(block) / total for block in blocks], process.alpha / total)
    k = len(blocks)
    if not isinstance(process, GeneralisedGamma):
        old, *more = (log_total(process, *at) for at in ((n, k), (n + 1, k), (n + 1, k + 1)))
        gains = [log_cluster_weight(process, len(b) + 1) - log_cluster_weight(process, len(b)) for b in blocks]
        first = log_cluster_weight(process, 1)
        return Weights([math.exp(gain + more[0] - old) for gain in gains], math.exp(first + more[1] - old))
    alpha, sigma = process
    old = math.exp(log_total(process, n + 1, k) - log_total(process, n, k))
    new = math.exp(log_total(process, n + 1, k + 1) - log_total(process, n, k))
    return Weights([(len(block) - sigma) * old for block in blocks], alpha * sigma * new)


def log_predictive(log_evidence: LogPhi, n: int, process: Process) -> float:
    """Log predictive density of point n given points 0 .. n-1, from enumerated partitions of the latter."""
    law, extra, terms = posterior(log_evidence, n, process), frozenset([n]), []
    for state, probability in zip(law.states, law.probabilities, strict=True):
        weights = predictive_weights(state, process)
        density = weights.new * math.exp(log_evidence(extra))
        for weight, block in zip(weights.clusters, blocks_of(state), strict=True):
            density += weight * math.exp(log_evidence(block | extra) - log_evidence(block))
        terms.append(probability * density)
    return math.log(math.fsum(terms))
