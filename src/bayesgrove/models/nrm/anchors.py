"""Split-merge moves one after another: choose, refuse early, launch, scan, accept."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge, n_stats
from bayesgrove.models.nrm.guide import tree_potentials
from bayesgrove.models.nrm.launch import gather, launch_by_coins, launch_by_tree, scan, side_lanes
from bayesgrove.models.nrm.split_merge import (
    BALANCED,
    CLUSTER,
    COINS,
    MERGES,
    MERGES_ACCEPTED,
    NODE,
    SPLITS,
    SPLITS_ACCEPTED,
    accept_merge,
    accept_split,
    choose_clusters,
    draw_cut,
    draw_pair,
    find_member,
    log_cut_choice,
    log_merge_choice,
)
from bayesgrove.stats.fastlog import stand_alone


class Options(NamedTuple):
    """Numbers of the moves."""

    p_split: float = 0.5
    """Probability to try a split where a cluster is chosen first."""
    n_scans: int = 0
    """Restricted scans after a launch by the tree."""
    n_coin_scans: int = 10
    """Restricted scans after a launch by coins."""


class Work(NamedTuple):
    """Scratch of one move; few arrays, because each costs time to compile wherever it is passed."""

    of_member: np.ndarray
    """(6, n) int64: see MEMBERS and its neighbours."""
    log_d: np.ndarray
    """(n,) of the nodes of the union's tree."""
    rows: np.ndarray
    """(4, n_stats) statistics of the two sides, a side without a point, a block."""
    sizes: np.ndarray
    """(4,) int64."""
    anchors: np.ndarray
    """(2,) int64: where they stand among the members."""


MEMBERS, KEYS, SIDES, FORCED, FIRST, LAST = range(6)
"""Rows of `Work.of_member`: places in the guide's order, keys to the next, sides, prescribed sides, spans of nodes."""


@kernel
def new_work(prior, n):
    """Scratch for moves of n points."""
    return Work(
        np.empty((6, n), np.int64),
        np.empty(n),
        np.zeros((4, n_stats(prior))),
        np.zeros(4, np.int64),
        np.zeros(2, np.int64),
    )


@kernel
def log_split_ratio(prior, weights, clusters, one, two, work, parts, log_marginal_union, law, n_merged, options):
    """log r of the split, but for the recorded scan and the choice of the anchors by the union's tree."""
    n, part_sizes, log_kappa = clusters.labels.size, work.sizes, weights.log_kappa
    m = part_sizes[0] + part_sizes[1]
    log_phis = np.empty(2)
    for side in range(2):
        log_phis[side] = log_kappa[part_sizes[side]] + parts[side]
    log_phi_union = log_kappa[m] + log_marginal_union
    log_r = log_phis[0] + log_phis[1] - log_phi_union + weights.log_v[n_merged + 1] - weights.log_v[n_merged]
    if law == BALANCED:
        log_r += math.log(0.5 * (m - 1.0) * (1.0 / (n - part_sizes[0]) + 1.0 / (n - part_sizes[1])))
    if law in (CLUSTER, NODE):
        log_r += log_merge_choice(
            prior, log_kappa, clusters, one, two, work.rows, part_sizes, log_phis, log_phi_union, options.p_split
        )
        log_r += math.log(n_merged) - (0.0 if n_merged == 1 else math.log(options.p_split))
    if law == CLUSTER:
        log_r -= math.log(float(part_sizes[0] * part_sizes[1]))
    return log_r


@kernel
def choose_anchors(rng, law, is_split, prior, values, log_kappa, labels, work, n_members, one):
    """Anchors of distributions that look at the union's tree; gives log P(node) - log(leaves below its children)."""
    stand_alone()
    members, keys, anchors, log_d = work.of_member[MEMBERS], work.of_member[KEYS], work.anchors, work.log_d
    first, last = work.of_member[FIRST], work.of_member[LAST]
    tree_potentials(prior, values, members[:n_members], keys, log_kappa, log_d, first, last)
    if law == NODE or is_split:
        gap = draw_cut(rng, log_d, n_members)
        anchors[0], anchors[1] = first[gap], gap + 1
        if law == NODE:
            return 0.0
        anchors[0] += rng.integers(0, gap + 1 - first[gap])
        anchors[1] += rng.integers(0, last[gap] - gap)
    else:
        draw_anchor_of_each(rng, labels, members, n_members, one, anchors)
    low, high = min(anchors[0], anchors[1]), max(anchors[0], anchors[1])
    return log_cut_choice(log_d, first, last, keys, n_members, low, high)


@kernel
def draw_anchor_of_each(rng, labels, members, n_members, one, anchors):
    """A member drawn uniformly from each of the two clusters of a union."""
    size_one = 0
    for at in range(n_members):
        size_one += labels[members[at]] == one
    wanted_one, wanted_two = rng.integers(0, size_one), rng.integers(0, n_members - size_one)
    for at in range(n_members):
        if labels[members[at]] == one:
            if wanted_one == 0:
                anchors[0] = at
            wanted_one -= 1
        else:
            if wanted_two == 0:
                anchors[1] = at
            wanted_two -= 1


@kernel
def find_pair(members, n_members, i, j, anchors):
    """Where the two anchors stand among the members."""
    anchors[0] = find_member(members, n_members, i)
    anchors[1] = find_member(members, n_members, j)


@kernel
def launch_and_scan(rng, scorer, values, log_kappa, law, labels, work, n_members, options, is_split, least):
    """Launch, restricted scans, recorded scan (forced in a merge); gives its log probability."""
    stand_alone()
    members, keys = work.of_member[MEMBERS], work.of_member[KEYS]
    sides, forced = work.of_member[SIDES], work.of_member[FORCED]
    rows, sizes, anchors = work.rows, work.sizes, work.anchors
    n_scans = options.n_coin_scans if law == COINS else options.n_scans
    if law == COINS:
        launch_by_coins(rng, scorer.prior, values, members, n_members, anchors, sides, rows, sizes)
    else:
        launch_by_tree(rng, scorer.prior, values, log_kappa, members, keys, n_members, anchors, sides, rows, sizes)
    lanes = side_lanes(scorer, rows)
    for at in range(n_members):
        forced[at] = -1
    log_q = 0.0
    for s in range(n_scans + 1):
        is_recorded = s == n_scans
        if is_recorded and not is_split:
            first_cluster = labels[members[anchors[0]]]
            for at in range(n_members):
                forced[at] = 0 if labels[members[at]] == first_cluster else 1
        log_q = scan(
            rng, scorer, values, log_kappa, members, n_members, anchors, sides, rows, sizes, lanes, forced,
            least if is_recorded else -np.inf,
        )  # fmt: skip
    return log_q


@kernel
def take_parts(rows, sizes, log_marginals, one, two, work, parts):
    """Statistics, sizes and log marginals of two clusters as the two sides of a move."""
    for side in range(2):
        k = one if side == 0 else two
        work.sizes[side], parts[side] = sizes[k], log_marginals[k]
        for s in range(rows.shape[1]):
            work.rows[side, s] = rows[k, s]


@kernel
def one_move(rng, scorer, values, clusters, weights, guide_key, law, options, work, one, two, i, j):
    """Propose to split a cluster (one == two) or to merge two; gives whether it was done.

    The ratio is that of the split in either case. What a merge knows from the beginning, its parts, is computed
    first, so that most merges end before a member is read.
    """
    labels, count, sizes, rows, _, log_marginals = clusters
    prior, log_kappa, is_split = scorer.prior, weights.log_kappa, one == two
    by_cluster = law in (CLUSTER, NODE)
    n_members = sizes[one] if is_split else sizes[one] + sizes[two]
    n_merged = count[0] if is_split else count[0] - 1
    log_t, parts, union = -rng.standard_exponential(), np.empty(2), np.empty(rows.shape[1])
    log_marginal_union, log_ratio = log_marginals[one], 0.0
    if not is_split:
        take_parts(rows, sizes, log_marginals, one, two, work, parts)
        merge(prior, union, work.rows[0], work.rows[1])
        log_marginal_union = log_marginal(prior, union)
        log_ratio = log_split_ratio(
            prior, weights, clusters, one, two, work, parts, log_marginal_union, law, n_merged, options
        )
        if -log_ratio < log_t:
            return False  # all that is still to come can only lower it
    members = work.of_member[MEMBERS]
    gather(labels, guide_key, one, two, members, work.of_member[KEYS])
    log_cut = 0.0
    if by_cluster:
        log_cut = choose_anchors(rng, law, is_split, prior, values, log_kappa, labels, work, n_members, one)
        if not is_split and labels[members[work.anchors[0]]] == labels[members[work.anchors[1]]]:
            return False
    else:
        find_pair(members, n_members, i, j, work.anchors)
    least = -np.inf if is_split else log_t + log_ratio - log_cut
    log_q = launch_and_scan(rng, scorer, values, log_kappa, law, labels, work, n_members, options, is_split, least)
    if is_split:
        for side in range(2):
            parts[side] = log_marginal(prior, work.rows[side])
        log_ratio = log_split_ratio(
            prior, weights, clusters, one, two, work, parts, log_marginal_union, law, n_merged, options
        )
    log_r = log_ratio - log_cut - log_q
    if not log_t < (log_r if is_split else -log_r):
        return False
    if is_split:
        accept_split(scorer, clusters, members, n_members, work.of_member[SIDES], work.rows, work.sizes, parts, one)
    else:
        accept_merge(scorer, clusters, members, n_members, union, log_marginal_union, one, two)
    return True


@kernel
def split_merge_moves(rng, scorer, values, clusters, weights, guide, laws, options, first_move, tallies):
    """Moves by the given distributions, from `first_move` on; gives how many were done, fewer if a split lacks room."""
    labels, count, sizes, _, _, _ = clusters
    log_kappa, prior = weights.log_kappa, scorer.prior
    work = new_work(prior, labels.size)
    for at in range(first_move, laws.size):
        if count[0] + 1 >= min(sizes.size, weights.log_v.size):
            return at
        law = laws[at]
        i, j = -1, -1
        if law in (CLUSTER, NODE):
            one, two = choose_clusters(rng, prior, log_kappa, clusters, options.p_split)
        else:
            i, j = draw_pair(rng, law, labels, sizes, guide.cumulative, guide.first, guide.last)
            if i < 0:
                continue
            one, two = labels[i], labels[j]
        if one == two and sizes[one] == 1:
            continue
        done = one_move(rng, scorer, values, clusters, weights, guide.key, law, options, work, one, two, i, j)
        tallies[SPLITS if one == two else MERGES] += 1
        if done:
            tallies[SPLITS_ACCEPTED if one == two else MERGES_ACCEPTED] += 1
    return laws.size
