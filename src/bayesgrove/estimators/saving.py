"""Fitted estimators to and from model files: arrays and JSON, never pickle."""

import importlib
from collections.abc import Callable
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

HOMES = {
    "BHC": "bayesgrove.estimators.bhc",
    "IncrementalBHC": "bayesgrove.estimators.incremental_bhc",
    "RandomizedBHC": "bayesgrove.estimators.randomized_bhc",
}
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
        "details": dict(model.result_.details),
    }
    arrays = {
        f"{TREE_PREFIX}parent": tree.parent,
        f"{TREE_PREFIX}item": tree.item,
        f"{TREE_PREFIX}height": tree.height,
        **{f"{TREE_PREFIX}column_{name}": values for name, values in tree.columns.items()},
        **{f"{PREDICTIVE_PREFIX}{name}": getattr(model._predictive, name) for name in Predictive._fields[:-1]},
        "labels": model.labels_,
        "template": model._template,
        **model._stored_arrays(),
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
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, BayesgroveError) as error:
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
    if file.kind == "RandomizedBHC":
        model.depth_ = int(document["details"]["depth"])
    model.likelihood_, model._bound = bound.likelihood, bound
    model.concentration_ = float.fromhex(document["concentration"])
    model.log_evidence_ = float.fromhex(document["log_evidence"])
    model._seed = int(document["seed"])
    model._summaries = [restored_summary(summary) for summary in document["summaries"]]
    model._predictive = restored_predictive(document, arrays)
    names = tuple(str(name) for name in document["names"])
    model._schema = (names, {int(j): restored_labels(labels) for j, labels in document["categories"].items()})
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
    return checked(model, arrays)


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


def restored_labels(labels: list[Any]) -> tuple[Any, ...]:
    """Labels of a category column: different texts or numbers."""
    if len(set(labels)) != len(labels) or not all(isinstance(label, str | int | float) for label in labels):
        raise InvalidFileError("labels of a category column are not different texts or numbers")
    return tuple(labels)


def checked(model: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Refuse what would make a kernel read out of bounds, or an answer that is no number."""
    model._check_settings()
    for rule, holds in (*model_rules(model), *predictive_rules(model)):
        if not holds():
            raise InvalidFileError(rule)
    model._take_arrays(arrays)
    return model


Rules = tuple[tuple[str, Callable[[], bool]], ...]
"""What must hold, in words and as a test; later ones rely on earlier ones."""


def model_rules(model: Any) -> Rules:
    """The tree, the labels and the single numbers."""
    tree, labels, n_columns = model.tree_, model.labels_, model.n_features_in_
    numbers = (model.concentration_, model.log_evidence_, model._predictive.log_concentration)
    return (
        ("the tree is not binary", lambda: tree.n_nodes == 2 * tree.n_leaves - 1),
        ("the tree lacks a column", lambda: {"log_merge_odds", "log_q", "log_d"} <= set(tree.columns)),
        ("a column of the tree has no number", lambda: not any(np.isnan(c).any() for c in tree.columns.values())),
        ("labels do not fit the tree", lambda: labels.dtype == np.int64 and labels.shape == (tree.n_leaves,)),
        ("labels are not 0, 1, ...", lambda: np.array_equal(np.unique(labels), np.arange(model.n_clusters_))),
        ("a number is not finite", lambda: bool(np.isfinite(numbers).all()) and model.concentration_ > 0.0),
        ("the likelihood has other columns", lambda: model._bound.encoding.shift.shape == (n_columns,)),
        (
            "the template does not fit the columns",
            lambda: is_array(model._template, np.float64, (n_columns,)) and not np.isinf(model._template).any(),
        ),
    )


def predictive_rules(model: Any) -> Rules:
    """What prediction reads."""
    kept, n_clusters = model._predictive, model.n_clusters_
    n_nodes, n_above, width = kept.log_weight.size, kept.above_low.size, n_stats(model._bound.prior)
    shapes = {
        "rows": (np.float64, (n_nodes, width)),
        "log_weight": (np.float64, (n_nodes,)),
        "cluster_start": (np.int64, (n_clusters + 1,)),
        "above_low": (np.int64, (n_above,)),
        "above_high": (np.int64, (n_above,)),
        "above_order": (np.int64, (n_clusters,)),
        "cluster_rows": (np.float64, (n_clusters, width)),
        "cluster_sizes": (np.float64, (n_clusters,)),
    }
    starts, low, high = kept.cluster_start, kept.above_low, kept.above_high
    return (
        ("arrays do not fit together", lambda: all(is_array(getattr(kept, k), *shapes[k]) for k in shapes)),
        ("a number is not finite", lambda: all(bool(np.isfinite(getattr(kept, k)).all()) for k in shapes)),
        ("cluster_start does not rise from 0", lambda: starts[0] == 0 and bool(np.all(np.diff(starts) >= 0))),
        ("cluster_start does not end at the nodes above", lambda: int(starts[-1]) + n_above == n_nodes),
        ("clusters out of range", lambda: bool(np.all((low >= 0) & (low < high) & (high <= n_clusters)))),
        ("above_order is no order", lambda: np.array_equal(np.sort(kept.above_order), np.arange(n_clusters))),
        ("cluster sizes are not the labels'", lambda: np.array_equal(kept.cluster_sizes, np.bincount(model.labels_))),
    )


def is_array(array: np.ndarray, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array has this type and shape."""
    return array.dtype == dtype and array.shape == shape
