"""Collapsed Gibbs sampling: each point in turn leaves its cluster and joins one, or a new one, by its conditional.

Weights: existing cluster kappa(m + 1) / kappa(m) p(x | X_c), new cluster V(K + 1) / V(K) kappa(1) p(x), m and K the
size and the number of clusters without the point.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, remove
from bayesgrove.scoring.lanes import fill_lane, fill_lane_without, score_lanes

NEGLIGIBLE = -45.0
"""Log weights this far below the largest change no draw of a 53-bit uniform number."""


@kernel
def copy_cluster(sizes, rows, lanes, source, target):
    """Copy all that is kept of a cluster to another place."""
    sizes[target] = sizes[source]
    for s in range(rows.shape[1]):
        rows[target, s] = rows[source, s]
    for f in range(lanes.shape[0]):
        lanes[f, target] = lanes[f, source]


@kernel
def drop_cluster(labels, count, sizes, rows, lanes, gone):
    """Forget an empty cluster; the last one takes its number."""
    last = count[0] - 1
    count[0] = last
    if gone == last:
        return
    copy_cluster(sizes, rows, lanes, last, gone)
    for i in range(labels.size):
        if labels[i] == last:
            labels[i] = gone


@kernel
def draw_from_logs(rng, logs, n):
    """Index drawn with probability proportional to exp(logs[:n]), which is overwritten; -1 where none is possible."""
    top = -np.inf
    for k in range(n):
        if logs[k] > top:
            top = logs[k]
    if not top > -np.inf:
        return -1
    total = 0.0
    for k in range(n):
        gap = logs[k] - top
        if gap > NEGLIGIBLE:
            total += math.exp(gap)
        logs[k] = total  # cumulative: clusters too light keep the sum before them
    left = rng.random() * total
    for k in range(n):
        if left < logs[k]:
            return k
    return n - 1


@kernel
def gibbs_points(rng, scorer, values, clusters, weights, points, first):
    """Gibbs steps for points[first:]; gives how many of all are done, fewer when a new cluster finds no room."""
    labels, count, sizes, rows, lanes, log_marginals = clusters
    log_kappa, log_v, alone = weights
    prior = scorer.prior
    out = np.empty((2, sizes.size))
    scores = out[0]
    for at in range(first, points.size):
        n_clusters = count[0]
        if n_clusters + 1 >= min(sizes.size, log_v.size):
            return at
        i = points[at]
        x, own = values[i], labels[i]
        is_alone = sizes[own] == 1
        if not is_alone:  # the cluster without the point stands in the scratch place; often nothing else is written
            fill_lane_without(scorer, rows, lanes, own, n_clusters, x)
        score_lanes(scorer, rows, lanes, x, n_clusters + 1, out)
        without_point = scores[n_clusters]
        for k in range(n_clusters):
            scores[k] += log_kappa[sizes[k] + 1] - log_kappa[sizes[k]]
        opening = log_kappa[1] + alone[i]
        if is_alone:
            opening += log_v[n_clusters] - log_v[n_clusters - 1]
            scores[own] = opening  # to stay is to open a new cluster
            chosen = draw_from_logs(rng, scores, n_clusters)
        else:
            scores[own] = without_point + log_kappa[sizes[own]] - log_kappa[sizes[own] - 1]
            scores[n_clusters] = opening + log_v[n_clusters + 1] - log_v[n_clusters]
            chosen = draw_from_logs(rng, scores, n_clusters + 1)
        if chosen == own:
            continue
        if chosen < 0:
            return -1 - at
        if not is_alone:
            sizes[own] -= 1
            remove(prior, rows[own], x)
            fill_lane(scorer, rows[own], lanes, own)
        if chosen == n_clusters:
            count[0] = n_clusters + 1
            sizes[chosen] = 0
            for s in range(rows.shape[1]):
                rows[chosen, s] = 0.0
        labels[i] = chosen
        sizes[chosen] += 1
        add(prior, rows[chosen], x)
        fill_lane(scorer, rows[chosen], lanes, chosen)
        if is_alone:
            drop_cluster(labels, count, sizes, rows, lanes, own)
    for k in range(count[0]):
        log_marginals[k] = log_marginal(prior, rows[k])
    return points.size
