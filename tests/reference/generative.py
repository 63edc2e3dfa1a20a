"""The mixture of six numbers as a generative model, for Geweke's test and simulation-based calibration."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.likelihoods.contract import hyper
from bayesgrove.models.nrm.hyper import PRIOR_SD
from bayesgrove.models.nrm.process import ALPHA, FINITE, GENERALISED_GAMMA, PITMAN_YOR, SIGMA, Process, V
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.processes import LEAST_FINITE, draw_crp
from reference.mixtures import build, guide_of, known_variance
from reference.nrm_prior import draw_log_u, draw_partition
from reference.nrm_trees import parse

N = 6
VARIANCE, PRIOR_VARIANCE = 1.0, 9.0
GUIDE = guide_of(parse("(((0,3),1),((2,5),4))"))
"""Any tree that ignores partition and data will do."""


class Truth(NamedTuple):
    """Labels, (log u, alpha, sigma), log factor of the variance (none where it is not learned)."""

    labels: np.ndarray
    numbers: np.ndarray
    log_factors: np.ndarray


def seat(rng, alpha, sigma):
    """Labels by the Chinese restaurant of Pitman and Yor, customer by customer."""
    labels, sizes = [], []
    for i in range(N):
        weights = np.array([*(size - sigma for size in sizes), alpha + sigma * len(sizes)]) / (alpha + i)
        table = int(rng.choice(weights.size, p=weights / weights.sum()))
        sizes = [*sizes, 0] if table == len(sizes) else sizes
        sizes[table] += 1
        labels.append(table)
    return np.array(labels)


def draw_components(rng, alpha, components):
    """Labels of N draws from a finite mixture: number of components, their weights, then items."""
    success = rng.beta(components.b, components.c)
    k = 1 + rng.negative_binomial(components.a, success)
    sizes, labels = np.zeros(k), np.empty(N, np.int64)
    for i in range(N):  # Polya's urn: Dirichlet weights of a small alpha underflow
        labels[i] = rng.choice(k, p=(sizes + alpha) / (i + alpha * k))
        sizes[labels[i]] += 1.0
    return relabel(labels)


class MixtureModel(NamedTuple):
    """Known-variance Gaussian clusters; alpha and sigma from their hyperpriors, the variance too where it is free."""

    process: Process
    free: tuple[str, ...] = ()

    def draw_prior(self, rng):
        process = self.process
        alpha = rng.gamma(process.alpha_shape) / process.alpha_rate
        if process.kind == GENERALISED_GAMMA:
            sigma = rng.beta(process.sigma_a, process.sigma_b)
            labels = draw_partition(rng, N, alpha, sigma)
            log_u = draw_log_u(rng, N, int(labels.max()) + 1, alpha, sigma)
        elif process.kind == PITMAN_YOR:
            sigma, log_u = rng.beta(process.sigma_a, process.sigma_b), math.log(N)
            labels = seat(rng, alpha, sigma)
        elif process.kind == FINITE:
            while alpha < LEAST_FINITE:
                alpha = rng.gamma(process.alpha_shape) / process.alpha_rate
            labels, sigma, log_u = draw_components(rng, alpha, process.components), 0.0, math.log(N)
        else:
            labels, sigma, log_u = draw_crp(rng, N, alpha), 0.0, math.log(N)
        return Truth(labels, np.array([log_u, alpha, sigma]), self.draw_factors(rng))

    def draw_factors(self, rng):
        """The log-normal hyperprior, cut off at the family's bounds."""
        bounds = {name: (low, high) for name, low, high in hyper(known_variance(1))}
        factors = np.empty(len(self.free))
        for at, name in enumerate(self.free):
            while True:
                factors[at] = PRIOR_SD * rng.normal()
                if bounds[name][0] < math.exp(factors[at]) < bounds[name][1]:
                    break
        return factors

    def draw_data(self, rng, truth):
        spread = math.sqrt(VARIANCE * math.exp(truth.log_factors.sum()))  # the variance is the only factor
        centres = math.sqrt(PRIOR_VARIANCE) * rng.normal(size=N)
        return centres[truth.labels] + spread * rng.normal(size=N)

    def sampler(self, data):
        return build(
            known_variance(1, VARIANCE, PRIOR_VARIANCE), data[:, None], self.process, guide=GUIDE, free=self.free
        )

    def state_from(self, sampler, truth):
        return sampler.unpack(truth._asdict())

    def redraw_data(self, rng, sampler, state):
        truth = Truth(**sampler.pack(state))
        sampler = self.sampler(self.draw_data(rng, truth))
        return sampler, self.state_from(sampler, truth)

    def summarise(self, sampler, state):
        """Means exist: tails are drawn in where log u or the variance have none."""
        x = np.empty(N)
        x[sampler.guide.order] = sampler.values[:, 0]
        x, labels = x.tolist(), sampler.labels(state).tolist()
        sizes = [labels.count(k) for k in range(max(labels) + 1)]
        within = sum(
            (a - b) ** 2 for a, k in zip(x, labels, strict=True) for b, m in zip(x, labels, strict=True) if k == m
        )
        scalars = sampler.scalars(state)
        found = {
            "n_clusters": float(len(sizes)),
            "largest": float(max(sizes)),
            "singletons": float(sizes.count(1)),
            "entropy": -sum(size / N * math.log(size / N) for size in sizes),
            "pair 0 1": float(labels[0] == labels[1]),
            "pair 2 5": float(labels[2] == labels[5]),
            "sum of squares": math.log(sum(value * value for value in x)),
            "within": math.log1p(within),
            "x0 x1": math.tanh(x[0] * x[1]),
            "x2 x5": math.tanh(x[2] * x[5]),
            "concentration": float(state.numbers[ALPHA]),
            "log concentration": math.log(state.numbers[ALPHA]),
            # With the Jacobian u: its tails, like those of log u itself, are too heavy for a variance without.
            "log joint": scalars["log_joint"] + (state.numbers[V] if "log_u" in scalars else 0.0),
        }
        if "sigma" in scalars:
            found["sigma"] = float(state.numbers[SIGMA])
        if "log_u" in scalars and "sigma" in scalars:
            found["log u"] = math.tanh(0.3 * state.numbers[V])
            found["sigma log u"] = math.tanh(float(state.numbers[SIGMA] * state.numbers[V]))
        if self.free:
            found["log factor"] = float(state.log_factors[0])
            found["within by factor"] = math.log1p(within * math.exp(-state.log_factors[0]))
        return found
