"""Whole tables of one family: bodies of `contract`, made of the family's kernels on one column.

They serve families of a fixed width with two or three numbers per column and one drawn parameter. What is faster by
hand, as for diagonal Gaussians, stands in the family's own file.
"""

import math
from types import SimpleNamespace
from typing import Any

from bayesgrove.core.jit import borrower
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.family import Family


@borrower
def two_numbers(prior, j):
    """The numbers of column j."""
    return prior[0][j], prior[1][j]


@borrower
def three_numbers(prior, j):
    """The numbers of column j."""
    return prior[0][j], prior[1][j], prior[2][j]


def register_all(family: Family) -> None:
    """Give `contract` all bodies for the family's prior."""
    register_statistics(family)
    register_marginals(family)
    register_draws(family)
    register_hyper(family)


def register_statistics(family: Family) -> None:
    """Cells go in and out column by column; clusters are merged at once."""
    width, add_cell, remove_cell, merge_columns = family.width, family.add, family.remove, family.merge

    @contract.n_stats.register(family.prior)
    def n_stats(prior):
        return width * prior[0].size

    @contract.add.register(family.prior)
    def add(prior, row, x):
        for j in range(x.size):
            add_cell(row, width * j, x[j], prior[0][j])

    @contract.remove.register(family.prior)
    def remove(prior, row, x):
        for j in range(x.size):
            remove_cell(row, width * j, x[j], prior[0][j])

    @contract.merge.register(family.prior)
    def merge(prior, out, a, b):
        merge_columns(out, a, b, 0, out.size)


def register_marginals(family: Family) -> None:
    """Sums over columns."""
    width, n_learned, numbers = family.width, len(family.hyper), numbers_of(family)
    marginal, predictive, gradient = family.log_marginal, family.log_predictive, family.log_gradient

    @contract.log_marginal.register(family.prior)
    def log_marginal(prior, row):
        total = 0.0
        for j in range(prior[0].size):
            total += marginal(row, width * j, width * j + width, numbers(prior, j))
        return total

    @contract.log_predictive.register(family.prior)
    def log_predictive(prior, row, x):
        total = 0.0
        for j in range(x.size):
            if not math.isnan(x[j]):
                total += predictive(row, width * j, width * j + width, x[j], numbers(prior, j))
        return total

    @contract.log_gradient.register(family.prior)
    def log_gradient(prior, row, out):
        for j in range(prior[0].size):
            parts = gradient(row, width * j, width * j + width, numbers(prior, j))
            for k in range(n_learned):
                out[k] += parts[k]


def register_draws(family: Family) -> None:
    """One parameter and one cell per column."""
    width, numbers = family.width, numbers_of(family)
    draw_parameter, draw_cell = family.draw_params, family.draw_cell

    @contract.n_params.register(family.prior)
    def n_params(prior):
        return prior[0].size

    @contract.draw_params.register(family.prior)
    def draw_params(prior, rng, row, out):
        for j in range(prior[0].size):
            draw_parameter(rng, row[width * j : width * j + width], 0, width, numbers(prior, j), out[j : j + 1])

    @contract.draw_data.register(family.prior)
    def draw_data(prior, rng, params, out):
        for j in range(out.size):
            out[j] = draw_cell(rng, params[j : j + 1], 0, 1, numbers(prior, j))


def register_hyper(family: Family) -> None:
    """Each number that can be learned gets one factor, shared by all columns."""

    @contract.hyper.register(family.prior)
    def hyper(prior):
        return family.hyper

    contract.with_hyper.register(family.prior)(scaling_of(family))


def scaling_of(family: Family) -> Any:
    """The prior with its numbers scaled, written out field by field: kernels know no `_replace`."""
    learned = [name for name, _, _ in family.hyper]
    scaled = (f"prior.{name} * factors[{learned.index(name)}]" for name in learned)
    fields = {name: f"prior.{name}" for name in family.prior._fields} | dict(zip(learned, scaled, strict=True))
    known: dict[str, Any] = {"kind": family.prior}
    exec(f"def with_hyper(prior, factors):\n    return kind({', '.join(fields.values())})", known)
    return known["with_hyper"]


def numbers_of(family: Family) -> Any:
    """The kernel that gives the numbers of a column."""
    return {2: two_numbers, 3: three_numbers}[len(family.prior._fields)]


TABLES = SimpleNamespace(register=register_all)
"""Families write `TABLES.register(FAMILY)`, the form by which `core.sources` finds what kernels depend on."""
