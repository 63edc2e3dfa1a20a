"""Where chains of tree mixtures begin: one cluster, random clusters, or labels given; tables fitted by a few draws."""

from typing import NamedTuple

import numpy as np

from bayesgrove.models.tree_hmm.mixture_state import State, empty_components, new_state
from bayesgrove.models.tree_hmm.mixture_target import N_VALUES, Target
from bayesgrove.models.tree_hmm.redraw import count_uses, draw_all_tables
from bayesgrove.models.tree_hmm.tables import Tables, zero_counts
from bayesgrove.stats.partitions import relabel

START_STRENGTH = 5.0
"""Of the random tables before the first draw: near uniform, or trees would go to whatever component is least odd."""
N_ROUNDS = 10
N_RANDOM_CLUSTERS = 10
STARTS = ("one", "random")


class FirstState(NamedTuple):
    """Labels of a start and tables drawn given them, ten times over: a chain may begin anywhere.

    Attributes
    ----------
    kind : {"one", "random"}
        All trees in one cluster, or in up to ten at random; without meaning where labels are given.
    labels : tuple of int, optional
        The clusters to begin with.
    """

    kind: str = "one"
    labels: tuple[int, ...] | None = None

    def __call__(self, rng: np.random.Generator, target: Target) -> tuple[np.ndarray, Tables, np.ndarray]:
        """Labels, tables and moments."""
        if self.labels is not None:
            labels = relabel(self.labels)
        elif self.kind == "random":
            labels = relabel(rng.integers(N_RANDOM_CLUSTERS, size=target.n_trees))
        else:
            labels = np.zeros(target.n_trees, np.int64)
        return labels, *fit_tables(rng, target, labels, target.values)


def fit_tables(
    rng: np.random.Generator, target: Target, labels: np.ndarray, values: np.ndarray
) -> tuple[Tables, np.ndarray]:
    """Tables and moments of labels 0, 1, ..., by rounds of hidden states given tables and tables given them."""
    n_used = int(labels.max()) + 1
    nothing = zero_counts(n_used, target.shape)
    blank = empty_components(target, n_used)
    state = new_state(target, labels, Tables(*blank[:5]), None, values)
    draw_all_tables(rng, target, state.components, np.full(N_VALUES, START_STRENGTH), nothing)
    for _ in range(N_ROUNDS):
        redraw(rng, target, state)
    return Tables(*(part[:n_used].copy() for part in state.components[:5])), state.components.moments[:n_used].copy()


def redraw(rng: np.random.Generator, target: Target, state: State) -> None:
    """Hidden states given tables, tables given hidden states."""
    counts = zero_counts(state.n_clusters, target.shape)
    count_uses(rng, target, state.components, state.labels, counts)
    draw_all_tables(rng, target, state.components, state.values, counts)
