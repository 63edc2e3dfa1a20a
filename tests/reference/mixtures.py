"""Mixture samplers on small data, built directly: no estimator, no engine."""

import dataclasses
import math

import numpy as np
from scipy.special import beta
from scipy.stats import poisson

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.models.nrm.guide import make_guide, weigh_guide
from bayesgrove.models.nrm.points import euclidean_points
from bayesgrove.models.nrm.process import (
    DIRICHLET,
    FINITE,
    GENERALISED_GAMMA,
    PITMAN_YOR,
    Process,
    V,
    log_kappa_table,
)
from bayesgrove.models.nrm.sampler import make_sampler
from bayesgrove.models.nrm.split_merge import LAWS
from bayesgrove.models.nrm.starts import OneCluster
from bayesgrove.stats.processes import GEOMETRIC, POISSON, Components
from reference import nrm, nrm_trees
from reference.state_checks import check_nrm

DP, NGGP = Process(DIRICHLET, 1.0, 0.0, False, False), Process(GENERALISED_GAMMA, 1.0, 0.5, False, False)
FREE_DP, FREE_NGGP = DP._replace(free_alpha=True), NGGP._replace(free_alpha=True, free_sigma=True)
PITMAN = Process(PITMAN_YOR, 0.6, 0.3, False, False)
FEW = Process(FINITE, 0.8, 0.0, False, False)
FREE_PITMAN = PITMAN._replace(free_alpha=True, free_sigma=True, sigma_a=1.0, sigma_b=4.0)
FREE_FEW = FEW._replace(free_alpha=True)
GIBBS_TYPE = {
    "pitman-yor": (PITMAN, nrm.PitmanYor(0.6, 0.3)),
    "negative": (PITMAN._replace(alpha=-0.2), nrm.PitmanYor(-0.2, 0.3)),
    "mfm": (FEW, nrm.FiniteMixture(0.8, lambda k: beta(5.0, k + 2.0) / beta(4.0, 3.0))),
    "poisson": (
        FEW._replace(components=Components(float(POISSON), 3.0, 0.0, 0.0)),
        nrm.FiniteMixture(0.8, lambda k: poisson.pmf(k - 1.0, 3.0)),
    ),
    "geometric": (
        FEW._replace(components=Components(float(GEOMETRIC), 0.2, 0.0, 0.0)),
        nrm.FiniteMixture(0.8, lambda k: 0.2 * 0.8 ** (k - 1.0)),
    ),
}
"""Processes with a factor V(n, K), and their twins."""
GIBBS, PROCESS, LIKELIHOOD = Step("gibbs"), Step("process"), Step("likelihood")
LOCAL = Step("local", 1, {"depth": 2})


def anchors(*laws, times=None, **options):
    """A step of split-merge moves by these laws, each in turn."""
    return Step("anchors", times or len(laws), {"laws": laws, **options})


SCHEDULES = {
    "tree-guided": (anchors("uniform", "tree", times=10), anchors("cluster", times=2), GIBBS, LOCAL, PROCESS),
    "split-merge": (anchors("jain-neal"), GIBBS, PROCESS),
    "gibbs": (GIBBS, PROCESS),
}
EVERY_MOVE = (anchors(*LAWS, n_scans=1), anchors(*LAWS), GIBBS, LOCAL, PROCESS, LIKELIHOOD)


def known_variance(n_columns, variance=1.0, prior_variance=9.0):
    """Known-variance Gaussian columns about 0."""
    numbers = (np.full(n_columns, number) for number in (variance, 0.0, prior_variance))
    return GaussianKnownVariancePrior(*numbers)


def log_kappa(process, v, n):
    """The table of a process at log u = v."""
    return log_kappa_table(process, np.array([v, process.alpha, process.sigma]), n)


def guide_of(tree):
    """Order and keys of a twin's tree."""
    order, _, adj = nrm_trees.leaf_order(tree)
    return np.array(order), np.array(adj, np.int64)


def build(prior, values, process, *, guide=None, free=(), start=None):
    """The sampler of a table under a prior, from one cluster unless another start is given."""
    values = np.ascontiguousarray(values, float)
    if guide is None:
        guide = make_guide(generator(0), euclidean_points(prior, values))
    return make_sampler(prior, values, guide, process, tuple(free), 0.0, start or OneCluster(len(values)), {})


def weighed_at(sampler, log_u):
    """The sampler with its guide's nodes weighed at another u than the start's."""
    guide, process = sampler.guide, sampler.process
    table = log_kappa(process, log_u, sampler.n_items)
    return dataclasses.replace(sampler, guide=weigh_guide(sampler.prior, sampler.values, guide.order, guide.key, table))


def state_of(sampler, labels, *, log_u=None, numbers=None):
    """The state of given labels; the numbers those of the start unless others are given."""
    packed = sampler.pack(sampler.start(generator(0)))
    packed["labels"] = np.asarray(labels)
    if numbers is not None:
        packed["numbers"] = np.array(numbers, float)
    if log_u is not None:
        packed["numbers"][V] = log_u
    return sampler.unpack(packed)


def faults(state, values):
    """What `check_nrm` finds wrong, or nothing."""
    try:
        check_nrm(state, values)
    except ValueError as error:
        return str(error)
    return ""


def sweep(sampler, rng, state, steps):
    """One sweep."""
    for step in steps:
        sampler.move(rng, state, step)


def run(sampler, seed, steps, n_sweeps, *, refresh=1_000):
    """Labels after each sweep, and the scalars as arrays by name."""
    rng = generator(seed)
    state = sampler.start(rng)
    labels, scalars = np.empty((n_sweeps, sampler.n_items), np.int64), []
    for at in range(n_sweeps):
        sweep(sampler, rng, state, steps)
        if (at + 1) % refresh == 0:
            sampler.refresh(state)
        labels[at] = sampler.labels(state)
        scalars.append(sampler.scalars(state))
    return labels, {name: np.array([line[name] for line in scalars]) for name in scalars[0]}


def log_u_moments(process, n, n_clusters):
    """Mean and standard deviation of log u given a partition, by the trapezoid."""
    v = np.arange(-40.0, 60.0 / process.sigma, 0.01)
    plus = np.logaddexp(0.0, v)
    with np.errstate(over="ignore"):
        logs = n * v - (n - n_clusters * process.sigma) * plus - process.alpha * np.exp(process.sigma * plus)
    weights = np.exp(logs - logs.max())
    mean = (weights * v).sum() / weights.sum()
    return mean, math.sqrt((weights * (v - mean) ** 2).sum() / weights.sum())
