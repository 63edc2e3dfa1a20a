"""Tables with known views and hidden cells, as both sides of the comparison get them."""

import contextlib
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.datasets import load_zoo, make_cross_table
from benchmarks.mixtures.data import home_of_data

N_FOLDS = 10
MIXED_COLUMNS, MIXED_CLUSTERS, MIXED_ROWS, N_CATEGORIES = (15, 20, 30, 35), (4, 5, 6, 8), 1_000, 4
WITHIN = 0.7
"""Standard deviation of a Gaussian column within a cluster; between clusters it is 1."""


class Hidden(NamedTuple):
    """A table without some of its cells.

    Attributes
    ----------
    name : str
    X : float array
        NaN where a cell is hidden or missing.
    n_categories : int array of shape (n_columns,)
        0 for a column of real numbers.
    views : int array of shape (n_columns,), or None
        The views the table was made of.
    rows, columns, values : arrays
        The cells hidden.
    """

    name: str
    X: np.ndarray
    n_categories: np.ndarray
    views: np.ndarray | None
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def hide(
    name: str, X: np.ndarray, n_categories: np.ndarray, views: np.ndarray | None, seed: int, fold: int = 0
) -> Hidden:
    """Take a tenth of the cells away, at random; no cell is in two folds of one seed."""
    rng = np.random.default_rng([seed, 1])
    rows, columns = np.nonzero(rng.permutation(X.size).reshape(X.shape) % N_FOLDS == fold)
    shown = X.astype(float)
    values = shown[rows, columns].copy()
    shown[rows, columns] = np.nan
    return Hidden(name, shown, n_categories, views, rows, columns, values)


def binary(seed: int) -> list[Hidden]:
    """100 x 200, four views of 30, 50, 50 and 70 yes/no columns (Li and Shafto's section 8.1 with one trial)."""
    table = make_cross_table(n_trials=1, random_state=seed)
    return [hide("100 x 200 binary", table.X, np.full(table.X.shape[1], 2), table.view_labels, seed)]


def mixed(seed: int) -> list[Hidden]:
    """1,000 x 100, four views; a third each of yes/no, four categories and real numbers."""
    rng = np.random.default_rng(seed)
    cells, kinds, views = [], [], []
    for view, (n_columns, n_clusters) in enumerate(zip(MIXED_COLUMNS, MIXED_CLUSTERS, strict=True)):
        labels = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, MIXED_ROWS - n_clusters)])
        rng.shuffle(labels)
        for j in range(n_columns):
            kind = (2, N_CATEGORIES, 0)[j % 3]
            cells.append(draw_column(rng, labels, n_clusters, kind))
            kinds.append(kind)
            views.append(view)
    order = rng.permutation(len(kinds))
    X = np.stack(cells, axis=1)[:, order]
    return [hide("1,000 x 100 mixed", X, np.array(kinds)[order], np.array(views)[order], seed)]


def draw_column(rng: np.random.Generator, labels: np.ndarray, n_clusters: int, n_categories: int) -> np.ndarray:
    """Cells of one column given the clusters of the rows."""
    if n_categories == 0:
        return rng.normal(size=n_clusters)[labels] + WITHIN * rng.normal(size=labels.size)
    chances = rng.dirichlet(np.full(n_categories, 0.5), size=n_clusters)
    levels = np.cumsum(chances, axis=1)[labels]
    return np.minimum((rng.random(labels.size)[:, np.newaxis] > levels).sum(axis=1), n_categories - 1).astype(float)


def zoo(seed: int) -> list[Hidden]:
    """101 animals with 16 features, every cell hidden once; nothing where the file is absent.

    A tenth is 162 cells: one surprising cell moves their mean by more than the difference that is judged.
    """
    with contextlib.suppress(InvalidFileError):
        animals = load_zoo(home_of_data()).data
        coded = np.stack([np.unique(column, return_inverse=True)[1] for column in animals.T], axis=1)
        return [hide("zoo, 101 x 16", coded, coded.max(axis=0) + 1, None, seed, fold) for fold in range(N_FOLDS)]
    return []


TABLES = {"binary": binary, "mixed": mixed, "zoo": zoo}
"""Tables of one seed, whose scores are averaged."""
