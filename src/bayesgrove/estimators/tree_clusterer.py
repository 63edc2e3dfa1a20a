"""What BHC, RandomizedBHC and IncrementalBHC share: everything after the tree is built."""

import logging
import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core import provenance
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.estimators.cut import Cut
from bayesgrove.estimators.inputs import accepts_sparse, read_input
from bayesgrove.estimators.saving import save_estimator
from bayesgrove.estimators.settings import check_n_jobs, check_whole
from bayesgrove.estimators.tree_files import restore_tree_model, tree_file_parts
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods import Bound, bind, encode
from bayesgrove.models.bhc.exact import Progress
from bayesgrove.models.bhc.fit import Fitted
from bayesgrove.models.bhc.predictive import (
    cluster_probabilities,
    draw_rows,
    log_density,
    make_predictive,
    weighty_nodes,
)
from bayesgrove.models.bhc.statistics import NodeRows
from bayesgrove.models.bhc.summaries import NodeSummary, summarise_nodes, summary_nodes
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import find_front, labels_of_front

SAMPLING_PATH = 0x5A3B
ONE_LEAF = Tree.from_merges(
    np.empty((0, 2), np.int64), log_merge_odds=np.empty(0), columns={"log_q": np.zeros(1), "log_d": np.zeros(1)}
)


def log_progress(done: int, total: int) -> None:
    """One line per report."""
    logging.getLogger("bayesgrove").info("%d of %d steps done", done, total)


class TreeClusterer(ClusterMixin, BaseEstimator):
    """Base of estimators that end in a binary tree over the rows with merge probabilities."""

    cut = Cut()
    likelihood: Any
    concentration: Any
    hyper: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    tree_: Tree
    labels_: np.ndarray
    likelihood_: Any
    concentration_: float
    log_evidence_: float

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, as given.

        Parameters
        ----------
        deep : bool
            For scikit-learn's sake.
        """
        return {**super().get_params(deep), "cut": self.__dict__["cut"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = accepts_sparse(self)
        tags.non_deterministic = False
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree and cut it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            NaN is a missing cell where the likelihood allows it.
        y : ignored
            For scikit-learn's sake.
        """
        self._check_settings()
        table = read_input(self, X, reset=True)
        self._seed = resolve_seed(self.random_state)
        bound = bind(self.likelihood, table, self.hyper)
        try:
            fitted = self._build(bound)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("fit was interrupted before the tree was complete; nothing was kept") from None
        self._keep(fitted, table.names)
        return self

    def _check_settings(self) -> None:
        """Refuse parameters out of range before any work is done."""
        check_n_jobs(self.n_jobs)
        self._front(ONE_LEAF)  # cuts it as it will cut the real one

    def _progress_callback(self) -> Progress | None:
        """The hook a caller has set, else log lines when verbose."""
        return getattr(self, "_progress", None) or (log_progress if self.verbose else None)

    def _build(self, bound: Bound) -> Fitted:
        raise NotImplementedError

    def _keep(self, fitted: Fitted, names: tuple[str, ...]) -> None:
        """Set the fitted attributes."""
        bound, tree, values = fitted.bound, fitted.tree, fitted.bound.values
        front = self._front(tree)
        self.tree_, self.labels_ = tree, labels_of_front(tree, front)
        self.n_clusters_ = len(front)
        self.likelihood_, self.concentration_ = bound.likelihood, math.exp(fitted.log_concentration)
        self.log_evidence_ = fitted.log_evidence
        split, children = summary_nodes(tree, front)
        wanted = (front, weighty_nodes(tree)[0], split, children.ravel())
        node_rows = NodeRows(bound.prior, values, tree, *wanted).of
        self._summaries = summarise_nodes(bound.prior, tree, front, names, node_rows)
        self._predictive = make_predictive(tree, front, self.labels_, fitted.log_concentration, node_rows)
        totals = np.nansum(values, axis=1)
        self._template = values[np.argsort(totals, kind="stable")[totals.size // 2]].copy()
        self._bound = bound._replace(values=np.empty((0, values.shape[1])))
        self.result_ = Result(
            model=type(self).__name__,
            labels=self.labels_,
            tree=tree,
            log_evidence=self.log_evidence_,
            likelihood=self.likelihood_,
            feature_names=names,
            provenance=provenance.record(type(self).__name__, self.get_params(deep=False), self._seed),
            details={"depth": fitted.depth, **fitted.steps},
        )

    def _front(self, tree: Tree) -> np.ndarray:
        """Nodes of the tree that are the clusters, by the parameter `cut`."""
        setting = self.__dict__["cut"]
        if isinstance(setting, str):
            return find_front(tree, setting, None, None, None)
        if isinstance(setting, int | float) and not isinstance(setting, bool):
            return find_front(tree, None, float(setting), None, None)
        raise InvalidSettingError(f"cut must be 'half', 'map' or a probability, got {setting!r}.")

    @property
    def linkage_matrix_(self) -> np.ndarray:
        """The tree as scipy's linkage matrix, heights monotone and not negative."""
        check_is_fitted(self, "tree_")
        return self.tree_.to_linkage()

    def _encoded(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "tree_")
        return encode(self._bound, read_input(self, X, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable cluster of each row among those of the cut.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        values, _ = self._encoded(X)
        return cluster_probabilities(self._predictive, self._bound.prior, values)[:, :-1].argmax(axis=1)

    def predict_proba(self, X: Any, top_k: int | None = None) -> Any:
        """Probability that each row joins each cluster of the cut, in the last column a new one; rows sum to 1.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        top_k : int, optional
            Give a pair (clusters, probabilities) of the k most probable instead; a new cluster is `n_clusters_`.
        """
        values, _ = self._encoded(X)
        probabilities = cluster_probabilities(self._predictive, self._bound.prior, values)
        if top_k is None:
            return probabilities
        check_whole("top_k", top_k, 1)
        if top_k > probabilities.shape[1]:
            raise InvalidSettingError(f"top_k lies between 1 and {probabilities.shape[1]}, got {top_k!r}.")
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :top_k]
        return best, np.take_along_axis(probabilities, best, axis=1)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive density of each row, normalised, in the data's own units.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        values, log_measure = self._encoded(X)
        return log_density(self._predictive, self._bound.prior, values) + log_measure

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
        rng = generator(seed, SAMPLING_PATH)
        drawn = draw_rows(self._predictive, self._bound.prior, rng, self._template, n_samples)
        return self._bound.encoding.undo(drawn)

    def node_summary(self) -> list[NodeSummary]:
        """The largest nodes above the cut, from the root down: size, probability, which columns split them."""
        check_is_fitted(self, "tree_")
        return list(self._summaries)

    def _file_parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a model file keeps besides what all estimators share."""
        return tree_file_parts(self)

    def _restore(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take `_file_parts` back from a model file, or refuse them; all else is restored already."""
        restore_tree_model(self, document, arrays)

    def save(self, path: Any) -> None:
        """Write the fitted model to a file that `bayesgrove.load` reads; arrays and JSON, never pickle.

        Parameters
        ----------
        path : str or Path
        """
        check_is_fitted(self, "tree_")
        save_estimator(self, path)
