"""Outliers: rows of low predictive density under a fitted model, in scikit-learn's interface for them."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.bhc import BHC

__all__ = ["OutlierDetector"]


class OutlierDetector(OutlierMixin, BaseEstimator):
    """Detect rows that a clustering model finds improbable.

    Parameters
    ----------
    estimator : estimator, optional
        Any estimator of this package with `score_samples`; by default `BHC()`. It is cloned, not changed.
    contamination : float, default=0.1
        Share of the rows of the fit that are called outliers, above 0 and at most 0.5.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    offset_ : float
        The log density below which a row is an outlier.
    n_features_in_ : int

    Notes
    -----
    Log densities of rows with different missing cells are densities of different columns and do not compare; fill
    the cells first where many are missing. A model whose density is too wide or too narrow moves the threshold along
    with it: `contamination` is about ranks, not about probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove.outliers import OutlierDetector
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(99, 2)), [[8.0, -8.0]]])
    >>> detector = OutlierDetector(contamination=0.01).fit(X)
    >>> np.flatnonzero(detector.predict(X) == -1).tolist()
    [99]
    """

    def __init__(self, estimator: Any = None, *, contamination: float = 0.1) -> None:
        self.estimator = estimator
        self.contamination = contamination

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = (BHC() if self.estimator is None else self.estimator).__sklearn_tags__()
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model and find the log density that the given share of rows lies below.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : ignored
            For scikit-learn's sake.
        """
        share = self.contamination
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share <= 0.5:
            raise InvalidSettingError(f"contamination lies above 0 and is at most 0.5, got {share!r}.")
        self.estimator_ = clone(BHC() if self.estimator is None else self.estimator).fit(X)
        self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        self.offset_ = float(np.quantile(self.estimator_.score_samples(X), share))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive density of each row; low for outliers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.score_samples(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Log density of each row minus `offset_`; negative for outliers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for ordinary rows and -1 for outliers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)
