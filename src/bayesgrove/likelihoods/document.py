"""Bound likelihoods as plain JSON types and back, without the data; every bit of every number survives."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.likelihoods.base import Encoding, Likelihood
from bayesgrove.likelihoods.bind import Bound
from bayesgrove.likelihoods.columns import FAMILIES, ColumnsPrior
from bayesgrove.likelihoods.defaults import NAMED
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.mixed import Columns
from bayesgrove.likelihoods.multinomial import MultinomialPrior

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
    """All of a bound likelihood but the data, in JSON's types (Python writes floats so that bits survive)."""
    return {
        "likelihood": likelihood_to_json(bound.likelihood),
        "prior": record_to_json(bound.prior),
        "encoding": record_to_json(bound.encoding),
        "log_measure": bound.log_measure,
        "free": list(bound.free),
    }


def from_document(document: dict[str, Any]) -> Bound:
    """The bound likelihood of `to_document`, with a table of no rows."""
    try:
        encoding = record_from_json(document["encoding"])
        return Bound(
            likelihood=likelihood_from_json(document["likelihood"]),
            prior=record_from_json(document["prior"]),
            encoding=encoding,
            values=np.zeros((0, encoding.shift.size)),
            log_measure=float(document["log_measure"]),
            free=tuple(document["free"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFileError(
            f"this is no description of a likelihood: {type(error).__name__}: {error}. Save the model again."
        ) from error


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
        name: np.array(value["data"], np.dtype(value["dtype"])).reshape(value["shape"])
        if isinstance(value, dict)
        else float(value)
        for name, value in document["fields"].items()
    }
    return RECORDS[document["class"]](**fields)
