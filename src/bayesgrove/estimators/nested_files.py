"""What a model file holds of a nested hierarchy: its draws, the tree shown, what prediction needs of some draws."""

from typing import Any

import numpy as np

from bayesgrove.estimators.mixture_files import KEPT_PREFIX, SCALAR_PREFIX, whole_counts
from bayesgrove.estimators.nested_inputs import Preparation
from bayesgrove.estimators.rules import Rules, check_rules, fit_shapes, is_array
from bayesgrove.inference.path_posterior import DrawPlace, PathPosterior
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nested.predictive import Kept
from bayesgrove.models.nested.target import VALUE_NAMES
from bayesgrove.stats.paths import number_paths

NUMBERS = VALUE_NAMES[:5]


def nested_file_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Draws, levels, numbers, acceptance counts."""
    posterior, preparation = model.posterior_, model._preparation
    document = {
        "numbers": [float(getattr(model, f"{name}_")).hex() for name in NUMBERS],
        "acceptance": model.acceptance_,
        "scalars": list(posterior.scalars),
        "is_plain": model.likelihood is None,
        "scale": float(preparation.scale).hex(),
        "selected": None if model.selected_draw_ is None else list(model.selected_draw_),
        "scores": {name: float(score).hex() for name, score in model.scores_.items()},
        "extra_numbers": {name: float(number).hex() for name, number in model._extra_numbers().items()},
    }
    arrays = {
        "paths": posterior.paths,
        "components": posterior.extra["components"],
        "levels": model.level_labels_,
        "centre": preparation.centre,
        "directions": preparation.directions,
        **{f"{SCALAR_PREFIX}{k}": values for k, values in enumerate(posterior.scalars.values())},
        **{f"{KEPT_PREFIX}{name}": values for name, values in model._kept._asdict().items()},
    }
    return document, arrays


def restore_nested(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them."""
    if document["is_plain"]:
        model.likelihood = None
    numbers = [float.fromhex(number) for number in document["numbers"]]
    for name, number in zip(NUMBERS, numbers, strict=True):
        setattr(model, f"{name}_", number)
    model._preparation = Preparation(arrays["centre"], arrays["directions"], float.fromhex(document["scale"]))
    model._kept = Kept(*(np.ascontiguousarray(arrays[f"{KEPT_PREFIX}{name}"]) for name in Kept._fields))
    scalars = {str(name): arrays[f"{SCALAR_PREFIX}{k}"] for k, name in enumerate(document["scalars"])}
    check_rules(draw_rules(model, arrays, scalars))
    model._set_levels(arrays["levels"])
    check_rules(kept_rules(model))
    extra = {"components": arrays["components"]}
    model._about, model._sampler = document["provenance"], None
    model._keep_posterior(PathPosterior.from_paths(arrays["paths"], scalars, extra, model._posterior_attributes()))
    model.acceptance_ = whole_counts(document["acceptance"])
    selected = document["selected"]
    model.selected_draw_ = None if selected is None else DrawPlace(int(selected[0]), int(selected[1]))
    model.scores_ = {str(name): float.fromhex(score) for name, score in document["scores"].items()}
    model._restore_numbers({str(name): float.fromhex(n) for name, n in document["extra_numbers"].items()})
    model._set_result(None, document["details"])


def draw_rules(model: Any, arrays: dict[str, np.ndarray], scalars: dict[str, np.ndarray]) -> Rules:
    """The draws, the levels and the preparation."""
    paths, levels, n_rows = arrays["paths"], arrays["levels"], model.labels_.size
    preparation, numbers = model._preparation, [getattr(model, f"{name}_") for name in NUMBERS]
    n_columns = model.n_features_in_
    return (
        ("draws do not fit the labels", lambda: paths.ndim == 4 and paths.shape[2:] == (n_rows, model.depth)),
        ("draws are no paths", lambda: paths.dtype.kind in "iu" and 0 <= paths.min() <= paths.max() < n_rows),
        ("components do not fit the draws", lambda: arrays["components"].shape == paths.shape[:3]),
        ("levels do not fit the labels", lambda: is_array(levels, np.int64, (n_rows, model.depth))),
        ("levels are no paths", lambda: np.array_equal(levels, number_paths(levels))),
        ("labels are not those of the leaves", lambda: np.array_equal(levels[:, -1], model.labels_)),
        *fit_shapes(scalars, dict.fromkeys(scalars, (np.float64, paths.shape[:2]))),
        ("scalars are missing", lambda: scalars.keys() >= {"log_joint", "n_clusters", "n_level_1", "cdl"}),
        ("a number is not finite", lambda: bool(np.isfinite([*numbers, preparation.scale]).all())),
        ("a number is not positive", lambda: min(*numbers, preparation.scale) > 0.0),
        ("the preparation does not fit", lambda: is_array(preparation.centre, np.float64, (n_columns,))),
        (
            "the directions do not fit",
            lambda: is_array(preparation.directions, np.float64, (len(preparation.directions), n_columns)),
        ),
        (
            "the preparation is not finite",
            lambda: bool(np.isfinite(preparation.centre).all() and np.isfinite(preparation.directions).all()),
        ),
    )


def kept_rules(model: Any) -> Rules:
    """What prediction reads."""
    kept, n_draws = model._kept, len(model._kept.values)
    n_nodes, n_components = kept.parent.size, len(kept.rows)
    width = model._preparation.width if model._is_sampled() else n_stats(model._bound.prior)
    n_shown, n_coordinates = model._shown.parent.size, kept.discriminants.shape[-1]
    shapes = {
        "node_start": (np.int64, (n_draws + 1,)),
        "component_start": (np.int64, (n_draws + 1,)),
        "parent": (np.int64, (n_nodes,)),
        "size": (np.float64, (n_nodes,)),
        "weight": (np.float64, (kept.weight.size,)),
        "rows": (np.float64, (n_components, width)),
        "values": (np.float64, (n_draws, len(VALUE_NAMES))),
        "discriminants": (np.float64, (n_nodes, n_coordinates)),
        "share": (np.float64, (n_nodes, n_shown)),
    }
    starts = kept.node_start, kept.component_start
    return (
        ("there is no draw", lambda: n_draws > 0),
        *fit_shapes(kept._asdict(), shapes),
        ("starts do not rise from 0", lambda: all(s[0] == 0 and bool(np.all(np.diff(s) > 0)) for s in starts)),
        (
            "starts do not end at the nodes and components",
            lambda: (int(starts[0][-1]), int(starts[1][-1])) == (n_nodes, n_components),
        ),
        (
            "weights do not fit the nodes",
            lambda: int(np.diff(starts[0]) @ np.diff(starts[1])) == kept.weight.size and kept.weight.min() >= 0.0,
        ),
        ("parents do not come first", lambda: parents_come_first(kept)),
        ("a node is empty", lambda: kept.size.min() > 0.0 and kept.values.min() > 0.0),
        ("shares do not sum to 1", lambda: bool(np.allclose(kept.share.sum(axis=1), 1.0) and kept.share.min() >= 0.0)),
        ("discriminants do not fit", lambda: n_coordinates == model._n_coordinates()),
    )


def parents_come_first(kept: Kept) -> bool:
    """Whether each draw's first node is its root and every other one comes after its parent."""
    place = np.arange(kept.parent.size) - np.repeat(kept.node_start[:-1], np.diff(kept.node_start))
    is_root = place == 0
    inner = kept.parent[~is_root]
    return bool(np.all(kept.parent[is_root] == -1) and np.all((inner >= 0) & (inner < place[~is_root])))
