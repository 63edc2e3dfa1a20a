"""The default likelihood of `NRMMixture` for continuous columns: diagonal or full covariances, by evidence."""

import logging

import numpy as np

from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.likelihoods.coordinates import with_grain
from bayesgrove.models.bhc.covariance import with_covariances
from bayesgrove.models.bhc.fit import ExactOptions, based_on, fit_best, rows_compared, spread_evenly

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
    rows = spread_evenly(table.n_rows, min(table.n_rows, rows_compared(table.n_rows)))
    fits = [
        fit_best(
            one._replace(values=np.ascontiguousarray(one.values[rows])),
            CONCENTRATION,
            ExactOptions(),
            SEED,
            n_threads=1,
            progress=None,
        )
        for one in (bound, full)
    ]
    diagonal, other = (fitted.log_evidence for fitted in fits)
    logging.getLogger("bayesgrove").info(
        "%s covariances: log evidence %.1f with full ones, %.1f with diagonal ones",
        "full" if other > diagonal else "diagonal",
        other,
        diagonal,
    )
    if other <= diagonal:
        return bound
    chosen = based_on(full, fits[1].bound.prior)
    return relearned(chosen, with_grain(chosen.prior, chosen.values, chosen.open_grain))
