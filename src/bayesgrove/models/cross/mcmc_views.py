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
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
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
    """Rows of a set of columns, and what the ratio needs of them.

    Attributes
    ----------
    labels : int64 array of shape (n_rows,)
    sizes : int64 array
    n_clusters : int
    log_q : float
        Probability of the allocation.
    log_p : float
        Of the partition of the rows and of the cells.
    """

    labels: np.ndarray
    sizes: np.ndarray
    n_clusters: int
    log_q: float
    log_p: float


@kernel
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


@kernel
def wide_views(widths, n_views):
    """How many views have two or more columns."""
    n = 0
    for v in range(n_views):
        n += widths[v] > 1
    return n


@kernel
def side_of(rng, target, views, params, tables, alpha, beta, members, view, width, is_new, order, work):
    """Rows of the columns whose entry in `members` is `view`: allocated anew, or those of a view as it is.

    One kernel for both: two, much alike, would take the compiler long.
    """
    layout = layout_of(target, params, members, view, width)
    columns, sizes = layout.members, np.zeros(order.size + 1, np.int64)
    labels, n_given = (np.empty(order.size, np.int64), 0) if is_new else (views.labels[view], order.size)
    n_clusters, log_q = allocate_rows(rng, target, params, tables, alpha, beta, layout, order, n_given, labels, sizes)
    log_p = log_crp_sizes(target.log_gamma_n, sizes, n_clusters, order.size, alpha)
    for m in range(width):
        if is_new:
            log_p += score_labels(target, params, tables, columns[m], labels, n_clusters, work)
        else:
            log_p += column_score(target, params, tables, views, columns[m])
    return Side(labels, sizes, n_clusters, log_q, log_p)


@kernel(inline="always")
def log_merge_ratio(target, alpha_columns, beta, whole, one, two, n_one, n_two):
    """log r but for how the pair and the view are drawn."""
    log_gamma, n = target.log_gamma_n, n_one + n_two
    log_p = whole.log_p - one.log_p - two.log_p - math.log(alpha_columns)
    log_p += log_gamma[n] - log_gamma[n_one] - log_gamma[n_two]
    log_q = one.log_q + two.log_q - whole.log_q - (n - 1) * LOG_2
    return beta * log_p + log_q + math.log((1.0 - MERGE_SHARE) / MERGE_SHARE)


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
    whole = side_of(rng, target, views, params, tables, alpha, beta, members, a, n, True, order, work)
    one = side_of(rng, target, views, params, tables, alpha, beta, of_column, a, widths[a], False, order, work)
    two = side_of(rng, target, views, params, tables, alpha, beta, of_column, b, widths[b], False, order, work)
    log_r = log_merge_ratio(target, concentrations[COLUMNS], beta, whole, one, two, widths[a], widths[b])
    n_wide = wide_views(widths, n_views) - (widths[a] > 1) - (widths[b] > 1) + 1
    log_r -= math.log(n_wide) + math.log(weights[place] / total)
    tallies[MERGES] += 1
    if -rng.standard_exponential() < log_r:
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
    whole = side_of(rng, target, views, params, tables, alpha, beta, of_column, view, width, False, order, work)
    one = side_of(rng, target, views, params, tables, alpha, beta, members, view, width - n_gone, True, order, work)
    two = side_of(rng, target, views, params, tables, alpha, beta, members, new, n_gone, True, order, work)
    log_r = log_merge_ratio(target, concentrations[COLUMNS], beta, whole, one, two, width - n_gone, n_gone)
    after, after_clusters = np.empty((n_views + 1, order.size), np.int64), np.empty(n_views + 1, np.int64)
    for v in range(n_views):
        after_clusters[v] = n_clusters[v]
        copy_numbers(labels[v], after[v], order.size)
    copy_numbers(one.labels, after[view], order.size)
    copy_numbers(two.labels, after[new], order.size)
    after_clusters[view], after_clusters[new] = one.n_clusters, two.n_clusters
    weights = np.empty((n_views + 1) * n_views // 2)
    total = pair_weights(after, after_clusters, n_views + 1, weights)
    log_r -= math.log(n_wide) + math.log(weights[new * (new - 1) // 2 + view] / total)
    if -rng.standard_exponential() < -log_r:
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
