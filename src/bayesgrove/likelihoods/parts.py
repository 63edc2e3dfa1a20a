"""Priors of some of the columns of a table, and back: kernels are faster without columns that have no cell."""

from typing import Any

import numpy as np

from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.columns import EXACT, ColumnsPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import ALL_COLUMNS, GaussianFullPrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior

WHOLE_ROWS = (GaussianFullPrior, MultinomialPrior)
"""Priors of rows whose columns cannot be taken apart."""


def columns_in_use(prior: Any, values: np.ndarray, used: np.ndarray) -> tuple[Any, np.ndarray]:
    """Prior and values of the columns in use; both as they are where columns cannot be taken apart."""
    if isinstance(prior, GaussianFullPrior) and prior.columns.size:
        return prior._replace(columns=ALL_COLUMNS), np.ascontiguousarray(values[:, prior.columns])
    if isinstance(prior, WHOLE_ROWS) or not used.any():
        return prior, values
    return part_of_prior(prior, np.flatnonzero(used)), np.ascontiguousarray(values[:, used])


def part_of_prior(prior: Any, columns: np.ndarray) -> Any:
    """The prior of some columns, their statistics side by side."""
    if isinstance(prior, CategoricalPrior):
        return CategoricalPrior(prior.pseudo_count[columns], starts_of(prior.start, columns))
    if isinstance(prior, ColumnsPrior):
        grain = prior.grain[columns] if prior.grain.size else EXACT
        return ColumnsPrior(prior.family[columns], prior.params[columns], starts_of(prior.start, columns), grain)
    return type(prior)(*(part[columns] for part in prior))


def starts_of(start: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Where the statistics of some columns start when they stand side by side."""
    return np.concatenate([[0], np.cumsum(np.diff(start)[columns])])


def with_columns(prior: Any, part: Any, used: np.ndarray) -> Any:
    """The prior of all columns, with what was learned of those in use; the inverse of `columns_in_use`."""
    if isinstance(prior, GaussianFullPrior):
        return part._replace(columns=prior.columns)
    if isinstance(prior, WHOLE_ROWS) or not used.any():
        return part
    learned = {}
    for name, whole in prior._asdict().items():
        learned[name] = whole.copy()
        if name != "start" and whole.size:
            learned[name][used] = getattr(part, name)
    if isinstance(prior, GaussianDiagonalPrior):
        learned["shape"][:] = part.shape[0]  # shared by all columns, which faster kernels rely on
    return type(prior)(**learned)
