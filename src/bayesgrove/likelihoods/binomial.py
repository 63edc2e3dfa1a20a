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
from bayesgrove.likelihoods import contract
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


@kernel
def binomial_log_marginal(row, at, a, b):
    """Log marginal of one column."""
    return beta_log_marginal(row[at + FAILURES], row[at + SUCCESSES], a, b) + row[at + LOG_COEFFICIENTS]


@kernel
def binomial_log_predictive(row, at, x, n_trials, a, b):
    """Beta-binomial: the marginal of one cell under the posterior's numbers."""
    a, b = a + row[at + SUCCESSES], b + row[at + FAILURES]
    return beta_log_marginal(n_trials - x, x, a, b) + log_choose(n_trials, x)


@contract.n_stats.register(BinomialPrior)
def n_stats(prior):
    """Failures, successes and log coefficients of each column."""
    return WIDTH * prior.a.size


@contract.add.register(BinomialPrior)
def add(prior, row, x):
    """Count each observed cell."""
    for j in range(x.size):
        add_successes(row, WIDTH * j, x[j], prior.n_trials[j])


@contract.remove.register(BinomialPrior)
def remove(prior, row, x):
    """Take the cells out of the counts."""
    for j in range(x.size):
        remove_successes(row, WIDTH * j, x[j], prior.n_trials[j])


@contract.merge.register(BinomialPrior)
def merge(prior, out, a, b):
    """All statistics add."""
    merge_sums(out, a, b, 0, out.size)


@contract.log_marginal.register(BinomialPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.a.size):
        total += binomial_log_marginal(row, WIDTH * j, prior.a[j], prior.b[j])
    return total


@contract.log_predictive.register(BinomialPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            total += binomial_log_predictive(row, WIDTH * j, x[j], prior.n_trials[j], prior.a[j], prior.b[j])
    return total


@contract.log_gradient.register(BinomialPrior)
def log_gradient(prior, row, out):
    """By log a and log b, summed over columns."""
    for j in range(prior.a.size):
        at = WIDTH * j
        by_a, by_b = beta_log_gradient(row[at + FAILURES], row[at + SUCCESSES], prior.a[j], prior.b[j])
        out[0] += by_a
        out[1] += by_b


@contract.n_params.register(BinomialPrior)
def n_params(prior):
    """The probability of success in each column."""
    return prior.a.size


@contract.draw_params.register(BinomialPrior)
def draw_params(prior, rng, row, out):
    """Beta draws."""
    for j in range(prior.a.size):
        at = WIDTH * j
        out[j] = rng.beta(prior.a[j] + row[at + SUCCESSES], prior.b[j] + row[at + FAILURES])


@contract.draw_data.register(BinomialPrior)
def draw_data(prior, rng, params, out):
    """One binomial number per column."""
    for j in range(out.size):
        out[j] = float(rng.binomial(int(prior.n_trials[j]), params[j]))


@contract.hyper.register(BinomialPrior)
def hyper(prior):
    """`a` and `b` each get one factor shared by all columns."""
    return HYPER


@contract.with_hyper.register(BinomialPrior)
def with_hyper(prior, factors):
    """Scale both arrays."""
    return prior._replace(a=prior.a * factors[0], b=prior.b * factors[1])


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
    """`binomial_log_marginal`."""
    return binomial_log_marginal(row, start, p[1], p[2])


@borrower
def column_log_predictive(row, start, stop, x, p):
    """`binomial_log_predictive`."""
    return binomial_log_predictive(row, start, x, p[0], p[1], p[2])


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
