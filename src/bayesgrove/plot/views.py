"""Views side by side: the tree of the columns above, below it for every view its tree of rows and its cells."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.overview import sampled_features
from bayesgrove.inference.result import Result
from bayesgrove.inference.views import view_numbers, view_order, view_result
from bayesgrove.plot.axes import HeightAxis, drawn_heights, height_axis, new_axes
from bayesgrove.plot.colours import MIXED, PALETTE, cluster_colours, node_colours
from bayesgrove.plot.dendrograms import draw_branches
from bayesgrove.plot.members import ends_in_order, with_ends_at
from bayesgrove.plot.strips import runs_of
from bayesgrove.plot.subjects import needed_description, needed_views
from bayesgrove.plot.tables import Grid, add_colour_bar, colours_of_cells, make_grid, standardised
from bayesgrove.plot.words import (
    LETTER,
    LINE,
    SMALLEST_FONT,
    font_of,
    name_axes,
    room,
    set_title,
    shortened,
    told_apart,
)
from bayesgrove.trees import Layout, Tree, lay_out
from bayesgrove.trees.cuts import node_labels

MOST_LEAVES = 1_000
"""Of a tree of rows; larger ones show their highest merges."""
TREES_SHARE, STRIP_SHARE, GAP_SHARE = 0.30, 0.035, 0.09
"""Of the width go to the trees of rows, to strips of cluster colours and to gaps."""
COLUMN_TREE = 0.30
"""Height of the tree of columns, in heights of the cells."""
BAND = (0.012, 0.035)
"""The colour of the view above its cells."""
NAMES_SHARE = 0.2
"""Of the height at most goes to names of columns."""
BESIDE_BAR = 0.82


def views(result: Any, ax: Any = None, *, max_rows: int = 1000, max_views: int = 12, title: str | None = None) -> Any:
    """Draw views side by side, as in Figure 1 of Li and Shafto (2011), and return the matplotlib axes.

    Above, the tree of the columns, in the colours of views. Below it, every view with its own tree of the rows, its
    clusters and its cells: rows stand in the order of the view's tree, columns in that of the column tree. Colours of
    cells are as in `data_heatmap`.

    Parameters
    ----------
    result : Result or fitted estimator
        Of BHCC, RandomizedBHCC or CrossCat.
    ax : matplotlib axes, optional
        A new figure when missing.
    max_rows : int
        Of more rows, so many are shown, evenly spread along each tree.
    max_views : int
        Of more views the largest are shown.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> table = bg.datasets.make_cross_table(n_rows=20, view_columns=(4, 6), view_clusters=(3, 2), random_state=0)
    >>> model = bg.BHCC(bg.likelihoods.Binomial(n_trials=50), random_state=0).fit(table.X)
    >>> ax = bg.plot.views(model)
    >>> ax.get_xlabel(), [image.get_array().shape for image in ax.images]
    ('2 views, 10 columns', [(20, 4), (20, 6)])
    >>> plt.close(ax.figure)
    """
    result = needed_views(result, "views")
    needed_description(result, "views")
    for name, value in (("max_rows", max_rows), ("max_views", max_views)):
        if value < 1:
            raise InvalidSettingError(f"{name} is at least 1, got {value}. Try 12.")
    panels = make_panels(result, max_rows, max_views)
    ax = new_axes(ax, (9.6, 5.8))
    share = _name_columns(ax, panels, len(result.views))
    image, is_yes_no = _draw_cells(ax, panels)
    for panel in panels:
        _draw_rows(ax, panel)
    top = _draw_column_tree(ax, result, panels)
    _dress(ax, result, panels, top)
    has_missing = any(np.isnan(panel.grid.cells).any() for panel in panels)
    add_colour_bar(ax, image, share, is_yes_no=is_yes_no, has_missing=has_missing)
    set_title(ax, title, above=1.3 * (font_of(ax) - 1.0))
    return ax


class Panel(NamedTuple):
    """One view and where it stands: left end of its tree, of its strip and of its cells, in columns."""

    number: int
    result: Result
    grid: Grid
    columns: np.ndarray
    """Number of the table's column that each column of the grid is of."""
    tree_at: float
    strip_at: float
    cells_at: float

    @property
    def end(self) -> float:
        """Right end of the cells."""
        return self.cells_at + self.grid.cells.shape[1]


def make_panels(result: Result, max_rows: int, max_views: int) -> list[Panel]:
    """The views from left to right; views without any column in the description are left out."""
    found = []
    for number in [k for k in view_order(result) if k < max_views]:
        own = view_result(result, number)
        if own.description is not None:
            grid = make_grid(own, own.description, max_rows, len(own.description.features))
            columns = np.array([feature.column for feature in own.description.features])
            found.append((number, own, grid, columns[sampled_features(own.description)]))
    n_columns = sum(grid.cells.shape[1] for _, _, grid, _ in found)
    unit = n_columns / (1.0 - TREES_SHARE - STRIP_SHARE - GAP_SHARE) / len(found)
    panels, at = [], 0.0
    for number, own, grid, columns in found:
        strip_at = at + TREES_SHARE * unit
        cells_at = strip_at + STRIP_SHARE * unit
        panels.append(Panel(number, own, grid, columns, at, strip_at, cells_at))
        at = panels[-1].end + GAP_SHARE * unit
    return panels


def _draw_cells(ax: Any, panels: list[Panel]) -> tuple[Any, bool]:
    """Cells on one scale of colours; gives the last image, and whether all are yes or no."""
    is_yes_no = all(panel.grid.is_yes_no for panel in panels)
    shades, low, high = colours_of_cells(is_yes_no)
    for panel in panels:
        cells = panel.grid.cells
        shown = standardised(cells) if panel.grid.is_yes_no and not is_yes_no else cells
        image = ax.imshow(
            np.ma.masked_invalid(shown),
            cmap=shades,
            vmin=low,
            vmax=high,
            aspect="auto",
            interpolation="nearest",
            extent=(panel.cells_at, panel.end, 1.0, 0.0),
        )
    return image, is_yes_no


def _draw_rows(ax: Any, panel: Panel) -> None:
    """The tree of the rows, the strip of their clusters, and the colour of the view above its cells."""
    from matplotlib.collections import PolyCollection

    own = panel.result
    layout = lay_out(own.tree, MOST_LEAVES)
    nodes = layout.node[ends_in_order(layout)]
    middles = (own.tree.leaf_start[nodes] + own.tree.size[nodes] / 2.0) / own.tree.n_leaves
    pad = 0.15 * (panel.strip_at - panel.tree_at)
    axis = HeightAxis(0.0, panel.strip_at - pad / 2.0, panel.tree_at, False, False)
    heights = axis.base + levels_of(own.tree, layout) * (axis.top - axis.base)
    colours = node_colours(own.tree, own.labels, layout.node)
    draw_branches(ax, with_ends_at(layout, middles), heights, axis, colours, is_vertical=False)
    labels = own.labels[panel.grid.items]
    start, stop = runs_of(labels)
    shades = [cluster_colours(own.tree, own.labels)[label] for label in labels[start]]
    left, right = panel.strip_at, panel.cells_at - 0.15 * (panel.cells_at - panel.strip_at)
    edges = zip(start / labels.size, stop / labels.size, strict=True)
    blocks = [[(left, a), (right, a), (right, b), (left, b)] for a, b in edges]
    strip = PolyCollection(blocks, facecolors=shades, edgecolors="white", linewidths=0.3, label="clusters")
    ax.add_collection(strip, autolim=False)
    low, high = panel.cells_at, panel.end
    band = [[(low, -BAND[0]), (high, -BAND[0]), (high, -BAND[1]), (low, -BAND[1])]]
    ax.add_collection(PolyCollection(band, facecolors=[view_colour(panel.number)], label="view"), autolim=False)


def view_colour(number: int) -> str:
    """The colour of a view, the same in all pictures."""
    return PALETTE[number % len(PALETTE)]


def levels_of(tree: Tree, layout: Layout) -> np.ndarray:
    """Heights of the shown nodes between 0 at the leaves and 1 above the root, by asinh where they are odds."""
    axis = height_axis(tree, "auto")
    heights, ends = drawn_heights(tree, layout, axis), np.array([axis.base, axis.top])
    if axis.is_asinh:
        heights, ends = np.arcsinh(heights), np.arcsinh(ends)
    return (heights - ends[0]) / (ends[1] - ends[0])


def _draw_column_tree(ax: Any, result: Result, panels: list[Panel]) -> float:
    """The tree of the columns that are drawn; gives where it ends."""
    tree = result.column_tree
    if tree is None:
        return -BAND[1]
    layout = lay_out(tree, tree.n_leaves)
    places = _column_places(result, panels)[tree.leaf_order]
    placed = _without_gaps(layout, places)
    axis = HeightAxis(0.0, -BAND[1] - 0.005, -BAND[1] - COLUMN_TREE, False, False)
    heights = axis.base + levels_of(tree, layout)[placed.kept] * (axis.top - axis.base)
    labels = node_labels(tree, view_numbers(result))[placed.layout.node]
    colours = [MIXED if label < 0 else view_colour(label) for label in labels.tolist()]
    draw_branches(ax, placed.layout, heights, axis, colours, is_vertical=True)
    return axis.top


def _column_places(result: Result, panels: list[Panel]) -> np.ndarray:
    """Middle of each column of the table; nan for those that are not drawn."""
    found = np.full(len(result.feature_names), np.nan)
    for panel in panels:
        middles = panel.cells_at + np.arange(panel.columns.size) + 0.5
        for column in np.unique(panel.columns):
            found[column] = middles[panel.columns == column].mean()
    return found


class Placed(NamedTuple):
    """The part of a layout that is drawn, and which nodes of the layout it has."""

    layout: Layout
    kept: np.ndarray


def _without_gaps(layout: Layout, places: np.ndarray) -> Placed:
    """The layout with ends at these places, without the branches that have none."""
    x = layout.x.copy()
    x[ends_in_order(layout)] = places
    low, high = np.where(layout.is_end, x, np.inf), np.where(layout.is_end, x, -np.inf)
    low[np.isnan(x) & layout.is_end], high[np.isnan(x) & layout.is_end] = np.inf, -np.inf
    for k, above in enumerate(layout.parent[:-1].tolist()):
        x[k] = (low[k] + high[k]) / 2.0 if high[k] > -np.inf else np.nan
        if not np.isnan(x[k]):
            low[above], high[above] = min(low[above], x[k]), max(high[above], x[k])
    x[-1] = (low[-1] + high[-1]) / 2.0
    kept = np.flatnonzero(~np.isnan(x))
    parent = np.searchsorted(kept, layout.parent[kept])
    parent[-1] = -1
    parts = {name: getattr(layout, name)[kept] for name in ("node", "y", "is_end", "is_collapsed")}
    return Placed(layout._replace(parent=parent, x=x[kept], low=low[kept], high=high[kept], **parts), kept)


def _dress(ax: Any, result: Result, panels: list[Panel], top: float) -> None:
    """Limits, and what each view is called, above it."""
    width = panels[-1].end - panels[0].tree_at
    ax.set_xlim(panels[0].tree_at - 0.005 * width, panels[-1].end + 0.005 * width)
    ax.set_ylim(1.0, top - 0.02)
    for side in ax.spines.values():
        side.set_visible(False)
    n_rows, n_shown = result.labels.size, panels[0].grid.items.size
    rows = f"{n_rows:,} rows" if n_shown == n_rows else f"{n_shown:,} of {n_rows:,} rows"
    name_axes(ax, up=f"{rows}, in the order of each view's tree")
    ax.set_yticks([])
    font, per_unit = font_of(ax) - 1.0, BESIDE_BAR * room(ax)[0] / width
    for panel in panels:
        letters = int((panel.end - panel.tree_at) * per_unit / (LETTER * font))
        if letters >= 2:
            ax.annotate(
                shortened(result.views[panel.number].name, letters),
                ((panel.tree_at + panel.end) / 2.0, 1.0),
                xycoords=ax.get_xaxis_transform(),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=font,
                color=view_colour(panel.number),
                fontweight="bold",
            )


def _name_columns(ax: Any, panels: list[Panel], n_views: int) -> float:
    """Names below the columns where they can be read; gives the share of the height that they leave."""
    width, height = room(ax)
    n_columns = np.unique(np.concatenate([panel.columns for panel in panels])).size
    some = f"{n_views:,}" if len(panels) == n_views else f"{len(panels):,} of {n_views:,}"
    name_axes(ax, f"{some} view{'' if n_views == 1 else 's'}, {n_columns:,} columns")
    ax.tick_params(axis="x", length=0)
    font = min(font_of(ax) - 1.0, BESIDE_BAR * width / (panels[-1].end - panels[0].tree_at) / LINE)
    if font < SMALLEST_FONT:
        ax.set_xticks([])
        return 1.0
    most = max(int(NAMES_SHARE * height / (LETTER * font)), 6)
    names = told_apart((name for panel in panels for name in panel.grid.names), most)
    places = np.concatenate([panel.cells_at + 0.5 + np.arange(len(panel.grid.names)) for panel in panels])
    ax.set_xticks(places, names, rotation=90, fontsize=font)
    return 1.0 - LETTER * max(map(len, names)) * font / height
