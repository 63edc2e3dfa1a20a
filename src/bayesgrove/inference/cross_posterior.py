"""`CrossPosterior`: draws of cross-clusterings, that is of views of columns and, in each view, of clusters of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.description import spread
from bayesgrove.inference.diagnostics import Diagnostics, diagnose, row_scalars
from bayesgrove.inference.export import draws_to_arviz
from bayesgrove.inference.notebook import draws_html
from bayesgrove.inference.posterior import Posterior


@dataclass(frozen=True, eq=False, repr=False)
class CrossPosterior(Posterior):
    """Draws of views: `labels` are the views of the columns, and every view of every draw has labels of the rows.

    All that `Posterior` answers is answered of the columns: `similarity()` is how often two columns share a view.
    `of_view` gives the posterior of the rows as some columns see them.

    Attributes
    ----------
    labels : int array of shape (n_chains, n_draws, n_columns)
        Also called `view_labels`; 0, 1, ... by first appearance.
    rows : int array of shape (n_views_of_all_draws, n_rows)
        Labels of the rows in the views of the first draw of the first chain, of the second draw, and so on.

    Examples
    --------
    >>> views = [[[0, 0, 1], [0, 0, 0]]]
    >>> posterior = CrossPosterior(views, rows=[[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]])
    >>> posterior.row_labels[0][0].tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> posterior.similarity()[0].tolist()
    [1.0, 1.0, 0.5]
    >>> posterior.of_view([0, 1]).labels.tolist()
    [[[0, 0, 1, 1], [0, 0, 0, 1]]]
    """

    rows: np.ndarray = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = np.asarray(self.rows).view()
        if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iu":
            raise InvalidInputError(
                f"rows are integers of the shape (view, row), got {rows.dtype} of shape {rows.shape}. "
                "Stack the labels of all views of all draws."
            )
        if int(self.n_views.sum()) != len(rows):
            raise InvalidInputError(
                f"rows have a line for each view of each draw, {int(self.n_views.sum())} in all, got {len(rows)}. "
                "Number the views of each draw 0, 1, ...."
            )
        rows.setflags(write=False)
        object.__setattr__(self, "rows", rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.labels, dict(self.scalars), dict(self.extra), dict(self.attributes), self.rows)

    def _repr_html_(self) -> str:
        return draws_html(self.labels, tuple(self.scalars), items="columns", groups="views")

    @property
    def view_labels(self) -> np.ndarray:
        """View of each column, (n_chains, n_draws, n_columns)."""
        return self.labels

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[1])

    @cached_property
    def n_views(self) -> np.ndarray:
        """Number of views of each draw, (n_chains, n_draws)."""
        return self.labels.max(axis=2).astype(np.int64) + 1

    @cached_property
    def first_views(self) -> np.ndarray:
        """Where the views of each draw begin in `rows`, and where the last ones end: (n_chains * n_draws + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_views)])

    @cached_property
    def row_labels(self) -> tuple[tuple[np.ndarray, ...], ...]:
        """`row_labels[chain][draw]` has the labels of the rows in each view of that draw, (n_views, n_rows)."""
        parts = np.split(self.rows, self.first_views[1:-1])
        return tuple(tuple(parts[c * self.n_draws : (c + 1) * self.n_draws]) for c in range(self.n_chains))

    def subset(self, chains: Any = None, draws: Any = None) -> "CrossPosterior":
        """The posterior of some chains and draws, each given as a slice or a list of numbers."""
        pick = np.atleast_1d(np.arange(self.n_chains)[slice(None) if chains is None else chains])
        keep = np.atleast_1d(np.arange(self.n_draws)[slice(None) if draws is None else draws])
        chosen = np.ix_(pick, keep)
        return CrossPosterior(
            self.labels[chosen],
            {name: values[chosen] for name, values in self.scalars.items()},
            {name: values[chosen] for name, values in self.extra.items()},
            self.attributes,
            rows=np.concatenate([self.row_labels[c][d] for c in pick for d in keep]),
        )

    def of_view(self, columns: ArrayLike) -> Posterior:
        """Partitions of the rows: in each draw those of the view that holds most of some columns.

        Parameters
        ----------
        columns : int array
            Numbers of columns. Where two views hold as many of them, the one with the smaller number is taken.
        """
        chosen = self._some_items(columns)
        views = self.labels.reshape(-1, self.n_items)[:, chosen] + self.first_views[:-1, None]
        counts = np.bincount(views.ravel(), minlength=len(self.rows))
        spans = zip(self.first_views[:-1], self.first_views[1:], strict=True)
        most = np.array([first + np.argmax(counts[first:last]) for first, last in spans])
        labels = self.rows[most].reshape(self.n_chains, self.n_draws, self.n_rows)
        return Posterior(labels, {"log_joint": self.scalars["log_joint"]} if "log_joint" in self.scalars else {})

    def diagnostics(self) -> Diagnostics:
        """As of other posteriors, of the views; and of the rows as three columns, evenly spread, see them."""
        watched = dict(self.scalars)
        for column in spread(self.n_items, 3).tolist():
            watched |= row_scalars(column, self.of_view([column])._draws.reshape(*self.labels.shape[:2], self.n_rows))
        return diagnose(self._draws.reshape(self.labels.shape), watched)

    def to_arviz(self) -> Any:
        """An xarray DataTree as ArviZ reads it, and beside it the rows.

        The group `posterior` has `view_labels` (chain, draw, column), scalars and extra draws. The group `rows` has
        `row_labels` (partition, row), one line for each view of each draw, with `chain`, `draw` and `view` of each
        line as coordinates: draws differ in their numbers of views.
        """
        tree = draws_to_arviz(
            self.labels,
            {**self.scalars, **self.extra},
            self.attributes,
            name="view_labels",
            item="column",
            dims={"column_numbers": ["column", "number"]} if "column_numbers" in self.extra else None,
        )
        number = np.repeat(np.arange(self.n_views.size), self.n_views.ravel())
        places = {"chain": number // self.n_draws, "draw": number % self.n_draws}
        places["view"] = np.arange(len(self.rows)) - self.first_views[number]
        dataset = type(tree["posterior"].to_dataset())
        tree["rows"] = type(tree)(
            dataset(
                {"row_labels": (("partition", "row"), self.rows)},
                {name: ("partition", values) for name, values in places.items()},
            )
        )
        return tree


def _restored(
    labels: np.ndarray, scalars: Mapping[str, Any], extra: Mapping[str, Any], attributes: Mapping[str, Any], rows: Any
) -> CrossPosterior:
    return CrossPosterior(labels, scalars, extra, attributes, rows=rows)


def cross_posterior(
    draws: Sequence[Mapping[str, np.ndarray]], scalars: Mapping[str, np.ndarray], attributes: Mapping[str, Any]
) -> CrossPosterior:
    """The posterior of chains' draws by name: `view_labels`, `row_labels` (an array per draw), and all else as extra.

    Labels of rows are kept in as few bytes as hold them.
    """
    others = {
        name: np.stack([chain[name] for chain in draws])
        for name in draws[0]
        if name not in ("view_labels", "row_labels")
    }
    rows = np.concatenate([labels for chain in draws for labels in chain["row_labels"]])
    rows = rows.astype(np.min_scalar_type(int(rows.max())), copy=False)
    return CrossPosterior(np.stack([chain["view_labels"] for chain in draws]), scalars, others, attributes, rows=rows)
