"""Split-merge moves one after another: choose, refuse early, launch, scan, accept."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.models.nrm.guide import tree_potentials
from bayesgrove.models.nrm.launch import gather, launch_by_coins, launch_by_tree, new_rows, scan, side_lanes
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


class Options(NamedTuple):
    """Numbers of the moves."""

    p_split: float = 0.5
    """Probability to try a split where a cluster is chosen first."""
    n_scans: int = 0
    """Restricted scans after a launch by the tree."""
    n_coin_scans: int = 10
    """Restricted scans after a launch by coins."""


class Work(NamedTuple):
    """Scratch of one move."""

    members: np.ndarray
    keys: np.ndarray
    sides: np.ndarray
    forced: np.ndarray
    log_d: np.ndarray
    first: np.ndarray
    last: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray
    anchors: np.ndarray


@kernel
def new_work(prior, n):
    """Scratch for moves of n points."""
    return Work(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        new_rows(prior),
        np.zeros(4, np.int64),
        np.zeros(2, np.int64),
    )


@kernel
def log_choice_ratio(law, n, sizes, log_m, log_s):
    """log m - log s, in terms of the sizes of the two parts."""
    if law == BALANCED:
        m = sizes[0] + sizes[1]
        return math.log(0.5 * (m - 1.0) * (1.0 / (n - sizes[0]) + 1.0 / (n - sizes[1])))
    if law == CLUSTER:
        return log_m - math.log(float(sizes[0] * sizes[1])) - log_s
    return log_m - log_s


@kernel
def choose_anchors(rng, law, is_split, prior, values, log_kappa, labels, work, n_members):
    """Anchors of the laws that look at the union's tree; gives log P(node) - log(leaves below its children)."""
    members, keys, anchors, log_d = work.members, work.keys, work.anchors, work.log_d
    first, last = work.first, work.last
    tree_potentials(prior, values, members[:n_members], keys, log_kappa, log_d, first, last)
    if law == NODE or is_split:
        gap = draw_cut(rng, log_d, n_members)
        anchors[0], anchors[1] = first[gap], gap + 1
        if law == NODE:
            return 0.0
        anchors[0] += rng.integers(0, gap + 1 - first[gap])
        anchors[1] += rng.integers(0, last[gap] - gap)
    return log_cut_choice(log_d, first, last, keys, n_members, min(anchors[0], anchors[1]), max(anchors[0], anchors[1]))


@kernel
def draw_anchor_of_each(rng, labels, members, n_members, one, size_one, anchors):
    """A member drawn uniformly from each of the two clusters of a union."""
    wanted = np.empty(2, np.int64)
    wanted[0] = rng.integers(0, size_one)
    wanted[1] = rng.integers(0, n_members - size_one)
    for at in range(n_members):
        side = 0 if labels[members[at]] == one else 1
        if wanted[side] == 0:
            anchors[side] = at
        wanted[side] -= 1


@kernel
def launch_and_scan(rng, scorer, values, log_kappa, law, labels, work, n_members, is_split, options, least):
    """Launch, restricted scans, recorded scan; gives its log probability."""
    members, keys, sides, forced = work.members, work.keys, work.sides, work.forced
    rows, sizes, anchors = work.rows, work.sizes, work.anchors
    prior, n_scans = scorer.prior, options.n_scans
    if law == COINS:
        n_scans = options.n_coin_scans
        launch_by_coins(rng, prior, values, members, n_members, anchors, sides, rows, sizes)
    else:
        launch_by_tree(rng, prior, values, log_kappa, members, keys, n_members, anchors, sides, rows, sizes)
    lanes = side_lanes(scorer, rows)
    for at in range(n_members):
        forced[at] = -1
    for _ in range(n_scans):
        scan(
            rng, scorer, values, log_kappa, members, n_members, anchors, sides, rows, sizes, lanes, forced, -np.inf
        )  # fmt: skip
    if not is_split:
        first_cluster = labels[members[anchors[0]]]
        for at in range(n_members):
            forced[at] = 0 if labels[members[at]] == first_cluster else 1
    return scan(
        rng, scorer, values, log_kappa, members, n_members, anchors, sides, rows, sizes, lanes, forced, least
    )  # fmt: skip


@kernel
def try_split(rng, scorer, values, clusters, log_kappa, guide, law, options, work, one, i, j, log_t):
    """Propose to split a cluster; gives whether it was done."""
    labels, count, sizes, _, _, log_marginals = clusters
    prior, n_clusters, n_members = scorer.prior, count[0], sizes[one]
    gather(labels, guide.key, one, one, work.members, work.keys)
    log_s, log_m = 0.0, 0.0
    if law == CLUSTER or law == NODE:
        log_s = choose_anchors(rng, law, True, prior, values, log_kappa, labels, work, n_members)
        log_s += -math.log(n_clusters) + (0.0 if n_clusters == 1 else math.log(options.p_split))
    else:
        work.anchors[0] = find_member(work.members, n_members, i)
        work.anchors[1] = find_member(work.members, n_members, j)
    log_q = launch_and_scan(rng, scorer, values, log_kappa, law, labels, work, n_members, True, options, -np.inf)
    log_phi_union = log_kappa[n_members] + log_marginals[one]
    parts, log_phis = np.empty(2), np.empty(2)
    for side in range(2):
        parts[side] = log_marginal(prior, work.rows[side])
        log_phis[side] = log_kappa[work.sizes[side]] + parts[side]
    if law == CLUSTER or law == NODE:
        log_m = log_merge_choice(
            prior, log_kappa, clusters, one, one, work.rows, work.sizes, log_phis, log_phi_union, options.p_split
        )
    log_r = log_phis[0] + log_phis[1] - log_phi_union - log_q
    log_r += log_choice_ratio(law, labels.size, work.sizes, log_m, log_s)
    if not log_t < log_r:
        return False
    accept_split(scorer, clusters, work.members, n_members, work.sides, work.rows, work.sizes, parts, one)
    return True


@kernel
def try_merge(rng, scorer, values, clusters, log_kappa, guide, law, options, work, one, two, i, j, log_t):
    """Propose to merge two clusters; gives whether it was done."""
    labels, count, sizes, rows, _, log_marginals = clusters
    prior, n_merged, n_members = scorer.prior, count[0] - 1, sizes[one] + sizes[two]
    by_cluster = law == CLUSTER or law == NODE
    union, log_phis, part_rows = np.empty(rows.shape[1]), np.empty(2), np.empty((2, rows.shape[1]))
    part_sizes = np.empty(2, np.int64)
    for side in range(2):
        k = one if side == 0 else two
        part_sizes[side], log_phis[side] = sizes[k], log_kappa[sizes[k]] + log_marginals[k]
        for s in range(rows.shape[1]):
            part_rows[side, s] = rows[k, s]
    merge(prior, union, part_rows[0], part_rows[1])
    log_marginal_union = log_marginal(prior, union)
    log_phi_union = log_kappa[n_members] + log_marginal_union
    log_s, log_m = 0.0, 0.0
    if by_cluster:
        log_s = -math.log(n_merged) + (0.0 if n_merged == 1 else math.log(options.p_split))
        log_m = log_merge_choice(
            prior, log_kappa, clusters, one, two, part_rows, part_sizes, log_phis, log_phi_union, options.p_split
        )
    log_r = log_phi_union - log_phis[0] - log_phis[1]
    log_r -= log_choice_ratio(law, labels.size, part_sizes, log_m, log_s)
    if log_r < log_t:
        return False  # all that is still to come can only lower it
    gather(labels, guide.key, one, two, work.members, work.keys)
    if by_cluster:
        if law == CLUSTER:
            draw_anchor_of_each(rng, labels, work.members, n_members, one, sizes[one], work.anchors)
        log_r += choose_anchors(rng, law, False, prior, values, log_kappa, labels, work, n_members)
        if labels[work.members[work.anchors[0]]] == labels[work.members[work.anchors[1]]]:
            return False
    else:
        work.anchors[0] = find_member(work.members, n_members, i)
        work.anchors[1] = find_member(work.members, n_members, j)
    log_r += launch_and_scan(
        rng, scorer, values, log_kappa, law, labels, work, n_members, False, options, log_t - log_r
    )
    if not log_t < log_r:
        return False
    accept_merge(scorer, clusters, work.members, n_members, union, log_marginal_union, one, two)
    return True


@kernel
def split_merge_moves(rng, scorer, values, clusters, weights, guide, laws, options, first_move, tallies):
    """Moves by the laws given, from `first_move` on; gives how many are done, fewer when a split finds no room."""
    labels, count, sizes, _, _, _ = clusters
    log_kappa, prior = weights.log_kappa, scorer.prior
    work = new_work(prior, labels.size)
    for at in range(first_move, laws.size):
        if count[0] + 1 >= sizes.size:
            return at
        law = laws[at]
        log_t = -rng.standard_exponential()
        i, j = -1, -1
        if law == CLUSTER or law == NODE:
            one, two = choose_clusters(rng, prior, log_kappa, clusters, options.p_split)
        else:
            i, j = draw_pair(rng, law, labels, sizes, guide)
            if i < 0:
                continue
            one, two = labels[i], labels[j]
        if one != two:
            tallies[MERGES] += 1
            tallies[MERGES_ACCEPTED] += try_merge(
                rng, scorer, values, clusters, log_kappa, guide, law, options, work, one, two, i, j, log_t
            )
        elif sizes[one] > 1:
            tallies[SPLITS] += 1
            tallies[SPLITS_ACCEPTED] += try_split(
                rng, scorer, values, clusters, log_kappa, guide, law, options, work, one, i, j, log_t
            )
    return laws.size
