"""How many clusters, as probabilities."""

from typing import Any

import numpy as np

from bayesgrove.inference.overview import CountLaw, count_law
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import PALETTE
from bayesgrove.plot.subjects import as_result, no_probabilities
from bayesgrove.plot.words import bare, name_axes, set_title

OTHERS = "#A9B8C4"
NEGLIGIBLE = 5e-4


def cluster_counts(result: Any, ax: Any = None, *, level: float = 0.9, title: str | None = None) -> Any:
    """Draw the probability of each number of clusters and return the matplotlib axes.

    The bar of the fit's own number is dark; a bracket spans the shortest run of numbers that holds at least `level`.

    Parameters
    ----------
    result : Result or fitted estimator
    ax : matplotlib axes, optional
        A new figure when missing.
    level : float
        Probability of the interval.
    title : str, optional
        In place of the interval.
    """
    result = as_result(result)
    law = count_law(result)
    if law is None:
        raise no_probabilities("cluster_counts")
    ax = new_axes(ax, (5.6, 3.6))
    shown = shown_counts(law)
    counts, percent = law.counts[shown], 100.0 * law.probability[shown]
    own = counts == result.n_clusters
    ax.bar(counts, percent, 0.82, color=np.where(own, PALETTE[0], OTHERS).tolist())
    low, high = law.interval(level)
    top = float(percent.max())
    ax.plot([low - 0.4, low - 0.4, high + 0.4, high + 0.4], np.array([1.05, 1.09, 1.09, 1.05]) * top, color="#444444")
    ax.lines[-1].set_linewidth(1.0)
    ax.set_ylim(0.0, 1.16 * top)
    ax.set_xlim(min(counts[0], low) - 1.0, max(counts[-1], high) + 1.0)
    name_axes(ax, "number of clusters", "share of draws (%)" if law.is_sampled else "probability (%)")
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    words = f"fit: {result.n_clusters:,} clusters (dark); {100 * level:.3g} % interval: {span}"
    set_title(ax, words if title is None else title)
    _whole_ticks(ax)
    return ax


def shown_counts(law: CountLaw) -> np.ndarray:
    """The numbers from the first to the last with more than a negligible probability."""
    seen = np.flatnonzero(law.probability >= min(NEGLIGIBLE, law.probability.max()))
    return np.arange(seen[0], seen[-1] + 1)


def _whole_ticks(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    bare(ax)
