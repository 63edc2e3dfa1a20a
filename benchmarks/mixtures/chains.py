"""Our samplers as the estimator puts them together, sweep by sweep, so that a clock can stand between two sweeps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.estimators.mixture_starts import first_labels
from bayesgrove.inference.chain import REFRESHED, Position, begin, walk
from bayesgrove.inference.schedule import Schedule
from bayesgrove.likelihoods import GaussianFull, bind
from bayesgrove.models.nrm.guide import make_guide
from bayesgrove.models.nrm.points import euclidean_points
from bayesgrove.models.nrm.process import DIRICHLET, Process
from bayesgrove.models.nrm.sampler import MixtureSampler, make_sampler
from bayesgrove.models.nrm.schedules import SAMPLERS, schedule_of

DEFAULT_TUNE = 200
LEARNED = Process(DIRICHLET, 1.0, 0.0, free_alpha=True, free_sigma=False)
FIXED = Process(DIRICHLET, 1.0, 0.0, free_alpha=False, free_sigma=False)
FOREVER = 10**9


def prepare(
    X: np.ndarray, seed: int, init: Any, likelihood: Any = "auto", process: Process = LEARNED
) -> MixtureSampler:
    """What `NRMMixture.fit` does before the first sweep, but for the start itself."""
    bound = bind(likelihood, X)
    guide = make_guide(generator(seed, 1), euclidean_points(bound.prior, bound.values))
    start = first_labels(init, bound, process)
    return make_sampler(bound.prior, bound.values, guide, process, bound.free, bound.log_measure, start, {})


def schedule_for(name: str, n_rows: int, n_tune: int = DEFAULT_TUNE) -> Schedule:
    """The schedule of a named sampler."""
    return schedule_of(name, n_rows, n_tune=n_tune)


def sweeps(sampler: MixtureSampler, schedule: Schedule, position: Position) -> Iterator[None]:
    """One step of this is one sweep."""
    for event in walk(sampler, schedule, position, FOREVER):
        if event is not REFRESHED:
            yield


def start(sampler: MixtureSampler, seed: int, chain: int = 0) -> Position:
    """A chain before its first sweep."""
    return begin(sampler, generator(seed, 2, chain))


def warm_up(X: np.ndarray, likelihood: Any = "auto", process: Process = LEARNED) -> None:
    """Compile, or read from the cache, every kernel the samplers use on such data."""
    for name in SAMPLERS:
        for init in ("guide", "one"):
            sampler = prepare(X, 0, init, likelihood, process)
            chain = sweeps(sampler, schedule_for(name, len(X), n_tune=2), start(sampler, 0))
            for _ in range(11):  # beyond the first refresh
                next(chain)


def paper_prior(X: np.ndarray) -> GaussianFull:
    """The prior with which the published sets are reproduced: its scale has determinant .1."""
    d = X.shape[1]
    covariance = np.cov(X.T)
    scale = covariance * (0.1 / np.linalg.det(covariance)) ** (1.0 / d)
    return GaussianFull(mean=X.mean(axis=0), strength=0.1, dof=d + 6.0, scale=scale)
