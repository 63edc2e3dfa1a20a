"""The public side of a likelihood: numbers a user gives, bound to a table to become a prior.

A parameter is a number (kept as it is), an array with one number per column, None (a sensible number from the data,
then fixed) or "auto" (the same number as a start, then learned by the model).
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.table import Table

LEARN = "auto"
LOG_2 = float(np.log(2.0))


class Encoding(NamedTuple):
    """How raw columns become the numbers that kernels see: (x - shift) * 2**-exponent.

    Powers of two lose nothing, so data scaled by 1e-150 or 1e150 give the same partition; the change of measure
    is added back to every log density.
    """

    shift: np.ndarray
    exponent: np.ndarray

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Encoded copy of raw values (NaN stays NaN)."""
        return np.ldexp(values, -self.exponent) - np.ldexp(self.shift, -self.exponent)

    def undo(self, encoded: np.ndarray) -> np.ndarray:
        """Raw values of encoded ones."""
        return np.ldexp(encoded, self.exponent) + self.shift

    def log_measure(self, values: np.ndarray) -> np.ndarray:
        """What to add to a row's encoded log density to get the raw one: -exponent log 2 per observed cell."""
        return ~np.isnan(values) @ (-LOG_2 * self.exponent)


@dataclass(frozen=True)
class Likelihood:
    """Base of all public likelihoods: a frozen record of numbers."""

    per_column: ClassVar[bool] = True
    """Whether columns are independent given the cluster, so that it can stand in `Columns`."""

    def check(self, table: Table) -> None:
        """Refuse a table this likelihood cannot describe, naming row, column and value."""
        raise NotImplementedError

    def encoding(self, table: Table) -> Encoding:
        """Discrete families keep their codes and counts; continuous ones override this."""
        return Encoding(np.zeros(table.n_columns), np.zeros(table.n_columns, np.int64))

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> Any:
        """The NamedTuple kernels use, in encoded units, defaults filled in from the encoded values."""
        raise NotImplementedError

    def described_by(self, prior: Any, encoding: Encoding) -> "Likelihood":
        """This likelihood with all numbers of the prior, in the table's own units."""
        raise NotImplementedError

    def free(self) -> tuple[str, ...]:
        """Names of the parameters to be learned."""
        return tuple(f.name for f in fields(self) if isinstance(getattr(self, f.name), str) and getattr(self, f.name) == LEARN)

    def not_given(self) -> tuple[str, ...]:
        """Names of the parameters that are not numbers."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) is None) + self.free()


def per_column_numbers(name: str, given: Any, default: np.ndarray, *, positive: bool) -> np.ndarray:
    """A parameter as one float per column: the user's number, or the default where none was given."""
    if given is None or (isinstance(given, str) and given == LEARN):
        return np.asarray(default, float).copy()
    try:
        numbers = np.broadcast_to(np.asarray(given, float), default.shape).copy()
    except (TypeError, ValueError):
        raise InvalidLikelihoodError(
            f"{name} must be a number, one number per column ({default.size}), None or 'auto', got {given!r}."
        ) from None
    if not np.all(np.isfinite(numbers)) or (positive and not np.all(numbers > 0)):
        rule = "positive and finite" if positive else "finite"
        raise InvalidLikelihoodError(f"{name} must be {rule}, got {given!r}.", parameter=name)
    return numbers
