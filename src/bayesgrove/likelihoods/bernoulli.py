"""Yes/no columns with a beta prior on the probability of one.

Per column, p ~ Beta(a, b). A row of statistics holds [zeros, ones] of each column; with B the log beta
function, log marginal = B(a + ones, b + zeros) - B(a, b).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import Encoding, Likelihood, per_column_numbers, plain, refuse_cells
from bayesgrove.likelihoods.columnwise import TABLES
from bayesgrove.likelihoods.counts import (
    add_one,
    beta_coordinate,
    beta_log_gradient,
    beta_log_marginal,
    beta_moments,
    beta_normals,
    merge_sums,
    remove_one,
    with_beta_coordinate,
)
from bayesgrove.likelihoods.family import CODES, Coordinates, Family

HYPER = (("a", 1e-2, 1e3), ("b", 1e-2, 1e3))
WIDTH = 2


class BernoulliPrior(NamedTuple):
    """Beta numbers, one per column; `a` is the weight of ones."""

    a: np.ndarray
    b: np.ndarray


@dataclass(frozen=True)
class Bernoulli(Likelihood):
    """Columns of zeros and ones, each with its own probability of one in a cluster.

    Parameters
    ----------
    a, b : number, one per column, None or "auto"
        Weights of one and of zero: the probability of one is Beta(a, b). Default 0.5.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> round(log_marginal(Bernoulli(a=1, b=1), [[0], [1]]), 6)  # the logarithm of 1/6
    -1.791759
    """

    takes_categories: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("a", "b")

    a: Any = None
    b: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are 0, 1 or missing."""
        bad = (table.values != 0) & (table.values != 1) & ~np.isnan(table.values)
        refuse_cells(table, bad, "a Bernoulli cell must be 0, 1 or missing", "Use Categorical or Poisson.")

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> BernoulliPrior:
        """Jeffreys' weights where none are given."""
        default = np.full(values.shape[1], 0.5)
        return BernoulliPrior(per_column_numbers("a", self.a, default), per_column_numbers("b", self.b, default))

    def described_by(self, prior: BernoulliPrior, encoding: Encoding) -> "Bernoulli":
        """The prior's weights."""
        return replace(self, a=plain(prior.a), b=plain(prior.b))


@borrower
def column_log_marginal(row, start, stop, p):
    """`beta_log_marginal`."""
    return beta_log_marginal(row[start], row[start + 1], p[0], p[1])


@borrower
def column_log_predictive(row, start, stop, x, p):
    """The marginal of one cell under the posterior's numbers."""
    return beta_log_marginal(1.0 - x, x, p[0] + row[start + 1], p[1] + row[start])


@borrower
def column_log_gradient(row, start, stop, p):
    """By log a and log b."""
    by_a, by_b = beta_log_gradient(row[start], row[start + 1], p[0], p[1])
    return by_a, by_b, 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The probability of one."""
    out[start] = rng.beta(p[0] + row[start + 1], p[1] + row[start])


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A coin."""
    return 1.0 if rng.random() < params[start] else 0.0


@borrower
def predictive_moments(row, width, p):
    """Of one trial."""
    return beta_moments(1.0, p[0] + row[1], p[1] + row[0])


@borrower
def coordinate(p, which):
    """Logit of the mean, log strength."""
    return beta_coordinate(p[0], p[1], which)


@borrower
def assign(p, which, value):
    """Change one of them."""
    p[0], p[1] = with_beta_coordinate(p[0], p[1], which, value)


FAMILY = Family(
    name="bernoulli",
    prior=BernoulliPrior,
    likelihood=Bernoulli,
    width=WIDTH,
    support=CODES,
    hyper=HYPER,
    add=add_one,
    remove=remove_one,
    merge=merge_sums,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    coordinates=Coordinates(("a", "b"), coordinate, assign, beta_normals, first_is_logit=True),
)
TABLES.register(FAMILY)
