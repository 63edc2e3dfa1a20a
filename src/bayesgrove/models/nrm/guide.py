"""The guide tree: a binary tree over all points that knows nothing of the partition and so may steer its moves.

Leaves are put in the tree's order. Gap t lies between the leaves at t and t + 1 and stands for their lowest common
ancestor: a binary tree of n leaves has n - 1 inner nodes and n - 1 gaps, one each. `key[t]` is larger for a node than
for all below it, so the node of gap t reaches left and right as far as keys stay below its own, and a subset of the
leaves has the tree of the largest keys between its neighbours.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, merge, n_stats
from bayesgrove.stats.fastlog import stand_alone
from bayesgrove.stats.special import log_add

WARD_ROWS = 2_000
"""Up to so many rows Ward's linkage, which costs their square."""
SAMPLE, LLOYD_STEPS, SMALL = 256, 4, 8
FLOOR = 0.001


class Guide(NamedTuple):
    """A guide tree in leaf order, with the weights by which its nodes are chosen."""

    order: np.ndarray
    """(n,): row of the data at each place."""
    key: np.ndarray
    """(n - 1,)."""
    first: np.ndarray
    last: np.ndarray
    """`first` and `last`, (n - 1,): places the node of each gap spans, both inclusive."""
    cumulative: np.ndarray
    """(n,): sum of the weights d / (1 + d) + 0.001 / n of the nodes of all gaps before."""


def make_guide(rng: np.random.Generator, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order of the rows and keys of the gaps: Ward's tree of a small table, bisection of a large one."""
    if points.shape[0] <= WARD_ROWS:
        return ward_guide(points)
    return bisect(rng, points)


def ward_guide(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ward's linkage."""
    n = points.shape[0]
    if n == 1:
        return np.zeros(1, np.int64), np.zeros(0, np.int64)
    merges = linkage(pdist(points), "ward")  # of points that look like distances scipy would warn
    order = leaves_list(merges).astype(np.int64)
    return order, merge_gaps(merges[:, :2].astype(np.int64), order)


@kernel
def merge_gaps(merges, order):
    """The merge that joins the leaves on both sides of each gap."""
    n = order.size
    first, last = np.empty(2 * n - 1, np.int64), np.empty(2 * n - 1, np.int64)
    key = np.empty(n - 1, np.int64)
    for place in range(n):
        first[order[place]] = place
        last[order[place]] = place
    for step in range(n - 1):
        a, b = merges[step, 0], merges[step, 1]
        if first[a] > first[b]:
            a, b = b, a
        key[last[a]] = step
        first[n + step] = first[a]
        last[n + step] = last[b]
    return key


@kernel
def squared_distance(a, b):
    """Sum of squared differences."""
    total = 0.0
    for j in range(a.size):
        total += (a[j] - b[j]) ** 2
    return total


@kernel
def farthest(points, members, n_members, centre):
    """The member farthest from a point."""
    best, found = -1.0, members[0]
    for at in range(n_members):
        distance = squared_distance(points[members[at]], centre)
        if distance > best:
            best, found = distance, members[at]
    return found


@kernel
def two_means(rng, points, order, start, stop, centres):
    """Two centres for order[start:stop]: seeds far apart, some Lloyd steps, on at most 256 members."""
    n_columns, n = points.shape[1], min(SAMPLE, stop - start)
    sample = np.empty(n, np.int64)
    for at in range(n):
        sample[at] = order[start + (at if stop - start <= SAMPLE else rng.integers(0, stop - start))]
    one = farthest(points, sample, n, points[sample[rng.integers(0, n)]])
    two = farthest(points, sample, n, points[one])
    for j in range(n_columns):
        centres[0, j], centres[1, j] = points[one, j], points[two, j]
    sums, counts = np.empty((2, n_columns)), np.empty(2)
    for _ in range(LLOYD_STEPS):
        for side in range(2):
            counts[side] = 0.0
            for j in range(n_columns):
                sums[side, j] = 0.0
        for at in range(n):
            point = points[sample[at]]
            side = 1 if squared_distance(point, centres[1]) < squared_distance(point, centres[0]) else 0
            counts[side] += 1.0
            for j in range(n_columns):
                sums[side, j] += point[j]
        for side in range(2):
            for j in range(n_columns):
                if counts[side] > 0.0:
                    centres[side, j] = sums[side, j] / counts[side]


@kernel
def part(points, order, start, stop, centres, buffer):
    """Bring the members nearer to the first centre to the front, each side in its old order; gives the border."""
    border, n_second = start, 0
    for at in range(start, stop):
        member = order[at]
        if squared_distance(points[member], centres[1]) < squared_distance(points[member], centres[0]):
            buffer[n_second] = member
            n_second += 1
        else:
            order[border] = member
            border += 1
    for at in range(n_second):
        order[border + at] = buffer[at]
    if border in (start, stop):  # all points alike
        return (start + stop) // 2
    return border


@kernel
def bisect(rng, points):
    """Top-down bisection by two means, down to 8 points, then halving; keys fall from root to leaves."""
    n = points.shape[0]
    order, key = np.arange(n), np.empty(max(n - 1, 0), np.int64)
    buffer, centres = np.empty(n, np.int64), np.empty((2, points.shape[1]))
    starts, stops = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    starts[0], stops[0], n_waiting, next_key = 0, n, 1, n - 1
    while n_waiting > 0:
        n_waiting -= 1
        start, stop = starts[n_waiting], stops[n_waiting]
        if stop - start < 2:
            continue
        if stop - start <= SMALL:
            border = (start + stop) // 2
        else:
            two_means(rng, points, order, start, stop, centres)
            border = part(points, order, start, stop, centres, buffer)
        next_key -= 1
        key[border - 1] = next_key
        starts[n_waiting], stops[n_waiting] = start, border
        starts[n_waiting + 1], stops[n_waiting + 1] = border, stop
        n_waiting += 2
    return order, key


@kernel
def tree_potentials(prior, values, members, key, log_kappa, log_d, first, last):
    """log d and span of each node of the tree that `key` says over `members` (places in `values`, in order).

    d(l, r) = T(l) T(r) / phi(l u r) and T = phi + T(l) T(r), T(leaf) = phi(leaf). One pass from left to right: a stack
    holds the finished subtrees to the left, which the next larger key joins. Gives log T of the root.
    """
    stand_alone()
    n, width = members.size, n_stats(prior)
    room = 64
    rows, log_t, start = np.zeros((room, width)), np.empty(room), np.empty(room, np.int64)
    depth = 0
    for at in range(n):
        if depth == room:  # a chain-like tree needs a deep stack
            more = np.zeros((2 * room, width))
            more_t, more_start = np.empty(2 * room), np.empty(2 * room, np.int64)
            for k in range(room):
                more_t[k], more_start[k] = log_t[k], start[k]
                for s in range(width):
                    more[k, s] = rows[k, s]
            rows, log_t, start, room = more, more_t, more_start, 2 * room
        for s in range(width):
            rows[depth, s] = 0.0
        add(prior, rows[depth], values[members[at]])
        log_t[depth], start[depth] = log_kappa[1] + log_marginal(prior, rows[depth]), at
        depth += 1
        while depth > 1 and (at == n - 1 or key[start[depth - 1] - 1] < key[at]):
            left, right = depth - 2, depth - 1
            gap = start[right] - 1
            merge(prior, rows[left], rows[left], rows[right])
            log_phi = log_kappa[at + 1 - start[left]] + log_marginal(prior, rows[left])
            log_d[gap] = log_t[left] + log_t[right] - log_phi
            log_t[left] = log_phi + log_add(0.0, log_d[gap])
            first[gap], last[gap] = start[left], at
            depth -= 1
    return log_t[0]


def weigh_guide(prior: Any, values: np.ndarray, order: np.ndarray, key: np.ndarray, log_kappa: np.ndarray) -> Guide:
    """The guide of `values`, which are in leaf order, with the weights of its nodes."""
    n = order.size
    log_d, first, last = np.empty(n - 1), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    tree_potentials(prior, values, np.arange(n), key, log_kappa, log_d, first, last)
    return Guide(order, key, first, last, cumulative_weights(log_d, n))


def cumulative_weights(log_d: np.ndarray, n: int) -> np.ndarray:
    """Sums of d / (1 + d) + 0.001 / n."""
    return np.concatenate([[0.0], np.cumsum(np.exp(-np.logaddexp(0.0, -log_d)) + FLOOR / n)])


@kernel
def cut_weight(log_d, n_members):
    """Weight of a node as a place to cut."""
    return 1.0 / (1.0 + math.exp(-log_d)) + FLOOR / n_members if log_d > -700.0 else FLOOR / n_members


@kernel
def draw_gap(rng, cumulative, first, last):
    """A gap in first .. last - 1, by its weight."""
    goal = cumulative[first] + rng.random() * (cumulative[last] - cumulative[first])
    low, high = first, last - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle + 1] > goal:
            high = middle
        else:
            low = middle + 1
    return low
