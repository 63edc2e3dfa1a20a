"""Independent draws from a variational approximation, in the form of the states that chains of a hierarchy have."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.models.nested.packing import unpacked
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.state import State
from bayesgrove.models.nested.target import GAMMA, GAMMA0
from bayesgrove.models.nested.variational import Approximation, Means, means_of, rows_of
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.paths import number_paths, path_nodes
from bayesgrove.stats.sampling import draw_log_dirichlet

DRAW = Step("draw")


def draw_schedule(thin: int) -> Schedule:
    """A draw after the other; independent draws need no burn-in."""
    return Schedule((DRAW,), (DRAW,), 0, thin)


@dataclasses.dataclass(frozen=True, eq=False)
class VariationalSampler(NestedSampler):
    """Draws of an approximation of the target's posterior."""

    approximation: Any = None
    """An `Approximation`."""

    def start(self, rng: np.random.Generator) -> State:
        """A draw."""
        means = means_of(rows_of(self.target.data), self.approximation)
        return unpacked(self.target, draw_arrays(rng, self.approximation, means))

    def move(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Another draw in place of the state."""
        fresh = self.start(rng)
        state.tree, state.mixture, state.margins = fresh.tree, fresh.mixture, fresh.margins
        return {}


def draw_arrays(rng: np.random.Generator, given: Approximation, means: Means) -> dict[str, np.ndarray]:
    """A draw as `packing.drawn` has it: components by first appearance, each with a row."""
    below = np.cumsum(given.share, axis=1)
    chosen = (below > rng.random(len(below))[:, None] * below[:, -1:]).argmax(axis=1)
    chosen[given.anchor] = np.arange(given.anchor.size)
    components = relabel(chosen)
    order = np.empty(given.anchor.size, np.int64)
    order[components] = chosen
    noise = rng.standard_normal(means.mean.shape) * np.sqrt(means.variance)[:, None]
    return {
        "paths": number_paths(given.layout[chosen]).astype(np.int32),
        "components": components.astype(np.int32),
        "log_weights": draw_log_weights(rng, number_paths(given.layout[order]), np.bincount(components), given.values),
        "means": (means.mean + noise)[order],
        "values": given.values.copy(),
    }


def draw_log_weights(rng: np.random.Generator, layout: np.ndarray, size: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Log weights of all nodes, the remainder first, given one table for each component in each of its nodes."""
    nodes = path_nodes(layout)
    found = np.empty((nodes.parent.size, size.size + 1))
    found[0] = draw_log_dirichlet(rng, np.append(values[GAMMA0], np.ones(size.size)))
    for node in range(1, nodes.parent.size):  # parents come first
        tables = np.append(0.0, (nodes.node == node).any(axis=1))
        if nodes.level[node] == layout.shape[1]:
            tables[1:] *= size
        found[node] = draw_log_dirichlet(rng, values[GAMMA] * np.exp(found[nodes.parent[node]]) + tables)
    return found
