"""Fitted models of trees to and from model files: arrays and JSON, never pickle."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.estimators.description_files import description_parts, restored_description
from bayesgrove.estimators.rules import Rules, are_consecutive, check_rules, fit_shapes, is_array
from bayesgrove.estimators.tree_inputs import TreeSchema
from bayesgrove.inference.tree_features import ClusterCounts
from bayesgrove.io.model_file import ModelFile, write_model
from bayesgrove.io.tree_data import TreeData
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.models.tree_hmm.gaussian import Gaussians
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior
from bayesgrove.models.tree_hmm.tables import MODES, Shape, Strengths, Tables
from bayesgrove.trees import Tree
from bayesgrove.trees.forest import Forest

TREE, FOREST = "tree_", ("labels", "parents", "positions", "internal", "offsets")
TYPICAL, SKELETON, COUNTS, GAUSSIAN = "typical_", "skeleton_", "counts_", "gaussian_"


def save_tree_model(model: Any, path: Any) -> None:
    """Write a fitted model; its `_own_parts()` gives what is its own, as a document and arrays."""
    own_document, own_arrays = model._own_parts()
    prior, schema = model._prior, model._schema
    document: dict[str, Any] = {
        "parameters": _plain_parameters(model),
        "seed": model._seed,
        "vocabulary": None if schema.vocabulary is None else list(schema.vocabulary),
        "schema": [schema.n_labels, schema.max_outdegree, schema.n_columns],
        "n_states": prior.shape.n_states,
        "strengths": [float(strength).hex() for strength in prior.strengths],
        "is_clustered": hasattr(model, "labels_"),
        **own_document,
    }
    arrays = {"weights": model.weights_, **_parameter_arrays(model._parameters, prior), **own_arrays}
    if prior.gaussians is not None:
        arrays |= {f"{GAUSSIAN}{name}": part for name, part in prior.gaussians.prior._asdict().items()}
    if hasattr(model, "labels_"):
        clustered, more = _cluster_parts(model)
        document, arrays = {**document, **clustered}, {**arrays, **more}
    write_model(path, type(model).__name__, document, arrays)


def _plain_parameters(model: Any) -> dict[str, Any]:
    kept = {}
    for name, value in model.get_params(deep=False).items():
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, bool | int | float | str | None) or name == "prior_strength":
            kept[name] = plain
    return kept


def _parameter_arrays(parameters: Parameters, prior: TreePrior) -> dict[str, np.ndarray]:
    tables = parameters.tables
    arrays = {name: getattr(tables, name) for name in ("initial", "switching", "transition")}
    if prior.gaussians is not None:
        return {**arrays, "moments": parameters.moments}  # rows of emissions follow from them, whatever the values
    return {**arrays, "emission": tables.emission}


def _cluster_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Labels, hierarchy, typical trees, skeletons, counts, description."""
    described, described_arrays = description_parts(model.result_.description)
    tree = model.tree_
    document = {
        "leaf_labels": None if tree.leaf_labels is None else list(tree.leaf_labels),
        "provenance": dict(model.result_.provenance),
        "details": dict(model.result_.details),
        "features": list(model.result_.feature_names),
        "feature_description": described,
    }
    arrays = {
        "labels": model.labels_,
        "typical": model.typical_,
        "skeleton_clusters": model._skeleton_clusters,
        f"{TREE}parent": tree.parent,
        f"{TREE}item": tree.item,
        f"{TREE}height": tree.height,
        f"{TREE}log_merge_odds": tree.columns["log_merge_odds"],
        **_forest_arrays(TYPICAL, model._typical.forest),
        **_forest_arrays(SKELETON, model._skeletons),
        **{f"{COUNTS}{name}": part for name, part in model._counts._asdict().items()},
        **described_arrays,
    }
    return document, arrays


def _forest_arrays(prefix: str, forest: Forest) -> dict[str, np.ndarray]:
    arrays = {f"{prefix}{name}": getattr(forest, name) for name in FOREST}
    return arrays if forest.values is None else {**arrays, f"{prefix}values": forest.values}


def restored_tree_model(kind: type, file: ModelFile) -> Any:
    """A model with the attributes that `fit` would have set; its `_take_own_parts` sets what is its own."""
    document, arrays = file.document, file.arrays
    model: Any = kind(**document["parameters"])
    names = document["vocabulary"]
    sizes = [int(size) for size in document["schema"]]
    model._schema = TreeSchema(None if names is None else tuple(str(name) for name in names), *sizes)
    model._seed = int(document["seed"])
    model._prior = _restored_prior(model, document, arrays)
    model._parameters, model.weights_ = _restored_parameters(model, arrays), arrays["weights"]
    check_rules(parameter_rules(model))
    model._about = document.get("provenance", {})
    if document["is_clustered"]:
        _restore_clusters(model, document, arrays)
    model._take_own_parts(document, arrays)
    if document["is_clustered"]:
        names = tuple(str(name) for name in document["features"])
        described = restored_description(document["feature_description"], arrays, model.tree_, (names, {}))
        model._set_result(described, names)
        model.result_ = replace(model.result_, details=document["details"])
    return model


def _restored_prior(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> TreePrior:
    schema = model._schema
    strengths = Strengths(*(float.fromhex(number) for number in document["strengths"]))
    gaussians = None
    if schema.n_columns:
        fields = GaussianDiagonalPrior._fields
        numbers = GaussianDiagonalPrior(*(arrays[f"{GAUSSIAN}{name}"] for name in fields))
        gaussians = Gaussians(numbers, np.zeros((1, schema.n_columns)))
        check_rules(fit_shapes(numbers._asdict(), dict.fromkeys(fields, (np.float64, (schema.n_columns,)))))
    n_rows = 1 if schema.n_columns else schema.n_labels
    return TreePrior(
        Shape(schema.max_outdegree, int(document["n_states"]), n_rows, MODES[model.missing]), strengths, gaussians
    )


def _restored_parameters(model: Any, arrays: dict[str, np.ndarray]) -> Parameters:
    n_components, n_rows = len(arrays["switching"]), model._prior.shape.n_labels
    n_states = model._prior.shape.n_states
    is_discrete = model._prior.gaussians is None
    emission = arrays["emission"] if is_discrete else np.ones((n_components, 1, n_states))
    tables = Tables(
        arrays["initial"], emission, arrays["switching"], arrays["transition"], np.zeros((n_components, n_rows))
    )
    moments = np.zeros((n_components, n_states, 0, 2)) if is_discrete else arrays["moments"]
    return Parameters(Tables(*(np.ascontiguousarray(part) for part in tables)), moments)


def parameter_rules(model: Any) -> Rules:
    """Tables and weights: shapes, and numbers that are no harm to a kernel."""
    tables, moments = model._parameters.tables, model._parameters.moments
    shape, schema, weights = model._prior.shape, model._schema, model.weights_
    k, n_positions, n_states = weights.size, shape.n_positions, shape.n_states
    shapes = {
        "initial": (np.float64, (k, n_positions + 1, n_states + 1)),
        "emission": (np.float64, (k, shape.n_labels, n_states)),
        "switching": (np.float64, (k, n_positions)),
        "transition": (np.float64, (k, n_positions, n_states + 1, n_states)),
    }
    return (
        ("there is no component", lambda: k > 0 and weights.ndim == 1 and n_positions > 0 and n_states > 0),
        *fit_shapes({**tables._asdict(), "weights": weights}, {**shapes, "weights": (np.float64, (k,))}),
        ("a probability is negative", lambda: min(part.min() for part in (*tables[:4], weights)) >= 0.0),
        ("moments do not fit", lambda: is_array(moments, np.float64, (k, n_states, schema.n_columns, 2))),
        ("a variance is not positive", lambda: bool(np.isfinite(moments).all() and (moments[..., 1] > 0.0).all())),
        ("labels do not fit", lambda: schema.vocabulary is None or len(schema.vocabulary) == schema.n_labels),
    )


def _restore_clusters(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    model.labels_, model.typical_ = arrays["labels"], arrays["typical"]
    names = document["leaf_labels"]
    parent, item, height = (arrays[f"{TREE}{name}"] for name in ("parent", "item", "height"))
    columns = {"log_merge_odds": arrays[f"{TREE}log_merge_odds"]}
    model.tree_ = Tree(parent, item, height, columns, None if names is None else tuple(str(name) for name in names))
    check_rules(label_rules(model))
    model.n_clusters_ = int(model.labels_.max()) + 1
    schema = model._schema
    forest = _restored_forest(TYPICAL, arrays, schema.n_labels, schema.max_outdegree)
    model._typical = TreeData(forest, schema.vocabulary)
    model._skeletons = _restored_forest(SKELETON, arrays, 0, schema.max_outdegree)
    model._skeleton_clusters = arrays["skeleton_clusters"]
    model._counts = ClusterCounts(*(arrays[f"{COUNTS}{name}"] for name in ClusterCounts._fields))
    check_rules(cluster_rules(model))


def _restored_forest(prefix: str, arrays: dict[str, np.ndarray], n_labels: int, max_outdegree: int) -> Forest:
    """Trees of a file; the constructor checks every rule of a forest."""
    for name, array in arrays.items():
        if name.startswith(prefix) and name.removeprefix(prefix) in FOREST and array.ndim != 1:
            raise InvalidFileError(f"{name} is no vector")
    parts: dict[str, Any] = {name: arrays[f"{prefix}{name}"] for name in FOREST}
    values = arrays.get(f"{prefix}values")
    return Forest(**parts, n_labels=n_labels, max_outdegree=max_outdegree, values=values)


def label_rules(model: Any) -> Rules:
    """Labels and hierarchy."""
    labels, tree = model.labels_, model.tree_
    return (
        ("labels do not fit the tree", lambda: is_array(labels, np.int64, (tree.n_leaves,))),
        ("labels are not 0, 1, ...", lambda: are_consecutive(labels)),
        ("odds are no numbers", lambda: not np.isnan(tree.columns["log_merge_odds"]).any()),
        ("there are fewer components than clusters", lambda: int(labels.max()) < model._n_known()),
    )


def cluster_rules(model: Any) -> Rules:
    """Typical trees, skeletons and counts."""
    k, schema, counts, clusters = model.n_clusters_, model._schema, model._counts, model._skeleton_clusters
    widths = {"labels": (k, max(schema.n_labels, 1)), "nodes": (k,), "positions": (k, schema.max_outdegree)}
    shapes = {name: (np.int64, shape) for name, shape in {**widths, "internal": (k,)}.items()}
    return (
        ("there is no typical tree of each cluster", lambda: model._typical.forest.n_trees == model.typical_.size == k),
        ("skeletons have no clusters", lambda: is_array(clusters, np.int64, (model._skeletons.n_trees,))),
        ("skeletons are of no cluster", lambda: bool(np.all((clusters >= 0) & (clusters < k)))),
        *fit_shapes(counts._asdict(), shapes),
    )
