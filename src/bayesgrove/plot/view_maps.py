"""Heat map of which columns share a view."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.inference.views import same_view_sample, view_numbers
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import PALETTE
from bayesgrove.plot.strips import GAP, WIDTH, runs_of
from bayesgrove.plot.subjects import needed_views
from bayesgrove.plot.words import LINE, SMALLEST_FONT, font_of, name_axes, name_colour_bar, room, set_title, told_apart


def view_map(
    result: Any, ax: Any = None, *, max_columns: int = 200, colour_map: Any = "Greys", title: str | None = None
) -> Any:
    """Draw how probable it is that each two columns share a view, as a heat map, and return the matplotlib axes.

    Columns are in the order of the column tree. The strip on the left wears the colours of the views, as in `views`.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    max_columns : int
        Of more columns, so many are shown, evenly spread along the column tree.
    colour_map : str or matplotlib colour map
        For probabilities from 0 to 1.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> table = bg.datasets.make_cross_table(n_rows=20, view_columns=(4, 6), view_clusters=(3, 2), random_state=0)
    >>> model = bg.BHCC(bg.likelihoods.Binomial(n_trials=50), random_state=0).fit(table.X)
    >>> ax = bg.plot.view_map(model)
    >>> int(ax.images[0].get_array().round().sum())  # pairs in one view: 4 x 4 and 6 x 6
    52
    >>> plt.close(ax.figure)
    """
    result = needed_views(result, "view_map")
    if max_columns < 1:
        raise InvalidSettingError(f"max_columns is at least 1, got {max_columns}. Try 200.")
    pairs = same_view_sample(result, max_columns)
    if pairs is None:
        raise InvalidInputError(
            "view_map needs draws or a column tree with log_merge_odds, and this result has neither. "
            "Draw views(result)."
        )
    ax = new_axes(ax, (6.4, 5.4))
    image = ax.imshow(pairs.probability, cmap=colour_map, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    n_all = len(result.feature_names)
    some = f"{n_all:,}" if pairs.columns.size == n_all else f"{pairs.columns.size:,} of {n_all:,}"
    name_axes(ax, f"{some} columns in the order of the column tree")
    set_title(ax, title)
    name_colour_bar(ax, bar, "share of draws in one view" if pairs.is_sampled else "probability of one view")
    _draw_strip(ax, view_numbers(result)[pairs.columns])
    _name_columns(ax, [result.feature_names[j] for j in pairs.columns])
    return ax


def _draw_strip(ax: Any, views: np.ndarray) -> None:
    """Views as coloured blocks on the left."""
    from matplotlib.collections import PolyCollection

    n = views.size
    left, right = -(WIDTH + GAP) * n - 0.5, -GAP * n - 0.5
    start, stop = runs_of(views)
    blocks = [[(left, a), (right, a), (right, b), (left, b)] for a, b in zip(start - 0.5, stop - 0.5, strict=True)]
    shades = [PALETTE[view % len(PALETTE)] for view in views[start]]
    ax.add_collection(
        PolyCollection(blocks, facecolors=shades, edgecolors="white", linewidths=0.4, label="views"), autolim=False
    )
    ax.set_xlim(left, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    for side in ax.spines.values():
        side.set_visible(False)


def _name_columns(ax: Any, names: list[str]) -> None:
    """Names beside the rows of the map where they can be read."""
    font = min(font_of(ax) - 1.0, room(ax)[1] / len(names) / LINE * 1.1)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    if font < SMALLEST_FONT:
        ax.set_yticks([])
    else:
        ax.set_yticks(np.arange(len(names)), told_apart(names), fontsize=font)
