"""Where chains of tree mixtures begin: a variational fit, one cluster, random clusters, or labels given.

A start is only a start: whatever it is, the chain leaves the posterior invariant.
"""

from dataclasses import dataclass

import numpy as np

from bayesgrove.models.tree_hmm.mixture_state import new_state
from bayesgrove.models.tree_hmm.mixture_target import CONCENTRATION, Target, prior_of
from bayesgrove.models.tree_hmm.parameters import Parameters, draw_posterior, random_parameters, select_counts
from bayesgrove.models.tree_hmm.redraw import count_uses, draw_all_tables
from bayesgrove.models.tree_hmm.tables import Tables, zero_counts
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, VBFit, VBSettings, vb_start
from bayesgrove.stats.partitions import relabel

START_TABLES = 5.0
"""Concentration of the first tables' rows: nearly uniform, or trees would go to whatever component is least odd."""
N_ROUNDS = 10
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
    """Labels, and tables drawn given them, ten times over."""

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
        return labels, draw_components(rng, target, labels, target.values)


def from_variational(rng: np.random.Generator, fit: VBFit) -> tuple[np.ndarray, Parameters]:
    """Labels by first appearance and components drawn from their variational laws, in the same order."""
    labels = relabel(fit.labels)
    _, first = np.unique(labels, return_index=True)
    return labels, draw_posterior(rng, fit.prior, select_counts(fit.counts, fit.labels[first]))


def draw_components(
    rng: np.random.Generator, target: Target, labels: np.ndarray, values: np.ndarray, n_rounds: int = N_ROUNDS
) -> Parameters:
    """Components of labels 0, 1, ... by rounds of hidden states given tables and tables given them."""
    n_used = int(labels.max()) + 1
    state = new_state(target, labels, random_parameters(rng, prior_of(target, values), n_used, START_TABLES), values)
    for _ in range(n_rounds):
        counts = zero_counts(n_used, target.shape)
        count_uses(rng, target, state.components, state.labels, counts)
        draw_all_tables(rng, target, state.components, state.values, counts)
    *tables, moments = (part[:n_used].copy() for part in state.components[:6])
    return Parameters(Tables(*tables), moments)
