"""Diagonal or full covariances of continuous columns, by the evidence of the trees that are found under either."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesgrove.core.rng import fixed_sample
from bayesgrove.likelihoods import Bound, GaussianDiagonal, GaussianFull
from bayesgrove.likelihoods.base import IN_USE
from bayesgrove.likelihoods.bind import to_learn
from bayesgrove.likelihoods.gaussian_full import ALL_COLUMNS, EXACT, full_prior
from bayesgrove.models.bhc.fit import Fitted, based_on, compile_searches, rows_compared

MOST_COLUMNS, FEWEST_ROWS = 40, 20

Fit = Callable[[Bound], Fitted]


def with_covariances(bound: Bound, rows: Any, hyper: str) -> Bound | None:
    """The table, bound under independent columns, under full covariances; None where that is no choice.

    All columns must be Gaussian, those in use complete and not too many, and rows more than columns.
    """
    used = bound.encoding.ignored == IN_USE
    d = int(np.count_nonzero(used))
    is_wide = not 2 <= d <= MOST_COLUMNS or rows.shape[0] < max(FEWEST_ROWS, d + 2)
    if not isinstance(bound.likelihood, GaussianDiagonal) or not bound.free or is_wide:
        return None
    if not is_complete(rows, used):
        return None
    full, diagonal = GaussianFull.learned(), bound.prior
    columns = ALL_COLUMNS if used.all() else np.flatnonzero(used)
    scale = np.diag(diagonal.rate[used])
    prior = full_prior(diagonal.mean[used], float(diagonal.strength[0]), d + 2.0, scale, EXACT, columns)
    return bound._replace(prior=prior, likelihood=full.described_by(prior, bound.encoding), free=to_learn(full, hyper))


def is_complete(rows: Any, used: np.ndarray) -> bool:
    """Whether no cell of the columns in use is missing."""
    if isinstance(rows, np.ndarray):
        return not bool(np.isnan(rows[:, used]).any())
    return bool(rows.complete[used].all())


def fit_either(diagonal: Bound, full: Bound, rows: Any, fit: Fit, fit_all: Fit | None = None) -> Fitted:
    """The fit under the prior of higher evidence: both are in the same units, so that their evidence bounds compare.

    `fit` finds the tree of a bound table. Where rows are many some of them decide, and `fit_all` fits all.
    """
    n, fit_all = rows.shape[0], fit_all or fit
    if n <= rows_compared(n):
        compile_searches((diagonal, full), rows)
        found = [fit_all(diagonal), fit_all(full)]
        return reported(found[is_full(found)], found)
    some = fits_of_sample(diagonal, full, rows, fit)
    return reported(fit_all(based_on(full, some[1].bound.prior) if is_full(some) else diagonal), some)


def fits_of_sample(diagonal: Bound, full: Bound, rows: Any, fit: Fit) -> list[Fitted]:
    """The fits of some rows under either prior."""
    n = rows.shape[0]
    sample = np.ascontiguousarray(rows[fixed_sample(n, rows_compared(n))])
    compile_searches((diagonal, full), sample)
    log_measure = diagonal.encoding.total_log_measure(np.count_nonzero(~np.isnan(sample), axis=0))
    return [fit(bound._replace(values=sample, log_measure=log_measure)) for bound in (diagonal, full)]


def is_full(compared: list[Fitted]) -> bool:
    """Whether full covariances have the higher evidence; one line of the log says so."""
    diagonal, full = (one.log_evidence for one in compared)
    logging.getLogger("bayesgrove").info(
        "%s covariances: log evidence %.1f with full ones, %.1f with diagonal ones",
        "full" if full > diagonal else "diagonal",
        full,
        diagonal,
    )
    return full > diagonal


def reported(fitted: Fitted, compared: list[Fitted]) -> Fitted:
    """The fit with what was compared among its steps."""
    diagonal, full = (one.log_evidence for one in compared)
    steps = {**fitted.steps, "log_evidence_diagonal": diagonal, "log_evidence_full": full}
    return fitted._replace(steps=steps)
