"""The samplers of bayesgrove on the problem of a document."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import bayesgrove as bg
from posteriors.draws import Draws

SCALARS = {"concentration": "concentration", "sigma": "sigma", "n_components": "n_components"}
"""Numbers of documents and what draws call them."""


def data_of(document: Mapping[str, Any]) -> Any:
    """The data as estimators take them."""
    data = document["data"]
    if data["kind"] == "trees":
        fields = ([tree[name] for tree in data["trees"]] for name in ("labels", "parents", "positions"))
        return bg.TreeData.from_parents(*fields, max_outdegree=data["max_outdegree"], n_labels=data["n_labels"])
    return np.array([[np.nan if x is None else x for x in row] for row in data["rows"]], float)


def likelihood_of(columns: Sequence[Mapping[str, Any]]) -> Any:
    """The likelihood of all columns: one family where they are of one, else one per column."""
    kinds = {column["family"] for column in columns}
    numbers = [{name: value for name, value in column.items() if name != "family"} for column in columns]
    if len(kinds) == 1:
        kind = getattr(bg.likelihoods, kinds.pop())
        return kind(**{name: [own[name] for own in numbers] for name in numbers[0]})
    families = (getattr(bg.likelihoods, column["family"]) for column in columns)
    return bg.likelihoods.Columns([kind(**own) for kind, own in zip(families, numbers, strict=True)])


def estimator_of(document: Mapping[str, Any], **options: Any) -> Any:
    """The estimator with the document's numbers; options are those of its sampler."""
    fit = document["fit"]
    settings = dict(fit["settings"])
    if "columns" in document["model"]:
        settings["likelihood"] = likelihood_of(document["model"]["columns"])
    return getattr(bg, fit["estimator"])(**{**settings, **options})


def draw(document: Mapping[str, Any], **options: Any) -> Draws:
    """Draws of the document's posterior by our sampler."""
    model = estimator_of(document, **options).fit(data_of(document))
    found = {name: model.posterior_.scalars[own] for name, own in SCALARS.items() if own in model.posterior_.scalars}
    wanted = document["quantities"]["expectations"] if "quantities" in document else found
    return Draws(partitions_of(model.posterior_), {name: x for name, x in found.items() if name in wanted})


def partitions_of(posterior: Any) -> dict[str, np.ndarray]:
    """Draws under the names of documents."""
    if hasattr(posterior, "paths"):
        return {f"level_{k + 1}": posterior.paths[..., k] for k in range(posterior.paths.shape[-1])}
    if hasattr(posterior, "view_labels"):
        return {"views": posterior.view_labels, **column_partitions(posterior)}
    return {"labels": posterior.labels}


def column_partitions(posterior: Any) -> dict[str, np.ndarray]:
    """Of each column the row labels of its view."""
    views = posterior.view_labels
    n_chains, n_draws, n_columns = views.shape
    rows = [
        [posterior.row_labels[chain][draw][views[chain, draw]] for draw in range(n_draws)] for chain in range(n_chains)
    ]
    found = np.array(rows)
    return {f"column_{j}": found[:, :, j] for j in range(n_columns)}
