"""What a model file holds of an infinite mixture of trees: draws, components of some of them, the hierarchy."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.estimators.mixture_files import KEPT_PREFIX, SCALAR_PREFIX, whole_counts
from bayesgrove.estimators.rules import Rules, check_rules, fit_shapes
from bayesgrove.inference.posterior import Posterior
from bayesgrove.models.tree_hmm.component_tree import ComponentsTree
from bayesgrove.models.tree_hmm.predictive import Kept
from bayesgrove.models.tree_hmm.tables import Strengths

HISTORY, MERGES = "history_", "components_"


def infinite_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Draws, components of some of them, numbers, the hierarchy over clusters."""
    tree = model.components_tree_
    document: dict[str, Any] = {
        "concentration": float(model.concentration_).hex(),
        "prior_strength": [float(strength).hex() for strength in model.prior_strength_],
        "n_states_found": int(model.n_states_),
        "is_sampled": hasattr(model, "posterior_"),
    }
    arrays = {
        f"{MERGES}parent": tree.parent,
        f"{MERGES}item": tree.item,
        f"{MERGES}height": tree.height,
        **{f"{MERGES}column_{name}": values for name, values in tree.columns.items()},
        **{f"{KEPT_PREFIX}{name}": values for name, values in model._kept._asdict().items()},
        **{f"{HISTORY}{name}": np.asarray(values) for name, values in model.history_.items()},
    }
    if hasattr(model, "posterior_"):
        document |= {"acceptance": model.acceptance_, "scalars": list(model.posterior_.scalars)}
        arrays["draws"] = model.posterior_.labels
        arrays |= {f"{SCALAR_PREFIX}{k}": values for k, values in enumerate(model.posterior_.scalars.values())}
    if hasattr(model, "log_evidence_"):
        document["log_evidence"] = float(model.log_evidence_).hex()
        arrays["responsibilities"] = model.responsibilities_
    if not isinstance(model.init, str):
        arrays["init"] = np.asarray(model.init)
    return document, arrays


def take_infinite_parts(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them."""
    model.concentration_ = float.fromhex(document["concentration"])
    model.prior_strength_ = Strengths(*(float.fromhex(number) for number in document["prior_strength"]))
    model.n_states_ = int(document["n_states_found"])
    model.init = arrays.get("init", model.init)
    model._kept = Kept(*(np.ascontiguousarray(arrays[f"{KEPT_PREFIX}{name}"]) for name in Kept._fields))
    check_rules(kept_rules(model))
    model.components_tree_ = restored_merges(model, arrays)
    names = [name.removeprefix(HISTORY) for name in arrays if name.startswith(HISTORY)]
    model.history_ = {name: arrays[f"{HISTORY}{name}"] for name in names}
    model._sampler = None
    if "log_evidence" in document:
        model.log_evidence_ = float.fromhex(document["log_evidence"])
        model.responsibilities_ = arrays["responsibilities"]
    if document["is_sampled"]:
        scalars = {str(name): arrays[f"{SCALAR_PREFIX}{k}"] for k, name in enumerate(document["scalars"])}
        check_rules(draw_rules(model, arrays["draws"], scalars))
        model.acceptance_ = whole_counts(document["acceptance"])
        model._keep_posterior(Posterior(arrays["draws"], scalars, {}, model._posterior_attributes()))


def restored_merges(model: Any, arrays: dict[str, np.ndarray]) -> ComponentsTree:
    """The hierarchy over clusters, its invariants checked by its constructor."""
    prefix = f"{MERGES}column_"
    columns = {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
    parent, item, height = (arrays[f"{MERGES}{name}"] for name in ("parent", "item", "height"))
    tree = ComponentsTree(parent, item, height, columns)
    if tree.n_leaves != model.n_clusters_ or not {"log_merge_odds", "n_trees"} <= columns.keys():
        raise InvalidFileError("the hierarchy does not fit the clusters")
    return tree


def kept_rules(model: Any) -> Rules:
    """What prediction reads."""
    kept, shape, n_columns = model._kept, model._prior.shape, model._schema.n_columns
    n_draws, n_components = kept.log_new.size, kept.log_weight.size
    n_positions, n_states = shape.n_positions, shape.n_states
    shapes = {
        "start": (np.int64, (n_draws + 1,)),
        "initial": (np.float64, (n_components, n_positions + 1, n_states + 1)),
        "emission": (np.float64, (n_components, kept.emission.shape[1] if n_columns else shape.n_labels, n_states)),
        "switching": (np.float64, (n_components, n_positions)),
        "transition": (np.float64, (n_components, n_positions, n_states + 1, n_states)),
        "moments": (np.float64, (n_components, n_states, n_columns, 2)),
        "log_weight": (np.float64, (n_components,)),
        "log_new": (np.float64, (n_draws,)),
        "share": (np.float64, (n_components, model.n_clusters_)),
    }
    numbers = (model.concentration_, *model.prior_strength_)
    return (
        ("there is no draw", lambda: n_draws > 0),
        *fit_shapes(kept._asdict(), shapes),
        ("start does not rise from 0", lambda: kept.start[0] == 0 and bool(np.all(np.diff(kept.start) > 0))),
        ("start does not end at the components", lambda: int(kept.start[-1]) == n_components),
        ("a probability is negative", lambda: min(part.min(initial=0.0) for part in kept[1:5]) >= 0.0),
        ("a variance is not positive", lambda: bool(np.all(kept.moments[..., 1] > 0.0))),
        ("shares do not sum to 1", lambda: bool(np.allclose(kept.share.sum(axis=1), 1.0) and kept.share.min() >= 0.0)),
        ("a number is not positive", lambda: bool(np.isfinite(numbers).all()) and min(numbers) > 0.0),
    )


def draw_rules(model: Any, draws: np.ndarray, scalars: dict[str, np.ndarray]) -> Rules:
    """The draws."""
    n_trees = model.labels_.size
    return (
        ("draws do not fit the labels", lambda: draws.ndim == 3 and draws.shape[2] == n_trees),
        ("draws are no labels", lambda: draws.dtype.kind in "iu" and 0 <= draws.min() <= draws.max() < n_trees),
        *fit_shapes(scalars, dict.fromkeys(scalars, (np.float64, draws.shape[:2]))),
        ("scalars are missing", lambda: scalars.keys() >= {"log_joint", "n_clusters"}),
    )
