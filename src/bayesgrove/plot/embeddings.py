"""Rows in the plane of greatest variance."""

from typing import Any

import numpy as np

from bayesgrove.inference.overview import principal_plane
from bayesgrove.inference.result import Result
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import cluster_colours, cluster_markers
from bayesgrove.plot.legends import cluster_legend
from bayesgrove.plot.subjects import as_result, cluster_sizes, needed_description
from bayesgrove.plot.words import bare, name_axes, room, set_title


def embedding(result: Any, ax: Any = None, *, title: str | None = None) -> Any:
    """Draw the rows by their first two principal components, clusters by colour and marker; return the axes.

    Columns have mean 0 and variance 1, missing cells stand at the mean, categories are yes/no columns. Of large tables
    1,000 rows are shown, evenly spread along the tree.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.embedding(bg.BHC(random_state=0).fit(blobs.X))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0 (10)', '1 (10)', '2 (10)']
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    plane = principal_plane(needed_description(result, "embedding"))
    ax = new_axes(ax, (6.4, 5.0))
    drawn = _scatter(ax, result, plane.items, plane.xy)
    ax.set_aspect("equal", adjustable="datalim")  # distances mean something
    axes = [
        f"{order} component ({100 * share:.0f} % of variance)"
        for order, share in zip(("first", "second"), plane.share, strict=True)
    ]
    name_axes(ax, *axes)
    set_title(ax, title, above=cluster_legend(ax, result, drawn))
    bare(ax)
    return ax


def _scatter(ax: Any, result: Result, items: np.ndarray, xy: np.ndarray) -> dict[int, Any]:
    """A collection of points for each cluster that is shown, larger clusters below smaller ones."""
    labels, sizes = result.labels[items], cluster_sizes(result)
    colours = cluster_colours(result.tree, result.labels)
    markers = cluster_markers(result.tree, result.labels)
    area = float(np.clip(9.0 * sum(room(ax)) / np.sqrt(items.size) / 12.0, 7.0, 42.0))
    drawn = {}
    for label in sorted(np.unique(labels).tolist(), key=lambda label: -sizes[label]):
        own = xy[labels == label]
        drawn[label] = ax.scatter(
            own[:, 0],
            own[:, 1],
            area,
            c=colours[label],
            marker=markers[label],
            linewidths=0.4,
            edgecolors="white",
            alpha=0.9,
        )
    return drawn
