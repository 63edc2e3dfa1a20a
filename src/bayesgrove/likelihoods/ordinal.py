"""Columns of a few ordered values, such as answers on a scale from 1 to 5.

Cells are codes 0 .. K - 1 of the K levels of a column. In a cluster their probabilities are either those of a Gaussian
on the codes, cut off at both ends,

    P(k) = exp(-(k - m)^2 / (2 s^2)) / Z(m, s),    k = 0 .. K - 1,

with location m and scale s on a grid on which every point is equally probable, or free, with a symmetric Dirichlet
prior. The prior odds of the latter are the column's `flexibility`. Where m lies beyond the ends probabilities rise or
fall throughout; small s let a cluster keep to one level, large s make all levels alike. Neighbouring levels thus help
each other in small clusters, and large clusters may have any probabilities at all.

A column keeps its K counts c_k. With n = sum c_k, S_1 = sum k c_k and S_2 = sum k^2 c_k, a point of the grid has the
log likelihood -n log Z - (S_2 - 2 m S_1 + n m^2) / (2 s^2), so that the log marginal is a sum over the grid.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidTableError
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import Encoding, Likelihood, per_column_numbers, plain, refuse_cells
from bayesgrove.likelihoods.counts import (
    add_one,
    dirichlet_log_gradient,
    dirichlet_log_marginal,
    dirichlet_log_predictive,
    draw_code,
    draw_dirichlet,
    merge_sums,
    remove_one,
)
from bayesgrove.likelihoods.family import CODES, Family
from bayesgrove.stats.special import log_add

MOST_LEVELS = 20
"""Of one column; more are as good as numbers."""
N_SCALES = 6
SMALLEST_SCALE = 0.35
"""In steps between levels: a neighbour is then as probable as exp(-4)."""
PSEUDO_COUNT, FLEXIBILITY = 0, 1
"""Places of the hyperparameters."""
HYPER = (("pseudo_count", 1e-2, 1e3), ("flexibility", 1e-2, 1e2))
LIMITS = {"pseudo_count": (0.01, 1.0), "flexibility": (1e-3, 10.0)}
"""Least and largest values while a tree learns."""


class OrdinalPrior(NamedTuple):
    """Dirichlet weight of a level, odds of free probabilities, one per column, and where each column's counts start."""

    pseudo_count: np.ndarray
    flexibility: np.ndarray
    start: np.ndarray


# ---- the grid


def scales_of(n_levels: int) -> np.ndarray:
    """Scales of the grid, from one level to all of them."""
    return SMALLEST_SCALE * (max(n_levels, 2) / SMALLEST_SCALE) ** (np.arange(N_SCALES) / (N_SCALES - 1))


def locations_of(n_levels: int) -> np.ndarray:
    """Locations of the grid: by half a step, from one before the first level to one after the last."""
    return 0.5 * np.arange(2 * n_levels + 3) - 1.0


def log_normalisers() -> np.ndarray:
    """log Z by number of levels, scale and location; zeros where there is no location."""
    out = np.zeros((MOST_LEVELS + 1, N_SCALES, 2 * MOST_LEVELS + 3))
    for n_levels in range(1, MOST_LEVELS + 1):
        locations = locations_of(n_levels)
        gaps = (np.arange(n_levels)[:, np.newaxis] - locations) ** 2
        for which, scale in enumerate(scales_of(n_levels)):
            out[n_levels, which, : locations.size] = np.logaddexp.reduce(-0.5 * gaps / scale**2, axis=0)
    return out


LOG_NORMALISERS = log_normalisers()
PRECISIONS = np.array([1.0 / scales_of(n_levels) ** 2 for n_levels in range(MOST_LEVELS + 1)])


@kernel
def log_likelihood(n, first, second, n_levels, which, location):
    """Of n codes with these sums of themselves and of their squares, at one point of the grid."""
    m = 0.5 * location - 1.0
    distance = second - 2.0 * m * first + n * m * m
    return -n * LOG_NORMALISERS[n_levels, which, location] - 0.5 * PRECISIONS[n_levels, which] * distance


@borrower
def code_sums(row, start, stop):
    """Number of the codes, their sum, and the sum of their squares."""
    n, first, second = 0.0, 0.0, 0.0
    for i in range(start, stop):
        n += row[i]
        first += (i - start) * row[i]
        second += (i - start) ** 2 * row[i]
    return n, first, second


@borrower
def ordered_log_marginals(row, start, stop, x):
    """Log marginal of the counts where probabilities are those of the grid, and of the counts with one more code x."""
    n, first, second = code_sums(row, start, stop)
    n_levels = stop - start
    top, total, extended = -math.inf, 0.0, 0.0
    for which in range(N_SCALES):
        for location in range(2 * n_levels + 3):
            own = log_likelihood(n, first, second, n_levels, which, location)
            if own > top:
                total, extended = total * math.exp(top - own), extended * math.exp(top - own)
                top = own
            weight = math.exp(own - top)
            total += weight
            if x >= 0.0:
                extended += weight * math.exp(log_likelihood(1.0, x, x * x, n_levels, which, location))
    log_points = math.log(N_SCALES * (2 * n_levels + 3))
    return top + math.log(total) - log_points, top + math.log(extended) - log_points if x >= 0.0 else 0.0


# ---- the family


@borrower
def both_log_marginals(row, start, stop, p):
    """Log marginals with the prior's weight of either kind: ordered, and free probabilities."""
    log_odds, log_weights = math.log(p[FLEXIBILITY]), math.log1p(p[FLEXIBILITY])
    ordered, _ = ordered_log_marginals(row, start, stop, -1.0)
    free = dirichlet_log_marginal(row, start, stop, p, PSEUDO_COUNT, 0)
    return ordered - log_weights, log_odds + free - log_weights


@borrower
def column_log_marginal(row, start, stop, p):
    """Sum over both kinds."""
    if code_sums(row, start, stop)[0] == 0.0:
        return 0.0
    ordered, free = both_log_marginals(row, start, stop, p)
    return log_add(ordered, free)


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Log marginal with the code minus that without it."""
    log_odds = math.log(p[FLEXIBILITY])
    ordered, extended = ordered_log_marginals(row, start, stop, x)
    free = log_odds + dirichlet_log_marginal(row, start, stop, p, PSEUDO_COUNT, 0)
    own = dirichlet_log_predictive(row, start, stop, int(x), p, PSEUDO_COUNT, 0)
    return log_add(extended, free + own) - log_add(ordered, free)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log pseudo_count and log flexibility."""
    if code_sums(row, start, stop)[0] == 0.0:
        return 0.0, 0.0, 0.0
    ordered, free = both_log_marginals(row, start, stop, p)
    share = math.exp(free - log_add(ordered, free))
    by_weight = share * dirichlet_log_gradient(row, start, stop, p, PSEUDO_COUNT, 0)
    return by_weight, share - p[FLEXIBILITY] / (1.0 + p[FLEXIBILITY]), 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The probabilities of the levels."""
    ordered, free = both_log_marginals(row, start, stop, p)
    if rng.random() < math.exp(free - log_add(ordered, free)):
        draw_dirichlet(rng, row, start, stop, p, PSEUDO_COUNT, 0, out)
    else:
        draw_ordered(rng, row, start, stop, out)


@kernel
def draw_ordered(rng, row, start, stop, out):
    """The probabilities at a point of the grid that is drawn from its posterior."""
    n, first, second = code_sums(row, start, stop)
    n_levels = stop - start
    log_total, _ = ordered_log_marginals(row, start, stop, -1.0)
    left = rng.random() * N_SCALES * (2 * n_levels + 3)
    chosen, place = 0, 0
    for which in range(N_SCALES):
        for location in range(2 * n_levels + 3):
            if left >= 0.0:
                left -= math.exp(log_likelihood(n, first, second, n_levels, which, location) - log_total)
                chosen, place = which, location
    for i in range(start, stop):
        code = float(i - start)
        out[i] = math.exp(log_likelihood(1.0, code, code * code, n_levels, chosen, place))


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A code."""
    return draw_code(rng, params, start, stop)


@dataclass(frozen=True)
class Ordinal(Likelihood):
    """Columns of a few ordered values, each with its own probabilities in a cluster.

    The probabilities of a cluster are either those of a Gaussian with unknown location and scale on the ranks of the
    levels, or free, as those of `Categorical`.

    Parameters
    ----------
    levels : sequence of numbers, or None
        The values that cells may have, at most 20. None takes those that occur in each column. Only their order counts.
    pseudo_count : number, one per column, None or "auto"
        Dirichlet weight of every level where probabilities are free. Default 0.5.
    flexibility : number, one per column, None or "auto"
        Prior odds that the probabilities of a cluster are free. Default 0.1.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Categorical, log_marginal
    >>> neighbours, strangers = [[1], [2], [2], [3], [2]], [[0], [4], [4], [2], [4]]
    >>> likelihood = Ordinal(levels=(0, 1, 2, 3, 4))
    >>> [round(log_marginal(likelihood, answers), 2) for answers in (neighbours, strangers)]
    [-7.72, -8.95]
    >>> [round(log_marginal(Categorical(n_categories=5), answers), 2) for answers in (neighbours, strangers)]
    [-8.01, -8.01]
    """

    takes_categories: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("pseudo_count", "flexibility")
    of_all_columns: ClassVar[tuple[str, ...]] = ("levels",)

    levels: Any = None
    pseudo_count: Any = None
    flexibility: Any = None

    def resolved(self, table: Table) -> "Ordinal":
        """With the levels of its column, ascending."""
        if self.levels is None:
            cells = table.values[~np.isnan(table.values)]
            levels = np.arange(len(table.categories[0])) if table.categories else np.unique(cells)
        else:
            levels = known_levels(self.levels)
        if levels.size > MOST_LEVELS:
            raise InvalidTableError(
                f"an ordinal column has at most {MOST_LEVELS} levels, {table.names[0]!r} has {levels.size}. "
                "Use a Gaussian likelihood.",
                column=0,
            )
        return replace(self, levels=tuple(levels.astype(float).tolist()))

    def check_cells(self, table: Table) -> None:
        """Cells are levels, or missing."""
        if self.levels is not None:
            unknown = ~np.isin(table.values, self.levels) & ~np.isnan(table.values)
            shown = ", ".join(f"{level:g}" for level in self.levels)
            remedy = "Declare Ordinal(levels=...), or use a Gaussian likelihood."
            refuse_cells(table, unknown, f"a cell of an ordinal column must be one of its levels {shown}", remedy)

    def cells(self, table: Table) -> np.ndarray:
        """Codes of the levels."""
        if self.levels is None:
            return table.values
        codes = np.searchsorted(self.levels, table.values).astype(float)
        return np.where(np.isnan(table.values), np.nan, codes)

    def values_of(self, cells: np.ndarray) -> np.ndarray:
        """Levels behind codes."""
        if self.levels is None or not self.levels:
            return cells
        if len(self.levels) == 1:  # a column that was left out as constant
            return np.where(np.isnan(cells), np.nan, self.levels[0])
        codes = np.clip(np.nan_to_num(cells), 0, len(self.levels) - 1).astype(np.int64)
        return np.where(np.isnan(cells), np.nan, np.asarray(self.levels)[codes])

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> OrdinalPrior:
        """Jeffreys' weight, and one free distribution among ten that are ordered, where nothing is given."""
        n_columns = values.shape[1]
        seen = np.max(values, axis=0, initial=0.0, where=~np.isnan(values)).astype(np.int64) + 1
        sizes = np.full(n_columns, max(len(self.levels), 1)) if self.levels is not None else seen
        return OrdinalPrior(
            per_column_numbers("pseudo_count", self.pseudo_count, np.full(n_columns, 0.5)),
            per_column_numbers("flexibility", self.flexibility, np.full(n_columns, 0.1)),
            np.concatenate([[0], np.cumsum(sizes)]),
        )

    def described_by(self, prior: OrdinalPrior, encoding: Encoding) -> "Ordinal":
        """The prior's hyperparameters; as many levels as it has."""
        levels = None if self.levels is None else self.levels[: int(prior.start[1])]
        return replace(
            self, levels=levels, pseudo_count=plain(prior.pseudo_count), flexibility=plain(prior.flexibility)
        )


def known_levels(levels: Any) -> np.ndarray:
    """Levels that are given, ascending; refused where they are no different numbers."""
    try:
        known = np.unique(np.asarray(levels, float))
    except (TypeError, ValueError):
        known = np.zeros(0)
    if known.size == 0 or known.size != np.size(levels) or not np.isfinite(known).all():
        raise InvalidLikelihoodError(f"levels must be different numbers, got {levels!r}.", parameter="levels")
    return known


FAMILY = Family(
    name="ordinal",
    prior=OrdinalPrior,
    likelihood=Ordinal,
    width=0,
    support=CODES,
    hyper=HYPER,
    limits=LIMITS,
    add=add_one,
    remove=remove_one,
    merge=merge_sums,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
)
