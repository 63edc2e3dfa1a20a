"""Results of hierarchies of fixed depth made by hand, for pictures and reports."""

import numpy as np

from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.inference.path_trees import hierarchy_tree
from bayesgrove.inference.result import Result
from bayesgrove.stats.paths import number_paths

NAMES = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay")
LEVELS = np.array([[0, 0], [0, 0], [0, 1], [1, 2], [1, 2], [1, 3], [1, 3], [2, 4], [2, 4], [2, 4]])


def shaken_paths(levels, n_chains, n_draws, seed=0, share=0.1):
    """Draws of paths in which some rows follow others."""
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(n_chains * n_draws):
        moved = np.where(rng.random(len(levels)) < share, rng.integers(0, len(levels), len(levels)), range(len(levels)))
        draws.append(number_paths(levels[moved]))
    return np.array(draws).reshape(n_chains, n_draws, *levels.shape)


def hierarchy_result(levels=LEVELS, names=NAMES, n_chains=2, n_draws=30):
    """A result with draws around some levels and scores."""
    paths = shaken_paths(levels, n_chains, n_draws)
    cdl = np.random.default_rng(1).normal(size=paths.shape[:2])
    posterior = PathPosterior.from_paths(paths, {"cdl": cdl, "rcdl": cdl - 2.0})
    tree = hierarchy_tree(posterior, levels, names)
    labels = number_paths(levels)[:, -1]
    return Result("BHMC", labels, tree, None, None, ("x",), {}, posterior=posterior)
