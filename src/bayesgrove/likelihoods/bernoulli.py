"""Yes/no columns with a beta prior on the probability of one.

Per column, p ~ Beta(a, b). A row of statistics holds [zeros, ones] of each column; with B the log beta
function, log marginal = B(a + ones, b + zeros) - B(a, b).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import Encoding, Likelihood, per_column_numbers, plain, refuse_cells
from bayesgrove.likelihoods.counts import (
    add_code,
    add_one,
    beta_coordinate,
    beta_log_gradient,
    beta_log_marginal,
    beta_moments,
    beta_normals,
    merge_sums,
    remove_code,
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


@contract.n_stats.register(BernoulliPrior)
def n_stats(prior):
    """Zeros and ones of each column."""
    return WIDTH * prior.a.size


@contract.add.register(BernoulliPrior)
def add(prior, row, x):
    """Count each observed cell."""
    for j in range(x.size):
        add_code(row, WIDTH * j, x[j])


@contract.remove.register(BernoulliPrior)
def remove(prior, row, x):
    """Take the cells out of the counts."""
    for j in range(x.size):
        remove_code(row, WIDTH * j, x[j])


@contract.merge.register(BernoulliPrior)
def merge(prior, out, a, b):
    """Counts add."""
    merge_sums(out, a, b, 0, out.size)


@contract.log_marginal.register(BernoulliPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.a.size):
        total += beta_log_marginal(row[WIDTH * j], row[WIDTH * j + 1], prior.a[j], prior.b[j])
    return total


@contract.log_predictive.register(BernoulliPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns: the marginal of one cell under the posterior's numbers."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            a, b = prior.a[j] + row[WIDTH * j + 1], prior.b[j] + row[WIDTH * j]
            total += beta_log_marginal(1.0 - x[j], x[j], a, b)
    return total


@contract.log_gradient.register(BernoulliPrior)
def log_gradient(prior, row, out):
    """By log a and log b, summed over columns."""
    for j in range(prior.a.size):
        by_a, by_b = beta_log_gradient(row[WIDTH * j], row[WIDTH * j + 1], prior.a[j], prior.b[j])
        out[0] += by_a
        out[1] += by_b


@contract.n_params.register(BernoulliPrior)
def n_params(prior):
    """The probability of one in each column."""
    return prior.a.size


@contract.draw_params.register(BernoulliPrior)
def draw_params(prior, rng, row, out):
    """Beta draws."""
    for j in range(prior.a.size):
        out[j] = rng.beta(prior.a[j] + row[WIDTH * j + 1], prior.b[j] + row[WIDTH * j])


@contract.draw_data.register(BernoulliPrior)
def draw_data(prior, rng, params, out):
    """One coin per column."""
    for j in range(out.size):
        out[j] = 1.0 if rng.random() < params[j] else 0.0


@contract.hyper.register(BernoulliPrior)
def hyper(prior):
    """`a` and `b` each get one factor shared by all columns."""
    return HYPER


@contract.with_hyper.register(BernoulliPrior)
def with_hyper(prior, factors):
    """Scale both arrays."""
    return BernoulliPrior(prior.a * factors[0], prior.b * factors[1])


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
