"""`CollapsedTreeSampler`: the infinite mixture with its tables summed out, the exact reference for small forests."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.schedule import Step, chosen_move
from bayesgrove.models.tree_hmm.cells import Cells, add_cells, as_counts, make_cells
from bayesgrove.models.tree_hmm.collapsed import cells_of_tree, visit_trees
from bayesgrove.models.tree_hmm.hyper import draw_concentration, draw_strengths
from bayesgrove.models.tree_hmm.links import Links, plain_links
from bayesgrove.models.tree_hmm.mixture_state import FIRST_ROWS, normal_labels
from bayesgrove.models.tree_hmm.mixture_target import ALL_NAMES, CONCENTRATION, Target, log_hyperprior
from bayesgrove.models.tree_hmm.parameters import Parameters
from bayesgrove.models.tree_hmm.sampler import fingerprint_of
from bayesgrove.models.tree_hmm.sequential import sequential_moves
from bayesgrove.models.tree_hmm.split_merge import TALLY_NAMES
from bayesgrove.models.tree_hmm.states import draw_states
from bayesgrove.models.tree_hmm.tables import RENORM, Tables, select
from bayesgrove.stats.processes import log_crp
from bayesgrove.trees.forest import Forest

VISIT_NAMES = ("visits", "visits_accepted")


class Mixture(NamedTuple):
    """What is counted of the components, one in each row; labels are numbers of rows."""

    counts: np.ndarray
    """(R, n_cells): uses of the cells."""
    totals: np.ndarray
    """(R, n_table_rows): uses of all cells of a row of the tables."""
    sizes: np.ndarray
    order: np.ndarray
    n_used: np.ndarray
    """As those of `Components`."""


@dataclasses.dataclass
class CollapsedState:
    """Changed in place by moves."""

    labels: np.ndarray
    """int64 (n_trees,): row of each tree's component."""
    states: np.ndarray
    switches: np.ndarray
    """int64 (n_nodes,): hidden states and chosen children, as `states.draw_states` gives them."""
    mixture: Mixture
    values: np.ndarray

    @property
    def n_clusters(self) -> int:
        """Number of components in use."""
        return int(self.mixture.n_used[0])


def with_plain_links(target: Target, forest: Forest) -> Target:
    """The same model on every node of the forest, as the collapsed sampler needs it."""
    return target._replace(links=Links(*(np.array(part) for part in plain_links(forest))))


@dataclasses.dataclass(frozen=True, eq=False)
class CollapsedTreeSampler:
    """A mixture of a few trees: see `inference.sampler.Sampler` for the methods."""

    target: Target
    """With plain links."""
    first: Callable[[np.random.Generator, Target], tuple[np.ndarray, Parameters]]
    """As that of `TreeMixtureSampler`."""
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else tells this model from others, in JSON's types."""
    cells: Cells = dataclasses.field(init=False, repr=False)
    parallel = "processes"

    def __post_init__(self) -> None:
        if self.target.mode == RENORM or self.target.points.shape[1] > 0 or self.target.is_infinite:
            raise InvalidSettingError(
                'method="collapsed" sums all tables out: missing="renorm", continuous labels and n_states="infinite" '
                'do not allow it. Take method="gibbs".'
            )
        object.__setattr__(self, "cells", make_cells(self.target))

    @property
    def n_items(self) -> int:
        """Number of trees."""
        return self.target.n_trees

    def fingerprint(self) -> dict[str, Any]:
        """Settings, and hashes of the trees and of the hyperparameters."""
        return {**self.about, **fingerprint_of(self.target)}

    def start(self, rng: np.random.Generator) -> CollapsedState:
        """Labels of the start chosen, hidden states given its tables."""
        labels, parameters = self.first(rng, self.target)
        n_nodes = self.target.links.labels.size
        states, switches = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
        owner = self._tree_of_nodes()
        for k in range(parameters.n_components):
            found = draw_states(rng, self.target.links, Tables(*select(parameters.tables, k)), self.target.mode)
            own = labels[owner] == k
            states[own], switches[own] = found[0][own], found[1][own]
        return self._state(labels, states, switches, self.target.values)

    def _tree_of_nodes(self) -> np.ndarray:
        """Tree of every node: the last tree stands first."""
        sizes = -np.diff(self.target.links.roots, append=-1)
        return np.repeat(np.arange(self.n_items), sizes)[::-1]

    def _state(
        self, labels: np.ndarray, states: np.ndarray, switches: np.ndarray, values: np.ndarray
    ) -> CollapsedState:
        """A state of labels 0, 1, ..., everything counted."""
        n_used, n_rows = int(labels.max()) + 1, FIRST_ROWS
        while n_rows < 2 * n_used:
            n_rows *= 2
        mixture = Mixture(
            np.zeros((n_rows, self.cells.row.size)),
            np.zeros((n_rows, self.cells.size.size)),
            np.bincount(labels, minlength=n_rows),
            np.arange(n_rows),
            np.array([n_used]),
        )
        state = CollapsedState(labels.astype(np.int64), states, switches, mixture, np.array(values, float))
        self._count(state, mixture.counts, mixture.totals)
        return state

    def _count(self, state: CollapsedState, counts: np.ndarray, totals: np.ndarray) -> float:
        """Count all trees; log probability of their hidden states and labels given the partition."""
        target, found = self.target, 0.0
        used = np.empty(target.links.labels.size * (3 + target.n_positions), np.int64)
        for tree, row in enumerate(state.labels):
            n_used = cells_of_tree(target, self.cells, tree, state.states, state.switches, used)
            found += add_cells(self.cells, state.values, used, n_used, counts[row], totals[row])
        chosen = state.switches[(target.links.leaf_positions < 0) & (state.switches >= 0)]
        return found + float(np.log(target.links.child_shares[chosen]).sum())

    # ---- moves

    def move(self, rng: np.random.Generator, state: CollapsedState, step: Step) -> Mapping[str, int]:
        """One of "collapsed", "split-merge", "values"."""
        return chosen_move(MOVES, step)(self, rng, state, step)

    def _visit(self, rng: np.random.Generator, state: CollapsedState, step: Step) -> Mapping[str, int]:
        """Collapsed moves of all trees in turn, once per repeat."""
        tallies = np.zeros(len(VISIT_NAMES), np.int64)
        for _ in range(step.times):
            done = 0
            while done < self.n_items:
                done = visit_trees(
                    rng, self.target, self.cells, state.mixture, state.labels, state.states, state.switches,
                    state.values, done, tallies,
                )  # fmt: skip
                if done < self.n_items:
                    grow_rows(state)
        return dict(zip(VISIT_NAMES, tallies.tolist(), strict=True))

    def _split_merge(self, rng: np.random.Generator, state: CollapsedState, step: Step) -> Mapping[str, int]:
        """Split-merge moves with sequential allocation."""
        if self.n_items < 2:
            return {}
        tallies, left = np.zeros(len(TALLY_NAMES), np.int64), step.times
        while left:
            left -= sequential_moves(
                rng, self.target, self.cells, state.mixture, state.labels, state.states, state.switches, state.values,
                left, tallies,
            )  # fmt: skip
            if left:
                grow_rows(state)
        return dict(zip(TALLY_NAMES, tallies.tolist(), strict=True))

    def _values(self, rng: np.random.Generator, state: CollapsedState, step: Step) -> Mapping[str, int]:
        """Draw the concentration and the strengths that are learned."""
        in_use = state.mixture.order[: state.n_clusters]
        counts = as_counts(self.target, state.mixture.counts[in_use])
        for _ in range(step.times):
            draw_concentration(rng, self.target, state.n_clusters, state.values)
            draw_strengths(rng, self.target, counts, counts.switching, state.values)
        return {}

    # ---- what is stored

    def refresh(self, state: CollapsedState) -> None:
        """Number components by first appearance and count everything again."""
        fresh = self.unpack(self.pack(state))
        state.labels, state.mixture = fresh.labels, fresh.mixture

    def labels(self, state: CollapsedState) -> np.ndarray:
        """Labels by first appearance, in the smallest type that holds them."""
        out = np.empty(self.n_items, np.min_scalar_type(self.n_items - 1))
        normal_labels(state.labels, state.mixture.sizes.size, out)
        return out

    def pack(self, state: CollapsedState) -> dict[str, np.ndarray]:
        """Labels, hidden states and numbers."""
        return {
            "labels": self.labels(state),
            "states": state.states.copy(),
            "switches": state.switches.copy(),
            "values": state.values.copy(),
        }

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> CollapsedState:
        """The state of these arrays."""
        labels = arrays["labels"].astype(np.int64)
        return self._state(labels, arrays["states"].copy(), arrays["switches"].copy(), arrays["values"])

    def draw(self, state: CollapsedState) -> dict[str, np.ndarray]:
        """Labels."""
        return {"labels": self.labels(state)}

    def scalars(self, state: CollapsedState) -> dict[str, float]:
        """Log joint of labels, hidden states and trees, number of clusters, and all numbers that are learned."""
        target, mixture = self.target, state.mixture
        counts, totals = np.zeros_like(mixture.counts), np.zeros_like(mixture.totals)
        sizes = mixture.sizes[mixture.order[: state.n_clusters]]
        log_joint = float(log_crp(sizes, float(state.values[CONCENTRATION]))) + self._count(state, counts, totals)
        found = {
            "log_joint": log_joint + log_hyperprior(target, state.values),
            "n_clusters": float(state.n_clusters),
        }
        for name, value, (shape, _) in zip(ALL_NAMES, state.values, target.hyperpriors, strict=True):
            if not math.isnan(shape):
                found[name] = float(value)
        return found


MOVES: dict[str, Callable[[CollapsedTreeSampler, np.random.Generator, CollapsedState, Step], Mapping[str, int]]] = {
    "collapsed": CollapsedTreeSampler._visit,
    "split-merge": CollapsedTreeSampler._split_merge,
    "values": CollapsedTreeSampler._values,
}


def grow_rows(state: CollapsedState) -> None:
    """Twice as many rows."""
    old = state.mixture
    n_rows = old.sizes.size
    wider = [np.concatenate([part, np.zeros_like(part)]) for part in old[:-1]]
    state.mixture = Mixture._make([*wider, old.n_used])
    state.mixture.order[n_rows:] = np.arange(n_rows, 2 * n_rows)
