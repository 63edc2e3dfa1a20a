"""What a model file holds of a mixture: its draws and what prediction needs of some of them."""

from typing import Any

import numpy as np

from bayesgrove.estimators.rules import Rules, check_rules, fit_shapes
from bayesgrove.inference.posterior import Posterior
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm.predictive import Kept
from bayesgrove.models.nrm.process import DIRICHLET, GENERALISED_GAMMA, Process
from bayesgrove.stats.partitions import relabel

KEPT_PREFIX, SCALAR_PREFIX = "kept_", "scalar_"


def mixture_file_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Draws, numbers of the process, acceptance counts."""
    document = {
        "process": [float(number) for number in model._process],
        "sigma": float(model.sigma_).hex(),
        "acceptance": model.acceptance_,
        "scalars": list(model.posterior_.scalars),
    }
    arrays = {
        "draws": model.posterior_.labels,
        **{f"{SCALAR_PREFIX}{k}": values for k, values in enumerate(model.posterior_.scalars.values())},
        **{f"{KEPT_PREFIX}{name}": values for name, values in model._kept._asdict().items()},
    }
    if not isinstance(model.init, str):
        arrays["init"] = relabel(model.init)
    return document, arrays


def restore_mixture(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them."""
    kind, alpha, sigma, free_alpha, free_sigma, *hyper = document["process"]
    model._process = Process(int(kind), alpha, sigma, bool(free_alpha), bool(free_sigma), *hyper)
    model.sigma_, model.acceptance_ = float.fromhex(document["sigma"]), whole_counts(document["acceptance"])
    model.init = arrays.get("init", model.init)
    model._kept = Kept(*(np.ascontiguousarray(arrays[f"{KEPT_PREFIX}{name}"]) for name in Kept._fields))
    # by number, because names such as log_factor_bernoulli.a are no names of arrays
    scalars = {str(name): arrays[f"{SCALAR_PREFIX}{k}"] for k, name in enumerate(document["scalars"])}
    check_rules(mixture_rules(model, arrays["draws"], scalars))
    model._keep_posterior(Posterior(arrays["draws"], scalars, {}, {"model": type(model).__name__, "seed": model._seed}))
    model._about, model._names, model._sampler = document["provenance"], model._schema[0], None
    model._learn_likelihood()
    model._set_result(None)


def whole_counts(document: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Counts by move and name."""
    return {str(move): {str(name): int(n) for name, n in counts.items()} for move, counts in document.items()}


def mixture_rules(model: Any, draws: np.ndarray, scalars: dict[str, np.ndarray]) -> Rules:
    """What prediction reads, and the draws."""
    kept, labels, process = model._kept, model.labels_, model._process
    numbers = (process.alpha, *process[5:], model.sigma_)
    n_draws, n_rows = kept.log_new.size, kept.log_weight.size
    shapes = {
        "start": (np.int64, (n_draws + 1,)),
        "rows": (np.float64, (n_rows, n_stats(model._bound.prior))),
        "log_weight": (np.float64, (n_rows,)),
        "log_new": (np.float64, (n_draws,)),
        "log_factors": (np.float64, (n_draws, len(model._bound.free))),
        "share": (np.float64, (n_rows, model.n_clusters_)),
    }
    return (
        ("there is no draw", lambda: n_draws > 0),
        *fit_shapes(kept._asdict(), shapes),
        ("start does not rise from 0", lambda: kept.start[0] == 0 and bool(np.all(np.diff(kept.start) > 0))),
        ("start does not end at the clusters", lambda: int(kept.start[-1]) == n_rows),
        ("draws do not fit the labels", lambda: draws.ndim == 3 and draws.shape[2] == labels.size),
        ("draws are no labels", lambda: draws.dtype.kind in "iu" and 0 <= draws.min() <= draws.max() < labels.size),
        ("shares do not sum to 1", lambda: bool(np.allclose(kept.share.sum(axis=1), 1.0) and kept.share.min() >= 0.0)),
        *fit_shapes(scalars, dict.fromkeys(scalars, (np.float64, draws.shape[:2]))),
        ("scalars are missing", lambda: scalars.keys() >= set(scalar_names(model))),
        ("this is no process", lambda: process.kind in (DIRICHLET, GENERALISED_GAMMA) and 0.0 <= process.sigma < 1.0),
        ("a number is not finite", lambda: bool(np.isfinite(numbers).all())),
        ("first labels do not fit", lambda: isinstance(model.init, str) or model.init.shape == labels.shape),
    )


def scalar_names(model: Any) -> tuple[str, ...]:
    """Scalars that draws of this model must have."""
    process = model._process
    own = {"log_u": process.kind == GENERALISED_GAMMA, "concentration": process.free_alpha, "sigma": process.free_sigma}
    return (
        "log_joint",
        "n_clusters",
        *(name for name, is_there in own.items() if is_there),
        *(f"log_factor_{name}" for name in model._bound.free),
    )
