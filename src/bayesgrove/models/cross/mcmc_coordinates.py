"""Coordinates in which the hyperparameters of a column are learned, and their hyperpriors.

    family                coordinates                            hyperprior
    Bernoulli, binomial   logit of the mean, log strength        mean uniform, Normal
    categorical           log weight                             Normal
    Poisson               log(shape / rate), log shape           Normal each
    Gaussian              mean, log strength, shape, rate        Normal each
    others                log of what can be learned             Normal each, unless the family says otherwise

They stand in the families' records, see `likelihoods.family.Coordinates`. Densities are those of the mean (of a beta
prior) and of the other coordinates themselves: a tempered target is a power of these, and the Jacobian of the logit is
not tempered. See docs/theory/cross-clustering.md, Hyperpriors.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower
from bayesgrove.likelihoods.base import column_moments
from bayesgrove.likelihoods.families import FAMILIES, FIRST_IS_LOGIT, N_COORDINATES, N_PARAMS, by_family
from bayesgrove.likelihoods.family import SPREAD
from bayesgrove.models.cross.mcmc_target import Target
from bayesgrove.stats.special import LOG_2PI, softplus


class Hyperpriors(NamedTuple):
    """Distributions of all hyperparameters that may be learned."""

    gamma: np.ndarray
    """(2, 2): shape and rate of the concentrations of rows and of columns."""
    free: np.ndarray
    """(2,): which concentrations are learned."""
    tied: bool
    """Whether one concentration, that of rows, serves both."""
    centre: np.ndarray
    spread: np.ndarray
    """`centre` and `spread`, (n_columns, 4): normal hyperpriors of the coordinates."""
    learned: np.ndarray
    """(n_columns, 4): which coordinates are learned."""


def default_hyperpriors(target: Target, *, concentrations: bool = True, columns: bool = True) -> Hyperpriors:
    """Gamma(1, 1) for both concentrations, Normals about the columns' own moments."""
    centre, spread = np.zeros((target.family.size, N_PARAMS)), np.full((target.family.size, N_PARAMS), SPREAD)
    mean, variance = column_moments(target.by_row)
    for j, family in enumerate(target.family):
        normals = FAMILIES[family].coordinates.normals(target.by_column[j], float(mean[j]), float(variance[j]))
        for which, (own_centre, own_spread) in enumerate(normals):
            centre[j, which], spread[j, which] = own_centre, own_spread
    known = np.arange(N_PARAMS) < N_COORDINATES[target.family][:, np.newaxis]
    return Hyperpriors(np.ones((2, 2)), np.full(2, concentrations), False, centre, spread, known & columns)


@borrower
def n_coordinates(family):
    """How many numbers of a column are learned."""
    return N_COORDINATES[family]


@by_family("coordinates.value", unknown="math.nan")
def coordinate_of(family, p, which):
    """A coordinate of a column with the numbers `p`."""


@by_family("coordinates.assign")
def set_coordinate(family, p, which, value):
    """Give a coordinate a value, the others kept, in place."""


@borrower
def is_logit(family, which):
    """Whether a coordinate is the logit of a mean, whose distribution is uniform."""
    return which == 0 and FIRST_IS_LOGIT[family]


@borrower
def log_hyperprior(family, which, value, centre, spread):
    """Log density of one coordinate, of the mean where it is a logit."""
    if is_logit(family, which):
        return 0.0
    gap = (value - centre) / spread
    return -0.5 * gap * gap - math.log(spread) - 0.5 * LOG_2PI


@borrower
def log_jacobian_of(family, which, value):
    """From that density to the one of the coordinate itself."""
    return -softplus(value) - softplus(-value) if is_logit(family, which) else 0.0


@borrower
def column_log_hyperprior(family, p, centre, spread, learned):
    """Log density of all learned coordinates of a column."""
    total = 0.0
    for which in range(n_coordinates(family)):
        if learned[which] and not is_logit(family, which):
            total += log_hyperprior(family, which, coordinate_of(family, p, which), centre[which], spread[which])
    return total
