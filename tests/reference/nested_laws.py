"""Chains of the compiled sampler of nested hierarchies against exact laws of four data and two levels."""

import json
import math
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.target import NO_PENALTY, VALUE_NAMES, make_target, sampled_means
from bayesgrove.stats.testing import (
    autocorrelation_time,
    batch_means,
    g_test,
    partition_codes,
    standardise,
    total_variation,
)
from conftest import find_shared_file
from reference.nested import Model, tree_key
from reference.nested_exact import Law, exact_law, expected_factors

N_FACTOR_DRAWS = 200_000
LARGEST_Z = 4.4
N_BATCHES = 40
THINNING = 2.0
"""Draws so many autocorrelation times apart are counted: what is left of a correlation is about exp(-4)."""


class Chain(NamedTuple):
    """Trees, components and numbers after each sweep."""

    trees: np.ndarray
    """Place of the tree in the law."""
    levels: np.ndarray
    """(n_sweeps, 2, n): a node of each datum at levels 1 and 2."""
    components: np.ndarray
    values: np.ndarray


class Agreement(NamedTuple):
    """How a chain agrees with the exact law."""

    p_trees: float
    p_joint: float
    """Of (tree, component partition)."""
    total_variation: float
    worst_z: float
    """Of numbers of level-1 nodes, leaves and components, value by value."""
    rms_z: float
    """Over the trees of more than 1 %."""
    time: float


@cache
def golden():
    """The golden file."""
    return json.loads(find_shared_file("golden/bhmc.json").read_text())


def golden_inputs(name: str) -> dict:
    """Inputs of a golden data set."""
    return golden()["trees_N4_L2"]["AB".index(name)]["inputs"]


def twin_of(name: str, penalty: str = "max", strength: float = 0.0) -> Model:
    """The twin's model of a golden data set."""
    inputs = golden_inputs(name)
    return Model(np.array(inputs["X"], float), 2, strength=strength, margin=inputs["eps0"], penalty=penalty)


@cache
def law_of(name: str, penalty: str = "max", strength: float = 0.0, n_draws: int = N_FACTOR_DRAWS) -> tuple[Law, float]:
    """The exact law, and the largest relative standard error of E[R] among its factors."""
    inputs, model = golden_inputs(name), twin_of(name, penalty, strength)
    factors, error = None, 0.0
    given = golden()["trees_N4_L2"]["AB".index(name)]
    if strength == inputs["C"] != 0.0 and penalty == "max":
        factors, error = np.array(given["ER"]), float(np.max(np.array(given["ER_se"]) / given["ER"]))
    elif strength > 0.0:
        factors, errors = expected_factors(model, n_draws, 1)
        error = float((errors / factors).max())
    numbers = {key: inputs[key] for key in ("alpha", "gamma", "gamma0", "s2", "h2")}
    return exact_law(model, factors, **numbers), error


def sampler_of(name: str, penalty: str = "", strength: float = 0.0, hyperpriors=None, **options) -> NestedSampler:
    """The compiled sampler of a golden data set."""
    inputs = golden_inputs(name)
    data = np.array(inputs["X"], float)
    target = make_target(
        data,
        sampled_means(data),
        depth=2,
        values=[inputs["alpha"], inputs["gamma"], inputs["gamma0"], inputs["s2"], inputs["h2"], inputs["nu0"] ** 2],
        hyperpriors=hyperpriors,
        penalty=PENALTIES[penalty] if penalty else NO_PENALTY,
        strength=strength,
        margin=inputs["eps0"],
        margin_data=data if penalty else None,
    )
    return NestedSampler(target, **options)


def run(sampler, steps, n_sweeps: int, seed: int, law: Law, *, n_tune=200, first=lambda state: state) -> Chain:
    """A chain from the sampler's own start; `first` gives the state looked at where there are several."""
    rng = generator(seed)
    state, n_rows = sampler.start(rng), len(law.trees[0][0])
    levels, components = np.empty((n_sweeps, 2, n_rows), np.int64), np.empty((n_sweeps, n_rows), np.int64)
    values = np.empty((n_sweeps, len(VALUE_NAMES)))
    for sweep in range(-n_tune, n_sweeps):
        for step in steps:
            sampler.move(rng, state, step)
        if sweep >= 0:
            tree, mixture = first(state).tree, first(state).mixture
            levels[sweep, 0], levels[sweep, 1] = tree.parent[tree.leaf], tree.leaf
            components[sweep], values[sweep] = mixture.component, first(state).values
    return Chain(tree_places(levels, law), levels, components, values)


def tree_places(levels: np.ndarray, law: Law) -> np.ndarray:
    """Place of each visited tree in the law."""
    n_rows = levels.shape[2]
    known = {code: place for place, code in enumerate(tree_codes(np.array(law.trees)).tolist())}
    codes, places = np.unique(tree_codes(levels), return_inverse=True)
    assert len(known) == len(law.trees)
    assert n_rows == len(law.trees[0][0])
    return np.array([known[code] for code in codes.tolist()])[places]


def tree_codes(levels: np.ndarray) -> np.ndarray:
    """A number for each tree of two levels, equal for equal trees."""
    return partition_codes(levels[:, 0]) * levels.shape[2] ** levels.shape[2] + partition_codes(levels[:, 1])


def n_blocks(labels: np.ndarray) -> np.ndarray:
    """Number of different labels in each row."""
    ordered = np.sort(labels, axis=1)
    return 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1)


def series_of(chain: Chain, law: Law) -> dict[str, np.ndarray]:
    """What tells how long a chain remembers."""
    log_p = np.log(np.maximum(law.probabilities, 1e-12))
    return {
        "level 1": n_blocks(chain.levels[:, 0]),
        "leaves": n_blocks(chain.levels[:, 1]),
        "components": n_blocks(chain.components),
        "log p": log_p[chain.trees],
        "one leaf": (n_blocks(chain.levels[:, 1]) == 1).astype(float),
    }


def memory(series: dict[str, np.ndarray]) -> float:
    """The longest autocorrelation time of series that change."""
    return max(autocorrelation_time(values) for values in series.values() if np.ptp(values) > 0)


def agreement(chain: Chain, law: Law, error: float = 0.0) -> Agreement:
    """All comparisons of acceptance 7 and 8; `error` is the relative standard error of the law itself."""
    series = series_of(chain, law)
    time = memory(series)
    kept = slice(None, None, max(1, math.ceil(THINNING * time)))
    n_trees = len(law.trees)
    counts = np.bincount(chain.trees, minlength=n_trees)
    p_trees = g_test(np.bincount(chain.trees[kept], minlength=n_trees), law.probabilities).p_value
    z = [
        number_z(values, expected, error)
        for values, expected in zip(
            (series["level 1"], series["leaves"], series["components"]),
            (law.level_1(), law.leaves(), law.components()),
            strict=True,
        )
    ]
    large = np.flatnonzero(law.probabilities > 0.01)
    cells = indicator_z(chain.trees[:, None] == large, law.probabilities[large], error)
    return Agreement(
        p_trees,
        p_of_joint(chain, law, kept),
        total_variation(counts, law.probabilities),
        float(np.max(np.abs(z))),
        float(np.sqrt(np.mean(cells**2))),
        time,
    )


def p_of_joint(chain: Chain, law: Law, kept: slice) -> float:
    """p-value of the thinned draws of (tree, component partition)."""
    place = {tree_key(levels): k for k, levels in enumerate(law.trees)}
    size = chain.components.shape[1] ** chain.components.shape[1]
    labels = np.array([labels for _, labels in law.joint])
    known = np.array([place[tree] for tree, _ in law.joint]) * size + partition_codes(labels)
    visited = chain.trees[kept] * size + partition_codes(chain.components[kept])
    order = np.argsort(known)
    at = order[np.searchsorted(known[order], visited)]
    assert (known[at] == visited).all()
    probabilities = np.array(list(law.joint.values()))
    return g_test(np.bincount(at, minlength=known.size), probabilities).p_value


def number_z(values: np.ndarray, expected: np.ndarray, error: float) -> float:
    """The largest |z| over the values 1, 2, ... of a number."""
    each = indicator_z(values[:, None] == np.arange(1, expected.size + 1), expected, error)
    return float(np.abs(each).max())


def indicator_z(indicators: np.ndarray, expected: np.ndarray, error: float) -> np.ndarray:
    """z of each column's frequency by batch means; cells that never happened count by their Poisson chance.

    A value of probability p that no draw had is as surprising as exp(-n p) of free draws; its z is 0 where that is
    above 1e-4.
    """
    batches = batch_means(indicators, N_BATCHES)
    errors = np.hypot(batches.std(axis=0, ddof=1) / math.sqrt(N_BATCHES), error * expected)
    unseen = errors <= error * expected
    z = standardise(batches.mean(axis=0) - expected, errors)
    return np.where(unseen & (len(indicators) * expected < 9.2), 0.0, z)
