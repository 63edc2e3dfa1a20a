"""What a model file holds of a mixture: its draws and what prediction needs of some of them."""

from typing import Any

import numpy as np

from bayesgrove.estimators.saving import Rules, check_rules, fit_shapes
from bayesgrove.inference.posterior import Posterior
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm.predictive import Kept
from bayesgrove.models.nrm.process import Process

KEPT_PREFIX, SCALAR_PREFIX = "kept_", "scalar_"


def mixture_file_parts(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Draws, numbers of the process, acceptance counts."""
    document = {
        "process": [float(number) for number in model._process],
        "free": list(model._bound.free),
        "sigma": float(model.sigma_).hex(),
        "acceptance": model.acceptance_,
    }
    arrays = {
        "draws": model.posterior_.labels,
        **{f"{SCALAR_PREFIX}{name}": values for name, values in model.posterior_.scalars.items()},
        **{f"{KEPT_PREFIX}{name}": values for name, values in model._kept._asdict().items()},
    }
    return document, arrays


def restore_mixture(model: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Set the attributes that `fit` would have set, or refuse them."""
    kind, alpha, sigma, free_alpha, free_sigma, *hyper = document["process"]
    model._process = Process(int(kind), alpha, sigma, bool(free_alpha), bool(free_sigma), *hyper)
    model._bound = model._bound._replace(free=tuple(str(name) for name in document["free"]))
    model.sigma_, model.acceptance_ = float.fromhex(document["sigma"]), document["acceptance"]
    model._kept = Kept(*(np.ascontiguousarray(arrays[f"{KEPT_PREFIX}{name}"]) for name in Kept._fields))
    check_rules(mixture_rules(model, arrays))
    scalars = {
        name.removeprefix(SCALAR_PREFIX): values for name, values in arrays.items() if name.startswith(SCALAR_PREFIX)
    }
    model._keep_posterior(Posterior(arrays["draws"], scalars, {}, {"model": type(model).__name__, "seed": model._seed}))
    model._about, model._names, model._sampler = document["provenance"], model._schema[0], None
    model._set_result()


def mixture_rules(model: Any, arrays: dict[str, np.ndarray]) -> Rules:
    """What prediction reads, and the draws."""
    kept, labels, draws = model._kept, model.labels_, arrays["draws"]
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
        ("draws are no labels", lambda: draws.dtype.kind in "iu" and int(draws.max()) < labels.size),
    )
