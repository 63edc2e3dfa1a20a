"""Log marginals of unions of row clusters: one cluster against many at once.

Clusters stand at places 0, 1, ... of arrays in which the places of one part or field lie side by side, so that the
loops over partners become vector instructions.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.counts import beta_log_marginal
from bayesgrove.likelihoods.poisson import gamma_log_marginal
from bayesgrove.models.cross.other_columns import load_row, other_scores
from bayesgrove.models.cross.view_table import (
    BETA_SUMS,
    COUNTED,
    GAMMA_RATES,
    GAMMA_SUMS,
    NORMAL,
    NORMAL_KNOWN,
    OTHER,
)
from bayesgrove.stats.fastlog import SAFE_FLAGS, fast_log, stand_alone

N_FIELDS = 5
COUNT, MEAN, SPREAD, POSTERIOR_MEAN, POSTERIOR_RATE = range(N_FIELDS)
FIRST_SUM, SECOND_SUM = 0, 1
CACHE_LINE = 16
"""Codes in a cache line. Parts lie so much farther apart than their places: at a distance of 1,024 bytes those of one
place would compete for a few lines of the cache."""


class Clusters(NamedTuple):
    """Statistics of the clusters of one view, by place."""

    codes: np.ndarray
    """(parts of the view, places) uint32."""
    code_table: np.ndarray
    """(parts of the view,) where each part's table starts."""
    fields: np.ndarray
    """(columns of the view with fields, N_FIELDS, places)."""
    field_column: np.ndarray
    """(columns of the view with fields,) their numbers in the table."""
    rows: np.ndarray
    """(columns that are OTHER, places and one more, statistics)."""
    other_column: np.ndarray
    """(columns that are OTHER,) numbers in the table of those of the view."""
    used: np.ndarray
    """Numbers of parts, of field columns and of other columns of the present view."""


def new_clusters(n_parts: int, n_fields: int, n_places: int, rows: np.ndarray) -> Clusters:
    """Room for views of so many parts and columns with fields, and for the statistics of other columns."""
    return Clusters(
        codes=np.zeros((n_parts, n_places + CACHE_LINE), np.uint32),
        code_table=np.zeros(n_parts, np.uint32),
        fields=np.zeros((n_fields, N_FIELDS, n_places)),
        field_column=np.zeros(n_fields, np.int64),
        rows=rows,
        other_column=np.zeros(len(rows), np.int64),
        used=np.zeros(3, np.int64),
    )


@borrower
def load_rows(table, clusters, columns):
    """Put each row of a view to its place as a cluster of its own."""
    codes, code_table, n_rows = clusters.codes, clusters.code_table, table.values.shape[1]
    all_codes, all_tables, part_start = table.codes, table.code_table, table.part_start
    n_parts, n_fields, n_others = 0, 0, 0
    for column in columns:
        for part in range(part_start[column], part_start[column + 1]):
            code_table[n_parts] = all_tables[part]
            for i in range(n_rows):
                codes[n_parts, i] = all_codes[part, i]
            n_parts += 1
        if table.kind[column] == OTHER:
            clusters.other_column[n_others] = column
            for i in range(n_rows):
                load_row(table, column, clusters.rows[n_others, i], i)
            n_others += 1
        elif table.kind[column] != COUNTED:
            clusters.field_column[n_fields] = column
            for i in range(n_rows):
                load_cell(
                    table.kind[column], table.params, column, clusters.fields, n_fields, table.values[column, i], i
                )
            n_fields += 1
    clusters.used[0], clusters.used[1], clusters.used[2] = n_parts, n_fields, n_others


@borrower
def load_cell(kind, params, column, fields, k, x, place):
    """Fields of one cell."""
    seen = not math.isnan(x)
    for field in range(N_FIELDS):
        fields[k, field, place] = 0.0
    if kind == BETA_SUMS:
        if seen:
            fields[k, FIRST_SUM, place], fields[k, SECOND_SUM, place] = params[column, 0] - x, x
    else:
        if seen:
            fields[k, COUNT, place], fields[k, MEAN, place] = 1.0, x
        set_posterior(kind, params, column, fields, k, place)


@borrower
def set_posterior(kind, params, column, fields, k, place):
    """Posterior mean and rate of a Gaussian column."""
    if kind == NORMAL:
        prior_mean, strength, rate = params[column, 0], params[column, 1], params[column, 3]
        n, mean = fields[k, COUNT, place], fields[k, MEAN, place]
        shrink = n / (strength + n)
        gap = mean - prior_mean
        fields[k, POSTERIOR_MEAN, place] = prior_mean + shrink * gap
        fields[k, POSTERIOR_RATE, place] = rate + 0.5 * fields[k, SPREAD, place] + 0.5 * strength * shrink * gap * gap


@borrower
def merge_fields(kinds, params, fields, field_column, n_fields, out, a, b):
    """Write the union of the clusters at places a and b to place `out`; give back its log marginal without parts."""
    total = 0.0
    for k in range(n_fields):
        column = field_column[k]
        if kinds[column] in (NORMAL, NORMAL_KNOWN):
            merge_moments(fields, k, out, a, b)
            set_posterior(kinds[column], params, column, fields, k, out)
        else:
            fields[k, FIRST_SUM, out] = fields[k, FIRST_SUM, a] + fields[k, FIRST_SUM, b]
            fields[k, SECOND_SUM, out] = fields[k, SECOND_SUM, a] + fields[k, SECOND_SUM, b]
        total += field_log_marginal(kinds[column], params[column], fields, k, out)
    return total


@borrower
def merge_moments(fields, k, out, a, b):
    """Centred; `out` may be a or b."""
    n_a, n_b = fields[k, COUNT, a], fields[k, COUNT, b]
    share = n_b / max(n_a + n_b, 1.0)
    gap = fields[k, MEAN, b] - fields[k, MEAN, a]
    spread = fields[k, SPREAD, a] + fields[k, SPREAD, b] + n_a * share * gap * gap
    mean = fields[k, MEAN, a] + share * gap if n_a > 0.0 else fields[k, MEAN, b]
    fields[k, COUNT, out], fields[k, MEAN, out], fields[k, SPREAD, out] = n_a + n_b, mean, spread


@borrower
def union_scores(table, clusters, own, end, out):
    """Add to out[0:end] the log marginals of the unions of the cluster at `own` with those before `end`."""
    look_up(clusters.codes, clusters.code_table, clusters.used[0], table.table, own, end, out)
    field_scores(table.kind, table.params, clusters.fields, clusters.field_column, clusters.used[1], own, end, out)
    other_scores(table, clusters.rows, clusters.other_column, clusters.used[2], own, end, out)


@borrower
def field_scores(kinds, params, fields, field_column, n_fields, own, end, out):
    """What the look-ups leave out."""
    for k in range(n_fields):
        column = field_column[k]
        kind, p = kinds[column], params[column]
        if kind == NORMAL:
            normal_scores(fields, k, p[2], p[1], own, end, out)
        elif kind == NORMAL_KNOWN:
            known_scores(fields, k, p[0], p[1], p[2], own, end, out)
        elif kind == GAMMA_RATES:
            rate_scores(fields, k, p[1], own, end, out)
        else:
            sum_scores(kind, fields, k, p, own, end, out)


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def look_up(codes, code_table, n_parts, table, own, end, out):
    """One look-up per part and partner; four parts a pass, so that sums are read and written once for all four."""
    stand_alone()
    four = n_parts // 4 * 4
    for part in range(0, four, 4):
        first = code_table[part] + codes[part, own]
        second = code_table[part + 1] + codes[part + 1, own]
        third = code_table[part + 2] + codes[part + 2, own]
        fourth = code_table[part + 3] + codes[part + 3, own]
        for place in range(end):
            left = table[first + codes[part, place]] + table[second + codes[part + 1, place]]
            right = table[third + codes[part + 2, place]] + table[fourth + codes[part + 3, place]]
            out[place] += left + right
    for part in range(four, n_parts):
        first = code_table[part] + codes[part, own]
        for place in range(end):
            out[place] += table[first + codes[part, place]]


@kernel(fastmath=SAFE_FLAGS)
def normal_scores(fields, k, shape, strength, own, end, out):
    """What is left of a Gaussian column: -(shape + n / 2) log(rate of the union)."""
    stand_alone()
    n_own, mean, half_spread = fields[k, COUNT, own], fields[k, MEAN, own], 0.5 * fields[k, SPREAD, own]
    for place in range(end):
        held = strength + fields[k, COUNT, place]
        gap = mean - fields[k, POSTERIOR_MEAN, place]
        weight = 0.5 * n_own * held / (held + n_own)
        rate = fields[k, POSTERIOR_RATE, place] + half_spread + weight * (gap * gap)
        out[place] -= (shape + 0.5 * (fields[k, COUNT, place] + n_own)) * fast_log(rate, 0.0)


@kernel(fastmath=SAFE_FLAGS)
def known_scores(fields, k, variance, prior_mean, prior_variance, own, end, out):
    """What is left of a Gaussian column of known variance: the two squares."""
    n_own, mean, spread = fields[k, COUNT, own], fields[k, MEAN, own], fields[k, SPREAD, own]
    for place in range(end):
        n_place = fields[k, COUNT, place]
        n = n_own + n_place
        share = n_place / max(n, 1.0)
        gap = fields[k, MEAN, place] - mean
        within = spread + fields[k, SPREAD, place] + n_own * share * gap * gap
        off = n_own * (mean - prior_mean) + n_place * (fields[k, MEAN, place] - prior_mean)
        out[place] -= 0.5 * within / variance + 0.5 * off * off / (max(n, 1.0) * (variance + n * prior_variance))


@kernel(fastmath=SAFE_FLAGS)
def rate_scores(fields, k, rate, own, end, out):
    """What is left of a Poisson column: -sum log(rate + n)."""
    n_own, sum_own = fields[k, FIRST_SUM, own], fields[k, SECOND_SUM, own]
    for place in range(end):
        n = n_own + fields[k, FIRST_SUM, place]
        out[place] -= (sum_own + fields[k, SECOND_SUM, place]) * fast_log(rate + n, 0.0)


@kernel
def sum_scores(kind, fields, k, p, own, end, out):
    """Columns whose sums are too large for any table."""
    first, second = fields[k, FIRST_SUM, own], fields[k, SECOND_SUM, own]
    for place in range(end):
        one, other = first + fields[k, FIRST_SUM, place], second + fields[k, SECOND_SUM, place]
        if kind == GAMMA_SUMS:
            out[place] += gamma_log_marginal(one, other, p[0], p[1])
        else:
            out[place] += beta_log_marginal(one, other, p[1], p[2])


@kernel
def field_log_marginal(kind, p, fields, k, place):
    """What the parts of a column leave out."""
    if kind == NORMAL:
        return -(p[2] + 0.5 * fields[k, COUNT, place]) * math.log(fields[k, POSTERIOR_RATE, place])
    first, second = fields[k, FIRST_SUM, place], fields[k, SECOND_SUM, place]
    if kind == NORMAL_KNOWN:
        off = second - p[1]
        return -0.5 * fields[k, SPREAD, place] / p[0] - 0.5 * first * off * off / (p[0] + first * p[2])
    if kind == GAMMA_RATES:
        return -second * math.log(p[1] + first)
    if kind == GAMMA_SUMS:
        return gamma_log_marginal(first, second, p[0], p[1])
    return beta_log_marginal(first, second, p[1], p[2])
