"""A table as the row trees of its views see it: additive whole-number codes and tables of log marginals.

Counts of a cluster add, so the log marginal of a union of clusters is one look-up: a column of counts becomes one or
more parts, each with a whole number per row (its code, which adds over the rows of a cluster) and a table indexed by
the sum. Bernoulli, binomial and Poisson columns are one part of code n * width + sum while that table fits a cache,
otherwise one part for each sum. What depends on single cells only (binomial coefficients, factorials, the change of
measure) is a constant of any tree and is kept apart. Gaussian columns have one part for what depends on their number of
cells; the rest is computed from moments. Columns of other families have no parts: their family computes log marginals
from its own statistics (`other_columns`).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_marginal
from bayesgrove.likelihoods.contract import add
from bayesgrove.likelihoods.counts import log_choose
from bayesgrove.likelihoods.families import (
    BERNOULLI,
    BINOMIAL,
    CATEGORICAL,
    GAUSSIAN,
    GAUSSIAN_KNOWN,
    POISSON,
    check_codes,
)
from bayesgrove.likelihoods.gaussian_diagonal import size_part
from bayesgrove.likelihoods.poisson import gamma_log_marginal
from bayesgrove.stats.special import LOG_2PI, log_rising

LARGEST_SQUARES = 1 << 19
"""Entries of all tables indexed by two numbers; more would miss the caches and give way to tables of one number."""
LARGEST_LINE = 1 << 20
"""Entries of a table indexed by one number; columns of larger sums are computed, not looked up."""
COUNTED, NORMAL, NORMAL_KNOWN, BETA_SUMS, GAMMA_SUMS, GAMMA_RATES, OTHER = range(7)
"""What a column needs besides its parts: nothing; moments (two kinds); two sums (three kinds); its own statistics."""


class ViewTable(NamedTuple):
    """The bound table in the form the kernels of this family read."""

    codes: np.ndarray
    """(n_parts, n_rows) uint32, 0 for a missing cell."""
    code_table: np.ndarray
    """(n_parts,) uint32, where the part's table starts."""
    table: np.ndarray
    part_start: np.ndarray
    """(n_columns + 1,) parts of each column."""
    kind: np.ndarray
    """(n_columns,) COUNTED, NORMAL, ...."""
    params: np.ndarray
    """(n_columns, 4) hyperparameters, of columns that are not COUNTED."""
    values: np.ndarray
    """(n_columns, n_rows) encoded cells."""
    constants: np.ndarray
    """(n_columns, n_rows) what single cells add to every log marginal they are part of."""
    singles: np.ndarray
    """(n_columns, n_rows) log marginals of single cells without their constants."""
    same_as: np.ndarray
    """(n_columns,) first column with the same cells and prior."""
    family: np.ndarray
    """(n_columns,) codes."""
    width: np.ndarray
    """(n_columns,) numbers of statistics."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.kind.size)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[1])


class Part(NamedTuple):
    """Codes of a column's cells, and the key and content of their table."""

    codes: np.ndarray
    key: tuple[Any, ...]
    fill: Any


def view_table(
    prior: ColumnsPrior, values: np.ndarray, log_measure: np.ndarray | None = None, square: int | None = None
) -> ViewTable:
    """The table of encoded `values` (n_rows, n_columns), NaN missing, under `prior`, which must split over columns.

    `log_measure` (n_columns,) is what the encoding adds to the log density of each observed cell of a column, `square`
    the most entries of a table by two numbers (by default what `largest_square` gives).
    """
    if not isinstance(prior, ColumnsPrior):
        raise InvalidLikelihoodError(
            "cross-clustering needs one likelihood per column, independent given the cluster, got "
            f"{type(prior).__name__}. Use Columns([...])."
        )
    check_codes(prior.family)
    cells = np.ascontiguousarray(values.T, np.float64)
    kinds, parts, constants, singles = [], [], np.zeros(cells.shape), np.zeros(cells.shape)
    square = largest_square(prior) if square is None else square
    for j, column in enumerate(cells):
        width = int(prior.start[j + 1] - prior.start[j])
        find_parts, find_constants = FAST.get(int(prior.family[j]), (other_parts, None))
        kind, own = find_parts(prior.params[j], width, column, square)
        kinds.append(kind)
        parts.append(own)
        if find_constants is not None:
            constants[j] = find_constants(prior.params[j], column)
        singles[j] = cell_log_marginals(int(prior.family[j]), prior.params[j], width, column) - constants[j]
    if log_measure is not None:  # after the singles: they leave it out
        constants += ~np.isnan(cells) * np.asarray(log_measure, float)[:, np.newaxis]
    codes, starts, table = stack_parts([part for own in parts for part in own])
    part_start = np.concatenate([[0], np.cumsum([len(own) for own in parts])]).astype(np.int64)
    yes_no = prior.family == BERNOULLI
    params = np.array(prior.params, np.float64)
    params[yes_no] = np.column_stack([np.ones(yes_no.sum()), prior.params[yes_no, :3]])  # binomial of one trial
    same_as = identical_columns(prior, cells)
    all_kinds, family, widths = np.array(kinds, np.int64), prior.family.astype(np.int64), np.diff(prior.start)
    return ViewTable(
        codes, starts, table, part_start, all_kinds, params, cells, constants, singles, same_as, family, widths
    )


def identical_columns(prior: ColumnsPrior, cells: np.ndarray) -> np.ndarray:
    """Number of the first column with the same cells and prior, for every column."""
    first: dict[bytes, int] = {}
    numbers = np.column_stack([prior.family, np.diff(prior.start), prior.params])
    return np.array([first.setdefault(numbers[j].tobytes() + cells[j].tobytes(), j) for j in range(len(cells))])


def largest_square(prior: ColumnsPrior) -> int:
    """Most entries of a table by two numbers, so that all of them together have room."""
    return LARGEST_SQUARES // n_distinct_priors(prior)


def n_distinct_priors(prior: ColumnsPrior) -> int:
    """How many tables by two numbers the columns could share."""
    numbers = np.column_stack([prior.family, prior.params])
    return max(1, len(np.unique(numbers[np.isin(prior.family, SQUARE)], axis=0)))


def stack_parts(parts: list[Part]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All codes, where each part's table starts, and the tables one after another, equal ones once."""
    places: dict[tuple[Any, ...], int] = {}
    tables: list[np.ndarray] = []
    starts, size = [], 0
    for part in parts:
        if part.key not in places:
            places[part.key] = size
            tables.append(part.fill())
            size += tables[-1].size
        starts.append(places[part.key])
    codes = np.array([part.codes for part in parts], np.uint32)
    return codes, np.array(starts, np.uint32), np.concatenate(tables)


# Parts of a column by family: (hyperparameters, width, cells, most entries of a table) -> kind and parts.


def parts_of_categorical(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """One per category and one for their total."""
    return COUNTED, categorical_parts(params[0], width, cells)


def parts_of_gaussian(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """What depends on the number of cells."""
    n = cells.size
    return NORMAL, [Part(~np.isnan(cells), (GAUSSIAN, n, *params.tolist()), lambda: normal_table(n, *params[1:4]))]


def parts_of_known(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """The same where the variance is known."""
    n, key = cells.size, (GAUSSIAN_KNOWN, cells.size, *params.tolist())
    return NORMAL_KNOWN, [Part(~np.isnan(cells), key, lambda: known_table(n, params[0], params[2]))]


def parts_of_poisson(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """Of counts."""
    seen = ~np.isnan(cells)
    return gamma_parts(float(params[0]), float(params[1]), seen, np.where(seen, cells, 0.0), square)


def parts_of_bernoulli(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """Of one trial."""
    seen = ~np.isnan(cells)
    return beta_parts(1, float(params[0]), float(params[1]), seen, np.where(seen, cells, 0.0), square)


def parts_of_binomial(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """Of successes."""
    seen = ~np.isnan(cells)
    return beta_parts(int(params[0]), float(params[1]), float(params[2]), seen, np.where(seen, cells, 0.0), square)


def other_parts(params: np.ndarray, width: int, cells: np.ndarray, square: int) -> tuple[int, list[Part]]:
    """Nothing to look up: any family."""
    return OTHER, [no_part(cells.size)]


def gamma_parts(
    shape: float, rate: float, seen: np.ndarray, counts: np.ndarray, largest_square: int
) -> tuple[int, list[Part]]:
    """A column of counts: one table by two numbers; or two by one, and the product of both computed."""
    n, most = seen.size, int(counts.sum())
    if (n + 1) * (most + 1) <= largest_square:
        codes = seen * (most + 1) + counts
        return COUNTED, [Part(codes, ("gamma", n, most, shape, rate), lambda: gamma_table(n, most, shape, rate))]
    if most > LARGEST_LINE:
        return GAMMA_SUMS, [no_part(n)]
    return GAMMA_RATES, [
        Part(counts, ("rising", most, shape), lambda: rising_table(most, 1, shape)),
        Part(seen, ("rates", n, shape, rate), lambda: -shape * np.log1p(np.arange(n + 1.0) / rate)),
    ]


def no_part(n: int) -> Part:
    """Nothing to look up."""
    return Part(np.zeros(n), ("nothing",), lambda: np.zeros(1))


def beta_parts(
    trials: int, a: float, b: float, seen: np.ndarray, successes: np.ndarray, largest_square: int
) -> tuple[int, list[Part]]:
    """A column of successes in `trials` trials: one table by two numbers, or three by one."""
    n, most = seen.size, seen.size * trials
    if (n + 1) * (most + 1) <= largest_square:
        codes = seen * (most + 1) + successes
        return COUNTED, [Part(codes, ("beta", n, trials, a, b), lambda: beta_table(n, trials, a, b))]
    if most > LARGEST_LINE:
        return BETA_SUMS, [no_part(n)]
    failures = np.where(seen, trials - successes, 0.0)
    return COUNTED, [
        Part(successes, ("rising", most, a), lambda: rising_table(most, 1, a)),
        Part(failures, ("rising", most, b), lambda: rising_table(most, 1, b)),
        Part(seen, ("falling", n, trials, a + b), lambda: -rising_table(n, trials, a + b)),
    ]


def categorical_parts(pseudo_count: float, width: int, cells: np.ndarray) -> list[Part]:
    """One part per category and one for their total."""
    n, weight = cells.size, float(pseudo_count)
    parts = [Part(cells == k, ("rising", n, weight), lambda: rising_table(n, 1, weight)) for k in range(width)]
    total = width * weight
    return [*parts, Part(~np.isnan(cells), ("falling", n, 1, total), lambda: -rising_table(n, 1, total))]


# What a single cell adds to the log marginal of any cluster, by family.


@kernel
def binomial_constants(params, cells):
    """Log binomial coefficients."""
    out = np.zeros(cells.size)
    for i in range(cells.size):
        if not math.isnan(cells[i]):
            out[i] = log_choose(params[0], cells[i])
    return out


@kernel
def poisson_constants(params, cells):
    """Minus log factorials."""
    out = np.zeros(cells.size)
    for i in range(cells.size):
        if not math.isnan(cells[i]):
            out[i] = -math.lgamma(cells[i] + 1.0)
    return out


@kernel
def cell_log_marginals(family, params, width, cells):
    """Log marginals of single cells by the likelihood itself."""
    prior = ColumnsPrior(np.full(1, family), params.copy().reshape(1, -1), np.array([0, width]), np.zeros(0))
    out, row = np.zeros(cells.size), np.zeros(width)
    for i in range(cells.size):
        for k in range(width):
            row[k] = 0.0
        add(prior, row, cells[i : i + 1])
        out[i] = column_log_marginal(family, row, 0, width, params)
    return out


@kernel
def rising_table(size, step, weight):
    """log_rising(weight, step * i) for i = 0 .. size."""
    table = np.empty(size + 1)
    for i in range(size + 1):
        table[i] = log_rising(weight, float(step * i))
    return table


@kernel
def beta_table(n, trials, a, b):
    """Log marginal of s successes in i * trials trials at i * (n * trials + 1) + s; what cannot occur is 0."""
    width = n * trials + 1
    wins, losses = rising_table(width - 1, 1, a), rising_table(width - 1, 1, b)
    table = np.zeros((n + 1) * width)
    for i in range(n + 1):
        total = log_rising(a + b, float(i * trials))
        for s in range(i * trials + 1):
            table[i * width + s] = wins[s] + losses[i * trials - s] - total
    return table


@kernel
def gamma_table(n, most, shape, rate):
    """Log marginal of i counts of sum s, without their factorials, at i * (most + 1) + s."""
    table = np.zeros((n + 1) * (most + 1))
    for i in range(1, n + 1):
        for s in range(most + 1):
            table[i * (most + 1) + s] = gamma_log_marginal(float(i), float(s), shape, rate)
    return table


@kernel
def normal_table(n, strength, shape, rate):
    """What the number of cells of a Gaussian column adds; none at all must leave 0 with its part of the rate."""
    table = np.empty(n + 1)
    for i in range(n + 1):
        table[i] = size_part(float(i), strength, shape) + shape * math.log(rate)
    return table


@kernel
def known_table(n, variance, prior_variance):
    """The same where the variance is known."""
    table = np.empty(n + 1)
    for i in range(n + 1):
        table[i] = -0.5 * i * (LOG_2PI + math.log(variance)) - 0.5 * math.log1p(i * prior_variance / variance)
    return table


FAST: dict[int, tuple[Any, Any]] = {
    GAUSSIAN_KNOWN: (parts_of_known, None),
    GAUSSIAN: (parts_of_gaussian, None),
    BERNOULLI: (parts_of_bernoulli, None),
    BINOMIAL: (parts_of_binomial, binomial_constants),
    CATEGORICAL: (parts_of_categorical, None),
    POISSON: (parts_of_poisson, poisson_constants),
}
"""Families with fast ways: their parts and constants of cells. Any other family is OTHER."""
SQUARE = (BERNOULLI, BINOMIAL, POISSON)
"""Families whose tables are by two numbers."""
