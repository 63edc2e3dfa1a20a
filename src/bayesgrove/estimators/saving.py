"""Fitted estimators to and from model files: arrays and JSON, never pickle.

Every file has what all estimators share; what is an estimator's own stands in `tree_files` and `mixture_files`.
"""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import BayesgroveError, InvalidFileError
from bayesgrove.estimators.description_files import description_parts, restored_description
from bayesgrove.estimators.rules import Rules, are_consecutive, check_rules, is_array
from bayesgrove.estimators.tree_model_files import restored_tree_model
from bayesgrove.io.model_file import ModelFile, read_model, write_model
from bayesgrove.likelihoods import from_document, to_document
from bayesgrove.trees import Tree

HOMES = {
    "BHC": "bayesgrove.estimators.bhc",
    "BHCC": "bayesgrove.estimators.bhcc",
    "BHMC": "bayesgrove.estimators.bhmc",
    "CrossCat": "bayesgrove.estimators.crosscat",
    "IncrementalBHC": "bayesgrove.estimators.incremental_bhc",
    "InfiniteTreeHMMMixture": "bayesgrove.estimators.infinite_tree_hmm_mixture",
    "NRMMixture": "bayesgrove.estimators.nrm_mixture",
    "RBHMC": "bayesgrove.estimators.rbhmc",
    "RandomizedBHC": "bayesgrove.estimators.randomized_bhc",
    "RandomizedBHCC": "bayesgrove.estimators.randomized_bhcc",
    "TreeHMM": "bayesgrove.estimators.tree_hmm",
    "TreeHMMMixture": "bayesgrove.estimators.tree_hmm_mixture",
}
TREE_MODELS = ("InfiniteTreeHMMMixture", "TreeHMM", "TreeHMMMixture")
"""Their rows are trees: they have neither columns nor a likelihood of cells."""
TREE_PREFIX = "tree_"


def save_estimator(model: Any, path: str | Path) -> None:
    """Write a fitted estimator; its `_file_parts()` gives what is its own, as a document and arrays."""
    own_document, own_arrays = model._file_parts()
    described, described_arrays = description_parts(model.result_.description)
    tree, names_and_categories = model.tree_, model._schema
    document = {
        "parameters": plain_parameters(model),
        "seed": model._seed,
        "names": list(names_and_categories[0]),
        "named": hasattr(model, "feature_names_in_"),
        "categories": {str(j): list(labels) for j, labels in names_and_categories[1].items()},
        "likelihood": to_document(model._bound),
        "concentration": float(model.concentration_).hex(),
        "leaf_labels": None if tree.leaf_labels is None else list(tree.leaf_labels),
        "provenance": dict(model.result_.provenance),
        "details": dict(model.result_.details),
        **described,
        **own_document,
    }
    arrays = {
        f"{TREE_PREFIX}parent": tree.parent,
        f"{TREE_PREFIX}item": tree.item,
        f"{TREE_PREFIX}height": tree.height,
        **{f"{TREE_PREFIX}column_{name}": values for name, values in tree.columns.items()},
        "labels": model.labels_,
        "template": model._template,
        **described_arrays,
        **own_arrays,
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
    """An estimator with the attributes that `fit` would have set; its `_restore` sets what is its own."""
    document, arrays = file.document, file.arrays
    check_about(document)
    kind = getattr(importlib.import_module(HOMES[file.kind]), file.kind)
    if file.kind in TREE_MODELS:
        return restored_tree_model(kind, file)
    model = kind(**document["parameters"])
    bound = from_document(document["likelihood"])
    if not isinstance(model.likelihood, str) or "likelihood" not in document["parameters"]:
        model.likelihood = bound.likelihood
    model.tree_ = restored_tree(document, arrays)
    model._row_names = model.tree_.leaf_labels
    model.labels_, model._template = arrays["labels"], arrays["template"]
    model.n_clusters_ = int(model.labels_.max()) + 1
    model.likelihood_, model._bound = bound.likelihood, bound
    model.concentration_ = float.fromhex(document["concentration"])
    model._seed = int(document["seed"])
    names = tuple(str(name) for name in document["names"])
    model._schema = (names, {int(j): restored_labels(labels) for j, labels in document["categories"].items()})
    model.n_features_in_ = len(names)
    if document["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    check_rules(shared_rules(model, arrays))
    model._restore(document, arrays)
    described = restored_description(document, arrays, model.tree_, model._schema)
    model.result_ = replace(model.result_, description=described)
    return model


def check_about(document: dict[str, Any]) -> None:
    """Refuse what a report could not show: provenance, its settings and details are objects."""
    about, details = document.get("provenance", {}), document.get("details", {})
    if not all(isinstance(part, dict) for part in (about, details)) or not isinstance(about.get("settings", {}), dict):
        raise InvalidFileError("provenance, its settings and details are objects")


def restored_tree(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Tree:
    """The tree, its invariants checked by its constructor."""
    prefix = f"{TREE_PREFIX}column_"
    columns = {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
    labels = document["leaf_labels"]
    parent, item, height = (arrays[f"{TREE_PREFIX}{name}"] for name in ("parent", "item", "height"))
    return Tree(parent, item, height, columns, None if labels is None else tuple(str(label) for label in labels))


def restored_labels(labels: list[Any]) -> tuple[Any, ...]:
    """Labels of a category column: different texts or numbers."""
    if len(set(labels)) != len(labels) or not all(isinstance(label, str | int | float) for label in labels):
        raise InvalidFileError("labels of a category column are not different texts or numbers")
    return tuple(labels)


def shared_rules(model: Any, arrays: dict[str, np.ndarray]) -> Rules:
    """The tree, the labels and the template."""
    tree, labels, n_columns = model.tree_, model.labels_, model._encoded_width(arrays)
    return (
        ("the tree lacks a column", lambda: "log_merge_odds" in tree.columns),
        ("a column of the tree has no number", lambda: not any(np.isnan(c).any() for c in tree.columns.values())),
        ("labels do not fit the tree", lambda: labels.dtype == np.int64 and labels.shape == (tree.n_leaves,)),
        ("labels are not 0, 1, ...", lambda: are_consecutive(labels)),
        ("a number is not finite", lambda: bool(np.isfinite(model.concentration_)) and model.concentration_ > 0.0),
        ("the likelihood has other columns", lambda: model._bound.encoding.shift.shape == (n_columns,)),
        (
            "the template does not fit the columns",
            lambda: is_array(model._template, np.float64, (n_columns,)) and not np.isinf(model._template).any(),
        ),
    )
