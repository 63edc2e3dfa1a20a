"""`DrawAnswers`: everything that can be asked of a chain's draws, see `answers.Answers`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import FAMILIES
from bayesgrove.models.cross.cell_mixtures import CellMixtures, widest
from bayesgrove.models.cross.draw_cells import own_log_density, training_mixtures
from bayesgrove.models.cross.draw_columns import new_column_log_density, pair_information
from bayesgrove.models.cross.draw_rows import (
    draw_log_densities,
    estimate_probabilities,
    mean_log_density,
    new_row_mixtures,
    simulate_rows,
)
from bayesgrove.models.cross.draw_tables import Draws
from bayesgrove.models.cross.tree_columns import NewColumn

ROWS_AT_ONCE = 1_024
WEIGHTS = ("views", "columns")


class DrawAnswers:
    """Averages over some draws of cross-clusterings of one table.

    Parameters
    ----------
    prior : ColumnsPrior
        Families of the columns, and the numbers of their priors where they are not learned.
    values : array of shape (n_rows, n_columns)
        Encoded cells.
    draws : Draws
        What averages are taken over.
    similarity : array of shape (n_columns, n_columns)
        Share of all draws that have two columns in one view.
    views : sequence of pairs (columns, labels of the rows)
        The point estimate.
    learned : bool
        Whether draws have numbers of their own.
    """

    def __init__(
        self,
        prior: ColumnsPrior,
        values: np.ndarray,
        draws: Draws,
        similarity: np.ndarray,
        views: Sequence[tuple[np.ndarray, np.ndarray]],
        *,
        learned: bool,
    ) -> None:
        self.prior, self.values, self.draws = prior, values, draws
        self.similarity, self.views, self.learned = similarity, tuple(views), learned

    @property
    def n_rows(self) -> int:
        """Rows of the training table."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Columns of the training table."""
        return int(self.values.shape[1])

    def cell_mixtures(self, rows: np.ndarray, columns: np.ndarray) -> CellMixtures:
        """Predictives of cells of the training table: a term per draw, the cell left out of its cluster."""
        return training_mixtures(self.prior, self.draws, self.values, rows, columns, learned=self.learned)

    def cell_log_density(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log density of a value in each of these cells."""
        cells, width = np.ascontiguousarray(values, float), widest(self.prior)
        return own_log_density(
            self.prior.family, self.prior.start, self.draws, self.values, rows, columns, cells, width
        )

    def _row_log_densities(self, values: np.ndarray) -> np.ndarray:
        return draw_log_densities(self.prior, self.draws, values)

    def row_log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of each new row, missing cells left out."""
        return np.concatenate(
            [mean_log_density(self.draws, self._row_log_densities(part)) for part in parts_of(values)]
        )

    def conditional_log_density(self, values: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Log density of the observed cells of each row of `values` given those of the row of `given`."""
        return self.row_log_density(np.where(np.isnan(values), given, values)) - self.row_log_density(given)

    def simulate(self, rng: np.random.Generator, given: np.ndarray, n_samples: int, columns: np.ndarray) -> np.ndarray:
        """Draws of some columns of a new row given its observed cells."""
        return simulate_rows(rng, self.prior, self.draws, given, n_samples, columns)

    def row_cell_mixtures(self, values: np.ndarray, columns: np.ndarray) -> CellMixtures:
        """Predictives of the missing cells of new rows given their observed ones."""
        return new_row_mixtures(self.prior, self.draws, values, columns, learned=self.learned)

    def column_log_density(
        self,
        y: np.ndarray,
        family: int,
        params: np.ndarray,
        *,
        n_categories: int = 0,
        form: str = "normalised",
        new_view: str = "sequential",
        rng: np.random.Generator | None = None,
    ) -> float:
        """Log density of a new column of encoded cells with its own family and hyperparameters."""
        width = FAMILIES[family].width or n_categories
        column = NewColumn(np.ascontiguousarray(y, float), family, np.ascontiguousarray(params, float), width)
        return new_column_log_density(self.draws, column, form, new_view, rng)

    def same_view_probability(self) -> np.ndarray:
        """Share of all draws that have two columns in one view."""
        return self.similarity

    def row_similarity(
        self, rows: np.ndarray, others: np.ndarray, columns: np.ndarray | None = None, weight: str = "views"
    ) -> np.ndarray:
        """Mean over draws of the share of views (or of columns) in which two rows share a cluster."""
        if weight not in WEIGHTS:
            raise InvalidSettingError(f"weight is one of {', '.join(WEIGHTS)}, got {weight!r}.")
        return mean_similarity(self.draws, rows, others, view_weights(self.draws, columns, weight))

    def mutual_information(self, a: int, b: int, rng: np.random.Generator, n_samples: int) -> tuple[float, float]:
        """Mean over draws of the mutual information of two columns of a new row, and its standard error."""
        return pair_information(self.prior, self.draws, a, b, rng, n_samples)

    def cluster_probabilities(self, view: int, values: np.ndarray) -> np.ndarray:
        """Probability that new rows join each cluster of a view of the point estimate, last a new one."""
        columns, labels = self.views[view]
        return np.concatenate(
            [estimate_probabilities(self.prior, self.draws, columns, labels, part) for part in parts_of(values)]
        )


def parts_of(values: np.ndarray) -> list[Any]:
    """Rows in parts, at least one."""
    return [values[low : low + ROWS_AT_ONCE] for low in range(0, max(1, len(values)), ROWS_AT_ONCE)]


def view_weights(draws: Draws, columns: np.ndarray | None, weight: str) -> np.ndarray:
    """Weight of every view of every draw: those of a draw sum to its weight."""
    out = np.empty(len(draws.labels))
    for t, views in enumerate(draws.views):
        own = np.bincount(views).astype(float)
        if weight == "views":
            own[:] = 1.0
        if columns is not None:
            own *= np.bincount(views[columns], minlength=own.size) > 0
        out[draws.first_view[t] : draws.first_view[t + 1]] = np.exp(draws.log_weight[t]) * own / own.sum()
    return out


@kernel
def mean_similarity(draws, rows, others, weights):
    """Sum over all views of the weights of those that have two rows in one cluster, (rows, others)."""
    labels, out = draws.labels, np.zeros((rows.size, others.size))
    of_others = np.empty(others.size, labels.dtype)
    for v in range(labels.shape[0]):
        if weights[v] > 0.0:
            for b in range(others.size):
                of_others[b] = labels[v, others[b]]
            for a in range(rows.size):
                label = labels[v, rows[a]]
                for b in range(others.size):
                    out[a, b] += weights[v] * (label == of_others[b])
    return out
