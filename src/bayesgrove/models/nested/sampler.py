"""`NestedSampler`: nested hierarchies as the engine sees them."""

import dataclasses
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, OK
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.schedule import Step, chosen_move
from bayesgrove.models.nested.log_joint import scores_of
from bayesgrove.models.nested.nodes import shuffle
from bayesgrove.models.nested.packing import drawn, packed, unpacked
from bayesgrove.models.nested.paths import N_TALLIES, gibbs_paths, metropolis_paths
from bayesgrove.models.nested.penalty import log_penalty, penalty_of
from bayesgrove.models.nested.penalty_moves import (
    draw_discriminant_variance,
    make_room_to_regraft,
    move_discriminants,
    penalised_paths,
    penalised_sweep,
    penalised_weights,
    redraw_margins,
    refuse_regraft,
)
from bayesgrove.models.nested.schedules import PATHS
from bayesgrove.models.nested.split_merge import split_merge_pass
from bayesgrove.models.nested.starts import first_state
from bayesgrove.models.nested.state import State, grow_nodes, make_room, nodes_in_use
from bayesgrove.models.nested.sweeps import DONE, STAGE, WEIGHTS, draw_means, sweep_all
from bayesgrove.models.nested.target import DISCRIMINANT_VARIANCE, VALUE_NAMES, Target
from bayesgrove.models.nested.visits import refuse_datum
from bayesgrove.models.nested.weights_pass import pass_over_weights
from bayesgrove.stats.special import LOG_2PI

PATH_TALLIES = ("paths_changed", "visits")
REGRAFT_TALLIES = ("regrafts", "regrafts_moved")
SPLIT_MERGE_TALLIES = ("splits", "merges", "split_merges")


@dataclasses.dataclass(frozen=True, eq=False)
class NestedSampler:
    """Hierarchies of one table: see `inference.sampler.Sampler` for the methods."""

    target: Target
    log_measure: float = 0.0
    """From encoded densities to those of the raw data."""
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else tells this model from others, in JSON's types."""

    @property
    def n_items(self) -> int:
        """Number of data."""
        return int(self.target.data.shape[0])

    @property
    def is_penalised(self) -> bool:
        """Whether moves of the tree must look at the penalty: at C = 0 it changes nothing."""
        return bool(self.target.penalty) and self.target.strength > 0.0

    @property
    def parallel(self) -> str:
        """Threads share the data; sweeps of a few data are mostly Python, which processes run side by side."""
        return "processes" if self.n_items < 300 else "threads"

    def fingerprint(self) -> dict[str, Any]:
        """Settings, and hashes of the data and of the numbers that came from them."""
        target, data, numbers = self.target, hashlib.sha256(), hashlib.sha256()
        data.update(target.data.tobytes() + target.margin_data.tobytes())
        for field in (target.values, target.hyperpriors, *getattr(target.law, "prior", ())):
            numbers.update(np.ascontiguousarray(field, float).tobytes())
        return {
            **self.about,
            "law": type(target.law).__name__,
            "depth": target.depth,
            "n_components": target.n_components,
            "penalty": [target.penalty, target.strength, target.margin],
            "n_rows": target.data.shape[0],
            "n_columns": target.data.shape[1],
            "data": data.hexdigest()[:16],
            "numbers": numbers.hexdigest()[:16],
        }

    def start(self, rng: np.random.Generator) -> State:
        """Paths from their prior, components given the data."""
        return first_state(rng, self.target)

    # ---- moves

    def move(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """One of "sweep", "paths", "weights", "split-merge", "means", "discriminants"."""
        return chosen_move(MOVES, step)(self, rng, state, step)

    def _sweep(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Gibbs paths, slices of discriminants, weights with regraft, means and variances, in one compiled call."""
        target, regrafts = self.target, bool(step.options.get("regraft", True))
        n_slices = int(step.options.get("n_slices", 1))
        if not self.is_penalised:
            counts = added(self._plain_sweep(rng, state, regrafts) for _ in range(step.times))
            redraw_margins(target, state)
            return counts
        if not regrafts:
            raise InvalidSettingError('the move "sweep" with a penalty regrafts. Take "paths", "weights" and "means".')
        return added(penalised_sweep(rng, target, state, n_slices=n_slices) for _ in range(step.times))

    def _plain_sweep(self, rng: np.random.Generator, state: State, regrafts: bool) -> Mapping[str, int]:
        """One sweep without penalty; full arrays are replaced on the way."""
        target, order, progress = self.target, np.arange(self.n_items), np.zeros(2, np.int64)
        tallies, status = np.zeros(N_TALLIES + len(REGRAFT_TALLIES), np.int64), NEEDS_CAPACITY
        while status != OK:
            status = sweep_all(
                rng, target.law, target.data, state.tree, state.mixture, state.values, target.hyperpriors,
                target.depth, target.n_components, regrafts, order, progress, tallies,
            )  # fmt: skip
            if status == NEEDS_CAPACITY and progress[STAGE] == WEIGHTS:
                grow_nodes(state)
            elif status == NEEDS_CAPACITY:
                make_room(state, target.depth)
            elif status != OK:
                refuse_datum(int(progress[DONE]))
                refuse_regraft()
        return dict(zip(PATH_TALLIES + REGRAFT_TALLIES, tallies.tolist(), strict=True))

    def _paths(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Scans over all data in random order."""
        path, target = step.options.get("path", PATHS[0]), self.target
        if path not in PATHS:
            raise InvalidSettingError(f"path is one of {', '.join(PATHS)}, got {path!r}.")
        if self.is_penalised:
            options = {name: step.options[name] for name in ("lazy", "own_only") if name in step.options}
            return added(penalised_paths(rng, target, state, path=path, **options) for _ in range(step.times))
        visit = gibbs_paths if path == "gibbs" else metropolis_paths
        tallies = np.zeros(N_TALLIES, np.int64)
        for _ in range(step.times):
            order, done = np.arange(self.n_items), 0
            shuffle(rng, order)
            while done < self.n_items:
                done = visit(
                    rng, target.law, target.data, state.tree, state.mixture, state.values, target.depth,
                    target.n_components, order, done, tallies,
                )  # fmt: skip
                if done < self.n_items:
                    refuse_datum(done)
                    make_room(state, target.depth)
        return dict(zip(PATH_TALLIES, tallies.tolist(), strict=True))

    def _weights(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Passes over all weights, with regraft unless told otherwise, and the concentrations that are learned."""
        target, regrafts = self.target, bool(step.options.get("regraft", True))
        if regrafts and self.is_penalised:
            return added(penalised_weights(rng, target, state) for _ in range(step.times))
        tallies = np.zeros(len(REGRAFT_TALLIES), np.int64)
        for _ in range(step.times):
            status = NEEDS_CAPACITY
            while status != OK:
                status = pass_over_weights(
                    rng, state.tree, state.mixture, state.values, target.hyperpriors, target.depth,
                    target.n_components, regrafts, tallies,
                )  # fmt: skip
                if status == NEEDS_CAPACITY:
                    grow_nodes(state)
                elif status != OK:
                    refuse_regraft()
        return dict(zip(REGRAFT_TALLIES, tallies.tolist(), strict=True))

    def _split_merge(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Passes over all weights that divide and join siblings on the way."""
        target, tallies = self.target, np.zeros(len(SPLIT_MERGE_TALLIES), np.int64)
        for _ in range(step.times):
            status = NEEDS_CAPACITY
            while status != OK:
                status = split_merge_pass(
                    rng, state.tree, state.mixture, state.margins.eta, penalty_of(target, state), state.values,
                    target.depth, target.n_components, self.is_penalised, tallies,
                )  # fmt: skip
                if status != OK:
                    make_room_to_regraft(target, state)
        if not self.is_penalised:
            redraw_margins(target, state)
        return dict(zip(SPLIT_MERGE_TALLIES, tallies.tolist(), strict=True))

    def _means(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Means of the components, and variances that are learned."""
        target = self.target
        for _ in range(step.times):
            draw_means(rng, target.law, target.data, state.mixture, state.values, target.hyperpriors)
        return {}

    def _discriminants(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Discriminants, with numbers of their own stream, and their variance if it is learned."""
        target = self.target
        if not target.penalty:
            raise InvalidSettingError('the move "discriminants" needs a model with a penalty, got one without.')
        if not self.is_penalised:
            redraw_margins(target, state)
            return {}
        options = dict(step.options)
        counts = added(move_discriminants(target, state, **options) for _ in range(step.times))
        draw_discriminant_variance(target, state)
        return counts

    # ---- what is stored

    def refresh(self, state: State) -> None:
        """Number nodes and components by first appearance and compute everything else again."""
        fresh = unpacked(self.target, packed(self.target, state), state.margins.log_chance)
        state.tree, state.mixture, state.margins = fresh.tree, fresh.mixture, fresh.margins

    def pack(self, state: State) -> dict[str, np.ndarray]:
        """A draw, and the discriminants' generator."""
        return packed(self.target, state)

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> State:
        """The state of these arrays."""
        return unpacked(self.target, arrays)

    def draw(self, state: State) -> dict[str, np.ndarray]:
        """Paths, components, weights, numbers and, where there are any, means and discriminants."""
        return drawn(self.target, state)

    def scalars(self, state: State) -> dict[str, float]:
        """Log joint, log CDL, numbers of leaves, level-1 nodes and components, energy, and all that is learned."""
        log_joint, log_cdl, n_leaves, n_first, n_components = scores_of(self.target, state)
        found = {
            "log_joint": log_joint + self.log_measure,
            "n_clusters": float(n_leaves),
            "n_level_1": float(n_first),
            "n_components": float(n_components),
            "cdl": log_cdl + self.log_measure,
        }
        if self.target.penalty:
            log_penalties, log_prior = penalty_scores(self.target, state)
            found |= {"energy": -log_penalties, "rcdl": found["cdl"] + log_penalties}
            found["log_joint"] += log_penalties + log_prior
        for place in np.flatnonzero(~np.isnan(self.target.hyperpriors[:, 0])).tolist():
            found[VALUE_NAMES[place]] = float(state.values[place])
        return found


MOVES: dict[str, Callable[[NestedSampler, np.random.Generator, State, Step], Mapping[str, int]]] = {
    "sweep": NestedSampler._sweep,
    "paths": NestedSampler._paths,
    "weights": NestedSampler._weights,
    "split-merge": NestedSampler._split_merge,
    "means": NestedSampler._means,
    "discriminants": NestedSampler._discriminants,
}


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts of several moves together."""
    total: dict[str, int] = {}
    for each in counts:
        for name, number in each.items():
            total[name] = total.get(name, 0) + number
    return total


def penalty_scores(target: Target, state: State) -> tuple[float, float]:
    """log R, and the log prior density of the discriminants with that of their variance if it is learned."""
    eta, variance = state.margins.eta[nodes_in_use(state.tree)[1:]], float(state.values[DISCRIMINANT_VARIANCE])
    log_prior = -0.5 * (float((eta**2).sum()) / variance + eta.size * (LOG_2PI + math.log(variance)))
    shape, scale = target.hyperpriors[DISCRIMINANT_VARIANCE].tolist()
    if not math.isnan(shape):
        log_prior += shape * math.log(scale) - math.lgamma(shape) - (shape + 1.0) * math.log(variance)
        log_prior -= scale / variance
    return log_penalty(target, state), log_prior
