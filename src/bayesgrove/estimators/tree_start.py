"""What a mixture of trees decides before its chains: whether positions matter, the prior, where to begin."""

import logging
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.estimators.tree_inputs import check_strength
from bayesgrove.inference.description import spread
from bayesgrove.inference.posterior import Posterior
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.edge_choice import fit_better_hierarchy
from bayesgrove.models.tree_hmm.edge_mixture import uses_of
from bayesgrove.models.tree_hmm.edge_search import EdgeStart
from bayesgrove.models.tree_hmm.positions import PositionsChoice, choose_positions
from bayesgrove.stats.partitions import relabel

POSITIONS_PATH, EDGES_PATH = 0x9051, 0xED6E
SPARSE_EMISSION = 0.02
"""Strength of the emission prior of documents: each kind uses few of many labels."""
MOST_SCORED = 50


def positions_of(data: TreeData, model: Any, seed: int) -> PositionsChoice:
    """Whether children share one position, with the reason in the log."""
    wanted = "own" if model.method == "paper" and model.positions == "auto" else model.positions
    choice = choose_positions(generator(seed, POSITIONS_PATH), data.forest, wanted, model.missing)
    if wanted == "auto":
        logging.getLogger("bayesgrove").info("%s", choice.sentence)
    return choice


def default_strength(given: Any, *, is_shared: bool) -> Any:
    """The strengths given; by default 1, and a sparse prior of emissions where positions are shared."""
    if given is None:
        given = {"emission": SPARSE_EMISSION} if is_shared else 1.0
    return check_strength(given, may_learn=True)


def edge_start(data: TreeData, model: Any, seed: int, *, is_shared: bool) -> EdgeStart | None:
    """The partition by the mixture of edges, where that is where the fit begins."""
    wants = isinstance(model.init, str) and (model.init == "labels" or (model.init == "auto" and is_shared))
    if not wants or model.method == "paper":
        return None
    if data.forest.values is not None:
        raise InvalidSettingError('init="labels" counts labels, and those of these trees are numbers. Take "vb".')
    start = fit_better_hierarchy(generator(seed, EDGES_PATH), uses_of(data.forest))
    n_clusters = int(start.fit.labels.max()) + 1
    logging.getLogger("bayesgrove").info("the mixture of edges begins with %d clusters", n_clusters)
    return start


def estimate_with_start(start: EdgeStart | None, labels: np.ndarray, posterior: Posterior, estimate: str) -> np.ndarray:
    """The point estimate, or the partition the fit began with where that is more probable under the mixture of edges.

    "map" compares draws by that score too: densities of tables do not compare numbers of clusters.
    """
    if start is None:
        return labels
    flat = posterior.labels.reshape(-1, posterior.n_items)
    chosen = [flat[place] for place in spread(len(flat), MOST_SCORED)] if estimate == "map" else [labels]
    return relabel(start.best_of(chosen))
