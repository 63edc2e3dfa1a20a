"""Numbers of a nested hierarchy: what users give, what is learned, and where chains begin."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.settings import check_positive
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


def check_number(name: str, value: Any) -> None:
    """Refuse what is neither "auto" nor positive and finite."""
    if isinstance(value, str) and value == LEARN:
        return
    if isinstance(value, str):
        raise InvalidSettingError(f"{name} must be a positive number or 'auto', got {value!r}.", setting=name)
    check_positive(name, value)
    if value == np.inf:
        raise InvalidSettingError(f"{name} must be finite, got inf. Try 1.0.", setting=name)


def resolve_numbers(given: dict[str, Any], spread: float) -> Numbers:
    """Numbers and hyperpriors; `spread` is the mean variance of the columns, which variances are measured by."""
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
