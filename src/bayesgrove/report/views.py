"""What a page shows of views: the tree of the columns, which columns share a view, and each view's own hierarchy."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.result import Result
from bayesgrove.inference.views import (
    same_view_sample,
    view_columns,
    view_count_law,
    view_numbers,
    view_order,
    view_result,
)
from bayesgrove.report import words
from bayesgrove.report.encode import pack
from bayesgrove.report.parts import Bounds, hierarchy_document
from bayesgrove.report.tree import nodes_document

MOST_VIEWS = 24
"""Of more views the largest are on the page; the others are counted."""
MOST_COLUMNS = 2_000
"""Leaves of the column tree."""
MOST_COLUMN_PAIRS = 200


def shown_views(result: Result) -> range:
    """Numbers of the views that a page holds."""
    return range(min(len(result.views), MOST_VIEWS))


def views_document(result: Result, bounds: Bounds) -> dict[str, Any]:
    """The columns and their views; each view has what a page needs to show it, the first has it in the page itself."""
    view_of = view_numbers(result)
    tree, shown = result.column_tree, shown_views(result)
    return {
        "n_views": len(result.views),
        "sentence": words.how_many_views(result, view_count_law(result)),
        "columns": list(result.feature_names),
        "view_of": pack(np.where(view_of < len(shown), view_of, NULL), "i4"),
        "order": [k for k in view_order(result) if k in shown],
        "tree": None if tree is None else nodes_document(tree, view_of, MOST_COLUMNS),
        "together": _together(result),
        "list": [_view_document(result, k, bounds) for k in shown],
    }


def _view_document(result: Result, number: int, bounds: Bounds) -> dict[str, Any]:
    view, columns = result.views[number], view_columns(result, number)
    described = result.description
    drawn = None if described is None else columns[np.isin(columns, described.columns)]
    return {
        "name": view.name,
        "columns": pack(columns, "i4"),
        "drawn": None if drawn is None else pack(drawn, "i4"),
        "n_clusters": view.n_clusters,
        "page": None if number == 0 else _page_of_view(result, number, bounds),
    }


def _page_of_view(result: Result, number: int, bounds: Bounds) -> dict[str, Any]:
    page = hierarchy_document(view_result(result, number), bounds)
    page["items"]["names"] = None  # the same for all views
    return page


def _together(result: Result) -> dict[str, Any] | None:
    found = same_view_sample(result, MOST_COLUMN_PAIRS)
    if found is None:
        return None
    return {
        "columns": pack(found.columns, "i4"),
        "values": pack(found.probability, "f4"),
        "is_sampled": found.is_sampled,
    }
