"""Mixed tables: every column has its own family, independent given the cluster.

The families' own kernels are chosen by an integer code; see `families`. Column j keeps its statistics at
row[start[j]:start[j + 1]] and its prior's numbers in params[j], in the order of the fields of its family's prior (a
categorical column has its pseudo_count there and start[j + 1] - start[j] categories). Drawn parameters stand at the
same places as the statistics; unused places are 0.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.families import FAMILIES, HYPER_PLACES, N_HYPER, by_family

EXACT = np.zeros(0)
"""The grain of columns none of which is rounded."""


class ColumnsPrior(NamedTuple):
    """Family code and hyperparameters of each column, and where its statistics start."""

    family: np.ndarray
    params: np.ndarray
    start: np.ndarray
    grain: np.ndarray = EXACT
    """(n_columns,) variance of a cell's rounding, 0 for exact ones; empty where all cells are exact."""


@by_family("add")
def column_add(family, row, at, x, fixed):
    """Put a cell, NaN or not, into the statistics of one column; `fixed` is the first number of its prior."""


@by_family("remove")
def column_remove(family, row, at, x, fixed):
    """Take a cell out of the statistics of one column."""


@by_family("merge")
def column_merge(family, out, a, b, start, stop):
    """Write the union of one column's statistics in two clusters to `out`, which may be `a` or `b`."""


@by_family("log_marginal", unknown="math.nan")
def column_log_marginal(family, row, start, stop, p):
    """Log marginal of one column; `p` holds its prior's numbers."""


@by_family("log_predictive", unknown="math.nan")
def column_log_predictive(family, row, start, stop, x, p):
    """Log density of an observed cell in one column."""


@by_family("log_gradient", unknown="(math.nan, math.nan, math.nan)")
def column_log_gradient(family, row, start, stop, p):
    """Derivatives by the log of each learnable number of the family; unused places are 0."""


@by_family("draw_params")
def draw_params_of(rng, family, row, start, stop, p, out):
    """Draw the parameters of one column to out[start:stop], which are zeros."""


@kernel
def column_draw_params(rng, family, row, start, stop, p, out):
    """Draw the parameters of one column to out[start:stop]."""
    out[start:stop] = 0.0
    draw_params_of(rng, family, row, start, stop, p, out)


@by_family("draw_cell", unknown="math.nan")
def column_draw_cell(rng, family, params, start, stop, p):
    """Draw one cell given the column's parameters."""


@by_family("grained.add")
def add_grain(family, row, at, x, grain):
    """Bring the rounding of a cell, NaN or not, into the statistics of one column, after the cell."""


@by_family("grained.remove")
def remove_grained(family, row, at, x, grain):
    """Take a cell and its rounding out of the statistics of one column."""


@by_family("grained.log_predictive", unknown="math.nan")
def grained_log_predictive(family, row, start, x, p, grain):
    """Log density of an observed cell that is rounded."""


@kernel
def hyper_start(family):
    """Where the factors of each family present stand; one factor per family and learnable number."""
    present = np.zeros(N_HYPER.size, np.int64)
    for code in family:
        present[code] = 1
    start = np.zeros(N_HYPER.size, np.int64)
    for code in range(1, N_HYPER.size):
        start[code] = start[code - 1] + present[code - 1] * N_HYPER[code - 1]
    return start


@contract.n_stats.register(ColumnsPrior)
def n_stats(prior):
    """All columns' statistics side by side."""
    return prior.start[prior.start.size - 1]


@contract.add.register(ColumnsPrior)
def add(prior, row, x):
    """Each column's own update."""
    for j in range(x.size):
        column_add(prior.family[j], row, prior.start[j], x[j], prior.params[j, 0])
        if prior.grain.size > 0 and prior.grain[j] > 0.0:
            add_grain(prior.family[j], row, prior.start[j], x[j], prior.grain[j])


@contract.remove.register(ColumnsPrior)
def remove(prior, row, x):
    """Each column's own update backwards."""
    for j in range(x.size):
        if prior.grain.size > 0 and prior.grain[j] > 0.0:
            remove_grained(prior.family[j], row, prior.start[j], x[j], prior.grain[j])
        else:
            column_remove(prior.family[j], row, prior.start[j], x[j], prior.params[j, 0])


@contract.merge.register(ColumnsPrior)
def merge(prior, out, a, b):
    """Each column's own."""
    for j in range(prior.family.size):
        column_merge(prior.family[j], out, a, b, prior.start[j], prior.start[j + 1])


@contract.log_marginal.register(ColumnsPrior)
def log_marginal(prior, row):
    """Sum over columns."""
    total = 0.0
    for j in range(prior.family.size):
        total += column_log_marginal(prior.family[j], row, prior.start[j], prior.start[j + 1], prior.params[j])
    return total


@contract.log_predictive.register(ColumnsPrior)
def log_predictive(prior, row, x):
    """Sum over the observed columns."""
    total = 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            at, p = prior.start[j], prior.params[j]
            if prior.grain.size > 0 and prior.grain[j] > 0.0:
                total += grained_log_predictive(prior.family[j], row, at, x[j], p, prior.grain[j])
            else:
                total += column_log_predictive(prior.family[j], row, at, prior.start[j + 1], x[j], p)
    return total


@contract.log_gradient.register(ColumnsPrior)
def log_gradient(prior, row, out):
    """Summed over the columns of each family."""
    at = hyper_start(prior.family)
    for j in range(prior.family.size):
        family = prior.family[j]
        parts = column_log_gradient(family, row, prior.start[j], prior.start[j + 1], prior.params[j])
        for k in range(N_HYPER[family]):
            out[at[family] + k] += parts[k]


@contract.n_params.register(ColumnsPrior)
def n_params(prior):
    """As many places as statistics."""
    return prior.start[prior.start.size - 1]


@contract.draw_params.register(ColumnsPrior)
def draw_params(prior, rng, row, out):
    """Each column's own draw."""
    for j in range(prior.family.size):
        column_draw_params(rng, prior.family[j], row, prior.start[j], prior.start[j + 1], prior.params[j], out)


@contract.draw_data.register(ColumnsPrior)
def draw_data(prior, rng, params, out):
    """One cell per column."""
    for j in range(out.size):
        out[j] = column_draw_cell(rng, prior.family[j], params, prior.start[j], prior.start[j + 1], prior.params[j])


def present_families(prior: ColumnsPrior) -> list[int]:
    """Codes of the families that occur, in order."""
    return [int(code) for code in np.unique(prior.family)]


@contract.hyper.register(ColumnsPrior)
def hyper(prior):
    """One factor per family present and learnable number, named like "gaussian.rate"."""
    return tuple(
        (f"{FAMILIES[code].name}.{name}", smallest, largest)
        for code in present_families(prior)
        for name, smallest, largest in FAMILIES[code].hyper
    )


@contract.with_hyper.register(ColumnsPrior)
def with_hyper(prior, factors):
    """Scale each family's numbers in its columns."""
    params, at = prior.params.copy(), hyper_start(prior.family)
    for j in range(prior.family.size):
        family = prior.family[j]
        for k in range(N_HYPER[family]):
            params[j, HYPER_PLACES[family, k]] *= factors[at[family] + k]
    return ColumnsPrior(prior.family, params, prior.start, prior.grain)
