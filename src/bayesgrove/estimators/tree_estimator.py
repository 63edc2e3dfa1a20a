"""What all estimators of trees share after they are fitted: prediction, what sets clusters apart, reports, files."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.estimators.clusterer import SAMPLING_PATH, most_probable
from bayesgrove.estimators.frames import Summaries
from bayesgrove.estimators.membership import NEW_CLUSTER, Membership, numbered
from bayesgrove.estimators.saving import SavedEstimator
from bayesgrove.estimators.settings import check_whole
from bayesgrove.estimators.tree_drawing import draw_like, kept_skeletons
from bayesgrove.estimators.tree_inputs import (
    TreeSchema,
    check_em_settings,
    check_strength,
    check_tree_settings,
    fitting_trees,
    new_trees,
    tree_counts,
)
from bayesgrove.estimators.tree_layout import TREES, restored_parameters, restored_prior
from bayesgrove.estimators.tree_reports import report_result
from bayesgrove.inference.description import Description, describe_rows
from bayesgrove.inference.exhibits import Exhibit
from bayesgrove.inference.result import Result
from bayesgrove.inference.tree_exhibits import ClassTable, emission_maps, make_class_table, switch_map, telling_exhibits
from bayesgrove.inference.tree_features import (
    ClusterCounts,
    Telling,
    cluster_counts,
    feature_table,
    telling_labels,
    telling_positions,
    typical_trees,
)
from bayesgrove.io.document_texts import readable
from bayesgrove.io.schema import Reading
from bayesgrove.io.tree_data import LabelledTree, TreeData
from bayesgrove.models.tree_hmm.em import EMFit, EMSettings, fit_em
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.fit import FIT_PATH
from bayesgrove.models.tree_hmm.links import node_values, plain_links, unique_links
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, make_prior, with_values
from bayesgrove.report import write_report
from bayesgrove.trees import Tree
from bayesgrove.trees.forest import Forest


class TreeEstimator(Summaries, Membership, ClusterMixin, SavedEstimator):
    """Base of estimators of trees.

    A subclass sets `weights_`, `_parameters`, `_prior` and `_schema`, calls `_keep_clusters` in `fit`, and gives
    `_probabilities`, `_log_density` and `_layout`.
    """

    _layout = TREES
    _fitted_by = "weights_"
    _clusters_are = "components"
    """Name of the length in model files that clusters are at most as many as."""
    _has_new_cluster = False
    """Whether `predict_proba` has a column for a new cluster."""

    missing: str
    prior_strength: Any
    emission: str
    min_count: int
    unseen: str
    overflow: str
    random_state: Any
    verbose: int

    weights_: np.ndarray
    labels_: np.ndarray
    n_clusters_: int
    tree_: Tree
    result_: Result
    typical_: np.ndarray

    _schema: TreeSchema
    _prior: TreePrior
    _parameters: Parameters
    _seed: int
    _counts: ClusterCounts
    _typical: TreeData
    _texts: tuple[str, ...] = ()
    _skeletons: Forest
    _skeleton_clusters: np.ndarray
    _about: dict[str, Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.non_deterministic = False
        return tags

    # ---- what a family gives

    def _probabilities(self, data: TreeData) -> np.ndarray:
        """Probability of each cluster of each tree; a column more for a new one where there may be one."""
        raise NotImplementedError

    def _log_density(self, data: TreeData) -> np.ndarray:
        """Log density of each tree given its skeleton."""
        raise NotImplementedError

    def _own_exhibits(self) -> list[Exhibit]:
        """What a report shows besides what all models of trees have."""
        return []

    # ---- new trees

    @property
    def vocabulary_(self) -> tuple[str, ...] | None:
        """Texts of the labels by code; None where the labels fitted are codes or numbers."""
        return self._schema.vocabulary

    @property
    def max_outdegree_(self) -> int:
        """The largest position."""
        return self._schema.max_outdegree

    def prepare(self, X: TreeData) -> TreeData:
        """New trees in the labels and positions of this model, as `predict` and other methods use them.

        `n_unseen` and `n_overflowing` of the result count the nodes whose labels or positions were replaced.

        Parameters
        ----------
        X : TreeData
        """
        check_is_fitted(self, self._fitted_by)
        return new_trees(X, self, self._schema)

    def _log_likelihoods(self, data: TreeData, parameters: Parameters | None = None) -> np.ndarray:
        """(component, tree), given skeletons."""
        own = self._parameters if parameters is None else parameters
        values = node_values(data.forest)
        if values is not None:
            own = with_values(self._prior, own, values)
        return log_likelihoods(unique_links(data.forest), own.tables, self._prior.mode)

    def predict(self, X: TreeData) -> np.ndarray:
        """Most probable cluster of each tree among those of `labels_`.

        Parameters
        ----------
        X : TreeData
            Labels never seen and positions beyond the largest are treated as `unseen` and `overflow` say.
        """
        return self._probabilities(self.prepare(X))[:, : self._n_known()].argmax(axis=1)

    def _membership_names(self) -> list[str]:
        return numbered(self._n_known()) + self._has_new_cluster * [NEW_CLUSTER]

    def _certainty_of(self, data: TreeData) -> np.ndarray:
        """Probability of the label of each tree of the fit."""
        if hasattr(self, "posterior_"):
            return np.asarray(self.posterior_.certainty(self.labels_).own)
        return self._probabilities(data)[np.arange(self.labels_.size), self.labels_]

    def _n_known(self) -> int:
        """Columns of the probabilities that are clusters of the fit."""
        return len(self.weights_)

    def predict_proba(self, X: TreeData, top_k: int | None = None) -> Any:
        """Probability of each cluster of each tree; rows sum to 1.

        Parameters
        ----------
        X : TreeData
        top_k : int, optional
            Return a pair (clusters, probabilities) of the k most probable instead.
        """
        return most_probable(self._probabilities(self.prepare(X)), top_k)

    def score_samples(self, X: TreeData) -> np.ndarray:
        """Log-likelihood of each tree: of its labels and filled places, given its internal nodes.

        Values of one tree under several models can be compared; those of trees of different shapes cannot.

        Parameters
        ----------
        X : TreeData
        """
        return self._log_density(self.prepare(X))

    def score(self, X: TreeData, y: Any = None) -> float:
        """Mean of `score_samples`.

        Parameters
        ----------
        X : TreeData
        y : ignored
        """
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None, like: TreeData | None = None) -> TreeData:
        """New trees; their clusters are in `targets`.

        The model is a distribution of labels and filled places given the internal nodes. These are taken from trees of
        the same cluster in `fit`, or from those given.

        Parameters
        ----------
        n_samples : int
        random_state : int, optional
            None continues from the estimator's own seed.
        like : TreeData, optional
            Trees whose internal nodes are used, chosen at random.
        """
        check_is_fitted(self, self._fitted_by)
        check_whole("n_samples", n_samples, 1)
        seed = self._seed if random_state is None else resolve_seed(random_state)
        return draw_like(self, generator(seed, SAMPLING_PATH), n_samples, like)

    # ---- summaries

    def _keep_clusters(self, data: TreeData, labels: np.ndarray, tree: Tree) -> None:
        """Set what follows from the trees and their clusters."""
        self.labels_, self.n_clusters_ = labels, int(labels.max()) + 1
        self.tree_ = tree if data.sources is None else replace(tree, leaf_labels=data.sources)
        self._counts = cluster_counts(data.forest, labels, self.n_clusters_)
        self.typical_ = typical_trees(data.forest, labels, self.n_clusters_)
        self._typical = data[self.typical_]
        self._texts = tuple(readable(text) for text in self._typical.texts or ())
        self._own_probabilities = self._certainty_of(data)
        self._skeletons, self._skeleton_clusters = kept_skeletons(data.forest, labels, self._prior.mode)
        self._features = feature_table(data.forest, self._schema.vocabulary)
        described = describe_rows(self._features.take, self._features.n_columns, self.tree_, labels)
        self._set_result(described, self._features.names)

    def _set_result(self, description: Description | None, feature_names: tuple[str, ...]) -> None:
        shape = self._prior.shape
        self.result_ = Result(
            **{
                "model": type(self).__name__,
                "labels": self.labels_,
                "tree": self.tree_,
                "log_evidence": None,
                "likelihood": f"hidden-tree Markov model, {shape.n_states} states, missing={self.missing!r}",
                "feature_names": feature_names,
                "provenance": self._about,
                "description": description,
                "exhibits": tuple(self._exhibits()),
                "noun": "tree",
                **self._result_parts(),
            }
        )

    def _exhibits(self) -> list[Exhibit]:
        names, tables = self._schema.vocabulary, self._parameters.tables
        is_discrete = self._prior.gaussians is None
        maps = emission_maps(tables.emission[: self.n_clusters_], names) if is_discrete else []
        return [
            *telling_exhibits(self._counts, names),
            *self._own_exhibits(),
            *maps,
            switch_map(tables.switching[: self.n_clusters_]),
        ]

    @property
    def typical_trees_(self) -> list[LabelledTree]:
        """The most typical tree of each cluster: nearest, by Ruzicka's distance, to the cluster's mean table."""
        check_is_fitted(self, "labels_")
        return [self._typical[cluster] for cluster in range(self.n_clusters_)]

    @property
    def typical_documents_(self) -> list[str]:
        """The document of each of `typical_trees_` as written, at most 40 lines of it; none for trees without texts."""
        check_is_fitted(self, "labels_")
        return list(self._texts)

    def telling_labels(self, most: int = 10) -> list[Telling]:
        """The labels that distinguish each cluster from all others, by log odds in units of their standard errors.

        Parameters
        ----------
        most : int
            Of each cluster. Negative log odds are labels that it lacks.
        """
        check_is_fitted(self, "labels_")
        check_whole("most", most, 1)
        return telling_labels(self._counts, self._schema.vocabulary, most)

    def telling_positions(self, most: int = 10) -> list[Telling]:
        """The positions that distinguish each cluster: where its internal nodes have children more, or less, often.

        Parameters
        ----------
        most : int
            Of each cluster.
        """
        check_is_fitted(self, "labels_")
        check_whole("most", most, 1)
        return telling_positions(self._counts, most)

    def class_table(self, classes: Any) -> ClassTable:
        """Number of trees of each known class in each cluster.

        Parameters
        ----------
        classes : array of shape (n_trees,)
            Numbers or texts, for the trees of `fit`; `data.targets` where the files had them.
        """
        check_is_fitted(self, "labels_")
        if np.shape(classes) != self.labels_.shape:
            raise InvalidInputError(f"classes are one per tree, {self.labels_.size}, got shape {np.shape(classes)}.")
        return make_class_table(self.labels_, self.n_clusters_, classes)

    # ---- reports and files

    def report(self, path: Any, *, title: str | None = None, classes: Any = None) -> Path:
        """Write one HTML file with clusters, typical trees, distinguishing labels, hidden states and chains.

        It needs no network and no other file; open it in a browser.

        Parameters
        ----------
        path : str or Path
            An existing file is replaced.
        title : str, optional
            Heading of the page.
        classes : array of shape (n_trees,), optional
            Known classes; the report shows how clusters and classes overlap.
        """
        check_is_fitted(self, "labels_")
        return write_report(report_result(self, classes), path, title=title)

    def _restored(self, reading: Reading) -> None:
        """Set what all models of trees have; a subclass first sets what is its own."""
        self._schema = TreeSchema(reading["vocabulary"], *reading["schema"])
        self._prior = restored_prior(reading, self.missing)
        self._parameters = restored_parameters(reading, self._prior.shape.n_labels)
        self._about = reading.values.get("provenance", {})
        if reading["is_clustered"]:
            self.n_clusters_ = reading.sizes["clusters"]
            self._typical = TreeData(reading["typical_trees"], self._schema.vocabulary)
            self._set_result(reading["description"], reading["features"])
            self.result_ = replace(self.result_, details=reading["details"])


class EMTreeEstimator(TreeEstimator):
    """Base of estimators of trees that are fitted by expectation maximisation; a subclass gives `_keep_fit`."""

    n_states: int
    estep: str
    n_init: int
    max_iter: int
    tol: float

    objective_: np.ndarray
    converged_: bool

    def fit(self, X: TreeData, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Find tables, and weights if there are several components, by expectation maximisation.

        Parameters
        ----------
        X : TreeData
        y : ignored
            Present for API consistency.
        sample_weight : int array of shape (n_trees,), optional
            Number of equal trees that each tree stands for: the fit is that to the trees repeated as often. The rare
            labels (`min_count`) and the default prior of numeric labels are found from each tree once.
        """
        check_tree_settings(self)
        check_em_settings(self)
        strengths = check_strength(self.prior_strength)
        check_whole("n_states", self.n_states, 1)
        n_components = self._n_components()
        data, self._schema = fitting_trees(X, self)
        counts = tree_counts(sample_weight, len(data))
        self._seed = resolve_seed(self.random_state)
        prior = make_prior(data.forest, self.n_states, self.missing, strengths)
        settings = EMSettings(self.n_init, self.max_iter, self.tol, self.estep)
        links = plain_links(data.forest) if self.estep == "paper" else unique_links(data.forest)
        progress = getattr(self, "_progress", None)
        rng = generator(self._seed, FIT_PATH)
        fitted = fit_em(rng, links, prior, n_components, settings, progress=progress, counts=counts)
        self.objective_, self.converged_, self._about = fitted.trace, fitted.converged, self._describe()
        self._keep_fit(data, prior, fitted)
        return self

    def _n_components(self) -> int:
        """How many components there are."""
        return 1

    def _keep_fit(self, data: TreeData, prior: TreePrior, fitted: EMFit) -> None:
        """Set parameters and clusters."""
        raise NotImplementedError
