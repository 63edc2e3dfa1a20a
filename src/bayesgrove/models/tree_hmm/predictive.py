"""New trees under draws of an infinite mixture: which cluster they join, or that they open a new one.

Under a draw with n_c trees in component c, p(x) = sum_c n_c / (n + gamma) P(x | tables_c) + gamma / (n + gamma) p_0(x).
The integral p_0 of P over the prior has no closed form; it is replaced by the variational lower bound of one tree
alone, so that the mass of a new cluster is, if anything, too small. (Uniform tables, as the paper has it, are no
approximation of it at all; see `paper.log_uniform`.)
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm.em import DistinctTrees, distinct_trees
from bayesgrove.models.tree_hmm.engine import likelihoods_and_counts, log_likelihoods
from bayesgrove.models.tree_hmm.links import node_values, part_of_links, unique_links
from bayesgrove.models.tree_hmm.parameters import (
    Parameters,
    TreePrior,
    divergence,
    expected_tables,
    random_parameters,
    with_values,
)
from bayesgrove.models.tree_hmm.tables import Tables
from bayesgrove.trees.forest import Forest

MOST_DRAWS, MOST_BYTES = 100, 64 * 2**20
N_ITER = 10
"""Variational iterations of one tree alone."""
START_SEED, START_TABLES = 20_180_102, 2.0
"""Tables that these begin with: fixed, so that a prediction depends on the tree and the model only."""


class Kept(NamedTuple):
    """Components of some draws, one draw after another."""

    start: np.ndarray
    """int64 (n_draws + 1,): where the components of each draw begin."""
    initial: np.ndarray
    emission: np.ndarray
    switching: np.ndarray
    transition: np.ndarray
    moments: np.ndarray
    log_weight: np.ndarray
    """(n_components,)"""
    log_new: np.ndarray
    """(n_draws,): weight of a new component."""
    share: np.ndarray
    """(n_components, n_clusters): of each component's trees, where the estimate has them."""


class DrawnMixture(NamedTuple):
    """One draw: labels of the trees, components in the order of the labels, concentration."""

    labels: np.ndarray
    parameters: Parameters
    concentration: float


def keep_draws(draws: list[DrawnMixture], estimate: np.ndarray) -> Kept:
    """What prediction needs of some draws."""
    n, n_clusters = estimate.size, int(estimate.max()) + 1
    weights, news, shares = [], [], []
    for draw in draws:
        n_own = len(draw.parameters.tables.switching)
        labels = draw.labels.astype(np.int64)
        sizes = np.bincount(labels, minlength=n_own).astype(float)
        both = np.bincount(labels * n_clusters + estimate, minlength=n_own * n_clusters).reshape(n_own, n_clusters)
        weights.append(np.log(sizes / (n + draw.concentration)))
        news.append(math.log(draw.concentration / (n + draw.concentration)))
        shares.append(both / sizes[:, None])
    parts = [(*draw.parameters.tables[:4], draw.parameters.moments) for draw in draws]
    starts = np.cumsum([0, *(len(own[2]) for own in parts)])
    tables = [np.concatenate(part) for part in zip(*parts, strict=True)]
    initial, emission, switching, transition, moments = tables
    return Kept(
        starts.astype(np.int64),
        initial,
        emission,
        switching,
        transition,
        moments,
        np.concatenate(weights),
        np.array(news),
        np.concatenate(shares),
    )


def draw_parameters(kept: Kept, draw: int, prior: TreePrior, values: np.ndarray | None) -> Parameters:
    """Components of one draw, with emission rows for the values of new trees where labels are numbers."""
    own = slice(int(kept.start[draw]), int(kept.start[draw + 1]))
    emission = kept.emission[own]
    tables = Tables(
        kept.initial[own], emission, kept.switching[own], kept.transition[own], np.zeros(emission.shape[:2])
    )
    found = Parameters(tables, kept.moments[own])
    return found if values is None else with_values(prior, found, values)


def joint_scores(kept: Kept, prior: TreePrior, forest: Forest, *, with_new: bool) -> tuple[np.ndarray, np.ndarray]:
    """Joint densities of trees with each cluster of the estimate and, last, a new one, averaged over draws.

    They are given as (log scale of each tree, what to multiply its exponential with); the column of a new one is 0
    unless it is asked for.
    """
    trees, values = distinct_trees(unique_links(forest)), node_values(forest)
    n_trees, n_clusters = trees.multiplicity.size, kept.share.shape[1]
    log_alone = log_new_component(trees, prior, values) if with_new else np.full(n_trees, -np.inf)
    log_scale, joint = np.full(n_trees, -np.inf), np.zeros((n_trees, n_clusters + 1))
    for draw in range(kept.log_new.size):
        own = slice(int(kept.start[draw]), int(kept.start[draw + 1]))
        tables = draw_parameters(kept, draw, prior, values).tables
        scores = log_likelihoods(trees.links, tables, prior.mode).T + kept.log_weight[own]
        scores = np.column_stack([scores, log_alone + kept.log_new[draw]])
        log_scale = _add_scores(joint, log_scale, scores, kept.share[own])
    joint /= kept.log_new.size
    return log_scale[trees.number], joint[trees.number]


def _add_scores(joint: np.ndarray, log_scale: np.ndarray, scores: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Add one draw's joint densities, in place; the new scales."""
    larger = np.maximum(log_scale, scores.max(axis=1))
    safe = np.where(np.isneginf(larger), 0.0, larger)
    joint *= np.where(np.isneginf(log_scale), 0.0, np.exp(log_scale - safe))[:, None]
    relative = np.exp(scores - safe[:, None])
    joint[:, :-1] += relative[:, :-1] @ share
    joint[:, -1] += relative[:, -1]
    return larger


def cluster_probabilities(kept: Kept, prior: TreePrior, forest: Forest, *, with_new: bool = True) -> np.ndarray:
    """Probability of each tree to join each cluster of the estimate, last a new one; rows sum to 1.

    A tree that no component allows, and no new one either, goes where trees go: by the sizes of clusters.
    """
    _, joint = joint_scores(kept, prior, forest, with_new=with_new)
    total = joint.sum(axis=1, keepdims=True)
    sizes = np.append(np.exp(kept.log_weight) @ kept.share, 0.0)
    return np.where(total > 0.0, joint / np.where(total > 0.0, total, 1.0), sizes / sizes.sum())


def log_density(kept: Kept, prior: TreePrior, forest: Forest) -> np.ndarray:
    """Log predictive density of each tree given its skeleton, a lower bound as far as new clusters go."""
    log_scale, joint = joint_scores(kept, prior, forest, with_new=True)
    with np.errstate(divide="ignore"):
        return log_scale + np.log(joint.sum(axis=1))


def log_new_component(trees: DistinctTrees, prior: TreePrior, values: np.ndarray | None) -> np.ndarray:
    """Lower bounds on the log marginal likelihood of each different tree alone under the prior."""
    if prior.gaussians is not None and values is not None:
        prior = prior._replace(
            gaussians=prior.gaussians._replace(values=values), shape=prior.shape._replace(n_labels=len(values))
        )
    start = random_parameters(generator(START_SEED), prior, 1, START_TABLES).tables
    one = np.ones((1, 1))
    found = np.empty(trees.multiplicity.size)
    for tree in range(found.size):
        links = part_of_links(trees.links, np.array([tree]))
        counts = likelihoods_and_counts(links, start, prior.mode, one)[1]
        for _ in range(N_ITER):
            counts = likelihoods_and_counts(links, expected_tables(prior, counts), prior.mode, one)[1]
        alone = log_likelihoods(links, expected_tables(prior, counts), prior.mode)[0, 0]
        found[tree] = alone - divergence(prior, counts)[0]
    return found
