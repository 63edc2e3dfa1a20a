"""Numbers of a nested hierarchy: what users give, what is learned, and where chains begin."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.table import Table
from bayesgrove.models.nested.target import VALUE_NAMES

LEARN = "auto"
CONCENTRATION_PRIOR = (1.0, 1.0)
"""Shape and rate of the Gamma prior of concentrations that are learned."""
VARIANCE_SHAPE = 2.0
"""Of the inverse Gamma prior of variances that are learned; their prior mean is then its scale."""
COMPONENT_SHARE = 0.25
"""Of the columns' mean variance: prior mean of the variance within components."""
CONCENTRATIONS = ("alpha", "gamma", "gamma0")


class Numbers(NamedTuple):
    """Values that chains begin with, and hyperpriors of those learned (NaN for others), as `make_target` has them."""

    values: np.ndarray
    hyperpriors: np.ndarray


def resolve_numbers(given: dict[str, Any], rows: Table) -> Numbers:
    """Numbers and hyperpriors; variances are measured by the mean variance of the columns."""
    spread = float(np.nanmean(np.nanvar(rows.values, axis=0))) if not rows.categories else 1.0
    spread = spread if spread > 0.0 else 1.0
    scales = {"component_variance": COMPONENT_SHARE * spread, "base_variance": spread, "discriminant_variance": 1.0}
    values, hyperpriors = np.ones(len(VALUE_NAMES)), np.full((len(VALUE_NAMES), 2), np.nan)
    for place, name in enumerate(VALUE_NAMES):
        value = given.get(name, 1.0)
        if not isinstance(value, str):
            values[place] = float(value)
        elif name in CONCENTRATIONS:
            hyperpriors[place] = CONCENTRATION_PRIOR
            values[place] = CONCENTRATION_PRIOR[0] / CONCENTRATION_PRIOR[1]
        else:
            hyperpriors[place] = VARIANCE_SHAPE, scales[name]
            values[place] = scales[name]
    return Numbers(values, hyperpriors)
