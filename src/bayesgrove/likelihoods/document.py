"""Bound likelihoods as plain JSON types and back, without the data; every bit of every number survives."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.likelihoods.base import Encoding, Likelihood
from bayesgrove.likelihoods.bind import Bound
from bayesgrove.likelihoods.columns import FAMILIES, N_PARAMS, ColumnsPrior
from bayesgrove.likelihoods.defaults import NAMED
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.mixed import Columns
from bayesgrove.likelihoods.multinomial import MultinomialPrior

NUMBERS = {"float64": np.float64, "int64": np.int64}
ANY_SIGN = ("shift", "exponent", "start", "family", "params", "mean", "prior_mean", "scale", "n_trials")
LIKELIHOODS = {kind.__name__: kind for kind in (*NAMED.values(), Columns)}
RECORDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Encoding,
        ColumnsPrior,
        GaussianFullPrior,
        MultinomialPrior,
        *(family.prior for family in FAMILIES),
    )
}


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
        )
        check_bound(bound)
        return bound
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InvalidFileError(
            f"this is no description of a likelihood: {type(error).__name__}: {error}. Save the model again."
        ) from error


def check_bound(bound: Bound) -> None:
    """Refuse shapes that would make a kernel read beyond its arrays, and numbers that disagree."""
    n_columns = bound.encoding.shift.size
    for record in (bound.encoding, bound.prior):
        for name, value in record._asdict().items():
            check_field(name, value, n_columns)
    start = getattr(bound.prior, "start", np.arange(n_columns + 1))
    if start[0] != 0 or np.any(np.diff(start) < 1):
        raise ValueError("start does not rise from 0")
    if isinstance(bound.prior, ColumnsPrior):
        widths = np.array([family.width for family in FAMILIES])[bound.prior.family]
        if np.any(bound.prior.family < 0) or np.any((widths > 0) & (widths != np.diff(start))):
            raise ValueError("start does not fit the families")
        for code, numbers in zip(bound.prior.family, bound.prior.params, strict=True):
            names = [name for name in FAMILIES[code].prior._fields if name != "start"]
            for name, number in zip(names, numbers, strict=False):
                check_numbers(name, number)
    if bound.likelihood.described_by(bound.prior, bound.encoding) != bound.likelihood:
        raise ValueError("likelihood and prior disagree")


def check_field(name: str, value: Any, n_columns: int) -> None:
    """Refuse an array of another type or shape than kernels expect under this name."""
    check_numbers(name, value)
    if isinstance(value, float):
        return
    shapes = {"start": (n_columns + 1,), "params": (n_columns, N_PARAMS), "scale": (n_columns, n_columns)}
    kind = np.int64 if name in ("start", "family", "exponent") else np.float64
    if value.dtype != kind or value.shape != shapes.get(name, (n_columns,)):
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
    return LIKELIHOODS[document["class"]](**fields)


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
    return RECORDS[document["class"]](**fields)
