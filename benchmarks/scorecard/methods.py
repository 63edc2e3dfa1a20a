"""Methods of the scorecard: our estimators and peers from scikit-learn and scipy, all with default settings."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import KNeighborsClassifier

import bayesgrove

COARSE = (*range(1, 13), 15, 20, 25, 30, 40, 50, 60)
"""Numbers of clusters that k-means and Gaussian mixtures try."""
MOST_COMPONENTS = 30
SILHOUETTE, BIC, BAYESIAN = "k-means + silhouette", "GMM + BIC", "Bayesian GMM"
Score = Callable[[Any], np.ndarray]


class Fitted(NamedTuple):
    """Flat labels (-1 is noise), a tree, and log densities of new rows, where a method has them."""

    labels: np.ndarray | None
    tree: bayesgrove.Tree | None = None
    score_samples: Score | None = None


def ours(name: str) -> Callable[[Any], Fitted]:
    """An estimator of this package; one thread, so that CPU times are comparable."""

    def fit(X: Any) -> Fitted:
        model = getattr(bayesgrove, name)(random_state=0, n_jobs=1).fit(X)
        return Fitted(np.asarray(model.labels_), getattr(model, "tree_", None), model.score_samples)

    return fit


def fit_one_call(X: Any) -> Fitted:
    """`bayesgrove.cluster`, which chooses the model by the table."""
    model = bayesgrove.cluster(X, random_state=0, n_jobs=1)
    return Fitted(np.asarray(model.labels_), model.tree_, model.score_samples)


def fit_hdbscan(X: np.ndarray) -> Fitted:
    return Fitted(HDBSCAN(min_cluster_size=10, copy=True).fit(X).labels_)


def fit_hdbscan_without_noise(X: np.ndarray) -> Fitted:
    """Rows that HDBSCAN calls noise join the cluster of the nearest row that has one."""
    labels = fit_hdbscan(X).labels.copy()
    noise = labels < 0
    if noise.any() and not noise.all():
        nearest = KNeighborsClassifier(1).fit(X[~noise], labels[~noise])
        labels[noise] = nearest.predict(X[noise])
    return Fitted(labels)


def fit_k_means(X: np.ndarray) -> Fitted:
    """Number of clusters by the largest mean silhouette."""
    found = [KMeans(k, n_init=10, random_state=0).fit(X).labels_ for k in numbers_to_try(X) if k > 1]
    return Fitted(max(found, key=lambda labels: silhouette_score(X, labels)))


def fit_mixture(X: np.ndarray) -> Fitted:
    """Number of components by the smallest BIC."""
    found = [GaussianMixture(k, random_state=0).fit(X) for k in numbers_to_try(X)]
    best = min(found, key=lambda model: model.bic(X))
    return Fitted(best.predict(X), score_samples=best.score_samples)


def fit_bayesian_mixture(X: np.ndarray) -> Fitted:
    """A truncated Dirichlet process; components that no row belongs to do not count."""
    n_components = min(MOST_COMPONENTS, len(X) // 2)
    model = BayesianGaussianMixture(n_components=n_components, max_iter=500, random_state=0).fit(X)
    return Fitted(model.predict(X), score_samples=model.score_samples)


def numbers_to_try(X: np.ndarray) -> list[int]:
    """Those with at least two distinct rows per cluster."""
    return [k for k in COARSE if 2 * k <= len(np.unique(X, axis=0))]


def linkage_of(method: str) -> Callable[[np.ndarray], Fitted]:
    """A tree without a cut of its own."""

    def fit(X: np.ndarray) -> Fitted:
        merges = linkage(X, method)
        return Fitted(None, bayesgrove.Tree.from_merges(merges[:, :2].astype(np.int64), heights=merges[:, 2]))

    return fit


ONE_CALL, CHAINS, VIEWS = "cluster", "NRMMixture", "BHCC"
OURS = {
    ONE_CALL: fit_one_call,
    **{name: ours(name) for name in ("BHC", "RandomizedBHC", "IncrementalBHC", CHAINS, VIEWS)},
}
PEERS = {
    "HDBSCAN": fit_hdbscan,
    "HDBSCAN + nearest": fit_hdbscan_without_noise,
    SILHOUETTE: fit_k_means,
    BIC: fit_mixture,
    BAYESIAN: fit_bayesian_mixture,
    "Ward linkage": linkage_of("ward"),
    "average linkage": linkage_of("average"),
}
METHODS = {**OURS, **PEERS}
WITH_DENSITY = {*OURS, BIC, BAYESIAN}


def chosen(arguments: Any) -> list[str]:
    """Methods asked for, or all but the expensive ones."""
    if not arguments.methods:
        left_out = set() if arguments.all_models else {VIEWS} if arguments.chains else {CHAINS, VIEWS}
        return [name for name in METHODS if name not in left_out]
    names = [name.strip() for name in arguments.methods.split(",")]
    if unknown := [name for name in names if name not in METHODS]:
        raise SystemExit(f"--methods must name methods, got {', '.join(unknown)}. Known: {', '.join(METHODS)}.")
    return names
