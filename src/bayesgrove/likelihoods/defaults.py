"""Names of likelihoods, and the choice a user gets who names none."""

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import LEARN, Likelihood
from bayesgrove.likelihoods.bernoulli import Bernoulli
from bayesgrove.likelihoods.categorical import Categorical
from bayesgrove.likelihoods.families import NAMED
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonal
from bayesgrove.likelihoods.poisson import Poisson

LARGEST_COUNT = 1_000_000
"""Whole numbers beyond this are taken for measurements, not counts."""


def named_likelihood(name: str) -> Likelihood:
    """The likelihood of a name, with numbers from the data that stay fixed."""
    try:
        return NAMED[name]()
    except KeyError:
        choices = ", ".join(repr(choice) for choice in (LEARN, *sorted(NAMED)))
        raise InvalidLikelihoodError(f"likelihood must be one of {choices}, got {name!r}.") from None


def choose_family(kind: str, values: np.ndarray) -> type[Likelihood]:
    """The family for one column, from what its source said it was and from its cells.

    Categories are categorical; booleans, and whole columns of zeros and ones, are Bernoulli (floats only if
    both occur: a constant float column is a measurement); other non-negative integers are Poisson; the rest
    is Gaussian.
    """
    if kind == "category":
        return Categorical
    cells = values[~np.isnan(values)]
    binary = bool(np.all((cells == 0) | (cells == 1)))
    if kind == "bool" or (kind == "integer" and binary):
        return Bernoulli
    if kind == "float":
        return Bernoulli if binary and np.unique(cells).size == 2 else GaussianDiagonal
    return Poisson if np.all((cells >= 0) & (cells <= LARGEST_COUNT)) else GaussianDiagonal


def choose_families(table: Table) -> list[type[Likelihood]]:
    """The family of each column."""
    return [choose_family(kind, table.values[:, j]) for j, kind in enumerate(table.kinds)]
