"""The public side of a likelihood: numbers a user gives, bound to a table to become a prior.

A parameter is a number (kept as it is), an array with one number per column, None (a sensible number from
the data, then fixed) or "auto" (the same number as a start, then learned by the model).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidTableError
from bayesgrove.core.table import Table

LARGEST_WHOLE = 2**53
"""Beyond it a float has no room for every whole number."""
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-100, 1e100
LEARN = "auto"
IN_USE, CONSTANT, EMPTY = 0, 1, 2
"""What an encoding says of a column."""
LOG_2 = float(np.log(2.0))
SUM_ROWS = 65_536
"""Rows of the blocks whose sums moments are made of."""
LARGEST_EXPONENT = 505
"""Columns spread over 2**-505 .. 2**505 (1e-152 .. 1e152): their variances are still numbers."""
LARGEST_FACTOR = 1022
"""2**-1022 .. 2**1022 are normal numbers: a product with one of them is rounded as `ldexp` rounds."""


def scaled(values: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """A new array of values times 2**exponent; the same bits as numpy's `ldexp`, which takes ten times as long."""
    if np.abs(exponent).max(initial=0) <= LARGEST_FACTOR:
        return values * np.ldexp(1.0, exponent)
    return np.ldexp(values, exponent)


class Encoding(NamedTuple):
    """How raw columns become the numbers that kernels see: (x - shift) * 2**-exponent.

    Powers of two lose nothing, so data scaled by 1e-150 or 1e150 give the same partition; the change of
    measure is added back to every log density.
    """

    shift: np.ndarray
    exponent: np.ndarray
    ignored: np.ndarray
    """0 for columns in use, CONSTANT or EMPTY for those that carry no information: kernels see no cell of them."""

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Encoded copy of raw values (NaN stays NaN, what is too far away becomes infinite)."""
        with np.errstate(all="ignore"):
            encoded = scaled(values, -self.exponent)
            encoded -= np.ldexp(self.shift, -self.exponent)
        if encoded.ndim == 2 and self.ignored.any():
            encoded[:, self.ignored != IN_USE] = np.nan
        return encoded

    def undo(self, encoded: np.ndarray) -> np.ndarray:
        """Raw values of encoded ones; a column that was left out as constant has its constant."""
        raw = scaled(encoded, self.exponent)
        raw += self.shift
        if raw.ndim == 2 and self.ignored.any():
            constant = self.ignored == CONSTANT
            raw[:, constant] = self.shift[constant]
        return raw

    def shrink(self, variances: np.ndarray) -> np.ndarray:
        """Raw variances in encoded units."""
        with np.errstate(all="ignore"):
            return np.ldexp(variances, -2 * self.exponent)

    def grow(self, variances: np.ndarray) -> np.ndarray:
        """Encoded variances in raw units."""
        with np.errstate(all="ignore"):
            return np.ldexp(variances, 2 * self.exponent)

    def log_measure(self, values: np.ndarray) -> np.ndarray:
        """What to add to a row's encoded log density: -exponent log 2 per observed cell in use."""
        return ~np.isnan(values) @ (-LOG_2 * self.exponent * (self.ignored == IN_USE))

    def total_log_measure(self, n_seen: np.ndarray) -> float:
        """What to add to the encoded log density of a table with so many observed cells in each column."""
        return float(n_seen @ (-LOG_2 * self.exponent * (self.ignored == IN_USE)))

    def column(self, j: int) -> "Encoding":
        """The encoding of column `j` alone."""
        return Encoding(self.shift[j : j + 1], self.exponent[j : j + 1], self.ignored[j : j + 1])

    def ignoring(self, ignored: np.ndarray, constant: np.ndarray) -> "Encoding":
        """The same without some columns; the constants of those left out as constant are kept as their shifts."""
        return self._replace(ignored=ignored, shift=np.where(ignored == CONSTANT, constant, self.shift))


@dataclass(frozen=True)
class Likelihood:
    """Base of all public likelihoods: a frozen record of numbers."""

    per_column: ClassVar[bool] = True
    """Whether columns are independent given the cluster, so that it can stand in `Columns`."""
    learnable: ClassVar[tuple[str, ...]] = ()
    """Parameters that a model can learn, named as in `contract.hyper`."""
    takes_categories: ClassVar[bool] = False
    """Whether the codes of a column of categories mean to it what they are; else they would be taken for numbers."""
    takes_sparse: ClassVar[bool] = False
    """Whether a cell of 0 is nothing counted or measured, so that rows may come as a sparse matrix."""
    of_all_columns: ClassVar[tuple[str, ...]] = ()
    """Parameters that are sequences by themselves, the same for all columns."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, frozen(getattr(self, field.name)))

    @classmethod
    def learned(cls) -> "Likelihood":
        """This family with all that can be learned marked "auto"."""
        return cls(**dict.fromkeys(cls.learnable, LEARN))

    def check(self, table: Table) -> None:
        """Refuse a table this likelihood cannot describe, naming row, column and value."""
        if table.n_columns == 0:
            raise InvalidTableError("a table needs at least one column, got none.")
        if table.categories and not self.takes_categories:
            raise self._category_error(table)
        refuse_infinite(table)
        self.check_cells(table)

    def _category_error(self, table: Table) -> InvalidTableError:
        j = min(table.categories)
        example = "".join(f" such as {label!r:.40}" for label in table.categories[j][:1])
        return InvalidTableError(
            f"{type(self).__name__} describes numbers; column {table.names[j]!r} holds categories{example}. Take "
            'likelihood="auto", or Columns({...}) with the columns that are to be otherwise; convert it if numbers are '
            "meant; leave it out, or make it the index if it names the rows.",
            column=j,
        )

    def check_cells(self, table: Table) -> None:
        """Refuse cells this family cannot describe; any finite number will do unless overridden."""

    def resolved(self, table: Table) -> "Likelihood":
        """With what must be known of a table before its cells can be read; most families need nothing."""
        return self

    def cells(self, table: Table) -> np.ndarray:
        """The table's values as this family counts them."""
        return table.values

    def values_of(self, cells: np.ndarray) -> np.ndarray:
        """The table's values behind such cells; the inverse of `cells`."""
        return cells

    def encoding(self, table: Table) -> Encoding:
        """Discrete families keep their codes and counts; continuous ones override this."""
        return plain_encoding(np.zeros(table.n_columns), np.zeros(table.n_columns, np.int64))

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> Any:
        """The NamedTuple kernels use, in encoded units, defaults filled in from the encoded values."""
        raise NotImplementedError

    def described_by(self, prior: Any, encoding: Encoding) -> "Likelihood":
        """This likelihood with all hyperparameters, in the table's own units."""
        raise NotImplementedError

    def learned_columns(self, n_columns: int, free: tuple[str, ...]) -> list[bool]:
        """For each column, whether one of the names in `free` is about it alone."""
        return [bool(free) and self.per_column] * n_columns

    def unknown_grain(self, n_columns: int) -> list[bool]:
        """For each column, whether its grain is left to the data; only Gaussian columns have one."""
        return [False] * n_columns

    def free(self) -> tuple[str, ...]:
        """Names of the parameters marked "auto" that can be learned."""
        return tuple(name for name in self.learnable if getattr(self, name) == LEARN)

    def not_given(self) -> tuple[str, ...]:
        """Names of the parameters that can be learned and are not numbers."""
        return tuple(name for name in self.learnable if not is_given(getattr(self, name)))


@dataclass(frozen=True)
class ContinuousLikelihood(Likelihood):
    """Base of the Gaussian families: columns are centred and scaled before any kernel sees them."""

    def encoding(self, table: Table) -> Encoding:
        """The lower median becomes 0 and the farthest cell lands in [0.5, 1) from it."""
        shift = np.zeros(table.n_columns)
        exponent = np.zeros(table.n_columns, np.int64)
        for j in range(table.n_columns):
            cells = table.values[~np.isnan(table.values[:, j]), j]
            if cells.size:
                middle = (cells.size - 1) // 2
                shift[j] = np.partition(cells, middle)[middle]
                exponent[j] = spread_exponent(cells, shift[j])
            if abs(exponent[j]) > LARGEST_EXPONENT:
                raise InvalidTableError(
                    f"columns must spread over 1e-152 to 1e152, column {table.names[j]!r} spreads over "
                    f"2**{exponent[j]}. Change its unit.",
                    column=j,
                )
        return plain_encoding(shift, exponent)


def plain_encoding(shift: np.ndarray, exponent: np.ndarray) -> Encoding:
    """An encoding that uses all columns."""
    return Encoding(shift, exponent, np.zeros(shift.size, np.int64))


def spread_exponent(cells: np.ndarray, centre: float) -> int:
    """The e with max |cells - centre| * 2**-e in [0.5, 1); of a constant column, that of its size."""
    with np.errstate(all="ignore"):
        size = int(np.frexp(np.max(np.abs(cells)))[1])
        gap = np.max(np.abs(np.ldexp(cells, -size) - np.ldexp(centre, -size)))
    if gap == 0.0:
        return int(np.clip(size, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return size + int(np.frexp(gap)[1])


class RowsInBrief(np.ndarray):
    """A few encoded rows that stand for many: the least, middle and largest cells of columns whose moments are known.

    `moments` are the mean and variance of each column as `column_moments` would give them of all rows.
    """

    moments: tuple[np.ndarray, np.ndarray]

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        if isinstance(index, tuple) and isinstance(part, RowsInBrief):
            mean, variance = self.moments
            part.moments = (mean[index[1]], variance[index[1]])
        return part


def column_moments(encoded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column's observed cells.

    A column without cells has mean 0; one without spread has variance 1, the encoded unit.
    """
    if isinstance(encoded, RowsInBrief):
        return encoded.moments[0].copy(), encoded.moments[1].copy()
    n_seen = np.count_nonzero(~np.isnan(encoded), axis=0)
    mean = mean_of(block_sums(encoded), n_seen)
    return mean, variance_of(block_sums(encoded, mean), n_seen)


def block_sums(encoded: np.ndarray, centre: np.ndarray | None = None) -> np.ndarray:
    """Sums of the columns' observed cells, or of their squared distances from a centre, a row per block of rows.

    Blocks have the same bounds wherever rows stand, so that rows in parts that end at them give the same sums.
    """
    starts = range(0, max(1, encoded.shape[0]), SUM_ROWS)
    sums = np.zeros((len(starts), encoded.shape[1]))
    for number, start in enumerate(starts):
        block = encoded[start : start + SUM_ROWS]
        cells = block if centre is None else (block - centre) ** 2
        np.sum(cells, axis=0, where=~np.isnan(block), out=sums[number])
    return sums


def mean_of(sums: np.ndarray, n_seen: np.ndarray) -> np.ndarray:
    """Means of columns from the sums of blocks."""
    return np.add.accumulate(sums, axis=0)[-1] / np.maximum(n_seen, 1)


def variance_of(sums: np.ndarray, n_seen: np.ndarray) -> np.ndarray:
    """Variances of columns from the sums of blocks, 1 where there is no spread."""
    variance = mean_of(sums, n_seen)
    return np.where(variance > 0, variance, 1.0)


def is_given(value: Any) -> bool:
    """Whether a parameter is a number or an array of them."""
    return value is not None and not (isinstance(value, str) and value == LEARN)


def frozen(value: Any) -> Any:
    """Arrays and lists as tuples, so that likelihoods compare and print like the numbers they hold."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    return value


def plain(numbers: np.ndarray) -> Any:
    """One number where all columns agree, else a tuple with one per column."""
    listed = numbers.tolist()
    return listed[0] if len(set(listed)) == 1 else tuple(listed)


def per_column_numbers(
    name: str,
    given: Any,
    default: np.ndarray,
    *,
    positive: bool = True,
    encode: Callable[[np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """A parameter as one float per column in encoded units: the user's number, or the default."""
    if not is_given(given):
        return np.asarray(default, float).copy()
    try:
        numbers = np.broadcast_to(np.asarray(given, float), default.shape).copy()
    except (TypeError, ValueError):
        raise InvalidLikelihoodError(
            f"{name} must be a number, one per column ({default.size}), None or 'auto', got {given!r}.",
            parameter=name,
        ) from None
    check_numbers(name, numbers, given, positive=positive)
    if encode is None:
        refuse_extremes(name, numbers, given)
        return numbers
    encoded = encode(numbers)
    if not np.all(np.isfinite(encoded)) or (positive and not np.all(encoded > 0)):
        raise InvalidLikelihoodError(
            f"{name} is too far from the scale of the data, got {given!r}. Give it in the data's unit.",
            parameter=name,
        )
    return encoded


def check_numbers(name: str, numbers: np.ndarray, given: Any, *, positive: bool) -> None:
    """Refuse infinite numbers and, where it matters, zero and negative ones."""
    if not np.isfinite(numbers).all() or (positive and not (numbers > 0).all()):
        rule = "positive and finite" if positive else "finite"
        raise InvalidLikelihoodError(f"{name} must be {rule}, got {given!r}.", parameter=name)


def refuse_extremes(name: str, numbers: np.ndarray, given: Any) -> None:
    """Refuse numbers without a unit that are so large or small that Gamma functions of them are infinite."""
    if not ((numbers >= SMALLEST_NUMBER) & (numbers <= LARGEST_NUMBER)).all():
        raise InvalidLikelihoodError(
            f"{name} must be between {SMALLEST_NUMBER:g} and {LARGEST_NUMBER:g}, got {given!r}.", parameter=name
        )


def per_column_integers(name: str, given: Any, default: np.ndarray) -> np.ndarray:
    """A parameter that must be a whole number of at least 1 in each column."""
    numbers = per_column_numbers(name, given, default)
    if np.any(numbers != np.floor(numbers)):
        raise InvalidLikelihoodError(f"{name} must be a whole number, got {given!r}.", parameter=name)
    if np.any(numbers > LARGEST_WHOLE):
        raise InvalidLikelihoodError(f"{name} must be at most 2**53, got {given!r}.", parameter=name)
    return numbers


def refuse_infinite(table: Table) -> None:
    """Refuse infinite cells, naming the first."""
    refuse_cells(table, np.isinf(table.values), "cells must be finite", "Use NaN for a missing cell.")


def refuse_cells(table: Table, bad: np.ndarray, rule: str, remedy: str) -> None:
    """Raise for the first bad cell, naming its row, column and value."""
    if not bad.any():
        return
    row, column = (int(place) for place in np.argwhere(bad)[0])
    value = label_of(table, column, table.values[row, column])
    raise InvalidTableError(
        f"{rule}; row {row}, column {table.names[column]!r} holds {value!r}. {remedy}",
        row=row,
        column=column,
        value=value,
    )


def label_of(table: Table, column: int, value: float) -> Any:
    """The label behind a category's code, where there is one; else the number itself."""
    labels = table.categories.get(column, ())
    if value == np.floor(value) and 0 <= value < len(labels):
        return labels[int(value)]
    return float(value)


def refuse_uncountable(table: Table, what: str) -> None:
    """Refuse cells that are not whole numbers of at least 0."""
    bad = (table.values < 0) | (table.values != np.floor(table.values)) & ~np.isnan(table.values)
    refuse_cells(table, bad, f"{what} must be whole numbers of at least 0", "Use a Gaussian likelihood.")
    rule = f"{what} must be at most 2**53, beyond which neighbours are not told apart"
    refuse_cells(table, table.values > 2.0**53, rule, "Use a Gaussian likelihood.")


def rounding_variance(grain: Any, encoding: Encoding) -> np.ndarray:
    """step^2 / 12 in encoded units of each column."""
    none = np.zeros(encoding.shift.size)
    if grain is None:
        return none
    try:
        step = np.broadcast_to(np.asarray(grain, float), none.shape)
    except (TypeError, ValueError):
        step = np.full(none.size, np.nan)
    if not ((step >= 0.0) & (step < np.inf)).all():
        raise InvalidLikelihoodError(
            f"grain must be a step of at least 0, one per column ({none.size}) or None, got {grain!r}.",
            parameter="grain",
        )
    return encoding.shrink(step**2 / 12.0)
