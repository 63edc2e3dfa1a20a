"""Small tables for the twin of CrossCat and for the library, mixed and with missing cells."""

from functools import cache

import numpy as np

from bayesgrove.likelihoods import Columns
from bayesgrove.likelihoods.bind import bind
from bayesgrove.models.cross.mcmc_target import make_target
from reference.crosscat import model_of
from reference.golden import golden_likelihood
from reference.state_checks import check_cross

FAMILIES = (("bern", 0.7, 1.2), ("nig", 0.1, 0.5, 2.0, 0.8), ("cat", 3, 0.6), ("bern", 0.4, 0.9))
CELLS = {
    "four": ((1, 0.4, 2), (1, None, 2), (0, -2.1, 0), (0, 1.3, 1)),
    "three": ((1, 0.4, 2), (0, -2.1, None), (1, 0.9, 2)),
    "wide": ((1, 0.4, 2, 0), (0, -2.1, None, 1)),
    "narrow": ((1, 0.4), (0, -2.1), (1, 0.9)),
}
ALPHAS = (0.7, 1.6)


@cache
def small_model(name):
    """The twin's model; two columns where the table has two."""
    cells = CELLS[name]
    return model_of(cells, FAMILIES[: len(cells[0])], *ALPHAS)


def target_of(model):
    """The library's target of a twin's model, and the numbers of its columns."""
    values = np.array([[np.nan if x is None else x for x in column] for column in model.columns]).T
    bound = bind(Columns([golden_likelihood(family) for family in model.families]), values, "fixed")
    return make_target(bound.prior, bound.values), bound


def faults(target, chain):
    """What `check_cross` finds wrong, or nothing."""
    try:
        check_cross(target, chain)
    except ValueError as error:
        return str(error)
    return ""
