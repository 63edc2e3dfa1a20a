"""What a model file holds of CrossCat: its draws, the trees of the views, the encoded table."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.estimators.cross_clusterer import FittedView
from bayesgrove.estimators.cross_files import restore_views, view_parts
from bayesgrove.estimators.mixture_files import SCALAR_PREFIX, whole_counts
from bayesgrove.estimators.rules import Rules, check_rules, fit_shapes, is_array
from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods.columns import FAMILIES, N_PARAMS
from bayesgrove.trees import Tree

SCALARS = ("log_joint", "n_clusters", "n_views", "concentration_rows", "concentration_columns")
EXTRA = ("concentrations", "column_numbers")
TREE_ARRAYS = ("parent", "item", "height")


def crosscat_file_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Draws, acceptance counts, clusters and trees of the views."""
    document, arrays = view_parts(model)
    posterior = model.posterior_
    document |= {"acceptance": model.acceptance_, "scalars": list(posterior.scalars)}
    arrays |= {
        "draws": posterior.labels,
        "row_draws": posterior.rows,
        **{f"{SCALAR_PREFIX}{k}": values for k, values in enumerate(posterior.scalars.values())},
        **{name: posterior.extra[name] for name in EXTRA if name in posterior.extra},
        "view_rows": np.array([view.labels_ for view in model.views_]),
    }
    for k, view in enumerate(model.views_):
        arrays |= {f"view{k}_{name}": getattr(view.tree_, name) for name in TREE_ARRAYS}
        arrays |= {f"view{k}_odds": view.tree_.columns["log_merge_odds"]}
    if not isinstance(model.init, str):
        arrays["init"] = np.asarray(model.init, np.int64)
    return document, arrays


def restore_crosscat(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them; predictions are computed as `fit` computes them."""
    column_tree = restore_views(model, document, arrays)
    model.init = arrays.get("init", model.init)
    model.acceptance_ = whole_counts(document["acceptance"])
    scalars = {str(name): arrays[f"{SCALAR_PREFIX}{k}"] for k, name in enumerate(document["scalars"])}
    extra = {name: arrays[name] for name in EXTRA if name in arrays}
    draws, rows = arrays["draws"], arrays["row_draws"]
    check_rules(draw_rules(model, draws, rows, scalars, extra))
    model._keep_posterior(CrossPosterior(draws, scalars, extra, model._posterior_attributes(), rows=rows))
    model._about, model._sampler = document["provenance"], None
    bound = model._bound._replace(values=model._values)
    model.likelihood_ = bound.likelihood
    views = restored_views(model, arrays)
    model._answers = model._make_answers(bound, views)
    model._keep_views(views, column_tree)
    model.result_ = Result(
        model=type(model).__name__,
        labels=model.labels_,
        tree=model.tree_,
        log_evidence=None,
        likelihood=model.likelihood_,
        feature_names=model._schema[0],
        provenance=document["provenance"],
        details=document["details"],
        posterior=model.posterior_,
        diagnostics=model.diagnostics_,
        views=model._result_views(),
        column_tree=column_tree,
    )


def restored_views(model: Any, arrays: dict[str, np.ndarray]) -> list[FittedView]:
    """Clusters and trees of the views; the first tree was restored with the names of its leaves."""
    n_views, n_rows, clusters = int(model.view_labels_.max()) + 1, model.labels_.size, arrays["view_rows"]
    check_rules(
        (
            ("clusters do not fit the views", lambda: is_array(clusters, np.int64, (n_views, n_rows))),
            ("labels are not those of the first view", lambda: np.array_equal(clusters[0], model.labels_)),
            (
                "clusters of a view are not 0, 1, ...",
                lambda: all(np.array_equal(np.unique(own), np.arange(own.max() + 1)) for own in clusters),
            ),
        )
    )
    found = []
    for k, own in enumerate(clusters):
        parts = (arrays[f"view{k}_{name}"] for name in TREE_ARRAYS)
        tree = Tree(*parts, {"log_merge_odds": arrays[f"view{k}_odds"]}, model.tree_.leaf_labels)
        if tree.n_leaves != n_rows or np.isnan(tree.columns["log_merge_odds"]).any():
            raise InvalidFileError("the tree of a view does not fit the rows")
        found.append(FittedView(np.flatnonzero(model.view_labels_ == k), own, tree))
    return found


def draw_rules(
    model: Any,
    draws: np.ndarray,
    rows: np.ndarray,
    scalars: dict[str, np.ndarray],
    extra: dict[str, np.ndarray],
) -> Rules:
    """Labels that kernels index by, and all numbers of the draws."""
    n_columns, n_rows, init = model.n_features_in_, model.labels_.size, model.init
    shapes = {
        "concentrations": (np.float64, (*draws.shape[:2], 2)),
        "column_numbers": (np.float64, (*draws.shape[:2], n_columns, N_PARAMS)),
    }
    return (
        ("draws do not fit the columns", lambda: draws.ndim == 3 and draws.size > 0 and draws.shape[2] == n_columns),
        ("draws are no labels", lambda: draws.dtype.kind in "iu" and 0 <= draws.min() <= draws.max() < n_columns),
        ("draws are not numbered by first appearance", lambda: are_normal(draws.reshape(-1, n_columns))),
        ("draws do not fit the rows", lambda: rows.ndim == 2 and rows.shape[1] == n_rows),
        ("rows of draws are no labels", lambda: rows.dtype.kind in "iu" and 0 <= rows.min() <= rows.max() < n_rows),
        ("rows of draws are not numbered by first appearance", lambda: are_normal(rows)),
        *fit_shapes(scalars, dict.fromkeys(scalars, (np.float64, draws.shape[:2]))),
        ("scalars are missing", lambda: scalars.keys() >= set(SCALARS)),
        ("concentrations are missing", lambda: "concentrations" in extra),
        *fit_shapes(extra, {name: shapes[name] for name in extra}),
        ("a concentration is not positive", lambda: bool((extra["concentrations"] > 0.0).all())),
        ("numbers of a column cannot be", lambda: are_priors(model._bound.prior, extra.get("column_numbers"))),
        ("first labels do not fit", lambda: isinstance(init, str) or is_array(init, np.int64, (n_columns,))),
    )


def are_normal(labels: np.ndarray) -> bool:
    """Whether labels of each line are 0, 1, ... by first appearance."""
    most = np.maximum.accumulate(labels.astype(np.int64), axis=1)
    return bool((most[:, 0] == 0).all() and (np.diff(most, axis=1) <= 1).all())


def are_priors(prior: Any, numbers: np.ndarray | None) -> bool:
    """Whether numbers (..., column, 4) are those of priors of the columns' families."""
    if numbers is None:
        return True
    for j, family in enumerate(prior.family):
        fields = FAMILIES[family].prior._fields
        for place, name in enumerate(name for name in fields if name != "start"):
            own = numbers[..., j, place]
            if name == "n_trials" and (own != prior.params[j, place]).any():
                return False
            if name not in ("mean", "prior_mean") and not (own > 0.0).all():
                return False
    return True
