"""Trees of the benchmarks, and components that are passed over them."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.datasets import load_inex05, load_synthetic_trees, make_asymmetric_trees
from bayesgrove.datasets.home import is_present
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.engine import likelihoods_and_counts
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.parameters import make_prior, random_parameters
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, Tables
from bayesgrove.trees.forest import Forest
from benchmarks.timing import interleaved

MISSING = {"note": "not measured: set BAYESGROVE_DATA to the data's folder"}


def inex05(part: str = "train") -> TreeData | None:
    """INEX 2005, where it is."""
    return load_inex05(part=part).data if is_present("inex05") else None


def synthetic() -> TreeData:
    """The published synthetic trees where they are, else trees of the same law."""
    if is_present("synthetic_trees"):
        return load_synthetic_trees().data
    return make_asymmetric_trees(random_state=0)


def component(forest: Forest, n_states: int, seed: int) -> Tables:
    """Random tables of one component."""
    return random_parameters(generator(seed), make_prior(forest, n_states), 1).tables


def estep(links: Links, tables: Tables) -> Any:
    """Expected counts of one component that has all trees."""
    return likelihoods_and_counts(links, tables, BOTTOM_PRIOR, np.ones((1, links.roots.size)))


def cpu_seconds(work: Callable[[], Any]) -> float:
    """CPU seconds of a work: other processes on the machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each work, run in turns."""
    return {name: float(found["seconds"]) for name, found in interleaved(works, repeats).items()}
