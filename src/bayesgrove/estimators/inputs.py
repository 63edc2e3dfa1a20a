"""What users hand to estimators, as tables."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import SparseTable, Table, align, table_from_array
from bayesgrove.estimators.frames import as_frame
from bayesgrove.io.cells import is_anndata, rows_of_cells
from bayesgrove.io.columns import unmasked
from bayesgrove.io.frames import is_frame, is_polars, refuse_unread, row_names, table_from_frame
from bayesgrove.likelihoods import Bernoulli, Bound
from bayesgrove.likelihoods.base import IN_USE
from bayesgrove.likelihoods.families import NAMED
from bayesgrove.likelihoods.understanding import described_columns, given, left_out


class TableEstimator(BaseEstimator):
    """Base of estimators of tables: what they know of the columns they are fitted to."""

    likelihood: Any
    n_features_in_: int

    _schema: tuple[tuple[str, ...], dict[int, tuple[Any, ...]]]
    """Names of the columns, and labels of category columns."""
    _row_names: tuple[str, ...] | None
    _frame_library = "pandas"
    _bound: Bound

    def _read_input(self, X: Any, *, reset: bool) -> Table:
        """A table from an array, data frame, sparse matrix or table.

        Parameters
        ----------
        X : array, data frame, sparse matrix, Table or SparseTable
            NaN is a missing cell. Of the counts of a SparseTable a Bernoulli likelihood sees whether there are any.
        reset : bool
            True in `fit`, which sets the number and names of features and the names of the rows; False afterwards,
            when they are compared.
        """
        names_of_rows = row_names(X)
        if is_anndata(X):
            X = rows_of_cells(X)
        if isinstance(X, SparseTable):
            X = X.to_dense(presence=self._is_binary())
        if isinstance(X, Table):
            table = X
            self._check_features(table, reset=reset)
        elif is_frame(X):
            table = table_from_frame(X)
            validate_data(self, X, skip_check_array=True, reset=reset)
        else:
            refuse_unread(X)
            self._check_sparse(X)
            options = {"dtype": "numeric", "ensure_all_finite": False, "accept_sparse": self._accepts_sparse()}
            table = table_from_array(validate_data(self, unmasked(X), reset=reset, **options))
        if reset:
            self._schema, self._row_names = (table.names, dict(table.categories)), names_of_rows
            self._frame_library = "polars" if is_polars(X) else "pandas"
            return table
        table = table.without(left_out(self._bound.choices))
        names, categories = self._schema
        if not isinstance(X, Table) and not (is_frame(X) and hasattr(self, "feature_names_in_")):
            table = replace(table, names=names)  # columns without names of their own count by their place
        return align(table, names, categories)

    def _without_labels(self, bound: Bound) -> Bound:
        """Forget the labels of columns that are left out; gives what it got."""
        names, categories = self._schema
        unused = left_out(bound.choices)
        self._schema = names, {j: labels for j, labels in categories.items() if j not in unused}
        return bound

    def _described_columns(self) -> list[dict[str, Any]]:
        """How each column is understood: a record of texts for each."""
        names, choices = self._schema[0], self._bound.choices
        if len(choices) != len(names):  # of a file of an older version, or of rows that were projected
            return described_columns(names, (given(self._bound.likelihood),) * len(names), (True,) * len(names))
        return described_columns(names, choices, self._bound.encoding.ignored == IN_USE)

    @property
    def columns_(self) -> Any:
        """How each column is understood, as a frame with one row per column; of polars if the table was one.

        `name`; `kind`: what it holds; `family`: the likelihood, or "left out"; `reason`; `alternatives`: log evidence
        of other families minus that of the one chosen, in nats; `close`: whether one of them is less than 3 nats worse.
        """
        check_is_fitted(self, "_bound")
        records = self._described_columns()
        return as_frame({key: [record[key] for record in records] for key in records[0]}, self._frame_library)

    def _read_names(self, names: tuple[str, ...], kinds: tuple[str, ...], *, are_default: bool) -> None:
        """Set what is known of the columns where rows are elsewhere; an array's columns have no names."""
        self._read_input(Table(np.empty((0, len(names))), names, kinds), reset=True)
        if are_default:
            del self.feature_names_in_

    def _accepts_sparse(self) -> bool:
        """Whether 0 is nothing to the likelihood, so that rows may be sparse."""
        kind = NAMED.get(self.likelihood) if isinstance(self.likelihood, str) else self.likelihood
        return bool(getattr(kind, "takes_sparse", False))

    def _check_sparse(self, X: Any) -> None:
        """Refuse a sparse matrix where 0 is a value like any other, by the name of the likelihood."""
        if sparse.issparse(X) and not self._accepts_sparse():
            taking = ", ".join(sorted(name for name, kind in NAMED.items() if kind.takes_sparse))
            raise InvalidTableError(
                f"{type(self).__name__} with likelihood={self.likelihood!r:.60} does not take sparse matrices; these "
                f"likelihoods do: {taking}. Give X.toarray(), or a representation of fewer columns."
            )

    def _is_binary(self) -> bool:
        """Whether the likelihood is that of truth values."""
        return isinstance(self.likelihood, Bernoulli) or str(self.likelihood) == "bernoulli"

    def _check_features(self, table: Table, *, reset: bool) -> None:
        """Set or compare the number of features and their names for a table."""
        if reset:
            self.n_features_in_ = table.n_columns
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif table.n_columns != self.n_features_in_:
            raise InvalidTableError(
                f"X has {table.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
