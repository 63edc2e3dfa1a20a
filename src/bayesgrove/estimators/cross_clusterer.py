"""What all models of views share after they are fitted: views, prediction by view, answers to questions."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.table import Table
from bayesgrove.estimators.clusterer import Clusterer, most_probable, typical_row
from bayesgrove.estimators.cross_cells import CellQueries
from bayesgrove.estimators.cross_inputs import UNSEEN, per_column, table_kind
from bayesgrove.estimators.cross_layout import VIEWS
from bayesgrove.estimators.cross_queries import RowAndColumnQueries
from bayesgrove.estimators.settings import check_choice, check_learnable, check_n_jobs
from bayesgrove.inference.result import View
from bayesgrove.inference.views import columns_to_draw
from bayesgrove.io.frames import joined_names, row_names
from bayesgrove.likelihoods import Bound
from bayesgrove.likelihoods.bind import bind_understood
from bayesgrove.likelihoods.understanding import understand
from bayesgrove.models.cross.answers import Answers
from bayesgrove.trees import Tree


@dataclass(frozen=True, eq=False)
class FittedView:
    """A group of columns of the table and their hierarchy of rows.

    Attributes
    ----------
    columns : int64 array
        Numbers of the columns, ascending.
    labels_ : int64 array of shape (n_rows,)
        Clusters of the rows, consecutive from 0.
    tree_ : Tree
        Hierarchy of the rows.
    """

    columns: np.ndarray
    labels_: np.ndarray
    tree_: Tree

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return int(self.labels_.max()) + 1


class Estimate(NamedTuple):
    """Views as a model found them, the largest first, and what else a result shows."""

    views: Sequence[FittedView]
    column_tree: Tree
    details: Mapping[str, Any]
    provenance: Mapping[str, Any]


def labels_of_views(views: Sequence[FittedView], n_columns: int) -> np.ndarray:
    """Number of the view of each column."""
    labels = np.empty(n_columns, np.int64)
    for k, view in enumerate(views):
        labels[view.columns] = k
    return labels


class CrossClusterer(CellQueries, RowAndColumnQueries, Clusterer):
    """Base of estimators that divide the columns into views and cluster the rows in each.

    A subclass binds its table by `_bind_input`, sets `row_concentration_` and `column_concentration_`, calls `_keep`
    in `fit`, and gives `_with_rows`, `_layout` and `_restored`.
    """

    hyper: str
    unseen: str
    row_concentration: Any
    column_concentration: Any

    views_: list[FittedView]
    view_labels_: np.ndarray
    column_tree_: Tree
    row_concentration_: float
    column_concentration_: float

    _values: np.ndarray
    """The training table, encoded."""
    _layout = VIEWS

    @property
    def n_views_(self) -> int:
        """Number of views."""
        check_is_fitted(self, "tree_")
        return len(self.views_)

    @property
    def concentration_(self) -> float:
        """Concentration of the rows in each view; an alias of `row_concentration_`."""
        return self.row_concentration_

    @concentration_.setter
    def concentration_(self, value: float) -> None:
        self.row_concentration_ = value

    def _check_settings(self) -> None:
        """Refuse parameters out of range before any work is done."""
        check_n_jobs(self.n_jobs)
        check_choice("unseen", self.unseen, UNSEEN)
        for name in ("row_concentration", "column_concentration"):
            check_learnable(name, getattr(self, name))

    def _bind_input(self, X: Any) -> tuple[Table, Bound]:
        """Read the training table; its likelihood per column, all numbers resolved, and the encoded cells."""
        table = self._read_input(X, reset=True)
        self._given_as, self._kinds = table_kind(X), table.kinds
        self._axes = (X.index, X.columns) if self._given_as == "pandas" else None
        understood = understand(self.likelihood, table, with_repeats=True)
        each = per_column(understood.likelihood, table.n_columns, self.unseen)
        return table, self._without_labels(bind_understood(understood._replace(likelihood=each), table, self.hyper))

    def _keep(self, bound: Bound, estimate: Estimate, answers: Answers) -> None:
        """Set the fitted attributes and the result; concentrations are set already."""
        self._answers, self._values = answers, bound.values
        self.__dict__.pop("_blocks", None)
        self._bound = bound._replace(values=np.empty((0, bound.values.shape[1])))
        self._template, self.likelihood_ = typical_row(bound.values), bound.likelihood
        self._keep_views(estimate.views, estimate.column_tree)
        described = self._describe_rows(self._values, columns_to_draw(self._result_views(), self.column_tree_))
        self._set_result(estimate.provenance, estimate.details, described)

    def _result_parts(self) -> dict[str, Any]:
        return {**super()._result_parts(), "views": self._result_views(), "column_tree": self.column_tree_}

    def _keep_views(self, views: Sequence[FittedView], column_tree: Tree) -> None:
        """Set the attributes about views; those of single clusterings are of the largest view."""
        self.views_ = [replace(view, tree_=self._named(view.tree_)) for view in views]
        self.column_tree_ = replace(column_tree, leaf_labels=self._schema[0])
        self.view_labels_ = labels_of_views(views, len(self._schema[0]))
        self.labels_, self.tree_ = self.views_[0].labels_, self.views_[0].tree_
        self.n_clusters_ = views[0].n_clusters_

    def _result_views(self) -> tuple[View, ...]:
        """The views as results hold them."""
        return tuple(View(f"view {k}", v.columns, v.labels_, v.tree_) for k, v in enumerate(self.views_))

    def _view_number(self, view: Any) -> int:
        """The number of a view, or an error."""
        check_is_fitted(self, "tree_")
        if isinstance(view, bool) or not isinstance(view, int | np.integer) or not 0 <= view < self.n_views_:
            raise InvalidSettingError(f"views are numbered 0 to {self.n_views_ - 1}, got {view!r}.", view=view)
        return int(view)

    def predict(self, X: Any, view: int = 0) -> np.ndarray:
        """Most probable cluster of each row among those of a view.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            NaN is a missing cell.
        view : int
            Number of the view in `views_`.
        """
        number = self._view_number(view)
        values, _ = self._encoded(X)
        return self._answers.cluster_probabilities(number, values)[:, :-1].argmax(axis=1)

    def predict_proba(self, X: Any, top_k: int | None = None, view: int = 0) -> Any:
        """Probability that each row joins each cluster of a view or, in the last column, a new one; rows sum to 1.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        top_k : int, optional
            Return a pair (clusters, probabilities) of the k most probable instead.
        view : int
            Number of the view in `views_`.
        """
        number = self._view_number(view)
        values, _ = self._encoded(X)
        return most_probable(self._answers.cluster_probabilities(number, values), top_k)

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        return self._answers.cluster_probabilities(0, values)

    def _log_density(self, values: np.ndarray) -> np.ndarray:
        return self._answers.row_log_density(values)

    def _draw_rows(self, rng: np.random.Generator, n_samples: int) -> np.ndarray:
        nothing, everything = np.full(self._template.size, np.nan), np.arange(self._template.size)
        return self._answers.simulate(rng, nothing, n_samples, everything)

    def with_rows(self, X: Any) -> Self:
        """A new fitted model with further rows appended; views and hyperparameters stay the same.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            Further rows, in the units and with the columns of the training table.
        """
        values, _ = self._encoded(X)
        grown = copy(self)
        grown._row_names = joined_names(self._row_names, len(self._values), row_names(X), len(values))
        grown._axes = None
        grown._with_rows(values)
        return grown

    def _with_rows(self, values: np.ndarray) -> None:
        """Place further encoded rows; this object is a shallow copy of the model they are added to."""
        raise NotImplementedError
