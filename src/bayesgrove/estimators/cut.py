"""`model.cut`: a constructor's parameter and a method under one name, as the public surface has it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.trees import Tree


def one_leaf() -> Tree:
    """The smallest tree there is: cutting it tells whether a rule for cuts makes sense."""
    no_merges, zero = np.empty((0, 2), np.int64), np.zeros(1)
    return Tree.from_merges(no_merges, log_merge_odds=np.empty(0), columns={"log_q": zero, "log_d": zero})


class CutOfModel:
    """The parameter `cut` of a model: compares and prints like its value; called, it cuts the fitted tree elsewhere."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, probability: float | str | None = None, n_clusters: int | None = None) -> np.ndarray:
        """Labels of another cut of the same tree; nothing is fitted again.

        Parameters
        ----------
        probability : float, "half" or "map", optional
            From the root down, stop at the first node that is one cluster with at least this probability; or the name
            of a rule, as for the parameter.
        n_clusters : int, optional
            Open the least certain node until there are so many clusters.
        """
        check_is_fitted(self.model, "tree_")
        rule = probability if isinstance(probability, str) else None
        return self.model.tree_.cut(rule, probability=None if rule else probability, n_clusters=n_clusters)

    def __eq__(self, other: object) -> bool:
        return bool(self.model.__dict__["cut"] == other)

    def __hash__(self) -> int:
        return hash(self.model.__dict__["cut"])

    def __repr__(self) -> str:
        return repr(self.model.__dict__["cut"])


class Cut:
    """Descriptor that keeps the value a constructor was given and hands out a `CutOfModel`."""

    def __get__(self, model: Any, owner: type) -> Any:
        return self if model is None else CutOfModel(model)

    def __set__(self, model: Any, value: Any) -> None:
        model.__dict__["cut"] = value


class CutParameter(BaseEstimator):
    """What estimators with a parameter `cut` share: the descriptor, the value as given, and what it stands for."""

    cut = Cut()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, as given.

        Parameters
        ----------
        deep : bool
            Present for API consistency.
        """
        return {**super().get_params(deep), "cut": self.__dict__["cut"]}

    def _cut_rule(self) -> tuple[str | None, float | None]:
        """The parameter as the rule and probability of `trees.cuts.find_front`."""
        setting = self.__dict__["cut"]
        if isinstance(setting, str):
            return setting, None
        if isinstance(setting, int | float) and not isinstance(setting, bool):
            return None, float(setting)
        raise InvalidSettingError(f"cut must be 'half', 'map' or a probability, got {setting!r}.")
