"""The likelihood of `NRMMixture`: covariances by evidence, and the hyperparameters that its draws have learned."""

import numpy as np

from bayesgrove.inference.posterior import Posterior
from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.likelihoods.coordinates import with_grain
from bayesgrove.models.bhc.covariance import fits_of_sample, is_full, with_covariances
from bayesgrove.models.bhc.fit import ExactOptions, Fitted, based_on, fit_best
from bayesgrove.models.nrm.hyper import free_places, scaled

CONCENTRATION, SEED = 1.0, 0
"""Of the trees whose evidence is compared: the prior must not depend on the chains' seed."""


def covariances_by_evidence(bound: Bound, hyper: str) -> Bound:
    """The table under full covariances where trees of its rows have the higher evidence with them, else as it is.

    The scale matrix is learned from these trees. It is fixed before the first step of a chain, which learns factors on
    the hyperparameters as under any other prior.
    """
    full = with_covariances(bound, bound.values, hyper)
    if full is None:
        return bound
    fits = fits_of_sample(bound, full, bound.values, tree_of)
    if not is_full(fits):
        return bound
    chosen = based_on(full, fits[1].bound.prior)
    return relearned(chosen, with_grain(chosen.prior, chosen.values, chosen.open_grain))


def tree_of(bound: Bound) -> Fitted:
    """The best tree found of a table."""
    return fit_best(bound, CONCENTRATION, ExactOptions(), SEED, 1, None)


def log_factors_of(bound: Bound, posterior: Posterior) -> np.ndarray:
    """Log factors on the hyperparameters in all draws, (n_chains * n_draws, n_learned)."""
    learned = [posterior.scalars[f"log_factor_{name}"].ravel() for name in bound.free]
    return np.column_stack(learned) if learned else np.empty((posterior.n_chains * posterior.n_draws, 0))


def at_medians(bound: Bound, log_factors: np.ndarray) -> Bound:
    """The likelihood at the medians of its learned hyperparameters."""
    prior = scaled(bound.prior, free_places(bound.prior, bound.free), np.median(log_factors, axis=0))
    return relearned(bound, prior)
