"""New trees from fitted models: which skeletons, which clusters, one forest."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.tree_inputs import new_trees
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.generate import draw_trees, skeletons
from bayesgrove.trees.forest import Forest, joined_forest

MOST_KEPT_TREES, MOST_KEPT_NODES = 200, 2_000_000
"""Skeletons that a model keeps: trees of each cluster, and nodes of all after the first trees."""


def kept_skeletons(forest: Forest, labels: np.ndarray, mode: int) -> tuple[Forest, np.ndarray]:
    """Skeletons of some trees of each cluster, evenly spread, and their clusters."""
    chosen = []
    for cluster in range(int(labels.max()) + 1):
        own = np.flatnonzero(labels == cluster)
        most = min(own.size, MOST_KEPT_TREES)
        chosen.append(own[np.arange(most) * own.size // most])
    first = np.array([own[0] for own in chosen])
    others = np.concatenate([own[1:] for own in chosen])
    fits = np.cumsum(forest.sizes[others]) <= MOST_KEPT_NODES
    trees = np.sort(np.concatenate([first, others[fits]]))
    return skeletons(forest.take(trees), mode), labels[trees]


def draw_like(model: Any, rng: np.random.Generator, n_samples: int, like: TreeData | None) -> TreeData:
    """Trees of clusters drawn by their weights, on skeletons of the same clusters or of trees given."""
    pool, clusters = _pool(model, like)
    weights = np.asarray(model.weights_, float)
    wanted = np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(n_samples), side="right")
    wanted = np.minimum(wanted, weights.size - 1)
    drawn, order = [], []
    for cluster in np.unique(wanted).tolist():
        own = np.flatnonzero(wanted == cluster)
        candidates = np.flatnonzero(clusters == cluster) if clusters is not None else np.arange(pool.n_trees)
        if not candidates.size:  # a component without trees
            candidates = np.arange(pool.n_trees)
        picked = pool.take(candidates[rng.integers(candidates.size, size=own.size)])
        drawn.append(draw_trees(rng, picked, model._parameters, cluster, model._prior.mode))
        order.append(own)
    forest = joined_forest(drawn).take(np.argsort(np.concatenate(order), kind="stable"))
    return TreeData(forest, model._schema.vocabulary, None, wanted.astype(np.int64), "sample")


def _pool(model: Any, like: TreeData | None) -> tuple[Forest, np.ndarray | None]:
    """Skeletons, and their clusters where they come from the fit."""
    if like is not None:
        return skeletons(new_trees(like, model, model._schema).forest, model._prior.mode), None
    if getattr(model, "_skeletons", None) is None:
        raise InvalidSettingError(
            "a model made from parameters knows no internal nodes of trees to draw on. Give trees: sample(like=trees)."
        )
    return model._skeletons, model._skeleton_clusters
