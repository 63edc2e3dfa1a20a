"""Rows in items: groups of rows that move as one, some of which may not meet in a cluster.

`LinkedPrior` is the prior of another likelihood as engines see it when they cluster items instead of rows. A datum is
the number of an item; to add it is to add all its rows. Engines count a cluster's items and know nothing of rows, so
that what the process says of a cluster of w rows and m items is put right in the marginal:

log_marginal(cluster) = log p(its rows) + log_size[w] - log_items[m] - FORBIDDEN * (pairs in it that are to be apart).

With log kappa(m) looked up by the engine, log_items = log kappa and log_size the same function of w give log kappa(w).
"""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import (
    add,
    hyper,
    log_gradient,
    log_marginal,
    log_predictive,
    merge,
    n_stats,
    remove,
    with_hyper,
)
from bayesgrove.likelihoods.coordinates import coordinate_gradient, coordinates, n_coordinates, with_coordinates
from bayesgrove.stats.links import Links

FORBIDDEN = 1e10
"""Taken off a log marginal for each pair that is to be apart: exp(-1e10) is 0, but sums and differences are numbers."""
N_COUNTS = 2
"""Behind the statistics of the rows: number of rows, number of items, then whether each item with a pair is there."""


class LinkedPrior(NamedTuple):
    """A prior with the items of a data set."""

    prior: NamedTuple
    """Of the rows."""
    values: np.ndarray
    """(n_rows, d) the encoded rows."""
    start: np.ndarray
    """(n_items + 1,) item i has the rows members[start[i]:start[i + 1]]."""
    members: np.ndarray
    """(n_rows,)"""
    flag: np.ndarray
    """(n_items,) place of an item among those that have a pair, NULL where it has none."""
    others_start: np.ndarray
    others: np.ndarray
    """Places of those that may not meet the item at place f: others[others_start[f]:others_start[f + 1]]."""
    log_size: np.ndarray
    """(n_rows + 2,)"""
    log_items: np.ndarray
    """(n_rows + 2,)"""


def link_rows(
    prior: NamedTuple, values: np.ndarray, links: Links, log_size: np.ndarray, log_items: np.ndarray
) -> tuple[LinkedPrior, np.ndarray]:
    """The prior of items and the items as data, (n_items, 1)."""
    n_items = links.n_items
    start = np.concatenate([[0], np.cumsum(np.bincount(links.item, minlength=n_items))])
    with_pair, places = np.unique(links.apart, return_inverse=True)
    flag = np.full(n_items, NULL)
    flag[with_pair] = np.arange(with_pair.size)
    pairs = places.reshape(-1, 2)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    others_start = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=with_pair.size))])
    linked = LinkedPrior(
        prior,
        np.ascontiguousarray(values),
        start.astype(np.int64),
        np.argsort(links.item, kind="stable"),
        flag,
        others_start.astype(np.int64),
        np.ascontiguousarray(both[:, 1]),
        log_size,
        log_items,
    )
    return linked, np.arange(n_items, dtype=float)[:, np.newaxis]


@n_stats.register(LinkedPrior)
def linked_n_stats(prior):
    """Statistics of the rows, two counts, the flags."""
    return n_stats(prior.prior) + N_COUNTS + prior.others_start.size - 1


@add.register(LinkedPrior)
def linked_add(prior, row, x):
    """All rows of the item."""
    item, width = int(x[0]), n_stats(prior.prior)
    for at in range(prior.start[item], prior.start[item + 1]):
        add(prior.prior, row[:width], prior.values[prior.members[at]])
    row[width] += prior.start[item + 1] - prior.start[item]
    row[width + 1] += 1.0
    if prior.flag[item] != NULL:
        row[width + N_COUNTS + prior.flag[item]] += 1.0


@remove.register(LinkedPrior)
def linked_remove(prior, row, x):
    """All rows of the item."""
    item, width = int(x[0]), n_stats(prior.prior)
    for at in range(prior.start[item], prior.start[item + 1]):
        remove(prior.prior, row[:width], prior.values[prior.members[at]])
    row[width] -= prior.start[item + 1] - prior.start[item]
    row[width + 1] -= 1.0
    if prior.flag[item] != NULL:
        row[width + N_COUNTS + prior.flag[item]] -= 1.0


@merge.register(LinkedPrior)
def linked_merge(prior, out, a, b):
    """Statistics of the rows by their family; counts are added."""
    width = n_stats(prior.prior)
    merge(prior.prior, out[:width], a[:width], b[:width])
    for s in range(width, out.size):
        out[s] = a[s] + b[s]


@log_marginal.register(LinkedPrior)
def linked_log_marginal(prior, row):
    """Of the rows, with what sizes and forbidden pairs put right."""
    width, n_pairs = n_stats(prior.prior), 0.0
    flags = row[width + N_COUNTS :]
    for f in range(flags.size):
        if flags[f] > 0.0:
            for at in range(prior.others_start[f], prior.others_start[f + 1]):
                if flags[prior.others[at]] > 0.0:
                    n_pairs += 0.5  # each is met from both sides
    sizes = at_size(prior.log_size, row[width]) - at_size(prior.log_items, row[width + 1])
    return log_marginal(prior.prior, row[:width]) + sizes - FORBIDDEN * n_pairs


@kernel
def at_size(table, size):
    """An entry; engines also score clusters that hold an item twice, larger than all, and make no use of it."""
    return table[min(int(size), table.size - 1)]


@log_predictive.register(LinkedPrior)
def linked_log_predictive(prior, row, x):
    """Difference of log marginals, without computing twice what does not change."""
    item, width, n_pairs = int(x[0]), n_stats(prior.prior), 0.0
    flags, place = row[width + N_COUNTS :], prior.flag[item]
    if place != NULL:
        for at in range(prior.others_start[place], prior.others_start[place + 1]):
            if flags[prior.others[at]] > 0.0:
                n_pairs += 1.0
    n_rows, n_items, n_more = row[width], row[width + 1], prior.start[item + 1] - prior.start[item]
    total = at_size(prior.log_size, n_rows + n_more) - at_size(prior.log_size, n_rows) - FORBIDDEN * n_pairs
    total -= at_size(prior.log_items, n_items + 1.0) - at_size(prior.log_items, n_items)
    if n_more == 1:
        return total + log_predictive(prior.prior, row[:width], prior.values[prior.members[prior.start[item]]])
    union = row[:width].copy()
    for at in range(prior.start[item], prior.start[item + 1]):
        add(prior.prior, union, prior.values[prior.members[at]])
    return total + log_marginal(prior.prior, union) - log_marginal(prior.prior, row[:width])


@log_gradient.register(LinkedPrior)
def linked_log_gradient(prior, row, out):
    """Sizes and pairs depend on no hyperparameter."""
    log_gradient(prior.prior, row[: n_stats(prior.prior)], out)


@hyper.register(LinkedPrior)
def linked_hyper(prior):
    """Those of the rows."""
    return hyper(prior.prior)


@with_hyper.register(LinkedPrior)
def linked_with_hyper(prior, factors):
    """The same items."""
    return LinkedPrior(
        with_hyper(prior.prior, factors),
        prior.values,
        prior.start,
        prior.members,
        prior.flag,
        prior.others_start,
        prior.others,
        prior.log_size,
        prior.log_items,
    )


@coordinates.register(LinkedPrior)
def linked_coordinates(prior):
    """Those of the rows."""
    return coordinates(prior.prior)


@with_coordinates.register(LinkedPrior)
def linked_with_coordinates(prior, factors):
    """The same items."""
    return prior._replace(prior=with_coordinates(prior.prior, factors))


@n_coordinates.register(LinkedPrior)
def linked_n_coordinates(prior):
    """Those of the rows."""
    return n_coordinates(prior.prior)


@coordinate_gradient.register(LinkedPrior)
def linked_coordinate_gradient(prior, row, out):
    """Sizes and pairs depend on no hyperparameter."""
    coordinate_gradient(prior.prior, row[: n_stats(prior.prior)], out)
