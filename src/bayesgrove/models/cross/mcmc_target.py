"""What CrossCat samples from: the table as its kernels read it, and log marginals of one column by tables.

Counts are whole numbers, so that Gamma functions of Bernoulli, categorical and Gaussian columns are looked up: each
column has tables over 0 .. n_rows + 1 of its own, filled anew when its numbers change. Other families compute theirs.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.base import column_moments
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_marginal
from bayesgrove.likelihoods.families import BERNOULLI, CATEGORICAL, GAUSSIAN, check_codes
from bayesgrove.likelihoods.gaussian_diagonal import posterior_rate, size_part
from bayesgrove.models.cross.mcmc_bits import bits_of_codes
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_log
from bayesgrove.stats.special import LOG_2PI, stirling_rest

N_TABLES = {BERNOULLI: 3, CATEGORICAL: 2, GAUSSIAN: 1}
STIRLING_FROM = 50.0


class Target(NamedTuple):
    """A table and its columns' families; never changed. Numbers of the columns' priors belong to the state."""

    family: np.ndarray
    start: np.ndarray
    """`family` and `start`: as in `ColumnsPrior`."""
    n_codes: np.ndarray
    """(n_columns,): number of categories of discrete columns (2 for Bernoulli), 0 for others."""
    table_at: np.ndarray
    """(n_columns + 1,): first table of each column."""
    by_column: np.ndarray
    by_row: np.ndarray
    """`by_column` and `by_row`: encoded cells, NaN where missing."""
    codes_by_column: np.ndarray
    codes_by_row: np.ndarray
    """`codes_by_column` and `codes_by_row`: category plus 1 of discrete columns, 1 of others; 0 for a missing cell."""
    bits: np.ndarray
    bit_at: np.ndarray
    """`bits` and `bit_at`: as `mcmc_bits.bits_of_codes` gives them."""
    centre: np.ndarray
    """(n_columns,): mean of the observed cells: sums of squares are taken about it."""
    log_n: np.ndarray
    log_gamma_n: np.ndarray
    """`log_n` and `log_gamma_n`: log(n) and lgamma(n) for n up to one more than the rows or the columns; entries 0 are
    never used."""


def make_target(prior: ColumnsPrior, values: np.ndarray) -> Target:
    """The target of encoded cells (n_rows, n_columns) whose columns have the families of the prior."""
    check_codes(prior.family)
    values = np.ascontiguousarray(values, float)
    family, start = prior.family.astype(np.int64), prior.start.astype(np.int64)
    discrete = np.isin(family, (BERNOULLI, CATEGORICAL))
    codes = np.where(np.isnan(values), 0.0, np.where(discrete, values + 1.0, 1.0)).astype(np.int32)
    n_codes = np.where(discrete, np.diff(start), 0)
    n_tables = [N_TABLES.get(int(code), 0) for code in family]
    n = np.arange(max(values.shape) + 2.0)
    return Target(
        family,
        start,
        n_codes,
        np.concatenate([[0], np.cumsum(n_tables)]),
        np.ascontiguousarray(values.T),
        values,
        np.ascontiguousarray(codes.T),
        codes,
        *bits_of_codes(codes.T, n_codes),
        column_moments(values)[0],
        np.log(np.maximum(n, 1.0)),
        gammaln(np.maximum(n, 1.0)),
    )


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def fill_rising(tables, at, x):
    """log(x (x + 1) ... (x + n - 1)) for n = 0, 1, ...., in one row of the tables."""
    tables[at, 0] = 0.0
    for n in range(1, tables.shape[1]):
        tables[at, n] = fast_log(x + (n - 1.0), 0.0)
    for n in range(1, tables.shape[1]):
        tables[at, n] += tables[at, n - 1]


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def fill_sizes(tables, at, strength, shape, constant):
    """What depends on the number of Gaussian cells only, by Stirling's series where it is exact."""
    n_small = min(tables.shape[1], max(0, int(2.0 * (STIRLING_FROM - shape)) + 1))
    for n in range(n_small):
        tables[at, n] = constant + size_part(float(n), strength, shape)
    constant += 0.5 * math.log(strength) - math.lgamma(shape) + 0.5 * LOG_2PI
    for n in range(n_small, tables.shape[1]):
        x = shape + 0.5 * n
        log_gamma = (x - 0.5) * fast_log(x, 0.0) - x + stirling_rest(x)
        tables[at, n] = constant + log_gamma - 0.5 * fast_log(strength + n, 0.0) - 0.5 * n * LOG_2PI


@borrower
def fill_tables(family, n_codes, at, p, tables):
    """The tables of one column whose prior has the numbers `p`, from row `at` on."""
    if family == BERNOULLI:
        fill_rising(tables, at, p[0])
        fill_rising(tables, at + 1, p[1])
        fill_rising(tables, at + 2, p[0] + p[1])
    elif family == CATEGORICAL:
        fill_rising(tables, at, p[0])
        fill_rising(tables, at + 1, n_codes * p[0])
    elif family == GAUSSIAN:
        fill_sizes(tables, at, p[1], p[2], p[2] * math.log(p[3]))


@borrower
def fill_all_tables(target, params, tables):
    """The tables of all columns."""
    for j in range(target.family.size):
        fill_tables(target.family[j], target.n_codes[j], target.table_at[j], params[j], tables)


# Arrays are indexed, never sliced, in what hot loops call: a slice counts references.


@borrower
def rate_marginal(n, mean, spread, params, j, tables, at):
    """Log marginal of n Gaussian cells of column j, its Gamma functions looked up."""
    count = int(n)
    if count == 0:
        return 0.0
    rate_n = posterior_rate(n, mean, spread, params[j, 0], params[j, 1], params[j, 3])
    return tables[at, count] - (params[j, 2] + 0.5 * n) * math.log(rate_n)


@borrower
def table_log_marginal(family, row, start, stop, params, j, tables, at):
    """`column_log_marginal` of column j with what can be looked up looked up."""
    if family == BERNOULLI:
        failures, successes = int(row[start]), int(row[start + 1])
        return tables[at, successes] + tables[at + 1, failures] - tables[at + 2, failures + successes]
    if family == CATEGORICAL:
        total, n = 0.0, 0
        for s in range(start, stop):
            count = int(row[s])
            total += tables[at, count]
            n += count
        return total - tables[at + 1, n]
    if family == GAUSSIAN:
        return rate_marginal(row[start], row[start + 1], row[start + 2], params, j, tables, at)
    return column_log_marginal(family, row, start, stop, params[j])
