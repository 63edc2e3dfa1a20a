"""Split-merge of whole views: two views become one, or the columns of one are divided.

Columns of one view that chains have scattered over several hold each other fast: each view's clusters fit its own
columns better than any other's do, and no single column gains by moving (thousands of nats can be lost that way). Here
two views are merged at once and the rows of their union are allocated anew. With probability 4/5

    merge   a pair of views is drawn, the likelier the more their clusters agree (w = max(ARI, 0) + .01, normalised),
            and rows of the union U are allocated by Q(z | U) of `mcmc_allocation`

and otherwise

    split   one of the W views of two or more columns is drawn; its first column stays, each other goes if a fair coin
            says so (nothing happens where none goes), and rows of both sides are allocated

in a random order of the rows, the same for all that is compared. A merge is accepted with probability min(1, r),

    log r = beta [log p(merged) - log p(split)] + log Q(z_a | A) + log Q(z_b | B) - log Q(z | U)
            - (n - 1) log 2 - log W' - log(w_ab / sum w) + log(1/5 / 4/5)

where n columns are merged and W' counts views of two or more columns after the merge; a split with 1 / r.

What is proposed comes first, and then the uniform number: log Q of the rows as they are is at most 0, so that most
proposals are refused before it is computed, and others as soon as it has fallen too low.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.cross.mcmc_allocation import allocate_rows
from bayesgrove.models.cross.mcmc_columns import copy_numbers, drop_view, make_work, score_labels
from bayesgrove.models.cross.mcmc_lanes import layout_of
from bayesgrove.models.cross.mcmc_proposals import draw_weighted
from bayesgrove.models.cross.mcmc_state import (
    COLUMNS,
    ROWS,
    column_score,
    fill_column,
    log_crp_sizes,
    with_arrays,
    with_room,
)

SPLITS, SPLITS_ACCEPTED, MERGES, MERGES_ACCEPTED = range(4)
N_TALLIES = 4
MERGE_SHARE, LEAST_WEIGHT = 0.8, 0.01
LOG_2 = math.log(2.0)


class Side(NamedTuple):
    """Rows of a set of columns, and what the ratio needs of them."""

    labels: np.ndarray
    """(n_rows,)."""
    sizes: np.ndarray
    n_clusters: int
    log_q: float
    """Probability of the allocation."""
    log_p: float
    """Of the partition of the rows and of the cells."""


@kernel(inline="always")
def n_pairs(count):
    """Pairs among so many things."""
    return 0.5 * count * (count - 1.0)


@kernel(inline="always")
def agreement(first, n_first, second, n_second):
    """Adjusted Rand index of two labellings; 0 where chance leaves no room."""
    table, rows, columns = np.zeros((n_first, n_second)), np.zeros(n_first), np.zeros(n_second)
    for i in range(first.size):
        table[first[i], second[i]] += 1.0
        rows[first[i]] += 1.0
        columns[second[i]] += 1.0
    both = one = two = 0.0
    for a in range(n_first):
        one += n_pairs(rows[a])
        for b in range(n_second):
            both += n_pairs(table[a, b])
    for b in range(n_second):
        two += n_pairs(columns[b])
    chance = one * two / n_pairs(float(first.size)) if first.size > 1 else 0.0
    room = 0.5 * (one + two) - chance
    return (both - chance) / room if room > 0.0 else 0.0


@kernel
def pair_weights(labels, n_clusters, n_views, weights):
    """Weight of each pair a < b of views, at place b (b - 1) / 2 + a; gives their sum."""
    total = 0.0
    for b in range(1, n_views):
        for a in range(b):
            alike = agreement(labels[a], n_clusters[a], labels[b], n_clusters[b])
            weights[b * (b - 1) // 2 + a] = max(alike, 0.0) + LEAST_WEIGHT
            total += weights[b * (b - 1) // 2 + a]
    return total


@borrower
def wide_views(widths, n_views):
    """How many views have two or more columns."""
    n = 0
    for v in range(n_views):
        n += widths[v] > 1
    return n


@kernel
def new_side(rng, target, params, tables, alpha, beta, members, view, width, order, work):
    """Rows of the columns whose entry in `members` is `view`, allocated anew."""
    layout, labels = layout_of(target, params, members, view, width), np.empty(order.size, np.int64)
    columns, sizes = layout.members, np.zeros(order.size + 1, np.int64)
    n_clusters, log_q = allocate_rows(
        rng, target, params, tables, alpha, beta, layout, order, 0, labels, sizes, -np.inf
    )  # fmt: skip
    log_p = log_crp_sizes(target.log_gamma_n, sizes, n_clusters, order.size, alpha)
    for m in range(width):
        log_p += score_labels(target, params, tables, columns[m], labels, n_clusters, work)
    return Side(labels, sizes, n_clusters, log_q, log_p)


@borrower
def log_p_kept(target, views, params, tables, alpha, view):
    """Of the rows of a view as they are and of its cells."""
    n_rows = views.labels.shape[1]
    log_p = log_crp_sizes(target.log_gamma_n, views.sizes[view], views.n_clusters[view], n_rows, alpha)
    for j in range(views.of_column.size):
        if views.of_column[j] == view:
            log_p += column_score(target, params, tables, views, j)
    return log_p


@kernel
def log_q_kept(rng, target, views, params, tables, alpha, beta, view, order, least):
    """log Q of the rows of a view as they are, -inf once it has fallen below `least`."""
    layout = layout_of(target, params, views.of_column, view, views.widths[view])
    labels, sizes, n = views.labels[view], np.empty(order.size + 1, np.int64), order.size
    return allocate_rows(rng, target, params, tables, alpha, beta, layout, order, n, labels, sizes, least)[1]


@kernel(inline="always")
def log_merge_ratio(target, alpha_columns, beta, log_p, log_q, n_one, n_two):
    """log r but for how the pair and the view are drawn.

    `log_p` is that of the merged view's rows and cells less those of the two, `log_q` that of the allocations of the
    two less the merged one's, as far as they are known.
    """
    log_gamma, n = target.log_gamma_n, n_one + n_two
    log_p += log_gamma[n] - log_gamma[n_one] - log_gamma[n_two] - math.log(alpha_columns)
    return beta * log_p + log_q - (n - 1) * LOG_2 + math.log((1.0 - MERGE_SHARE) / MERGE_SHARE)


@kernel
def take_side(target, params, views, sizes, stats, members, mark, goal, side):
    """Give the columns marked so to view `goal`, with the side's rows."""
    sizes, stats = with_room(sizes, stats, side.n_clusters + 2)
    copy_numbers(side.labels, views.labels[goal], side.labels.size)
    views.n_clusters[goal], views.widths[goal] = side.n_clusters, 0
    copy_numbers(side.sizes, sizes[goal], side.n_clusters)
    for j in range(members.size):
        if members[j] == mark:
            views.of_column[j] = goal
            views.widths[goal] += 1
            fill_column(target, params, side.labels, side.n_clusters, stats, j)
    return sizes, stats


@kernel
def draw_order(rng, n):
    """A random order of the rows."""
    order = np.arange(n)
    for last in range(n - 1, 0, -1):
        place = rng.integers(0, last + 1)
        order[last], order[place] = order[place], order[last]
    return order


@kernel(inline="always")
def merge_views(rng, target, views, params, tables, concentrations, beta, work, tallies):
    """Propose to merge two views; gives `sizes` and `stats`, larger ones where room was short."""
    of_column, count, widths, labels, n_clusters, sizes, stats = views
    n_views, alpha = count[0], concentrations[ROWS]
    weights = np.empty(n_views * (n_views - 1) // 2)
    total = pair_weights(labels, n_clusters, n_views, weights)
    place, b = draw_weighted(rng, weights, weights.size, total), 1
    while b * (b + 1) // 2 <= place:
        b += 1
    a = place - b * (b - 1) // 2
    order, n = draw_order(rng, labels.shape[1]), widths[a] + widths[b]
    members = np.empty(of_column.size, np.int64)
    for j in range(members.size):
        members[j] = a if of_column[j] == b else of_column[j]
    whole = new_side(rng, target, params, tables, alpha, beta, members, a, n, order, work)
    log_uniform = -rng.standard_exponential()
    log_p, log_q = whole.log_p, 0.0
    for view in (a, b):
        log_p -= log_p_kept(target, views, params, tables, alpha, view)
    log_r = log_merge_ratio(target, concentrations[COLUMNS], beta, log_p, -whole.log_q, widths[a], widths[b])
    n_wide = wide_views(widths, n_views) - (widths[a] > 1) - (widths[b] > 1) + 1
    log_r -= math.log(n_wide) + math.log(weights[place] / total)
    least = log_uniform - log_r  # that log Q of the two must not fall below
    tallies[MERGES] += 1
    for view in (a, b):
        if log_q > least:
            log_q += log_q_kept(rng, target, views, params, tables, alpha, beta, view, order, least - log_q)
    if log_q > least:
        tallies[MERGES_ACCEPTED] += 1
        sizes, stats = take_side(target, params, views, sizes, stats, members, a, a, whole)
        no_masks = np.empty((1, 1, 0), np.uint64)
        drop_view(of_column, count, widths, labels, n_clusters, sizes, no_masks, b)
    return sizes, stats


@kernel(inline="always")
def divide_columns(rng, of_column, view, mark, members):
    """Mark the columns of a view that go, each but the first by a fair coin; gives how many."""
    n_gone, is_first = 0, True
    for j in range(of_column.size):
        members[j] = of_column[j]
        if of_column[j] == view:
            if not is_first and rng.random() < 0.5:
                members[j] = mark
                n_gone += 1
            is_first = False
    return n_gone


@kernel(inline="always")
def split_view(rng, target, views, params, tables, concentrations, beta, work, tallies):
    """Propose to divide a view; gives `sizes` and `stats`, larger ones where room was short."""
    of_column, count, widths, labels, n_clusters, sizes, stats = views
    n_views, alpha, n_wide = count[0], concentrations[ROWS], wide_views(widths, count[0])
    pick, view = rng.integers(0, n_wide), -1
    while pick >= 0:
        view += 1
        pick -= widths[view] > 1
    width, new, members = widths[view], n_views, np.empty(of_column.size, np.int64)
    n_gone = divide_columns(rng, of_column, view, new, members)
    tallies[SPLITS] += 1
    if n_gone == 0:
        return sizes, stats
    order = draw_order(rng, labels.shape[1])
    one = new_side(rng, target, params, tables, alpha, beta, members, view, width - n_gone, order, work)
    two = new_side(rng, target, params, tables, alpha, beta, members, new, n_gone, order, work)
    log_uniform = -rng.standard_exponential()
    log_p = log_p_kept(target, views, params, tables, alpha, view) - one.log_p - two.log_p
    log_q = one.log_q + two.log_q
    log_r = log_merge_ratio(target, concentrations[COLUMNS], beta, log_p, log_q, width - n_gone, n_gone)
    log_r -= math.log(n_wide)
    least = log_uniform + log_r  # that log Q of the view and log of the pair's share must not fall below
    if not least < 0.0:
        return sizes, stats
    after, after_clusters = np.empty((n_views + 1, order.size), np.int64), np.empty(n_views + 1, np.int64)
    for v in range(n_views):
        after_clusters[v] = n_clusters[v]
        copy_numbers(labels[v], after[v], order.size)
    copy_numbers(one.labels, after[view], order.size)
    copy_numbers(two.labels, after[new], order.size)
    after_clusters[view], after_clusters[new] = one.n_clusters, two.n_clusters
    weights = np.empty((n_views + 1) * n_views // 2)
    total = pair_weights(after, after_clusters, n_views + 1, weights)
    log_rest = math.log(weights[new * (new - 1) // 2 + view] / total)
    if log_rest > least:
        log_rest += log_q_kept(rng, target, views, params, tables, alpha, beta, view, order, least - log_rest)
    if log_rest > least:
        tallies[SPLITS_ACCEPTED] += 1
        count[0] = n_views + 1
        sizes, stats = take_side(target, params, views, sizes, stats, members, view, view, one)
        sizes, stats = take_side(target, params, views, sizes, stats, members, new, new, two)
    return sizes, stats


@kernel
def split_merge_views(rng, target, views, params, tables, concentrations, beta, times, share, tallies):
    """So many proposals, each made with a probability.

    A split where no view has two columns, or a merge of a single view, leaves all as it is.
    """
    work = make_work(target)
    sizes, stats = views.sizes, views.stats
    for _ in range(times):
        if share < 1.0 and rng.random() >= share:
            continue
        now = with_arrays(views, sizes, stats)
        if rng.random() < MERGE_SHARE:
            if views.n_views[0] > 1:
                sizes, stats = merge_views(rng, target, now, params, tables, concentrations, beta, work, tallies)
        elif wide_views(views.widths, views.n_views[0]) > 0:
            sizes, stats = split_view(rng, target, now, params, tables, concentrations, beta, work, tallies)
    return sizes, stats
