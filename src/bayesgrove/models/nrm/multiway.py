"""Split of a cluster into two or more parts, and merge of two or more clusters (V2).

With -log d0(a, b) = log phi(a u b) - log phi(a) - log phi(b), the `nearness` of two clusters, and rho = 1 / (1 + d0):
a cluster c is picked uniformly, each other one joins it with probability rho(c, .). If none does, c is split: its tree
is cut at a node drawn by weight, and each sibling block on the way up joins a part with weight 1 / d0 or becomes a part
with weight 1. Otherwise all are merged, and the one path by which a split of the union could have made these parts is
evaluated: it begins at the only node that is impure with pure children; there is no path when there are two such nodes.

    log q   = log P(node) + sum over blocks of the log probability of their choices
    log q_S = -log(1 + |rest|) + sum over o in the rest of log(1 - rho(union, o))
    log q_M = -log(|S| + |rest|) + log sum over s in S of
              exp(sum over x in S but s of log rho(s, x) + sum over o in the rest of log(1 - rho(s, o)))

A split has log r = sum of log phi(parts) - log phi(union) + log q_M - log q_S - log q, a merge the negative. Since
log q <= 0, a merge is refused as soon as its ratio cannot reach the log of a uniform number drawn first.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge, n_stats
from bayesgrove.models.nrm.gibbs import drop_cluster
from bayesgrove.models.nrm.guide import cut_weight, tree_potentials
from bayesgrove.models.nrm.lanes import fill_lane
from bayesgrove.models.nrm.launch import gather, next_block, put_block
from bayesgrove.models.nrm.split_merge import draw_cut, log_sum_first, partner_logs
from bayesgrove.stats.fastlog import stand_alone
from bayesgrove.stats.special import log_add, softplus


class Parts(NamedTuple):
    """Clusters of a proposal; arrays may be longer than there are parts."""

    rows: np.ndarray
    sizes: np.ndarray
    log_marginals: np.ndarray


class Tree(NamedTuple):
    """The guide restricted to a union: members in order, keys between them."""

    members: np.ndarray
    keys: np.ndarray


class Proposal(NamedTuple):
    """What a move decided."""

    n_parts: int
    """0: no change; 1: all touched clusters become one; more: the one touched cluster becomes so many."""
    touched: np.ndarray
    """(K,) bool."""
    members: np.ndarray
    """(m,) places of the union."""
    part_of: np.ndarray
    """(m,) part of each member after a split."""
    parts: Parts


@kernel
def new_parts(n_parts, width):
    """Room for so many parts."""
    return Parts(np.zeros((n_parts, width)), np.zeros(n_parts, np.int64), np.zeros(n_parts))


@kernel
def nearness(prior, log_kappa, row, size, log_marginal_one, other_row, other_size, log_marginal_other, union):
    """-log d0 of two clusters; `union` is scratch."""
    merge(prior, union, row, other_row)
    log_phis = log_kappa[size] + log_marginal_one + log_kappa[other_size] + log_marginal_other
    return log_kappa[size + other_size] + log_marginal(prior, union) - log_phis


@kernel
def draw_joiners(rng, prior, log_kappa, clusters, touched, near):
    """A uniform cluster with those that join it, marked in `touched`; their nearness to `near`; gives the cluster."""
    _, count, sizes, rows, _, log_marginals = clusters
    one = rng.integers(0, count[0])
    log_phi = log_kappa[sizes[one]] + log_marginals[one]
    partner_logs(prior, log_kappa, rows, sizes, log_marginals, count[0], rows[one], sizes[one], log_phi, one, one, near)
    for k in range(count[0]):
        touched[k] = k == one or -rng.standard_exponential() < -softplus(-near[k])
    return one


@kernel
def log_apart(prior, log_kappa, clusters, touched, row, size, log_marginal_row):
    """Log probability that no cluster of the rest joins a picked one."""
    _, count, sizes, rows, _, log_marginals = clusters
    total, union = 0.0, np.empty(rows.shape[1])
    for k in range(count[0]):
        if not touched[k]:
            near = nearness(prior, log_kappa, row, size, log_marginal_row, rows[k], sizes[k], log_marginals[k], union)
            total -= softplus(near)
    return total


@kernel
def log_merge_pick(prior, log_kappa, clusters, touched, parts, n_parts, n_rest):
    """log q_M: any part is picked, all others join it and nothing of the rest does."""
    stand_alone()
    rows, sizes, log_marginals = parts
    total, union = -np.inf, np.empty(rows.shape[1])
    for s in range(n_parts):
        picked = log_apart(prior, log_kappa, clusters, touched, rows[s], sizes[s], log_marginals[s])
        for x in range(n_parts):
            if x != s:
                near = nearness(
                    prior, log_kappa, rows[s], sizes[s], log_marginals[s], rows[x], sizes[x], log_marginals[x], union
                )
                picked -= softplus(-near)
        total = log_add(total, picked)
    return total - math.log(n_parts + n_rest)


@kernel
def only_cut(labels, members, keys, n_members):
    """The gap of the only impure node with pure children; -1 where there are several."""
    found = -1
    for gap in range(n_members - 1):
        left, right = labels[members[gap]], labels[members[gap + 1]]
        if left == right:
            continue
        low, high = gap, gap + 1
        while low > 0 and keys[low - 1] < keys[gap] and labels[members[low]] == left:
            low -= 1
        while high < n_members - 1 and keys[high] < keys[gap] and labels[members[high]] == right:
            high += 1
        if labels[members[low]] == left and labels[members[high]] == right:
            if found >= 0:
                return -1
            found = gap
    return found


@kernel
def log_cut_chance(log_d, n_members, cut):
    """Log probability that a node is the one to cut."""
    total = 0.0
    for gap in range(n_members - 1):
        total += cut_weight(log_d[gap], n_members)
    return math.log(cut_weight(log_d[cut], n_members) / total)


@kernel
def block_logs(prior, log_kappa, parts, n_parts, block, size, out):
    """Log weights of a block to join each part, last to become one."""
    rows, sizes, log_marginals = parts
    log_phi = log_kappa[size] + log_marginal(prior, block)
    partner_logs(prior, log_kappa, rows, sizes, log_marginals, n_parts, block, size, log_phi, -1, -1, out)
    out[n_parts] = 0.0


@kernel
def count_blocks(keys, n_members, low, high):
    """Number of siblings on the way up from the node that spans low .. high."""
    n_blocks = 0
    while low > 0 or high < n_members - 1:
        start, stop = next_block(keys, n_members, low, high)
        low, high = min(low, start), max(high, stop - 1)
        n_blocks += 1
    return n_blocks


@kernel
def put_part(prior, values, members, start, stop, part_of, parts, k):
    """Put members start .. stop - 1 into part k."""
    put_block(prior, values, members, start, stop, parts.rows[k])
    parts.sizes[k] += stop - start
    parts.log_marginals[k] = log_marginal(prior, parts.rows[k])
    for at in range(start, stop):
        part_of[at] = k


@kernel
def climb(rng, prior, values, labels, log_kappa, tree, low, cut, high, seat, least, part_of):
    """Cut the node that spans low .. high at gap `cut` and place the blocks on the way up.

    `seat` is empty in a split; in a merge it has a place for each cluster and the blocks go where the labels say.
    Gives the parts, their number and the log probability of the choices, -inf once it is below `least`.
    """
    stand_alone()
    members, keys, n_members, is_split = tree.members, tree.keys, tree.members.size, seat.size == 0
    most = 2 + count_blocks(keys, n_members, low, high)
    parts, n_parts, log_q = new_parts(most, n_stats(prior)), 2, 0.0
    block, logs = np.empty(n_stats(prior)), np.empty(most + 1)
    put_part(prior, values, members, low, cut + 1, part_of, parts, 0)
    put_part(prior, values, members, cut + 1, high + 1, part_of, parts, 1)
    if not is_split:
        for k in range(seat.size):
            seat[k] = -1
        seat[labels[members[low]]], seat[labels[members[high]]] = 0, 1
    while low > 0 or high < n_members - 1:
        start, stop = next_block(keys, n_members, low, high)
        low, high = min(low, start), max(high, stop - 1)
        for s in range(block.size):
            block[s] = 0.0
        put_block(prior, values, members, start, stop, block)
        block_logs(prior, log_kappa, parts, n_parts, block, stop - start, logs)
        total = log_sum_first(logs, n_parts + 1)
        for k in range(n_parts + 1):
            logs[k] -= total
        if is_split:
            chosen = draw_index(rng, logs, n_parts + 1)
        else:
            home = labels[members[start]]
            seat[home] = n_parts if seat[home] < 0 else seat[home]
            chosen = seat[home]
        log_q += logs[chosen]
        if log_q < least:
            return parts, 0, -np.inf
        put_part(prior, values, members, start, stop, part_of, parts, chosen)
        n_parts = max(n_parts, chosen + 1)
    return parts, n_parts, log_q


@kernel
def draw_index(rng, logs, n):
    """Index drawn by normalised log probabilities, which stay as they are."""
    left = rng.random()
    for k in range(n):
        left -= math.exp(logs[k])
        if left < 0.0:
            return k
    return n - 1


@kernel
def gather_touched(labels, guide_key, touched, n_members):
    """The tree of the union of all touched clusters."""
    is_member = np.empty(labels.size, np.int64)
    members, keys = np.empty(labels.size, np.int64), np.empty(labels.size, np.int64)
    for place in range(labels.size):
        is_member[place] = touched[labels[place]]
    gather(is_member, guide_key, 1, 1, members, keys)
    return Tree(members[:n_members], keys)


@kernel
def take_touched(prior, clusters, touched):
    """The touched clusters as parts, followed by their union."""
    _, count, sizes, rows, _, log_marginals = clusters
    parts = new_parts(touched.sum() + 1, rows.shape[1])
    union, at = touched.sum(), 0
    for k in range(count[0]):
        if touched[k]:
            merge(prior, parts.rows[at], parts.rows[at], rows[k])
            merge(prior, parts.rows[union], parts.rows[union], rows[k])
            parts.sizes[at], parts.log_marginals[at] = sizes[k], log_marginals[k]
            parts.sizes[union] += sizes[k]
            at += 1
    parts.log_marginals[union] = log_marginal(prior, parts.rows[union])
    return parts


@kernel
def log_parts_ratio(prior, log_kappa, clusters, touched, parts, n_parts, row, log_marginal_union):
    """log r of the split of a union into parts, but for log q."""
    n_rest, size = touched.size - touched.sum(), parts.sizes[:n_parts].sum()
    log_r = -log_kappa[size] - log_marginal_union
    for k in range(n_parts):
        log_r += log_kappa[parts.sizes[k]] + parts.log_marginals[k]
    log_r += log_merge_pick(prior, log_kappa, clusters, touched, parts, n_parts, n_rest)
    return (
        log_r + math.log(1.0 + n_rest) - log_apart(prior, log_kappa, clusters, touched, row, size, log_marginal_union)
    )


@kernel
def propose_split(rng, prior, values, clusters, log_kappa, guide_key, touched, one, log_t):
    """Split the picked cluster, or not."""
    tree = gather_touched(clusters.labels, guide_key, touched, clusters.sizes[one])
    n_members = tree.members.size
    log_d, part_of = np.empty(n_members), np.empty(n_members, np.int64)
    first, last = np.empty(n_members, np.int64), np.empty(n_members, np.int64)
    tree_potentials(prior, values, tree.members, tree.keys, log_kappa, log_d, first, last)
    cut = draw_cut(rng, log_d, n_members)
    parts, n_parts, log_q = climb(
        rng, prior, values, clusters.labels, log_kappa, tree, first[cut], cut, last[cut], np.empty(0, np.int64),
        -np.inf, part_of,
    )  # fmt: skip
    log_r = log_parts_ratio(
        prior, log_kappa, clusters, touched, parts, n_parts, clusters.rows[one], clusters.log_marginal[one]
    )
    log_r -= log_q + log_cut_chance(log_d, n_members, cut)
    return Proposal(n_parts if log_t < log_r else 0, touched, tree.members, part_of, parts)


@kernel
def propose_merge(rng, prior, values, clusters, log_kappa, guide_key, touched, log_t):
    """Merge the touched clusters, or not; refused before a member is read where the ratio allows it."""
    labels, parts, n_parts = clusters.labels, take_touched(prior, clusters, touched), touched.sum()
    log_r = log_parts_ratio(
        prior, log_kappa, clusters, touched, parts, n_parts, parts.rows[n_parts], parts.log_marginals[n_parts]
    )
    n_members = parts.sizes[n_parts]
    part_of = np.empty(n_members, np.int64)
    refused = Proposal(0, touched, part_of, part_of, parts)
    if -log_r < log_t:
        return refused
    tree = gather_touched(labels, guide_key, touched, n_members)
    cut = only_cut(labels, tree.members, tree.keys, n_members)
    if cut < 0:
        return refused
    log_d, first, last = np.empty(n_members), np.empty(n_members, np.int64), np.empty(n_members, np.int64)
    tree_potentials(prior, values, tree.members, tree.keys, log_kappa, log_d, first, last)
    log_q = log_cut_chance(log_d, n_members, cut)
    seat, least = np.empty(touched.size, np.int64), log_t + log_r - log_q
    log_q += climb(rng, prior, values, labels, log_kappa, tree, first[cut], cut, last[cut], seat, least, part_of)[2]
    return Proposal(1 if log_t < log_q - log_r else 0, touched, tree.members, part_of, parts)


@kernel
def propose_multiway(rng, prior, values, clusters, log_kappa, guide_key):
    """One move up to its acceptance; `take_proposal` does it once there is room for all parts."""
    count, sizes = clusters.n_clusters[0], clusters.sizes
    log_t, touched = -rng.standard_exponential(), np.zeros(count, np.bool_)
    one = draw_joiners(rng, prior, log_kappa, clusters, touched, np.empty(count))
    if touched.sum() > 1:
        return propose_merge(rng, prior, values, clusters, log_kappa, guide_key, touched, log_t)
    if sizes[one] == 1:
        nobody = np.empty(0, np.int64)
        return Proposal(0, touched, nobody, nobody, new_parts(0, clusters.rows.shape[1]))
    return propose_split(rng, prior, values, clusters, log_kappa, guide_key, touched, one, log_t)


@kernel
def take_proposal(scorer, clusters, proposal):
    """Change the clusters as an accepted proposal says."""
    n_parts, touched, members, part_of, parts = proposal
    labels, count, sizes, rows, lanes, log_marginals = clusters
    one = 0
    while not touched[one]:
        one += 1
    is_split, n_before = n_parts > 1, count[0]
    count[0] = n_before + n_parts - 1
    for at in range(members.size):
        part = part_of[at] if is_split else 0
        labels[members[at]] = one if part == 0 else n_before + part - 1
    for part in range(n_parts):
        k = one if part == 0 else n_before + part - 1
        source = part if is_split else parts.sizes.size - 1  # the union stands last
        sizes[k], log_marginals[k] = parts.sizes[source], parts.log_marginals[source]
        for s in range(rows.shape[1]):
            rows[k, s] = parts.rows[source, s]
        fill_lane(scorer, rows[k], lanes, k)
    for gone in range(touched.size - 1, one, -1):  # from the end: the first one keeps its number
        if touched[gone]:
            log_marginals[gone] = log_marginals[count[0] - 1]
            drop_cluster(labels, count, sizes, rows, lanes, gone)
