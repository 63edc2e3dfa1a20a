"""`Result`: what a fitted model hands to plots, reports and files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesgrove.trees import Tree


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a picture or a report may want to know of a fit, and nothing of the model's inner workings.

    Attributes
    ----------
    model : str
        Name of the estimator's class.
    labels : int64 array of shape (n_rows,)
        Consecutive from 0.
    tree : Tree
        With names of the rows where there are any.
    log_evidence : float
        A lower bound on the log evidence, in the data's own units.
    likelihood : Likelihood
        All numbers as used.
    feature_names : tuple of str
        Names of the columns.
    provenance : mapping
        Versions, settings, seed, time.
    details : mapping
        Numbers particular to the model.
    """

    model: str
    labels: np.ndarray
    tree: Tree
    log_evidence: float
    likelihood: Any
    feature_names: tuple[str, ...]
    provenance: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1
