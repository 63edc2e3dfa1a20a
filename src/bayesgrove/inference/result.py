"""`Result`: what a fitted model hands to plots, reports and files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesgrove.inference.diagnostics import Diagnostics
from bayesgrove.inference.posterior import Posterior
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
    log_evidence : float or None
        A lower bound on the log evidence, in the data's own units, where the model has one.
    likelihood : Likelihood
        All numbers as used.
    feature_names : tuple of str
        Names of the columns.
    provenance : mapping
        Versions, settings, seed, time.
    details : mapping
        Numbers particular to the model.
    posterior : Posterior or None
        Draws, where the model was sampled.
    diagnostics : Diagnostics or None
        Of these draws.
    """

    model: str
    labels: np.ndarray
    tree: Tree
    log_evidence: float | None
    likelihood: Any
    feature_names: tuple[str, ...]
    provenance: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    posterior: Posterior | None = None
    diagnostics: Diagnostics | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1
