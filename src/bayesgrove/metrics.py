"""Numbers that judge clusterings and hierarchies, with and without known classes.

`levels` are the paths of the rows through a hierarchy of fixed depth: an integer array (item, level), such as
`level_labels_` of `BHMC`, or one draw of its `posterior_.paths`. Two rows share a node at a level if they have the same
ids there and at all levels above.

Trees as data are compared by how often each label stands at each position: `ruzicka_distances`, and the silhouettes of
clusters of trees that follow from them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, MemoryLimitError
from bayesgrove.io.tree_data import TreeData
from bayesgrove.stats import ruzicka
from bayesgrove.stats.partitions import (
    MAX_MATRIX_ITEMS,
    adjusted_rand,
    binder_loss,
    class_codes,
    relabel,
    variation_of_information,
)
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
    "ConfusionTable",
    "adjusted_rand",
    "aid",
    "aod",
    "binder_loss",
    "confusion_table",
    "level_f_measure",
    "ruzicka_distances",
    "tree_silhouette",
    "tree_silhouette_samples",
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


class ConfusionTable(NamedTuple):
    """How many items of each class are in each cluster."""

    counts: np.ndarray
    """int64 (n_clusters, n_classes)"""
    clusters: np.ndarray
    """Names of the rows, sorted."""
    classes: np.ndarray
    """Names of the columns, sorted."""


def confusion_table(labels: ArrayLike, classes: ArrayLike) -> ConfusionTable:
    """Clusters by known classes.

    Parameters
    ----------
    labels, classes : arrays of shape (n_items,)
        Numbers or texts; missing ones are a class of their own.

    Examples
    --------
    >>> confusion_table([0, 0, 1, 1], ["a", "a", "a", "b"]).counts.tolist()
    [[2, 0], [1, 1]]
    """
    clusters, row = class_codes(labels)
    names, column = class_codes(classes)
    if row.size != column.size:
        raise InvalidInputError(f"labels and classes are one per item, got {row.size} and {column.size}.")
    cells = np.bincount(row * names.size + column, minlength=clusters.size * names.size)
    return ConfusionTable(cells.reshape(clusters.size, names.size), clusters, names)


def ruzicka_distances(trees: TreeData, root: str = "own", *, others: TreeData | None = None) -> np.ndarray:
    """Distance between trees by their labels at each position, shape (n_trees, n_trees) or (n_trees, n_others).

    Parameters
    ----------
    trees : TreeData
    root : {"own", "drop"}, default="own"
        Whether roots count, at a position of their own.
    others : TreeData, optional
        Other trees to measure to; by default the trees themselves. Labels are compared by their texts, so that the
        vocabularies may differ.

    Notes
    -----
    With `R[l, m]` the number of nodes of a tree at position l with label m, the distance is `1 - S / (T - S)`, S the
    sum of the smaller of both trees' numbers and T all nodes of both; 0 if neither has any. Unknown labels are one
    label.

    Examples
    --------
    >>> trees = TreeData.from_newick(["(a,b)r;", "(a,a)r;", "(a,b)r;"])
    >>> ruzicka_distances(trees).tolist()
    [[0.0, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    sets = [trees] if others is None else [trees, others]
    tables = _label_tables(sets, root)
    n_rows, n_columns = len(trees), len(sets[-1])
    if n_rows * n_columns > MAX_MATRIX_ITEMS**2:
        raise MemoryLimitError(
            f"the matrix of {n_rows} by {n_columns} trees needs {8e-9 * n_rows * n_columns:.1f} GB, the limit is "
            f"{MAX_MATRIX_ITEMS} by {MAX_MATRIX_ITEMS}. Give a sample of the trees; silhouettes need no matrix."
        )
    return ruzicka.distances(tables, n_rows, 0 if others is None else n_rows)


def tree_silhouette(trees: TreeData, labels: ArrayLike, definition: str = "rousseeuw", root: str = "own") -> float:
    """Mean silhouette of clusters of trees under the Ruzicka distance, from -1 to 1; larger is better.

    Parameters
    ----------
    trees : TreeData
    labels : array of shape (n_trees,)
        Cluster of every tree, of any type.
    definition : {"rousseeuw", "paper"}, default="rousseeuw"
        How the mean distance a of a tree to its own cluster is taken. "rousseeuw" leaves out the tree itself; a tree
        alone in its cluster has 0. "paper" divides by all members, so that values are slightly higher and a tree alone
        has 1 (Bacciu & Castellana, eq. 11).
    root : {"own", "drop"}, default="own"
        Whether roots count, at a position of their own.

    Returns
    -------
    float
        Mean over trees of (b - a) / max(a, b), b being the smallest mean distance to another cluster; nan if there are
        fewer than two clusters.

    Examples
    --------
    >>> trees = TreeData.from_newick(["(a,b)r;", "(a,b)r;", "(c,c)s;", "(c,d)s;"])
    >>> tree_silhouette(trees, [0, 0, 1, 1])
    0.75
    """
    values = tree_silhouette_samples(trees, labels, definition, root)
    return float(values.mean()) if values.size else np.nan


def tree_silhouette_samples(
    trees: TreeData, labels: ArrayLike, definition: str = "rousseeuw", root: str = "own"
) -> np.ndarray:
    """Silhouette of every tree, shape (n_trees,).

    Parameters
    ----------
    trees, labels, definition, root
        As for `tree_silhouette`.

    Examples
    --------
    >>> trees = TreeData.from_newick(["(a,b)r;", "(a,b)r;", "(c,c)s;", "(c,d)s;"])
    >>> tree_silhouette_samples(trees, [0, 0, 1, 1]).tolist()
    [1.0, 1.0, 0.5, 0.5]
    """
    if definition not in ("rousseeuw", "paper"):
        raise InvalidSettingError(f'definition is "rousseeuw" or "paper", got {definition!r}.', setting="definition")
    clusters = relabel(labels)
    if clusters.size != len(trees):
        raise InvalidInputError(f"labels are one per tree, got {clusters.size} for {len(trees)} trees.")
    tables = _label_tables([trees], root)
    if clusters.max(initial=0) < 1:
        return np.full(clusters.size, np.nan)
    return ruzicka.silhouettes(tables, clusters, definition == "paper")


def _label_tables(sets: Sequence[TreeData], root: str) -> ruzicka.LabelTables:
    """Tables of labels by position of all trees, one set after another."""
    if root not in ("own", "drop"):
        raise InvalidSettingError(f'root is "own" or "drop", got {root!r}.', setting="root")
    sizes = np.concatenate([data.forest.sizes for data in sets])
    trees = np.repeat(np.arange(sizes.size), sizes)
    positions = np.concatenate([data.forest.positions for data in sets])
    symbols = np.concatenate(_symbols(sets))
    if root == "drop":
        trees, positions, symbols = (part[positions > 0] for part in (trees, positions, symbols))
    return ruzicka.label_tables(trees, positions, symbols, sizes.size)


def _symbols(sets: Sequence[TreeData]) -> list[np.ndarray]:
    """A number for every node's label, the same for the same text in all sets; 0: unknown."""
    if any(data.forest.values is not None for data in sets):
        raise InvalidInputError("distances compare labels as symbols, got trees whose labels are numbers.")
    words = [data.vocabulary for data in sets]
    if all(vocabulary is None for vocabulary in words):
        return [data.forest.labels + 1 for data in sets]
    if any(vocabulary is None for vocabulary in words):
        raise InvalidInputError("labels of both sets are texts or of both codes, got one of each.")
    numbers: dict[str, int] = {}
    found = []
    for data in sets:
        codes = [numbers.setdefault(word, len(numbers) + 1) for word in data.vocabulary or ()]
        found.append(np.array([0, *codes])[data.forest.labels + 1])
    return found


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
