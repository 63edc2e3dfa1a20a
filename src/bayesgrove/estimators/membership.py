"""How sure memberships are: of each row's own label, and as features for other estimators of scikit-learn."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidInputError

ROWS_AT_ONCE = 1 << 15
NEW_CLUSTER = "new_cluster"


class Membership(TransformerMixin):
    """Base of clusterers with `predict_proba`; a subclass sets `_own_probabilities` or gives `_certainty`."""

    _fitted_by: ClassVar[str]
    _own_probabilities: np.ndarray

    def _certainty(self) -> np.ndarray:
        """Probability of each row's own label; as found in `fit`, unless it follows from draws."""
        if not hasattr(self, "_own_probabilities"):
            raise AttributeError(
                f"this {type(self).__name__} has no probabilities_: it was made from parameters, or saved by an older "
                "version. Fit it."
            )
        return self._own_probabilities

    def _membership_names(self) -> list[str]:
        """Names of the columns of `predict_proba`."""
        raise NotImplementedError

    @property
    def probabilities_(self) -> np.ndarray:
        """Certainty of each row's own label, between 0 and 1, of shape (n_rows,).

        For models sampled by Markov chains, the mean posterior probability that the row shares a cluster with another
        row of its cluster (for a row alone in its cluster, that it is alone). For all others, the probability that a
        new row with the same cells would join the cluster, given the tree or the parameters found.
        """
        check_is_fitted(self, self._fitted_by)
        return self._certainty()

    def transform(self, X: Any) -> Any:
        """Membership probabilities of each row, as `predict_proba` gives them.

        Parameters
        ----------
        X : array, data frame or TreeData
            As in `predict_proba`.
        """
        return self.predict_proba(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`: cluster0, cluster1, ..., and new_cluster where there may be one.

        Parameters
        ----------
        input_features : sequence of str, optional
            If given, the names of the columns of `fit`, which are compared.
        """
        check_is_fitted(self, self._fitted_by)
        if input_features is not None:
            self._check_input_names(list(input_features))
        return np.array(self._membership_names(), dtype=object)

    def _check_input_names(self, given: list[str]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and given != list(known):
            raise InvalidInputError(f"input_features is not equal to feature_names_in_, got {given!r:.200}.")
        n_known = getattr(self, "n_features_in_", len(given))
        if len(given) != n_known:
            raise InvalidInputError(f"input_features should have length equal to number of features ({n_known}).")


def numbered(n_clusters: int) -> list[str]:
    """Names of clusters as features."""
    return [f"cluster{k}" for k in range(n_clusters)]


def own_probabilities(probabilities: Callable[[np.ndarray], np.ndarray], values: Any, labels: np.ndarray) -> np.ndarray:
    """Probability of each row's own cluster, some rows at a time; `values` are encoded rows, here or elsewhere."""
    found = np.empty(labels.size)
    for low in range(0, labels.size, ROWS_AT_ONCE):
        rows = np.arange(low, min(low + ROWS_AT_ONCE, labels.size))
        found[rows] = probabilities(np.ascontiguousarray(values[rows]))[np.arange(rows.size), labels[rows]]
    return found
