"""A nested hierarchy's table before sampling: centred, projected, scaled, bound to a distribution."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import Bound, GaussianKnownVariance, bind
from bayesgrove.likelihoods.base import plain_encoding
from bayesgrove.likelihoods.bind import FARTHEST
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior

UNIT = "unit"
NARROW, WIDE = 0.5, 10.0
"""Rows that vary by less than this part of a component's variance, or cells so many times what means around 0 give."""
REMEDY = (
    'Take center=True, component_variance="auto" and base_variance="auto", which are learned then; n_pca where '
    "there are many columns; or numbers that fit."
)


class Preparation(NamedTuple):
    """How rows become what is sampled: ((x - centre) directions') / scale."""

    centre: np.ndarray
    """(n_columns,): zeros where rows are not centred."""
    directions: np.ndarray
    """(n_components, n_columns): principal axes; no rows where there is no projection."""
    scale: float

    @property
    def is_projection(self) -> bool:
        """Whether rows are projected on fewer axes."""
        return len(self.directions) > 0

    @property
    def is_plain(self) -> bool:
        """Whether rows stay as they are."""
        return not self.is_projection and self.scale == 1.0 and not self.centre.any()

    @property
    def width(self) -> int:
        """Number of columns that are sampled."""
        return len(self.directions) or self.centre.size

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Prepared copy of some rows."""
        centred = values - self.centre
        return (centred @ self.directions.T if self.is_projection else centred) / self.scale

    def undo(self, prepared: np.ndarray) -> np.ndarray:
        """Rows in the table's units; of a projection, those on the principal plane."""
        rows = prepared * self.scale
        return (rows @ self.directions if self.is_projection else rows) + self.centre

    def log_measure(self) -> float:
        """What to add to a log density of prepared rows to have that of the table's; of scores, if projected."""
        return 0.0 if self.is_projection else -self.width * float(np.log(self.scale))


def check_complete(table: Table, remedy: str) -> None:
    """Refuse missing cells."""
    n_missing = int(np.isnan(table.values).sum())
    if n_missing:
        raise InvalidTableError(f"this model needs complete rows, got {n_missing} missing cells (NaN). {remedy}")


def check_numbers(table: Table) -> None:
    """Refuse cells that are categories, infinite, or too large to be squared."""
    if table.categories:
        refuse_categories(table)
    largest = float(np.nanmax(np.abs(table.values), initial=0.0))
    if np.isinf(largest):
        raise InvalidTableError("cells must be finite, got inf. Use NaN for a missing cell.")
    if largest > FARTHEST:
        raise InvalidTableError(
            f"cells must lie within {FARTHEST:g}, or their squares overflow, got {largest:.3g}. Take another unit."
        )


def refuse_categories(table: Table) -> None:
    """Raise for a table with columns that hold no numbers."""
    names = [table.names[j] for j in table.categories]
    raise InvalidTableError(
        f"Gaussian components, and rows that are centred, scaled or projected, need numbers; column {names[0]!r} holds "
        "categories. Leave it out, or make it the index if it names the rows; without preparation "
        'likelihood="auto" takes it.'
    )


def prepare(table: Table, *, center: bool, scale: Any, n_pca: int | None) -> Preparation:
    """The preparation that settings ask for, with the numbers of a table."""
    values = table.values
    if n_pca is not None and n_pca > min(values.shape):
        raise InvalidSettingError(
            f"n_pca is at most the number of rows and of columns, {min(values.shape)}, got {n_pca}.", setting="n_pca"
        )
    is_centred = center or n_pca is not None
    centre = np.nan_to_num(np.nanmean(values, axis=0)) if is_centred else np.zeros(values.shape[1])
    directions = np.zeros((0, values.shape[1])) if n_pca is None else principal_axes(values - centre, n_pca)
    plain = Preparation(centre, directions, 1.0)
    return plain._replace(scale=resolved_scale(scale, plain.apply(values)))


def principal_axes(centred: np.ndarray, n_axes: int) -> np.ndarray:
    """The first principal axes, each with its largest entry positive: shape (n_axes, n_columns)."""
    axes = np.linalg.svd(centred, full_matrices=False)[2][:n_axes]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return np.ascontiguousarray(axes * np.where(largest < 0.0, -1.0, 1.0))


def resolved_scale(scale: Any, prepared: np.ndarray) -> float:
    """The number rows are divided by; "unit" makes the mean variance of the columns 1."""
    if scale is None:
        return 1.0
    if scale != UNIT:
        return float(scale)
    spread = float(np.sqrt(np.nanmean(np.nanvar(prepared, axis=0))))
    return spread if spread > 0.0 else 1.0


def prepared_table(table: Table, preparation: Preparation) -> Table:
    """The rows that are sampled, as a table."""
    if preparation.is_plain:
        return table
    names = tuple(f"PC{j + 1}" for j in range(preparation.width)) if preparation.is_projection else table.names
    values = np.ascontiguousarray(preparation.apply(table.values))
    return Table(values, names, ("float",) * len(names))


def advice_on_scale(values: np.ndarray, component_variance: Any, base_variance: Any) -> str | None:
    """What to do about rows that spherical Gaussians of these variances cannot describe; None where they may.

    Rows that vary less than a component does cannot be told apart; cells far beyond what means around 0 give put nearly
    every row into a component of its own. A variance that is learned ("auto") is not judged.
    """
    spread, square = float(np.nanmean(np.nanvar(values, axis=0))), float(np.nanmean(np.square(values)))
    if isinstance(component_variance, str):
        return None
    if spread < NARROW * component_variance:
        return (
            f"rows differ by less than this model takes for noise: the columns' mean variance is {spread:.3g}, "
            f"component_variance is {component_variance:g}, so that clusters can hardly be told apart. {REMEDY}"
        )
    if not isinstance(base_variance, str) and square > WIDE * (component_variance + base_variance):
        return (
            f"cells are far larger than this model expects: their mean square is {square:.3g}, component_variance and "
            f"base_variance add up to {component_variance + base_variance:g}, so that rows tend to be clusters of "
            f"their own. {REMEDY}"
        )
    return None


def bind_spherical(table: Table, component_variance: float, base_variance: float) -> Bound:
    """Gaussian components around means that lie around 0, the same variances in all columns, nothing encoded."""
    ones, zeros = np.ones(table.n_columns), np.zeros(table.n_columns)
    return Bound(
        GaussianKnownVariance(variance=component_variance, prior_mean=0.0, prior_variance=base_variance),
        GaussianKnownVariancePrior(component_variance * ones, zeros, base_variance * ones),
        plain_encoding(zeros, np.zeros(table.n_columns, np.int64)),
        np.ascontiguousarray(table.values),
        0.0,
        (),
    )


def bind_law(likelihood: Any, table: Table, component_variance: float, base_variance: float) -> Bound:
    """A table bound to spherical Gaussians (None), or to a conjugate likelihood whose numbers stay as they are."""
    if likelihood is None:
        return bind_spherical(table, component_variance, base_variance)
    return bind(likelihood, table, "fixed")
