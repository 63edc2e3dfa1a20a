"""A table of many rows on a cluster: its rows in parts for the row trees, its columns one by one for their evidence.

What comes to the first process are trees, one number per node of a tree, sums and samples of rows; cells only where a
question about cells of the training table asks for them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgrove.agglomeration import dask_tasks as tasks
from bayesgrove.agglomeration.dask_parts import Package
from bayesgrove.agglomeration.dask_rows import DaskRows
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.parts import part_of_prior
from bayesgrove.models.cross import column_tasks
from bayesgrove.models.cross.view_table import ViewTable, largest_square, view_table


class CrossRows(DaskRows):
    """Encoded rows in parts that can be asked for columns, as an array of them can."""

    def select(self, columns: np.ndarray) -> "CrossRows":
        """The rows with some of the columns, on the cluster."""
        values = [self.submit(column_tasks.take_columns, part, columns) for part in self.values]
        return CrossRows(self.client, values, self.edges, self.complete[columns])

    def column_pieces(self, column: int) -> list[Any]:
        """Futures of one column of every part."""
        return [self.submit(column_tasks.take_column, part, column) for part in self.values]

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, key: Any) -> np.ndarray:
        if not isinstance(key, tuple):
            return self.take(np.asarray(key))
        rows, columns = key
        if isinstance(columns, int | np.integer):
            return np.concatenate(self.gather(self.column_pieces(int(columns))))[rows]
        chosen = self.select(np.asarray(columns).ravel())
        if isinstance(rows, slice):
            return chosen.__array__()[rows]
        return chosen.take(np.asarray(rows).ravel())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.concatenate(self.gather(self.values)).astype(dtype or np.float64, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies of a model that go elsewhere take the cells along."""
        return np.asarray, (self.__array__(),)


class ClusterTable:
    """What a `ViewTable` is asked for over all rows, with every column on a worker.

    Parameters
    ----------
    rows : CrossRows
    prior : ColumnsPrior
    log_measure : ndarray of shape (n_columns,), optional
        As in `view_table`.
    """

    def __init__(self, rows: CrossRows, prior: ColumnsPrior, log_measure: np.ndarray | None = None) -> None:
        self.rows, self.n_rows, self.n_columns = rows, rows.n_rows, rows.shape[1]
        square = largest_square(prior)
        self.columns = []
        for j in range(self.n_columns):
            own = None if log_measure is None else np.asarray(log_measure, float)[[j]]
            package = Package((part_of_prior(prior, np.array([j])), own, square))
            self.columns.append(self._submit(column_tasks.one_column, package, rows.column_pieces(j)))
        self._sums: np.ndarray | None = None
        self._trees: dict[int, tuple[np.ndarray, Any]] = {}

    def _submit(self, function: Any, *arguments: Any) -> Any:
        return tasks.submit(self.rows.client, function, *arguments)

    def _gather(self, futures: Sequence[Any]) -> list[Any]:
        return tasks.gather(self.rows.client, futures)

    def _tree(self, children: np.ndarray) -> Any:
        """A tree that was sent to the cluster; each once."""
        if id(children) not in self._trees:  # the array is kept too, so that no other gets its id
            sent = self._submit(column_tasks.itself, np.ascontiguousarray(children, np.int32))
            self._trees[id(children)] = (children, sent)
        return self._trees[id(children)][1]

    def _marginals(self, columns: np.ndarray, children: np.ndarray) -> Any:
        """Future of the log marginals of a set of columns in all nodes, added up column by column."""
        total = None
        for j in columns.tolist():
            total = self._submit(column_tasks.add_marginals, self.columns[j], self._tree(children), total)
        return total

    def constant_sums(self) -> np.ndarray:
        """What the cells of each column add to every log marginal, shape (n_columns,)."""
        if self._sums is None:
            self._sums = np.array(
                self._gather([self._submit(column_tasks.constant_sum, column) for column in self.columns])
            )
        return self._sums

    def root_logs(self, columns: np.ndarray, children: np.ndarray, log_rows: float) -> tuple[float, float]:
        """log q, without the constants of cells, and log d of the root of a tree for a set of columns."""
        marginals = self._marginals(columns, children)
        found = self._submit(column_tasks.root_logs, self._tree(children), marginals, log_rows)
        log_q, log_d = self._gather([found])[0]
        return log_q, log_d

    def marginals_with_constants(self, columns: np.ndarray, children: np.ndarray) -> np.ndarray:
        """Log marginals of a set of columns in every node of a tree, the constants of cells among them."""
        total = None
        for j in columns.tolist():
            total = self._submit(column_tasks.add_constant, self.columns[j], total)
        marginals = self._marginals(columns, children)
        found: np.ndarray = self._gather(
            [self._submit(column_tasks.with_constants, self._tree(children), marginals, total)]
        )[0]
        return found

    def column_scores(
        self, views: Sequence[np.ndarray], row_children: Sequence[np.ndarray], columns: np.ndarray, log_rows: float
    ) -> np.ndarray:
        """log p(column | the view's other columns, its row tree) without constants, (views, columns)."""
        futures = []
        for view, children in zip(views, row_children, strict=True):
            tree, base = self._tree(children), self._marginals(view, children)
            whole = self._submit(column_tasks.root_logs, tree, base, log_rows)
            for j in columns.tolist():
                given = (self.columns[j], tree, base, whole, log_rows, -1.0 if j in view else 1.0)
                futures.append(self._submit(column_tasks.column_score, *given))
        return np.array(self._gather(futures)).reshape(len(views), columns.size)


def table_of(prior: ColumnsPrior, values: Any, log_measure: np.ndarray | None = None) -> ViewTable | ClusterTable:
    """The table of encoded cells under a prior: of an array here, of rows on a cluster there."""
    if isinstance(values, CrossRows):
        return ClusterTable(values, prior, log_measure)
    return view_table(prior, values, log_measure)


def columns_of(values: Any, columns: np.ndarray) -> Any:
    """Some columns of encoded cells, in one piece or where they stand."""
    return values.select(columns) if isinstance(values, CrossRows) else np.ascontiguousarray(values[:, columns])
