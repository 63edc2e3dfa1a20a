"""What BHC, RandomizedBHC and IncrementalBHC share: everything after the tree is built."""

import logging
import math
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.agglomeration.exact import Progress
from bayesgrove.agglomeration.predictive import (
    cluster_probabilities,
    draw_rows,
    log_density,
    make_predictive,
    weighty_nodes,
)
from bayesgrove.agglomeration.statistics import NodeRows
from bayesgrove.core import provenance
from bayesgrove.core.rng import resolve_seed
from bayesgrove.estimators.by_blocks import answer_blocks
from bayesgrove.estimators.clusterer import Clusterer, typical_row
from bayesgrove.estimators.cut import CutParameter, one_leaf
from bayesgrove.estimators.inputs import read_input
from bayesgrove.estimators.settings import check_n_jobs
from bayesgrove.estimators.tree_files import restore_tree_model, tree_file_parts
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods import Bound, bind
from bayesgrove.models.bhc.fit import Fitted
from bayesgrove.models.bhc.summaries import NodeSummary, summarise_nodes, summary_nodes
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import find_front, labels_of_front


def log_progress(done: int, total: int) -> None:
    """One line per report."""
    logging.getLogger("bayesgrove").info("%d of %d steps done", done, total)


class TreeClusterer(CutParameter, Clusterer):
    """Base of estimators that end in a binary tree over the rows with merge probabilities."""

    concentration: Any
    hyper: str

    log_evidence_: float

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
        self._front(one_leaf())  # cuts it as it will cut the real one

    def _progress_callback(self) -> Progress | None:
        """The hook a caller has set, else log lines when verbose."""
        return getattr(self, "_progress", None) or (log_progress if self.verbose else None)

    def _build(self, bound: Bound) -> Fitted:
        raise NotImplementedError

    def _keep(self, fitted: Fitted, names: tuple[str, ...]) -> None:
        """Set the fitted attributes."""
        bound, tree, rows = fitted.bound, self._named(fitted.tree), fitted.rows
        front = self._front(tree)
        self.tree_, self.labels_ = tree, labels_of_front(tree, front)
        self.n_clusters_ = len(front)
        self.likelihood_, self.concentration_ = bound.likelihood, math.exp(fitted.log_concentration)
        self.log_evidence_ = fitted.log_evidence
        split, children = summary_nodes(tree, front)
        weighty = weighty_nodes(tree)
        wanted = (front, weighty[0], split, children.ravel())
        node_rows = NodeRows(bound.prior, rows, tree, *wanted).of
        self._summaries = summarise_nodes(bound.prior, tree, front, names, node_rows)
        self._predictive = make_predictive(tree, front, self.labels_, fitted.log_concentration, node_rows, weighty)
        self._template = typical_row(rows)
        self._bound = bound._replace(values=np.empty((0, rows.shape[1])))
        self.result_ = Result(
            model=type(self).__name__,
            labels=self.labels_,
            tree=tree,
            log_evidence=self.log_evidence_,
            likelihood=self.likelihood_,
            feature_names=names,
            provenance=provenance.record(type(self).__name__, self.get_params(deep=False), self._seed),
            details={"depth": fitted.depth, **fitted.steps},
            description=self._describe_rows(rows),
        )

    def _front(self, tree: Tree) -> np.ndarray:
        """Nodes of the tree that are the clusters, by the parameter `cut`."""
        return find_front(tree, *self._cut_rule())

    @property
    def linkage_matrix_(self) -> np.ndarray:
        """The tree as scipy's linkage matrix, heights monotone and not negative."""
        check_is_fitted(self, "tree_")
        return self.tree_.to_linkage()

    def predict(self, X: Any) -> Any:
        """Most probable cluster of each row among those of `labels_`.

        Parameters
        ----------
        X : array, data frame, dask array, list of 2-d blocks, or path of shape (n_rows, n_columns)
            Blocks and files are read piece by piece; of a dask array the answer is one, too, made block by block.
        """
        return answer_blocks(self, X, np.int64, lambda own, rows: Clusterer.predict(own, rows))

    def predict_proba(self, X: Any, top_k: int | None = None) -> Any:
        """Probability that each row joins each cluster of `labels_`, in the last column a new one; rows sum to 1.

        Parameters
        ----------
        X : array, data frame, dask array, list of 2-d blocks, or path of shape (n_rows, n_columns)
            As in `predict`.
        top_k : int, optional
            Give a pair (clusters, probabilities) of the k most probable instead; a new cluster is `n_clusters_`. Not
            for rows in blocks.
        """
        if top_k is not None:
            return Clusterer.predict_proba(self, X, top_k)
        width = getattr(self, "n_clusters_", 0) + 1
        return answer_blocks(self, X, np.float64, lambda own, rows: Clusterer.predict_proba(own, rows), width)

    def score_samples(self, X: Any) -> Any:
        """Log predictive density of each row, normalised, in the data's own units.

        Parameters
        ----------
        X : array, data frame, dask array, list of 2-d blocks, or path of shape (n_rows, n_columns)
            As in `predict`.
        """
        return answer_blocks(self, X, np.float64, lambda own, rows: Clusterer.score_samples(own, rows))

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        return cluster_probabilities(self._predictive, self._bound.prior, values)

    def _log_density(self, values: np.ndarray) -> np.ndarray:
        return log_density(self._predictive, self._bound.prior, values)

    def _draw_rows(self, rng: np.random.Generator, n_samples: int) -> np.ndarray:
        return draw_rows(self._predictive, self._bound.prior, rng, self._template, n_samples)

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
