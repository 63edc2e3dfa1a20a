"""Heat map of how often rows are together."""

from typing import Any

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.overview import pair_sample
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.strips import draw_strip, name_rows
from bayesgrove.plot.subjects import as_result_of_rows, no_probabilities
from bayesgrove.plot.words import name_axes, name_colour_bar, set_title


def similarity(
    result: Any, ax: Any = None, *, max_items: int = 600, colour_map: Any = "Greys", title: str | None = None
) -> Any:
    """Draw how often each two rows are in one cluster, as a heat map, and return the matplotlib axes.

    Rows are in the order of the consensus tree of the draws, cluster by cluster; of a model without draws, in the order
    of its tree. The strip on the left wears the colours of the clusters.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    max_items : int
        Of more rows, so many are shown, evenly spread along the tree.
    colour_map : str or matplotlib colour map
        For probabilities from 0 to 1.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.similarity(bg.BHC(random_state=0).fit(blobs.X))
    >>> float(ax.images[0].get_array().mean().round(2))  # a third of all pairs are together
    0.33
    >>> plt.close(ax.figure)
    """
    result = as_result_of_rows(result)
    if max_items < 1:
        raise InvalidSettingError(f"max_items is at least 1, got {max_items}. Try 600.")
    pairs = pair_sample(result, max_items)
    if pairs is None:
        raise no_probabilities("similarity")
    ax = new_axes(ax, (6.4, 5.4))
    image = ax.imshow(pairs.similarity, cmap=colour_map, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    name_axes(ax, f"{result.noun}s in the order of the {'consensus tree' if pairs.is_sampled else 'tree'}")
    set_title(ax, title)
    name_colour_bar(ax, bar, "share of draws together" if pairs.is_sampled else "probability of one cluster")
    draw_strip(ax, result, pairs.items, pairs.items.size)
    name_rows(ax, result, pairs.items)
    ax.set_xticks([])
    return ax
