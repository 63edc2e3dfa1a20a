"""What can be asked of rows and columns of a model of views: densities, draws, similarity, dependence."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.core.table import Table, table_from_array
from bayesgrove.estimators.cross_inputs import (
    as_given,
    column_number,
    column_numbers,
    encoded_cells,
    likelihood_per_column,
    row_numbers,
)
from bayesgrove.estimators.inputs import TableEstimator
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.io.columns import Column, assemble
from bayesgrove.io.frames import column_from_objects
from bayesgrove.likelihoods import Bound, bind, encode
from bayesgrove.likelihoods.bind import decode_cells
from bayesgrove.likelihoods.families import IS_REAL
from bayesgrove.models.cross.answers import Answers
from bayesgrove.models.cross.cell_mixtures import entropies

SIMULATING_PATH, COLUMN_PATH, INFORMATION_PATH = 0x51A0, 0xC01A, 0x1AF0
NORMALISATIONS = (None, "min", "joint", "sqrt", "linfoot", "vi")
FORMS = ("normalised", "paper")
NEW_VIEWS = ("sequential", "exact", "bound", "none")


class RowAndColumnQueries(TableEstimator):
    """Methods of fitted models of views about rows and columns."""

    _answers: Answers
    _bound: Bound
    _values: np.ndarray
    _kinds: tuple[str, ...]
    _given_as: str
    _seed: int
    unseen: str

    @property
    def same_view_probability_(self) -> np.ndarray:
        """Probability that two columns are in the same view, (n_columns, n_columns)."""
        check_is_fitted(self, "tree_")
        return self._answers.same_view_probability()

    def conditional_log_density(self, X: Any, given: Any) -> np.ndarray:
        """Log density of the cells of new rows given other cells of the same rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            The cells asked for; NaN elsewhere.
        given : array or data frame of shape (n_rows, n_columns)
            The cells known; NaN elsewhere.
        """
        check_is_fitted(self, "tree_")
        (values, log_measure), (known, _) = (
            encode(self._bound, self._read_input(rows, reset=False)) for rows in (X, given)
        )
        if values.shape != known.shape:
            raise InvalidTableError(f"X and given have a row each, got {len(values)} and {len(known)} rows.")
        both = np.argwhere(~np.isnan(values) & ~np.isnan(known))
        if both.size:
            raise InvalidTableError(
                f"a cell is asked for or given, not both: row {both[0, 0]}, column {self._schema[0][both[0, 1]]!r}. "
                "Set it to NaN in one of them."
            )
        return self._answers.conditional_log_density(values, known) + log_measure

    def simulate(self, n_samples: int = 1, given: Any = None, columns: Any = None, random_state: Any = None) -> Any:
        """New rows drawn from the predictive distribution, some cells given.

        Parameters
        ----------
        n_samples : int
        given : mapping or sequence, optional
            Column (number or name) to value, such as a row of a pandas frame, or a plain row; NaN is not given.
        columns : sequence of int or str, optional
            Columns to draw, by default all; given cells keep their values.
        random_state : int, optional
            None continues from the estimator's own seed.

        Returns
        -------
        array or data frame of shape (n_samples, len(columns))
            Of the same kind as the training table.
        """
        check_is_fitted(self, "tree_")
        check_whole("n_samples", n_samples, 0)
        names, categories = self._schema
        which = column_numbers(columns, names)
        known = self._given_row(given)
        seed = self._seed if random_state is None else resolve_seed(random_state)
        drawn = self._answers.simulate(generator(seed, SIMULATING_PATH), known, n_samples, which)
        drawn = np.where(np.isnan(known[which]), drawn, known[which])
        raw = decode_cells(self._bound, drawn, which)
        labels = {place: categories[j] for place, j in enumerate(which.tolist()) if j in categories}
        kinds = tuple(self._kinds[j] for j in which)
        return as_given(Table(raw, tuple(names[j] for j in which), kinds, labels), self._given_as)

    def _given_row(self, given: Any) -> np.ndarray:
        """One encoded row with NaN where nothing is given."""
        names = self._schema[0]
        known = np.full(len(names), np.nan)
        if hasattr(given, "to_dict") and np.ndim(given) == 1:  # a row of a pandas frame
            given = given.to_dict()
        if isinstance(given, Mapping):
            which = np.array([column_number(column, names) for column in given], np.int64)
            known[which] = encoded_cells(self._bound, list(given.values()), which, self._schema)
        elif given is not None:
            rows = given if hasattr(given, "columns") or isinstance(given, Table) else np.atleast_2d(given)
            values, _ = encode(self._bound, self._read_input(rows, reset=False))
            if len(values) != 1:
                raise InvalidTableError(f"given is one row, got {len(values)}.")
            known = values[0]
        return known

    def column_log_density(
        self, y: Any, likelihood: Any = None, form: str = "normalised", new_view: str = "sequential"
    ) -> float:
        """Log predictive density of a new column given the table.

        Parameters
        ----------
        y : sequence of length n_rows
            Cells in the table's order of rows; NaN or None is a missing cell.
        likelihood : Likelihood or str, optional
            Likelihood of the new column; by default the family that its cells suggest. Hyperparameters left open are
            set from `y`.
        form : {"normalised", "paper"}
            "paper" is the published sum, whose mass is the expected number of views.
        new_view : {"sequential", "exact", "bound", "none"}
            How the evidence of a new view for the column is computed: by an unbiased estimate, by a sum over all
            partitions (few rows), by a lower bound, or not at all.
        """
        check_is_fitted(self, "tree_")
        check_choice("form", form, FORMS)
        check_choice("new_view", new_view, NEW_VIEWS)
        table = table_of_column(y)
        if table.n_rows != len(self._values):
            raise InvalidTableError(
                f"a new column has a cell for each of {len(self._values)} rows, got {table.n_rows}."
            )
        bound = bind(likelihood_per_column(likelihood or "auto", table, "error"), table, "fixed")
        family = int(bound.prior.family[0])
        found = self._answers.column_log_density(
            bound.values[:, 0].copy(),
            family,
            bound.prior.params[0],
            n_categories=int(bound.prior.start[1]),
            form=form,
            new_view=new_view,
            rng=generator(self._seed, COLUMN_PATH),
        )
        return float(found) + bound.log_measure

    def row_similarity(
        self, rows: Any = None, others: Any = None, columns: Any = None, weight: str = "views"
    ) -> np.ndarray:
        """Expected share of views in which two rows of the training table are in one cluster, (rows, others).

        Parameters
        ----------
        rows, others : sequences of int, optional
            All by default.
        columns : sequence of int or str, optional
            Only views that contain some of these columns.
        weight : {"views", "columns"}
            Whether all views count equally or by their numbers of columns.
        """
        check_is_fitted(self, "tree_")
        check_choice("weight", weight, ("views", "columns"))
        n_rows, which = len(self._values), None if columns is None else column_numbers(columns, self._schema[0])
        return self._answers.row_similarity(row_numbers(rows, n_rows), row_numbers(others, n_rows), which, weight)

    def mutual_information(
        self, pairs: Any = None, normalise: str | None = None, *, n_samples: int = 10_000, return_error: bool = False
    ) -> Any:
        """Mutual information of columns of a new row, in nats.

        Parameters
        ----------
        pairs : sequence of pairs of int or str, optional
            All pairs by default.
        normalise : {None, "min", "joint", "sqrt", "linfoot", "vi"}
            Divide by the smaller entropy, the joint entropy or the root of the product of entropies; Linfoot's
            sqrt(1 - exp(-2 I)); or the variation of information, which is 0 for columns that determine each other.
            Only None and "linfoot" make sense for measurements, whose entropies depend on the unit.
        n_samples : int
            Draws where the sum is not finite.
        return_error : bool
            Give a pair with the Monte-Carlo standard errors of the raw information (0 where it is exact).

        Returns
        -------
        float64 array
            One per pair; for all pairs a symmetric matrix with NaN on the diagonal.
        """
        check_is_fitted(self, "tree_")
        check_choice("normalise", normalise, NORMALISATIONS)
        check_whole("n_samples", n_samples, 2)
        names = self._schema[0]
        a, b = np.triu_indices(len(names), 1) if pairs is None else pair_numbers(pairs, names)
        found = np.array(
            [
                self._answers.mutual_information(
                    int(i), int(j), generator(self._seed, INFORMATION_PATH, int(i), int(j)), n_samples
                )
                for i, j in zip(a, b, strict=True)
            ]
        ).reshape(-1, 2)
        values = self._normalised_information(found[:, 0], a, b, normalise)
        shaped = [symmetric(part, a, b, len(names)) if pairs is None else part for part in (values, found[:, 1])]
        return tuple(shaped) if return_error else shaped[0]

    def _normalised_information(self, raw: np.ndarray, a: np.ndarray, b: np.ndarray, how: str | None) -> np.ndarray:
        """Information by one of the normalisations."""
        if how is None:
            return raw
        information = np.maximum(raw, 0.0)
        if how == "linfoot":
            return np.sqrt(-np.expm1(-2.0 * information))
        used = np.unique(np.concatenate([a, b]))
        measured = IS_REAL[self._bound.prior.family[used]]
        if measured.any():
            raise InvalidSettingError(
                f"normalise={how!r} needs entropies of categories or counts, column "
                f"{self._schema[0][used[measured][0]]!r} holds measurements. Use 'linfoot'."
            )
        nothing = np.full((1, len(self._schema[0])), np.nan)
        entropy = np.zeros(len(self._schema[0]))
        entropy[used] = entropies(self._bound.prior, self._answers.row_cell_mixtures(nothing, used))
        first, second = entropy[a], entropy[b]
        if how == "vi":
            return first + second - 2.0 * information
        below = {"min": np.minimum(first, second), "joint": first + second - information}
        divisor = np.sqrt(first * second) if how == "sqrt" else below[how]
        return np.divide(information, divisor, out=np.zeros_like(information), where=divisor > 0.0)


def pair_numbers(pairs: Any, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """First and second columns of pairs given by numbers or names."""
    given = list(pairs)
    if len(given) == 2 and not any(isinstance(side, list | tuple | np.ndarray) for side in given):
        given = [given]  # one pair
    for pair in given:
        if isinstance(pair, str) or len(pair) != 2 or column_number(pair[0], names) == column_number(pair[1], names):
            raise InvalidSettingError(f"pairs are of two different columns, got {pair!r}.")
    numbers = [[column_number(column, names) for column in pair] for pair in given]
    both = np.array(numbers, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def symmetric(values: np.ndarray, a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """A symmetric matrix from the part above its diagonal."""
    out = np.full((n, n), math.nan)
    out[a, b] = out[b, a] = values
    return out


def table_of_column(y: Any) -> Table:
    """A new column as a table of one."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidTableError(f"a new column has one dimension, got {array.ndim}.")
    if array.dtype.kind in "biuf":
        return table_from_array(array[:, np.newaxis], ["new column"])
    cells = [None if cell is None or cell != cell else cell for cell in array.tolist()]
    column: Column = column_from_objects(cells, "the new column", str(array.dtype))
    return assemble(["new column"], [column], "the new column")
