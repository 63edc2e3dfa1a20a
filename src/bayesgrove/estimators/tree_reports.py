"""What a report of clusters of trees shows besides the exhibits of the result: pictures of trees, known classes."""

import io
from dataclasses import replace
from typing import Any

from bayesgrove.inference.exhibits import Exhibit, PictureExhibit
from bayesgrove.inference.result import Result
from bayesgrove.inference.tree_exhibits import class_map
from bayesgrove.plot import typical_trees

MOST_LINES = 60
"""Of each tree."""


def report_result(model: Any, classes: Any = None) -> Result:
    """The result with a picture of the typical trees, and the table of classes where they are given."""
    found: list[Exhibit] = list(typical_picture(model))
    if classes is not None:
        found.append(class_map(model.class_table(classes)))
    return replace(model.result_, exhibits=(*found, *model.result_.exhibits))


def typical_picture(model: Any) -> list[Exhibit]:
    """The most typical trees side by side; nothing where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    n_lines = min(max((tree.parents.size for tree in model.typical_trees_), default=1), MOST_LINES)
    width = min(1.0 + 2.2 * min(model.n_clusters_, 8), 14.0)
    figure = Figure(figsize=(width, min(max(1.4 + 0.15 * n_lines, 2.6), 11.0)), layout="constrained")
    typical_trees(model, figure.subplots(), max_nodes=MOST_LINES)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    picture = PictureExhibit(
        title="Typical trees",
        note="Of each cluster the tree nearest to its mean, by how often labels stand at positions. Leaves of one "
        "label side by side share a line; (+n) counts nodes not drawn.",
        png=stream.getvalue(),
        alt=f"The most typical tree of each of {model.n_clusters_} clusters, as indented lists of labels.",
    )
    return [picture]
