"""What BHC, RandomizedBHC and IncrementalBHC share: everything after the tree is built."""

import logging
import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.agglomeration.exact import Progress
from bayesgrove.agglomeration.predictive import (
    Predictive,
    cluster_probabilities,
    draw_rows,
    log_density,
    make_predictive,
    shared_predictive,
    weighty_nodes,
)
from bayesgrove.agglomeration.soft_components import GAUSSIAN_PRIORS
from bayesgrove.agglomeration.statistics import NodeRows
from bayesgrove.core.rng import resolve_seed
from bayesgrove.estimators.by_blocks import answer_blocks
from bayesgrove.estimators.clusterer import Clusterer, typical_row
from bayesgrove.estimators.constraints import about_links
from bayesgrove.estimators.cut import CutParameter, one_leaf
from bayesgrove.estimators.frames import as_frame
from bayesgrove.estimators.layouts import OWN_PROBABILITIES
from bayesgrove.estimators.membership import own_probabilities
from bayesgrove.estimators.settings import check_choice, check_n_jobs
from bayesgrove.io.schema import (
    NOT_FINITE,
    NUMBER,
    Check,
    Field,
    Reading,
    Size,
    array,
    floats,
    json_value,
    record,
    starts,
)
from bayesgrove.likelihoods import Bound
from bayesgrove.likelihoods.base import LEARN
from bayesgrove.likelihoods.bind import bind_understood, refuse_empty
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.likelihoods.understanding import understand
from bayesgrove.models.bhc.covariance import fit_either, with_covariances
from bayesgrove.models.bhc.fit import Fitted, united
from bayesgrove.models.bhc.revision import fit_revised
from bayesgrove.models.bhc.summaries import NodeSummary, summarise_nodes, summary_nodes
from bayesgrove.stats.links import Links
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import find_front, labels_of_front

SEARCHES = ("best", "greedy")
PREDICTIVE = record(
    Predictive,
    "predictive_",
    {
        "rows": floats("mixture_nodes", "stats"),
        "log_weight": floats("mixture_nodes"),
        "cluster_start": starts("clusters", "inside", may_be_empty=True),
        "above_low": array(np.int64, "above", below="clusters"),
        "above_high": array(np.int64, "above", below="clusters+1"),
        "above_order": array(np.int64, "clusters", below="clusters"),
        "cluster_rows": floats("clusters", "stats"),
        "cluster_sizes": floats("clusters"),
    },
    numbers=("log_concentration",),
)


def made_summary(fields: dict[str, Any]) -> NodeSummary:
    """Lists back to tuples."""
    pairs = {name: (int(fields[name][0]), int(fields[name][1])) for name in ("children", "child_sizes")}
    features = tuple((str(name), float(value)) for name, value in fields["features"])
    return NodeSummary(**{**fields, **pairs, "features": features})


SUMMARIES = json_value(
    lambda given: [made_summary(summary) for summary in given],
    lambda summaries: [summary._asdict() for summary in summaries],
)


def log_progress(done: int, total: int) -> None:
    """One line per report."""
    logging.getLogger("bayesgrove").info("%d of %d steps done", done, total)


class TreeClusterer(CutParameter, Clusterer):
    """Base of estimators that end in a binary tree over the rows with merge probabilities."""

    concentration: Any
    search: str
    hyper: str

    log_evidence_: float

    _links: Links | None = None
    """Constraints of the fit."""

    _layout = (
        *Clusterer._layout,
        Check("the tree is not binary", lambda read: read["tree"].n_nodes == 2 * read["tree"].n_leaves - 1),
        Check("the tree lacks a column", lambda read: {"log_q", "log_d"} <= set(read["tree"].columns)),
        Field("log_evidence", NUMBER, "log_evidence_"),
        Field("summaries", SUMMARIES, "_summaries"),
        OWN_PROBABILITIES,
        Size("stats", lambda read: n_stats(read["likelihood"].prior)),
        Field("predictive", PREDICTIVE, "_predictive"),
        Check(NOT_FINITE, lambda read: np.isfinite([read["log_evidence"], read["predictive"].log_concentration]).all()),
        Check(
            "cluster_start does not end at the nodes above",
            lambda read: read.sizes["inside"] + read.sizes["above"] == read.sizes["mixture_nodes"],
        ),
        Check(
            "clusters out of range", lambda read: np.all(read["predictive"].above_low < read["predictive"].above_high)
        ),
        Check(
            "above_order is no order",
            lambda read: np.unique(read["predictive"].above_order).size == read.sizes["clusters"],
        ),
        Check(
            "cluster sizes are not the labels'",
            lambda read: np.array_equal(read["predictive"].cluster_sizes, np.bincount(read["labels"])),
        ),
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree and cut it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            NaN is a missing cell where the likelihood allows it.
        y : ignored
            Present for API consistency.
        """
        return self._fit(X)

    def _fit(self, X: Any, links_of: Callable[[int], Links | None] = lambda n_rows: None) -> Self:
        """Build the tree and cut it, under the constraints that `links_of(n_rows)` gives."""
        self._check_settings()
        table = self._read_input(X, reset=True)
        self._links = links_of(table.n_rows)
        self._seed = resolve_seed(self.random_state)
        refuse_empty(table)
        understood = understand(self.likelihood, table)
        bound = self._without_labels(bind_understood(understood, table, self.hyper))
        full = self._with_covariances(bound, bound.values)
        try:
            if full is not None:
                fitted = fit_either(bound, full, bound.values, self._build)
            elif self._revises():
                fitted = fit_revised(bound, understood, table, self.hyper, self._build)
            else:
                fitted = self._build(bound)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("fit was interrupted before the tree was complete; nothing was kept") from None
        self._keep(fitted, table.names)
        return self

    def _check_settings(self) -> None:
        """Refuse parameters out of range before any work is done."""
        check_n_jobs(self.n_jobs)
        check_choice("search", self.search, SEARCHES)
        self._front(one_leaf())  # cuts it as it will cut the real one

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), **about_links(self._links)}

    def _progress_callback(self) -> Progress | None:
        """The hook a caller has set, else log lines when verbose."""
        return getattr(self, "_progress", None) or (log_progress if self.verbose else None)

    def _build(self, bound: Bound) -> Fitted:
        raise NotImplementedError

    def _keep(self, fitted: Fitted, names: tuple[str, ...]) -> None:
        """Set the fitted attributes."""
        found = united(fitted, self._seed, self._links) if self._unites() else None
        fitted, front = found or (fitted, self._front(fitted.tree))
        bound, tree, rows = fitted.bound, self._named(fitted.tree), fitted.rows
        self.tree_, self.labels_ = tree, by_size(labels_of_front(tree, front))
        self.n_clusters_ = len(front)
        self.likelihood_, self.concentration_ = bound.likelihood, math.exp(fitted.log_concentration)
        self.log_evidence_ = fitted.log_evidence
        split, children = summary_nodes(tree, front)
        weighty = weighty_nodes(tree)
        wanted = (front, weighty[0], split, children.ravel())
        node_rows = NodeRows(bound.prior, rows, tree, *wanted).of
        self._summaries = summarise_nodes(bound.prior, tree, front, names, node_rows)
        self._predictive = self._shared_predictive(fitted) or make_predictive(
            tree, front, self.labels_, fitted.log_concentration, node_rows, weighty
        )
        self._template = typical_row(rows)
        self._bound = bound._replace(values=np.empty((0, rows.shape[1])))
        self._own_probabilities = own_probabilities(self._probabilities, rows, self.labels_)
        self._set_result(self._describe(), {"depth": fitted.depth, **fitted.steps}, self._describe_rows(rows))

    def _shared_predictive(self, fitted: Fitted) -> Predictive | None:
        """The predictive of Gaussian components to which all rows belong in shares; None where there are none."""
        shared, prior = fitted.shared, fitted.bound.prior
        n = self.labels_.size
        if shared is None or not isinstance(prior, GAUSSIAN_PRIORS) or len(shared.values) != n:
            return None
        rows = fitted.rows[np.arange(n)]
        return shared_predictive(prior, rows, shared.shares, self.labels_, fitted.log_concentration)

    def _with_covariances(self, bound: Bound, rows: Any) -> Bound | None:
        """The table under full covariances where "auto" has a choice between them and independent columns."""
        is_auto = isinstance(self.likelihood, str) and self.likelihood == LEARN
        return with_covariances(bound, rows, self.hyper) if is_auto and self._searches() else None

    def _searches(self) -> bool:
        """Whether the tree is the best one found by a search that also chooses covariances."""
        return False

    def _revises(self) -> bool:
        """Whether families of columns are chosen once more when clusters are known."""
        return False

    def _unites(self) -> bool:
        """Whether components without a valley between them are one cluster."""
        return False

    @property
    def component_labels_(self) -> np.ndarray:
        """Component of the mixture each row belongs to, consecutive from 0: the cut of the tree within clusters."""
        check_is_fitted(self, "tree_")
        within = labels_of_front(self.tree_, self._front(self.tree_))
        return by_size(relabel(self.labels_ * self.tree_.n_leaves + within))

    @property
    def n_components_(self) -> int:
        """Number of components of the mixture."""
        return int(self.component_labels_.max()) + 1

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
            Blocks and files are read piece by piece; for a dask array the answer is also one, computed block by block.
        """
        return answer_blocks(self, X, np.int64, lambda own, rows: Clusterer.predict(own, rows))

    def predict_proba(self, X: Any, top_k: int | None = None) -> Any:
        """Probability that each row joins each cluster of `labels_` or, in the last column, a new one; rows sum to 1.

        Parameters
        ----------
        X : array, data frame, dask array, list of 2-d blocks, or path of shape (n_rows, n_columns)
            As in `predict`.
        top_k : int, optional
            Return a pair (clusters, probabilities) of the k most probable instead; a new cluster is `n_clusters_`. Not
            available for rows in blocks.
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

    def node_summary(self) -> Any:
        """The largest nodes above the cut, from the root down: size, probability, and the columns that split them.

        Returns
        -------
        frame
            Of polars if the table of the fit was one of polars, else of pandas. `split_by` names columns with the log
            Bayes factor for two clusters against one, the strongest first. Where clusters are unions, `apart` is the
            probability that the two sides are in different clusters.
        """
        check_is_fitted(self, "tree_")
        nodes, apart = self._summaries, self.tree_.columns.get("apart")
        return as_frame(
            {
                "node": [own.node for own in nodes],
                "size": [own.size for own in nodes],
                "probability": [own.probability for own in nodes],
                **({} if apart is None else {"apart": [float(apart[own.node]) for own in nodes]}),
                **{name: [own.children[k] for own in nodes] for k, name in enumerate(("left", "right"))},
                **{name: [own.child_sizes[k] for own in nodes] for k, name in enumerate(("left_size", "right_size"))},
                "split_by": [", ".join(f"{name} {factor:.3g}" for name, factor in own.features) for own in nodes],
            },
            self._frame_library,
        )

    def _restored(self, reading: Reading) -> None:
        super()._restored(reading)
        self._check_settings()
        self._set_read_result(reading)
