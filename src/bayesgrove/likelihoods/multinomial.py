"""Documents as counts of V words, with a Dirichlet prior on the words' probabilities.

One document per row of the table. A row of statistics holds [V counts, sum of log multinomial
coefficients]; a document's length is taken as given. A document whose first cell is NaN is missing as a
whole.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import (
    Encoding,
    Likelihood,
    per_column_numbers,
    plain,
    refuse_cells,
    refuse_uncountable,
)
from bayesgrove.likelihoods.counts import (
    dirichlet_log_gradient,
    draw_code,
    draw_dirichlet,
    merge_sums,
)
from bayesgrove.stats.special import log_rising

HYPER = (("pseudo_count", 1e-2, 1e3),)
FEW = 8
SMALLEST_FACTOR, LARGEST_FACTOR = 1e-6, 1e6
SMALLEST_PRODUCT, LARGEST_PRODUCT = 1e-200, 1e200
"""Eight factors times a product within these bounds neither overflow nor underflow."""


class MultinomialPrior(NamedTuple):
    """The weight of each word."""

    pseudo_count: np.ndarray


@kernel
def log_orderings(x):
    """Log of the number of ways to order the words of a document."""
    total, length = 0.0, 0.0
    for count in x:
        if count > 0.0:
            length += count
            if count > 1.0:
                total -= math.lgamma(count + 1.0)
    return total + math.lgamma(length + 1.0)


@contract.n_stats.register(MultinomialPrior)
def n_stats(prior):
    """One count per word and the log coefficients."""
    return prior.pseudo_count.size + 1


@contract.add.register(MultinomialPrior)
def add(prior, row, x):
    """Count the words of a document."""
    if math.isnan(x[0]):
        return
    for k in range(x.size):
        row[k] += x[k]
    row[x.size] += log_orderings(x)


@contract.remove.register(MultinomialPrior)
def remove(prior, row, x):
    """Take a document out; exact zeros when no word is left."""
    if math.isnan(x[0]):
        return
    left = 0.0
    for k in range(x.size):
        row[k] -= x[k]
        left += row[k]
    row[x.size] -= log_orderings(x)
    if left == 0.0:
        row[x.size] = 0.0


@contract.merge.register(MultinomialPrior)
def merge(prior, out, a, b):
    """All statistics add."""
    merge_sums(out, a, b, 0, out.size)


@contract.log_marginal.register(MultinomialPrior)
def log_marginal(prior, row):
    """Dirichlet-multinomial with its coefficients; words that occur a few times need no gamma function."""
    pseudo_count = prior.pseudo_count
    n_words, total, product, weights, length = pseudo_count.size, 0.0, 1.0, 0.0, 0.0
    for k in range(n_words):
        weight, count = pseudo_count[k], row[k]
        weights += weight
        if count == 0.0:
            continue
        length += count
        if count > FEW or not SMALLEST_FACTOR < weight < LARGEST_FACTOR:
            total += log_rising(weight, count)
            continue
        for _ in range(int(count)):
            product *= weight
            weight += 1.0
        if not SMALLEST_PRODUCT < product < LARGEST_PRODUCT:
            total += math.log(product)
            product = 1.0
    return total + math.log(product) - log_rising(weights, length) + row[n_words]


@contract.log_predictive.register(MultinomialPrior)
def log_predictive(prior, row, x):
    """The marginal of one document of this length under the posterior's weights."""
    if math.isnan(x[0]):
        return 0.0
    total, weights, length = 0.0, 0.0, 0.0
    for k in range(x.size):
        weight = prior.pseudo_count[k] + row[k]
        weights += weight
        if x[k] > 0.0:
            length += x[k]
            total += log_rising(weight, x[k])
    return total - log_rising(weights, length) + log_orderings(x)


@contract.log_gradient.register(MultinomialPrior)
def log_gradient(prior, row, out):
    """By the log of one factor on all weights."""
    out[0] += dirichlet_log_gradient(row, 0, prior.pseudo_count.size, prior.pseudo_count, 0, 1)


@contract.n_params.register(MultinomialPrior)
def n_params(prior):
    """One probability per word."""
    return prior.pseudo_count.size


@contract.draw_params.register(MultinomialPrior)
def draw_params(prior, rng, row, out):
    """A Dirichlet draw."""
    draw_dirichlet(rng, row, 0, prior.pseudo_count.size, prior.pseudo_count, 0, 1, out)


@contract.draw_data.register(MultinomialPrior)
def draw_data(prior, rng, params, out):
    """Redraw the words of the document in `out`, whose length is kept: the model takes lengths as given."""
    length = 0
    for k in range(out.size):
        length += int(out[k])
        out[k] = 0.0
    for _ in range(length):
        out[int(draw_code(rng, params, 0, out.size))] += 1.0


@contract.hyper.register(MultinomialPrior)
def hyper(prior):
    """One factor on all weights."""
    return HYPER


@contract.with_hyper.register(MultinomialPrior)
def with_hyper(prior, factors):
    """Scale the weights."""
    return MultinomialPrior(prior.pseudo_count * factors[0])


@dataclass(frozen=True)
class Multinomial(Likelihood):
    """Documents: each row counts the words of one document, the words' probabilities are the cluster's.

    Parameters
    ----------
    pseudo_count : number, one per word, None or "auto"
        Dirichlet weight of each word. Default 0.5.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> round(log_marginal(Multinomial(pseudo_count=1), [[1, 1, 0]]), 6)  # the logarithm of 1/6
    -1.791759
    """

    per_column: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("pseudo_count",)

    pseudo_count: Any = None

    def check_cells(self, table: Table) -> None:
        """Cells are whole numbers; a document is complete or missing as a whole."""
        refuse_uncountable(table, "word counts")
        missing = np.isnan(table.values)
        partly = missing & ~missing.all(axis=1, keepdims=True)
        refuse_cells(table, partly, "a document must be complete", "Put 0 where a word does not occur.")

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> MultinomialPrior:
        """Jeffreys' weights where none are given."""
        default = np.full(values.shape[1], 0.5)
        return MultinomialPrior(per_column_numbers("pseudo_count", self.pseudo_count, default))

    def described_by(self, prior: MultinomialPrior, encoding: Encoding) -> "Multinomial":
        """The prior's weights."""
        return replace(self, pseudo_count=plain(prior.pseudo_count))
