"""What can be asked of single cells: missing ones filled in, densities, surprise."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.estimators.cross_inputs import (
    as_given,
    column_numbers,
    encoded_cells,
    measure_of,
    row_numbers,
    with_unused,
)
from bayesgrove.estimators.inputs import TableEstimator
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.likelihoods import Bound, encode
from bayesgrove.likelihoods.bind import decode, decode_cells
from bayesgrove.likelihoods.families import IS_LISTED
from bayesgrove.likelihoods.understanding import left_out
from bayesgrove.models.cross.answers import Answers
from bayesgrove.models.cross.block_answers import BlockAnswers, make_block_answers
from bayesgrove.models.cross.cell_mixtures import (
    CellMixtures,
    chosen_cells,
    draw,
    modes,
    moments,
    probabilities,
    quantiles,
)

CELLS_AT_ONCE = 8_192
IMPUTING_PATH = 0x1A9F
DEPENDENCE = ("linear", "none")
N_STARTS = 3
"""Chains of the model behind imputed measurements."""


@dataclass(frozen=True, eq=False)
class Imputation:
    """A filled table and the uncertainty of its filled cells.

    Attributes
    ----------
    values : array or data frame
        The whole table, missing cells filled.
    rows, columns : int64 arrays of shape (n_missing,)
        Positions of the filled cells.
    low, high : float64 arrays of shape (n_missing,)
        Ends of the equal-tailed predictive interval; codes for categories.
    sd : float64 array of shape (n_missing,)
        Predictive standard deviation; NaN for categories, in levels for ordinal columns.
    probabilities : list of arrays
        Probability of each value 0, 1, ... of each cell of a binary, ordinal (by level) or category column, None for
        others.
    draws : array of shape (draws, n_missing) or None
        Values drawn for the cells, in the data's own units, categories as codes.
    """

    values: Any
    rows: np.ndarray
    columns: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sd: np.ndarray
    probabilities: list[np.ndarray | None]
    draws: np.ndarray | None


@dataclass
class Filled:
    """Encoded estimates of missing cells, one chunk after another."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sd: np.ndarray
    probabilities: list[np.ndarray | None]
    draws: np.ndarray


class Given(NamedTuple):
    """A table with missing cells."""

    raw: Table | None
    """As it was given; None for the training table."""
    values: np.ndarray
    """Encoded."""
    rows: np.ndarray
    columns: np.ndarray
    """Where cells are missing."""


class CellQueries(TableEstimator):
    """Methods of fitted models of views about single cells."""

    _answers: Answers
    _bound: Bound
    _values: np.ndarray
    _kinds: tuple[str, ...]
    _given_as: str
    _axes: tuple[Any, Any] | None = None
    """Index and columns of the pandas frame that was fitted; a model file keeps their texts only."""
    _seed: int
    _blocks: BlockAnswers | None
    labels_: np.ndarray

    def impute(
        self, X: Any = None, level: float | None = None, draws: int | None = None, dependence: str = "linear"
    ) -> Any:
        """Fill missing cells: the most probable category or count, the mean of measurements.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns), optional
            New rows; None fills the training table.
        level : float, optional
            Probability of predictive intervals, such as 0.9; the answer is then an `Imputation`.
        draws : int, optional
            Number of random values for each missing cell; the answer is then an `Imputation`. A draw is one value for
            every missing cell; measurements of a row are drawn together.
        dependence : {"linear", "none"}, default="linear"
            How measurements of a row depend on its other cells inside clusters. "none" is the model as it was fitted:
            columns are independent inside clusters. "linear" predicts measurements by a mixture with full covariances
            that begins at the clusters found (2 to 50 numeric columns, at least 20 rows; see the Notes).

        Returns
        -------
        array, data frame or Imputation
            A table of the kind given, a pandas frame with its index; observed cells of the training table are returned
            up to rounding. A cell whose most probable category is the one reserved for unseen labels stays missing.

        Notes
        -----
        With dependence="linear" a truncated Dirichlet process mixture is sampled by Gibbs sweeps that begin at the
        clusters of the largest view: numeric cells of a row are normal with a mean and a full covariance matrix for
        each cluster (logarithms for log-Gaussian columns), categories are independent of them given the cluster.
        Covariances share a learned scale matrix. A missing measurement is a mixture, over draws and clusters, of linear
        regressions on the row's other numbers. Categories, counts and ordinal cells are predicted as with "none".
        """
        given, filled = self._fill(X, level, draws, dependence)
        out = self._completed(X, given, filled.estimate)
        if level is None and draws is None:
            return out
        columns = given.columns
        return Imputation(
            out,
            given.rows,
            columns,
            self._raw(filled.low, columns),
            self._raw(filled.high, columns),
            np.ldexp(filled.sd, self._bound.encoding.exponent[columns]),
            filled.probabilities,
            None if draws is None else self._raw(filled.draws, columns),
        )

    def impute_draws(self, n_draws: int = 5, X: Any = None, dependence: str = "linear") -> list[Any]:
        """Several completed tables for multiple imputation: missing cells are drawn, not estimated.

        Analyse each table separately and pool the results, for instance by Rubin's rules.

        Parameters
        ----------
        n_draws : int, default=5
        X : array or data frame of shape (n_rows, n_columns), optional
            New rows; None fills the training table.
        dependence : {"linear", "none"}, default="linear"
            As for `impute`.

        Returns
        -------
        list of tables
            Of the kind given. Measurements of a row are drawn together, given its other cells.
        """
        check_whole("n_draws", n_draws, 1)
        given, filled = self._fill(X, None, n_draws, dependence)
        return [self._completed(X, given, drawn) for drawn in filled.draws]

    def _fill(
        self, X: Any, level: float | None, draws: int | None, dependence: str, *, is_trained: bool = False
    ) -> tuple[Given, Filled]:
        """Where cells are missing, and what is said of them; `is_trained` says that X is the training table."""
        check_is_fitted(self, "tree_")
        check_choice("dependence", dependence, DEPENDENCE)
        if level is not None and not 0.0 < level < 1.0:
            raise InvalidSettingError(f"level is a probability between 0 and 1, got {level!r}. Try 0.9.")
        if draws is not None:
            check_whole("draws", draws, 1)
        raw = None if X is None else self._read_input(X, reset=False)
        values = np.asarray(self._values) if raw is None else encode(self._bound, raw)[0]
        is_missing = np.isnan(values)
        is_missing[:, self._unused] = False
        given = Given(raw, values, *np.nonzero(is_missing))
        trained = X is None or is_trained
        chunks = self._training_chunks(given.rows, given.columns) if trained else self._new_chunks(values)
        wanted = 0.9 if level is None else level
        filled = self._filled(chunks, wanted, draws or 0, given.columns)
        if dependence == "linear" and given.rows.size:
            self._fill_measurements(given, filled, wanted)
        return given, filled

    def _completed(self, X: Any, given: Given, cells: np.ndarray) -> Any:
        """The table as it was given, with encoded cells where some were missing."""
        table = self._filled_table(given.values, given.rows, given.columns, cells)
        if given.raw is None:
            return self._as_trained(table)
        np.copyto(table.values, given.raw.values, where=~np.isnan(given.values))  # observed cells to the last bit
        return with_unused(table, X, self._unused)

    def _fill_measurements(self, given: Given, filled: Filled, level: float) -> None:
        """Replace what is said of missing measurements by what linear dependence inside clusters says."""
        blocks, (_, values, rows, columns) = self._measurement_blocks(), given
        if blocks is None:
            return
        found = blocks.summary(values, (0.5 - 0.5 * level, 0.5 + 0.5 * level))
        n_columns = values.shape[1]
        at = np.searchsorted(rows * n_columns + columns, found.rows * n_columns + found.columns)
        filled.estimate[at], filled.sd[at] = found.mean, found.sd
        filled.low[at], filled.high[at] = found.quantiles.T
        rng, others = generator(self._seed, IMPUTING_PATH, 1), np.setdiff1d(np.arange(rows.size), at)
        for drawn in filled.draws:
            known = values.copy()
            known[rows[others], columns[others]] = drawn[others]
            drawn[at] = blocks.drawn(rng, known)[rows[at], columns[at]]

    def _measurement_blocks(self) -> BlockAnswers | None:
        """The model of linear dependence inside clusters, sampled when it is first asked for."""
        if "_blocks" not in self.__dict__:
            values, used = np.asarray(self._values), np.setdiff1d(np.arange(self._values.shape[1]), self._unused)
            seed = self._seed, IMPUTING_PATH, 2
            self._blocks = make_block_answers(self._bound.prior, values, used, self._block_starts(), seed)
        return self._blocks

    def _block_starts(self) -> list[np.ndarray]:
        """Clusters of the rows in which the chains of that model begin."""
        return [self.labels_] * N_STARTS

    @property
    def _unused(self) -> list[int]:
        """Columns that are left out."""
        return left_out(self._bound.choices)

    def _as_trained(self, table: Table) -> Any:
        """The training table as it was given, with the index and the columns of a pandas frame."""
        out = as_given(table, self._given_as)
        if self._given_as == "pandas" and self._axes is not None:
            out.index, out.columns = self._axes
        elif self._given_as == "pandas" and self._row_names is not None:
            out.index = list(self._row_names)
        return out

    def _training_chunks(self, rows: np.ndarray, columns: np.ndarray) -> Iterator[CellMixtures]:
        for low in range(0, rows.size, CELLS_AT_ONCE):
            yield self._answers.cell_mixtures(rows[low : low + CELLS_AT_ONCE], columns[low : low + CELLS_AT_ONCE])

    def _new_chunks(self, values: np.ndarray) -> Iterator[CellMixtures]:
        everything = np.setdiff1d(np.arange(values.shape[1]), self._unused)
        at_once = max(1, CELLS_AT_ONCE // values.shape[1])
        for low in range(0, values.shape[0], at_once):
            yield self._answers.row_cell_mixtures(values[low : low + at_once], everything)

    def _filled(self, chunks: Iterator[CellMixtures], level: float, n_draws: int, columns: np.ndarray) -> Filled:
        """Estimates, intervals and draws, chunk by chunk."""
        prior, rng = self._bound.prior, generator(self._seed, IMPUTING_PATH)
        low, high, sd, estimate = (np.empty(columns.size) for _ in range(4))
        drawn, chances = np.empty((n_draws, columns.size)), []
        ends, first = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]), 0
        for mixtures in chunks:
            here = slice(first, first + mixtures.column.size)
            _, sd[here] = moments(prior, mixtures)
            estimate[here] = modes(prior, mixtures)
            low[here], high[here] = quantiles(prior, mixtures, ends).T
            chances.extend(listed_probabilities(prior, mixtures))
            for k in range(n_draws):
                drawn[k, here] = draw(rng, prior, mixtures)
            first = here.stop
        return Filled(estimate, low, high, sd, chances, drawn)

    def _filled_table(self, values: np.ndarray, rows: np.ndarray, columns: np.ndarray, estimate: np.ndarray) -> Table:
        """The table in its own units with estimates in some cells."""
        names, categories = self._schema
        filled = values.copy()
        filled[rows, columns] = estimate
        raw = np.ascontiguousarray(decode(self._bound, filled))
        for j, labels in categories.items():
            raw[raw[:, j] >= len(labels), j] = np.nan
        return Table(raw, names, self._kinds, categories)

    def _raw(self, encoded: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Cells of given columns in the data's own units."""
        return decode_cells(self._bound, encoded, columns)

    def cell_log_density(self, rows: Any, columns: Any, values: Any) -> np.ndarray:
        """Log predictive density of values in cells of the training table, given all other cells.

        Parameters
        ----------
        rows : sequence of int
        columns : sequence of int or str
            Numbers or names.
        values : sequence
            In the data's own units, labels in category columns. The cell itself, if observed, is left out of its
            component; the trees (or draws) have used it.

        Returns
        -------
        float64 array of shape (n_cells,)
        """
        check_is_fitted(self, "tree_")
        where = row_numbers(rows, len(self._values)), column_numbers(columns, self._schema[0])
        cells = np.atleast_1d(np.asarray(values, dtype=object)).ravel()
        try:
            at, which, cells = np.broadcast_arrays(*where, cells)
        except ValueError:
            raise InvalidSettingError(
                f"rows, columns and values are of one length, got {where[0].size}, {where[1].size} and {cells.size}."
            ) from None
        encoded = encoded_cells(self._bound, cells, which, self._schema)
        found = self._answers.cell_log_density(at.copy(), which.copy(), encoded)
        return found + np.where(np.isnan(encoded), 0.0, measure_of(self._bound)[which])

    def surprisal(self, rows: Any = None, columns: Any = None) -> np.ndarray:
        """Minus the log density of observed cells given all others, (rows, columns); NaN for missing cells.

        Parameters
        ----------
        rows : sequence of int, optional
            All by default.
        columns : sequence of int or str, optional
            All by default.
        """
        check_is_fitted(self, "tree_")
        chosen = row_numbers(rows, len(self._values))
        which = column_numbers(columns, self._schema[0])
        cells = self._values[np.ix_(chosen, which)]
        out = np.full(cells.shape, np.nan)
        i, j = np.nonzero(~np.isnan(cells))
        log_density = self._answers.cell_log_density(chosen[i], which[j], cells[i, j])
        out[i, j] = -log_density - measure_of(self._bound)[which[j]]
        return out


def listed_probabilities(prior: Any, mixtures: CellMixtures) -> list[np.ndarray | None]:
    """Probabilities of the values of cells that are codes (yes/no, categories), None for others."""
    listed = IS_LISTED[prior.family[mixtures.column]]
    start, found = probabilities(prior, chosen_cells(mixtures, np.flatnonzero(listed)))
    out: list[np.ndarray | None] = [None] * listed.size
    for place, cell in enumerate(np.flatnonzero(listed)):
        out[cell] = found[start[place] : start[place + 1]]
    return out
