"""Summaries as frames: of polars where the table of the fit was one of polars, else of pandas."""

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import MissingExtraError
from bayesgrove.inference.result import Result

MOST_TOLD = 3
"""Features of a cluster that its summary names."""


def as_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """A data frame of pandas or of polars."""
    try:
        return importlib.import_module(library).DataFrame(dict(columns))
    except ImportError as error:
        raise MissingExtraError(f"frames need {library}; pip install 'bayesgrove[tables]'.") from error


class Summaries:
    """Base of estimators that summarise their clusters."""

    _frame_library = "pandas"
    _fitted_by: ClassVar[str]
    labels_: np.ndarray
    result_: Result
    probabilities_: Any

    def cluster_summary(self) -> Any:
        """The clusters, the largest first: size, share of the rows, certainty, and distinguishing columns.

        `certainty` is the mean of `probabilities_` over the rows of the cluster; `differs_by` names up to three
        columns that tell its rows from all others, with their means in the cluster and overall.

        Returns
        -------
        frame
            Of polars if the table of the fit was one of polars, else of pandas; one row per cluster.
        """
        check_is_fitted(self, self._fitted_by)
        sizes = np.bincount(self.labels_)
        return as_frame(
            {
                "cluster": np.arange(sizes.size),
                "size": sizes,
                "share": sizes / sizes.sum(),
                "certainty": np.bincount(self.labels_, self.probabilities_) / sizes,
                "differs_by": telling_words(self.result_, sizes.size),
            },
            self._frame_library,
        )


def telling_words(result: Result, n_clusters: int) -> list[str]:
    """What sets each cluster apart, in a few words; nothing where that was not computed."""
    if result.description is None:
        return [""] * n_clusters
    profile = result.description.clusters
    words = [
        "; ".join(
            f"{profile.features[j].name} {profile.mean[k, j]:.3g} (overall {profile.overall[j]:.3g})"
            for j in strongest
            if profile.telling[k, j] > 0.0
        )
        for k, strongest in enumerate(profile.strongest(MOST_TOLD))
    ]
    return words + [""] * (n_clusters - len(words))
