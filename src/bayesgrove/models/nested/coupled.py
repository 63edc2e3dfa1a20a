"""`CoupledSampler`: Metropolis-coupled chains in the strength of the penalty as the engine sees them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.models.nested.penalty_tempering import strength_ladder, swap_strengths
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.state import State

SWAP = "swap"


@dataclasses.dataclass(slots=True)
class Coupled:
    """States at falling strengths; the first is that of the model."""

    states: list[State]


@dataclasses.dataclass(frozen=True, eq=False)
class CoupledSampler:
    """Several chains at once, of which only the first is stored as draws.

    Attributes
    ----------
    samplers : tuple of NestedSampler
        At falling strengths, the first with that of the model.
    """

    samplers: tuple[NestedSampler, ...]

    @property
    def parallel(self) -> str:
        """As the chains themselves."""
        return self.samplers[0].parallel

    def fingerprint(self) -> dict[str, Any]:
        """That of the first chain, and how many there are."""
        return {**self.samplers[0].fingerprint(), "n_temperatures": len(self.samplers)}

    def start(self, rng: np.random.Generator) -> Coupled:
        """A first state of each chain."""
        return Coupled([sampler.start(rng) for sampler in self.samplers])

    def move(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """Swaps of neighbours, or a move of each chain; counts are those of the first."""
        if step.move == SWAP:
            return self._swap(rng, state, step.times)
        counts = [sampler.move(rng, own, step) for sampler, own in zip(self.samplers, state.states, strict=True)]
        return counts[0]

    def _swap(self, rng: np.random.Generator, state: Coupled, times: int) -> dict[str, int]:
        targets = [sampler.target for sampler in self.samplers]
        accepted = [swap_strengths(rng, targets, state.states) for _ in range(times)]
        counts = {}
        for k in range(len(targets) - 1):
            counts[f"swaps_{k}"] = times
            counts[f"swaps_{k}_accepted"] = sum(k in own for own in accepted)
        return counts

    def refresh(self, state: Coupled) -> None:
        """Every chain in normal form."""
        for sampler, own in zip(self.samplers, state.states, strict=True):
            sampler.refresh(own)

    def pack(self, state: Coupled) -> dict[str, np.ndarray]:
        """All chains, their numbers behind the names."""
        packed = {}
        for k, (sampler, own) in enumerate(zip(self.samplers, state.states, strict=True)):
            packed |= {f"{name}_{k}": values for name, values in sampler.pack(own).items()}
        return packed

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> Coupled:
        """The state of these arrays."""
        states = []
        for k, sampler in enumerate(self.samplers):
            own = {name.removesuffix(f"_{k}"): values for name, values in arrays.items() if name.endswith(f"_{k}")}
            states.append(sampler.unpack(own))
        return Coupled(states)

    def draw(self, state: Coupled) -> dict[str, np.ndarray]:
        """Of the first chain."""
        return self.samplers[0].draw(state.states[0])

    def scalars(self, state: Coupled) -> dict[str, float]:
        """Of the first chain."""
        return self.samplers[0].scalars(state.states[0])


def coupled_sampler(sampler: NestedSampler, n_temperatures: int) -> CoupledSampler:
    """Chains at the strengths C to 0, denser towards 0."""
    targets = strength_ladder(sampler.target, n_temperatures)
    return CoupledSampler(tuple(dataclasses.replace(sampler, target=target) for target in targets))


def with_swaps(schedule: Schedule) -> Schedule:
    """The schedule with swaps after each sweep."""
    return dataclasses.replace(schedule, tune=(*schedule.tune, Step(SWAP)), draw=(*schedule.draw, Step(SWAP)))
