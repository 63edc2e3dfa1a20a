"""A chain: the only loop over sweeps. It makes moves and yields; storing, watching and stopping happen outside."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from bayesgrove.core.rng import state_from_json, state_to_json
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule

Counts = dict[str, dict[str, int]]


class Draw(NamedTuple):
    """One draw: its number from 0 on, arrays and scalars by name. The arrays may change with the next sweep."""

    number: int
    arrays: Mapping[str, np.ndarray]
    scalars: Mapping[str, float]


class Refreshed:
    """Told after a state was rebuilt: only now may it be stored, as what is unpacked goes on with the same bits."""


REFRESHED: Final = Refreshed()


@dataclass(slots=True)
class Position:
    """Where a chain is: its state and generator, sweeps done, counts by move. Changed in place by `walk`."""

    state: Any
    rng: np.random.Generator
    sweep: int = 0
    counts: Counts = field(default_factory=lambda: defaultdict(dict))


@dataclass(frozen=True)
class Checkpoint:
    """A position that can be stored: arrays of the state, the generator in JSON's types, sweeps done, counts."""

    sweep: int
    arrays: Mapping[str, np.ndarray]
    rng: Mapping[str, Any]
    counts: Mapping[str, Mapping[str, int]]


def n_sweeps(schedule: Schedule, n_draws: int) -> int:
    """Sweeps that a number of draws takes, burn-in included."""
    return schedule.n_tune + schedule.thin * n_draws


def n_draws_after(schedule: Schedule, sweep: int) -> int:
    """Draws there are after so many sweeps."""
    return max(0, sweep - schedule.n_tune) // schedule.thin


def walk(sampler: Sampler, schedule: Schedule, position: Position, until: int) -> Iterator[Draw | Refreshed | None]:
    """Sweep until so many sweeps are done.

    Each sweep yields a Draw, or None where it has none, and then `REFRESHED` where the state was rebuilt. The draw
    comes first because rebuilding may relabel the arrays in place that the draw shows.
    """
    state, rng, counts = position.state, position.rng, position.counts
    n_tune, thin, refresh = schedule.n_tune, schedule.thin, schedule.refresh
    for sweep in range(position.sweep + 1, until + 1):
        for step in schedule.steps(sweep - 1):
            _count(counts[step.move], sampler.move(rng, state, step))
        position.sweep = sweep
        number, rest = divmod(sweep - n_tune, thin)
        yield Draw(number - 1, sampler.draw(state), sampler.scalars(state)) if number > 0 and rest == 0 else None
        if sweep % refresh == 0:
            sampler.refresh(state)
            yield REFRESHED


def _count(totals: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        totals[name] = totals.get(name, 0) + number


def begin(sampler: Sampler, rng: np.random.Generator) -> Position:
    """The position of a chain before its first sweep."""
    return Position(sampler.start(rng), rng)


def to_checkpoint(sampler: Sampler, position: Position) -> Checkpoint:
    """What is to be stored of a position whose state has just been refreshed; it shares nothing with it."""
    arrays = {name: np.array(values) for name, values in sampler.pack(position.state).items()}
    counts = {move: {name: int(n) for name, n in totals.items()} for move, totals in position.counts.items()}
    return Checkpoint(position.sweep, arrays, state_to_json(position.rng), counts)


def from_checkpoint(sampler: Sampler, checkpoint: Checkpoint) -> Position:
    """A position that goes on exactly as the stored one did."""
    state = sampler.unpack({name: values.copy() for name, values in checkpoint.arrays.items()})
    counts: Counts = defaultdict(dict, {move: dict(totals) for move, totals in checkpoint.counts.items()})
    return Position(state, state_from_json(dict(checkpoint.rng)), checkpoint.sweep, counts)
