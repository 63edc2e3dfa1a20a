"""Numbers that judge clusterings and hierarchies, with and without known classes.

`levels` are the paths of the rows through a hierarchy of fixed depth: an integer array (item, level), such as
`level_labels_` of `BHMC`, or one draw of its `posterior_.paths`. Two rows share a node at a level if they have the same
ids there and at all levels above.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.stats.partitions import adjusted_rand, binder_loss, relabel, variation_of_information
from bayesgrove.stats.paths import (
    PathNodes,
    best_f_measure,
    checked_levels,
    inner_distances,
    number_paths,
    path_nodes,
    sibling_distances,
)

__all__ = [
    "adjusted_rand",
    "aid",
    "aod",
    "binder_loss",
    "level_f_measure",
    "variation_of_information",
]


def aid(X: Any, levels: ArrayLike, tree: str = "merged") -> float:
    """Average inner distance: how unlike the rows of one node are, averaged over nodes; smaller is tighter.

    Parameters
    ----------
    X : float array of shape (n_rows, n_columns)
    levels : int array of shape (n_rows, n_levels)
    tree : {"merged", "full"}, default="merged"
        "merged" counts the nodes that have siblings, "full" all nodes below the root.

    Returns
    -------
    float
        Mean over nodes of at least two rows of the mean squared distance of two of its rows; nan if there is none.

    Examples
    --------
    >>> aid([[0.0], [2.0], [9.0], [9.0]], [[0], [0], [1], [1]])
    2.0
    """
    if tree not in ("merged", "full"):
        raise InvalidSettingError(f'tree is "merged" or "full", got {tree!r}.', setting="tree")
    rows, nodes = _rows_and_nodes(X, levels)
    is_counted = nodes.has_sibling if tree == "merged" else nodes.level > 0
    inner = inner_distances(rows, nodes)[is_counted & (nodes.size > 1)]
    return float(inner.mean()) if inner.size else np.nan


def aod(X: Any, levels: ArrayLike) -> float:
    """Average outer distance: how far siblings are apart, averaged over pairs of siblings; larger is further.

    Parameters
    ----------
    X : float array of shape (n_rows, n_columns)
    levels : int array of shape (n_rows, n_levels)

    Returns
    -------
    float
        Mean over unordered pairs of siblings of the squared distance of their centroids; nan without any pair.

    Examples
    --------
    >>> aod([[0.0], [2.0], [9.0], [9.0]], [[0], [0], [1], [1]])
    64.0
    """
    apart = sibling_distances(*_rows_and_nodes(X, levels))
    return float(apart.mean()) if apart.size else np.nan


def level_f_measure(levels: ArrayLike, labels: ArrayLike) -> np.ndarray:
    """F-measure of the partition at each level against known classes, shape (n_levels,).

    Every class takes the node with which its F (harmonic mean of precision and recall) is best; classes count by their
    sizes.

    Parameters
    ----------
    levels : int array of shape (n_rows, n_levels)
    labels : array of shape (n_rows,)
        Known classes, of any type.

    Examples
    --------
    >>> level_f_measure([[0, 0], [0, 0], [0, 1], [0, 1]], ["a", "a", "b", "b"]).round(3).tolist()
    [0.667, 1.0]
    """
    numbered, classes = number_paths(levels), relabel(labels)
    if classes.size != len(numbered):
        raise InvalidInputError(f"labels are one per row of levels, got {classes.size} for {len(numbered)} rows.")
    return np.array([best_f_measure(own, classes) for own in numbered.T])


def _rows_and_nodes(X: Any, levels: ArrayLike) -> tuple[np.ndarray, PathNodes]:
    rows = np.asarray(X, dtype=np.float64)
    n_items = len(checked_levels(levels))
    if rows.ndim != 2 or len(rows) != n_items:
        raise InvalidInputError(
            f"X has one row for each row of levels and columns of numbers, got shape {rows.shape} for {n_items} rows."
        )
    if not np.isfinite(rows).all():
        raise InvalidInputError("distances need finite numbers, got nan or inf in X. Fill in missing cells first.")
    return rows, path_nodes(levels)
