"""What a nested hierarchy samples from: data, component distribution, settings and hyperpriors; never changed.

Numbers that may be learned stand in one array, `values`, with the places named below.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError

ALPHA, GAMMA, GAMMA0, COMPONENT_VARIANCE, BASE_VARIANCE, DISCRIMINANT_VARIANCE = range(6)
"""Places in `values`: concentrations of the paths, of nodes below the root and of the root; s2, h2 and nu0 squared."""
VALUE_NAMES = ("alpha", "gamma", "gamma0", "component_variance", "base_variance", "discriminant_variance")
NO_PENALTY, MAXIMUM, SUM, CHANCE, CHANCE_MAXIMUM, LEVEL_MAXIMUM = range(6)
"""Kinds of penalty; SUM and LEVEL_MAXIMUM are also the hinges of CHANCE and CHANCE_MAXIMUM alone."""


class SampledMeans(NamedTuple):
    """Components are spherical Gaussians whose means are drawn: x ~ N(theta_k, s2 I), theta_k ~ N(0, h2 I)."""

    squared_norm: np.ndarray
    """(n,): of each datum."""


class Collapsed(NamedTuple):
    """Components of any conjugate likelihood whose parameters are integrated out."""

    prior: Any
    """Of the likelihood."""
    alone: np.ndarray
    """(n,): log density of each datum as a component of its own."""


class Target(NamedTuple):
    """Data, distributions and settings."""

    data: np.ndarray
    """(n, d): encoded by the likelihood."""
    law: Any
    """Of the components."""
    depth: int
    """L: leaves are at this level, the root at 0."""
    n_components: int
    """Of the finite variant; 0 for countably many."""
    values: np.ndarray
    """(6,): numbers chains begin with."""
    hyperpriors: np.ndarray
    """(6, 2): shape and rate of the Gamma priors of the concentrations, shape and scale of the inverse Gamma priors of
    the variances; NaN where a number is fixed."""
    penalty: int
    """NO_PENALTY or a kind of penalty: whether there are discriminants."""
    strength: float
    margin: float
    """`strength` and `margin`: C and eps0."""
    margin_data: np.ndarray
    """(n, d'): what discriminants see: the data, perhaps scaled, perhaps with a column of ones; no columns without
    them."""


def make_target(
    data: np.ndarray,
    law: Any,
    *,
    depth: int,
    values: Any,
    hyperpriors: Any = None,
    n_components: int = 0,
    penalty: int = NO_PENALTY,
    strength: float = 0.0,
    margin: float = 1.0,
    margin_data: np.ndarray | None = None,
) -> Target:
    """A target whose settings have been looked at."""
    data = np.ascontiguousarray(data, float)
    values = np.asarray(values, float)
    hyperpriors = np.full((values.size, 2), np.nan) if hyperpriors is None else np.asarray(hyperpriors, float)
    refuse_settings(depth, n_components, values, hyperpriors, strength)
    learns_variances = not np.isnan(hyperpriors[COMPONENT_VARIANCE : BASE_VARIANCE + 1]).all()
    if learns_variances and not isinstance(law, SampledMeans):
        raise InvalidSettingError(
            "variances are learned with sampled Gaussian means only, got a component model that integrates its "
            'parameters out. Fix the variances or take means="sampled".'
        )
    seen = np.empty((data.shape[0], 0)) if margin_data is None else np.ascontiguousarray(margin_data, float)
    return Target(data, law, depth, n_components, values, hyperpriors, penalty, strength, margin, seen)


def refuse_settings(
    depth: int, n_components: int, values: np.ndarray, hyperpriors: np.ndarray, strength: float
) -> None:
    """Raise where a setting is out of its range."""
    if depth < 1:
        raise InvalidSettingError(f"depth must be at least 1 (a root and its leaves), got {depth}.", depth=depth)
    if n_components < 0:
        raise InvalidSettingError(f"n_components must be at least 1, or None for no limit, got {n_components}.")
    for name, value in zip(VALUE_NAMES, values.tolist(), strict=True):
        if not (0.0 < value < math.inf):
            raise InvalidSettingError(f"{name} must be positive and finite, got {value}.")
    given = hyperpriors[~np.isnan(hyperpriors).any(axis=1)]
    if not ((given > 0.0) & (given < math.inf)).all():
        raise InvalidSettingError(f"hyperpriors need positive, finite shapes and rates, got {given.tolist()}.")
    if not (0.0 <= strength < math.inf):
        raise InvalidSettingError(f"C must be at least 0 and finite, got {strength}.")


def sampled_means(data: np.ndarray) -> SampledMeans:
    """The distribution of Gaussian components with drawn means; refuses missing cells."""
    if np.isnan(data).any():
        raise InvalidSettingError(
            f"drawn means need complete rows, got {int(np.isnan(data).sum())} missing cells. "
            'Take means="collapsed", which leaves missing cells out.'
        )
    return SampledMeans(np.einsum("ij,ij->i", data, data))
