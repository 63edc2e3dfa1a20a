"""Evidence of a single column under each family, as a mixture over clusters.

A column that has clusters must not be taken for a heavy-tailed one, so its cells are compared as a Dirichlet process
mixture with concentration 1. The most probable partition z of the sorted cells into intervals is found by dynamic
programming over their ends; the sum over all partitions is estimated as if each cell chose its cluster by itself,

    log evidence = max over z of log p(cells, z) - sum over cells of log r,

where r is the probability that a cell belongs to its cluster rather than to another, given all other cells.
Hyperparameters are averaged over a small grid about the column's moments. Log evidences are comparable between
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
NARROWEST_SCALE, N_SCALES, FREE_ODDS = 0.35, 6, 0.1
"""Of ordinal columns: scales in steps between levels, and prior odds of free probabilities."""


class Cells(NamedTuple):
    """Sorted cells of a column, where intervals of them may end, and the step to which they are rounded."""

    sorted: np.ndarray
    edges: np.ndarray
    grain: float

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers."""
        return np.array_equal(self.sorted, np.floor(self.sorted))


class Form(NamedTuple):
    """A family on one column: what each cell adds to the statistics of a cluster, and log marginals of these."""

    statistics: np.ndarray
    """(n_statistics, n_cells)."""
    log_marginals: Callable[[np.ndarray], np.ndarray]
    """From statistics of shape (n_statistics, n) to log marginals of shape (n_settings, n)."""


def cells_of(values: np.ndarray) -> Cells:
    """The observed cells of a column, ready for `log_evidence`."""
    cells = np.sort(values[~np.isnan(values)])
    edges = np.flatnonzero(np.diff(cells) > 0.0) + 1
    if edges.size > MOST_EDGES:
        runs = np.array_split(edges, MOST_EDGES)
        edges = np.array([run[np.argmax(cells[run] - cells[run - 1])] for run in runs])
    return Cells(cells, np.concatenate([[0], edges, [cells.size]]), column_grain(cells))


def log_evidence(cells: Cells, family: str) -> float:
    """Log evidence of the cells under a family, by its name.

    Examples
    --------
    >>> counts = cells_of(np.array([0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 5.0]))
    >>> log_evidence(counts, "poisson") > log_evidence(counts, "gaussian")
    True
    """
    form = FORMS[family](cells)
    sums = np.hstack([np.zeros((len(form.statistics), 1)), np.cumsum(form.statistics, axis=1)])[:, cells.edges]
    first, last = np.triu_indices(cells.edges.size, 1)
    log_joints = form.log_marginals(sums[:, last] - sums[:, first]) + gammaln(cells.edges[last] - cells.edges[first])
    total, start = best_intervals(cells.edges.size, first, last, log_joints)
    found, best = total[:, -1], int(total[:, -1].argmax())
    shared = shared_cells(cells, form, interval_ends(start[best]), sums, best)
    return float(logsumexp(found) - math.log(len(found)) - gammaln(cells.sorted.size + 1.0) + shared)


def best_intervals(
    n_edges: int, first: np.ndarray, last: np.ndarray, log_joints: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each setting and edge, the highest log joint of partitions up to it, and where its last interval starts."""
    weights = np.full((len(log_joints), n_edges, n_edges), -np.inf)
    weights[:, last, first] = log_joints
    total, start = np.zeros((len(log_joints), n_edges)), np.zeros((len(log_joints), n_edges), np.int64)
    for end in range(1, n_edges):
        terms = total[:, :end] + weights[:, end, :end]
        start[:, end] = terms.argmax(axis=1)
        total[:, end] = terms.max(axis=1)
    return total, start


def interval_ends(start: np.ndarray) -> list[int]:
    """Edges of the best partition, from the first to the last."""
    ends = [start.size - 1]
    while ends[-1] > 0:
        ends.append(int(start[ends[-1]]))
    return ends[::-1]


def shared_cells(cells: Cells, form: Form, ends: list[int], sums: np.ndarray, setting: int) -> float:
    """Minus the sum over cells of the log probability that a cell belongs to its own cluster, given all others."""
    if len(ends) < 3:
        return 0.0
    totals = sums[:, ends[1:]] - sums[:, ends[:-1]]
    sizes = np.diff(cells.edges[ends])
    own = np.repeat(np.arange(sizes.size), sizes)
    places = np.unique(cells.sorted, return_index=True, return_counts=True)[1:]
    at, counts = places
    alone = form.log_marginals(totals)[setting]
    log_weights = np.empty((sizes.size, at.size))
    for k in range(sizes.size):
        is_own = own[at] == k
        others = totals[:, k : k + 1] - np.where(is_own, 1.0, 0.0) * form.statistics[:, at]
        n_others = sizes[k] - is_own
        joined = form.log_marginals(others + form.statistics[:, at])[setting]
        before = np.where(is_own & (n_others > 0), form.log_marginals(others)[setting], alone[k])
        before[n_others == 0] = 0.0
        log_weights[k] = np.log(np.maximum(n_others, 1.0)) + joined - before
    log_own = log_weights[own[at], np.arange(at.size)]
    return float(counts @ (logsumexp(log_weights, axis=0) - log_own))


def gaussian(cells: Cells) -> Form:
    """Normal cells."""
    return normal_form(cells.sorted, np.full(cells.sorted.size, cells.grain**2 / 12.0))


def normal_form(numbers: np.ndarray, rounding: np.ndarray) -> Form:
    """Normal-gamma priors on numbers that have variances of rounding; those that are NaN do not count."""
    seen = ~np.isnan(numbers)
    centre, spread = numbers[seen].mean(), numbers[seen].std() or 1.0
    z = np.where(seen, (numbers - centre) / spread, 0.0)
    statistics = np.array([seen * 1.0, z, z * z + np.where(seen, rounding, 0.0) / spread**2])

    def log_marginals(totals: np.ndarray) -> np.ndarray:
        n, first, second = totals
        mean = first / np.maximum(n, 1.0)
        squares = np.maximum(second - n * mean**2, 0.0)
        settings = [(share, shape) for share in NARROWNESS for shape in SHAPES]
        rows = [normal_marginal(n, mean, squares, *setting) for setting in settings]
        return np.array(rows) - n * math.log(spread)

    return Form(statistics, log_marginals)


def normal_marginal(n: np.ndarray, mean: np.ndarray, squares: np.ndarray, share: float, shape: float) -> np.ndarray:
    """Log marginals of standardised cells whose clusters have about this share of the variance."""
    strength, rate = share, share * shape
    rate_n = rate + 0.5 * squares + 0.5 * strength * n / (strength + n) * mean**2
    gammas = gammaln(shape + 0.5 * n) - gammaln(shape) + shape * math.log(rate) - (shape + 0.5 * n) * np.log(rate_n)
    return gammas + 0.5 * np.log(strength / (strength + n)) - 0.5 * n * LOG_2PI


def log_gaussian(cells: Cells) -> Form:
    """Positive cells whose logarithms are normal, with the change of measure; other cells do not count."""
    positive = np.where(cells.sorted > 0.0, cells.sorted, np.nan)
    logs = np.log(positive)
    form = normal_form(logs, (cells.grain / positive) ** 2 / 12.0)
    statistics = np.vstack([form.statistics, np.nan_to_num(logs)])
    return Form(statistics, lambda totals: form.log_marginals(totals[:3]) - totals[3])


def zero_inflated(cells: Cells) -> Form:
    """Zeros with a probability, else log-normal; a zero stands for all that is rounded to it."""
    form = log_gaussian(cells)
    statistics = np.vstack([form.statistics, cells.sorted == 0.0])
    width = math.log(1.0 if cells.is_whole else cells.grain)

    def log_marginals(totals: np.ndarray) -> np.ndarray:
        n_positive, n_zeros = totals[0], totals[4]
        zeros = betaln(0.5 + n_zeros, 0.5 + n_positive) - betaln(0.5, 0.5) - n_zeros * width
        return form.log_marginals(totals[:4]) + zeros

    return Form(statistics, log_marginals)


def poisson(cells: Cells) -> Form:
    """Counts whose mean has a gamma prior."""
    shape = np.array(COUNT_SHAPES)[:, np.newaxis]
    rate = shape / cells.sorted.mean()

    def log_marginals(totals: np.ndarray) -> np.ndarray:
        n, total, factorials = totals
        gammas = gammaln(shape + total) - gammaln(shape) - factorials
        return gammas + shape * np.log(rate) - (shape + total) * np.log(rate + n)

    return Form(np.array([np.ones(cells.sorted.size), cells.sorted, gammaln(cells.sorted + 1.0)]), log_marginals)


def negative_binomial(cells: Cells) -> Form:
    """Over-dispersed counts; given the dispersion, the probability of success has a beta prior."""
    mean = cells.sorted.mean()
    dispersions = np.array(DISPERSIONS)[:, np.newaxis]
    coefficients = gammaln(cells.sorted + dispersions) - gammaln(dispersions) - gammaln(cells.sorted + 1.0)

    def log_marginals(totals: np.ndarray) -> np.ndarray:
        n, total, rows = totals[0], totals[1], []
        for dispersion, each in zip(DISPERSIONS, totals[2:], strict=True):
            for shape in COUNT_SHAPES[1:]:
                a, b = shape + 1.0, shape * mean / dispersion
                rows.append(each + betaln(a + n * dispersion, b + total) - betaln(a, b))
        return np.array(rows)

    return Form(np.vstack([np.ones(cells.sorted.size), cells.sorted, coefficients]), log_marginals)


def categorical(cells: Cells) -> Form:
    """Different values are categories, with a symmetric Dirichlet prior on their probabilities."""
    values = np.unique(cells.sorted)
    unit = math.log(np.diff(values).min())
    alpha = np.array(PSEUDO_COUNTS)[:, np.newaxis]

    def log_marginals(totals: np.ndarray) -> np.ndarray:
        n = totals.sum(axis=0)
        each = (gammaln(alpha[:, :, np.newaxis] + totals) - gammaln(alpha[:, :, np.newaxis])).sum(axis=1)
        return each + gammaln(values.size * alpha) - gammaln(values.size * alpha + n) - n * unit

    return Form((values[:, np.newaxis] == cells.sorted) * 1.0, log_marginals)


def ordinal(cells: Cells) -> Form:
    """Levels by whole steps; in a cluster a Gaussian on the levels that is cut off at both ends, or free."""
    free, codes = categorical(cells), np.unique(cells.sorted) - cells.sorted[0]
    levels = np.arange(codes[-1] + 1.0)
    scales = np.geomspace(NARROWEST_SCALE, levels.size, N_SCALES)
    grid = np.array([(place, scale) for scale in scales for place in 0.5 * np.arange(2 * levels.size + 3) - 1.0])
    place, scale = grid[:, :1], grid[:, 1:]
    log_chances = -0.5 * ((codes - place) / scale) ** 2
    log_chances -= logsumexp(-0.5 * ((levels - place) / scale) ** 2, axis=1, keepdims=True)

    def log_marginals(totals: np.ndarray) -> np.ndarray:
        ordered = logsumexp(log_chances @ totals, axis=0) - math.log(len(grid)) - math.log1p(FREE_ODDS)
        return np.logaddexp(ordered, free.log_marginals(totals) + math.log(FREE_ODDS / (1.0 + FREE_ODDS)))

    return Form(free.statistics, log_marginals)


FORMS: dict[str, Callable[[Cells], Form]] = {
    "gaussian": gaussian,
    "log-gaussian": log_gaussian,
    "zero-inflated": zero_inflated,
    "poisson": poisson,
    "negative-binomial": negative_binomial,
    "ordinal": ordinal,
    "categorical": categorical,
}
"""By the name of a family."""
