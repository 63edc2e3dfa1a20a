"""Trees over the clusters of a partition: the old tree inside each cluster, a new one over the clusters.

A subset of the leaves of a tree induces a tree of its own: two rows meet where they met before. Laying the leaves out
from left to right, neighbours of a cluster meet at the latest merge between them, so that all induced merges come from
range maxima and one sort.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.blocks import Forest
from bayesgrove.agglomeration.exact import Atoms, agglomerate, atoms_of_rows
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.stats.special import log_add


class Layout(NamedTuple):
    """The leaves of a tree from left to right."""

    order: np.ndarray
    """(n,) row at each place."""
    latest: np.ndarray
    """(levels, n - 1) the latest merge between places i and i + 2^level, for range maxima."""


def layout_of(children: np.ndarray, n: int) -> Layout:
    """Leaves from left to right, and tables of the merges between them."""
    order, meeting = leaves_in_order(children, n)
    if n == 1:
        return Layout(order, np.empty((0, 0), np.int64))
    levels = [meeting]
    while (width := 1 << len(levels)) <= meeting.size:
        before, half = levels[-1], width // 2
        level = np.full(meeting.size, NULL)
        level[: meeting.size - width + 1] = np.maximum(
            before[: meeting.size - width + 1], before[half : meeting.size - width + 1 + half]
        )
        levels.append(level)
    return Layout(order, np.array(levels))


@kernel
def leaves_in_order(children, n):
    """Row at each place from left to right; the merge at which each place meets the next."""
    size, start = np.ones(2 * n - 1, np.int64), np.zeros(2 * n - 1, np.int64)
    for t in range(n - 1):
        size[n + t] = size[children[t, 0]] + size[children[t, 1]]
    order, meeting = np.empty(n, np.int64), np.empty(n - 1, np.int64)
    for t in range(n - 2, -1, -1):
        left, right = children[t, 0], children[t, 1]
        start[left] = start[n + t]
        start[right] = start[n + t] + size[left]
        meeting[start[right] - 1] = t
    for i in range(n):
        order[start[i]] = i
    return order, meeting


def induced_merges(layout: Layout, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merges inside the clusters of a partition, children before parents, and the root of each cluster."""
    n = labels.size
    places = np.argsort(labels[layout.order], kind="stable")  # cluster after cluster, from left to right
    same = labels[layout.order[places[1:]]] == labels[layout.order[places[:-1]]]
    first, last = places[:-1][same], places[1:][same]
    level = np.frexp(last - first)[1] - 1
    latest = np.maximum(layout.latest[level, first], layout.latest[level, last - (1 << level)])
    by_time = np.argsort(latest, kind="stable")
    return join_in_order(layout.order[first[by_time]], layout.order[last[by_time]], labels, n)


@kernel
def join_in_order(first, second, labels, n):
    """Join the trees that hold two rows, pair after pair; merges, and the root of each label's tree."""
    n_merges = first.size
    above, children = np.full(n + n_merges, NULL), np.empty((n_merges, 2), np.int64)
    for t in range(n_merges):
        a, b = root_of(above, first[t]), root_of(above, second[t])
        children[t, 0], children[t, 1] = min(a, b), max(a, b)
        above[a] = above[b] = n + t
    roots = np.full(n - n_merges, NULL)
    for i in range(n):
        if roots[labels[i]] == NULL:
            roots[labels[i]] = root_of(above, i)
    return children, roots


@kernel
def root_of(above, node):
    """The root above a node; the path is halved on the way."""
    while above[node] != NULL:
        if above[above[node]] != NULL:
            above[node] = above[above[node]]
        node = above[node]
    return node


class Weighed(NamedTuple):
    """Merges over single rows with their weights under a prior; arrays by node id, rows first."""

    children: np.ndarray
    log_odds: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    """(n, n_stats) room in which statistics were merged."""
    place: np.ndarray
    """Where the statistics of a node that was merged into no other stand."""


def weighed(prior: Any, values: np.ndarray, children: np.ndarray, log_concentration: float) -> Weighed:
    """Odds, q and d of merges over rows, which need not end in one root."""
    n, n_nodes = values.shape[0], values.shape[0] + children.shape[0]
    atoms = atoms_of_rows(prior, values, log_concentration)
    log_odds, log_q, log_d = np.full(n_nodes, np.inf), np.empty(n_nodes), np.empty(n_nodes)
    log_q[:n], log_d[:n] = atoms.log_q, atoms.log_d
    found = Weighed(children, log_odds, log_q, log_d, np.ones(n_nodes), atoms.rows, np.arange(n_nodes))
    weigh_merges(prior, log_concentration, found)
    return found


@kernel
def weigh_merges(prior, log_concentration, found):
    """Body of `weighed`: a merge's statistics are written over those of its first child."""
    children, log_odds, log_q, log_d, sizes, rows, place = found
    n = rows.shape[0]
    for t in range(children.shape[0]):
        a, b, c = children[t, 0], children[t, 1], n + t
        place[c], sizes[c] = place[a], sizes[a] + sizes[b]
        merge(prior, rows[place[c]], rows[place[a]], rows[place[b]])
        log_prior_one = log_concentration + math.lgamma(sizes[c])
        log_one, apart = log_prior_one + log_marginal(prior, rows[place[c]]), log_q[a] + log_q[b]
        log_q[c], log_d[c] = log_add(log_one, apart), log_add(log_prior_one, log_d[a] + log_d[b])
        log_odds[c] = log_one - apart


def forest_of(found: Weighed) -> Forest:
    """The same as a forest."""
    n = found.rows.shape[0]
    return Forest(found.children, found.log_odds[n:], found.log_q[n:], found.log_d[n:], found.log_q[:n])


def atoms_at(inside: Weighed, roots: np.ndarray) -> Atoms:
    """The roots of merges inside clusters, as atoms of a tree above them."""
    rows = np.ascontiguousarray(inside.rows[inside.place[roots]])
    return Atoms(rows, inside.sizes[roots], inside.log_q[roots], inside.log_d[roots])


def with_top(
    prior: Any, inside: Forest, roots: np.ndarray, atoms: Atoms, log_concentration: float, *, complete: bool
) -> Forest:
    """A tempered tree over clusters, whose roots are given, above the merges inside them."""
    n, n_inside, k = inside.leaf_log_q.size, inside.children.shape[0], roots.size
    top = agglomerate(prior, atoms, log_concentration, complete=complete, tempered=True)
    ids = np.concatenate([roots, n + n_inside + np.arange(k - 1)])
    return Forest(
        np.concatenate([inside.children, np.sort(ids[top.children], axis=1)]),
        np.concatenate([inside.log_odds, top.log_odds[k:]]),
        np.concatenate([inside.log_q, top.log_q[k:]]),
        np.concatenate([inside.log_d, top.log_d[k:]]),
        inside.leaf_log_q,
    )


@kernel
def most_probable_cut(children, log_odds, log_q, leaf_log_q):
    """Labels of the most probable partition consistent with the tree, by the place of its heads, and their number."""
    n = leaf_log_q.size
    best, whole = np.empty(2 * n - 1), np.ones(2 * n - 1, np.bool_)
    for i in range(n):
        best[i] = leaf_log_q[i]
    for t in range(n - 1):
        log_one = log_q[t] - log_add(0.0, -log_odds[t])
        apart = best[children[t, 0]] + best[children[t, 1]]
        whole[n + t] = log_one >= apart
        best[n + t] = max(log_one, apart)
    owner, n_found = np.full(2 * n - 1, NULL), 0
    for node in range(2 * n - 2, -1, -1):
        if owner[node] == NULL and whole[node]:
            owner[node] = n_found
            n_found += 1
        if node >= n and owner[node] != NULL:
            owner[children[node - n, 0]] = owner[children[node - n, 1]] = owner[node]
    return owner[:n].copy(), n_found


@kernel
def last_merges_undone(children, n, n_clusters):
    """Labels of the clusters that are left when all but the last merges are done."""
    owner, n_found = np.full(2 * n - 1, NULL), 0
    for node in range(2 * n - 1 - n_clusters, -1, -1):
        if owner[node] == NULL:
            owner[node] = n_found
            n_found += 1
        if node >= n:
            owner[children[node - n, 0]] = owner[children[node - n, 1]] = owner[node]
    return owner[:n].copy()
