"""The cells of the table, rows in the order of the tree and columns by views."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.description import Description, spread
from bayesgrove.inference.overview import feature_cells, sampled_features
from bayesgrove.inference.result import Result
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.strips import draw_strip, name_rows
from bayesgrove.plot.subjects import as_result, needed_description
from bayesgrove.plot.words import (
    LETTER,
    LINE,
    SMALLEST_FONT,
    font_of,
    name_axes,
    name_colour_bar,
    room,
    set_title,
    shortened,
    told_apart,
)

MISSING = "#F0C000"
"""Not on the colour scales."""
FARTHEST = 2.5
"""Standard deviations at the ends of the scale."""
BESIDE_BAR = 0.82
"""Of the width is left beside the colour bar."""
NAMES_SHARE = 0.3
"""Of the height at most goes to names of columns."""
GAP = 0.015
"""Between views, in shares of the number of columns."""


def data_heatmap(
    result: Any, ax: Any = None, *, max_rows: int = 1000, max_columns: int = 200, title: str | None = None
) -> Any:
    """Draw the cells of the table as colours, rows in the order of the tree; return the matplotlib axes.

    Columns of numbers are in standard deviations from their means; a table of yes/no columns only has two colours.
    Categories are shown as a yes/no column each. Columns stand view by view where the model has views. Of large tables
    a sample of 1,000 rows and the 200 most telling columns are known.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    max_rows, max_columns : int
        Of more, so many are shown: rows evenly spread, columns those that tell clusters apart best.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.data_heatmap(bg.BHC(random_state=0).fit(blobs.X))
    >>> ax.get_ylabel(), ax.get_xlabel()
    ('30 rows', '2 columns')
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    described = needed_description(result, "data_heatmap")
    for name, value in (("max_rows", max_rows), ("max_columns", max_columns)):
        if value < 1:
            raise InvalidSettingError(f"{name} is at least 1, got {value}. Try 100.")
    grid = make_grid(result, described, max_rows, max_columns)
    ax = new_axes(ax, (7.6, 5.4))
    share = _name_columns(ax, grid, len(described.features), "column" if result.noun == "row" else "feature")
    width = _draw_cells(ax, grid, share)
    draw_strip(ax, result, grid.items, width)
    name_rows(ax, result, grid.items, share)
    set_title(ax, title, above=_name_views(ax, grid))
    return ax


class Grid(NamedTuple):
    """Cells to draw, and what they are."""

    items: np.ndarray
    cells: np.ndarray
    """(n_rows, n_columns): standard deviations from the mean, or 0 and 1; nan where missing."""
    names: list[str]
    is_yes_no: bool
    starts: np.ndarray
    """First column of each view; only 0 without views."""
    views: list[str]


def make_grid(result: Result, described: Description, max_rows: int, max_columns: int) -> Grid:
    """The cells of some rows and of the most telling columns, view by view."""
    sampled = sampled_features(described)
    telling = np.nan_to_num(described.clusters.telling[:, sampled]).sum(axis=0)
    best = np.sort(np.argsort(-telling, kind="stable")[:max_columns])
    features = [described.features[f] for f in sampled[best]]
    view_of = _view_numbers(result, np.array([feature.column for feature in features], np.int64))
    order = np.argsort(view_of, kind="stable")
    cells = _cells_with_gaps(described, best)[:, order]
    is_yes_no = all(feature.is_rate for feature in features)
    rows = spread(described.rows.size, max_rows)
    shown = cells if is_yes_no else standardised(cells)
    in_order = view_of[order]
    names = [*(view.name for view in result.views), "other columns"]
    starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
    views = [names[k] for k in in_order[starts]] if result.views else []
    return Grid(described.rows[rows], shown[rows], [features[k].name for k in order], is_yes_no, starts, views)


def _view_numbers(result: Result, columns: np.ndarray) -> np.ndarray:
    """The first view that has each column; the number of views where none has."""
    found = np.full(columns.size, len(result.views))
    for k in reversed(range(len(result.views))):
        found[np.isin(columns, result.views[k].columns)] = k
    return found


def _cells_with_gaps(described: Description, chosen: np.ndarray) -> np.ndarray:
    """Cells of some of the sampled features; nan all along where a column has no cells."""
    cells = feature_cells(described)[:, chosen]
    columns = [described.features[f].column for f in sampled_features(described)[chosen]]
    sorter = np.argsort(described.columns)
    places = sorter[np.searchsorted(described.columns, columns, sorter=sorter)]
    is_empty = np.isnan(described.sample.values[:, places]).all(axis=0)
    return np.where(is_empty, np.nan, cells)


def standardised(cells: np.ndarray) -> np.ndarray:
    """Standard deviations from the mean of each column; nan stays."""
    seen = ~np.isnan(cells)
    n = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, cells, 0.0).sum(axis=0) / n
    centred = np.where(seen, cells - mean, 0.0)
    scale = np.sqrt((centred**2).sum(axis=0) / n)
    return np.where(seen, centred / np.where(scale > 0.0, scale, 1.0), np.nan)


def _draw_cells(ax: Any, grid: Grid, share: float) -> float:
    """The cells, view by view with gaps; gives the width in columns."""
    shades, low, high = colours_of_cells(grid.is_yes_no)
    n_rows, n_columns = grid.cells.shape
    gap = _gap(grid)
    stops = [*grid.starts[1:], n_columns]
    for k, (start, stop) in enumerate(zip(grid.starts, stops, strict=True)):
        across = (start - 0.5 + k * gap, stop - 0.5 + k * gap)
        image = ax.imshow(
            np.ma.masked_invalid(grid.cells[:, start:stop]),
            cmap=shades,
            vmin=low,
            vmax=high,
            aspect="auto",
            interpolation="nearest",
            extent=(*across, n_rows - 0.5, -0.5),
        )
    add_colour_bar(ax, image, share, is_yes_no=grid.is_yes_no, has_missing=bool(np.isnan(grid.cells).any()))
    return n_columns + gap * (grid.starts.size - 1)


def colours_of_cells(is_yes_no: bool) -> tuple[Any, float, float]:
    """The colour map and the ends of its scale."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    scale = ListedColormap(["#EDEDED", "#23446B"]) if is_yes_no else colormaps["RdBu_r"]
    low, high = (0.0, 1.0) if is_yes_no else (-FARTHEST, FARTHEST)
    return scale.with_extremes(bad=MISSING), low, high


def _gap(grid: Grid) -> float:
    return max(GAP * grid.cells.shape[1], 0.3)


def add_colour_bar(ax: Any, image: Any, share: float, *, is_yes_no: bool, has_missing: bool) -> None:
    """What the colours of cells mean, beside the axes."""
    missing = "; yellow: missing" if has_missing else ""
    if is_yes_no:
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02, ticks=[0.25, 0.75], fraction=0.06, shrink=0.5)
        name_colour_bar(ax, bar, f"cell{missing}", share)
        bar.ax.set_yticklabels(["no", "yes"])
        bar.ax.tick_params(length=0)
        return
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.06, extend="both")
    name_colour_bar(ax, bar, f"standard deviations from the mean{missing}", share)


def _name_columns(ax: Any, grid: Grid, n_all: int, noun: str) -> float:
    """Names below the columns where they can be read; gives the share of the height that they leave."""
    n, (width, height) = len(grid.names), room(ax)
    whole = f"{n_all:,} {noun}{'' if n_all == 1 else 's'}"
    name_axes(ax, whole if n == n_all else f"{n:,} most telling of {whole}")
    largest, each = font_of(ax) - 1.0, BESIDE_BAR * width / n
    font = min(largest, each / LINE)
    ax.tick_params(axis="x", length=0)
    if font < SMALLEST_FONT:
        ax.set_xticks([])
        return 1.0
    names = told_apart(grid.names, max(int(NAMES_SHARE * height / (LETTER * font)), 6))
    longest = LETTER * max(map(len, names))
    is_wide = longest * largest > 0.9 * each
    places = np.arange(n) + _gap(grid) * (np.searchsorted(grid.starts, np.arange(n), side="right") - 1)
    ax.set_xticks(places, names, rotation=90 if is_wide else 0, fontsize=font if is_wide else largest)
    return 1.0 - longest * font / height if is_wide else 1.0


def _name_views(ax: Any, grid: Grid) -> float:
    """Names over the views, as wide as these; gives the height they take."""
    if not grid.views:
        return 0.0
    font, n_columns = font_of(ax) - 1.0, grid.cells.shape[1]
    stops = np.append(grid.starts[1:], n_columns)
    for k, (start, stop, name) in enumerate(zip(grid.starts, stops, grid.views, strict=True)):
        middle = (start + stop - 1) / 2.0 + k * _gap(grid)
        letters = int((stop - start) / n_columns * room(ax)[0] / (LETTER * font))
        if letters >= 2:
            ax.annotate(
                shortened(name, letters),
                (middle, 1.0),
                xycoords=ax.get_xaxis_transform(),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=font,
            )
    return 1.4 * font
