"""The column move: a column leaves its view and joins one, or a new one whose row labels are proposed.

Weights, with lp_j(z) the log marginal of column j under row labels z and M proposals z':

    view v    beta (log N_v + lp_j(z_v)), N_v without column j
    new z'    beta (log alpha_c + log CRP(z') + lp_j(z')) - log Q(z') - log M

where j is alone in its view, those labels are one of the M. With probability 1 - share a column chooses among the
views there are, and stays put when it is alone. See docs/theory/cross-clustering.md, Column move.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.columns import column_add, column_log_marginal
from bayesgrove.likelihoods.families import BERNOULLI, GAUSSIAN
from bayesgrove.models.cross.mcmc_bits import count_common, masks_of, set_masks
from bayesgrove.models.cross.mcmc_proposals import propose
from bayesgrove.models.cross.mcmc_state import COLUMNS, ROWS, fill_column, log_crp_sizes, with_room
from bayesgrove.models.cross.mcmc_target import rate_marginal
from bayesgrove.stats.sampling import draw_log_categorical

MOVED, PROPOSED, OPENED = range(3)
N_TALLIES = 3
SPARE = 8
BITS_PER_ROW = 2
"""Bits count a column where that takes at most so many words per row; many small clusters are counted row by row."""


class Options(NamedTuple):
    """Kind of proposal, number of proposals M, and share of the columns for which they are made."""

    kind: int
    n_proposals: int
    share: float


class Work(NamedTuple):
    """Scratch: counts by cluster and category, three sums by cluster, statistics by cluster."""

    counts: np.ndarray
    sums: np.ndarray
    rows: np.ndarray


@kernel(inline="always")
def make_work(target):
    """Scratch that is large enough for any labels."""
    start, codes, n_places, width, n_codes = target.start, target.n_codes, target.by_column.shape[1] + 1, 1, 0
    for j in range(codes.size):
        width, n_codes = max(width, start[j + 1] - start[j]), max(n_codes, codes[j])
    return Work(np.empty(n_places * (n_codes + 1), np.int64), np.empty((3, n_places)), np.empty((n_places, width)))


@borrower
def copy_numbers(source, target, n):
    """Copy the first n numbers."""
    for i in range(n):
        target[i] = source[i]


@kernel(inline="always")
def discrete_score(family, n_codes, codes, labels, n_clusters, tables, at, counts):
    """lp of a discrete column."""
    stride = n_codes + 1
    for place in range(n_clusters * stride):
        counts[place] = 0
    for i in range(labels.size):
        counts[labels[i] * stride + codes[i]] += 1  # missing cells are counted at 0 and forgotten
    total = 0.0
    for k in range(n_clusters):
        first = k * stride + 1
        if family == BERNOULLI:
            failures, successes = counts[first], counts[first + 1]
            total += tables[at, successes] + tables[at + 1, failures] - tables[at + 2, failures + successes]
        else:
            n = 0
            for place in range(first, first + n_codes):
                total += tables[at, counts[place]]
                n += counts[place]
            total -= tables[at + 1, n]
    return total


@borrower
def bit_score(family, n_codes, bits, bit_at, masks, view, n_clusters, tables, at):
    """The same by the bits of the column and of the view's clusters."""
    total = 0.0
    for k in range(n_clusters):
        if family == BERNOULLI:
            failures = count_common(bits, bit_at, masks, view, k)
            successes = count_common(bits, bit_at + 1, masks, view, k)
            total += tables[at, successes] + tables[at + 1, failures] - tables[at + 2, failures + successes]
        else:
            n = 0
            for code in range(n_codes):
                count = count_common(bits, bit_at + code, masks, view, k)
                total += tables[at, count]
                n += count
            total -= tables[at + 1, n]
    return total


@kernel(inline="always")
def gaussian_score(cells, labels, n_clusters, centre, params, j, tables, at, sums):
    """lp of a Gaussian column; squares are taken about the column's mean."""
    for k in range(n_clusters):
        sums[0, k] = sums[1, k] = sums[2, k] = 0.0
    for i in range(labels.size):
        gap = cells[i] - centre
        if not math.isnan(gap):
            k = labels[i]
            sums[0, k] += 1.0
            sums[1, k] += gap
            sums[2, k] += gap * gap
    total = 0.0
    for k in range(n_clusters):
        n = sums[0, k]
        if n > 0.0:
            mean = sums[1, k] / n
            spread = max(0.0, sums[2, k] - n * mean * mean)
            total += rate_marginal(n, mean + centre, spread, params, j, tables, at)
    return total


@kernel(inline="always")
def other_score(family, cells, labels, n_clusters, width, p, rows):
    """lp of a column of any family."""
    for k in range(n_clusters):
        for s in range(width):
            rows[k, s] = 0.0
    for i in range(labels.size):
        column_add(family, rows[labels[i]], 0, cells[i], p[0])
    total = 0.0
    for k in range(n_clusters):
        total += column_log_marginal(family, rows[k], 0, width, p)
    return total


@kernel
def score_labels(target, params, tables, j, labels, n_clusters, work):
    """Log marginal of column j under row labels."""
    family, at = target.family[j], target.table_at[j]
    if target.n_codes[j] > 0:
        codes = target.codes_by_column[j]
        return discrete_score(family, target.n_codes[j], codes, labels, n_clusters, tables, at, work.counts)
    cells = target.by_column[j]
    if family == GAUSSIAN:
        return gaussian_score(cells, labels, n_clusters, target.centre[j], params, j, tables, at, work.sums)
    width = target.start[j + 1] - target.start[j]
    return other_score(family, cells, labels, n_clusters, width, params[j], work.rows)


@kernel(inline="always")
def with_view(masks, labels, n_clusters, n_views, view):
    """The masks with those of one more view, larger ones where room was short."""
    if view >= masks.shape[0] or n_clusters[view] > masks.shape[1]:
        return masks_of(labels, n_clusters, n_views, SPARE)
    set_masks(labels[view], n_clusters[view], masks[view])
    return masks


@borrower
def drop_view(of_column, count, widths, labels, n_clusters, sizes, masks, gone):
    """Forget an empty view; the last one takes its number. Statistics stay where they are."""
    last = count[0] - 1
    count[0] = last
    if gone == last:
        return
    widths[gone], n_clusters[gone] = widths[last], n_clusters[last]
    for i in range(labels.shape[1]):
        labels[gone, i] = labels[last, i]
    for k in range(n_clusters[gone]):
        sizes[gone, k] = sizes[last, k]
        for w in range(masks.shape[2]):
            masks[gone, k, w] = masks[last, k, w]
    for j in range(of_column.size):
        if of_column[j] == last:
            of_column[j] = gone


@kernel(inline="always")
def weigh_new_view(rng, target, params, tables, concentrations, beta, options, j, is_own, labels, sizes, work):
    """Propose row labels of a new view, or take those there are; gives the number of clusters and the log weight."""
    alpha_rows, log_alpha = concentrations[ROWS], math.log(concentrations[COLUMNS])
    n_fresh = options.n_proposals
    n_new, log_q = propose(rng, target, params, tables, alpha_rows, options.kind, j, is_own, labels, sizes)
    log_new = log_alpha + score_labels(target, params, tables, j, labels, n_new, work)
    log_new += log_crp_sizes(target.log_gamma_n, sizes, n_new, labels.size, alpha_rows)
    return n_new, beta * log_new - log_q - math.log(n_fresh)


@kernel
def move_columns(rng, target, views, params, tables, concentrations, beta, options, columns, tallies):
    """Column moves; gives `sizes` and `stats`, larger ones where room was short, and the column that failed or -1."""
    of_column, count, widths, labels, n_clusters, sizes, stats = views
    n_rows, n_fresh, log_n = labels.shape[1], options.n_proposals, target.log_n
    fresh, fresh_sizes = np.empty((n_fresh, n_rows), np.int64), np.empty((n_fresh, n_rows + 1), np.int64)
    fresh_clusters = np.empty(n_fresh, np.int64)
    logs, work = np.empty(of_column.size + n_fresh + 1), make_work(target)
    masks = masks_of(labels, n_clusters, count[0], SPARE)
    family, n_codes, table_at, bits, bit_at = (
        target.family, target.n_codes, target.table_at, target.bits, target.bit_at
    )  # fmt: skip
    for j in columns:
        own, n_views = of_column[j], count[0]
        is_alone = widths[own] == 1
        with_new = options.share >= 1.0 or rng.random() < options.share
        if is_alone and not with_new:
            continue
        for v in range(n_views):
            n_others = widths[v] - 1 if v == own else widths[v]
            logs[v] = -np.inf
            if n_others > 0:
                n_words = n_clusters[v] * n_codes[j] * bits.shape[1]
                if 0 < n_words <= BITS_PER_ROW * n_rows:
                    score = bit_score(
                        family[j], n_codes[j], bits, bit_at[j], masks, v, n_clusters[v], tables, table_at[j]
                    )
                else:
                    score = score_labels(target, params, tables, j, labels[v], n_clusters[v], work)
                logs[v] = beta * (log_n[n_others] + score)
        n_options = n_views
        for m in range(n_fresh if with_new else 0):
            is_own = is_alone and m == 0
            if is_own:
                copy_numbers(labels[own], fresh[m], n_rows)
            fresh_clusters[m], logs[n_options] = weigh_new_view(
                rng, target, params, tables, concentrations, beta, options, j, is_own, fresh[m], fresh_sizes[m], work
            )
            n_options += 1
            tallies[PROPOSED] += 1 - is_own
        chosen = draw_log_categorical(rng, logs[:n_options])
        if chosen < 0:
            return sizes, stats, j
        if chosen == own or (is_alone and chosen == n_views):
            continue
        tallies[MOVED] += 1
        if chosen >= n_views:
            m, goal = chosen - n_views, n_views
            tallies[OPENED] += 1
            sizes, stats = with_room(sizes, stats, fresh_clusters[m] + 1)
            count[0], widths[goal], n_clusters[goal] = n_views + 1, 0, fresh_clusters[m]
            copy_numbers(fresh[m], labels[goal], n_rows)
            copy_numbers(fresh_sizes[m], sizes[goal], fresh_clusters[m])
            masks = with_view(masks, labels, n_clusters, n_views + 1, goal)
            chosen = goal
        of_column[j] = chosen
        widths[chosen] += 1
        widths[own] -= 1
        fill_column(target, params, labels[chosen], n_clusters[chosen], stats, j)
        if is_alone:
            drop_view(of_column, count, widths, labels, n_clusters, sizes, masks, own)
    return sizes, stats, -1
