"""The families that columns may have, each with a code: the one list that kernels and engines read.

A family of the package has a line in the list below. Others register themselves: `CODE = register(FAMILY)` in the file
that defines them, imported before anything is fitted.
"""

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.additions import ADDITIONS
from bayesgrove.core.coded import coded
from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.likelihoods import (
    bernoulli,
    binomial,
    categorical,
    gaussian_diagonal,
    gaussian_known,
    log_gaussian,
    negative_binomial,
    ordinal,
    poisson,
    zero_inflated,
)
from bayesgrove.likelihoods.base import Likelihood
from bayesgrove.likelihoods.family import CODES, MOST_LEARNED, N_PARAMS, REAL, Family, completed
from bayesgrove.likelihoods.gaussian_full import GaussianFull
from bayesgrove.likelihoods.multinomial import Multinomial

MOST_FAMILIES = 32
FAMILIES: list[Family] = []
"""By code."""
NAMED: dict[str, type[Likelihood]] = {"gaussian-full": GaussianFull, "multinomial": Multinomial}
"""Likelihoods by name: those of whole rows, and those of the families."""
CODE_OF: dict[type[Likelihood], int] = {}
"""Codes by likelihood."""
N_HYPER, N_COORDINATES = np.zeros(MOST_FAMILIES, np.int64), np.zeros(MOST_FAMILIES, np.int64)
"""By code: how many numbers are learned by gradients, and how many coordinates CrossCat samples."""
HYPER_PLACES = np.zeros((MOST_FAMILIES, MOST_LEARNED), np.int64)
"""By code: where the learned numbers stand among those of a column's prior."""
FIRST_IS_LOGIT = np.zeros(MOST_FAMILIES, np.bool_)
IS_REAL, IS_STUDENT, IS_NOMINAL, IS_LISTED, ON_LOGS = (np.zeros(MOST_FAMILIES, np.bool_) for _ in range(5))
"""By code: real numbers; predictives that are Student's t or normal; categories; codes 0 .. K - 1; Gaussian logs."""


def register(family: Family) -> int:
    """Give a family its code.

    Parameters
    ----------
    family : Family
        Its name and its likelihood must be new.

    Returns
    -------
    int
        Codes count up in the order of registration: model files of families beside the package can be read where the
        same families were registered in the same order.
    """
    if family.name in NAMED or family.likelihood in CODE_OF:
        raise InvalidLikelihoodError(f"a family has a name of its own, {family.name!r} is taken.", family=family.name)
    if len(FAMILIES) == MOST_FAMILIES:
        raise InvalidLikelihoodError(f"there is room for {MOST_FAMILIES} families, got one more: {family.name!r}.")
    ready = completed(family)
    if not is_built_in(family):
        ADDITIONS.add(family.name, file_of(family))
    return keep(ready)


def is_built_in(family: Family) -> bool:
    """Whether a family stands in a file of the package, which the stamp of cached kernels knows already."""
    return family.likelihood.__module__.startswith(f"{__package__}.")


def file_of(family: Family) -> Path | None:
    """The file that defines a family, if there is one."""
    try:
        return Path(inspect.getfile(family.likelihood))
    except (TypeError, OSError):
        return None


def keep(family: Family) -> int:
    """Enter a family into the list and the arrays."""
    code = len(FAMILIES)
    FAMILIES.append(family)
    NAMED[family.name], CODE_OF[family.likelihood] = family.likelihood, code
    N_HYPER[code], N_COORDINATES[code] = len(family.hyper), len(family.coordinates.names)
    HYPER_PLACES[code, : len(family.hyper)] = [family.place(name) for name, _, _ in family.hyper]
    FIRST_IS_LOGIT[code] = family.coordinates.first_is_logit
    IS_REAL[code], IS_STUDENT[code] = family.support == REAL, family.student is not None
    IS_NOMINAL[code], IS_LISTED[code] = family.is_nominal, family.support == CODES
    ON_LOGS[code] = family.on_logs
    return code


GAUSSIAN_KNOWN, GAUSSIAN, BERNOULLI, BINOMIAL, CATEGORICAL, POISSON = (
    register(gaussian_known.FAMILY),
    register(gaussian_diagonal.FAMILY),
    register(bernoulli.FAMILY),
    register(binomial.FAMILY),
    register(categorical.FAMILY),
    register(poisson.FAMILY),
)
NEGATIVE_BINOMIAL, LOG_GAUSSIAN, ZERO_INFLATED, ORDINAL = (
    register(negative_binomial.FAMILY),
    register(log_gaussian.FAMILY),
    register(zero_inflated.FAMILY),
    register(ordinal.FAMILY),
)


def by_family(part: str, unknown: str = "None", but: tuple[int, ...] = ()) -> Callable[[Any], Any]:
    """Turn a documented, empty function into one that calls a part of a column's family; see `core.coded`.

    Parts allocate nothing (those that draw may), so that references to their arrays are not counted on the way: it
    would take a quarter of the time.

    Parameters
    ----------
    part : str
        Name of the part in `Family`, or "coordinates.value" and the like.
    unknown : str
        What kernels get for a code that is none.
    but : tuple of int
        Codes that are served elsewhere: kernels are not compiled for them.
    """

    def bodies() -> dict[int, Any]:
        found = {}
        for code, family in enumerate(FAMILIES):
            body: Any = family
            for name in part.split("."):
                body = getattr(body, name, None)
            if body is not None and code not in but:
                found[code] = body
        return found

    return coded(bodies, unknown) if part.startswith("draw") else coded(bodies, unknown, _nrt=False)


def log_interval_widths(likelihood: Likelihood, cells: Any, step: float) -> float:
    """What to add to the log marginal of cells to turn densities into probabilities of rounding intervals.

    Evidences of families with densities then compare with those of counts and codes.

    Parameters
    ----------
    likelihood : Likelihood
        Of one family.
    cells : array
        In the table's own units; NaN is a missing cell.
    step : float
        The step to which cells are rounded, the `grain` of the likelihood.

    Examples
    --------
    >>> from bayesgrove.likelihoods import GaussianDiagonal, Poisson
    >>> round(log_interval_widths(GaussianDiagonal(), [1.0, 1.5, 3.0], 0.5), 4)  # three times the logarithm of 0.5
    -2.0794
    >>> log_interval_widths(Poisson(), [1, 3], 1)
    0.0
    """
    family, values = FAMILIES[CODE_OF[type(likelihood)]], np.asarray(cells, float)
    has_density = ~np.isnan(values) & (family.support == REAL) & ~((values == 0.0) & family.has_zeros)
    return float(np.count_nonzero(has_density)) * math.log(step)


def check_codes(codes: np.ndarray) -> None:
    """Refuse codes of no family."""
    bad = codes[(codes < 0) | (codes >= len(FAMILIES))]
    if bad.size:
        raise InvalidLikelihoodError(
            f"families have codes 0 to {len(FAMILIES) - 1}, got {int(bad[0])}. Register the family in this process."
        )


__all__ = [
    "BERNOULLI",
    "BINOMIAL",
    "CATEGORICAL",
    "CODE_OF",
    "FAMILIES",
    "FIRST_IS_LOGIT",
    "GAUSSIAN",
    "GAUSSIAN_KNOWN",
    "HYPER_PLACES",
    "IS_LISTED",
    "IS_NOMINAL",
    "IS_REAL",
    "IS_STUDENT",
    "LOG_GAUSSIAN",
    "NAMED",
    "NEGATIVE_BINOMIAL",
    "N_COORDINATES",
    "N_HYPER",
    "N_PARAMS",
    "ON_LOGS",
    "ORDINAL",
    "POISSON",
    "ZERO_INFLATED",
    "by_family",
    "check_codes",
    "log_interval_widths",
    "register",
]
