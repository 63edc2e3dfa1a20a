"""Results of nested hierarchies with what only a report needs: a picture of the tree, agreement with classes."""

import io
from dataclasses import replace
from typing import Any

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.exhibits import Exhibit, PictureExhibit
from bayesgrove.inference.path_exhibits import class_bars, hierarchy_exhibits
from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.inference.result import Result
from bayesgrove.plot import level_tree


def report_result(result: Result, posterior: PathPosterior, levels: Any, images: Any, classes: Any) -> Result:
    """The result with a picture of the tree, agreement with classes where they are given, and rows by their names."""
    found: list[Exhibit] = list(tree_picture(result, images))
    if classes is not None:
        if len(classes) != result.labels.size:
            raise InvalidInputError(f"classes are one per row, got {len(classes)} for {result.labels.size} rows.")
        found.append(class_bars(posterior, classes))
    return replace(result, exhibits=(*found, *hierarchy_exhibits(posterior, result.tree, levels)))


def tree_picture(result: Result, images: Any) -> list[Exhibit]:
    """The tree with its members; nothing where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    n_leaves = min(result.n_clusters, 40)
    figure = Figure(figsize=(9.0, min(max(1.6 + 0.42 * n_leaves, 3.0), 14.0)), layout="constrained")
    level_tree(result, figure.subplots(), images=images)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    picture = PictureExhibit(
        title="The hierarchy, level by level",
        note="Nodes without siblings are left out. Numbers: share of draws in which exactly these rows are a node.",
        png=stream.getvalue(),
        alt=f"A tree of {result.n_clusters} leaves with the names or pictures of their rows.",
    )
    return [picture]
