"""Tables of some draws stored beside the labels: what prediction of new trees needs."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.inference.schedule import Schedule, Step

EVERY = 5
"""Tables of every so many-th draw are kept, of the first in any case: those of all would be large."""
TABLES = ("initial", "emission", "switching", "transition", "moments")
MOVES_MADE = "moves_made"


@dataclasses.dataclass
class Counted:
    """A state and how many moves were made of it."""

    state: Any
    n_moves: int


@dataclasses.dataclass(frozen=True, eq=False)
class TableKeeper:
    """A sampler whose draws also have the tables of the components, now and then.

    Attributes
    ----------
    sampler : Sampler
        Packs the tables of a state's components as initial, emission, switching, transition and moments.
    schedule : Schedule
        With as many moves in a sweep of burn-in as later.
    """

    sampler: Any
    schedule: Schedule

    @property
    def parallel(self) -> str:
        """As the sampler says."""
        return str(self.sampler.parallel)

    def fingerprint(self) -> Mapping[str, Any]:
        """That of the sampler."""
        found: Mapping[str, Any] = self.sampler.fingerprint()
        return found

    def start(self, rng: np.random.Generator) -> Counted:
        """The sampler's start."""
        return Counted(self.sampler.start(rng), 0)

    def move(self, rng: np.random.Generator, state: Counted, step: Step) -> Mapping[str, int]:
        """A move, counted."""
        state.n_moves += 1
        made: Mapping[str, int] = self.sampler.move(rng, state.state, step)
        return made

    def refresh(self, state: Counted) -> None:
        """Rebuild what the sampler keeps besides what is packed."""
        self.sampler.refresh(state.state)

    def pack(self, state: Counted) -> dict[str, np.ndarray]:
        """The sampler's arrays and the count."""
        return {**self.sampler.pack(state.state), MOVES_MADE: np.array([state.n_moves])}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> Counted:
        """The state of these arrays."""
        own = {name: values for name, values in arrays.items() if name != MOVES_MADE}
        return Counted(self.sampler.unpack(own), int(arrays[MOVES_MADE][0]))

    def draw(self, state: Counted) -> dict[str, np.ndarray]:
        """What the sampler draws; tables too of every so many-th draw, else arrays of no component."""
        found = dict(self.sampler.draw(state.state))
        sweep = state.n_moves // len(self.schedule.draw)
        number = (sweep - self.schedule.n_tune) // self.schedule.thin - 1
        parts = self._tables(state.state) if number % EVERY == 0 else self._nothing()
        return {**found, **{name: np.ascontiguousarray(part) for name, part in zip(TABLES, parts, strict=True)}}

    def _tables(self, state: Any) -> tuple[np.ndarray, ...]:
        packed = self.sampler.pack(state)
        initial, emission, switching, transition, moments = (packed[name] for name in TABLES)
        if moments.shape[2]:  # densities of the values seen follow from the moments
            emission = emission[:, :0]
        return initial, emission, switching, transition, moments

    def _nothing(self) -> tuple[np.ndarray, ...]:
        target = self.sampler.target
        n_positions, n_states, n_columns = target.n_positions, target.n_states, target.points.shape[1]
        shapes = (
            (n_positions + 1, n_states + 1),
            (0 if n_columns else target.n_labels, n_states),
            (n_positions,),
            (n_positions, n_states + 1, n_states),
            (n_states, n_columns, 2),
        )
        return tuple(np.zeros((0, *shape)) for shape in shapes)

    def scalars(self, state: Counted) -> Mapping[str, float]:
        """Those of the sampler."""
        found: Mapping[str, float] = self.sampler.scalars(state.state)
        return found
