"""Sequentially allocated split-merge of the rows of one view (Dahl), every exponent times beta.

Anchors i and j are drawn uniformly. The other members of their clusters, in random order, join a side with probability
proportional to (size m(x | side))^beta; q is the product of these. A split of U into A and B is accepted with
probability min(1, r), log r = beta (log alpha + lgamma|A| + lgamma|B| - lgamma|U| + lm(A) + lm(B) - lm(U)) - log q;
a merge has -log r, its allocation forced. The uniform number is drawn first: since log q <= 0, a merge is refused as
soon as log r cannot fall low enough any more.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.columns import column_log_predictive, column_merge
from bayesgrove.likelihoods.moments import added
from bayesgrove.models.cross.mcmc_lanes import FACTORS, layout_of
from bayesgrove.models.cross.mcmc_rows import add_row, clear_cluster, copy_cluster, drop_cluster
from bayesgrove.models.cross.mcmc_state import with_room
from bayesgrove.models.cross.mcmc_target import rate_marginal, table_log_marginal
from bayesgrove.stats.special import softplus

SPLITS, SPLITS_ACCEPTED, MERGES, MERGES_ACCEPTED = range(4)
N_TALLIES = 4


class Law(NamedTuple):
    """What the acceptance ratio needs besides the cells."""

    log_alpha: float
    beta: float


class Scratch(NamedTuple):
    """Statistics of two sides and of a union, sizes of the sides, rows to be placed and the sides they took."""

    sides: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    taken: np.ndarray


@borrower
def log_marginal_of(target, params, tables, members, row):
    """Log marginal of a view's columns in one cluster."""
    family, start, table_at, total = target.family, target.start, target.table_at, 0.0
    for m in range(members.size):
        j = members[m]
        total += table_log_marginal(family[j], row, start[j], start[j + 1], params, j, tables, table_at[j])
    return total


@borrower
def gaussian_gain(sides, side, first, x, params, j, tables, at):
    """Log predictive of a cell, its Gamma functions looked up."""
    n, mean, spread = sides[side, first], sides[side, first + 1], sides[side, first + 2]
    before = rate_marginal(n, mean, spread, params, j, tables, at)
    n, mean, spread = added(n, mean, spread, x)
    return rate_marginal(n, mean, spread, params, j, tables, at) - before


@kernel(inline="always")
def log_odds_of_sides(target, params, tables, layout, sides, i):
    """log m(x_i | first side) - log m(x_i | second side)."""
    members, at, weights, totals, n_discrete, n_regular, _ = layout
    cells, codes, start, table_at = target.by_row, target.codes_by_row, target.start, target.table_at
    total, above, below, n_factors = 0.0, 1.0, 1.0, 0
    for m in range(n_discrete):
        j = members[m]
        code, first = codes[i, j], start[j]
        if code > 0:
            ours, theirs, weight = totals[m], totals[m], weights[at[m] + code]
            for s in range(first, start[j + 1]):
                ours += sides[0, s]
                theirs += sides[1, s]
            above *= (sides[0, first + code - 1] + weight) * theirs
            below *= (sides[1, first + code - 1] + weight) * ours
            n_factors += 1
            if n_factors == FACTORS:
                total += math.log(above / below)
                above, below, n_factors = 1.0, 1.0, 0
    for m in range(n_discrete, n_regular):
        j = members[m]
        x = cells[i, j]
        if not math.isnan(x):
            total += gaussian_gain(sides, 0, start[j], x, params, j, tables, table_at[j])
            total -= gaussian_gain(sides, 1, start[j], x, params, j, tables, table_at[j])
    for m in range(n_regular, members.size):
        j = members[m]
        x, family, first, last = cells[i, j], target.family[j], start[j], start[j + 1]
        if not math.isnan(x):
            total += column_log_predictive(family, sides[0], first, last, x, params[j])
            total -= column_log_predictive(family, sides[1], first, last, x, params[j])
    return total + math.log(above / below)


@kernel
def gather(rng, labels, one, two, i, j, members):
    """The members of two clusters but for the anchors, in random order; gives their number."""
    n = 0
    for row in range(labels.size):
        if (labels[row] == one or labels[row] == two) and row != i and row != j:
            members[n] = row
            n += 1
    for last in range(n - 1, 0, -1):
        place = rng.integers(0, last + 1)
        members[last], members[place] = members[place], members[last]
    return n


@borrower
def allocate(rng, target, params, tables, layout, beta, labels, forced, n_rows, scratch, least):
    """Put rows on the two sides one after the other; gives log q, or -inf once it has fallen below `least`.

    `forced` is the label of rows whose side is the first one, or -1 where sides are drawn.
    """
    sides, sizes, rows, taken = scratch
    log_q, log_n = 0.0, target.log_n
    for at in range(n_rows):
        i = rows[at]
        log_odds = log_odds_of_sides(target, params, tables, layout, sides, i)
        log_odds = beta * (log_odds + log_n[sizes[0]] - log_n[sizes[1]])
        if forced >= 0:
            side = 0 if labels[i] == forced else 1
        else:
            side = 0 if rng.random() < 1.0 / (1.0 + math.exp(-log_odds)) else 1
        log_q -= softplus(-log_odds if side == 0 else log_odds)
        if log_q < least:
            return -np.inf
        taken[at] = side
        sizes[side] += 1
        add_row(target, params, layout, sides[side], i)
    return log_q


@kernel(inline="always")
def unite(target, members, one, two, out):
    """Statistics of the union of two clusters."""
    for m in range(members.size):
        j = members[m]
        column_merge(target.family[j], out, one, two, target.start[j], target.start[j + 1])


@borrower
def log_phi(target, params, tables, members, row, size):
    """log of Gamma(size) times the marginal of a cluster."""
    return target.log_gamma_n[size] + log_marginal_of(target, params, tables, members, row)


@borrower
def seat_anchors(target, params, layout, scratch, i, j):
    """Each anchor alone on its side."""
    for side in range(2):
        clear_cluster(target.start, layout.members, scratch.sides[side])
        scratch.sizes[side] = 1
    add_row(target, params, layout, scratch.sides[0], i)
    add_row(target, params, layout, scratch.sides[1], j)


@kernel(inline="always")
def try_split(rng, target, params, tables, law, layout, labels, sizes, stats, i, j, n_open, scratch):
    """Split the cluster of both anchors; gives the number of clusters."""
    members, log_uniform, own = layout.members, -rng.standard_exponential(), labels[i]
    n_rows = gather(rng, labels, own, own, i, j, scratch.rows)
    seat_anchors(target, params, layout, scratch, i, j)
    log_q = allocate(rng, target, params, tables, layout, law.beta, labels, -1, n_rows, scratch, -np.inf)
    log_ratio = law.log_alpha - log_phi(target, params, tables, members, stats[own], sizes[own])
    for side in range(2):
        log_ratio += log_phi(target, params, tables, members, scratch.sides[side], scratch.sizes[side])
    if not log_uniform < law.beta * log_ratio - log_q:
        return n_open
    copy_cluster(target.start, members, scratch.sides[0], stats[own])
    copy_cluster(target.start, members, scratch.sides[1], stats[n_open])
    sizes[own], sizes[n_open] = scratch.sizes[0], scratch.sizes[1]
    labels[j] = n_open
    for at in range(n_rows):
        if scratch.taken[at] == 1:
            labels[scratch.rows[at]] = n_open
    return n_open + 1


@kernel(inline="always")
def try_merge(rng, target, params, tables, law, layout, labels, sizes, stats, i, j, n_open, scratch):
    """Merge the clusters of the anchors; gives the number of clusters."""
    members, log_uniform, one, two = layout.members, -rng.standard_exponential(), labels[i], labels[j]
    union, size = scratch.sides[2], sizes[one] + sizes[two]
    unite(target, members, stats[one], stats[two], union)
    log_ratio = law.log_alpha - log_phi(target, params, tables, members, union, size)
    log_ratio += log_phi(target, params, tables, members, stats[one], sizes[one])
    log_ratio += log_phi(target, params, tables, members, stats[two], sizes[two])
    least = log_uniform + law.beta * log_ratio  # that log q must not fall below
    if least > 0.0:
        return n_open
    n_rows = gather(rng, labels, one, two, i, j, scratch.rows)
    seat_anchors(target, params, layout, scratch, i, j)
    log_q = allocate(rng, target, params, tables, layout, law.beta, labels, one, n_rows, scratch, least)
    if log_q < least:
        return n_open
    copy_cluster(target.start, members, union, stats[one])
    sizes[one] = size
    for row in range(labels.size):
        if labels[row] == two:
            labels[row] = one
    drop_cluster(target.start, members, labels, sizes, stats, two, n_open - 1)
    return n_open - 1


@kernel(inline="always")
def split_merge(rng, target, views, params, tables, alpha, beta, view, times, tallies):
    """Moves in one view; gives `sizes` and `stats`, larger ones where room was short."""
    sizes, stats, labels, n = views.sizes, views.stats, views.labels[view], views.labels.shape[1]
    law = Law(math.log(alpha), beta)
    layout = layout_of(target, params, views.of_column, view, views.widths[view])
    scratch = Scratch(
        np.zeros((3, stats.shape[1])), np.zeros(2, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    )
    for _ in range(times if n > 1 else 0):
        n_open = views.n_clusters[view]
        sizes, stats = with_room(sizes, stats, n_open + 2)
        own_sizes = sizes[view]
        i = rng.integers(0, n)
        j = rng.integers(0, n - 1)
        j = j if j < i else j + 1
        if labels[i] == labels[j]:
            n_then = try_split(
                rng, target, params, tables, law, layout, labels, own_sizes, stats, i, j, n_open, scratch
            )
            tallies[SPLITS] += 1
            tallies[SPLITS_ACCEPTED] += n_then - n_open
        else:
            n_then = try_merge(
                rng, target, params, tables, law, layout, labels, own_sizes, stats, i, j, n_open, scratch
            )
            tallies[MERGES] += 1
            tallies[MERGES_ACCEPTED] += n_open - n_then
        views.n_clusters[view] = n_then
    return sizes, stats
