"""The published procedure for infinite mixtures: a stochastic classification EM, kept for reproduction.

Trees are assigned at random given point estimates of the tables, tables are estimated by one EM step from the trees
they have: no distribution is left invariant. The result is not a posterior sample and is never called one. See
docs/theory/tree-mixtures.md, The published procedure.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.engine import expected_counts, log_likelihoods
from bayesgrove.models.tree_hmm.links import Links, plain_links, unique_links
from bayesgrove.models.tree_hmm.printed import go_downward_as_printed
from bayesgrove.models.tree_hmm.tables import (
    Counts,
    Shape,
    Strengths,
    Tables,
    draw_tables,
    select,
    stack,
    uniform_tables,
    with_mean,
    zero_counts,
)
from bayesgrove.models.tree_hmm.upward import go_upward
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.sampling import draw_log_categorical
from bayesgrove.trees.forest import Forest

N_SWEEPS = 30
CELL_FLOOR = 2.2e-16


class PaperSettings(NamedTuple):
    """Numbers of the procedure.

    Attributes
    ----------
    strengths : Strengths
        alpha of each family of tables, at least 1.
    concentration : float
        gamma.
    compat : bool
        The quirks of the authors' program: its E-step, its weight of a new component, its first transitions. Without
        it the E-step is exact, the weight is normalised and tables begin as draws from the prior.
    """

    shape: Shape
    strengths: Strengths = Strengths(1.5, 1.5, 1.5, 1.5)
    concentration: float = 10.0
    n_sweeps: int = N_SWEEPS
    compat: bool = True


class PaperFit(NamedTuple):
    """Where the procedure ended."""

    settings: PaperSettings
    labels: np.ndarray
    """(n_trees,): the largest cluster first."""
    tables: Tables
    """Of the components, in that order."""
    n_clusters: np.ndarray
    """(n_sweeps,): components after each sweep."""
    log_likelihood: np.ndarray
    """(n_sweeps,): of all trees under the components they were assigned to in each sweep, before the EM step."""


def fit_paper(rng: np.random.Generator, forest: Forest, settings: PaperSettings) -> PaperFit:
    """Run the procedure on a forest, from one component that has all trees."""
    check_settings(forest, settings)
    links, nodes = unique_links(forest), plain_links(forest)
    log_new = math.log(settings.concentration) + log_uniform(forest, links, settings)
    labels, tables = np.zeros(forest.n_trees, np.int64), draw_first_tables(rng, settings)
    n_clusters, log_likelihood = [], []
    for _ in range(settings.n_sweeps):
        tables, scores = assign_all(rng, links, labels, tables, log_new, settings)
        kept, labels = np.unique(labels, return_inverse=True)
        log_likelihood.append(float(scores[kept][labels, np.arange(labels.size)].sum()))
        n_clusters.append(kept.size)
        tables = em_step(links, nodes, labels, select(tables, kept), settings)
    order = by_size(relabel(labels))
    first = [int(labels[np.argmax(order == k)]) for k in range(int(order.max()) + 1)]
    return PaperFit(settings, order, select(tables, first), np.array(n_clusters), np.array(log_likelihood))


def check_settings(forest: Forest, settings: PaperSettings) -> None:
    """Raise `InvalidSettingError` for what the published procedure cannot do."""
    least = min(settings.strengths)
    if least < 1.0:
        raise InvalidSettingError(
            f'method="paper" needs prior_strength of at least 1, got {least}: smaller ones have no mode. '
            'Raise it, or take method="gibbs".'
        )
    if forest.values is not None:
        raise InvalidSettingError('method="paper" knows no continuous labels, got some. Take method="gibbs".')


# Assignments


def log_uniform(forest: Forest, links: Links, settings: PaperSettings) -> np.ndarray:
    """Log weight of each tree in a new component: its likelihood under uniform tables (n_trees,).

    **Erratum**: the paper takes this for the integral over the prior, which it is not (eq. 8;
    tests/exact/test_tree_hmm_golden.py). The authors' program divides transitions by C + 1, one too many.
    """
    found = log_likelihoods(links, uniform_tables(settings.shape), settings.shape.mode)[0]
    if not settings.compat:
        return found
    n_internal = np.add.reduceat(forest.internal.astype(float), forest.offsets[:-1])
    n_states = settings.shape.n_states
    return found + n_internal * math.log(n_states / (n_states + 1.0))


def draw_first_tables(rng: np.random.Generator, settings: PaperSettings) -> Tables:
    """Tables of a new component: from the prior, or with transitions normalised over the wrong states."""
    shape = settings.shape
    found = draw_tables(rng, zero_counts(1, shape), settings.strengths, shape.mode)
    if not settings.compat:
        return found
    concentrations = np.full(shape.n_states + 1, settings.strengths.transition)
    drawn = rng.dirichlet(concentrations, (1, shape.n_positions, shape.n_states))
    return found._replace(transition=np.ascontiguousarray(np.swapaxes(drawn, 2, 3)))


def assign_all(
    rng: np.random.Generator, links: Links, labels: np.ndarray, tables: Tables, log_new: np.ndarray,
    settings: PaperSettings,
) -> tuple[Tables, np.ndarray]:  # fmt: skip
    """Assign all trees in order, in place; gives the tables with those of new components, and all scores."""
    mode, done = settings.shape.mode, 0
    scores = log_likelihoods(links, tables, mode)
    while True:
        done = assign_until_new(rng, scores, log_new, labels, done)
        if done == labels.size:
            return tables, scores
        fresh = draw_first_tables(rng, settings)
        labels[done] = len(scores)
        tables, scores = stack([tables, fresh]), np.concatenate([scores, log_likelihoods(links, fresh, mode)])
        done += 1


@kernel
def assign_until_new(rng, scores, log_new, labels, done):
    """Draw labels of the trees from `done` on up to the first that asks for a new component; that tree's number."""
    n_rows, n_trees = scores.shape
    sizes, log_weights = np.zeros(n_rows, np.int64), np.empty(n_rows + 1)
    for tree in range(n_trees):
        sizes[labels[tree]] += 1
    for tree in range(done, n_trees):
        sizes[labels[tree]] -= 1
        for row in range(n_rows):
            log_weights[row] = math.log(sizes[row]) + scores[row, tree] if sizes[row] > 0 else -math.inf
        log_weights[n_rows] = log_new[tree]
        row = draw_log_categorical(rng, log_weights)
        if row == n_rows:
            return tree
        labels[tree] = row
        sizes[row] += 1
    return n_trees


# Tables


def em_step(links: Links, nodes: Links, labels: np.ndarray, tables: Tables, settings: PaperSettings) -> Tables:
    """One E-step of each component on its own trees, and the mode of the posterior given its counts."""
    shape = settings.shape
    if settings.compat:
        counts = zero_counts(len(tables.switching), shape)
        count_as_printed(nodes, links.roots, labels, tables, shape.mode, counts)
    else:
        weights = np.zeros((len(tables.switching), labels.size))
        weights[labels, np.arange(labels.size)] = 1.0
        counts = expected_counts(links, tables, shape.mode, weights)
    return with_mean(counts, Strengths(*[strength - 1.0 + CELL_FLOOR for strength in settings.strengths]), shape.mode)


def count_as_printed(
    nodes: Links, unique_roots: np.ndarray, labels: np.ndarray, tables: Tables, mode: int, counts: Counts
) -> None:
    """Counts by the authors' E-step; it is not linear, but equal trees of a component count alike."""
    n_nodes, n_states = nodes.labels.size, tables.n_states
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    for k in range(len(tables.switching)):
        own = np.flatnonzero(labels == k)
        _, first, sizes = np.unique(unique_roots[own], return_index=True, return_counts=True)
        expected = np.zeros((n_nodes, n_states))
        rise(
            nodes, own[first], sizes.astype(float), tables.initial[k], tables.emission[k], tables.log_scale[k],
            tables.switching[k], tables.transition[k], mode, beta, inner, log_likelihood, expected,
        )  # fmt: skip
        go_downward_as_printed(
            nodes, tables.switching[k], tables.transition[k], mode, beta, inner, expected,
            counts.initial[k], counts.emission[k], counts.switching[k], counts.transition[k], counts.present[k],
        )  # fmt: skip


@kernel
def rise(
    nodes, trees, weights, initial, emission, log_scale, switching, transition, mode, beta, inner, log_likelihood,
    expected,
):  # fmt: skip
    """Upward passes over some trees of plain links; their weights times beta to the roots' rows of `expected`."""
    for which in range(trees.size):
        tree = trees[which]
        root = nodes.roots[tree]
        first = nodes.roots[tree + 1] + 1 if tree + 1 < nodes.roots.size else 0
        go_upward(
            nodes, initial, emission, log_scale, switching, transition, mode, first, root + 1,
            beta, inner, log_likelihood,
        )  # fmt: skip
        for state in range(beta.shape[1]):
            expected[root, state] = weights[which] * beta[root, state]
