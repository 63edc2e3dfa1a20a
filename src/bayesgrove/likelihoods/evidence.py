"""Evidence of a single column under each family, as a mixture over clusters.

A column that has clusters must not be taken for a heavy-tailed one, so its cells are compared as a Dirichlet process
mixture with concentration 1. The sum over all partitions is replaced by the sum over those into intervals of the sorted
cells, which a recursion over the ends of intervals gives exactly,

    f(e) = log sum over s < e of exp(f(s) + lgamma(e - s) + log p(cells s .. e - 1)),

and hyperparameters are averaged over a small grid about the column's moments. Log evidences are comparable between
families: of whole numbers they are log probabilities, of other columns log densities in the column's unit. Cells that
are rounded to a step enter Gaussian families with the variance of their rounding (`GaussianDiagonal`).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, logsumexp

from bayesgrove.likelihoods.coordinates import column_grain
from bayesgrove.stats.special import LOG_2PI

MOST_EDGES = 100
"""Places at which intervals may end; of more distinct values the widest gaps of as many runs of them are taken."""
NARROWNESS = (1.0, 0.2, 0.04, 0.008, 1e-4, 1e-6)
"""Variance within clusters in shares of the column's variance, and strength of the prior on their means."""
SHAPES = (1.0, 4.0)
COUNT_SHAPES = (0.3, 1.0, 3.0, 30.0)
DISPERSIONS = (0.3, 0.6, 1.2, 2.5, 5.0, 10.0, 25.0)
"""Of negative binomial counts: the variance is mean + mean^2 / dispersion."""
PSEUDO_COUNTS = (0.1, 0.5, 2.0)


class Cells(NamedTuple):
    """Sorted cells of a column, where intervals of them may end, and the step to which they are rounded."""

    sorted: np.ndarray
    edges: np.ndarray
    first: np.ndarray
    """Edge at which each interval starts."""
    last: np.ndarray
    """Edge at which each interval ends."""
    grain: float

    @property
    def size(self) -> np.ndarray:
        """Number of cells in each interval."""
        return self.edges[self.last] - self.edges[self.first]

    def total(self, numbers: np.ndarray) -> np.ndarray:
        """Sum over the cells of each interval of numbers that belong to the cells."""
        sums = np.concatenate([[0.0], np.cumsum(numbers)])[self.edges]
        return sums[self.last] - sums[self.first]


def cells_of(values: np.ndarray, grain: float | None = None) -> Cells:
    """The observed cells of a column, ready for `EVIDENCES`."""
    cells = np.sort(values[~np.isnan(values)])
    edges = np.flatnonzero(np.diff(cells) > 0.0) + 1
    if edges.size > MOST_EDGES:
        runs = np.array_split(edges, MOST_EDGES)
        edges = np.array([run[np.argmax(cells[run] - cells[run - 1])] for run in runs])
    edges = np.concatenate([[0], edges, [cells.size]])
    first, last = np.triu_indices(edges.size, 1)
    return Cells(cells, edges, first, last, column_grain(cells) if grain is None else grain)


def mixture_evidence(cells: Cells, log_marginals: np.ndarray) -> float:
    """Log evidence from log marginals of all intervals, shape (n_settings, n_intervals), averaged over settings."""
    n_edges = cells.edges.size
    weights = np.full((len(log_marginals), n_edges, n_edges), -np.inf)
    weights[:, cells.last, cells.first] = log_marginals + gammaln(cells.size)
    total = np.zeros((len(log_marginals), n_edges))
    for end in range(1, n_edges):
        terms = total[:, :end] + weights[:, end, :end]
        top = terms.max(axis=1)
        total[:, end] = top + np.log(np.exp(terms - top[:, np.newaxis]).sum(axis=1))
    found = logsumexp(total[:, -1]) - math.log(len(log_marginals))
    return float(found - gammaln(cells.sorted.size + 1.0))


def normal_marginals(cells: Cells, numbers: np.ndarray, rounding: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Log marginals of intervals under normal-gamma priors; only cells that are `counted` enter.

    Parameters
    ----------
    cells : Cells
    numbers : ndarray
        The cells on the scale on which they are normal, in their order.
    rounding : ndarray
        Variance of the rounding of each.
    counted : ndarray of bool
    """
    centre, spread = numbers[counted].mean(), numbers[counted].std() or 1.0
    z = np.where(counted, (numbers - centre) / spread, 0.0)
    n, first, second = cells.total(counted * 1.0), cells.total(z), cells.total(z * z)
    mean = first / np.maximum(n, 1.0)
    squares = np.maximum(second - n * mean**2, 0.0) + cells.total(np.where(counted, rounding, 0.0)) / spread**2
    settings = [(share, shape) for share in NARROWNESS for shape in SHAPES]
    rows = [normal_marginal(n, mean, squares, *setting) - n * math.log(spread) for setting in settings]
    return np.array(rows)


def normal_marginal(n: np.ndarray, mean: np.ndarray, squares: np.ndarray, share: float, shape: float) -> np.ndarray:
    """Log marginals of standardised cells whose clusters have about this share of the variance."""
    strength, rate = share, share * shape
    rate_n = rate + 0.5 * squares + 0.5 * strength * n / (strength + n) * mean**2
    gammas = gammaln(shape + 0.5 * n) - gammaln(shape) + shape * math.log(rate) - (shape + 0.5 * n) * np.log(rate_n)
    return gammas + 0.5 * np.log(strength / (strength + n)) - 0.5 * n * LOG_2PI


def gaussian(cells: Cells) -> np.ndarray:
    """Normal cells."""
    everything = np.ones(cells.sorted.size, bool)
    return normal_marginals(cells, cells.sorted, np.full(cells.sorted.size, cells.grain**2 / 12.0), everything)


def log_gaussian(cells: Cells) -> np.ndarray:
    """Positive cells whose logarithms are normal, with the change of measure."""
    return positive_marginals(cells, np.ones(cells.sorted.size, bool))


def positive_marginals(cells: Cells, counted: np.ndarray) -> np.ndarray:
    """Those of the cells that are counted are log-normal."""
    safe = np.where(counted, cells.sorted, 1.0)
    logs = np.log(safe)
    return normal_marginals(cells, logs, (cells.grain / safe) ** 2 / 12.0, counted) - cells.total(logs)


def zero_inflated(cells: Cells) -> np.ndarray:
    """Zeros with a probability, else log-normal; a zero stands for all that is rounded to it."""
    is_positive = cells.sorted > 0.0
    n_positive = cells.total(is_positive * 1.0)
    n_zeros = cells.size - n_positive
    width = 1.0 if np.array_equal(cells.sorted, np.floor(cells.sorted)) else cells.grain
    zeros = betaln(0.5 + n_zeros, 0.5 + n_positive) - betaln(0.5, 0.5) - n_zeros * math.log(width)
    return positive_marginals(cells, is_positive) + zeros


def poisson(cells: Cells) -> np.ndarray:
    """Counts whose mean has a gamma prior."""
    n, total, factorials = cells.size, cells.total(cells.sorted), cells.total(gammaln(cells.sorted + 1.0))
    shape = np.array(COUNT_SHAPES)[:, np.newaxis]
    rate = shape / cells.sorted.mean()
    gammas = gammaln(shape + total) - gammaln(shape) - factorials
    return gammas + shape * np.log(rate) - (shape + total) * np.log(rate + n)


def negative_binomial(cells: Cells) -> np.ndarray:
    """Over-dispersed counts; given the dispersion, the probability of success has a beta prior."""
    n, total, mean = cells.size, cells.total(cells.sorted), cells.sorted.mean()
    rows = []
    for dispersion in DISPERSIONS:
        each = gammaln(cells.sorted + dispersion) - gammaln(dispersion) - gammaln(cells.sorted + 1.0)
        for shape in COUNT_SHAPES[1:]:
            a, b = shape + 1.0, shape * mean / dispersion
            rows.append(cells.total(each) + betaln(a + n * dispersion, b + total) - betaln(a, b))
    return np.array(rows)


def categorical(cells: Cells) -> np.ndarray:
    """Different values are categories, as many as there are steps between the least and the largest."""
    numbers, counts = np.unique(cells.sorted, return_counts=True)
    k, unit = numbers.size, step_of(numbers)
    alpha = np.array(PSEUDO_COUNTS)[:, np.newaxis]
    each = np.repeat((gammaln(alpha + counts) - gammaln(alpha)) / counts, counts, axis=1)
    sums = np.array([cells.total(row) for row in each])
    return sums + gammaln(k * alpha) - gammaln(k * alpha + cells.size) - cells.size * math.log(unit)


def step_of(numbers: np.ndarray) -> float:
    """The smallest gap between different numbers."""
    return float(np.diff(numbers).min()) if numbers.size > 1 else 1.0


EVIDENCES: dict[str, Callable[[Cells], np.ndarray]] = {
    "gaussian": gaussian,
    "log-gaussian": log_gaussian,
    "zero-inflated": zero_inflated,
    "poisson": poisson,
    "negative-binomial": negative_binomial,
    "ordinal": categorical,
    "categorical": categorical,
}
"""Log marginals of the intervals of a column by the name of a family; a row for each setting of hyperparameters."""
