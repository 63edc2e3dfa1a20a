"""What a family of models gives the engine: a sampler, whose states the chain moves."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from bayesgrove.inference.schedule import Step


class Sampler(Protocol):
    """Data, priors and fixed settings of one model: never changed, the same for all chains, fit for pickling.

    A *state* is whatever the family likes, changed in place by moves. What `pack` gives is the whole of it: after
    `refresh`, a state and `unpack(pack(state))` must go on alike to the last bit. `pack`, `draw` and `scalars` leave
    the state as it is, caches included: when they are called depends on the clock.

    A sampler may have an attribute `parallel`, "threads" (taken where there is none) or "processes": what chains should
    run in when nobody says. Processes pay off where sweeps are short and mostly Python.
    """

    def fingerprint(self) -> Mapping[str, Any]:
        """What the model, its settings and its data are, in JSON's types; a run is resumed only where it is equal."""

    def start(self, rng: np.random.Generator) -> Any:
        """A first state."""

    def move(self, rng: np.random.Generator, state: Any, step: Step) -> Mapping[str, int]:
        """Make a move `step.times` times; counts for diagnostics, such as {"proposed": 10, "accepted": 2}."""

    def refresh(self, state: Any) -> None:
        """Rebuild, in place, all that is kept besides what `pack` gives, and bring labels into normal form."""

    def pack(self, state: Any) -> Mapping[str, np.ndarray]:
        """The state as arrays by name, to be stored."""

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """The state `pack` was given."""

    def draw(self, state: Any) -> Mapping[str, np.ndarray]:
        """What a stored draw keeps, as arrays by name (for a flat mixture "labels" of shape (n_items,))."""

    def scalars(self, state: Any) -> Mapping[str, float]:
        """Label-free numbers of a draw, the same names each time; "log_joint" and "n_clusters" among them."""
