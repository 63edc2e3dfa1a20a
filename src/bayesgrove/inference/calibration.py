"""Simulation-based calibration: does the posterior cover the truth as often as it says?

A truth from the prior, data given it, draws given the data: the truth's rank among the draws is uniform where the
sampler is right (Talts, Betancourt, Simpson, Vehtari & Gelman 2018). Unlike Geweke's test it runs the sampler as users
do, from its own start and through its burn-in, and so also notices chains that do not get where they should.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.inference.geweke import Alarms, Generative, row_maker
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule
from bayesgrove.stats.testing import bonferroni_level, chi_square_test

MAX_BINS = 20
TIE = 1e-9
"""Numbers this close, relative to the largest, are equal: the same sum may have been taken in another order."""


class RankCheck(NamedTuple):
    """The ranks of one functional."""

    name: str
    mean_rank: float
    """As a share of the number of draws: 0.5 when calibrated, below when the posterior lies too high."""
    lag_one: float
    """Correlation of neighbouring draws, mean over replications: near 0 when thinned enough."""
    p_bins: float
    """Chi-square over equal bins."""
    p_band: float
    """Kolmogorov-Smirnov: the band in which the empirical distribution function stays."""

    @property
    def p_least(self) -> float:
        """The smaller of the two."""
        return min(self.p_bins, self.p_band)


@dataclass(frozen=True, repr=False, eq=False)
class CalibrationReport(Alarms):
    """Outcome of `simulation_based_calibration`; printed as a table.

    Attributes
    ----------
    names : tuple of str
        Functionals.
    ranks : int64 array of shape (n_replications, n_functionals)
        Number of draws below the truth, 0 to n_draws; ties broken at random.
    positions : float array of the same shape
        Ranks with a random digit, uniform between 0 and 1 when calibrated.
    checks : tuple of RankCheck
        One per functional.
    n_draws : int
        Draws per replication.
    level : float
        Chance of a false alarm of the whole report.
    """

    names: tuple[str, ...]
    ranks: np.ndarray
    positions: np.ndarray
    checks: tuple[RankCheck, ...]
    n_draws: int
    level: float

    def __repr__(self) -> str:
        lines = [
            f"Simulation-based calibration {self._verdict}: {len(self.ranks)} replications of {self.n_draws} draws, "
            f"alarm below p = {self.threshold:.1e}",
            f"{'functional':<24}{'mean rank':>12}{'lag one':>10}{'p bins':>10}{'p band':>10}",
        ]
        for check in self.checks:
            mark = "  <-" if check.name in self.alarms else ""
            numbers = f"{check.mean_rank:>12.3f}{check.lag_one:>10.2f}{check.p_bins:>10.1e}{check.p_band:>10.1e}"
            lines.append(f"{check.name:<24}{numbers}{mark}")
        return "\n".join(lines)


def simulation_based_calibration(
    model: Generative,
    schedule: Schedule,
    *,
    n_replications: int = 200,
    n_draws: int = 99,
    seed: int = 0,
    level: float = 1e-3,
    n_jobs: int | None = None,
) -> CalibrationReport:
    """Ranks of truths among draws from their posteriors, and whether they are uniform.

    Parameters
    ----------
    model : Generative
        Prior, data and sampler of a family. Functionals of the data alone are always tied and tell nothing.
    schedule : Schedule
        Moves, burn-in and thinning. Ranks are uniform for nearly independent draws only: thin until the column
        "lag one" of the report is small.
    n_replications, n_draws : int
        Truths, and stored draws for each.
    seed : int
        Replication r depends on the seed and r only, whatever `n_jobs`.
    level : float
        Chance that a right and well-mixing sampler fails, by Bonferroni over two tests per functional.
    n_jobs : int or None
        Workers of joblib.
    """
    if n_replications < 20 or n_draws < 3:
        raise InvalidSettingError(
            f"calibration needs at least 20 replications of 3 draws, got {n_replications} of {n_draws}. "
            "Try 200 replications of 99 draws."
        )
    bonferroni_level(level, 1)  # refused now, not after the work
    jobs = (delayed(_replicate)(model, schedule, n_draws, seed, r) for r in range(n_replications))
    replications = Parallel(n_jobs=n_jobs)(jobs)
    names = replications[0].names
    ranks = np.stack([done.ranks for done in replications])
    jitter = np.stack([done.jitter for done in replications])
    lag_one = np.mean([done.lag_one for done in replications], axis=0)
    positions = (ranks + jitter) / (n_draws + 1)
    checks = tuple(_check(name, positions[:, j], float(lag_one[j])) for j, name in enumerate(names))
    return CalibrationReport(names, ranks, positions, checks, n_draws, level)


class Replication(NamedTuple):
    """One truth among its draws, by functional."""

    names: tuple[str, ...]
    ranks: np.ndarray
    jitter: np.ndarray
    lag_one: np.ndarray


def _replicate(model: Generative, schedule: Schedule, n_draws: int, seed: int, replication: int) -> Replication:
    rng = generator(seed, replication)
    truth = model.draw_prior(rng)
    sampler = model.sampler(model.draw_data(rng, truth))
    summary = model.summarise(sampler, model.state_from(sampler, truth))
    names, values = row_maker(summary)
    true_values = np.array(values(summary), float)
    draws = _draws(rng, model, sampler, schedule, np.empty((n_draws, len(names))), values)
    broken = np.flatnonzero(~(np.isfinite(draws).all(axis=0) & np.isfinite(true_values)))
    if broken.size:
        raise NumericalError(
            f"functionals are finite numbers, but {names[broken[0]]!r} is not in replication {replication}. "
            "Mend it, or use its logarithm where it overflows.",
            name=names[broken[0]],
        )
    return Replication(names, _ranks(rng, true_values, draws), rng.random(len(names)), _lag_one(draws))


def _draws(
    rng: np.random.Generator, model: Generative, sampler: Sampler, schedule: Schedule, draws: np.ndarray, values: Any
) -> np.ndarray:
    """Fill `draws` with the functionals of the stored draws of one chain."""
    state = sampler.start(rng)
    for sweep in range(schedule.n_tune + len(draws) * schedule.thin):
        for step in schedule.steps(sweep):
            sampler.move(rng, state, step)
        if (sweep + 1) % schedule.refresh == 0:
            sampler.refresh(state)
        stored, rest = divmod(sweep + 1 - schedule.n_tune, schedule.thin)
        if stored > 0 and rest == 0:
            draws[stored - 1] = values(model.summarise(sampler, state))
    return draws


def _ranks(rng: np.random.Generator, truth: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Number of draws below the truth; of those equal to it a random number, each as likely as the next."""
    tied = np.abs(draws - truth) <= TIE * np.maximum(np.abs(draws).max(axis=0), np.abs(truth))
    below = ((draws < truth) & ~tied).sum(axis=0)
    return below + rng.integers(0, tied.sum(axis=0) + 1)


def _lag_one(draws: np.ndarray) -> np.ndarray:
    """Correlation of neighbours in each column; 0 for constants."""
    varies = np.ptp(draws, axis=0) > TIE * np.abs(draws).max(axis=0)
    centred = (draws - draws.mean(axis=0)) * varies
    covariance = (centred[1:] * centred[:-1]).sum(axis=0)
    return np.divide(covariance, (centred**2).sum(axis=0), out=np.zeros(len(varies)), where=varies)


def _check(name: str, positions: np.ndarray, lag_one: float) -> RankCheck:
    n_bins = min(MAX_BINS, positions.size // 10)
    counts = np.bincount((positions * n_bins).astype(np.int64), minlength=n_bins)
    p_bins = chi_square_test(counts, np.full(n_bins, 1.0 / n_bins)).p_value
    p_band = float(stats.kstest(positions, "uniform").pvalue)
    return RankCheck(name, float(positions.mean()), lag_one, p_bins, p_band)
