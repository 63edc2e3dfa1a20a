"""Large tables: ten thousand columns (Arcene), and twenty thousand rows of mixed columns with missing cells."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.datasets import load_arcene
from bayesgrove.estimators.randomized_bhcc import RandomizedBHCC
from bayesgrove.likelihoods import Bernoulli, Categorical, Columns, GaussianDiagonal
from benchmarks.cross.data import N_CATEGORIES, draw_column
from benchmarks.cross.searches import make_model, timed
from benchmarks.mixtures.data import home_of_data
from benchmarks.timing import in_child

N_VIEWS, N_CLUSTERS, MISSING = 3, 4, 0.2
KINDS = (2, N_CATEGORIES, 0)


def long_table(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in other clusters in each of three views; yes/no, categories and real numbers in turn; views of columns."""
    rng = np.random.default_rng(seed)
    views = np.arange(n_columns) % N_VIEWS
    labels = rng.integers(0, N_CLUSTERS, (N_VIEWS, n_rows))
    kinds = [KINDS[j // N_VIEWS % len(KINDS)] for j in range(n_columns)]
    cells = [draw_column(rng, labels[view], N_CLUSTERS, kind) for view, kind in zip(views, kinds, strict=True)]
    X = np.stack(cells, axis=1)
    X[rng.random(X.shape) < MISSING] = np.nan
    return X, views


def long_model(n_columns: int, seed: int) -> RandomizedBHCC:
    """The columns' families said, numbers from the data, one thread."""
    families = {0: GaussianDiagonal(), 2: Bernoulli(), N_CATEGORIES: Categorical(n_categories=N_CATEGORIES)}
    kinds = [KINDS[j // N_VIEWS % len(KINDS)] for j in range(n_columns)]
    return RandomizedBHCC(likelihood=Columns([families[kind] for kind in kinds]), random_state=seed, n_jobs=1)


def long(seed: int, *, quick: bool) -> dict[str, Any]:
    """Time and memory of a table of twenty thousand rows."""
    n_rows, n_columns = (1_000, 12) if quick else (20_000, 50)
    found = in_child("fit_long_table", n_rows=n_rows, n_columns=n_columns, seed=seed)
    about = {"part": "long", "data": f"{n_rows} x {n_columns} mixed, a fifth missing", "who": "RandomizedBHCC"}
    return {**about, **found}


def wide(seed: int, *, quick: bool) -> dict[str, Any]:
    """Time of the default search for views on the papers' table of most columns, split at the medians."""
    about = {"part": "wide", "data": "Arcene 200 x 10000, median split", "who": "BHCC, many starts"}
    try:
        cells = load_arcene(home_of_data()).data
    except InvalidFileError:
        return {**about, "note": "not measured: set BAYESGROVE_DATA to the data's folder"}
    X = (cells > np.median(cells, axis=0)).astype(float)
    if quick:
        X, about["data"] = X[:, :200], "Arcene 200 x 200, median split"
    make_model(1, 40, "polish", seed).fit(X[:, :40])
    model, seconds = timed(make_model(1, X.shape[1], "polish", seed), X)
    return {**about, "cpu_seconds": seconds, "n_views": len(np.unique(model.view_labels_))}
