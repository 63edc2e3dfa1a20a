"""Data sets of the scorecard: standardised rows, the reference partitions, and the same rows for peers."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesgrove.datasets import make_shapes

NOISE = 0
"""Reference label of rows that do not count."""
SCORECARD, TABLES, SKLEARN, NULLS = "scorecard", "tables", "sklearn", "nulls"
OWN = ("iris", "wine", "breast_cancer", "digits")
N_NULL_ROWS = 500
ONE_CLUSTER = {
    f"null-{kind}-{n_columns}": (kind, n_columns)
    for kind, widths in {
        "gaussian": (2, 10),
        "uniform": (2, 5),
        "t3": (2, 5),
        "exponential": (3,),
        "gamma": (3,),
        "log-normal": (3,),
        "banana": (2,),
        "ring": (2,),
    }.items()
    for n_columns in widths
}
"""Sets that are one cluster: kinds of `make_shapes`, and their numbers of columns."""
CLASSES = {"penguins": "species", "titanic": "survived", "mpg": "origin", "satellites": "Class_of_Orbit"}
"""Class columns of tables that have none called `class`, or a better one."""
DROPPED = {"titanic": ("alive", "class"), "mpg": ("name",), "satellites": ("ID",), "lace-animals": ("id",)}
"""Names of rows, and copies of the class or of another column."""


class DataSet(NamedTuple):
    """A set as it is given to estimators.

    Attributes
    ----------
    name, group : str
    ours : float64 array of shape (n_rows, n_columns), or pandas frame of a mixed table
    peers : float64 array of shape (n_rows, n_peer_columns)
        The same numbers, or one-hot columns with missing cells imputed by the mean, standardised.
    references : int array of shape (n_references, n_rows)
        Classes from 1, `NOISE` for rows that do not count; no references for tables without classes.
    is_mixed, has_missing : bool
    """

    name: str
    group: str
    ours: Any
    peers: np.ndarray
    references: np.ndarray
    is_mixed: bool = False
    has_missing: bool = False


def available(folder: Path) -> dict[str, str]:
    """Name -> group of all sets that are here; says on stderr which folders are missing."""
    found = {}
    for group in (SCORECARD, TABLES):
        paths = sorted((folder / group).glob("*.npz")) + sorted((folder / group).glob("*.csv"))
        if not paths:
            print(f"Skipped the sets of {group!r}: no files in {folder / group}.", file=sys.stderr)
        found.update({path.stem: group for path in paths})
    return {**found, **dict.fromkeys(OWN, SKLEARN), **dict.fromkeys(ONE_CLUSTER, NULLS)}


def read(name: str, folder: Path, limit: int) -> DataSet:
    """A set with at most `limit` rows, drawn without replacement with seed 0."""
    group = available_group(name, folder)
    if group == SKLEARN:
        return from_numbers(name, group, *own_set(name), limit)
    if group == NULLS:
        kind, n_columns = ONE_CLUSTER[name]
        shapes = make_shapes(kind, N_NULL_ROWS, n_columns, random_state=0)
        return from_numbers(name, group, shapes.X, np.ones((1, N_NULL_ROWS)), limit)
    table = folder / group / f"{name}.csv"
    if table.exists():
        return from_table(name, pd.read_csv(table), limit)
    with np.load(folder / group / f"{name}.npz") as arrays:
        if group == SCORECARD:
            return from_numbers(name, group, arrays["X"], np.atleast_2d(arrays["labels"]), limit)
        references = [numbered(arrays[column]) for column in ("bulk_labels", "louvain")]
        return from_numbers(name, group, arrays["pca"], np.array(references), limit)


def available_group(name: str, folder: Path) -> str:
    """Group of a set; names of files are unique over both folders."""
    if name in OWN or name in ONE_CLUSTER:
        return SKLEARN if name in OWN else NULLS
    return SCORECARD if (folder / SCORECARD / f"{name}.npz").exists() else TABLES


def own_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and classes of a set that scikit-learn ships."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    return found.data, numbered(found.target)[None]


def numbered(labels: Any) -> np.ndarray:
    """Classes as integers from 1; missing ones are noise."""
    return pd.factorize(np.asarray(labels), sort=True)[0] + 1


def chosen_rows(n: int, limit: int) -> np.ndarray:
    """All rows, or a sorted random subset of them that is the same each time."""
    return np.arange(n) if n <= limit else np.sort(np.random.default_rng(0).choice(n, limit, replace=False))


def from_numbers(name: str, group: str, X: np.ndarray, references: np.ndarray, limit: int) -> DataSet:
    """A set of numeric columns; those that are constant are dropped."""
    rows = chosen_rows(len(X), limit)
    ours = standardised(np.asarray(X, dtype=np.float64)[rows])
    return DataSet(name, group, ours, np.nan_to_num(ours), references[:, rows].astype(np.int64),
                   has_missing=bool(np.isnan(ours).any()))  # fmt: skip


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and standard deviation 1, NaN kept; constant columns are dropped."""
    spread = np.nanstd(X, axis=0)
    varies = spread > 0
    return (X[:, varies] - np.nanmean(X[:, varies], axis=0)) / spread[varies]


def from_table(name: str, table: pd.DataFrame, limit: int) -> DataSet:
    """A set of a CSV table: an array where all columns are numeric, otherwise a frame of mixed columns."""
    table = table.iloc[chosen_rows(len(table), limit)].reset_index(drop=True)
    column = CLASSES.get(name, "class")
    references = numbered(table[column])[None] if column in table else np.empty((0, len(table)), dtype=np.int64)
    table = table.drop(columns=[own for own in (column, *DROPPED.get(name, ())) if own in table])
    if not any(is_qualitative(table[own]) for own in table):
        return from_numbers(name, TABLES, table.to_numpy(np.float64), references, limit)
    ours = mixed_frame(table)
    return DataSet(name, TABLES, ours, one_hot(ours), references, True, bool(table.isna().to_numpy().any()))


def is_qualitative(column: pd.Series) -> bool:
    """Whether a column is text, a truth value, or an integer of two values."""
    if pd.api.types.is_float_dtype(column):
        return False
    return not pd.api.types.is_integer_dtype(column) or column.nunique() == 2


def mixed_frame(table: pd.DataFrame) -> pd.DataFrame:
    """Floats standardised, texts as categories, integers and truth values as they are; constant columns dropped."""
    columns = {}
    for name in table:
        own = table[name]
        if own.nunique() < 2:
            continue
        if pd.api.types.is_float_dtype(own):
            own = (own - own.mean()) / own.std(ddof=0)
        elif not pd.api.types.is_numeric_dtype(own):
            own = own.astype("category")
        columns[name] = own
    return pd.DataFrame(columns)


def one_hot(frame: pd.DataFrame) -> np.ndarray:
    """All columns as numbers: one per category, missing cells imputed by the mean, standardised."""
    qualitative = [name for name in frame if frame[name].dtype == "category"]
    numbers = pd.get_dummies(frame, columns=qualitative).astype(np.float64)
    return np.nan_to_num(standardised(numbers.to_numpy()))
