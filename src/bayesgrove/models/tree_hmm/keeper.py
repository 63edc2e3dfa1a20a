"""Tables of some draws stored beside the labels: what prediction of new trees needs."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.models.tree_hmm.cells import as_counts
from bayesgrove.models.tree_hmm.estimates import mean_parameters
from bayesgrove.models.tree_hmm.mixture_state import State, normal_labels, parameters_of
from bayesgrove.models.tree_hmm.mixture_target import prior_of
from bayesgrove.models.tree_hmm.parameters import Parameters

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
    """A sampler whose draws also have the tables of the components, now and then."""

    sampler: Any
    """`TreeMixtureSampler` or `CollapsedTreeSampler`."""
    schedule: Schedule
    """With as many moves in a sweep of burn-in as later."""

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
        tables, moments = _parameters(self.sampler, state)
        if moments.shape[2]:  # densities of the values seen follow from the moments
            return tables.initial, tables.emission[:, :0], tables.switching, tables.transition, moments
        return *tables[:4], moments

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


def _parameters(sampler: Any, state: Any) -> Parameters:
    """Components of a state; where tables are summed out, their means given what was counted."""
    if isinstance(state, State):
        return parameters_of(state)
    mixture, target = state.mixture, sampler.target
    rows = normal_labels(state.labels, mixture.sizes.size, np.empty(state.labels.size, np.int64))
    prior = prior_of(target, state.values)
    return mean_parameters(prior, as_counts(target, mixture.counts[rows]))
