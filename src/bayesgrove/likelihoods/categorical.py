"""Columns of category codes 0 .. K - 1 with a symmetric Dirichlet prior on their probabilities.

Column j keeps its K_j counts at row[start[j]:start[j + 1]]; the log marginal stands in `counts.py`.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidTableError
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
from bayesgrove.likelihoods.columnwise import register_hyper
from bayesgrove.likelihoods.counts import (
    add_one,
    dirichlet_log_gradient,
    dirichlet_log_marginal,
    dirichlet_log_predictive,
    draw_code,
    draw_dirichlet,
    merge_sums,
    remove_one,
)
from bayesgrove.likelihoods.family import CODES, SPREAD, Coordinates, Family

MOST_CATEGORIES = 2**20
"""Each has a count in every cluster; larger codes are names of something, or errors."""
HYPER = (("pseudo_count", 1e-2, 1e3),)
LIMITS = {"pseudo_count": (0.01, 1.0)}
"""Least and largest values while a tree learns."""


class CategoricalPrior(NamedTuple):
    """The weight of every category, one number per column, and where each column's counts start."""

    pseudo_count: np.ndarray
    start: np.ndarray


@contract.n_stats.register(CategoricalPrior)
def n_stats(prior):
    """One count per category of each column."""
    return prior.start[prior.start.size - 1]


@contract.add.register(CategoricalPrior)
def add(prior, row, x):
    """Count each observed cell."""
    for j in range(x.size):
        add_one(row, prior.start[j], x[j], 0.0)


@contract.remove.register(CategoricalPrior)
def remove(prior, row, x):
    """Take the cells out of the counts."""
    for j in range(x.size):
        remove_one(row, prior.start[j], x[j], 0.0)


@contract.merge.register(CategoricalPrior)
def merge(prior, out, a, b):
    """Counts add."""
    merge_sums(out, a, b, 0, out.size)


@contract.log_marginal.register(CategoricalPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.pseudo_count.size):
        total += dirichlet_log_marginal(row, prior.start[j], prior.start[j + 1], prior.pseudo_count, j, 0)
    return total


@contract.log_predictive.register(CategoricalPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            start, stop = prior.start[j], prior.start[j + 1]
            total += dirichlet_log_predictive(row, start, stop, int(x[j]), prior.pseudo_count, j, 0)
    return total


@contract.log_gradient.register(CategoricalPrior)
def log_gradient(prior, row, out):
    """By log pseudo_count, summed over columns."""
    for j in range(prior.pseudo_count.size):
        out[0] += dirichlet_log_gradient(row, prior.start[j], prior.start[j + 1], prior.pseudo_count, j, 0)


@contract.n_params.register(CategoricalPrior)
def n_params(prior):
    """One probability per category of each column."""
    return prior.start[prior.start.size - 1]


@contract.draw_params.register(CategoricalPrior)
def draw_params(prior, rng, row, out):
    """Dirichlet draws."""
    for j in range(prior.pseudo_count.size):
        draw_dirichlet(rng, row, prior.start[j], prior.start[j + 1], prior.pseudo_count, j, 0, out)


@contract.draw_data.register(CategoricalPrior)
def draw_data(prior, rng, params, out):
    """One code per column."""
    for j in range(out.size):
        out[j] = draw_code(rng, params, prior.start[j], prior.start[j + 1])


@dataclass(frozen=True)
class Categorical(Likelihood):
    """Columns of category codes 0, 1, ..., each with its own probabilities in a cluster.

    Parameters
    ----------
    pseudo_count : number, one per column, None or "auto"
        Dirichlet weight of every category. Default 0.5.
    n_categories : int, one per column, or None
        Number of categories. None takes the column's labels, or its largest code + 1.
    unseen : {"error", "reserve"}
        What to do with other categories met later: refuse them, or count them all in one extra category.

    Examples
    --------
    >>> from bayesgrove.likelihoods import log_marginal
    >>> round(log_marginal(Categorical(pseudo_count=1, n_categories=3), [[2], [0]]), 6)  # that of 1/12
    -2.484907
    """

    takes_categories: ClassVar[bool] = True
    learnable: ClassVar[tuple[str, ...]] = ("pseudo_count",)

    pseudo_count: Any = None
    n_categories: Any = None
    unseen: str = "error"

    def check_cells(self, table: Table) -> None:
        """Cells are known codes, or missing."""
        if self.unseen not in ("error", "reserve"):
            raise InvalidLikelihoodError(f"unseen must be 'error' or 'reserve', got {self.unseen!r}.")
        refuse_uncountable(table, "category codes")
        if is_given(self.n_categories) and self.unseen == "error":
            limit = per_column_integers("n_categories", self.n_categories, np.ones(table.n_columns))
            rule = f"a category must be one of the n_categories = {self.n_categories} known ones"
            remedy = "Declare more n_categories, or Categorical(unseen='reserve')."
            refuse_cells(table, table.values >= limit, rule, remedy)

    def cells(self, table: Table) -> np.ndarray:
        """The codes, all unseen ones as the reserved one."""
        if self.unseen == "error" or not is_given(self.n_categories):
            return table.values
        return np.minimum(table.values, np.asarray(self.n_categories, float))

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> CategoricalPrior:
        """Jeffreys' weights and the categories seen where nothing is given."""
        labels = [len(table.categories.get(j, ())) for j in range(values.shape[1])]
        codes = np.max(values, axis=0, initial=0.0, where=~np.isnan(values)) + 1
        known = per_column_integers("n_categories", self.n_categories, np.maximum(labels, codes))
        if known.max(initial=0) > MOST_CATEGORIES:
            raise InvalidTableError(
                f"a column has at most {MOST_CATEGORIES:,} categories, got codes up to {known.max() - 1:g}. "
                "Code them 0, 1, ... without gaps."
            )
        sizes = known.astype(np.int64) + (self.unseen == "reserve")
        return CategoricalPrior(
            per_column_numbers("pseudo_count", self.pseudo_count, np.full(values.shape[1], 0.5)),
            np.concatenate([[0], np.cumsum(sizes)]),
        )

    def described_by(self, prior: CategoricalPrior, encoding: Encoding) -> "Categorical":
        """The prior's weights and numbers of categories, the reserved one not counted."""
        known = np.diff(prior.start) - (self.unseen == "reserve")
        return replace(self, pseudo_count=plain(prior.pseudo_count), n_categories=plain(known))


@borrower
def column_log_marginal(row, start, stop, p):
    """`dirichlet_log_marginal` of one weight."""
    return dirichlet_log_marginal(row, start, stop, p, 0, 0)


@borrower
def column_log_predictive(row, start, stop, x, p):
    """`dirichlet_log_predictive` of one weight."""
    return dirichlet_log_predictive(row, start, stop, int(x), p, 0, 0)


@borrower
def column_log_gradient(row, start, stop, p):
    """By log pseudo_count."""
    return dirichlet_log_gradient(row, start, stop, p, 0, 0), 0.0, 0.0


@kernel
def column_draw_params(rng, row, start, stop, p, out):
    """The probabilities."""
    draw_dirichlet(rng, row, start, stop, p, 0, 0, out)


@kernel
def column_draw_cell(rng, params, start, stop, p):
    """A code."""
    return draw_code(rng, params, start, stop)


@borrower
def coordinate(p, which):
    """Log weight."""
    return math.log(p[0])


@borrower
def assign(p, which, value):
    """Change it."""
    p[0] = math.exp(value)


def normals(cells: np.ndarray, mean: float, variance: float) -> list[tuple[float, float]]:
    """The weight lies about 1."""
    return [(0.0, SPREAD)]


FAMILY = Family(
    name="categorical",
    prior=CategoricalPrior,
    likelihood=Categorical,
    width=0,
    support=CODES,
    hyper=HYPER,
    limits=LIMITS,
    is_nominal=True,
    add=add_one,
    remove=remove_one,
    merge=merge_sums,
    log_marginal=column_log_marginal,
    log_predictive=column_log_predictive,
    log_gradient=column_log_gradient,
    draw_params=column_draw_params,
    draw_cell=column_draw_cell,
    coordinates=Coordinates(("pseudo_count",), coordinate, assign, normals),
)
register_hyper(FAMILY)
