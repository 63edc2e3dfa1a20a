"""Fitted estimators to and from model files: arrays and JSON, never pickle."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import BayesgroveError, InvalidFileError
from bayesgrove.inference.result import Result
from bayesgrove.io.model_file import ModelFile, read_model, write_model
from bayesgrove.likelihoods import from_document, to_document
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.bhc.predictive import Predictive
from bayesgrove.models.bhc.summaries import NodeSummary
from bayesgrove.trees import Tree

HOMES = {"BHC": "bayesgrove.estimators.bhc", "RandomizedBHC": "bayesgrove.estimators.randomized_bhc"}
TREE_PREFIX, PREDICTIVE_PREFIX = "tree_", "predictive_"


def save_estimator(model: Any, path: str | Path) -> None:
    """Write a fitted estimator."""
    tree, names_and_categories = model.tree_, model._schema
    document = {
        "parameters": plain_parameters(model),
        "seed": model._seed,
        "names": list(names_and_categories[0]),
        "named": hasattr(model, "feature_names_in_"),
        "categories": {str(j): list(labels) for j, labels in names_and_categories[1].items()},
        "likelihood": to_document(model._bound),
        "log_evidence": model.log_evidence_.hex(),
        "concentration": float(model.concentration_).hex(),
        "log_concentration": float(model._predictive.log_concentration).hex(),
        "leaf_labels": None if tree.leaf_labels is None else list(tree.leaf_labels),
        "summaries": [summary._asdict() for summary in model._summaries],
        "provenance": dict(model.result_.provenance),
        "details": {name: float(value) for name, value in model.result_.details.items()},
    }
    arrays = {
        f"{TREE_PREFIX}parent": tree.parent,
        f"{TREE_PREFIX}item": tree.item,
        f"{TREE_PREFIX}height": tree.height,
        **{f"{TREE_PREFIX}column_{name}": values for name, values in tree.columns.items()},
        **{f"{PREDICTIVE_PREFIX}{name}": getattr(model._predictive, name) for name in Predictive._fields[:-1]},
        "labels": model.labels_,
        "template": model._template,
    }
    write_model(path, type(model).__name__, document, arrays)


def plain_parameters(model: Any) -> dict[str, Any]:
    """Constructor's parameters in JSON's types; what is none of them is left to its default."""
    kept = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool | int | float | str | None):
            kept[name] = value
    return kept


def load(path: str | Path) -> Any:
    """Read a fitted estimator that `save` wrote.

    Parameters
    ----------
    path : str or Path
        A broken, hostile or newer file is refused with `InvalidFileError`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.bg"
    ...     bg.BHC(likelihood="gaussian").fit(X).save(file)
    ...     bg.load(file).predict([[5.05]]).tolist()
    [1]
    """
    file = read_model(path)
    if file.kind not in HOMES:
        raise InvalidFileError(f"this file holds a {file.kind!r}; this version knows {sorted(HOMES)}.", kind=file.kind)
    try:
        return restored(file)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, BayesgroveError) as error:
        raise InvalidFileError(f"the model file is not consistent: {error}. Save the model again.") from error


def restored(file: ModelFile) -> Any:
    """An estimator with the attributes that `fit` would have set."""
    document, arrays = file.document, file.arrays
    model = getattr(importlib.import_module(HOMES[file.kind]), file.kind)(**document["parameters"])
    bound = from_document(document["likelihood"])
    if not isinstance(model.likelihood, str) or "likelihood" not in document["parameters"]:
        model.likelihood = bound.likelihood
    model.tree_ = restored_tree(document, arrays)
    model.labels_, model._template = arrays["labels"], arrays["template"]
    model.n_clusters_ = int(model.labels_.max()) + 1
    model.likelihood_, model._bound = bound.likelihood, bound
    model.concentration_ = float.fromhex(document["concentration"])
    model.log_evidence_ = float.fromhex(document["log_evidence"])
    model._seed = int(document["seed"])
    model._summaries = [restored_summary(summary) for summary in document["summaries"]]
    model._predictive = restored_predictive(document, arrays)
    names = tuple(str(name) for name in document["names"])
    model._schema = (names, {int(j): tuple(labels) for j, labels in document["categories"].items()})
    model.n_features_in_ = len(names)
    if document["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.result_ = Result(
        model=file.kind,
        labels=model.labels_,
        tree=model.tree_,
        log_evidence=model.log_evidence_,
        likelihood=model.likelihood_,
        feature_names=names,
        provenance=document["provenance"],
        details=document["details"],
    )
    return checked(model)


def restored_tree(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Tree:
    """The tree, its invariants checked by its constructor."""
    prefix = f"{TREE_PREFIX}column_"
    columns = {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
    labels = document["leaf_labels"]
    parent, item, height = (arrays[f"{TREE_PREFIX}{name}"] for name in ("parent", "item", "height"))
    return Tree(parent, item, height, columns, None if labels is None else tuple(str(label) for label in labels))


def restored_predictive(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Predictive:
    """What prediction needs."""
    kept = {name: np.ascontiguousarray(arrays[f"{PREDICTIVE_PREFIX}{name}"]) for name in Predictive._fields[:-1]}
    return Predictive(**kept, log_concentration=float.fromhex(document["log_concentration"]))


def restored_summary(fields: dict[str, Any]) -> NodeSummary:
    """Lists back to tuples."""
    pairs = {name: (int(fields[name][0]), int(fields[name][1])) for name in ("children", "child_sizes")}
    features = tuple((str(name), float(value)) for name, value in fields["features"])
    return NodeSummary(**{**fields, **pairs, "features": features})


def checked(model: Any) -> Any:
    """Refuse what would make a kernel read out of bounds: sizes that do not fit together."""
    predictive, n_nodes = model._predictive, model._predictive.log_weight.size
    width = predictive.rows.shape[1] if predictive.rows.ndim == 2 else -1
    n_above = predictive.above_low.size
    starts = predictive.cluster_start
    fits = (
        predictive.rows.shape == (n_nodes, width)
        and predictive.cluster_rows.shape == (model.n_clusters_, width)
        and predictive.cluster_sizes.shape == (model.n_clusters_,)
        and starts.shape == (model.n_clusters_ + 1,)
        and starts[0] == 0
        and bool(np.all(np.diff(starts) >= 0))
        and starts[-1] + n_above == n_nodes
        and predictive.above_high.shape == (n_above,)
        and sorted(predictive.above_order.tolist()) == list(range(model.n_clusters_))
        and model.labels_.shape == (model.tree_.n_leaves,)
        and model._template.shape == (model.n_features_in_,)
        and model._bound.encoding.shift.shape == (model.n_features_in_,)
        and width == n_stats(model._bound.prior)
    )
    if not fits:
        raise InvalidFileError("the arrays of the model file do not fit together. Save the model again.")
    return model
