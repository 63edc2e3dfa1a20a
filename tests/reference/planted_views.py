"""Results with several views made by hand: what a page or a picture shows of them is known beforehand."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.inference.description import describe_rows
from bayesgrove.inference.result import Result, View
from bayesgrove.inference.views import columns_to_draw
from reference.planted import planted_labels, planted_tree

LEVELS = ("calm", "shy", "wild")


def planted_views(
    n_columns: tuple[int, ...] = (5, 3, 2),
    sizes: tuple[tuple[int, ...], ...] = ((14, 10, 6), (20, 10), (12, 9, 6, 3)),
    *,
    names: tuple[str, ...] | None = None,
    column_names: tuple[str, ...] | None = None,
    missing: float = 0.05,
    seed: int = 3,
    **parts: Any,
) -> Result:
    """Views of so many columns, columns of different views taking turns; in each the rows have clusters of such sizes.

    The last column of all is one of categories.
    """
    rng = generator(seed)
    view_of = planted_labels(n_columns)
    labels = [rng.permutation(planted_labels(size)) for size in sizes]
    labels = [np.unique(own, return_index=True)[1].argsort().argsort()[own] for own in labels]
    table = _table(rng, view_of, labels, missing, column_names)
    views = tuple(
        View(f"view {k}", np.flatnonzero(view_of == k), own, planted_tree(own, names)) for k, own in enumerate(labels)
    )
    column_tree = planted_tree(view_of, table.names)
    drawn = columns_to_draw(views, column_tree)
    given = {
        "model": "Planted",
        "labels": views[0].labels,
        "tree": views[0].tree,
        "log_evidence": -1234.5,
        "likelihood": "none",
        "feature_names": table.names,
        "provenance": {"settings": {"cut": "half"}},
        "description": describe_rows(table.take, table.n_columns, views[0].tree, views[0].labels, drawn),
        "views": views,
        "column_tree": column_tree,
    }
    return Result(**{**given, **parts})


def planted_view_draws(n_columns: int = 10, n_rows: int = 30) -> CrossPosterior:
    """Two chains of 20 draws: in every other draw the first half of the columns is a view of its own."""
    views = np.zeros((2, 20, n_columns), np.int64)
    views[:, ::2, n_columns // 2 :] = 1
    n_partitions = int((views.max(axis=2) + 1).sum())
    log_joint = generator(5).normal(size=(2, 20))
    return CrossPosterior(views, {"log_joint": log_joint}, rows=np.zeros((n_partitions, n_rows), np.int64))


def without_tree_of_columns(result: Result) -> Result:
    """The same without a hierarchy of the columns."""
    return replace(result, column_tree=None)


def _table(
    rng: np.random.Generator,
    view_of: np.ndarray,
    labels: list[np.ndarray],
    missing: float,
    column_names: tuple[str, ...] | None,
) -> Table:
    n_columns = view_of.size
    centres = [rng.normal(0.0, 3.0, own.max() + 1) for own in (labels[k] for k in view_of)]
    cells = np.column_stack([centres[j][labels[k]] for j, k in enumerate(view_of)])
    cells += 0.6 * rng.normal(size=cells.shape)
    cells[:, -1] = labels[view_of[-1]] % len(LEVELS)
    cells[rng.random(cells.shape) < missing] = np.nan
    names = tuple(f"column {j}" for j in range(n_columns)) if column_names is None else column_names
    kinds = ("float",) * (n_columns - 1) + ("category",)
    return Table(np.ascontiguousarray(cells), names, kinds, {n_columns - 1: LEVELS})
