"""`Result`: what a fitted model hands to plots, reports and files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.inference.description import Description
from bayesgrove.inference.diagnostics import Diagnostics
from bayesgrove.inference.exhibits import Exhibit
from bayesgrove.inference.posterior import Posterior
from bayesgrove.trees import Tree

PAIR = re.compile(r"together\[(\d+),(\d+)\]")
"""A scalar of draws that is 1 where two items share a cluster."""


@dataclass(frozen=True, eq=False)
class View:
    """Some columns of the table and the hierarchy of rows they show, where a model finds several of them.

    Attributes
    ----------
    name : str
    columns : int64 array
        Numbers of the columns.
    labels : int64 array of shape (n_rows,)
    tree : Tree
    """

    name: str
    columns: np.ndarray
    labels: np.ndarray
    tree: Tree

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


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
    cluster_posterior : Posterior or None
        Draws of clusters, where these are unions of the components that `posterior` has.
    diagnostics : Diagnostics or None
        Of these draws.
    description : Description or None
        Profiles of clusters and branches and a sample of the rows; None where the model has no table, or was read from
        a file of an older version.
    views : tuple of View
        For models that divide the columns; the largest first. `labels` and `tree` are then those of the first.
    column_tree : Tree or None
        Hierarchy of the columns, whose branches are the views, where the model has one.
    exhibits : tuple of Exhibit
        What the model adds to a report.
    noun : str
        What one item is called: a row, a tree.
    columns : tuple of mapping
        How each column of a table is understood: texts name, kind, family, reason, alternatives, and the flag close.
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
    description: Description | None = None
    views: tuple[View, ...] = ()
    column_tree: Tree | None = None
    exhibits: tuple[Exhibit, ...] = ()
    noun: str = "row"
    columns: tuple[Mapping[str, Any], ...] = ()
    cluster_posterior: Posterior | None = None

    def with_names(self, leaf_labels: tuple[str, ...] | None) -> "Result":
        """The same with names of the rows."""
        views = tuple(replace(view, tree=replace(view.tree, leaf_labels=leaf_labels)) for view in self.views)
        return replace(self, tree=replace(self.tree, leaf_labels=leaf_labels), views=views)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def n_components(self) -> int:
        """Number of components of the mixture; more than clusters where these are unions of them."""
        return max(self.n_clusters, int(self.details.get("n_components", 0.0)))

    @property
    def draws_of_clusters(self) -> Posterior | None:
        """Draws of what `labels` is an estimate of."""
        return self.posterior if self.cluster_posterior is None else self.cluster_posterior

    @property
    def drawn(self) -> tuple[str, str]:
        """What draws divide and into what: rows into clusters; columns into views where these are drawn."""
        return ("column", "view") if isinstance(self.posterior, CrossPosterior) else (self.noun, "cluster")

    def pair_names(self, scalar: str) -> list[str] | None:
        """Names of the two that "together[i,j]" speaks of, where they have names; None for other scalars."""
        found = PAIR.fullmatch(scalar)
        names = self.feature_names if self.drawn[0] == "column" else self.tree.leaf_labels
        if found is None or names is None:
            return None
        return [names[int(place)] for place in found.groups()]
