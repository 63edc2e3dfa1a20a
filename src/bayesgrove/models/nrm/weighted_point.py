"""A local move that looks where clusters are loose (L3): one point, chosen through the tree of its cluster.

A cluster is picked uniformly, a node of its tree by the weight d / (1 + d) + 0.001 / m (d = 0 for leaves), and a point
below it uniformly. With s_i the probability to choose point i so,

s_i = 1 / K  sum over nodes above i of  P(node) / (leaves below it),

a Gibbs step of the point is accepted with probability min(1, s_i afterwards / s_i before): without this correction
singletons, which are always chosen, would be dissolved too often.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.nrm.guide import FLOOR, cut_weight, tree_potentials
from bayesgrove.models.nrm.launch import gather


@kernel
def cluster_tree(prior, values, labels, guide_key, log_kappa, cluster, n_members):
    """Members of a cluster and the weight and span of each inner node of its tree, leaves' weight FLOOR / size."""
    members, keys = np.empty(labels.size, np.int64), np.empty(labels.size, np.int64)
    gather(labels, guide_key, cluster, cluster, members, keys)
    weight = np.empty(n_members - 1)
    first, last = np.empty(n_members - 1, np.int64), np.empty(n_members - 1, np.int64)
    tree_potentials(prior, values, members[:n_members], keys, log_kappa, weight, first, last)
    for gap in range(n_members - 1):
        weight[gap] = cut_weight(weight[gap], n_members)
    return members, weight, first, last


@kernel
def log_chance(at, weight, first, last):
    """Log probability that a node above member `at` is drawn, and then this member below it."""
    n_members = weight.size + 1
    total, above = FLOOR, FLOOR / n_members
    for gap in range(n_members - 1):
        total += weight[gap]
        if first[gap] <= at <= last[gap]:
            above += weight[gap] / (last[gap] + 1 - first[gap])
    return math.log(above / total)


@kernel
def draw_weighted_point(rng, prior, values, clusters, log_kappa, guide_key):
    """A point drawn through the tree of a cluster, and the log probability of this choice."""
    labels, count, sizes, _, _, _ = clusters
    cluster = rng.integers(0, count[0])
    n_members = sizes[cluster]
    members, weight, first, last = cluster_tree(prior, values, labels, guide_key, log_kappa, cluster, n_members)
    left = rng.random() * (FLOOR + weight.sum()) - FLOOR
    low, high = 0, n_members - 1  # a leaf drawn by its weight: all alike
    if left >= 0.0:
        for gap in range(n_members - 1):
            left -= weight[gap]
            if left < 0.0:
                low, high = first[gap], last[gap]
                break
    at = low + rng.integers(0, high + 1 - low)
    return members[at], log_chance(at, weight, first, last) - math.log(count[0])


@kernel
def log_point_choice(prior, values, clusters, log_kappa, guide_key, point):
    """Log probability that `draw_weighted_point` gives this point."""
    labels, count, sizes, _, _, _ = clusters
    cluster = labels[point]
    members, weight, first, last = cluster_tree(prior, values, labels, guide_key, log_kappa, cluster, sizes[cluster])
    at = 0
    while members[at] != point:
        at += 1
    return log_chance(at, weight, first, last) - math.log(count[0])
