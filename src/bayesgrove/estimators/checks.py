"""What `check` looks at: the sampled measurements of a fit and the clusters they are in."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.description import Description
from bayesgrove.inference.misfit import Checked
from bayesgrove.likelihoods import Columns
from bayesgrove.likelihoods.base import ContinuousLikelihood
from bayesgrove.likelihoods.families import CODE_OF, ON_LOGS


def checked_groups(model: Any, described: Description | None) -> list[Checked]:
    """Measurements of a fitted model by view, or all together; none where the model has no table of numbers."""
    if described is None:
        return []
    views = [(view.columns, view.labels_, view.labels_) for view in getattr(model, "views_", ())]
    everything = np.arange(len(model._schema[0]))
    components = getattr(model, "component_labels_", model.labels_)
    groups = [
        checked(model.likelihood_, described, columns, labels[described.rows], clusters[described.rows])
        for columns, labels, clusters in views or [(everything, components, model.labels_)]
    ]
    return [group for group in groups if group.names]


def checked(
    likelihood: Any, described: Description, columns: np.ndarray, labels: np.ndarray, clusters: np.ndarray
) -> Checked:
    """The measurements among some columns of the sample."""
    places = [place for place, column in enumerate(described.columns.tolist()) if column in columns]
    of_place = {place: one_likelihood(likelihood, int(described.columns[place])) for place in places}
    chosen = [place for place in places if is_measured(of_place[place]) and varies(described.sample.values[:, place])]
    shown = described.sample.values[:, chosen]
    logs = np.array([is_on_logs(of_place[place]) for place in chosen], bool)
    cells = np.where(logs, np.log(np.where(logs, shown, 1.0)), shown)
    names = tuple(described.sample.names[place] for place in chosen)
    return Checked(cells, names, labels, clusters, shown, bool(getattr(likelihood, "per_column", False)))


def one_likelihood(likelihood: Any, column: int) -> Any:
    """The likelihood of a column, or that of all columns together."""
    return likelihood.likelihoods[column] if isinstance(likelihood, Columns) else likelihood


def is_on_logs(likelihood: Any) -> bool:
    """Whether the logs of its cells are Gaussian."""
    code = CODE_OF.get(type(likelihood), NULL)
    return code != NULL and bool(ON_LOGS[code])


def is_measured(likelihood: Any) -> bool:
    """Whether its cells are Gaussian, or their logs."""
    return isinstance(likelihood, ContinuousLikelihood) or is_on_logs(likelihood)


def varies(cells: np.ndarray) -> bool:
    """Whether a column has two different cells."""
    return np.unique(cells[~np.isnan(cells)]).size > 1
