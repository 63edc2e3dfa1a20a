"""Rows as points of a Euclidean space, in which the guide tree is grown."""

from typing import Any

import numpy as np

from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import IS_NOMINAL
from bayesgrove.likelihoods.multinomial import MultinomialPrior

MOST_CATEGORIES = 64
"""Columns of more categories are left out: one place for each would drown the others."""


def euclidean_points(prior: Any, values: np.ndarray) -> np.ndarray:
    """Numbers to unit variance, missing cells to the mean, categories to one place each, documents to square roots.

    The guide tree need not be good for the sampler to be right: it only has to ignore the partition.
    """
    if isinstance(prior, MultinomialPrior):
        counts = np.nan_to_num(values)
        return np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
    if isinstance(prior, CategoricalPrior):
        is_code = np.ones(values.shape[1], bool)
    elif isinstance(prior, ColumnsPrior):
        is_code = IS_NOMINAL[prior.family]
    else:
        is_code = np.zeros(values.shape[1], bool)
    parts = [unit_variance(values[:, ~is_code]), *(one_hot(values[:, j]) for j in np.flatnonzero(is_code))]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def unit_variance(values: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1 (0 where constant), missing cells at the mean."""
    seen = ~np.isnan(values)
    n_seen = np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, values - np.where(seen, values, 0.0).sum(axis=0) / n_seen, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / n_seen)
    return centred / np.where(spread > 0.0, spread, 1.0)


def one_hot(codes: np.ndarray) -> np.ndarray:
    """One column per category seen; a missing cell has none."""
    found = np.unique(codes[~np.isnan(codes)])
    if found.size > MOST_CATEGORIES:
        return np.empty((codes.size, 0))
    return (codes[:, None] == found) * np.sqrt(0.5)
