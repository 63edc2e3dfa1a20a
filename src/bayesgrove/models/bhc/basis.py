"""What the first rows of a stream fix, and what of it is taken from all rows again whenever the stream is rebuilt."""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.likelihoods import Bound, from_document, relearned, to_document
from bayesgrove.likelihoods.base import column_moments
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.likelihoods.coordinates import with_grain
from bayesgrove.likelihoods.families import GAUSSIAN
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.models.bhc.fit import check_concentration

MEAN, RATE = (GaussianDiagonalPrior._fields.index(name) for name in ("mean", "rate"))


class OpenColumns(NamedTuple):
    """For each column, what is left to the data: only Gaussian columns of which something is learned have any."""

    grain: tuple[bool, ...]
    mean: tuple[bool, ...]
    rate: tuple[bool, ...]


class Basis(NamedTuple):
    """What the first rows fix for all rebuilds of a stream."""

    prior: Any
    """Before anything was learned."""
    log_concentration: float
    free: tuple[str, ...]
    """Names of the hyperparameters that are learned."""
    learn_concentration: bool
    is_open: OpenColumns


def first_basis(bound: Bound, concentration: Any, is_open: OpenColumns | None = None) -> Basis:
    """What rebuilds start from, from a likelihood bound to the first rows before anything was learned.

    `is_open` is given where it is known already; else it is read off the rows.
    """
    learn_concentration = isinstance(concentration, str) and concentration == "auto"
    log_concentration = 0.0 if learn_concentration else math.log(check_concentration(concentration))
    is_open = open_columns(bound) if is_open is None else is_open
    return Basis(bound.prior, log_concentration, bound.free, learn_concentration, is_open)


def open_columns(bound: Bound) -> OpenColumns:
    """Columns whose mean and rate were taken from the rows: a prior that is given has others."""
    n_columns = bound.encoding.shift.size
    places = gaussian_numbers(bound.prior)
    if places is None or not {"rate", "gaussian.rate"} & set(bound.free) or not bound.values.size:
        return OpenColumns(bound.open_grain, (False,) * n_columns, (False,) * n_columns)
    mean, variance = column_moments(bound.values)
    is_gaussian, means, rates = places
    near_mean = is_gaussian & np.isclose(means, mean, rtol=1e-9, atol=1e-12)
    near_rate = is_gaussian & np.isclose(rates, variance / 4, rtol=1e-9, atol=0.0)
    return OpenColumns(bound.open_grain, tuple(near_mean.tolist()), tuple(near_rate.tolist()))


def gaussian_numbers(prior: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Which columns are Gaussian, their means and rates; None where no column can be."""
    if isinstance(prior, GaussianDiagonalPrior):
        return np.ones(prior.mean.size, np.bool_), prior.mean, prior.rate
    if isinstance(prior, ColumnsPrior):
        return prior.family == GAUSSIAN, prior.params[:, MEAN], prior.params[:, RATE]
    return None


def prior_of_rows(basis: Basis, values: np.ndarray) -> Any:
    """The prior before anything is learned, with the moments and the grain of these rows where they are open."""
    prior = with_grain(basis.prior, values, basis.is_open.grain)
    places = gaussian_numbers(prior)
    if places is None or not any(basis.is_open.rate + basis.is_open.mean):
        return prior
    mean, variance = column_moments(values)
    means = np.where(basis.is_open.mean, mean, places[1])
    rates = np.where(basis.is_open.rate, variance / 4, places[2])
    if isinstance(prior, GaussianDiagonalPrior):
        return prior._replace(mean=means, rate=rates)
    params = prior.params.copy()
    params[:, MEAN], params[:, RATE] = means, rates
    return prior._replace(params=params)


def basis_to_document(basis: Basis, bound: Bound) -> dict[str, Any]:
    """A basis in JSON's types; `bound` is the likelihood with what was learned."""
    is_open = {name: list(columns) for name, columns in basis.is_open._asdict().items()}
    return {"likelihood": to_document(relearned(bound, basis.prior)), "open": is_open}


def basis_from_document(document: dict[str, Any], bound: Bound, concentration: Any) -> Basis:
    """The basis of `basis_to_document`, or an error: kernels would read out of bounds."""
    first, n_columns = from_document(document["likelihood"]), bound.encoding.shift.size
    is_open = OpenColumns(*(tuple(document["open"][name]) for name in OpenColumns._fields))
    is_alike = type(first.prior) is type(bound.prior) and n_stats(first.prior) == n_stats(bound.prior)
    are_columns = all(len(columns) in (0, n_columns) and set(columns) <= {False, True} for columns in is_open)
    if not is_alike or not are_columns or first.free != bound.free:
        raise InvalidFileError("the prior that rebuilds of the stream start from does not fit the likelihood")
    return first_basis(first, concentration, is_open)
