"""Tables of the cross-clustering experiments: generated ones with equal views, real ones cut to size, hidden cells."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.rng import generator
from bayesgrove.datasets import load_arcene, load_isolet, load_musk1, load_sonar, make_cross_table
from bayesgrove.likelihoods import Bernoulli, Columns, GaussianDiagonal

FOLDS = 10
N_ROWS, N_COLUMNS, N_COMPONENTS = 100, 200, 4
REAL_SETS: dict[str, Callable[[Any], Any]] = {
    "Sonar": load_sonar,
    "Musk": load_musk1,
    "Isolet": load_isolet,
    "Arcene": load_arcene,
}
FOLD_PATH, CHOICE_PATH = 0xF01D, 0xC401


class CellTable(NamedTuple):
    """A table whose cells are to be predicted."""

    name: str
    X: np.ndarray
    likelihood: Any
    is_binary: bool


def equal_views(n_views: int, seed: int, n_columns: int = N_COLUMNS) -> CellTable:
    """A yes/no table of equally wide views, each with four components."""
    widths = [len(part) for part in np.array_split(np.arange(n_columns), n_views)]
    table = make_cross_table(N_ROWS, widths, [N_COMPONENTS] * n_views, n_trials=1, random_state=seed)
    name = {2: "II", 3: "III", 4: "IV"}.get(n_views, str(n_views))
    return CellTable(name, table.X.astype(float), yes_no(n_columns), is_binary=True)


def yes_no(n_columns: int) -> Columns:
    """The usual Beta(1/2, 1/2) for each column."""
    return Columns([Bernoulli(0.5, 0.5)] * n_columns)


def real_table(name: str, form: str, n_columns: int, seed: int, data_home: Any) -> CellTable | None:
    """100 rows and some columns of a real set, at random: standardised, or split at the medians; None if absent."""
    with contextlib.suppress(InvalidFileError):
        data = REAL_SETS[name](data_home).data
        rng = generator(seed, CHOICE_PATH)
        varying = np.flatnonzero(data.std(axis=0) > 0.0)
        columns = np.sort(rng.choice(varying, min(n_columns, varying.size), replace=False))
        X = data[np.sort(rng.choice(len(data), N_ROWS, replace=False))][:, columns]
        if form == "median split":
            split = (np.median(X, axis=0) < X).astype(float)
            return CellTable(f"{name}, median split", split, yes_no(columns.size), is_binary=True)
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        bells = Columns([GaussianDiagonal(0.0, 0.1, 2.0, 0.25)] * columns.size)
        return CellTable(f"{name}, Gaussian", X, bells, is_binary=False)
    return None


class Fold(NamedTuple):
    """A table without the cells of one fold."""

    shown: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def folds(table: CellTable, seed: int, n_folds: int = FOLDS) -> Iterator[Fold]:
    """Each cell is hidden in one of the ten folds; the first `n_folds` are given."""
    fold_of = generator(seed, FOLD_PATH).permutation(table.X.size).reshape(table.X.shape) % FOLDS
    for fold in range(n_folds):
        rows, columns = np.nonzero(fold_of == fold)
        shown = table.X.copy()
        shown[rows, columns] = np.nan
        yield Fold(shown, rows, columns, table.X[rows, columns])
