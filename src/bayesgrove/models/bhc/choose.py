"""Which scorer serves a likelihood best."""

import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.models.bhc.scorers import GaussianScorer, RowScorer


def choose_scorer(prior: Any, n_rows: float, log_concentration: float, *, complete: bool, rows: np.ndarray) -> Any:
    """The fastest scorer that is exact for this prior and these statistics."""
    n = np.arange(int(n_rows) + 1, dtype=float)
    log_weight = log_concentration + gammaln(np.maximum(n, 1.0))
    if isinstance(prior, GaussianDiagonalPrior) and complete and is_plain(prior):
        return gaussian_scorer(prior, n, log_weight)
    return RowScorer(prior, log_weight)


def is_plain(prior: GaussianDiagonalPrior) -> bool:
    """Whether mean is zero and strength and shape are the same in all columns."""
    return not prior.mean.any() and np.ptp(prior.strength) == 0.0 and np.ptp(prior.shape) == 0.0


def gaussian_scorer(prior: GaussianDiagonalPrior, n: np.ndarray, log_weight: np.ndarray) -> GaussianScorer:
    """All terms that depend on n only stand in the table of weights."""
    strength, shape, d = float(prior.strength[0]), float(prior.shape[0]), prior.rate.size
    per_column = gammaln(shape + 0.5 * n) - math.lgamma(shape) - 0.5 * n * math.log(2.0 * math.pi)
    per_column += 0.5 * (math.log(strength) - np.log(strength + n))
    log_weight = log_weight + d * per_column + shape * np.log(prior.rate).sum()
    return GaussianScorer(strength, shape, prior.rate, log_weight)
