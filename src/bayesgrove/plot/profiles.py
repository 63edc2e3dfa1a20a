"""What sets clusters apart: means or rates of features with intervals."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.description import Description
from bayesgrove.inference.overview import feature_cells, sampled_features
from bayesgrove.inference.result import Result
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import cluster_colours, cluster_markers
from bayesgrove.plot.legends import cluster_legend
from bayesgrove.plot.subjects import as_result, cluster_sizes, needed_description
from bayesgrove.plot.words import LETTER, bare, font_of, ink, name_axes, room, set_title, told_apart, wrapped

MAX_CLUSTERS = 6
"""More are shown only when asked for."""
POINTS_EACH = 2.4
"""Least distance of two intervals."""
NAMES_SHARE = 0.34
"""Of the width at most goes to names."""
SPREAD = 0.76
"""Share of a feature's room that its clusters fill."""


def profile(
    result: Any,
    ax: Any = None,
    *,
    clusters: Sequence[int] | None = None,
    max_features: int = 12,
    title: str | None = None,
) -> Any:
    """Draw the means of the most telling features in each cluster with 95 % intervals; return the matplotlib axes.

    Features of different units share one axis: distances from the mean of all rows in standard deviations of all rows.
    Where all features shown are rates they are in percent, with a grey line for the rate of all rows. The intervals are
    given the labels: they do not say how sure the clusters are. Those that reach far beyond all dots, as of a cluster
    of two rows, run into the edge.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    clusters : sequence of int, optional
        Labels of the clusters to show; by default the six largest.
    max_features : int
        Shown are at most so many, those that tell most about the clusters shown, and no more than can be read.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.profile(bg.BHC(random_state=0).fit(blobs.X), clusters=[0, 2])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0 (10)', '2 (10)']
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    described = needed_description(result, "profile")
    if max_features < 1:
        raise InvalidSettingError(f"max_features is at least 1, got {max_features}. Try 12.")
    chosen = chosen_clusters(result, described, clusters)
    ax = new_axes(ax, (7.2, 1.4 + 0.34 * min(max_features, len(described.features))))
    chart = make_chart(described, chosen, min(max_features, _fitting(ax, chosen.size)))
    drawn = _draw_intervals(ax, result, chart, chosen)
    _dress(ax, result, described, chart)
    set_title(ax, title, above=cluster_legend(ax, result, drawn))
    return ax


def chosen_clusters(result: Result, described: Description, clusters: Sequence[int] | None) -> np.ndarray:
    """Labels to show, checked: those given, or the largest ones in the order of labels."""
    n_known = len(described.clusters.mean)
    if clusters is None:
        largest = np.argsort(-cluster_sizes(result)[:n_known], kind="stable")
        return np.sort(largest[:MAX_CLUSTERS])
    wanted = np.asarray(clusters)
    if wanted.ndim != 1 or wanted.size == 0 or wanted.dtype.kind not in "iu":
        raise InvalidSettingError(f"clusters is a sequence of labels, got {clusters!r}. Try clusters=[0, 1].")
    if wanted.min() < 0 or wanted.max() >= n_known:
        raise InvalidSettingError(f"clusters are 0 .. {n_known - 1}, got {clusters!r}. Give labels of the fit.")
    return wanted


class Chart(NamedTuple):
    """Numbers to draw, shape (n_clusters, n_features), from top to bottom."""

    names: list[str]
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray
    overall: np.ndarray
    """Of all rows, shape (n_features,)."""
    is_percent: bool


def make_chart(described: Description, clusters: np.ndarray, most: int) -> Chart:
    """The strongest features on one scale: percent where all are rates, else standard deviations from the mean."""
    whole = described.clusters
    sampled = sampled_features(described)
    telling = np.nan_to_num(whole.telling[np.ix_(clusters, sampled)]).sum(axis=0)
    best = np.argsort(-telling, kind="stable")[:most]
    features = sampled[best]
    means, lows, highs = (part[np.ix_(clusters, features)] for part in (whole.mean, whole.low, whole.high))
    overall = whole.overall[features]
    is_percent = all(whole.features[f].is_rate for f in features)
    if is_percent:
        shift, scale = np.zeros(features.size), np.full(features.size, 0.01)
    else:
        spread = np.nanstd(feature_cells(described)[:, best], axis=0)
        shift, scale = overall, np.where(spread > 0.0, spread, 1.0)
    names = [whole.features[f].name for f in features]
    middle, low, high, level = ((part - shift) / scale for part in (means, lows, highs, overall))
    return Chart(names, middle, low, high, level, is_percent)


def chart_limits(chart: Chart) -> tuple[float, float]:
    """Ends of the axis: all dots, and intervals up to a standard deviation beyond; those of tiny clusters are vast."""
    dots = np.append(chart.middle[~np.isnan(chart.middle)], 0.0)
    first, last = float(dots.min()) - 1.0, float(dots.max()) + 1.0
    low = np.fmin(np.nan_to_num(np.maximum(chart.low, first), nan=0.0).min(initial=0.0), dots.min())
    high = np.fmax(np.nan_to_num(np.minimum(chart.high, last), nan=0.0).max(initial=0.0), dots.max())
    margin = 0.04 * float(high - low) or 1.0
    return float(low) - margin, float(high) + margin


def _fitting(ax: Any, n_clusters: int) -> int:
    """How many features can be read."""
    each = max(1.2 * (font_of(ax) - 1.0), POINTS_EACH * n_clusters / SPREAD)
    return max(int(room(ax)[1] / each), 1)


def _draw_intervals(ax: Any, result: Result, chart: Chart, clusters: np.ndarray) -> dict[int, Any]:
    """A dot and a line for each cluster and feature; clusters of a feature one below the other."""
    colours = cluster_colours(result.tree, result.labels)
    markers = cluster_markers(result.tree, result.labels)
    n_features = len(chart.names)
    offsets = (np.arange(clusters.size) + 0.5) / clusters.size - 0.5
    size = float(np.clip(1.3 * room(ax)[1] * SPREAD / (n_features * clusters.size), 3.2, 6.5))
    drawn = {}
    for k, label in enumerate(clusters.tolist()):
        rows = np.arange(n_features) + SPREAD * offsets[k]
        style = {"color": colours[label], "zorder": 3}
        ax.hlines(rows, chart.low[k], chart.high[k], linewidth=0.28 * size, **style)
        (drawn[label],) = ax.plot(
            chart.middle[k],
            rows,
            markers[label],
            markersize=size,
            markeredgecolor="white",
            markeredgewidth=0.3,
            **style,
        )
    return drawn


def _dress(ax: Any, result: Result, described: Description, chart: Chart) -> None:
    n_features, n_all = len(chart.names), len(described.features)
    if chart.is_percent:
        rows = np.arange(n_features)
        ax.vlines(chart.overall, rows - 0.42, rows + 0.42, color=ink(ax, 0.6), linewidth=1.2, zorder=2)
        across = f"rate (%); grey: all {result.noun}s"
        ax.set_xlim(-2.0, 102.0)
    else:
        ax.axvline(0.0, color=ink(ax, 0.6), linewidth=1.0, zorder=2)
        across = f"difference from the mean of all {result.noun}s, in standard deviations"
        ax.set_xlim(*chart_limits(chart))
    some = f"{n_features:,} most telling of {n_all:,} features" if n_features < n_all else f"{n_all:,} features"
    font = min(font_of(ax) - 1.0, 0.9 * room(ax)[1] / n_features)
    width = room(ax)[0]
    names = told_apart(chart.names, max(int(NAMES_SHARE * width / (LETTER * font)), 6))
    taken = LETTER * font * max(map(len, names))
    name_axes(ax, wrapped(across, 1.1 * width - taken, font_of(ax)), some)
    ax.set_yticks(np.arange(n_features), names, fontsize=font)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(n_features - 0.4, -0.6)
    for row in range(1, n_features, 2):
        ax.axhspan(row - 0.5, row + 0.5, color=ink(ax, 0.05), zorder=0, linewidth=0)
    bare(ax)
