"""Geweke's test: two ways to draw parameters and data together, which agree only where the sampler is right.

*Forward* draws take parameters from the prior and data given them. The *chain* alternates a sweep of the sampler with
new data given its state. A sweep that leaves the posterior invariant leaves the joint distribution invariant, so that
the chain, started from a forward draw, has the forward distribution at every step (Geweke 2004, *Getting it right*).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Step
from bayesgrove.stats.testing import N_BATCHES, bonferroni_level, cell_groups, standardise, z_p_value

MAX_VALUES = 20
"""A functional with no more different values than this is compared value by value, others by tenths."""
MIN_SHARE, MIN_VISITS = 0.01, 20.0
"""Cells rarer than the one, or that as many free draws as the chain is worth would visit less often than the other,
are pooled: their frequencies are not nearly normal."""


class Generative(Protocol):
    """What a family gives to have its sampler checked; fit for pickling where several workers are to share the work.

    A *truth* is whatever the family likes: parameters and partition from the prior.
    """

    def draw_prior(self, rng: np.random.Generator) -> Any:
        """A truth."""

    def draw_data(self, rng: np.random.Generator, truth: Any) -> Any:
        """Data given a truth."""

    def sampler(self, data: Any) -> Sampler:
        """The sampler of the posterior given data."""

    def state_from(self, sampler: Sampler, truth: Any) -> Any:
        """The sampler's state that a truth is."""

    def redraw_data(self, rng: np.random.Generator, sampler: Sampler, state: Any) -> tuple[Sampler, Any]:
        """New data given the state: their sampler, and the same partition and parameters as a state of it."""

    def summarise(self, sampler: Sampler, state: Any) -> Mapping[str, float]:
        """Functionals of parameters and data, a dozen or more, of the same names each time and free of labels."""


class FunctionalCheck(NamedTuple):
    """One functional, drawn both ways."""

    name: str
    forward_mean: float
    chain_mean: float
    z: float
    """Difference of the means over its standard error."""
    p_mean: float
    p_law: float
    """Of the frequencies of its values (of its tenths, where they are many), the worst after Bonferroni."""

    @property
    def p_least(self) -> float:
        """The smaller of the two."""
        return min(self.p_mean, self.p_law)


class Alarms:
    """What reports on functionals, two tests of each, have in common."""

    checks: tuple[Any, ...]
    level: float

    @property
    def threshold(self) -> float:
        """The p-value below which one test is an alarm: two per functional."""
        return bonferroni_level(self.level, 2 * len(self.checks))

    @property
    def alarms(self) -> tuple[str, ...]:
        """Names of the functionals that failed a test."""
        return tuple(check.name for check in self.checks if check.p_least < self.threshold)

    @property
    def passed(self) -> bool:
        """Whether no functional gave alarm."""
        return not self.alarms

    @property
    def _verdict(self) -> str:
        return "passed" if self.passed else f"FAILED on {', '.join(self.alarms)}"


@dataclass(frozen=True, repr=False)
class GewekeReport(Alarms):
    """Outcome of `geweke_test`; printed as a table.

    Attributes
    ----------
    checks : tuple of FunctionalCheck
        One per functional.
    level : float
        Chance of a false alarm of the whole report.
    n_forward, n_chain : int
        Forward draws and sweeps made.
    """

    checks: tuple[FunctionalCheck, ...]
    level: float
    n_forward: int
    n_chain: int

    @property
    def largest_z(self) -> float:
        """The largest |z| of a mean."""
        return max(abs(line.z) for line in self.checks)

    def __repr__(self) -> str:
        lines = [
            f"Geweke test {self._verdict}: {self.n_forward} forward draws, {self.n_chain} sweeps, "
            f"alarm below p = {self.threshold:.1e}",
            f"{'functional':<24}{'forward':>12}{'chain':>12}{'z':>8}{'p mean':>10}{'p shape':>10}",
        ]
        for line in self.checks:
            mark = "  <-" if line.name in self.alarms else ""
            means = f"{line.forward_mean:>12.5g}{line.chain_mean:>12.5g}"
            lines.append(f"{line.name:<24}{means}{line.z:>8.2f}{line.p_mean:>10.1e}{line.p_law:>10.1e}{mark}")
        return "\n".join(lines)


def geweke_test(
    model: Generative,
    steps: Sequence[Step],
    *,
    n_forward: int = 20_000,
    n_chain: int = 100_000,
    seed: int = 0,
    level: float = 1e-3,
    n_jobs: int | None = None,
) -> GewekeReport:
    """Compare forward draws with the chain that alternates sweeps and new data.

    Parameters
    ----------
    model : Generative
        Prior, data and sampler of a family.
    steps : sequence of Step
        The moves of one sweep.
    n_forward, n_chain : int
        Forward draws and sweeps, rounded up to multiples of 40.
    seed : int
        All randomness follows from it.
    level : float
        Chance that a right sampler fails, by Bonferroni over two comparisons per functional.
    n_jobs : int or None
        Workers of joblib; the report does not depend on it.

    Notes
    -----
    The chain is made of 40 chains, each started from a forward draw of its own. Where the sampler is right they are
    independent and have the right distribution from their first step, so that their means give the standard error with
    39 degrees of freedom: z scores follow t as far as means of n_chain / 40 sweeps are nearly normal. The functionals
    are taken after the sweep, before the data change.

    A sampler that does not move at all leaves every distribution invariant and passes (as a rule: 40 draws are so few
    that 2 of 200 such reports failed at the level 1e-3): see `simulation_based_calibration`.
    """
    _check_sizes(n_forward, n_chain, steps)
    bonferroni_level(level, 1)  # refused now, not after the work
    lengths = math.ceil(n_forward / N_BATCHES), math.ceil(n_chain / N_BATCHES)
    jobs = (delayed(_block)(model, tuple(steps), lengths, seed, block) for block in range(N_BATCHES))
    blocks = Parallel(n_jobs=n_jobs)(jobs)
    names = blocks[0][0]
    forward = np.concatenate([block[1] for block in blocks])
    chain = np.stack([block[2] for block in blocks])
    _check_finite(names, forward, chain)
    checks = tuple(_compare(name, forward[:, j], chain[:, :, j]) for j, name in enumerate(names))
    return GewekeReport(checks, level, len(forward), chain.shape[0] * chain.shape[1])


def row_maker(summary: Mapping[str, float]) -> tuple[tuple[str, ...], Callable[[Mapping[str, float]], Any]]:
    """Names of the functionals, and a function that gives the values of a summary in that order."""
    names = tuple(summary)
    if len(names) < 2:  # itemgetter gives a bare value for one name
        raise InvalidSettingError(
            f"a model is checked by at least 2 functionals, better a dozen, got {len(names)}. Extend `summarise`."
        )
    return names, itemgetter(*names)


def _block(
    model: Generative, steps: tuple[Step, ...], lengths: tuple[int, int], seed: int, block: int
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Forward draws and one chain, functionals in columns."""
    rng = generator(seed, block)
    sampler, state = _forward(rng, model)
    names, values = row_maker(model.summarise(sampler, state))
    forward, chain = (np.empty((length, len(names))) for length in lengths)
    for row in forward:
        row[:] = values(model.summarise(*_forward(rng, model)))
    move, redraw, summarise = sampler.move, model.redraw_data, model.summarise
    for row in chain:
        for step in steps:
            move(rng, state, step)
        # Looked at before the data change: new data would hide errors in how parameters and data hang together.
        row[:] = values(summarise(sampler, state))
        sampler, state = redraw(rng, sampler, state)
        move = sampler.move
    return names, forward, chain


def _forward(rng: np.random.Generator, model: Generative) -> tuple[Sampler, Any]:
    truth = model.draw_prior(rng)
    sampler = model.sampler(model.draw_data(rng, truth))
    return sampler, model.state_from(sampler, truth)


def _compare(name: str, forward: np.ndarray, chain: np.ndarray) -> FunctionalCheck:
    blocks = chain.mean(axis=1)
    forward_mean, forward_variance = forward.mean(), forward.var(ddof=1)
    z = float(_difference_z(forward_mean, forward_variance / forward.size, blocks[:, None])[0])
    shortage = blocks.var(ddof=1) / blocks.size / forward_variance if forward_variance > 0.0 else 0.0
    p_law = _law_p_value(forward, chain, max(MIN_SHARE, MIN_VISITS * shortage))
    return FunctionalCheck(name, float(forward_mean), float(blocks.mean()), z, float(z_p_value(z)), p_law)


def _difference_z(forward_mean: Any, forward_variance: Any, blocks: np.ndarray) -> np.ndarray:
    """z scores of the columns of block means against forward means with variances."""
    variance = forward_variance + blocks.var(axis=0, ddof=1) / len(blocks)
    return standardise(blocks.mean(axis=0) - forward_mean, np.sqrt(variance))


def _law_p_value(forward: np.ndarray, chain: np.ndarray, min_share: float) -> float:
    """The worst cell's p-value times the number of cells."""
    low, width = forward.min(), np.ptp(forward) or 1.0
    # Nine digits of the range: a sum taken in another order must not fall into another cell.
    forward, chain = (((values - low) / width).round(9) for values in (forward, chain))
    edges = _cell_edges(forward)
    counts = np.bincount(np.searchsorted(edges, forward), minlength=edges.size + 1)
    groups = cell_groups(counts, min_share * forward.size)
    n_groups = int(groups.max()) + 1
    shares = np.bincount(groups, counts) / forward.size
    visited = groups[np.searchsorted(edges, chain)]
    frequencies = np.stack([np.bincount(row, minlength=n_groups) for row in visited]) / chain.shape[1]
    z = _difference_z(shares, shares * (1.0 - shares) / forward.size, frequencies)
    return float(min(1.0, n_groups * z_p_value(z).min()))


def _cell_edges(values: np.ndarray) -> np.ndarray:
    """Points between the different values where they are few, tenths where they are many."""
    distinct = np.unique(values)
    if distinct.size <= MAX_VALUES:
        return (distinct[1:] + distinct[:-1]) / 2.0
    return np.unique(np.quantile(values, np.arange(1, 10) / 10.0))


def _check_sizes(n_forward: int, n_chain: int, steps: Sequence[Step]) -> None:
    if min(n_forward, n_chain) < 2 * N_BATCHES or not steps:
        raise InvalidSettingError(
            f"the test needs at least {2 * N_BATCHES} forward draws, as many sweeps and a step, got {n_forward} draws, "
            f"{n_chain} sweeps and {len(steps)} steps. Try 20,000 draws and 100,000 sweeps."
        )


def _check_finite(names: tuple[str, ...], forward: np.ndarray, chain: np.ndarray) -> None:
    for way, draws in (("forward draws", forward), ("chain", chain.reshape(-1, len(names)))):
        broken = np.flatnonzero(~np.isfinite(draws).all(axis=0))
        if broken.size:
            raise NumericalError(
                f"functionals are finite numbers, but {names[broken[0]]!r} is not in the {way}. "
                "Mend it, or use its logarithm where it overflows.",
                name=names[broken[0]],
            )
