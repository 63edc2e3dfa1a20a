"""`cluster`: one call that looks at a table, chooses a model for it, and fits it."""

import collections
import logging
import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.estimators.registry import MODELS, Model
from bayesgrove.estimators.settings import check_positive
from bayesgrove.io.blocks import is_block_source
from bayesgrove.io.cells import is_anndata, rows_of_cells
from bayesgrove.io.frames import is_frame, table_from_frame
from bayesgrove.io.tree_data import TreeData
from bayesgrove.likelihoods import GaussianDiagonal, GaussianFull, Multinomial
from bayesgrove.models.bhc.united import FEWEST_ROWS, MOST_COLUMNS

MOST_ROWS, MOST_CELLS = 5_000, 500_000
"""Larger tables are left to `RandomizedBHC`."""
SECONDS_OF_MOST_ROWS = 60.0
"""About what `BHC` of so many rows takes; time grows with the square of the rows."""
CONTINUOUS = (GaussianDiagonal, GaussianFull)


class Size(NamedTuple):
    """What the choice of a model depends on."""

    words: str
    """The table in one line."""
    n_rows: float
    """Infinite where rows come in blocks, whose number is not known beforehand."""
    n_columns: int
    is_sparse: bool


class Plan(NamedTuple):
    """The model to fit, its settings, and why, in two lines."""

    model: Model
    settings: dict[str, Any]
    reasons: tuple[str, str]


def cluster(table: Any, *, time_limit: float | None = None, random_state: Any = None, **settings: Any) -> Any:
    """Cluster the rows of a table by a model that suits it: `BHC`, or `RandomizedBHC` for large tables.

    Three lines on the logger "bayesgrove" (level INFO) say what was found in the table, which model was chosen and why,
    and what the clusters are.

    Parameters
    ----------
    table : array, data frame or sparse matrix of shape (n_rows, n_columns), dask array, list of blocks, or path
        NaN is a missing cell. Rows of a sparse matrix are counts, as of words in documents. Dask arrays, blocks, and
        paths of .npy and .parquet files go to `RandomizedBHC`.
    time_limit : float, optional
        Seconds the fit should take at most. A guide for the choice of the model, not a limit that interrupts it; the
        compilation of kernels in the first fit is not counted.
    random_state : int, optional
    **settings
        Parameters of the chosen estimator; they take precedence over the choice made here.

    Returns
    -------
    model : BHC or RandomizedBHC
        Fitted: `labels_`, `n_clusters_`, `tree_`, `report(path)`, `predict`, ....

    Examples
    --------
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(c, 1, (40, 2)) for c in (0, 8)])
    >>> model = bg.cluster(X, random_state=0)
    >>> model
    BHC(random_state=0)
    >>> model.n_clusters_
    2
    """
    plan = plan_for(table, time_limit, settings)
    log = logging.getLogger("bayesgrove").info
    for line in plan.reasons:
        log("%s", line)
    model = made(plan, {"random_state": random_state, **settings}).fit(table)
    log("%s", words_of_clusters(model))
    return model


def plan_for(table: Any, time_limit: float | None, settings: dict[str, Any]) -> Plan:
    """Which model suits a table, and why."""
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    size = size_of(table)
    most = rows_in_time(size.n_columns, time_limit)
    is_small = size.n_rows <= most
    model = MODELS["BHC" if is_small else "RandomizedBHC"]
    if is_small:
        why = f"BHC: at most {most:,} rows, so the tree is searched over all of them"
    elif math.isinf(size.n_rows):
        why = "RandomizedBHC: rows come in blocks, so the tree is searched by samples of them"
    else:
        why = f"RandomizedBHC: more than {most:,} rows, so the tree is searched by samples of them"
    chosen = {"likelihood": "multinomial"} if size.is_sparse and "likelihood" not in settings else {}
    return Plan(model, chosen, (size.words, why))


def size_of(table: Any) -> Size:
    """How large a table is, and of which kinds its columns are."""
    if isinstance(table, TreeData):
        raise InvalidTableError(
            "cluster takes a table, got trees. Use InfiniteTreeHMMMixture, or cluster(data.to_table('labels'))."
        )
    if is_anndata(table):
        table = rows_of_cells(table)
    if is_block_source(table):
        return Size("rows in blocks", math.inf, 1, is_sparse=False)
    if sparse.issparse(table):
        n_rows, n_columns = table.shape
        return Size(f"{words_of_shape(n_rows, n_columns)} of counts (sparse)", n_rows, n_columns, is_sparse=True)
    if is_frame(table):
        table = table_from_frame(table)
    kinds = collections.Counter(getattr(table, "kinds", ()))
    values = getattr(table, "values", None) if kinds else np.asarray(table)
    if values is None or values.ndim != 2:
        raise InvalidTableError(f"a table has rows and columns, got {type(table).__name__}. Try X.reshape(-1, 1).")
    listed = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()) or str(values.dtype)
    missing = int(np.count_nonzero(values != values))  # NaN is not equal to itself, and objects have no isnan
    n_rows, n_columns = values.shape
    cells = "1 missing cell" if missing == 1 else f"{missing:,} missing cells"
    words = f"{words_of_shape(n_rows, n_columns)} ({listed}), {cells}"
    return Size(words, n_rows, n_columns, is_sparse=False)


def words_of_shape(n_rows: int, n_columns: int) -> str:
    """How many rows and columns."""
    return f"{n_rows:,} rows x {n_columns:,} columns"


def rows_in_time(n_columns: int, time_limit: float | None) -> int:
    """Most rows that are left to `BHC`."""
    most = min(MOST_ROWS, MOST_CELLS // max(n_columns, 1))
    share = 1.0 if time_limit is None else min(1.0, math.sqrt(time_limit / SECONDS_OF_MOST_ROWS))
    return int(most * share)


def made(plan: Plan, settings: dict[str, Any]) -> Any:
    """The estimator that was chosen, not fitted yet."""
    kind = plan.model.load()
    known = kind().get_params(deep=False)
    for key in settings:
        if key not in known:
            raise InvalidSettingError(f"{kind.__name__} has no setting {key!r}; it has {', '.join(sorted(known))}.")
    return kind(**{**plan.settings, **settings})


def words_of_clusters(model: Any) -> str:
    """What the clusters of a fitted model are."""
    n = "1 cluster" if model.n_clusters_ == 1 else f"{model.n_clusters_:,} clusters"
    is_continuous = isinstance(model.likelihood_, CONTINUOUS)
    if model.n_components_ > model.n_clusters_:
        kind = "unions" if model.n_clusters_ > 1 else "the union"
        why = "that no density valley separates" if is_continuous else "that overlap"
        return f"{n}: {kind} of {model.n_components_:,} mixture components {why}"
    if model.n_components_ == 1:
        return f"{n}: a single mixture component"
    is_wide = is_continuous and model.n_features_in_ > MOST_COLUMNS
    has_no_rule = is_wide or isinstance(model.likelihood_, Multinomial) or model.labels_.size < FEWEST_ROWS
    if has_no_rule or not model._unites():
        return f"{n}: the mixture components, which were not united"
    why = "every two are separated by a density valley" if is_continuous else "no two overlap"
    return f"{n}: the mixture components; {why}"
