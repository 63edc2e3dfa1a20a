"""Where chains of tree mixtures begin: a variational fit, one cluster, random clusters, or labels given.

A start is only a start: whatever it is, the chain leaves the posterior invariant.
"""

from dataclasses import dataclass

import numpy as np

from bayesgrove.models.tree_hmm.component_fit import fit_clusters
from bayesgrove.models.tree_hmm.em import distinct_trees
from bayesgrove.models.tree_hmm.mixture_target import CONCENTRATION, Target, prior_of
from bayesgrove.models.tree_hmm.parameters import Parameters, draw_posterior, select_counts
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, VBFit, VBSettings, vb_start
from bayesgrove.stats.partitions import relabel

N_RANDOM_CLUSTERS = 10


@dataclass(frozen=True)
class VariationalStart:
    """The most probable labels of a variational fit, tables drawn given its counts."""

    settings: VBSettings = VB_DEFAULTS

    def __call__(self, rng: np.random.Generator, target: Target) -> tuple[np.ndarray, Parameters]:
        """Labels and components."""
        prior = prior_of(target, target.values)
        fit = vb_start(rng, target.links, prior, float(target.values[CONCENTRATION]), self.settings)
        return from_variational(rng, fit)


@dataclass(frozen=True)
class LabelsStart:
    """Labels, and tables drawn given the variational fit of each cluster."""

    kind: str = "one"
    """{"one", "random"}: all trees in one cluster, or in up to ten at random; without meaning where labels are
    given."""
    labels: tuple[int, ...] | None = None
    """The clusters to begin with."""

    def __call__(self, rng: np.random.Generator, target: Target) -> tuple[np.ndarray, Parameters]:
        """Labels and components."""
        if self.labels is not None:
            labels = relabel(self.labels)
        elif self.kind == "random":
            labels = relabel(rng.integers(N_RANDOM_CLUSTERS, size=target.n_trees))
        else:
            labels = np.zeros(target.n_trees, np.int64)
        prior = prior_of(target, target.values)
        return labels, draw_posterior(rng, prior, fit_clusters(rng, distinct_trees(target.links), prior, labels))


def from_variational(rng: np.random.Generator, fit: VBFit) -> tuple[np.ndarray, Parameters]:
    """Labels by first appearance and components drawn from their variational distributions, in the same order."""
    labels = relabel(fit.labels)
    _, first = np.unique(labels, return_index=True)
    return labels, draw_posterior(rng, fit.prior, select_counts(fit.counts, fit.labels[first]))
