"""`TreeMixtureSampler`: the infinite mixture of hidden tree Markov models as the engine sees it."""

import dataclasses
import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesgrove.core.errors import NumericalError
from bayesgrove.inference.schedule import Step, chosen_move
from bayesgrove.models.tree_hmm.assignments import assign_trees
from bayesgrove.models.tree_hmm.hdp import draw_state_weights, n_states_used
from bayesgrove.models.tree_hmm.hyper import draw_concentration, draw_strengths, free_strengths
from bayesgrove.models.tree_hmm.mixture_joint import joint_of_state
from bayesgrove.models.tree_hmm.mixture_state import (
    State,
    grow,
    new_state,
    normal_labels,
    parameters_of,
    weights_of,
)
from bayesgrove.models.tree_hmm.mixture_target import ALL_NAMES, Target, log_hyperprior
from bayesgrove.models.tree_hmm.parameters import Parameters
from bayesgrove.models.tree_hmm.redraw import count_uses, draw_all_tables, score_all
from bayesgrove.models.tree_hmm.schedules import N_AUXILIARY
from bayesgrove.models.tree_hmm.split_merge import TALLY_NAMES, split_merge_moves
from bayesgrove.models.tree_hmm.tables import Tables, zero_counts

TABLE_NAMES = ("initial", "emission", "switching", "transition", "log_scale")


@dataclasses.dataclass(frozen=True, eq=False)
class TreeMixtureSampler:
    """A Dirichlet process mixture of one forest: see `inference.sampler.Sampler` for the methods."""

    target: Target
    first: Callable[[np.random.Generator, Target], tuple[np.ndarray, Parameters]]
    """`first(rng, target)` gives labels 0, 1, ... and the parameters of the components that a chain begins with."""
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else tells this model from others, in JSON's types."""

    @property
    def n_items(self) -> int:
        """Number of trees."""
        return self.target.n_trees

    @property
    def parallel(self) -> str:
        """Threads share the trees; sweeps of a few are mostly Python, which processes run side by side."""
        return "processes" if self.n_items < 300 else "threads"

    def fingerprint(self) -> dict[str, Any]:
        """Settings, and hashes of the trees and of the hyperparameters."""
        return {**self.about, **fingerprint_of(self.target)}

    def start(self, rng: np.random.Generator) -> State:
        """Labels and tables of the start chosen, numbers as given."""
        state = new_state(self.target, *self.first(rng, self.target), self.target.values)
        self.refresh(state)
        return state

    # ---- moves

    def move(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """One of "split-merge", "assign", "tables", "values"."""
        return chosen_move(MOVES, step)(self, rng, state, step)

    def _split_merge(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Split-merge moves that keep the tables of one side."""
        if self.n_items < 2:
            return {}
        tallies, left = np.zeros(len(TALLY_NAMES), np.int64), step.times
        while left:
            left -= split_merge_moves(rng, self.target, state.components, state.labels, state.values, left, tallies)
            if left:
                grow(state)
        return dict(zip(TALLY_NAMES, tallies.tolist(), strict=True))

    def _assign(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Assign all trees in turn, once per repeat."""
        n_auxiliary = int(step.options.get("n_auxiliary", N_AUXILIARY))
        for _ in range(step.times):
            done = 0
            while done < self.n_items:
                done = assign_trees(rng, self.target, state.components, state.labels, state.values, n_auxiliary, done)
                if done < 0:
                    raise NumericalError(
                        f"no component, old or new, is possible for tree {-1 - done}: its likelihoods are not finite. "
                        "Look for extreme values, or raise prior_strength.",
                        tree=-1 - done,
                    )
                if done < self.n_items:
                    grow(state)
        return {}

    def _tables(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Draw hidden states, the strengths that are learned, and all tables."""
        target, free = self.target, free_strengths(self.target)
        for _ in range(step.times):
            counts = zero_counts(state.n_clusters, target.shape)
            count_uses(rng, target, state.components, state.labels, counts)
            if target.is_infinite:
                draw_state_weights(rng, target, state.components, counts, state.values)
            if free:
                in_use = state.components.order[: state.n_clusters]
                draw_strengths(rng, target, counts, state.components.switching[in_use], state.values)
            draw_all_tables(rng, target, state.components, state.values, counts)
        return {}

    def _values(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """The concentration, where it is learned."""
        for _ in range(step.times):
            draw_concentration(rng, self.target, state.n_clusters, state.values)
        return {}

    # ---- what is stored

    def refresh(self, state: State) -> None:
        """Number components by first appearance and score all trees again."""
        fresh = self.unpack(self.pack(state))
        state.labels, state.components = fresh.labels, fresh.components

    def labels(self, state: State) -> np.ndarray:
        """Labels by first appearance, in the smallest type that holds them."""
        out = np.empty(self.n_items, np.min_scalar_type(self.n_items - 1))
        normal_labels(state.labels, state.components.sizes.size, out)
        return out

    def pack(self, state: State) -> dict[str, np.ndarray]:
        """Labels, tables and numbers."""
        parameters = parameters_of(state)
        found = {"labels": self.labels(state), "values": state.values.copy(), "moments": parameters.moments}
        if self.target.is_infinite:
            found["weights"] = weights_of(state)
        return found | dict(zip(TABLE_NAMES, parameters.tables, strict=True))

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> State:
        """The state of these arrays."""
        parameters = Parameters(Tables(*(arrays[name] for name in TABLE_NAMES)), arrays["moments"])
        state = new_state(self.target, arrays["labels"], parameters, arrays["values"], arrays.get("weights"))
        score_all(self.target, state.components)
        return state

    def draw(self, state: State) -> dict[str, np.ndarray]:
        """Labels."""
        return {"labels": self.labels(state)}

    def scalars(self, state: State) -> dict[str, float]:
        """Log joint, number of clusters, and all numbers that are learned."""
        target = self.target
        log_joint = joint_of_state(target, state.components, state.labels, state.values)
        found = {
            "log_joint": float(log_joint) + log_hyperprior(target, state.values),
            "n_clusters": float(state.n_clusters),
        }
        if target.is_infinite:
            found["n_states"] = n_states_used(state.components)
        for name, value, (shape, _) in zip(ALL_NAMES, state.values, target.hyperpriors, strict=True):
            if not math.isnan(shape):
                found[name] = float(value)
        return found


MOVES: dict[str, Callable[[TreeMixtureSampler, np.random.Generator, State, Step], Mapping[str, int]]] = {
    "split-merge": TreeMixtureSampler._split_merge,
    "assign": TreeMixtureSampler._assign,
    "tables": TreeMixtureSampler._tables,
    "values": TreeMixtureSampler._values,
}


def fingerprint_of(target: Target) -> dict[str, Any]:
    """What tells a mixture and its trees from others, in JSON's types."""
    trees, numbers = hashlib.sha256(), hashlib.sha256()
    for part in (*target.links, target.points):
        trees.update(np.ascontiguousarray(part).tobytes())
    for part in (target.values, target.hyperpriors, target.gaussian):
        numbers.update(np.ascontiguousarray(part).tobytes())
    return {
        "missing": target.mode,
        "n_states": target.n_states,
        "is_infinite": target.is_infinite,
        "n_labels": target.n_labels,
        "max_outdegree": target.n_positions,
        "n_trees": target.n_trees,
        "trees": trees.hexdigest()[:16],
        "numbers": numbers.hexdigest()[:16],
    }
