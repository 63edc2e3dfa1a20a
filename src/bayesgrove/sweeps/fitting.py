"""One fit of a sweep: from settings to a record of numbers."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import normalized_mutual_info_score

from bayesgrove.core.errors import BayesgroveError, InvalidInputError
from bayesgrove.metrics import level_f_measure
from bayesgrove.stats.partitions import adjusted_rand, binder_loss, variation_of_information
from bayesgrove.sweeps.plan import Fit
from bayesgrove.sweeps.records import finish_record, logs_path

Score = Callable[[Any, Any], float]
METRICS: dict[str, Score] = {
    "ari": adjusted_rand,
    "binder": binder_loss,
    "nmi": normalized_mutual_info_score,
    "vi": variation_of_information,
}
"""Scores of a partition against known classes, by name."""


class Subject(NamedTuple):
    """What all fits of a sweep share."""

    estimator: Any
    X: Any
    classes: np.ndarray | None
    metrics: tuple[str, ...]
    folder: Path | None


class Failure(NamedTuple):
    """Why a fit could not be done: its name, the message, and whether the settings are to blame."""

    key: str
    message: str
    is_users: bool


def do_fit(subject: Subject, fit: Fit) -> dict[str, Any] | Failure:
    """The record of a fit, kept in the folder if there is one; a failure leaves all other fits alone."""
    try:
        model = build(subject, fit)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\w+ did not fully converge")  # a column of the table says so
            model.fit(subject.X)
        record = summarise(model, subject.classes, subject.metrics, time.perf_counter() - start)
    except BayesgroveError as error:
        return Failure(fit.key, str(error), isinstance(error, InvalidInputError))
    if subject.folder is not None:
        finish_record(subject.folder, fit.key, record)
    return record


def build(subject: Subject, fit: Fit) -> Any:
    """An estimator that has not been fitted, with the fit's settings, seed and place for logs."""
    model = clone(subject.estimator)
    own: dict[str, Any] = {"random_state": fit.seed, "n_jobs": 1}
    if subject.folder is not None:
        own |= {"run_dir": logs_path(subject.folder, fit.key), "resume": True}
    known = model.get_params(deep=False)
    return model.set_params(**fit.settings, **{name: value for name, value in own.items() if name in known})


def summarise(model: Any, classes: np.ndarray | None, metrics: Sequence[str], seconds: float) -> dict[str, Any]:
    """Numbers of a fitted model; None where it has none."""
    posterior = getattr(model, "posterior_", None)
    scores = {} if classes is None else {name: float(METRICS[name](classes, model.labels_)) for name in metrics}
    return {
        "n_clusters": int(model.n_clusters_),
        "n_views": int(model.n_views_) if hasattr(model, "n_views_") else None,
        "log_evidence": finite(getattr(model, "log_evidence_", None)),
        "log_joint": None if posterior is None else finite(np.mean(posterior.scalars["log_joint"][:, -1])),
        **{name: finite(score) for name, score in getattr(model, "scores_", {}).items()},
        **level_scores(model, classes),
        "converged": bool(model.converged_) if hasattr(model, "converged_") else None,
        "seconds": round(seconds, 4),
        **scores,
    }


def level_scores(model: Any, classes: np.ndarray | None) -> dict[str, float]:
    """F-measure of every level of a hierarchy of fixed depth against known classes."""
    if classes is None or not hasattr(model, "level_labels_"):
        return {}
    found = level_f_measure(model.level_labels_, classes)
    return {f"f_level_{level}": float(score) for level, score in enumerate(found, 1)}


def finite(value: Any) -> float | None:
    """A number, or None for none and for what is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)
