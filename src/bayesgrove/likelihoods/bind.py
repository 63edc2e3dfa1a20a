"""Bind a likelihood to a table: all numbers resolved, cells checked and encoded, ready for kernels."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.core.jit import kernel
from bayesgrove.core.table import Table, table_from_array
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import Encoding, Likelihood, refuse_cells
from bayesgrove.likelihoods.choice import Choice
from bayesgrove.likelihoods.understanding import Understood, left_out, understand
from bayesgrove.likelihoods.uninformative import leave_out

FARTHEST = 1e150
"""Encoded cells beyond this would overflow when squared."""


class Bound(NamedTuple):
    """A likelihood with all its numbers, and the table it was bound to as kernels see it.

    Attributes
    ----------
    likelihood : Likelihood
        All parameters as numbers, in the table's own units.
    prior : NamedTuple
        The same in encoded units, for the functions of `contract`.
    encoding : Encoding
        From the table's units to the encoded ones.
    values : ndarray of shape (n_rows, n_columns)
        Encoded cells, C-contiguous.
    log_measure : float
        What to add to the encoded log density of the whole table to get the raw one.
    free : tuple of str
        Names (as in `contract.hyper`) of what the model should learn.
    open_grain : tuple of bool
        Columns whose grain is left to the data.
    choices : tuple of Choice
        How each column is understood; empty in files of older versions.
    """

    likelihood: Likelihood
    prior: Any
    encoding: Encoding
    values: np.ndarray
    log_measure: float
    free: tuple[str, ...]
    open_grain: tuple[bool, ...] = ()
    """For each column, whether a model that learns hyperparameters should look for its grain."""
    choices: tuple[Choice, ...] = ()
    """How each column is understood."""


def as_table(data: Any) -> Table:
    """A table from a table or anything like a 2-d array."""
    return data if isinstance(data, Table) else table_from_array(data)


def resolve(likelihood: Any, table: Table) -> Likelihood:
    """A likelihood from a likelihood or its name; "auto" chooses by the columns and learns."""
    return understand(likelihood, table).likelihood


def to_learn(likelihood: Likelihood, hyper: str) -> tuple[str, ...]:
    """Names of the parameters the model should learn."""
    if hyper == "auto":
        return likelihood.free()
    if hyper == "optimize":
        return likelihood.not_given()
    if hyper == "fixed":
        return ()
    raise InvalidSettingError(f"hyper must be 'auto', 'optimize' or 'fixed', got {hyper!r}.", hyper=hyper)


def bind(likelihood: Any, table: Any, hyper: str = "auto", *, with_repeats: bool = False) -> Bound:
    """Fit a likelihood's open numbers to a table, and encode the table.

    Parameters
    ----------
    likelihood : Likelihood, str or mapping
        Or the name of one: "auto", "gaussian", "bernoulli", ...; or a mapping from some of the columns to them.
    table : Table or array of shape (n_rows, n_columns)
        NaN is a missing cell.
    hyper : {"auto", "optimize", "fixed"}
        What a model should learn: what is marked "auto", all that is not given as a number, or nothing.
    with_repeats : bool
        Whether "auto" keeps columns that repeat others.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Poisson
    >>> bound = bind(Poisson(shape=2), [[1], [3]], hyper="optimize")
    >>> bound.likelihood, bound.free
    (Poisson(shape=2.0, rate=0.5), ('rate',))
    """
    table = as_table(table)
    refuse_empty(table)
    return bind_understood(understand(likelihood, table, with_repeats=with_repeats), table, hyper)


def refuse_empty(table: Table) -> None:
    """Refuse a table without rows or columns."""
    if table.n_rows == 0 or table.n_columns == 0:
        raise InvalidTableError(
            f"a table needs at least one row and one column, got {table.n_rows} x {table.n_columns}."
        )


def bind_understood(understood: Understood, table: Table, hyper: str = "auto") -> Bound:
    """`bind` where each column has its likelihood already."""
    likelihood, table = understood.likelihood, table.without(understood.left_out)
    free = to_learn(likelihood, hyper)
    likelihood.check(table)
    cells = likelihood.cells(table)
    encoding = leave_out(likelihood.encoding(table), table, likelihood, free, understood.left_out)
    values = np.ascontiguousarray(encoding.apply(cells))
    prior = likelihood.prior(values, encoding, table)
    log_measure = encoding.total_log_measure(np.count_nonzero(~np.isnan(cells), axis=0))
    described = likelihood.described_by(prior, encoding)
    is_open = open_grain(likelihood, free, table.n_columns)
    return Bound(described, prior, encoding, values, log_measure, free, is_open, understood.choices)


def open_grain(likelihood: Likelihood, free: tuple[str, ...], n_columns: int) -> tuple[bool, ...]:
    """Columns of unknown grain of which something is learned."""
    learned = likelihood.learned_columns(n_columns, free)
    return tuple(a and b for a, b in zip(learned, likelihood.unknown_grain(n_columns), strict=True))


def encode(bound: Bound, table: Any) -> tuple[np.ndarray, np.ndarray]:
    """New rows as kernels see them, and what to add to each row's encoded log density.

    Parameters
    ----------
    bound : Bound
        Of `bind`.
    table : Table or array of shape (n_rows, n_columns)
        With the columns of training; NaN is a missing cell.

    Examples
    --------
    >>> from bayesgrove.likelihoods import GaussianDiagonal
    >>> bound = bind(GaussianDiagonal(), [[0.0], [2.0], [4.0]])
    >>> values, log_measure = encode(bound, [[2.0], [6.0]])  # by steps of 4 from the mean
    >>> values.tolist(), log_measure.round(3).tolist()  # minus the logarithm of 4
    ([[0.0], [1.0]], [-1.386, -1.386])
    """
    table = as_table(table)
    n_columns = bound.encoding.shift.size
    if table.n_columns != n_columns:
        raise InvalidTableError(f"new rows must have {n_columns} columns as in training, got {table.n_columns}.")
    table = table.without(left_out(bound.choices))
    bound.likelihood.check(table)
    cells = bound.likelihood.cells(table)
    values = np.ascontiguousarray(bound.encoding.apply(cells))
    rule = "a cell must lie within 1e150 times the training data's spread"
    refuse_cells(table, np.abs(values) > FARTHEST, rule, "Check its unit.")
    return values, bound.encoding.log_measure(cells)


def decode(bound: Bound, encoded: np.ndarray) -> np.ndarray:
    """Rows as kernels see them in the table's own units (categories as codes)."""
    return bound.likelihood.values_of(bound.encoding.undo(encoded))


def decode_cells(bound: Bound, encoded: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Cells of some columns of a `Columns` likelihood in the table's own units; the last axis tells their columns."""
    raw = np.ldexp(encoded, bound.encoding.exponent[columns]) + bound.encoding.shift[columns]
    for j in np.unique(columns).tolist():
        here = columns == j
        raw[..., here] = bound.likelihood.likelihoods[j].values_of(raw[..., here])  # type: ignore[attr-defined]
    return raw


def relearned(bound: Bound, prior: Any) -> Bound:
    """The same with a prior that was learned.

    Parameters
    ----------
    bound : Bound
        Of `bind`.
    prior : NamedTuple of arrays
        Of the type of `bound.prior`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove.likelihoods import Poisson
    >>> bound = bind(Poisson(shape=2, rate=1), [[1], [3]])
    >>> relearned(bound, bound.prior._replace(rate=np.array([0.5]))).likelihood
    Poisson(shape=2.0, rate=0.5)
    """
    return bound._replace(prior=prior, likelihood=bound.likelihood.described_by(prior, bound.encoding))


@kernel
def cluster_log_marginal(prior, values):
    """Log marginal of all rows as one cluster."""
    row = np.zeros(contract.n_stats(prior))
    for i in range(values.shape[0]):
        contract.add(prior, row, values[i])
    return contract.log_marginal(prior, row)


def log_marginal(likelihood: Any, X: Any) -> float:
    """Log marginal likelihood of all rows of X as one cluster, parameters integrated out.

    Parameters
    ----------
    likelihood : Likelihood or str
        Numbers it leaves open are taken from X.
    X : Table or array of shape (n_rows, n_columns)
        NaN is a missing cell.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Bernoulli
    >>> round(log_marginal(Bernoulli(a=1, b=1), [[1], [1]]), 6)  # the logarithm of 1/3
    -1.098612
    """
    bound = bind(likelihood, X, hyper="fixed")
    return float(cluster_log_marginal(bound.prior, bound.values)) + bound.log_measure
