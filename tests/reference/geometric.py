"""Columns of waiting times: the example of docs/adding-a-likelihood.md, a family that the package does not have.

Per column, p ~ Beta(a, b) and x = 0, 1, ... failures come before a success: P(x) = p (1 - p)^x. A column keeps its
count n and sum s; with B the log beta function, log marginal = B(a + n, b + s) - B(a, b).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import Encoding, Likelihood, per_column_numbers, plain, refuse_uncountable
from bayesgrove.likelihoods.counts import beta_log_gradient, beta_log_marginal, merge_sums
from bayesgrove.likelihoods.family import COUNTS, Family

COUNT, SUM = 0, 1


# prior
class GeometricPrior(NamedTuple):
    """Beta numbers, one per column; `a` is the weight of success."""

    a: np.ndarray
    b: np.ndarray


# kernels
@kernel
def add(row, at, x, fixed):
    """Count one cell; a NaN is not counted."""
    if not math.isnan(x):
        row[at + COUNT] += 1.0
        row[at + SUM] += x


@kernel
def remove(row, at, x, fixed):
    """Take one cell out."""
    if not math.isnan(x):
        row[at + COUNT] -= 1.0
        row[at + SUM] -= x


@kernel
def log_marginal(row, start, stop, p):
    """n successes and s failures in any order."""
    return beta_log_marginal(row[start + SUM], row[start + COUNT], p[0], p[1])


@kernel
def log_predictive(row, start, stop, x, p):
    """The marginal of one cell under the posterior's numbers."""
    return beta_log_marginal(x, 1.0, p[0] + row[start + COUNT], p[1] + row[start + SUM])


@kernel
def log_gradient(row, start, stop, p):
    """By log a and log b."""
    by_a, by_b = beta_log_gradient(row[start + SUM], row[start + COUNT], p[0], p[1])
    return by_a, by_b, 0.0


@kernel
def draw_params(rng, row, start, stop, p, out):
    """The probability of success."""
    out[start] = rng.beta(p[0] + row[start + COUNT], p[1] + row[start + SUM])


@kernel
def draw_cell(rng, params, start, stop, p):
    """Failures before a success."""
    return float(rng.geometric(params[start]) - 1)


# likelihood
@dataclass(frozen=True)
class Geometric(Likelihood):
    """Columns of failures before a success, each with its own probability of success in a cluster.

    Parameters
    ----------
    a, b : number, one per column, None or "auto"
        Weights of success and failure: the probability of success is Beta(a, b). Default 3 and 3.
    """

    learnable: ClassVar[tuple[str, ...]] = ("a", "b")

    a: Any = None
    b: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are whole numbers of at least 0, or missing."""
        refuse_uncountable(table, "numbers of failures")

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> GeometricPrior:
        """Weights that leave a variance, where none are given."""
        default = np.full(values.shape[1], 3.0)
        return GeometricPrior(per_column_numbers("a", self.a, default), per_column_numbers("b", self.b, default))

    def described_by(self, prior: GeometricPrior, encoding: Encoding) -> "Geometric":
        """The prior's weights."""
        return replace(self, a=plain(prior.a), b=plain(prior.b))


# record
FAMILY = Family(
    name="geometric",
    prior=GeometricPrior,
    likelihood=Geometric,
    width=2,
    support=COUNTS,
    hyper=(("a", 1e-2, 1e3), ("b", 1e-2, 1e3)),
    add=add,
    remove=remove,
    merge=merge_sums,
    log_marginal=log_marginal,
    log_predictive=log_predictive,
    log_gradient=log_gradient,
    draw_params=draw_params,
    draw_cell=draw_cell,
)
