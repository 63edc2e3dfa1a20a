"""What model files hold of models of views: the encoded table, the tree of columns, and trees of rows."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.table import KINDS, Table
from bayesgrove.estimators.rules import Rules, check_rules, is_array
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods.columns import CATEGORICAL, ColumnsPrior
from bayesgrove.models.cross.fit import problem_of
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.learning import Numbers
from bayesgrove.models.cross.search import CrossFit
from bayesgrove.trees import Tree

COLUMN_TREE = "column_tree_"
FIT_NUMBERS = ("log_evidence_bound", "flat_bound")
TABLE_KINDS = ("array", "table", "pandas", "polars")
TREE_COLUMNS = ("log_merge_odds", "log_q", "log_d", "log_evidence")


def view_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a file keeps of any model of views: the table, how it was given, the views, the tree of columns."""
    tree = model.column_tree_
    document = {
        "column_concentration": float(model.column_concentration_).hex(),
        "kinds": list(model._kinds),
        "given_as": model._given_as,
    }
    arrays = {
        "cells": np.asarray(model._values),
        "view_labels": model.view_labels_,
        f"{COLUMN_TREE}parent": tree.parent,
        f"{COLUMN_TREE}item": tree.item,
        f"{COLUMN_TREE}height": tree.height,
        **{f"{COLUMN_TREE}column_{name}": values for name, values in tree.columns.items()},
    }
    return document, arrays


def restore_views(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Tree:
    """Set what `view_parts` kept, or refuse it; the tree of columns."""
    model.column_concentration_ = float.fromhex(document["column_concentration"])
    model._kinds = tuple(str(kind) for kind in document["kinds"])
    model._given_as = str(document["given_as"])
    model._values, model.view_labels_ = np.ascontiguousarray(arrays["cells"]), arrays["view_labels"]
    prefix = f"{COLUMN_TREE}column_"
    columns = {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
    parent, item, height = (arrays[f"{COLUMN_TREE}{name}"] for name in ("parent", "item", "height"))
    tree = Tree(parent, item, height, columns, model._schema[0])
    check_rules(view_rules(model, tree))
    check_cells(model)
    return tree


def view_rules(model: Any, tree: Tree) -> Rules:
    """The table and the views."""
    n_rows, n_columns, labels = model.labels_.size, model.n_features_in_, model.view_labels_
    columns = np.arange(n_columns)
    return (
        ("the likelihood is not one per column", lambda: isinstance(model._bound.prior, ColumnsPrior)),
        ("cells do not fit the table", lambda: is_array(model._values, np.float64, (n_rows, n_columns))),
        ("a cell is infinite", lambda: not np.isinf(model._values).any()),
        ("kinds of columns are unknown", lambda: len(model._kinds) == n_columns and set(model._kinds) <= set(KINDS)),
        ("a table was given as something unknown", lambda: model._given_as in TABLE_KINDS),
        ("a number is not finite", lambda: 0.0 < model.column_concentration_ < np.inf),
        ("views do not fit the columns", lambda: is_array(labels, np.int64, (n_columns,))),
        ("views are not 0, 1, ...", lambda: np.array_equal(np.unique(labels), np.arange(labels.max() + 1))),
        ("views are not in order of size", lambda: bool(np.all(np.diff(np.bincount(labels)) <= 0))),
        ("the tree of columns has other columns", lambda: np.array_equal(tree.item[:n_columns], columns)),
        ("the tree of columns has other leaves", lambda: bool(np.all(tree.item[n_columns:] == NULL))),
        ("a column of the tree has no number", lambda: not any(np.isnan(c).any() for c in tree.columns.values())),
    )


def check_cells(model: Any) -> None:
    """Refuse cells that their column cannot hold: kernels index by them."""
    names, categories = model._schema
    raw = np.ascontiguousarray(model._bound.encoding.undo(model._values))
    kinds = tuple("category" if j in categories else "float" for j in range(len(names)))
    table = Table(raw, names, kinds, categories)
    model._bound.likelihood.check(table)
    coded = model._bound.prior.family == CATEGORICAL
    counted = model._bound.likelihood.cells(table)[:, coded]
    if not np.array_equal(counted, model._values[:, coded], equal_nan=True):
        raise InvalidFileError("a cell holds a category that its column does not have")


def distinct_trees(fit: CrossFit) -> tuple[np.ndarray, np.ndarray]:
    """The different row trees of the nodes of a column tree, stacked, and which of them each node has."""
    places: dict[int, int] = {}
    kept: list[np.ndarray] = []
    which = np.empty(len(fit.node_row_children), np.int64)
    for k, children in enumerate(fit.node_row_children):
        if id(children) not in places:
            places[id(children)] = len(kept)
            kept.append(children)
        which[k] = places[id(children)]
    return np.array(kept, np.int32).reshape(len(kept), -1, 2), which


def cross_tree_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a file keeps of a model that ends in a tree of columns with a tree of rows at each node."""
    document, arrays = view_parts(model)
    fit: CrossFit = model._fit
    trees, which = distinct_trees(fit)
    own: dict[str, Any] = {name: float(getattr(fit, name)).hex() for name in FIT_NUMBERS}
    own["log_concentrations"] = [value.hex() for value in model._logs]
    found = {"method": fit.method, "evidence": fit.evidence, "n_row_trees": fit.n_row_trees, "bounds": dict(fit.bounds)}
    evidence = {"view_log_evidence": fit.view_log_evidence, "row_trees": trees, "node_row_tree": which}
    return {**document, **own, **found}, {**arrays, **evidence}


def restore_cross_tree(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them; predictions are computed as `fit` computes them."""
    tree = restore_views(model, document, arrays)
    model._check_settings()
    log_rows, log_columns = (float.fromhex(value) for value in document["log_concentrations"])
    model._logs = log_rows, log_columns
    trees, which = np.ascontiguousarray(arrays["row_trees"]), arrays["node_row_tree"]
    check_rules(row_tree_rules(model, tree, trees, which, arrays["view_log_evidence"]))
    numbers = [*model._logs, *(float.fromhex(document[name]) for name in FIT_NUMBERS)]
    check_rules((("a number is not finite", lambda: bool(np.isfinite(numbers).all())),))
    model._fit = restored_fit(model, tree, document, arrays)
    model.log_evidence_, model.search_ = model._fit.log_evidence_bound, model._fit.method
    views = model._views_of(model._fit)
    if not np.array_equal(views[0].labels_, model.labels_):
        raise InvalidFileError("labels are not those of the cut")
    bound = model._bound._replace(values=model._values)
    model._answers = model._make_answers(bound, model._fit, views)
    model._keep_views(views, tree)
    model.result_ = Result(
        model=type(model).__name__,
        labels=model.labels_,
        tree=model.tree_,
        log_evidence=model.log_evidence_,
        likelihood=model.likelihood_,
        feature_names=model._schema[0],
        provenance=document["provenance"],
        details=document["details"],
        views=model._result_views(),
        column_tree=tree,
    )


def row_tree_rules(model: Any, tree: Tree, trees: np.ndarray, which: np.ndarray, evidence: np.ndarray) -> Rules:
    """Trees of rows: every merge takes nodes that are there and have no parent yet."""
    n_rows, n_views = model.labels_.size, int(model.view_labels_.max()) + 1
    later = n_rows + np.arange(n_rows - 1)[:, np.newaxis]
    return (
        ("the tree of columns lacks a column", lambda: set(TREE_COLUMNS) <= set(tree.columns)),
        ("a node has no tree of rows", lambda: is_array(which, np.int64, (tree.n_nodes,))),
        ("a tree of rows is missing", lambda: bool(np.all((which >= 0) & (which < len(trees))))),
        ("trees of rows do not fit", lambda: is_array(trees, np.int32, (len(trees), n_rows - 1, 2))),
        ("a tree of rows merges what is not there", lambda: bool(np.all((trees >= 0) & (trees < later)))),
        (
            "a tree of rows merges a node twice",
            lambda: all(np.array_equal(np.sort(merges, axis=None), np.arange(2 * n_rows - 2)) for merges in trees),
        ),
        ("views have no evidence", lambda: is_array(evidence, np.float64, (n_views,))),
    )


def restored_fit(model: Any, tree: Tree, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> CrossFit:
    """The result of the search; rows of views are weighed again, bit by bit as before."""
    trees = [np.ascontiguousarray(merges) for merges in arrays["row_trees"]]
    children = tuple(trees[k] for k in arrays["node_row_tree"])
    bound = model._bound._replace(values=model._values)
    problem = problem_of(bound, Numbers(bound.prior, *model._logs), evidence=str(document["evidence"]))
    views = tuple(np.flatnonzero(model.view_labels_ == k) for k in range(int(model.view_labels_.max()) + 1))
    nodes = [node_of_columns(tree, view) for view in views]
    return CrossFit(
        column_tree=tree,
        node_row_children=children,
        view_labels=model.view_labels_,
        views=views,
        row_trees=tuple(row_tree(problem, view, children[k]) for view, k in zip(views, nodes, strict=True)),
        view_log_evidence=arrays["view_log_evidence"],
        **{name: float.fromhex(document[name]) for name in FIT_NUMBERS},
        evidence=str(document["evidence"]),
        method=str(document["method"]),
        n_row_trees=int(document["n_row_trees"]),
        bounds={str(name): float(value) for name, value in document["bounds"].items()},
    )


def node_of_columns(tree: Tree, columns: np.ndarray) -> int:
    """The node of a column tree that holds exactly these columns."""
    place = np.empty(tree.n_leaves, np.int64)
    place[tree.leaf_order] = np.arange(tree.n_leaves)
    first = int(place[columns].min())
    found = np.flatnonzero((tree.leaf_start == first) & (tree.size == columns.size))
    if found.size != 1 or int(place[columns].max()) != first + columns.size - 1:
        raise InvalidFileError("a view is no branch of the tree of columns")
    return int(found[0])
