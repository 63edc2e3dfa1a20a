"""What users hand to estimators, as tables."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import Table, align, table_from_array
from bayesgrove.io.columns import unmasked
from bayesgrove.io.frames import is_frame, refuse_unread, row_names, table_from_frame
from bayesgrove.likelihoods import Multinomial


def read_input(estimator: Any, X: Any, *, reset: bool) -> Table:
    """A table from an array, data frame, sparse matrix or table; sets or checks the number and names of features.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets `n_features_in_`, `feature_names_in_` and the names of the rows when `reset`, else is compared with.
    X : array, data frame, sparse matrix or Table
        NaN is a missing cell.
    reset : bool
        True in `fit`, False afterwards.
    """
    if isinstance(X, Table):
        table = X
        check_features(estimator, table, reset=reset)
    elif is_frame(X):
        table = table_from_frame(X)
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    else:
        refuse_unread(X)
        array = validate_data(
            estimator,
            unmasked(X),
            reset=reset,
            dtype="numeric",
            ensure_all_finite=False,
            accept_sparse=accepts_sparse(estimator),
        )
        table = table_from_array(array)
    if reset:
        estimator._schema = (table.names, dict(table.categories))
        estimator._row_names = row_names(X)
        return table
    names, categories = estimator._schema
    if not isinstance(X, Table) and not (is_frame(X) and hasattr(estimator, "feature_names_in_")):
        table = replace(table, names=names)  # columns without names of their own count by their place
    return align(table, names, categories)


def accepts_sparse(estimator: Any) -> bool:
    """Whether the likelihood counts words, so that rows may be sparse."""
    return isinstance(estimator.likelihood, Multinomial) or str(estimator.likelihood) == "multinomial"


def check_features(estimator: Any, table: Table, *, reset: bool) -> None:
    """Set or compare the number of features and their names for a table."""
    if reset:
        estimator.n_features_in_ = table.n_columns
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
    elif table.n_columns != estimator.n_features_in_:
        raise InvalidTableError(
            f"X has {table.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
