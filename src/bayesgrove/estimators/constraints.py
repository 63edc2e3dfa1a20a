"""What users know of some rows beforehand, as estimators take it in `fit`."""

import warnings
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.chains import frames_to_caller
from bayesgrove.inference.point_estimate import best_draw, spread_draws
from bayesgrove.models.nrm.schedules import SAMPLERS
from bayesgrove.stats.links import UNKNOWN, Links, make_links
from bayesgrove.stats.partition_losses import named_loss
from bayesgrove.stats.partitions import relabel_draws


def read_links(model: Any, n_rows: int, y: Any, must_link: Any, cannot_link: Any) -> Links | None:
    """The constraints of a fit, None where there are none; `y` counts with `partial_labels=True` only."""
    if model.partial_labels and y is None:
        raise InvalidSettingError("partial_labels=True needs y, the label of each row or -1. Give fit(X, y).")
    if not model.partial_labels and looks_partial(y):
        warnings.warn(
            f"{type(model).__name__} ignores y, which has labels and -1 as partial labels have. "
            "Set partial_labels=True to use them.",
            stacklevel=frames_to_caller(),
        )
    return make_links(n_rows, must_link, cannot_link, y if model.partial_labels else None)


def looks_partial(y: Any) -> bool:
    """Whether y holds -1 and several classes, as for scikit-learn's semi-supervised estimators."""
    if y is None:
        return False
    labels = np.asarray(y)
    return labels.dtype.kind == "i" and labels.size > 0 and labels.min() == UNKNOWN and np.unique(labels).size > 2


def check_sampler(sampler: str, links: Links | None) -> None:
    """Refuse constraints of the published sampler."""
    if links is not None and sampler not in SAMPLERS:
        raise InvalidSettingError(
            f"sampler={sampler!r} takes no constraints: must_link, cannot_link and partial labels need one of "
            f"{', '.join(SAMPLERS)}. Leave sampler at its default.",
            setting="sampler",
        )


def about_links(links: Links | None) -> dict[str, Any]:
    """Constraints in the words of a provenance."""
    if links is None:
        return {}
    n_linked = int(np.sum(np.bincount(links.item)[links.item] > 1))
    return {"constraints": {"rows_linked": n_linked, "items": links.n_items, "pairs_apart": len(links.apart)}}


def nearest_draw(draws: np.ndarray, loss: str, n_jobs: int | None) -> np.ndarray:
    """The draw of least expected loss: it meets every constraint, which a partition between draws need not."""
    searched = spread_draws(relabel_draws(draws))
    return best_draw(searched, named_loss(loss, searched.shape[1]), None, n_jobs)[0].astype(np.int64)
