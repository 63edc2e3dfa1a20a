"""Small tables of all families with missing cells, as the library and the twin take them."""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.datasets import make_cross_table
from bayesgrove.likelihoods import Bernoulli, Binomial, Columns, bind
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import FAMILIES
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.view_table import view_table
from reference import cross
from reference.golden import golden_table

N_CATEGORIES = 3


class Case(NamedTuple):
    """One table for both, and golden numbers if there are any."""

    problem: Problem
    twin: cross.Table
    numbers: dict[str, Any]


def golden_case(table, **options):
    """A table of the golden file."""
    values, likelihood, concentration, numbers = golden_table(table, as_columns=True)
    bound = bind(likelihood, values, hyper="fixed")
    log_measure = -math.log(2.0) * bound.encoding.exponent
    logs = math.log(concentration), math.log(numbers["alpha_cols"])
    problem = Problem(view_table(bound.prior, bound.values, log_measure), *logs, **options)
    measure = ~np.isnan(values) * log_measure
    return Case(problem, cross.table_of(bound.prior, bound.values, *np.exp(logs), measure), numbers)


def random_case(seed, n_rows, n_columns, row_search="greedy", **options):
    """A random table with random concentrations."""
    rng = np.random.default_rng(seed)
    prior, values = random_table(rng, n_rows, n_columns)
    row, column = rng.choice([0.3, 1.0, 4.0], 2)
    table = view_table(prior, values)
    problem = Problem(table, math.log(row), math.log(column), row_search=row_search, **options)
    return Case(problem, cross.table_of(prior, values, row, column, row_search=row_search), {})


def random_table(rng, n_rows, n_columns, missing=0.15):
    """A ColumnsPrior and encoded cells; rows fall into two groups, so that trees are not all noise."""
    group = rng.integers(0, 2, n_rows)
    family = rng.integers(0, 6, n_columns)
    params, sizes, columns = np.zeros((n_columns, 4)), [], []
    for j, code in enumerate(family):
        params[j], cells = random_column(rng, code, group)
        columns.append(cells)
        sizes.append(FAMILIES[code].width or N_CATEGORIES)
    values = np.column_stack(columns).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return ColumnsPrior(family, params, np.concatenate([[0], np.cumsum(sizes)])), values


def random_column(rng, code, group):
    """Numbers of the prior and cells of one column; codes as in `likelihoods.columns`."""
    n, chance = group.size, rng.beta(0.5, 0.5, 2)[group]
    return (
        lambda: ([0.5, 0.2, 1.5, 0.0], rng.normal(2.0 * group, 0.7, n)),
        lambda: ([0.1, 0.4, 2.0, rng.choice([0.3, 1.0])], rng.normal(3.0 * group, 0.5, n)),
        lambda: ([0.5, rng.choice([0.5, 1.2]), 0.0, 0.0], rng.random(n) < chance),
        lambda: ([7.0, 0.8, 1.1, 0.0], rng.binomial(7, chance)),
        lambda: ([rng.choice([0.5, 0.8]), 0.0, 0.0, 0.0], rng.integers(0, 2 + group, n)),
        lambda: ([1.2, 0.4, 0.0, 0.0], rng.poisson(1.0 + 5.0 * chance)),
    )[code]()


def paper_case(seed, n_trials=50, row_search="greedy", **options):
    """The four-view table of Li and Shafto's section 8.1 with its true priors, and its views."""
    made = make_cross_table(n_trials=n_trials, random_state=seed, **options)
    column = Bernoulli(a=0.5, b=0.5) if n_trials == 1 else Binomial(n_trials=n_trials, a=0.5, b=0.5)
    bound = bind(Columns([column] * made.X.shape[1]), made.X.astype(float), hyper="fixed")
    return Problem(view_table(bound.prior, bound.values), 0.0, 0.0, row_search=row_search), made.view_labels
