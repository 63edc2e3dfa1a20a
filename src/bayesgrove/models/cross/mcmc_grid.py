"""The columns' numbers on grids, drawn from their exact conditionals (section 9.4, "grid")."""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import BERNOULLI, BINOMIAL, CATEGORICAL, GAUSSIAN, N_PARAMS, POISSON
from bayesgrove.models.cross.mcmc_hyper import choose_numbers
from bayesgrove.models.cross.mcmc_target import Target

N_POINTS, FACTOR = 31, 50.0
LEARNED = {BERNOULLI: (0, 1), BINOMIAL: (1, 2), CATEGORICAL: (0,), POISSON: (0, 1), GAUSSIAN: (0, 1, 2, 3)}
"""Places of the numbers with a grid."""


def default_grids(target: Target, params: np.ndarray, n_points: int = N_POINTS) -> np.ndarray:
    """Log-spaced from a fiftieth to fifty times each number, a Gaussian's mean between the smallest and largest cell.

    NaN where a number is not learned.
    """
    grids = np.full((target.family.size, N_PARAMS, n_points), np.nan)
    factors = np.exp(np.linspace(-math.log(FACTOR), math.log(FACTOR), n_points))
    for j, family in enumerate(target.family):
        for place in LEARNED.get(int(family), ()):
            grids[j, place] = params[j, place] * factors
        cells = target.by_column[j][~np.isnan(target.by_column[j])]
        if family == GAUSSIAN:
            low, high = (cells.min(), cells.max()) if cells.size else (-1.0, 1.0)
            grids[j, 0] = np.linspace(low, high, n_points)
    return grids


@kernel
def draw_on_grids(rng, target, views, params, tables, beta, grids, share):
    """One draw of each number that has a grid, of a random share of the columns."""
    candidates = np.empty((grids.shape[2], params.shape[1]))
    for j in range(target.family.size):
        if share < 1.0 and rng.random() >= share:
            continue
        for place in range(params.shape[1]):
            if math.isnan(grids[j, place, 0]):
                continue
            for c in range(len(candidates)):
                for q in range(params.shape[1]):
                    candidates[c, q] = params[j, q]
                candidates[c, place] = grids[j, place, c]
            choose_numbers(rng, target, views, params, tables, beta, j, candidates)
