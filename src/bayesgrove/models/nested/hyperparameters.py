"""Numbers of a nested hierarchy: what users give, what is learned, and where chains begin."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.learn import learn
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.models.nested.target import VALUE_NAMES

LEARN = "auto"
CONCENTRATION_PRIOR = (1.0, 1.0)
"""Shape and rate of the Gamma prior of concentrations that are learned."""
VARIANCE_SHAPE = 2.0
"""Of the inverse Gamma prior of variances that are learned; their prior mean is then its scale."""
COMPONENT_SHARE = 0.25
"""Of the columns' mean variance: where the search for the variance within components begins."""
VARIANCES = {"component_variance": "variance", "base_variance": "prior_variance"}
"""Names here and in the likelihood of spherical Gaussians."""
FEWEST_ROWS, MOST_ROWS = 3, 400
"""Rows from which variances are estimated."""
CONCENTRATIONS = ("alpha", "gamma", "gamma0")


class Numbers(NamedTuple):
    """Values that chains begin with, and hyperpriors of those learned (NaN for others), as `make_target` has them."""

    values: np.ndarray
    hyperpriors: np.ndarray


def resolve_numbers(given: dict[str, Any], rows: Table, *, is_spherical: bool = True, is_drawn: bool = True) -> Numbers:
    """Numbers and hyperpriors.

    Variances that are "auto" begin at estimates from the rows. Where means are drawn they are learned under inverse
    Gamma priors with these means; otherwise they stay there. They say nothing of components that are not spherical.
    """
    variances = estimate_variances(given, rows.values) if is_spherical else {}
    values, hyperpriors = np.ones(len(VALUE_NAMES)), np.full((len(VALUE_NAMES), 2), np.nan)
    for place, name in enumerate(VALUE_NAMES):
        value = given.get(name, 1.0)
        if not isinstance(value, str):
            values[place] = float(value)
        elif name in CONCENTRATIONS:
            hyperpriors[place] = CONCENTRATION_PRIOR
            values[place] = CONCENTRATION_PRIOR[0] / CONCENTRATION_PRIOR[1]
        else:
            values[place] = variances.get(name, 1.0)
            if name not in VARIANCES or (is_spherical and is_drawn):
                hyperpriors[place] = VARIANCE_SHAPE, values[place]
    return Numbers(values, hyperpriors)


def estimate_variances(given: dict[str, Any], values: np.ndarray) -> dict[str, float]:
    """The variances that are "auto", by the evidence bound of a tree of the rows; of many rows, of an even sample.

    Chains that begin with components far too wide stay with too few of them.
    """
    auto = [name for name in VARIANCES if isinstance(given.get(name), str)]
    spread, square = float(np.nanmean(np.nanvar(values, axis=0))), float(np.nanmean(np.square(values)))
    first = {"component_variance": COMPONENT_SHARE * spread, "base_variance": square}
    first = {name: size if size > 0.0 else 1.0 for name, size in first.items()}
    if not auto or spread == 0.0 or len(values) < FEWEST_ROWS:
        return first
    known = {name: first[name] if name in auto else float(given[name]) for name in VARIANCES}
    ones = np.ones(values.shape[1])
    prior = GaussianKnownVariancePrior(known["component_variance"] * ones, 0.0 * ones, known["base_variance"] * ones)
    sample = values[np.unique(np.linspace(0, len(values) - 1, MOST_ROWS).astype(int))]
    free = tuple(VARIANCES[name] for name in auto)
    found = learn(prior, np.ascontiguousarray(sample), 0.0, free, learn_concentration=True).prior
    return {"component_variance": float(found.variance[0]), "base_variance": float(found.prior_variance[0])}
