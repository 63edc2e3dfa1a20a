"""What every estimator of rows shares after it is fitted: prediction, densities, new rows, model files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.core.table import Table
from bayesgrove.estimators.checks import checked_groups
from bayesgrove.estimators.frames import Summaries
from bayesgrove.estimators.inputs import TableEstimator
from bayesgrove.estimators.layouts import COLUMNS, ROWS
from bayesgrove.estimators.membership import NEW_CLUSTER, Membership, numbered
from bayesgrove.estimators.saving import SavedEstimator
from bayesgrove.estimators.settings import check_whole
from bayesgrove.inference.description import Description, describe_rows, spread
from bayesgrove.inference.misfit import Finding, misfit, records, summary
from bayesgrove.inference.result import Result
from bayesgrove.io.schema import Reading
from bayesgrove.likelihoods import Bound, encode
from bayesgrove.likelihoods.bind import decode
from bayesgrove.report import write_report
from bayesgrove.trees import Tree

SAMPLING_PATH = 0x5A3B
TYPICAL_CELLS = 1_000_000
"""As many are looked at for a typical row."""


class Clusterer(Summaries, Membership, ClusterMixin, SavedEstimator, TableEstimator):
    """Base of estimators that cluster the rows of a table.

    A subclass sets `tree_`, `labels_`, `_bound`, `_seed` and `_template` (a typical encoded row) in `fit`, calls
    `_set_result`, and gives `_probabilities`, `_certainty`, `_log_density`, `_draw_rows`, `_layout` and `_restored`.
    """

    _layout = (*COLUMNS, *ROWS)
    _fitted_by = "tree_"

    random_state: Any
    n_jobs: int | None
    verbose: int

    tree_: Tree
    labels_: np.ndarray
    n_clusters_: int
    likelihood_: Any
    concentration_: float
    result_: Result

    _bound: Bound
    _seed: int
    _template: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._accepts_sparse()
        tags.non_deterministic = False
        return tags

    def _takes_mixed_tables(self) -> bool:
        """Whether columns may be measurements, counts and categories side by side; scikit-learn has no tag for it."""
        return True

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        """Probability of each cluster and, last, of a new one, of encoded rows."""
        raise NotImplementedError

    def _membership_names(self) -> list[str]:
        return [*numbered(self.n_clusters_), NEW_CLUSTER]

    def _log_density(self, values: np.ndarray) -> np.ndarray:
        """Log predictive density of encoded rows, in encoded units."""
        raise NotImplementedError

    def _draw_rows(self, rng: np.random.Generator, n_samples: int) -> np.ndarray:
        """Encoded rows from the predictive distribution."""
        raise NotImplementedError

    def _set_result(
        self, provenance: Mapping[str, Any], details: Mapping[str, Any], description: Description | None
    ) -> None:
        """Set the result; all that it shows is set already."""
        words = summary(misfit(checked_groups(self, description)))
        self.result_ = Result(
            **{
                "model": type(self).__name__,
                "labels": self.labels_,
                "tree": self.tree_,
                "log_evidence": getattr(self, "log_evidence_", None),
                "likelihood": self.likelihood_,
                "feature_names": self._schema[0],
                "columns": tuple(self._described_columns()),
                "provenance": provenance,
                "details": {**details, "check": words} if words else details,
                "description": description,
                **self._result_parts(),
            }
        )

    def _restored(self, reading: Reading) -> None:
        """Set what all estimators of rows have; a subclass goes on with what is its own, and sets the result."""
        if not isinstance(self.likelihood, str) or "likelihood" not in reading.parts.document["parameters"]:
            self.likelihood = self._bound.likelihood
        self.likelihood_, self._row_names = self._bound.likelihood, self.tree_.leaf_labels
        self.n_clusters_ = reading.sizes["clusters"]
        self._schema = reading["names"], reading["categories"]
        self.n_features_in_ = len(self._schema[0])
        if reading["named"]:
            self.feature_names_in_ = np.array(self._schema[0], dtype=object)

    def _set_read_result(self, reading: Reading) -> None:
        self._set_result(reading["provenance"], reading["details"], reading["description"])

    def _named(self, tree: Tree) -> Tree:
        """The tree with the names that its rows had in the frame, if it was one that names them."""
        return tree if self._row_names is None else replace(tree, leaf_labels=self._row_names)

    def _describe_rows(self, values: Any, columns: np.ndarray | None = None) -> Description:
        """What the rows look like, in the data's own units; `values` are all of them, encoded; `columns` are drawn."""
        names, categories = self._schema
        kinds = tuple("category" if j in categories else "float" for j in range(len(names)))
        undo = self._bound.encoding.undo
        return describe_rows(
            lambda items: Table(np.ascontiguousarray(undo(values[items])), names, kinds, categories),
            len(names),
            self.tree_,
            self.labels_,
            columns,
        )

    def _encoded(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "tree_")
        return encode(self._bound, self._read_input(X, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable cluster of each row among those of `labels_`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        values, _ = self._encoded(X)
        return self._probabilities(values)[:, :-1].argmax(axis=1)

    def predict_proba(self, X: Any, top_k: int | None = None) -> Any:
        """Probability that each row joins each cluster of `labels_` or, in the last column, a new one; rows sum to 1.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        top_k : int, optional
            Return a pair (clusters, probabilities) of the k most probable instead; a new cluster is `n_clusters_`.
        """
        values, _ = self._encoded(X)
        return most_probable(self._probabilities(values), top_k)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive density of each row, normalised, in the data's own units.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        values, log_measure = self._encoded(X)
        return self._log_density(values) + log_measure

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log predictive density of the rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : ignored
        """
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows drawn from the predictive distribution, in the data's own units (categories as codes).

        Parameters
        ----------
        n_samples : int
        random_state : int, optional
            None continues from the estimator's own seed.
        """
        check_is_fitted(self, "tree_")
        check_whole("n_samples", n_samples, 0)
        seed = self._seed if random_state is None else resolve_seed(random_state)
        drawn = self._draw_rows(generator(seed, SAMPLING_PATH), n_samples)
        return decode(self._bound, drawn)

    def check(self) -> Any:
        """Whether measurements within clusters are distributed as the model says: tails, repeated values, dependence.

        Returns
        -------
        pandas.DataFrame
            A row for each check of each column that holds measurements, failed ones first: `check` ("tails", "values"
            or "dependence"), `column`, `other` (the other column of a dependence), `cluster` (where it is strongest),
            `effect` (a kurtosis; the ratio of observed to expected counts of a value; a correlation), `p_value`
            (adjusted for all tests), `passed`, `sentence` and `advice` (what to try next).

        Notes
        -----
        The checks look at up to 1,000 rows, in clusters with at least 20 of them. A check fails where its adjusted
        p-value is below .05 and the effect is large enough to matter.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesgrove import BHC
        >>> X = np.random.default_rng(0).normal(50.0, 10.0, size=(200, 2))
        >>> X[:60, 0] = 10.0 * np.round(X[:60, 0] / 10.0)  # some answered in tens
        >>> found = BHC("gaussian", random_state=0).fit(X).check()
        >>> found[["check", "column"]].iloc[0].tolist(), bool(found.passed.iloc[0])
        (['values', 'x0'], False)
        """
        check_is_fitted(self, "tree_")
        import pandas

        found = misfit(checked_groups(self, self.result_.description))
        return pandas.DataFrame(records(found), columns=list(Finding._fields))

    def report(self, path: Any, *, title: str | None = None) -> Path:
        """Write one HTML file with the hierarchy, its uncertainty, what distinguishes the clusters, and the chains.

        It needs no network and no other file; open it in a browser.

        Parameters
        ----------
        path : str or Path
            An existing file is replaced.
        title : str, optional
            Heading of the page.
        """
        check_is_fitted(self, "tree_")
        return write_report(self.result_, path, title=title)


def most_probable(probabilities: np.ndarray, top_k: int | None) -> Any:
    """All probabilities, or the `top_k` largest of each row and where they stand."""
    if top_k is None:
        return probabilities
    check_whole("top_k", top_k, 1)
    if top_k > probabilities.shape[1]:
        raise InvalidSettingError(f"top_k lies between 1 and {probabilities.shape[1]}, got {top_k!r}.")
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :top_k]
    return best, np.take_along_axis(probabilities, best, axis=1)


def typical_row(values: Any) -> np.ndarray:
    """The row whose total is in the middle of those at even distances; a document drawn anew keeps its length."""
    n_rows, n_columns = values.shape
    some = values[spread(n_rows, max(1, TYPICAL_CELLS // n_columns))]
    by_total = np.argsort(np.nansum(some, axis=1), kind="stable")
    return some[by_total[by_total.size // 2]].copy()
