"""Figures of one method on one data set."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from bayesgrove import Tree
from benchmarks.scorecard.methods import METHODS, OURS, WITH_DENSITY, Fitted
from benchmarks.scorecard.sets import NOISE, DataSet

WARM_ROWS = 200
TRAINING_SHARE = 0.8


def measure(data: DataSet, method: str, *, with_density: bool) -> tuple[dict[str, Any], np.ndarray | None]:
    """A row of the results, and the labels; what fails is named in the column `error`."""
    X = data.ours if method in OURS else data.peers
    row = {"set": data.name, "group": data.group, "method": method, "rows": len(X), "columns": X.shape[1]}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            density = first_fit(data, method, X, with_density=with_density)
            fitted, seconds = timed(method, X)
            figures = scores(fitted, data.references)
        except Exception as error:  # the others go on, and the row says why
            return {**row, "error": f"{type(error).__name__}: {error}"[:200].replace("\n", " ")}, None
    return {**row, **figures, "log_density": density, "cpu_seconds": seconds}, fitted.labels


def timed(method: str, X: Any) -> tuple[Fitted, float]:
    """A fit and its CPU seconds."""
    start = time.process_time()
    fitted = METHODS[method](X)
    return fitted, time.process_time() - start


def first_fit(data: DataSet, method: str, X: Any, *, with_density: bool) -> float | None:
    """Held-out log density; its fit also compiles everything before the clock starts, or else a fit to few rows."""
    if with_density and has_density(data, method):
        return held_out_density(method, X)
    if method in OURS:
        METHODS[method](take(X, np.arange(min(len(X), WARM_ROWS))))
    return None


def has_density(data: DataSet, method: str) -> bool:
    """Whether a density over the columns as given exists; imputed and one-hot columns are other columns."""
    return method in OURS or (method in WITH_DENSITY and not data.is_mixed and not data.has_missing)


def held_out_density(method: str, X: Any) -> float:
    """Mean log density of a random fifth of the rows under a fit to the others."""
    order = np.random.default_rng(0).permutation(len(X))
    n_training = int(TRAINING_SHARE * len(X))
    fitted = METHODS[method](take(X, np.sort(order[:n_training])))
    return float(np.mean(fitted.score_samples(take(X, np.sort(order[n_training:])))))


def take(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array or a frame."""
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows].reset_index(drop=True)


def scores(fitted: Fitted, references: np.ndarray) -> dict[str, Any]:
    """Each figure by the reference that it agrees with best.

    `true_clusters` is the number of classes of the reference with the best adjusted Rand index, at the cut where the
    method has one, otherwise at the reference's own number of clusters.
    """
    n_classes = [np.unique(own[own != NOISE]).size for own in references]
    found: dict[str, Any] = {"ari": None, "clusters": None, "true_clusters": None, "ari_at_k": None, "purity": None}
    aris = []
    if fitted.labels is not None:
        aris = [rand_index(own, fitted.labels) for own in references]
        found |= {"ari": max(aris, default=None), "clusters": np.unique(fitted.labels[fitted.labels >= 0]).size}
    if fitted.tree is not None:
        at_k = [rand_index(own, fitted.tree.cut(n_clusters=k)) for own, k in zip(references, n_classes, strict=True)]
        found["ari_at_k"] = max(at_k, default=None)
        found["purity"] = max((dendrogram_purity(fitted.tree, own) for own in references), default=None)
        aris = aris or at_k
    if aris:
        found["true_clusters"] = n_classes[int(np.argmax(aris))]
    return found


def rand_index(reference: np.ndarray, labels: np.ndarray) -> float:
    """Adjusted Rand index over the rows that are not noise in the reference."""
    counts = reference != NOISE
    return float(adjusted_rand_score(reference[counts], labels[counts]))


def dendrogram_purity(tree: Tree, reference: np.ndarray) -> float:
    """Mean share of a class below the lowest common ancestor of two of its rows, over all pairs of one class.

    Noise is left out, of pairs and of shares. Exact: a node is the lowest common ancestor of those pairs below it that
    are not below one of its children; trees may have nodes with more than two children.
    """
    classes = np.unique(reference[reference != NOISE])
    counts = np.zeros((tree.n_nodes, classes.size))
    counts[tree.leaf_of_item] = reference[:, None] == classes
    for node in range(tree.root):  # parents follow their children
        counts[tree.parent[node]] += counts[node]
    below = counts * (counts - 1) / 2
    pairs = below.copy()
    np.subtract.at(pairs, tree.parent[: tree.root], below[: tree.root])
    sizes = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return float((pairs * counts / sizes).sum() / pairs.sum())
