"""Over-dispersed counts: negative binomial columns with a beta prior on the probability.

Per column, p ~ Beta(a, b) and P(x) = C(x + r - 1, x) p^r (1 - p)^x, whose variance is mean + mean^2 / r. The
dispersion r is one number of the column, the same in all clusters. A row of statistics holds [n, s, sum of
log C(x + r - 1, x)] of the n cells of sum s; with B the log beta function,

log marginal = B(a + r n, b + s) - B(a, b) + that sum of logs.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import (
    Encoding,
    Likelihood,
    RowsInBrief,
    column_moments,
    per_column_numbers,
    plain,
    refuse_uncountable,
)
from bayesgrove.likelihoods.counts import beta_log_gradient, beta_log_marginal, merge_sums
from bayesgrove.likelihoods.family import COUNTS, Family
from bayesgrove.stats.special import log_rising

HYPER = (("a", 1e-2, 1e3), ("b", 1e-2, 1e3))
COUNT, SUM, LOG_COEFFICIENTS = 0, 1, 2
WIDTH = 3
LARGEST_MEAN = 1e15
"""Of a count that is drawn: beyond it neighbours are hardly told apart."""
LOG_NEGLIGIBLE = math.log(1e-10)
MOST_LISTED = 10_000.0
"""Values beyond the mode that are listed at most; tails may be as heavy as those of a Pareto distribution."""
DISPERSIONS = np.geomspace(0.1, 10_000.0, 26)
"""Those compared where none is given."""
MOST_SEGMENTS = 40
"""Intervals of values that clusters may be made of while dispersions are compared."""


class NegativeBinomialPrior(NamedTuple):
    """Dispersions and beta hyperparameters, one per column; large `a` means small counts."""

    dispersion: np.ndarray
    a: np.ndarray
    b: np.ndarray


@kernel
def log_coefficient(x, dispersion):
    """Log of C(x + dispersion - 1, x)."""
    return log_rising(dispersion, x) - math.lgamma(x + 1.0)


@borrower
def add_count(row, at, x, dispersion):
    """Put one cell in; a NaN is not counted."""
    if not math.isnan(x):
        row[at + COUNT] += 1.0
        row[at + SUM] += x
        row[at + LOG_COEFFICIENTS] += log_coefficient(x, dispersion)


@borrower
def remove_count(row, at, x, dispersion):
    """Take one cell out; exact zeros when the last one leaves."""
    if math.isnan(x):
        return
    row[at + COUNT] -= 1.0
    row[at + SUM] -= x
    row[at + LOG_COEFFICIENTS] -= log_coefficient(x, dispersion)
    if row[at + COUNT] == 0.0:
        row[at + LOG_COEFFICIENTS] = 0.0


@borrower
def column_log_marginal(row, start, stop, p):
    """The closed form of the module."""
    beta = beta_log_marginal(row[start + SUM], p[0] * row[start + COUNT], p[1], p[2])
    return beta + row[start + LOG_COEFFICIENTS]


@borrower
def column_log_predictive(row, start, stop, x, p):
    """Beta negative binomial: the marginal of one cell under the posterior's hyperparameters."""
    a, b = p[1] + p[0] * row[start + COUNT], p[2] + row[start + SUM]
    return beta_log_marginal(x, p[0], a, b) + log_coefficient(x, p[0])


@borrower
def column_log_gradient(row, start, stop, p):
    """By log a and log b."""
    by_a, by_b = beta_log_gradient(row[start + SUM], p[0] * row[start + COUNT], p[1], p[2])
    return by_a, by_b, 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The probability."""
    out[start] = rng.beta(p[1] + p[0] * row[start + COUNT], p[2] + row[start + SUM])


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A Poisson count whose mean is gamma distributed."""
    odds = (1.0 - params[start]) / max(params[start], 1e-300)
    return float(rng.poisson(min(rng.gamma(p[0], 1.0) * odds, LARGEST_MEAN)))


@borrower
def predictive_moments(row, width, p):
    """Of a beta negative binomial count; infinite where the tail is too heavy."""
    a, b = p[1] + p[0] * row[COUNT], p[2] + row[SUM]
    if a <= 1.0:
        return np.inf, np.inf
    mean = p[0] * b / (a - 1.0)
    return mean, mean * (p[0] + a - 1.0) * (a + b - 1.0) / ((a - 2.0) * (a - 1.0)) if a > 2.0 else np.inf


@borrower
def column_n_values(log_weight, row, width, p):
    """Values 0 .. n - 1 that hold all but a negligible mass; probabilities fall beyond the mode."""
    a, b = p[1] + p[0] * row[COUNT], p[2] + row[SUM]
    mode = max(0.0, math.floor((p[0] - 1.0) * (b - 1.0) / (a + 1.0)))
    step, x = 8.0, mode + 8.0
    while step < MOST_LISTED:
        log_rest = log_weight + column_log_predictive(row, 0, width, x, p) + math.log(x)
        if log_rest < LOG_NEGLIGIBLE:
            break
        step *= 1.5
        x = math.floor(mode + step)
    return int(x)


@dataclass(frozen=True)
class NegativeBinomial(Likelihood):
    """Columns of counts that vary more than Poisson counts, each with its own mean in a cluster.

    Parameters
    ----------
    dispersion : number, one per column, or None
        The variance of a count is mean + mean^2 / dispersion, in all clusters. None takes the value of highest
        evidence on a grid from 0.1 to 10,000, the column being cut into intervals as if they were clusters.
    a, b : number, one per column, None or "auto"
        dispersion / (mean + dispersion) is Beta(a, b). Default 1 + dispersion / the column's mean, and 1: the mean of
        a cluster is about that of the column.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> likelihood = NegativeBinomial(dispersion=1, a=1, b=1)
    >>> round(log_marginal(likelihood, [[1]]), 6)  # the logarithm of 1/6
    -1.791759
    """

    takes_sparse: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("a", "b")

    dispersion: Any = None
    a: Any = None
    b: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are whole numbers of at least 0, or missing."""
        refuse_uncountable(table, "counts")

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> NegativeBinomialPrior:
        """The dispersion of highest evidence, and the column's mean, where nothing is given."""
        mean, variance = column_moments(values)
        default = np.ones(mean.size)
        if self.dispersion is None:
            by_moments = np.clip(mean**2 / np.maximum(variance - mean, 1e-300), DISPERSIONS[0], DISPERSIONS[-1])
            is_brief = isinstance(values, RowsInBrief)
            default = by_moments if is_brief else np.array([best_dispersion(column) for column in values.T])
        dispersion = per_column_numbers("dispersion", self.dispersion, default)
        return NegativeBinomialPrior(
            dispersion,
            per_column_numbers("a", self.a, weight_of_mean(dispersion, mean)),
            per_column_numbers("b", self.b, np.ones(mean.size)),
        )

    def described_by(self, prior: NegativeBinomialPrior, encoding: Encoding) -> "NegativeBinomial":
        """The prior's hyperparameters."""
        return replace(self, dispersion=plain(prior.dispersion), a=plain(prior.a), b=plain(prior.b))


def weight_of_mean(dispersion: Any, mean: Any) -> Any:
    """The `a` that gives counts this expectation, with b = 1."""
    return 1.0 + dispersion / np.maximum(mean, 1e-6)


def best_dispersion(cells: np.ndarray) -> float:
    """The dispersion under which the best cut of a column into intervals, each taken as one cluster, is most probable.

    One cluster alone would take the distance between clusters for dispersion.
    """
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    if values.size < 2:
        return 1.0
    scores = [best_cut(values, counts, dispersion) for dispersion in DISPERSIONS]
    return float(DISPERSIONS[int(np.argmax(scores))])


def best_cut(values: np.ndarray, counts: np.ndarray, dispersion: float) -> float:
    """Log of the largest joint probability of the cells and a partition into intervals, up to a constant."""
    mean = float(values @ counts / counts.sum())
    a = weight_of_mean(dispersion, mean)
    coefficients = gammaln(values + dispersion) - gammaln(dispersion) - gammaln(values + 1.0)
    ends = interval_ends(counts)
    n, total, logs = (np.concatenate([[0.0], np.cumsum(counts * part)[ends]]) for part in (1.0, values, coefficients))
    n, total, logs = (part[np.newaxis, :] - part[:, np.newaxis] for part in (n, total, logs))
    n = np.maximum(n, 1.0)  # intervals that end before they start are never used
    scores = gammaln(n) + betaln(a + dispersion * n, 1.0 + np.maximum(total, 0.0)) - betaln(a, 1.0) + logs
    best = np.zeros(ends.size + 1)
    for end in range(1, best.size):
        best[end] = np.max(best[:end] + scores[:end, end])
    return float(best[-1])


def dispersion_within(cells: np.ndarray, labels: np.ndarray) -> float:
    """The dispersion under which the cells of given clusters are most probable."""
    seen = ~np.isnan(cells)
    values, labels = cells[seen], labels[seen]
    mean, n, total = float(values.mean()), np.bincount(labels), np.bincount(labels, values)

    def score(dispersion: float) -> float:
        a = weight_of_mean(dispersion, mean)
        coefficients = gammaln(values + dispersion) - gammaln(dispersion)
        return float(np.sum(betaln(a + dispersion * n, 1.0 + total) - betaln(a, 1.0)) + coefficients.sum())

    return float(max(DISPERSIONS, key=score))


def interval_ends(counts: np.ndarray) -> np.ndarray:
    """Places of the values where an interval may end: all, or some between which about as many cells lie."""
    if counts.size <= MOST_SEGMENTS:
        return np.arange(counts.size)
    share = np.cumsum(counts) / counts.sum()
    ends = np.searchsorted(share, np.linspace(0.0, 1.0, MOST_SEGMENTS + 1)[1:-1])
    return np.unique(np.append(ends, counts.size - 1))


FAMILY = Family(
    name="negative-binomial",
    prior=NegativeBinomialPrior,
    likelihood=NegativeBinomial,
    width=WIDTH,
    support=COUNTS,
    hyper=HYPER,
    add=add_count,
    remove=remove_count,
    merge=merge_sums,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    moments=predictive_moments,
    n_values=column_n_values,
)
