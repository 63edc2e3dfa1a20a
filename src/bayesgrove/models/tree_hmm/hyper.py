"""Hyperparameters: concentration of the Dirichlet process and strengths of the tables.

See docs/theory/tree-mixtures.md, Hyperparameters.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.mixture_target import (
    CONCENTRATION,
    EMISSION,
    INITIAL,
    SWITCHING,
    TRANSITION,
    Target,
)
from bayesgrove.models.tree_hmm.tables import RENORM, Counts, Shape, free_cells, free_transitions
from bayesgrove.stats.sampling import draw_slice

SLICE_WIDTH = 1.0
SMALLEST_LOG, LARGEST_LOG = math.log(1e-4), math.log(1e4)
"""Where learned strengths stay: smaller ones would let cells of the tables underflow."""


def draw_concentration(rng: np.random.Generator, target: Target, n_clusters: int, values: np.ndarray) -> None:
    """Draw the concentration given the number of clusters, by Escobar and West's auxiliary variable."""
    shape, rate = target.hyperpriors[CONCENTRATION].tolist()
    if math.isnan(shape):
        return
    n_trees, gamma = target.n_trees, float(values[CONCENTRATION])
    rate -= math.log(rng.beta(gamma + 1.0, n_trees))
    odds = (shape + n_clusters - 1.0) / (n_trees * rate)
    shape += n_clusters if rng.random() * (1.0 + odds) < odds else n_clusters - 1.0
    values[CONCENTRATION] = max(rng.standard_gamma(shape) / rate, 1e-300)


def free_strengths(target: Target) -> list[int]:
    """Which strengths are learned given counts, as places among the values; continuous labels have none."""
    places = [EMISSION, SWITCHING] if target.is_infinite else [INITIAL, EMISSION, SWITCHING, TRANSITION]
    free = [place for place in places if not math.isnan(target.hyperpriors[place, 0])]
    return [place for place in free if place != EMISSION or target.points.shape[1] == 0]


def draw_strengths(
    rng: np.random.Generator, target: Target, counts: Counts, switching: np.ndarray, values: np.ndarray
) -> None:
    """Draw the strengths that are learned given drawn counts, tables summed out, by slices of their logarithms.

    Where switching is renormalised its tables (K, L) are not conjugate: its strength is drawn given them.
    """
    for place in free_strengths(target):
        given = None
        if place == SWITCHING and target.mode == RENORM:
            cells = np.log(np.maximum(switching, 1e-300)).sum()
            given = (float(cells), *switching.shape)
        rows = cells_and_totals(place, counts, target.shape)
        shape, rate = target.hyperpriors[place].tolist()

        def log_density(log_strength: float, rows=rows, shape=shape, rate=rate, given=given) -> float:
            strength = math.exp(log_strength)
            found = shape * log_strength - rate * strength  # the Jacobian of the logarithm is in it
            if given is not None:
                return found + log_symmetric(strength, *given)
            return found + log_marginal(strength, *rows)

        start = math.log(values[place])
        limits = (SMALLEST_LOG, LARGEST_LOG)
        values[place] = math.exp(draw_slice(rng, start, log_density, width=SLICE_WIDTH, limits=limits))


def cells_and_totals(place: int, counts: Counts, shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of one family: counts above 0 of its cells; totals and numbers of cells of the rows that have any."""
    n_positions, n_states, n_labels, _ = shape
    if place == INITIAL:
        free = free_cells(shape)
        table, sizes = np.where(free, counts.initial, 0.0), np.broadcast_to(free.sum(1), counts.initial.shape[:2])
    elif place == EMISSION:
        table = np.swapaxes(counts.emission, 1, 2)
        sizes = np.full(table.shape[:2], n_labels)
    elif place == SWITCHING:
        table, sizes = counts.switching[:, None], np.full((len(counts.switching), 1), n_positions)
    else:
        table = np.where(free_transitions(shape), counts.transition, 0.0)
        sizes = np.full(table.shape[:3], n_states)
    totals = table.sum(-1)
    used = totals > 0.0
    return table[table > 0.0], totals[used], sizes[used].astype(float)


@kernel
def log_marginal(strength, cells, totals, sizes):
    """Log probability of counts under symmetric Dirichlet rows, without what does not depend on the strength."""
    found, alone = 0.0, math.lgamma(strength)
    for cell in cells:
        found += math.lgamma(strength + cell) - alone
    for row in range(totals.size):
        found += math.lgamma(sizes[row] * strength) - math.lgamma(sizes[row] * strength + totals[row])
    return found


def log_symmetric(strength: float, sum_of_logs: float, n_rows: int, n_cells: int) -> float:
    """Log density of rows under a symmetric Dirichlet, from the sum of the logs of all cells."""
    found = n_rows * (math.lgamma(n_cells * strength) - n_cells * math.lgamma(strength))
    return found + (strength - 1.0) * sum_of_logs
