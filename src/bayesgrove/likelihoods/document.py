"""Bound likelihoods as plain JSON types and back, without the data; every bit of every number survives."""

import math
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.likelihoods.base import Encoding, Likelihood
from bayesgrove.likelihoods.bind import Bound
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import CODE_OF, FAMILIES, N_PARAMS, NAMED, check_codes
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior, full_prior
from bayesgrove.likelihoods.mixed import Columns
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.likelihoods.understanding import choices_from_json, choices_to_json

NUMBERS = {"float64": np.float64, "int64": np.int64}
ANY_SIGN = (
    "log_determinant",
    "shift",
    "exponent",
    "start",
    "family",
    "params",
    "mean",
    "prior_mean",
    "scale",
    "n_trials",
    "grain",
    "ignored",
    "columns",
)


def likelihoods_by_name() -> dict[str, Any]:
    """Public likelihoods by the names of their classes."""
    return {kind.__name__: kind for kind in (*NAMED.values(), Columns)}


def records_by_name() -> dict[str, Any]:
    """What makes encodings and priors, by the names of their classes."""
    kinds = (Encoding, ColumnsPrior, MultinomialPrior, *(family.prior for family in FAMILIES))
    return {**{kind.__name__: kind for kind in kinds}, GaussianFullPrior.__name__: restored_full_prior}


def restored_full_prior(log_determinant: float | None = None, **fields: Any) -> GaussianFullPrior:
    """A prior of full covariances with the determinant it was used with; files of earlier versions have none."""
    prior = full_prior(**fields)
    if log_determinant is None:
        return prior
    if not math.isclose(log_determinant, prior.log_determinant, rel_tol=1e-9, abs_tol=1e-6):
        raise ValueError("log_determinant is not that of the scale")
    return prior._replace(log_determinant=log_determinant)


def to_document(bound: Bound) -> dict[str, Any]:
    """All of a bound likelihood but the data, in JSON's types (Python writes floats so that bits survive).

    Parameters
    ----------
    bound : Bound
        Of `bind`.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Poisson, bind
    >>> to_document(bind(Poisson(shape=2, rate=1), [[1], [3]]))["likelihood"]
    {'class': 'Poisson', 'fields': {'shape': 2.0, 'rate': 1.0}}
    """
    return {
        "likelihood": likelihood_to_json(bound.likelihood),
        "prior": record_to_json(bound.prior),
        "encoding": record_to_json(bound.encoding),
        "log_measure": bound.log_measure,
        "free": list(bound.free),
        "columns": choices_to_json(bound.choices),
    }


def from_document(document: dict[str, Any]) -> Bound:
    """The bound likelihood of `to_document`, with a table of no rows.

    Parameters
    ----------
    document : dict
        Of `to_document`; anything else is refused.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Poisson, bind
    >>> bound = from_document(to_document(bind(Poisson(shape=2, rate=1), [[1], [3]])))
    >>> bound.likelihood, bound.values.shape
    (Poisson(shape=2.0, rate=1.0), (0, 1))
    """
    try:
        encoding = record_from_json(document["encoding"])
        bound = Bound(
            likelihood=likelihood_from_json(document["likelihood"]),
            prior=record_from_json(document["prior"]),
            encoding=encoding,
            values=np.zeros((0, encoding.shift.size)),
            log_measure=float(document["log_measure"]),
            free=tuple(document["free"]),
            choices=choices_from_json(document.get("columns", ()), encoding.shift.size),
        )
        check_bound(bound)
        return bound
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InvalidFileError(
            f"this is no description of a likelihood: {type(error).__name__}: {str(error).rstrip('.')}. "
            "Save the model again."
        ) from error


def check_bound(bound: Bound) -> None:
    """Refuse shapes that would make a kernel read beyond its arrays, and numbers that disagree."""
    n_columns = bound.encoding.shift.size
    columns = getattr(bound.prior, "columns", np.zeros(0, np.int64))
    if np.any(np.diff(columns) < 1) or np.any((columns < 0) | (columns >= n_columns)):
        raise ValueError("columns in use are out of range")
    for record, n_own in ((bound.encoding, n_columns), (bound.prior, columns.size or n_columns)):
        for name, value in record._asdict().items():
            check_field(name, value, n_own)
    start = getattr(bound.prior, "start", np.arange(n_columns + 1))
    if start[0] != 0 or np.any(np.diff(start) < 1):
        raise ValueError("start does not rise from 0")
    if isinstance(bound.prior, ColumnsPrior):
        check_columns(bound.prior, bound.likelihood)
    if bound.likelihood.described_by(bound.prior, bound.encoding) != bound.likelihood:
        raise ValueError("likelihood and prior disagree")


def check_columns(prior: ColumnsPrior, likelihood: Likelihood) -> None:
    """Refuse codes, widths and numbers that are not those of the columns' families."""
    check_codes(prior.family)
    widths = np.array([family.width for family in FAMILIES])[prior.family]
    if np.any((widths > 0) & (widths != np.diff(prior.start))):
        raise ValueError("start does not fit the families")
    if [CODE_OF.get(type(one)) for one in getattr(likelihood, "likelihoods", ())] != prior.family.tolist():
        raise ValueError("families have other codes here: they were registered in another order")
    for code, numbers in zip(prior.family, prior.params, strict=True):
        for name, number in zip(FAMILIES[code].numbers, numbers, strict=False):
            if not np.isfinite(number) or not (number > 0.0 or name in FAMILIES[code].signed):
                raise ValueError(f"{name} cannot be {number}")


def check_field(name: str, value: Any, n_columns: int) -> None:
    """Refuse an array of another type or shape than kernels expect under this name."""
    check_numbers(name, value)
    if isinstance(value, float):
        return
    shapes = {"start": (n_columns + 1,), "params": (n_columns, N_PARAMS), "scale": (n_columns, n_columns)}
    kind = np.int64 if name in ("start", "family", "exponent", "ignored", "columns") else np.float64
    expected = (0,) if name in ("grain", "columns") and value.size == 0 else shapes.get(name, (n_columns,))
    if value.dtype != kind or value.shape != expected:
        raise ValueError(f"{name} has type {value.dtype} and shape {value.shape}")


def check_numbers(name: str, value: Any) -> None:
    """Refuse numbers that are not finite, and those of a prior that are not positive where they should be."""
    if not np.all(np.isfinite(value)):
        raise ValueError(f"{name} is not finite")
    if name not in ANY_SIGN and not np.all(np.asarray(value) > 0):
        raise ValueError(f"{name} is not positive")


def likelihood_to_json(likelihood: Likelihood) -> dict[str, Any]:
    """Class and fields; the columns of a mixed likelihood in a list."""
    fields: dict[str, Any] = dict(vars(likelihood))
    if isinstance(likelihood, Columns):
        fields = {"likelihoods": [likelihood_to_json(column) for column in likelihood.likelihoods]}
    return {"class": type(likelihood).__name__, "fields": fields}


def likelihood_from_json(document: dict[str, Any]) -> Likelihood:
    """The likelihood of `likelihood_to_json`."""
    fields = document["fields"]
    if document["class"] == "Columns":
        fields = {"likelihoods": [likelihood_from_json(column) for column in fields["likelihoods"]]}
    return likelihoods_by_name()[document["class"]](**fields)


def record_to_json(record: Any) -> dict[str, Any]:
    """Class and fields of a NamedTuple of arrays and floats."""
    fields = {
        name: {"dtype": value.dtype.name, "shape": list(value.shape), "data": value.ravel().tolist()}
        if isinstance(value, np.ndarray)
        else value
        for name, value in record._asdict().items()
    }
    return {"class": type(record).__name__, "fields": fields}


def record_from_json(document: dict[str, Any]) -> Any:
    """The NamedTuple of `record_to_json`."""
    fields = {
        name: np.array(value["data"], NUMBERS[value["dtype"]]).reshape(value["shape"])
        if isinstance(value, dict)
        else float(value)
        for name, value in document["fields"].items()
    }
    return records_by_name()[document["class"]](**fields)
