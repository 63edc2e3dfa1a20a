"""`Family`: all that the package asks about a family of columns, in one record.

A family stands in one file: its prior, its kernels on one column, its public likelihood and, at the end, its record,
which `families.register` gives a code. Kernels of a column see its statistics at row[start:stop] and the numbers of its
prior in `p`, in the order of the prior's fields:

    add(row, at, x, fixed), remove(row, at, x, fixed)   a cell, NaN or not; `fixed` is p[0]
    merge(out, a, b, start, stop)                       `out` may be `a` or `b`
    log_marginal(row, start, stop, p)                   0 for no cells
    log_predictive(row, start, stop, x, p)              of an observed cell
    log_gradient(row, start, stop, p)                   three derivatives by logs of what is learned, or 0
    draw_params(rng, row, start, stop, p, out)          to out[start:stop], which are zeros
    draw_cell(rng, params, start, stop, p)              from parameters at the same places
    moments(row, width, p)                              mean and variance of the predictive, whose row starts at 0
    n_values(log_weight, row, width, p)                 values 0, 1, ... that hold the mass of a predictive
    student(row, p)                                     mean, squared scale, degrees of freedom of a predictive
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numba
import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.jit import HOUSE_OPTIONS, borrower
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import Likelihood, plain_encoding

REAL, COUNTS, CODES = "real", "counts", "codes"
"""Supports: real numbers; whole numbers from 0 on; codes 0 .. K - 1."""
N_PARAMS = 4
"""Most numbers of a column's prior."""
MOST_LEARNED = 3
"""Most of them that can be learned by gradients."""
SPREAD = 1.5
"""Of the normal hyperprior of a log hyperparameter."""
NOT_NUMBERS = ("start", "grain")
"""Fields of a prior that stand elsewhere in a mixed table: where statistics start, and the variance of rounding."""
TAIL = 1e-10
"""Mass of a predictive that is left out where its values are listed until their mass is reached."""
MOST_LISTED = 100_000
"""Values that are listed at most."""


class Coordinates(NamedTuple):
    """Coordinates in which CrossCat samples the numbers of a column's prior, and their hyperpriors.

    Attributes
    ----------
    names : tuple of str
        The hyperparameters behind the coordinates, as many.
    value : kernel (p, which)
        A coordinate of a column with the numbers `p`.
    assign : kernel (p, which, value)
        Gives a coordinate a value, the others kept, in place.
    normals : callable (cells, mean, variance)
        Mean and standard deviation of each coordinate's normal hyperprior, from the column's encoded cells and their
        moments.
    one_by_one : bool
        Whether each number can be learned without the others.
    first_is_logit : bool
        Whether the first coordinate is the logit of a mean, whose hyperprior is uniform.
    """

    names: tuple[str, ...]
    value: Any
    assign: Any
    normals: Callable[[np.ndarray, float, float], list[tuple[float, float]]]
    one_by_one: bool = False
    first_is_logit: bool = False


class Grained(NamedTuple):
    """Kernels for cells that are known up to rounding, whose variance is `grain`."""

    add: Any
    """(row, at, x, grain), after `Family.add`."""
    remove: Any
    """(row, at, x, grain), instead of `Family.remove`."""
    log_predictive: Any
    """(row, start, x, p, grain)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """A family of columns; what is None is filled in by `completed`.

    Parameters
    ----------
    name : str
        As in likelihood="name".
    prior : type
        NamedTuple of arrays with one number per column, at most four of them.
    likelihood : type
        The public face.
    width : int
        Statistics of a column; 0 for one per category.
    support : {"real", "counts", "codes"}
        What cells are.
    hyper : tuple of (name, smallest, largest)
        What can be learned, with the limits of a factor on it.
    limits : mapping, optional
        Least and largest values while a tree learns, of hyperparameters without a unit.
    factors : mapping, optional
        Limits of factors while a tree learns, where they are narrower than those of `hyper`.
    signed : tuple of str
        Hyperparameters that need not be positive.
    is_nominal : bool
        Whether cells are categories without an order.
    has_zeros : bool
        Whether a zero of a family of real numbers has a probability instead of a density.
    on_logs : bool
        Whether the logs of cells are Gaussian.
    grained : Grained, optional
        What rounded cells need, where the prior has a field `grain`.
    coordinates : Coordinates, optional
        Of CrossCat; by default the log of each hyperparameter that can be learned.
    """

    name: str
    prior: Any
    likelihood: type[Likelihood]
    width: int
    support: str
    hyper: tuple[tuple[str, float, float], ...]
    add: Any
    remove: Any
    merge: Any
    log_marginal: Any
    log_predictive: Any
    log_gradient: Any
    draw_params: Any
    draw_cell: Any
    moments: Any = None
    n_values: Any = None
    student: Any = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    factors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    signed: tuple[str, ...] = ()
    is_nominal: bool = False
    has_zeros: bool = False
    on_logs: bool = False
    grained: Any = None
    coordinates: Any = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numbers of a column's prior, in their order."""
        return tuple(name for name in self.prior._fields if name not in NOT_NUMBERS)

    def place(self, name: str) -> int:
        """Place of a number among them."""
        return self.numbers.index(name)

    def pack(self, prior: Any) -> tuple[list[float], int, float]:
        """Hyperparameters of one column, how many statistics it has, and its grain."""
        size = int(prior.start[-1]) if "start" in prior._fields else self.width
        grain = float(prior.grain[0]) if "grain" in prior._fields else 0.0
        return [float(getattr(prior, name)[0]) for name in self.numbers], size, grain

    def unpack(self, numbers: np.ndarray, size: int, grain: float) -> Any:
        """The prior of one column."""
        others = {"start": np.array([0, size]), "grain": np.array([grain])}
        fields = {name: numbers[k : k + 1] for k, name in enumerate(self.numbers)}
        return self.prior(**fields, **{name: others[name] for name in NOT_NUMBERS if name in self.prior._fields})


def check_family(family: Family) -> None:
    """Refuse a record that kernels have no room for."""
    n_numbers, n_learned = len(family.numbers), len(family.hyper)
    rules = (
        (n_numbers <= N_PARAMS, f"a prior has at most {N_PARAMS} numbers per column, got {n_numbers}"),
        (n_learned <= MOST_LEARNED, f"at most {MOST_LEARNED} hyperparameters are learned, got {n_learned}"),
        (family.support in (REAL, COUNTS, CODES), f"support is {REAL!r}, {COUNTS!r} or {CODES!r}"),
        (family.support != REAL or family.moments is not None, "a family of real numbers needs `moments`"),
        ({name for name, _, _ in family.hyper} <= set(family.numbers), "`hyper` names fields of the prior"),
    )
    for holds, rule in rules:
        if not holds:
            raise InvalidLikelihoodError(f"{rule}; family {family.name!r}.", family=family.name)


def completed(family: Family) -> Family:
    """The family with what its record leaves open."""
    check_family(family)
    if family.support == COUNTS:
        n_values = family.n_values or values_by_mass(family.log_predictive)
    else:
        n_values = family.n_values or (all_codes if family.support == CODES else no_values)
    moments = family.moments or (no_moments if family.is_nominal else moments_by_sum(family.log_predictive, n_values))
    coordinates = log_coordinates(family) if family.coordinates is None else family.coordinates
    return replace(family, n_values=n_values, moments=moments, coordinates=coordinates)


@borrower
def all_codes(log_weight, row, width, p):
    """One value per category."""
    return width


@borrower
def no_values(log_weight, row, width, p):
    """Real numbers are not listed."""
    return 0


@borrower
def no_moments(row, width, p):
    """Categories have none."""
    return math.nan, math.nan


# Kernels made of a family's own ones: closures, which no disk cache keeps but which are part of the cached callers.


def values_by_mass(log_predictive: Any) -> Any:
    """A kernel that counts the values 0, 1, ... of a term until all but a negligible part of its mass is there."""

    @numba.njit(**HOUSE_OPTIONS)
    def n_values(log_weight, row, width, p):
        left, n, weight = 1.0, 0, math.exp(log_weight)
        while n < MOST_LISTED and (n == 0 or weight * left > TAIL):
            left -= math.exp(log_predictive(row, 0, width, float(n), p))
            n += 1
        return n

    return n_values


def moments_by_sum(log_predictive: Any, n_values: Any) -> Any:
    """A kernel that sums mean and variance over those values."""

    @numba.njit(**HOUSE_OPTIONS)
    def moments(row, width, p):
        mass, first, second = 0.0, 0.0, 0.0
        for x in range(n_values(0.0, row, width, p)):
            chance = math.exp(log_predictive(row, 0, width, float(x), p))
            mass += chance
            first += chance * x
            second += chance * x * x
        mean = first / mass
        return mean, max(0.0, second / mass - mean * mean)

    return moments


def log_coordinates(family: Family) -> Coordinates:
    """The log of each hyperparameter that can be learned; normal about the log of its default for the column."""
    names = tuple(name for name, _, _ in family.hyper)
    places = tuple(family.place(name) for name in names) or (0,)

    @numba.njit(**HOUSE_OPTIONS)
    def value(p, which):
        return math.log(p[places[which]])

    @numba.njit(**HOUSE_OPTIONS)
    def assign(p, which, value):
        p[places[which]] = math.exp(value)

    def normals(cells: np.ndarray, mean: float, variance: float) -> list[tuple[float, float]]:
        table = Table(cells.reshape(-1, 1), ("",), ("float",))
        prior = family.likelihood().prior(table.values, plain_encoding(np.zeros(1), np.zeros(1, np.int64)), table)
        return [(math.log(float(getattr(prior, name)[0])), SPREAD) for name in names]

    return Coordinates(names, value, assign, normals, one_by_one=True)


def no_coordinates() -> Coordinates:
    """Of a family whose numbers CrossCat does not learn."""
    return Coordinates((), all_zero, assign_nothing, lambda cells, mean, variance: [])


@borrower
def all_zero(p, which):
    """There is no coordinate."""
    return 0.0


@borrower
def assign_nothing(p, which, value):
    """There is no coordinate."""
