"""Samplers of nested hierarchies as the estimators put them together, and states of known size to start from."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from papers.nested_cases import ANIMALS, Case, animals, fashion

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.rng import generator
from bayesgrove.datasets.nested import NestedTable
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.packing import stream_to_array
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.schedules import default_steps
from bayesgrove.models.nested.state import nodes_in_use
from bayesgrove.models.nested.target import make_target, sampled_means
from bayesgrove.stats.paths import path_nodes
from benchmarks.mixtures.data import home_of_data

NUMBERS = ("alpha", "gamma", "gamma0")
REFRESH = 20
"""Sweeps between two rebuilds of a state, as in `default_schedule`."""


def animal_rows() -> np.ndarray | None:
    """33 x 7 principal components of Animals, or None where the files are absent."""
    try:
        return animals(home_of_data()).X
    except InvalidFileError:
        return None


def fashion_case() -> Case | None:
    """100 x 10 principal components of images of clothes with their settings, or None where the files are absent."""
    try:
        return fashion(home_of_data())
    except InvalidFileError:
        return None


def make_sampler(
    X: np.ndarray, *, strength: float = 0.0, depth: int = ANIMALS["depth"], base_variance: float = 1.0, **numbers: float
) -> NestedSampler:
    """A sampler of Gaussian components with drawn means; at C > 0 with the published penalty."""
    values = [*(numbers.get(name, ANIMALS[name]) for name in NUMBERS), 1.0, base_variance, 1.0]
    penalty = {"penalty": PENALTIES["max"], "strength": strength, "margin": 1.0, "margin_data": X}
    options = penalty if strength > 0.0 else {}
    return NestedSampler(make_target(X, sampled_means(X), depth=depth, values=values, **options))


def steps_of(sampler: NestedSampler, **options: Any) -> tuple[Step, ...]:
    """The moves of a sweep."""
    return default_steps(penalty=sampler.is_penalised, **options)


def sweep(sampler: NestedSampler, rng: np.random.Generator, state: Any, steps: Sequence[Step], n: int) -> None:
    """So many sweeps, with the rebuilds that a chain makes."""
    for number in range(1, n + 1):
        for step in steps:
            sampler.move(rng, state, step)
        if number % REFRESH == 0:
            sampler.refresh(state)


def burnt_in(sampler: NestedSampler, seed: int, n_sweeps: int) -> tuple[Any, np.random.Generator]:
    """A state after so many default sweeps, and its generator."""
    rng = generator(seed)
    state = sampler.start(rng)
    sweep(sampler, rng, state, steps_of(sampler), n_sweeps)
    return state, rng


def state_at_truth(sampler: NestedSampler, table: NestedTable, seed: int) -> tuple[Any, np.random.Generator]:
    """Paths and components a table was made of, weights from their conditional law: near where a chain would settle."""
    rng = generator(seed)
    nodes = path_nodes(table.levels)
    n_nodes, n_slots = nodes.parent.size, len(table.means) + 1
    arrays = {
        "paths": table.levels.astype(np.int32),
        "components": table.components.astype(np.int32),
        "log_weights": np.full((n_nodes, n_slots), -np.log(n_slots)),
        "means": table.means.copy(),
        "values": sampler.target.values.copy(),
    }
    if sampler.is_penalised:
        width = sampler.target.margin_data.shape[1]
        arrays |= {
            "discriminants": rng.normal(size=(n_nodes - 1, width)),
            "stream": stream_to_array(generator(seed, 1)),
        }
    state = sampler.unpack(arrays)
    sampler.move(rng, state, Step("weights", 1, {"regraft": False}))
    return state, rng


def seconds_of(sampler: NestedSampler, rng: np.random.Generator, state: Any, n: int) -> float:
    """CPU seconds of so many default sweeps."""
    steps, start = steps_of(sampler), time.process_time()
    sweep(sampler, rng, state, steps, n)
    return time.process_time() - start


def size_of(state: Any) -> dict[str, int]:
    """Nodes, leaves and components of a state."""
    nodes, tree = nodes_in_use(state.tree), state.tree
    return {
        "nodes": int(nodes.size),
        "leaves": int(np.unique(tree.leaf).size),
        "components": int(np.count_nonzero(state.mixture.size)),
    }
