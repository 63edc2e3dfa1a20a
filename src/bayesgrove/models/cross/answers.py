"""What can be asked of a fitted cross model, whether it is a tree of views or draws of a chain.

Cells are encoded as in a bound table, NaN is a missing cell, and densities are of encoded cells: estimators decode and
add the change of measure.
"""

from typing import Protocol

import numpy as np

from bayesgrove.models.cross.cell_mixtures import CellMixtures


class Answers(Protocol):
    """Predictives and queries of a table of n_rows rows and n_columns columns."""

    @property
    def n_rows(self) -> int:
        """Rows of the training table."""

    @property
    def n_columns(self) -> int:
        """Columns of the training table."""

    def cell_mixtures(self, rows: np.ndarray, columns: np.ndarray) -> CellMixtures:
        """Predictives of cells (rows[c], columns[c]) of the training table, each left out of its own component."""

    def cell_log_density(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log density of a value in each of these cells, by the same predictives."""

    def row_log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of each new row, missing cells left out."""

    def conditional_log_density(self, values: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Log density of the observed cells of each row of `values` given those of the row of `given`."""

    def simulate(self, rng: np.random.Generator, given: np.ndarray, n_samples: int, columns: np.ndarray) -> np.ndarray:
        """Draws of some columns of a new row given its observed cells, shape (n_samples, len(columns))."""

    def row_cell_mixtures(self, values: np.ndarray, columns: np.ndarray) -> CellMixtures:
        """Predictives of the missing cells of new rows given their observed ones.

        Only cells of `columns`; row by row, columns in the order given.
        """

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

    def same_view_probability(self) -> np.ndarray:
        """Probability that two columns stand in the same view, shape (n_columns, n_columns)."""

    def row_similarity(
        self, rows: np.ndarray, others: np.ndarray, columns: np.ndarray | None = None, weight: str = "views"
    ) -> np.ndarray:
        """Expected share of views (or of columns) in which two rows share a cluster, (len(rows), len(others))."""

    def mutual_information(self, a: int, b: int, rng: np.random.Generator, n_samples: int) -> tuple[float, float]:
        """Mutual information of two columns of a new row, and its standard error, 0 where it is a finite sum."""

    def cluster_probabilities(self, view: int, values: np.ndarray) -> np.ndarray:
        """Probability that new rows join each cluster of a view of the point estimate, last a new one."""
