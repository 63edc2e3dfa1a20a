"""Questions about a table's trees: which rows are alike, how much one column tells about another, simulated rows."""

import math

import numpy as np

from bayesgrove.agglomeration.predictive import draw_from_nodes
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.families import IS_REAL
from bayesgrove.models.cross.cell_mixtures import CellMixtures, support_sizes
from bayesgrove.models.cross.tree_rows import ViewMixture, line_densities, some_columns, view_log_density
from bayesgrove.trees import Tree, neighbours_together

MOST_VALUES = 2_000
"""Values of a column up to which mutual information is summed, not drawn."""


def together(tree: Tree, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Probability that rows share a cluster in a view, (len(rows), len(others))."""
    place = np.empty(tree.n_leaves, np.int64)
    place[tree.leaf_order] = np.arange(tree.n_leaves)
    return least_between(neighbours_together(tree), place[rows], place[others])


@kernel
def least_between(neighbours, places, others):
    """Smallest number between two places of a line, 1 for a place itself."""
    n = neighbours.size + 1
    out, line = np.empty((places.size, others.size)), np.empty(n)
    for r in range(places.size):
        line[places[r]] = 1.0
        for p in range(places[r] + 1, n):
            line[p] = min(line[p - 1], neighbours[p - 1])
        for p in range(places[r] - 1, -1, -1):
            line[p] = min(line[p + 1], neighbours[p])
        for o in range(others.size):
            out[r, o] = line[others[o]]
    return out


def view_information(mixture: ViewMixture, rng: np.random.Generator, n_samples: int) -> tuple[float, float]:
    """Mutual information of the two columns of a mixture, and its standard error: 0 where it is summed."""
    if not IS_REAL[mixture.prior.family].any():
        sizes = n_values(mixture)
        if sizes.max() <= MOST_VALUES:
            return summed_information(mixture, sizes), 0.0
    return drawn_information(mixture, rng, n_samples)


def n_values(mixture: ViewMixture) -> np.ndarray:
    """Number of values of both columns, those of counts up to a negligible rest."""
    start, n_terms = mixture.prior.start, len(mixture.rows)
    out = []
    for j in range(2):
        stats = np.ascontiguousarray(mixture.rows[:, start[j] : start[j + 1]])
        cell = CellMixtures(np.array([j]), np.array([0, n_terms]), mixture.log_weight, stats)
        out.append(support_sizes(mixture.prior, *cell)[0])
    return np.array(out)


def summed_information(mixture: ViewMixture, sizes: np.ndarray) -> float:
    """Sum over all pairs of values."""
    chances = []
    for j in range(2):
        own = np.exp(line_densities(mixture.prior, mixture.rows, j, np.arange(float(sizes[j]))))
        chances.append(own / own.sum(axis=0))
    joint = (chances[0] * np.exp(mixture.log_weight)) @ chances[1].T
    joint /= joint.sum()
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0.0
    return max(0.0, float((joint[seen] * np.log(joint[seen] / apart[seen])).sum()))


def drawn_information(mixture: ViewMixture, rng: np.random.Generator, n_samples: int) -> tuple[float, float]:
    """Mean of log p(a, b) - log p(a) - log p(b) over draws."""
    drawn = np.empty((n_samples, 2))
    chosen = draw_components(rng, mixture.log_weight, n_samples)
    draw_from_nodes(mixture.prior, rng, mixture.rows, chosen, drawn)
    logs = view_log_density(mixture, drawn)
    for j in range(2):
        logs -= view_log_density(some_columns(mixture, np.array([j])), drawn[:, [j]])
    return float(logs.mean()), float(logs.std(ddof=1)) / math.sqrt(n_samples)


def draw_components(rng: np.random.Generator, log_weight: np.ndarray, n: int) -> np.ndarray:
    """Numbers of components by their weights."""
    reached = np.cumsum(np.exp(log_weight - log_weight.max()))
    return np.searchsorted(reached, rng.random(n) * reached[-1], side="right").clip(max=reached.size - 1)


@kernel
def draw_views(rng, parent, log_one, n):
    """Whether each node is one of the views of a draw, (n, n_nodes); `log_one` is given that it is not parted above."""
    out = np.zeros((n, parent.size), np.bool_)
    for d in range(n):
        is_open = np.zeros(parent.size, np.bool_)
        for node in range(parent.size - 1, -1, -1):
            if parent[node] == NULL or is_open[parent[node]]:
                if rng.random() < math.exp(log_one[node]):
                    out[d, node] = True
                else:
                    is_open[node] = True
    return out
