"""Which hierarchy of the mixture of edges describes the trees better (`edge_mixture`).

Labels below a parent shrink either to the frequencies of labels in the cluster or to the frequencies below the same
parent in all trees. JSON has many keys, each of a few documents, and prefers the first; syntax trees, in which every
document has most contexts, the second. Both are compared as models of the same trees: the search takes the frequencies
of all trees as known, the comparison draws them from a process of their own,

    F[k, p] ~ PitmanYor(strength, discount, F[p])
    F[p] ~ PitmanYor(strength', discount', G)

in which every cluster counts an edge once, with the same G as in the first hierarchy. On 8 sets of 166 to 282 files of
Python's standard library, in 9 to 13 packages, the second is ahead by 700 to 4,000 nats, and the mean ARI is .29 with
it, .23 with the first, .27 for trees of bags of labels (`BHC`); on 9 groups of JSON files the first is.
"""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.tree_hmm.edge_mixture import Uses
from bayesgrove.models.tree_hmm.edge_search import (
    FIRST_PRIOR,
    N_ROUNDS,
    EdgeFit,
    EdgeStart,
    fit_edges,
    learned_prior,
    log_joint,
)


def fit_better_hierarchy(rng: np.random.Generator, uses: Uses) -> EdgeStart:
    """The partition found under the hierarchy of greater evidence."""
    own, common = fit_edges(rng, uses), fit_edges(rng, shrunk_to_all_trees(uses))
    if own.log_joint >= log_joint_of_common(uses, common):
        return EdgeStart(uses, own)
    return EdgeStart(shrunk_to_all_trees(uses), common)


def shrunk_to_all_trees(uses: Uses) -> Uses:
    """The hierarchy in which edges shrink to those below the same parent in all trees."""
    n_trees = np.bincount(uses.edges, minlength=uses.label.size)
    below = np.bincount(uses.context, weights=n_trees)
    with np.errstate(divide="ignore", invalid="ignore"):  # labels by themselves, and edges that no tree has
        return uses._replace(label=np.full_like(uses.label, NULL), log_base=np.log(n_trees / below[uses.context]))


def log_joint_of_common(uses: Uses, fit: EdgeFit) -> float:
    """Log joint of a partition found with edges shrunk to all trees, the frequencies in these integrated out."""
    common, shared = shrunk_to_all_trees(uses), clusters_as_trees(uses, fit.labels)
    inside = log_joint(common._replace(log_base=np.zeros(common.label.size)), fit.prior, fit.labels)
    together, prior = np.zeros(shared.n_trees, np.int64), FIRST_PRIOR
    for _ in range(N_ROUNDS):
        prior = learned_prior(shared, prior, together)
    return inside + log_joint(shared, prior, together)


def clusters_as_trees(uses: Uses, labels: np.ndarray) -> Uses:
    """The edges of each cluster, each once, as if the cluster were a tree; they shrink to G."""
    n_features = uses.label.size
    trees = np.repeat(np.arange(uses.n_trees), np.diff(uses.start))
    cells = np.unique(labels[trees].astype(np.int64) * n_features + uses.edges)
    log_base = np.zeros(n_features)
    is_edge = uses.label != NULL
    log_base[is_edge] = uses.log_base[uses.label[is_edge]]
    start = np.searchsorted(cells, np.arange(int(labels.max()) + 2) * n_features).astype(np.int64)
    counts, label = np.ones(cells.size, np.int64), np.full(n_features, NULL)
    return Uses(label, uses.context, start, cells % n_features, counts, log_base)
