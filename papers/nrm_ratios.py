"""Log acceptance ratios of split-merge proposals that are never made.

The sampler refuses most merges before it knows their ratio. Here a proposal is drawn as the sampler draws it and its
ratio computed to the end; the state stays as it is.
"""

import numpy as np

from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.models.nrm.anchors import (
    KEYS,
    MEMBERS,
    Options,
    choose_anchors,
    find_pair,
    launch_and_scan,
    log_split_ratio,
    new_work,
)
from bayesgrove.models.nrm.launch import gather
from bayesgrove.models.nrm.sampler import MixtureSampler
from bayesgrove.models.nrm.split_merge import CLUSTER, LAWS, choose_clusters, draw_pair
from bayesgrove.models.nrm.state import State

OPTIONS = Options()


def log_ratio(rng: np.random.Generator, sampler: MixtureSampler, state: State, law_name: str) -> float | None:
    """log r of one proposal by a law of anchors ("uniform", "tree", "cluster", "jain-neal"); None if there is none."""
    law, clusters, guide = LAWS[law_name], state.clusters, sampler.guide
    scorer, log_kappa, labels = state.scorer, state.weights.log_kappa, clusters.labels
    i = j = -1
    if law == CLUSTER:
        one, two = choose_clusters(rng, scorer.prior, log_kappa, clusters, OPTIONS.p_split)
    else:
        i, j = draw_pair(rng, law, labels, clusters.sizes, guide.cumulative, guide.first, guide.last)
        one, two = labels[i], labels[j]
    is_split = one == two
    n_members = clusters.sizes[one] if is_split else clusters.sizes[one] + clusters.sizes[two]
    if n_members == 1:
        return None
    work, parts = new_work(scorer.prior, labels.size), np.empty(2)
    log_marginal_union = clusters.log_marginal[one]
    if not is_split:
        union = np.empty(clusters.rows.shape[1])
        merge(scorer.prior, union, clusters.rows[one], clusters.rows[two])
        log_marginal_union = log_marginal(scorer.prior, union)
    gather(labels, guide.key, one, two, work.of_member[MEMBERS], work.of_member[KEYS])
    log_cut = 0.0
    if law == CLUSTER:
        log_cut = choose_anchors(
            rng, law, is_split, scorer.prior, sampler.values, log_kappa, labels, work, n_members, one
        )
    else:
        find_pair(work.of_member[MEMBERS], n_members, i, j, work.anchors)
    log_q = launch_and_scan(
        rng, scorer, sampler.values, log_kappa, law, labels, work, n_members, OPTIONS, is_split, -np.inf
    )
    for side in range(2):  # of a merge the forced scan ends with the two clusters as they are
        parts[side] = log_marginal(scorer.prior, work.rows[side])
    n_merged = clusters.n_clusters[0] - (0 if is_split else 1)
    log_split = log_split_ratio(
        scorer.prior, log_kappa, clusters, one, two, work, parts, log_marginal_union, law, n_merged, OPTIONS
    )
    log_r = float(log_split - log_cut - log_q)
    return log_r if is_split else -log_r
