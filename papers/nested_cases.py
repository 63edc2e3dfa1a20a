"""Tables of the nested experiments: Animals and Fashion as published, wine and digits as nobody has tuned on."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_wine

from bayesgrove.core.rng import generator
from bayesgrove.datasets import load_animals, load_fashion_sample
from bayesgrove.models.nested.preparation import principal_axes

ANIMALS = {"depth": 3, "alpha": 0.4, "gamma": 1.0, "gamma0": 0.85}
FASHION = {"depth": 4, "alpha": 0.2, "gamma": 1.5, "gamma0": 0.85}
"""The paper's numbers; variances of components, of their means and of discriminants are 1."""
ANIMALS_COLUMNS, FASHION_COLUMNS = 7, 10
PRIOR_VARIANCE = 2.0
"""Of a column under the model: 1 around a component's mean, 1 of these means. Wine and digits are scaled to it."""
WINE_PER_CLASS, DIGITS_PER_CLASS, DIGIT_SIDE = 33, 10, 8


class Case(NamedTuple):
    """A table and how it is modelled.

    Attributes
    ----------
    name : str
    X : float array of shape (n_rows, n_columns)
        Principal components.
    classes : array of shape (n_rows,)
        Known, for F-measures only.
    settings : mapping
        Depth and concentrations.
    names : tuple of str, or None
        Of the rows.
    images : array of shape (n_rows, height, width), or None
    """

    name: str
    X: np.ndarray
    classes: np.ndarray
    settings: Mapping[str, Any]
    names: tuple[str, ...] | None = None
    images: np.ndarray | None = None


def projected(rows: np.ndarray, n_columns: int) -> np.ndarray:
    """The first principal components of centred rows."""
    centred = rows - rows.mean(axis=0)
    return centred @ principal_axes(centred, n_columns).T


def scaled(rows: np.ndarray) -> np.ndarray:
    """Rows whose columns have the variance that the model expects, on average."""
    return rows * np.sqrt(PRIOR_VARIANCE / rows.var(axis=0).mean())


def some_of_each(classes: np.ndarray, n_each: int, seed: int) -> np.ndarray:
    """As many rows of each class, drawn without replacement, in the order of the table."""
    rng = generator(seed)
    drawn = [rng.permutation(np.flatnonzero(classes == own))[:n_each] for own in np.unique(classes)]
    return np.sort(np.concatenate(drawn))


def animals(data_home: Any) -> Case:
    """33 animals, 7 principal components of their 102 features."""
    data = load_animals(data_home)
    return Case("Animals", projected(data.data.astype(float), ANIMALS_COLUMNS), data.target, ANIMALS, data.row_names)


def fashion(data_home: Any) -> Case:
    """100 images of clothes, 10 of each class, 10 principal components of their pixels divided by 255."""
    data = load_fashion_sample(data_home, n_rows=100)
    images = data.data.reshape(-1, 28, 28)
    return Case("Fashion", projected(data.data / 255.0, FASHION_COLUMNS), data.target, FASHION, images=images)


def wine() -> Case:
    """99 of scikit-learn's wines, 33 of each class, 7 principal components of the standardised columns."""
    data = load_wine()
    rows = some_of_each(data.target, WINE_PER_CLASS, 0)
    values = data.data[rows]
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    return Case("wine", scaled(projected(standard, ANIMALS_COLUMNS)), data.target[rows], ANIMALS)


def digits(per_class: int = DIGITS_PER_CLASS) -> Case:
    """Some of scikit-learn's digits, as many of each, 10 principal components of their pixels."""
    data = load_digits()
    rows = some_of_each(data.target, per_class, 0)
    images = data.data[rows].reshape(-1, DIGIT_SIDE, DIGIT_SIDE)
    return Case("digits", scaled(projected(data.data[rows], FASHION_COLUMNS)), data.target[rows], FASHION, None, images)
