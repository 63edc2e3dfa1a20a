"""Chains: traces and ranks of numbers that do not depend on how clusters are called."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.inference.diagnostics import label_scalars, summarise
from bayesgrove.inference.overview import rank_counts
from bayesgrove.inference.result import Result
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.colours import PALETTE
from bayesgrove.plot.legends import legend_above
from bayesgrove.plot.subjects import as_result, needed_posterior
from bayesgrove.plot.words import bare, font_of, ink, name_axes, plain, room, set_title
from bayesgrove.stats.partitions import relabel_draws

STYLES = ("-", "--", ":", "-.")
"""Of lines, where colours come round again."""
MAX_BINS, DRAWS_PER_BIN = 20, 10
LEVEL = 0.95
WORDS = {
    "log_joint": "log joint density (nats)",
    "n_clusters": "number of clusters",
    "largest_share": "share of {item}s in the largest {group}",
    "entropy": "entropy of {group} sizes (nats)",
    "n_singletons": "number of {group}s of one {item}",
    "concentration": "concentration",
    "cdl": "log complete-data likelihood (nats)",
    "rcdl": "regularised log complete-data likelihood (nats)",
    "energy": "energy of the penalty (nats)",
    "n_level_1": "number of nodes at level 1",
    "n_components": "number of components",
}


def trace(result: Any, ax: Any = None, *, scalar: str = "log_joint", title: str | None = None) -> Any:
    """Draw the values of a scalar draw by draw, a line per chain, and return the matplotlib axes.

    Parameters
    ----------
    result : Result or fitted estimator
        With draws.
    ax : matplotlib axes, optional
        A new figure when missing.
    scalar : str
        One of the stored scalars, or "n_clusters", "largest_share", "entropy", "n_singletons", which are computed from
        the labels.
    title : str, optional
        In place of r_hat.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> model = bg.NRMMixture(n_chains=2, n_tune=10, n_draws=20, random_state=0).fit(blobs.X)
    >>> ax = bg.plot.trace(model, scalar="n_clusters")
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('number of clusters', ['chain 0', 'chain 1'])
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    values = scalar_draws(result, scalar, "trace")
    ax = new_axes(ax, (7.2, 3.8))
    draws = np.arange(1, values.shape[1] + 1)
    font = font_of(ax)
    lines = [
        ax.plot(draws, chain, linewidth=0.09 * font, alpha=0.85, marker="." if draws.size < 3 else "", **style)[0]
        for chain, style in zip(values, chain_styles(len(values)), strict=True)
    ]
    ax.set_xlim(0.5, draws.size + 0.5)
    ax.ticklabel_format(axis="y", useOffset=False)
    above = legend_above(ax, lines, [f"chain {k}" for k in range(len(lines))])
    set_title(ax, mixing_words(result, scalar, values) if title is None else title, above)
    name_axes(ax, "draw", words_of(scalar, result))
    _whole_ticks(ax, values)
    return ax


def score_traces(result: Any, ax: Any = None, *, title: str | None = None) -> Any:
    """Draw the log complete-data likelihood draw by draw, plain and regularised, and return the matplotlib axes.

    A colour per chain; thick pale lines are CDL, thin dark ones RCDL, that is CDL less the energy of the penalty.
    Without a penalty both are one.

    Parameters
    ----------
    result : Result or fitted estimator
        Of `BHMC` or `RBHMC`.
    ax : matplotlib axes, optional
        A new figure when missing.
    title : str, optional
        In place of r_hat of RCDL, or of CDL where there is no penalty.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> model = bg.RBHMC(depth=2, n_chains=2, n_tune=10, n_draws=20, random_state=0).fit(blobs.X)
    >>> ax = bg.plot.score_traces(model)
    >>> len(ax.lines)  # CDL and RCDL of two chains
    4
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    if result.posterior is None or "cdl" not in result.posterior.scalars:
        raise InvalidInputError(
            f"score_traces draws CDL and RCDL of BHMC and RBHMC, and {result.model} has neither. Fit one of these, or "
            "draw trace(result) of a model with draws."
        )
    plain_score = scalar_draws(result, "cdl", "score_traces")
    last = "rcdl" if "rcdl" in needed_posterior(result, "score_traces").scalars else "cdl"
    regularised = scalar_draws(result, last, "score_traces")
    ax = new_axes(ax, (7.2, 3.8))
    draws = np.arange(1, plain_score.shape[1] + 1)
    lines = []
    for own, less, style in zip(plain_score, regularised, chain_styles(len(plain_score)), strict=True):
        ax.plot(draws, own, linewidth=2.4, alpha=0.35, **style)
        lines.append(ax.plot(draws, less, linewidth=0.8, marker="." if draws.size < 3 else "", **style)[0])
    ax.set_xlim(0.5, draws.size + 0.5)
    ax.ticklabel_format(axis="y", useOffset=False)
    above = legend_above(ax, lines, [f"chain {k}" for k in range(len(lines))])
    set_title(ax, mixing_words(result, last, regularised) if title is None else title, above)
    name_axes(ax, "draw", "CDL (pale) and RCDL (nats)")
    _whole_ticks(ax, regularised)
    return ax


def ranks(result: Any, ax: Any = None, *, scalar: str = "log_joint", title: str | None = None) -> Any:
    """Draw where each chain's draws stand among those of all chains, and return the matplotlib axes.

    Every chain has a row: bars say how many more (or fewer) of its draws than expected have these ranks. Chains that
    sample the same distribution stay within the grey band, which holds 95 % of bars if draws are independent. The
    halves of a single chain are compared.

    Parameters
    ----------
    result, ax, scalar, title
        As for `trace`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> model = bg.NRMMixture(n_chains=2, n_tune=10, n_draws=20, random_state=0).fit(blobs.X)
    >>> ax = bg.plot.ranks(model)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['chain 0', 'chain 1']
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    values = scalar_draws(result, scalar, "ranks")
    chains = chain_names(values)
    parts = values if len(values) > 1 else values[:, values.shape[1] % 2 :].reshape(2, -1)
    if parts.shape[1] < 2:
        raise InvalidInputError(f"ranks need at least two draws of each chain, got {parts.shape[1]}. Draw more.")
    bars = rank_bars(parts)
    ax = new_axes(ax, (7.2, 1.6 + 0.75 * len(parts)))
    _draw_rank_bars(ax, bars, chain_styles(len(parts)))
    set_title(ax, mixing_words(result, scalar, values) if title is None else title)
    what = words_of(scalar, result).partition(" (")[0]
    name_axes(
        ax, f"rank of {what} (% of all draws)", "draws per bin \N{MINUS SIGN} expected; grey: 95\N{NO-BREAK SPACE}%"
    )
    _name_rank_rows(ax, bars, chains)
    return ax


class RankBars(NamedTuple):
    """Draws of each chain in bins of ranks, against what is expected."""

    counts: np.ndarray
    """(n_chains, n_bins)"""
    expected: np.ndarray
    """(n_bins,) mean over chains; uneven where values are tied."""
    low: np.ndarray
    """(n_bins,) ends of the band."""
    high: np.ndarray


def rank_bars(values: np.ndarray) -> RankBars:
    """Counts, their mean, and the band of a chain that is like the others, by the hypergeometric distribution."""
    from scipy.stats import hypergeom

    n_draws = values.shape[1]
    counts = rank_counts(values, int(np.clip(n_draws // DRAWS_PER_BIN, 2, MAX_BINS)))
    null = hypergeom(values.size, counts.sum(axis=0), n_draws)
    return RankBars(counts, counts.mean(axis=0), null.ppf(0.5 - LEVEL / 2), null.ppf(0.5 + LEVEL / 2))


def _draw_rank_bars(ax: Any, bars: RankBars, styles: list[dict[str, Any]]) -> None:
    """Chains from top to bottom, each around a line of its own."""
    n_bins = bars.expected.size
    edges = np.linspace(0.0, 100.0, n_bins + 1)
    unit = rank_unit(bars)
    for row, (counts, style) in enumerate(zip(bars.counts, styles, strict=True)):
        low, high = (row - (end - bars.expected) / unit for end in (bars.low, bars.high))
        ax.stairs(low, edges, baseline=high, fill=True, color=ink(ax, 0.15), zorder=1)
        excess = (counts - bars.expected) / unit
        ax.bar(edges[:-1], -excess, np.diff(edges), row, align="edge", color=style["color"], alpha=0.85, zorder=2)
        ax.axhline(row, color=ink(ax, 0.73), linewidth=0.7, zorder=3)
    ax.set_xlim(0.0, 100.0)
    ax.set_ylim(len(styles) - 0.45, -0.55)


def rank_unit(bars: RankBars) -> float:
    """Draws that one row's height stands for, so that neighbours do not touch."""
    farthest = max(np.abs(bars.counts - bars.expected).max(), (bars.high - bars.expected).max())
    return float(farthest / 0.46) or 1.0


def _name_rank_rows(ax: Any, bars: RankBars, chains: list[str]) -> None:
    """Names on the left; on the right a scale that says what the bars' lengths mean."""
    font = font_of(ax) - 1.0
    rows = np.arange(len(chains))
    ax.set_yticks(rows, chains, fontsize=min(font, room(ax)[1] / len(chains)))
    ax.tick_params(axis="y", length=0)
    unit = rank_unit(bars)
    step = _round_down(0.34 * unit)
    if room(ax)[1] / len(chains) * step / unit >= 1.3 * (font - 1.0):
        scale = ax.secondary_yaxis("right")
        places = (rows[:, np.newaxis] + np.array([-1.0, 0.0, 1.0]) * step / unit).ravel()
        scale.set_yticks(places, [f"+{step:g}", "0", f"\N{MINUS SIGN}{step:g}"] * len(chains), fontsize=font - 1.0)
        scale.spines["right"].set_visible(False)
    bare(ax)


def _round_down(value: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... that is not above a value; at least 1."""
    sizes = np.outer(10.0 ** np.arange(12), [1.0, 2.0, 5.0]).ravel()
    return float(sizes[max(int(np.searchsorted(sizes, value, side="right")) - 1, 0)])


def scalar_draws(result: Result, scalar: str, picture: str) -> np.ndarray:
    """Values of a scalar, stored or computed from the labels, shape (n_chains, n_draws)."""
    posterior = needed_posterior(result, picture)
    if scalar in posterior.scalars:
        return np.asarray(posterior.scalars[scalar], np.float64)
    computed = label_scalars(relabel_draws(posterior.labels).reshape(posterior.labels.shape))
    if scalar not in computed:
        known = sorted({*posterior.scalars, *computed})
        raise InvalidSettingError(f"scalar is one of {', '.join(known)}, got {scalar!r}.")
    return computed[scalar]


def mixing_words(result: Result, scalar: str, values: np.ndarray) -> str:
    """r_hat, as the diagnostics have it, or why there is none."""
    known = result.diagnostics is not None and scalar in result.diagnostics.table["name"]
    if known and result.diagnostics is not None:
        r_hat, state = float(result.diagnostics[scalar]["r_hat"]), str(result.diagnostics[scalar]["state"])
    else:
        row = summarise(scalar, values)
        r_hat, state = float(row[3]), str(row[-1])
    if state:
        return f"no r_hat: {state}"
    return f"r_hat = {r_hat:.3f}{'' if r_hat <= 1.01 else ', above 1.01'}"


def words_of(scalar: str, result: Result) -> str:
    """What a scalar is, for an axis."""
    item, group = result.drawn
    return WORDS[scalar].format(item=item, group=group) if scalar in WORDS else plain(scalar)


def chain_styles(n_chains: int) -> list[dict[str, Any]]:
    """A colour for each chain, and another kind of line where colours come round again."""
    n = len(PALETTE)
    return [{"color": PALETTE[k % n], "linestyle": STYLES[k // n % len(STYLES)]} for k in range(n_chains)]


def chain_names(values: np.ndarray) -> list[str]:
    """Names of the rows of a rank plot."""
    return [f"chain {k}" for k in range(len(values))] if len(values) > 1 else ["first half", "second half"]


def _whole_ticks(ax: Any, values: np.ndarray) -> None:
    """No ticks between whole numbers."""
    from matplotlib.ticker import MaxNLocator

    steps = [1, 2, 5, 10]
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=steps))
    is_whole = bool(np.all(values == np.rint(values)))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=is_whole, steps=steps, min_n_ticks=1))
    bare(ax)
