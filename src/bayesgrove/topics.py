"""Topic models: a stream of documents clustered batch by batch, in the form that BERTopic's online mode expects."""

from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayesgrove.estimators.incremental_bhc import IncrementalBHC

__all__ = ["OnlineTopics"]


class OnlineTopics(ClusterMixin, BaseEstimator):
    """Cluster batches of embeddings under topic numbers that keep their meaning.

    `IncrementalBHC` labels all rows seen so far and numbers clusters by size, so that numbers change from batch to
    batch. BERTopic adds up the words of each topic over batches: it needs the labels of the last batch only, and the
    same number for the same topic. This class provides both.

    Parameters
    ----------
    estimator : estimator, optional
        With `partial_fit`; by default `IncrementalBHC()`. It is cloned, not changed.

    Attributes
    ----------
    labels_, probabilities_ : array of shape (n_rows_of_the_batch,)
        Topic of each row of the last batch, and how certain it is.
    seen_labels_ : int array of shape (n_rows_seen,)
        Topic of each row seen so far.
    topics_ : int array of shape (n_clusters,)
        Topic of each cluster of `estimator_`.
    estimator_ : estimator
        The fitted model.

    Notes
    -----
    After each batch, topics are handed on to the new clusters in the way that keeps the most earlier rows in their
    topic; a cluster that inherits none is a new topic, with a number never used before. Where clusters were united,
    the larger one's topic goes on and the other one ends.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove.topics import OnlineTopics
    >>> rng = np.random.default_rng(0)
    >>> few, many = rng.normal(0.0, 1.0, (40, 2)), rng.normal(9.0, 1.0, (90, 2))
    >>> model = OnlineTopics().partial_fit(np.vstack([few, many[:10]]))
    >>> np.bincount(model.labels_).tolist()
    [40, 10]
    >>> np.bincount(model.partial_fit(many[10:]).labels_).tolist()  # topic 1 is the larger one now
    [0, 80]
    """

    estimator_: Any
    seen_labels_: np.ndarray

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = (IncrementalBHC() if self.estimator is None else self.estimator).__sklearn_tags__().input_tags
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget all earlier batches and cluster this one.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : ignored
            For scikit-learn's sake.
        """
        self.__dict__.pop("estimator_", None)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Cluster one more batch.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : ignored
            For scikit-learn's sake.
        """
        if not hasattr(self, "estimator_"):
            estimator = clone(IncrementalBHC() if self.estimator is None else self.estimator).partial_fit(X)
            known, self.n_topics_ = np.zeros(0, np.int64), 0
        else:
            estimator, known = self.estimator_.partial_fit(X), self.seen_labels_
        self.estimator_, labels = estimator, np.asarray(estimator.labels_)
        self.topics_ = handed_on(known, labels[: known.size], estimator.n_clusters_, self.n_topics_)
        self.n_topics_ = max(self.n_topics_, int(self.topics_.max()) + 1)
        self.seen_labels_ = self.topics_[labels]
        self.labels_ = self.seen_labels_[known.size :]
        self.probabilities_ = estimator.probabilities_[known.size :]
        self.n_features_in_ = estimator.n_features_in_
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Most probable topic of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.topics_[self.estimator_.predict(X)])


def handed_on(known: np.ndarray, labels: np.ndarray, n_clusters: int, n_topics: int) -> np.ndarray:
    """Topic of each cluster, from topics and clusters of the same rows: most rows keep theirs, the others are new."""
    shared = np.zeros((n_clusters, n_topics), np.int64)
    np.add.at(shared, (labels, known), 1)
    clusters, topics = linear_sum_assignment(shared, maximize=True)
    inherits = shared[clusters, topics] > 0
    found = np.full(n_clusters, -1, np.int64)
    found[clusters[inherits]] = topics[inherits]
    is_new = found < 0
    found[is_new] = n_topics + np.arange(is_new.sum())
    return found
