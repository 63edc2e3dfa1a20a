"""Diagonal or full covariances of continuous columns, by the evidence of the trees that are found under either."""

import logging
from collections.abc import Callable

import numpy as np

from bayesgrove.core.table import Table
from bayesgrove.likelihoods import Bound, GaussianDiagonal, GaussianFull
from bayesgrove.likelihoods.base import IN_USE
from bayesgrove.likelihoods.bind import to_learn
from bayesgrove.models.bhc.fit import Fitted, based_on, rows_compared, spread_evenly

MOST_COLUMNS, FEWEST_ROWS = 40, 20

Fit = Callable[[Bound], Fitted]


def with_covariances(bound: Bound, table: Table, hyper: str) -> Bound | None:
    """The table under full covariances; None where that is no choice.

    All columns must be Gaussian, those in use complete and not too many, and rows more than columns.
    """
    used = bound.encoding.ignored == IN_USE
    d = np.count_nonzero(used)
    is_wide = not 2 <= d <= MOST_COLUMNS or bound.values.shape[0] < max(FEWEST_ROWS, d + 2)
    if not isinstance(bound.likelihood, GaussianDiagonal) or not bound.free or is_wide:
        return None
    if np.isnan(bound.values[:, used]).any():
        return None
    full = GaussianFull.learned()
    prior = full.prior(bound.values, bound.encoding, table)
    return bound._replace(prior=prior, likelihood=full.described_by(prior, bound.encoding), free=to_learn(full, hyper))


def fit_either(diagonal: Bound, full: Bound, fit: Fit) -> Fitted:
    """The fit under the prior of higher evidence; `fit` finds the tree of a bound table.

    Both are in the same units, so that their evidence bounds compare.
    """
    n = diagonal.values.shape[0]
    if n <= rows_compared(n):
        found = [fit(diagonal), fit(full)]
        return reported(max(found, key=lambda fitted: fitted.log_evidence), found)
    rows = spread_evenly(n, rows_compared(n))
    some = [fit(bound._replace(values=np.ascontiguousarray(bound.values[rows]))) for bound in (diagonal, full)]
    is_full = some[1].log_evidence > some[0].log_evidence
    return reported(fit(based_on(full, some[1].bound.prior) if is_full else diagonal), some)


def reported(fitted: Fitted, compared: list[Fitted]) -> Fitted:
    """The fit with what was compared among its steps, and one line about it in the log."""
    diagonal, full = (one.log_evidence for one in compared)
    logging.getLogger("bayesgrove").info(
        "%s covariances: log evidence %.1f with full ones, %.1f with diagonal ones",
        "full" if full > diagonal else "diagonal",
        full,
        diagonal,
    )
    steps = {**fitted.steps, "log_evidence_diagonal": diagonal, "log_evidence_full": full}
    return fitted._replace(steps=steps)
