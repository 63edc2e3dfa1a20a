"""What the command line knows of models with several partitions of the rows: one per view, or one per level."""

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


def has_levels(model: Any) -> bool:
    """Whether a fitted model is a hierarchy of fixed depth."""
    return hasattr(model, "level_labels_")


def has_typical_trees(model: Any) -> bool:
    """Whether a fitted model is one of clusters of trees."""
    return hasattr(model, "typical_trees_")


def label_columns(model: Any) -> tuple[list[str], list[np.ndarray]]:
    """Heads and labels of the rows: one column, or one per view, or the cluster and one per level."""
    if has_levels(model):
        levels = np.asarray(model.level_labels_).T
        return ["cluster", *(f"level_{k}" for k in range(1, len(levels) + 1))], [np.asarray(model.labels_), *levels]
    if not has_views(model):
        return ["cluster"], [np.asarray(model.labels_)]
    return view_headings(model), [view.labels_ for view in model.views_]


def summary_of(model: Any) -> dict[str, Any]:
    """What a summary says of views or of levels; nothing for other models."""
    if has_levels(model):
        counts = [int(level.max()) + 1 for level in model.level_labels_.T]
        return {"nodes_by_level": counts, "scores": {name: finite(score) for name, score in model.scores_.items()}}
    if not has_views(model):
        return {}
    names = model.result_.feature_names
    found = [
        {"name": view.name, "n_clusters": view.n_clusters, "columns": [names[j] for j in view.columns]}
        for view in model.result_.views
    ]
    return {"n_views": len(found), "views": found}


def reported_result(model: Any) -> Any:
    """What a report shows: the result, of a hierarchy of fixed depth with a picture of it."""
    if has_typical_trees(model):
        from bayesgrove.estimators.tree_reports import report_result as report_trees

        return report_trees(model)
    if not has_levels(model):
        return model.result_
    from bayesgrove.estimators.nested_reports import report_result

    return report_result(model.result_, model.posterior_, model.level_labels_, None, None)


def finite(number: float) -> float | None:
    """The number, or None where JSON has none for it."""
    return float(number) if np.isfinite(number) else None


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
