"""What a model file holds of an estimator that ends in a binary tree."""

from typing import Any

import numpy as np

from bayesgrove.agglomeration.predictive import Predictive
from bayesgrove.estimators.rules import Rules, check_rules, fit_shapes
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.bhc.summaries import NodeSummary

PREDICTIVE_PREFIX = "predictive_"


def tree_file_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Evidence, summaries and what prediction needs."""
    document = {
        "log_evidence": model.log_evidence_.hex(),
        "log_concentration": float(model._predictive.log_concentration).hex(),
        "summaries": [summary._asdict() for summary in model._summaries],
    }
    kept = {f"{PREDICTIVE_PREFIX}{name}": getattr(model._predictive, name) for name in Predictive._fields[:-1]}
    return document, kept


def restore_tree_model(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them."""
    model.log_evidence_ = float.fromhex(document["log_evidence"])
    model._summaries = [restored_summary(summary) for summary in document["summaries"]]
    model._predictive = restored_predictive(document, arrays)
    model.result_ = Result(
        model=type(model).__name__,
        labels=model.labels_,
        tree=model.tree_,
        log_evidence=model.log_evidence_,
        likelihood=model.likelihood_,
        feature_names=model._schema[0],
        provenance=document["provenance"],
        details=document["details"],
    )
    model._check_settings()
    check_rules(tree_rules(model))
    check_rules(predictive_rules(model))


def restored_predictive(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Predictive:
    """What prediction needs."""
    kept = {name: np.ascontiguousarray(arrays[f"{PREDICTIVE_PREFIX}{name}"]) for name in Predictive._fields[:-1]}
    return Predictive(**kept, log_concentration=float.fromhex(document["log_concentration"]))


def restored_summary(fields: dict[str, Any]) -> NodeSummary:
    """Lists back to tuples."""
    pairs = {name: (int(fields[name][0]), int(fields[name][1])) for name in ("children", "child_sizes")}
    features = tuple((str(name), float(value)) for name, value in fields["features"])
    return NodeSummary(**{**fields, **pairs, "features": features})


def tree_rules(model: Any) -> Rules:
    """The tree and the single numbers."""
    tree, numbers = model.tree_, (model.log_evidence_, model._predictive.log_concentration)
    return (
        ("the tree is not binary", lambda: tree.n_nodes == 2 * tree.n_leaves - 1),
        ("the tree lacks a column", lambda: {"log_q", "log_d"} <= set(tree.columns)),
        ("a number is not finite", lambda: bool(np.isfinite(numbers).all())),
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
        *fit_shapes(kept._asdict(), shapes),
        ("cluster_start does not rise from 0", lambda: starts[0] == 0 and bool(np.all(np.diff(starts) >= 0))),
        ("cluster_start does not end at the nodes above", lambda: int(starts[-1]) + n_above == n_nodes),
        ("clusters out of range", lambda: bool(np.all((low >= 0) & (low < high) & (high <= n_clusters)))),
        ("above_order is no order", lambda: np.array_equal(np.sort(kept.above_order), np.arange(n_clusters))),
        ("cluster sizes are not the labels'", lambda: np.array_equal(kept.cluster_sizes, np.bincount(model.labels_))),
    )
