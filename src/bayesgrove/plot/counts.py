"""How many clusters, as probabilities."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.overview import CountDistribution, count_distribution
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import PALETTE
from bayesgrove.plot.subjects import as_result_of_rows, no_probabilities
from bayesgrove.plot.words import bare, font_of, ink, name_axes, set_title

OTHERS = "#A9B8C4"
NEGLIGIBLE = 5e-4


def cluster_counts(result: Any, ax: Any = None, *, level: float = 0.9, title: str | None = None) -> Any:
    """Draw the probability of each number of clusters and return the matplotlib axes.

    The bar of the fit's own number is blue; a bracket spans the shortest run of numbers that holds at least `level`.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    level : float
        Probability of the interval.
    title : str, optional
        In place of the number of clusters of the fit.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.cluster_counts(bg.BHC(random_state=0).fit(blobs.X))
    >>> ax.get_title(), ax.texts[0].get_text()
    ('fit: 3 clusters (blue)', '90 %: 3')
    >>> plt.close(ax.figure)
    """
    result = as_result_of_rows(result)
    if not 0.0 < level <= 1.0:
        raise InvalidSettingError(f"level lies between 0 and 1, got {level}. Try 0.9.")
    distribution = count_distribution(result)
    if distribution is None:
        raise no_probabilities("cluster_counts")
    ax = new_axes(ax, (5.6, 3.6))
    shown = shown_counts(distribution)
    counts, percent = distribution.counts[shown], 100.0 * distribution.probability[shown]
    own = counts == result.n_clusters
    ax.bar(counts, percent, 0.82, color=np.where(own, PALETTE[0], OTHERS).tolist())
    low, high = distribution.interval(level)
    top = float(percent.max())
    ax.set_ylim(0.0, 1.22 * top)
    ax.set_xlim(min(counts[0], low) - 0.8, max(counts[-1], high) + 0.8)
    name_axes(ax, "number of clusters", "share of draws (%)" if distribution.is_sampled else "probability (%)")
    _bracket(ax, low, high, top, f"{100 * level:.3g} %: {low:,}" + (f" to {high:,}" if high > low else ""))
    n = result.n_clusters
    set_title(ax, f"fit: {n:,} cluster{'' if n == 1 else 's'} (blue)" if title is None else title)
    _whole_ticks(ax)
    return ax


def prior_counts(prior: Any, ax: Any = None, *, level: float = 0.9, title: str | None = None) -> Any:
    """Draw the prior probability of each number of clusters and return the matplotlib axes.

    Parameters
    ----------
    prior : PriorClusters
        What `bayesgrove.prior_clusters` gives.
    ax : matplotlib axes, optional
        A new figure when missing.
    level : float
        Probability of the interval under the bracket.
    title : str, optional
        In place of the process and its mean.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> ax = bg.prior_clusters("mfm", 50, concentration=1.0, components="poisson").plot()
    >>> ax.get_title(), ax.texts[0].get_text()
    ('mfm, 50 rows: 1.9 clusters expected', '90 %: 1 to 3')
    >>> plt.close(ax.figure)
    """
    if not 0.0 < level <= 1.0:
        raise InvalidSettingError(f"level lies between 0 and 1, got {level}. Try 0.9.")
    distribution = CountDistribution(prior.counts, prior.probabilities, False)
    ax = new_axes(ax, (5.6, 3.6))
    shown = shown_counts(distribution)
    percent = 100.0 * distribution.probability[shown]
    ax.bar(distribution.counts[shown], percent, 0.82, color=OTHERS)
    low, high = distribution.interval(level)
    ax.set_ylim(0.0, 1.22 * float(percent.max()))
    ax.set_xlim(0.2, max(distribution.counts[shown][-1], high) + 0.8)
    name_axes(ax, "number of clusters", "prior probability (%)")
    _bracket(
        ax, low, high, float(percent.max()), f"{100 * level:.3g} %: {low:,}" + (f" to {high:,}" if high > low else "")
    )
    set_title(ax, f"{prior.process}, {prior.n:,} rows: {prior.mean:.2g} clusters expected" if title is None else title)
    _whole_ticks(ax)
    return ax


def _bracket(ax: Any, low: int, high: int, top: float, words: str) -> None:
    """The interval over the bars, and what it is."""
    ends = np.array([low - 0.41, low - 0.41, high + 0.41, high + 0.41])
    ax.plot(ends, np.array([1.03, 1.07, 1.07, 1.03]) * top, color=ink(ax, 0.73), linewidth=1.0)
    ax.annotate(
        words,
        ((low + high) / 2.0, 1.07 * top),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=font_of(ax) - 1.0,
        color=ink(ax, 0.73),
    )


def shown_counts(distribution: CountDistribution) -> np.ndarray:
    """The numbers from the first to the last with more than a negligible probability."""
    seen = np.flatnonzero(distribution.probability >= min(NEGLIGIBLE, distribution.probability.max()))
    return np.arange(seen[0], seen[-1] + 1)


def _whole_ticks(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    bare(ax)
