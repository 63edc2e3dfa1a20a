"""Numbers of successes in `n_trials` trials, with a beta prior on the probability of success.

Per column, p ~ Beta(a, b) and x ~ Binomial(n_trials, p). A row of statistics holds [failures, successes,
sum of log C(n_trials, x)] of each column; log marginal = B(a + successes, b + failures) - B(a, b) + that sum.
"""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import (
    Encoding,
    Likelihood,
    is_given,
    per_column_integers,
    per_column_numbers,
    plain,
    refuse_cells,
    refuse_uncountable,
)
from bayesgrove.likelihoods.columnwise import TABLES
from bayesgrove.likelihoods.counts import (
    beta_coordinate,
    beta_log_gradient,
    beta_log_marginal,
    beta_moments,
    beta_normals,
    log_choose,
    merge_sums,
    with_beta_coordinate,
)
from bayesgrove.likelihoods.family import COUNTS, Coordinates, Family

HYPER = (("a", 1e-2, 1e3), ("b", 1e-2, 1e3))
FAILURES, SUCCESSES, LOG_COEFFICIENTS = 0, 1, 2
WIDTH = 3


class BinomialPrior(NamedTuple):
    """Numbers of trials and beta numbers, one per column (all float64); `a` is the weight of success."""

    n_trials: np.ndarray
    a: np.ndarray
    b: np.ndarray


@borrower
def add_successes(row, at, x, n_trials):
    """Count `x` successes of `n_trials`; a NaN is not counted."""
    if not math.isnan(x):
        row[at + FAILURES] += n_trials - x
        row[at + SUCCESSES] += x
        row[at + LOG_COEFFICIENTS] += log_choose(n_trials, x)


@borrower
def remove_successes(row, at, x, n_trials):
    """Take a cell out; exact zeros when the last one leaves."""
    if math.isnan(x):
        return
    row[at + FAILURES] -= n_trials - x
    row[at + SUCCESSES] -= x
    row[at + LOG_COEFFICIENTS] -= log_choose(n_trials, x)
    if row[at + FAILURES] + row[at + SUCCESSES] == 0.0:
        row[at + LOG_COEFFICIENTS] = 0.0


@dataclass(frozen=True)
class Binomial(Likelihood):
    """Columns of numbers of successes, each with its own probability of success in a cluster.

    Parameters
    ----------
    n_trials : int, one per column, or None
        Trials behind each cell. None takes the column's maximum, with a warning.
    a, b : number, one per column, None or "auto"
        Weights of success and failure: the probability is Beta(a, b). Default 0.5.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> round(log_marginal(Binomial(n_trials=4, a=1, b=1), [[3]]), 6)  # the logarithm of 1/5
    -1.609438
    """

    takes_sparse: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("a", "b")

    n_trials: Any = None
    a: Any = None
    b: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are whole numbers from 0 to n_trials, or missing."""
        refuse_uncountable(table, "binomial cells")
        if is_given(self.n_trials):
            limit = per_column_integers("n_trials", self.n_trials, np.ones(table.n_columns))
            rule = f"a binomial cell must be at most n_trials = {self.n_trials}"
            refuse_cells(table, table.values > limit, rule, "Declare a larger n_trials.")

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> BinomialPrior:
        """Jeffreys' weights and the columns' maxima where nothing is given."""
        default = np.full(values.shape[1], 0.5)
        largest = np.ones(values.shape[1])
        if not is_given(self.n_trials):
            largest = np.maximum(np.max(values, axis=0, initial=1.0, where=~np.isnan(values)), 1.0)
            warnings.warn(
                f"n_trials of {', '.join(map(repr, table.names))} taken from the largest cells. "
                "Declare it: Binomial(n_trials=...).",
                UserWarning,
                stacklevel=3,
            )
        return BinomialPrior(
            per_column_integers("n_trials", self.n_trials, largest),
            per_column_numbers("a", self.a, default),
            per_column_numbers("b", self.b, default),
        )

    def described_by(self, prior: BinomialPrior, encoding: Encoding) -> "Binomial":
        """The prior's weights and trials."""
        n_trials = plain(prior.n_trials.astype(np.int64))
        return replace(self, n_trials=n_trials, a=plain(prior.a), b=plain(prior.b))


@borrower
def column_log_marginal(row, start, stop, p):
    """Log marginal of one column."""
    sequences = beta_log_marginal(row[start + FAILURES], row[start + SUCCESSES], p[1], p[2])
    return sequences + row[start + LOG_COEFFICIENTS]


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Beta-binomial: the marginal of one cell under the posterior's numbers."""
    a, b = p[1] + row[start + SUCCESSES], p[2] + row[start + FAILURES]
    return beta_log_marginal(p[0] - x, x, a, b) + log_choose(p[0], x)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log a and log b."""
    by_a, by_b = beta_log_gradient(row[start], row[start + 1], p[1], p[2])
    return by_a, by_b, 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The probability of success."""
    out[start] = rng.beta(p[1] + row[start + 1], p[2] + row[start])


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A number of successes."""
    return float(rng.binomial(int(p[0]), params[start]))


@borrower
def predictive_moments(row, width, p):
    """Of a beta-binomial number."""
    return beta_moments(p[0], p[1] + row[SUCCESSES], p[2] + row[FAILURES])


@borrower
def column_n_values(log_weight, row, width, p):
    """0 .. n_trials."""
    return int(p[0]) + 1


@borrower
def coordinate(p, which):
    """Logit of the mean, log strength."""
    return beta_coordinate(p[1], p[2], which)


@borrower
def assign(p, which, value):
    """Change one of them."""
    p[1], p[2] = with_beta_coordinate(p[1], p[2], which, value)


FAMILY = Family(
    name="binomial",
    prior=BinomialPrior,
    likelihood=Binomial,
    width=WIDTH,
    support=COUNTS,
    hyper=HYPER,
    add=add_successes,
    remove=remove_successes,
    merge=merge_sums,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    n_values=column_n_values,
    coordinates=Coordinates(("a", "b"), coordinate, assign, beta_normals, first_is_logit=True),
)
TABLES.register(FAMILY)
