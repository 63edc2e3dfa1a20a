"""`TemperedSampler`: Metropolis-coupled chains over the strength of the penalty, as the engine sees them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.penalty_tempering import strength_ladder, swap_strengths
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.state import State
from bayesgrove.models.nested.target import Target

SWAP = "swap"


@dataclasses.dataclass(slots=True)
class Coupled:
    """States by falling strength; draws are taken from the first."""

    states: list[State]


@dataclasses.dataclass(frozen=True, eq=False)
class TemperedSampler:
    """Chains with strengths C, .., 0 whose states change places: see `inference.sampler.Sampler` for the methods.

    All moves are those of `NestedSampler`, made in each chain, and "swap".
    """

    samplers: tuple[NestedSampler, ...]

    @property
    def parallel(self) -> str:
        """As without coupling."""
        return self.samplers[0].parallel

    def fingerprint(self) -> dict[str, Any]:
        """That of the first chain, and the strengths of all."""
        return {**self.samplers[0].fingerprint(), "strengths": [each.target.strength for each in self.samplers]}

    def start(self, rng: np.random.Generator) -> Coupled:
        """Each chain from a start of its own."""
        return Coupled([sampler.start(rng) for sampler in self.samplers])

    def move(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """A move in each chain, whose counts are those of the first, or "swap"."""
        if step.move != SWAP:
            pairs = zip(self.samplers, state.states, strict=True)
            every = [sampler.move(rng, each, step) for sampler, each in pairs]
            return every[0]
        counts: dict[str, int] = {}
        targets = [sampler.target for sampler in self.samplers]
        for _ in range(step.times):
            accepted = swap_strengths(rng, targets, state.states)
            for k in range(len(targets) - 1):
                for name, n in ((f"swaps_{k}", 1), (f"swaps_{k}_accepted", accepted.count(k))):
                    counts[name] = counts.get(name, 0) + n
        return counts

    def refresh(self, state: Coupled) -> None:
        """Each chain's state in normal form."""
        for sampler, each in zip(self.samplers, state.states, strict=True):
            sampler.refresh(each)

    def pack(self, state: Coupled) -> dict[str, np.ndarray]:
        """All chains, the number of each after its arrays' names."""
        pairs = enumerate(zip(self.samplers, state.states, strict=True))
        return {f"{name}_{k}": array for k, (one, each) in pairs for name, array in one.pack(each).items()}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> Coupled:
        """The states of these arrays."""
        parts: list[dict[str, np.ndarray]] = [{} for _ in self.samplers]
        for name, array in arrays.items():
            stem, _, number = name.rpartition("_")
            parts[int(number)][stem] = array
        return Coupled([sampler.unpack(part) for sampler, part in zip(self.samplers, parts, strict=True)])

    def draw(self, state: Coupled) -> dict[str, np.ndarray]:
        """A draw of the first chain."""
        return self.samplers[0].draw(state.states[0])

    def scalars(self, state: Coupled) -> dict[str, float]:
        """Numbers of the first chain."""
        return self.samplers[0].scalars(state.states[0])


def tempered_sampler(
    target: Target, n_temperatures: int, log_measure: float = 0.0, about: Mapping[str, Any] | None = None
) -> TemperedSampler:
    """Coupled chains for a target with a penalty."""
    rungs = strength_ladder(target, n_temperatures)
    return TemperedSampler(tuple(NestedSampler(rung, log_measure, about or {}) for rung in rungs))
