"""Split-merge moves with two anchors: anchors-first (AF) under several anchor distributions, V1, and Jain and Neal's.

For a split of U into A and B, accepted with probability min(1, r),

log r = log phi(A) + log phi(B) - log phi(U) + log V(K + 1) - log V(K) + log m - log s - log q,

K the number of clusters before the split, q the probability of the recorded scan, s and m those of choosing this split
of U and this merge of A and B; the merge has -log r with its own launch and the scan forced to the present labels.
Launches cancel because they are drawn alike in both directions (docs/theory/nrm-mixtures.md, Why launches cancel). A
uniform number is drawn first: since log q <= 0 a merge is refused as soon as log r cannot reach its log any more,
usually before a member is read.

    distribution         anchors                                                             log m - log s
    UNIFORM     all pairs alike                                                     0
    TREE        a node of the guide by its weight, one leaf below each child        0
    BALANCED    i uniform; fair coin: j in i's cluster or outside it                log((m-1)/2 (1/(n-|A|) + 1/(n-|B|)))
    CLUSTER     a cluster; split it at a node of its tree, or merge it with one     see `log_merge_choice`
    NODE (V1)   a cluster; then a node of the union's tree, its children's first    see `log_merge_choice`
    COINS       all pairs alike; launch by coins and restricted scans (Jain, Neal)  0
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.models.nrm.gibbs import draw_from_logs, drop_cluster
from bayesgrove.models.nrm.guide import cut_weight, draw_gap
from bayesgrove.scoring.lanes import fill_lane
from bayesgrove.stats.fastlog import stand_alone
from bayesgrove.stats.special import log_add

UNIFORM, TREE, BALANCED, CLUSTER, NODE, COINS = range(6)
LAWS = {"uniform": UNIFORM, "tree": TREE, "balanced": BALANCED, "cluster": CLUSTER, "v1": NODE, "jain-neal": COINS}
N_TALLIES = 4
SPLITS, SPLITS_ACCEPTED, MERGES, MERGES_ACCEPTED = range(N_TALLIES)


@kernel
def draw_member(rng, labels, cluster, n_candidates, but, inside):
    """A place drawn uniformly among those inside (or outside) a cluster, `but` left out."""
    wanted = rng.integers(0, n_candidates)
    for place in range(labels.size):
        if (labels[place] == cluster) == inside and place != but:
            if wanted == 0:
                return place
            wanted -= 1
    return -1


@kernel
def draw_pair(rng, law, labels, sizes, cumulative, first, last):
    """Two anchors by a distribution that needs no tree of the clusters; (-1, -1) where it finds no pair."""
    n = labels.size
    if law == TREE:
        gap = draw_gap(rng, cumulative, 0, n - 1)
        return first[gap] + rng.integers(0, gap + 1 - first[gap]), gap + 1 + rng.integers(0, last[gap] - gap)
    i = rng.integers(0, n)
    if law == BALANCED:
        own = labels[i]
        inside = rng.random() < 0.5
        n_candidates = sizes[own] - 1 if inside else n - sizes[own]
        if n_candidates == 0:
            return -1, -1
        return i, draw_member(rng, labels, own, n_candidates, i, inside)
    j = rng.integers(0, n - 1)
    return i, j if j < i else j + 1


@kernel
def partner_logs(prior, log_kappa, rows, sizes, log_marginals, n_clusters, row, size, log_phi, one, two, out):
    """-log d0 of a cluster with each of the others but `one` and `two`, which get -inf."""
    union = np.empty(rows.shape[1])
    for k in range(n_clusters):
        out[k] = -np.inf
        if k != one and k != two:
            merge(prior, union, row, rows[k])
            out[k] = log_kappa[size + sizes[k]] + log_marginal(prior, union)
            out[k] -= log_phi + log_kappa[sizes[k]] + log_marginals[k]


@kernel
def log_sum_first(values, n):
    """log(sum(exp(values[:n])))."""
    total = -np.inf
    for k in range(n):
        total = log_add(total, values[k])
    return total


@kernel
def log_merge_choice(prior, log_kappa, clusters, one, two, rows, part_sizes, log_phis, log_phi_union, p_split):
    """log m of distributions that choose a cluster first: either part may be picked first and then choose the other.

    `one` and `two` are the present numbers of the clusters the move touches (equal in a split), left out of the rest.
    """
    stand_alone()
    _, count, sizes, all_rows, _, log_marginals = clusters
    n_rest = count[0] - (1 if one == two else 2)
    together = log_phi_union - log_phis[0] - log_phis[1]
    out = np.empty(count[0])
    total = -np.inf
    for side in range(2):
        partner_logs(
            prior, log_kappa, all_rows, sizes, log_marginals, count[0], rows[side], part_sizes[side], log_phis[side],
            one, two, out,
        )  # fmt: skip
        total = log_add(total, together - log_add(together, log_sum_first(out, count[0])))
    return total - math.log(n_rest + 2.0) + math.log1p(-p_split)


@kernel
def draw_cut(rng, log_d, n_members):
    """A gap by its weight as a place to cut."""
    total = 0.0
    for gap in range(n_members - 1):
        total += cut_weight(log_d[gap], n_members)
    left = rng.random() * total
    for gap in range(n_members - 1):
        left -= cut_weight(log_d[gap], n_members)
        if left < 0.0:
            return gap
    return n_members - 2


@kernel
def log_cut_choice(log_d, first, last, keys, n_members, low, high):
    """Log probability that the tree's common ancestor of two members is cut and these two are the anchors."""
    cut, total = low, 0.0
    for gap in range(low, high):
        if keys[gap] > keys[cut]:
            cut = gap
    for gap in range(n_members - 1):
        total += cut_weight(log_d[gap], n_members)
    n_left, n_right = cut + 1 - first[cut], last[cut] - cut
    return math.log(cut_weight(log_d[cut], n_members) / total) - math.log(float(n_left * n_right))


@kernel
def find_member(members, n_members, place):
    """Where a place stands among the members, by halving."""
    low, high = 0, n_members - 1
    while low < high:
        middle = (low + high) // 2
        if members[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def choose_clusters(rng, prior, log_kappa, clusters, p_split):
    """A cluster, and itself (a split) or a partner by 1 / d0 (a merge)."""
    stand_alone()
    _, count, sizes, rows, _, log_marginals = clusters
    one = rng.integers(0, count[0])
    if count[0] == 1 or rng.random() < p_split:
        return one, one
    out = np.empty(count[0])
    log_phi = log_kappa[sizes[one]] + log_marginals[one]
    partner_logs(prior, log_kappa, rows, sizes, log_marginals, count[0], rows[one], sizes[one], log_phi, one, one, out)
    return one, draw_from_logs(rng, out, count[0])


@kernel
def accept_split(scorer, clusters, members, n_members, sides, part_rows, part_sizes, log_marginals_new, one):
    """Side 0 keeps the cluster's number, side 1 gets a new one."""
    labels, count, sizes, rows, lanes, log_marginals = clusters
    two = count[0]
    count[0] = two + 1
    for at in range(n_members):
        if sides[at] == 1:
            labels[members[at]] = two
    for side in range(2):
        k = one if side == 0 else two
        sizes[k] = part_sizes[side]
        log_marginals[k] = log_marginals_new[side]
        for s in range(rows.shape[1]):
            rows[k, s] = part_rows[side, s]
        fill_lane(scorer, rows[k], lanes, k)


@kernel
def accept_merge(scorer, clusters, members, n_members, union, log_marginal_union, one, two):
    """The union takes the first number; the last cluster takes the second."""
    labels, count, sizes, rows, lanes, log_marginals = clusters
    for at in range(n_members):
        labels[members[at]] = one
    sizes[one] += sizes[two]
    log_marginals[one] = log_marginal_union
    for s in range(rows.shape[1]):
        rows[one, s] = union[s]
    fill_lane(scorer, rows[one], lanes, one)
    log_marginals[two] = log_marginals[count[0] - 1]
    drop_cluster(labels, count, sizes, rows, lanes, two)
