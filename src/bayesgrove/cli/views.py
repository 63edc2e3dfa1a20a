"""What the command line knows of models that divide the columns into views."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError

COLUMNS = "columns"
"""In place of the number of a view: the tree of the columns."""


def has_views(model: Any) -> bool:
    """Whether a fitted model has views."""
    return hasattr(model, "views_")


def view_headings(model: Any) -> list[str]:
    """Heads of columns, one per view: names without blanks."""
    return [view.name.replace(" ", "_") for view in model.result_.views]


def label_columns(model: Any) -> tuple[list[str], list[np.ndarray]]:
    """Heads and labels of the rows: one column, or one per view."""
    if not has_views(model):
        return ["cluster"], [np.asarray(model.labels_)]
    return view_headings(model), [view.labels_ for view in model.views_]


def summary_of(model: Any) -> dict[str, Any]:
    """What a summary says of views; nothing for other models."""
    if not has_views(model):
        return {}
    names = model.result_.feature_names
    found = [
        {"name": view.name, "n_clusters": view.n_clusters, "columns": [names[j] for j in view.columns]}
        for view in model.result_.views
    ]
    return {"n_views": len(found), "views": found}


def column_rows(model: Any) -> list[tuple[str, int]]:
    """The name of each column and the number of its view."""
    if not has_views(model):
        raise InvalidSettingError(
            f"--format views writes views, and {type(model).__name__} does not divide the columns."
        )
    return list(zip(model.result_.feature_names, np.asarray(model.view_labels_).tolist(), strict=True))


def chosen_tree(model: Any, view: str) -> Any:
    """The tree of the rows in a view, or that of the columns."""
    if not has_views(model):
        if view != "0":
            raise InvalidSettingError(f"--view chooses a view, and {type(model).__name__} does not divide the columns.")
        return model.tree_
    if view == COLUMNS:
        return model.column_tree_
    if not view.isdecimal() or int(view) >= len(model.views_):
        raise InvalidSettingError(f"--view is one of 0 to {len(model.views_) - 1} or {COLUMNS}, got {view!r}.")
    return model.views_[int(view)].tree_
