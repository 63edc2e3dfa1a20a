"""Collapsed Gibbs sampling of the rows of one view, every exponent times beta."""

import math

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.columns import column_add, column_remove
from bayesgrove.likelihoods.moments import added, removed
from bayesgrove.models.cross.mcmc_lanes import (
    LANES,
    add_gaussian,
    add_others,
    copy_lane,
    discrete_without,
    fill_lane,
    gaussian_without,
    layout_of,
    others_without,
    score_discrete,
)
from bayesgrove.models.cross.mcmc_state import with_room
from bayesgrove.stats.sampling import draw_log_categorical


@borrower
def add_row(target, params, layout, row, i):
    """Put row i's cells of a view into a cluster."""
    members, start, codes, cells = layout.members, target.start, target.codes_by_row, target.by_row
    for m in range(layout.n_discrete):
        j = members[m]
        if codes[i, j] > 0:
            row[start[j] + codes[i, j] - 1] += 1.0
    for m in range(layout.n_discrete, layout.n_regular):
        s = start[members[m]]
        row[s], row[s + 1], row[s + 2] = added(row[s], row[s + 1], row[s + 2], cells[i, members[m]])
    for m in range(layout.n_regular, members.size):
        j = members[m]
        column_add(target.family[j], row, start[j], cells[i, j], params[j, 0])


@kernel(inline="always")
def remove_row(target, params, layout, row, i):
    """Take row i's cells of a view out of a cluster."""
    members, start, codes, cells = layout.members, target.start, target.codes_by_row, target.by_row
    for m in range(layout.n_discrete):
        j = members[m]
        if codes[i, j] > 0:
            row[start[j] + codes[i, j] - 1] -= 1.0
    for m in range(layout.n_discrete, layout.n_regular):
        s = start[members[m]]
        row[s], row[s + 1], row[s + 2] = removed(row[s], row[s + 1], row[s + 2], cells[i, members[m]])
    for m in range(layout.n_regular, members.size):
        j = members[m]
        column_remove(target.family[j], row, start[j], cells[i, j], params[j, 0])


@borrower
def clear_cluster(start, members, row):
    """An empty cluster, in the columns of a view only: others stand in the same row."""
    for m in range(members.size):
        for s in range(start[members[m]], start[members[m] + 1]):
            row[s] = 0.0


@borrower
def copy_cluster(start, members, source, target):
    """Copy the statistics of a view's columns from one row to another."""
    for m in range(members.size):
        for s in range(start[members[m]], start[members[m] + 1]):
            target[s] = source[s]


@kernel(inline="always")
def drop_cluster(start, members, labels, sizes, stats, gone, last):
    """Forget an empty cluster; the last one takes its number."""
    if gone == last:
        return
    copy_cluster(start, members, stats[last], stats[gone])
    sizes[gone] = sizes[last]
    for i in range(labels.size):
        if labels[i] == last:
            labels[i] = gone


@kernel
def wider(fields, n_lanes):
    """The fields with at least so many places."""
    more = np.zeros((fields.shape[0], (2 * n_lanes + LANES - 1) // LANES * LANES))
    for f in range(fields.shape[0]):
        for lane in range(fields.shape[1]):
            more[f, lane] = fields[f, lane]
    return more


@kernel(inline="always")
def lanes_of(target, params, tables, layout, stats, n_places):
    """Fields of the first clusters, with room for some more."""
    fields = wider(np.zeros((layout.weights.size, 0)), n_places)
    for k in range(n_places):
        fill_lane(target, params, tables, layout, stats, k, fields, k)
    return fields


@kernel(inline="always")
def with_empty_lane(fields, n_open):
    """The fields once the empty cluster, at place n_open, is about to be filled: the next place has its own."""
    if n_open + 2 > fields.shape[1]:
        fields = wider(fields, n_open + 2)
    copy_lane(fields, n_open, n_open + 1)
    return fields


@kernel(inline="always")
def drop_lane(start, members, labels, sizes, stats, fields, gone, last):
    """Forget an empty cluster, its lane too; the always empty one moves down to the last place."""
    drop_cluster(start, members, labels, sizes, stats, gone, last)
    copy_lane(fields, last, gone)
    copy_lane(fields, last + 1, last)
    clear_cluster(start, members, stats[last])


@kernel(inline="always")
def gibbs_rows(rng, target, views, params, tables, alpha, beta, view, rows):
    """Gibbs steps of these rows in one view; gives `sizes` and `stats`, larger ones where room was short.

    Also gives the row for which no cluster is possible, or -1.
    """
    labels, n_clusters = views.labels[view], views.n_clusters
    sizes, stats = with_room(views.sizes, views.stats, n_clusters[view] + 2)
    layout, start = layout_of(target, params, views.of_column, view, views.widths[view]), target.start
    members, at, weights, _, n_discrete, n_regular, _ = layout
    cells, codes, table_at, n_open = target.by_row, target.codes_by_row, target.table_at, n_clusters[view]
    clear_cluster(start, members, stats[n_open])
    fields = lanes_of(target, params, tables, layout, stats, n_open + 1)
    out, scratch, log_n, log_alpha = np.empty(fields.shape[1]), np.empty(stats.shape[1]), target.log_n, math.log(alpha)
    for i in rows:
        n_open = n_clusters[view]
        own = labels[i]
        is_alone = sizes[view, own] == 1
        n_lanes = (n_open + LANES) // LANES * LANES
        # Bare arrays: passing the tuples along costs more than what is computed.
        score_discrete(codes, i, members, at, n_discrete, fields, n_lanes, out)
        if n_regular > n_discrete:
            add_gaussian(cells, codes, i, members, at, n_discrete, n_regular, fields, n_lanes, out)
        if members.size > n_regular:
            add_others(target, params, members, n_regular, stats, i, n_open + 1, out)
        for k in range(n_open):
            out[k] = beta * (log_n[sizes[view, k]] + out[k])
        out[n_open] = beta * (log_alpha + out[n_open])
        if is_alone:
            out[own] = out[n_open]  # to stay is to open a new cluster
            chosen = draw_log_categorical(rng, out[:n_open])
        else:
            stay = discrete_without(codes, i, members, at, weights, n_discrete, start, fields, stats, own)
            if n_regular > n_discrete:
                stay += gaussian_without(
                    cells, codes, i, members, at, n_discrete, n_regular, start, table_at, params, tables, fields,
                    stats, own,
                )  # fmt: skip
            if members.size > n_regular:
                stay += others_without(target, params, members, n_regular, stats, own, scratch, i)
            out[own] = beta * (log_n[sizes[view, own] - 1] + stay)
            chosen = draw_log_categorical(rng, out[: n_open + 1])
        if chosen == own:
            continue
        if chosen < 0:
            return sizes, stats, i
        remove_row(target, params, layout, stats[own], i)
        sizes[view, own] -= 1
        labels[i] = chosen
        add_row(target, params, layout, stats[chosen], i)
        if chosen == n_open:
            sizes[view, chosen] = 0
            n_clusters[view] = n_open + 1
            sizes, stats = with_room(sizes, stats, n_open + 3)
            fields = with_empty_lane(fields, n_open)
            out = out if out.size == fields.shape[1] else np.empty(fields.shape[1])
            clear_cluster(start, members, stats[n_open + 1])
        sizes[view, chosen] += 1
        fill_lane(target, params, tables, layout, stats, chosen, fields, chosen)
        if is_alone:
            drop_lane(start, members, labels, sizes[view], stats, fields, own, n_open - 1)
            n_clusters[view] = n_open - 1
        else:
            fill_lane(target, params, tables, layout, stats, own, fields, own)
    return sizes, stats, -1
