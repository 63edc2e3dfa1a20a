"""Pictures of a folder of benchmark documents: growth with slopes, distances to floors and to peers, first fits."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from bayesgrove.plot.colours import MARKERS, PALETTE
from benchmarks.figures import AT_MOST, Figure, fits, number
from benchmarks.suite import read_documents
from benchmarks.wanted import FIGURES

Row = Mapping[str, Any]
WIDTH, PANEL_HEIGHT, BAR_HEIGHT = 9.0, 3.6, 0.26
DOTS_PER_INCH = 100
OURS = PALETTE[0]


class Panel(NamedTuple):
    """Lines of one kind of growth: rows of a benchmark that fit, one line for each value of a column."""

    title: str
    benchmark: str
    where: Mapping[str, Any]
    by: str
    x: str
    y: str
    x_label: str
    y_label: str


class Bar(NamedTuple):
    """A named number, the limit that was asked for, and whether more is better."""

    name: str
    value: float
    limit: float | None
    is_most: bool


ROWS = (
    Panel("Exact BHC and average linkage, 10 columns", "bhc", {}, "who", "n", "cpu_seconds", "rows", "CPU seconds"),
    Panel("RandomizedBHC and others, 10 columns, separated", "randomized-bhc", {"kind": "separated"}, "who", "n",
          "cpu_seconds", "rows", "CPU seconds"),
)  # fmt: skip
GROWTH = (
    Panel("BHMC (C = 0) and RBHMC", "nested", {"part": "rows"}, "C", "rows", "ms_per_sweep", "rows",
          "CPU milliseconds a sweep"),
    Panel("The same with more paths, 1,000 rows", "nested", {"part": "paths"}, "C", "leaves", "ms_per_sweep",
          "leaves of the tree", "CPU milliseconds a sweep"),
    Panel("Views of 100 rows, many starts", "cross", {"part": "growth"}, "part", "columns", "cpu_seconds", "columns",
          "CPU seconds"),
    Panel("E-step of tree models, 4 states", "trees", {"part": "growth"}, "C", "nodes", "seconds", "nodes of the trees",
          "CPU seconds"),
)  # fmt: skip


def draw_all(folder: Path, out: Path) -> None:
    """Every picture that the documents have rows for."""
    documents = read_documents(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        picture = draw(documents)
        if picture is None:
            print(f"{name}: no rows for it in {folder}", file=sys.stderr)
            continue
        path = out / f"benchmarks-{name}.png"
        picture.savefig(path, dpi=DOTS_PER_INCH)
        print(path, file=sys.stderr)


def rows_of(documents: Sequence[Row], benchmark: str, where: Row) -> list[Row]:
    """Rows of a benchmark with these values."""
    return [row for one in documents if one["benchmark"] == benchmark for row in one["rows"] if fits(row, where)]


def growth(panels: Sequence[Panel]) -> Callable[[Sequence[Row]], Picture | None]:
    """A picture of panels side by side, two a line, without those that have no lines."""

    def draw(documents: Sequence[Row]) -> Picture | None:
        found = [(panel, lines) for panel in panels if (lines := lines_of(panel, documents))]
        if not found:
            return None
        n_across, n_down = min(2, len(found)), -(-len(found) // 2)
        picture = Picture(figsize=(WIDTH * n_across / 2, PANEL_HEIGHT * n_down), layout="constrained")
        axes = picture.subplots(n_down, n_across, squeeze=False).ravel()
        for own, (panel, lines) in zip(axes, found, strict=False):
            draw_lines(own, panel, lines)
        for unused in axes[len(found) :]:
            unused.remove()
        return picture

    return draw


def lines_of(panel: Panel, documents: Sequence[Row]) -> dict[str, np.ndarray]:
    """Points of each line by increasing x; a line of a single point is left out where others have more."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows_of(documents, panel.benchmark, panel.where):
        x, y = number(row.get(panel.x)), number(row.get(panel.y))
        if x is not None and y is not None and x > 0 and y > 0:
            points.setdefault(line_name(panel, row), []).append((x, y))
    return {name: np.array(sorted(own)) for name, own in points.items()}


def line_name(panel: Panel, row: Row) -> str:
    """Value of the column that tells lines apart; a number with its letter, nothing where there is one line."""
    value = row.get(panel.by)
    return f"{panel.by} = {value:g}" if isinstance(value, int | float) else "" if panel.by == "part" else str(value)


def slope(points: np.ndarray) -> float | None:
    """Least squares in logarithms; None for one point, or many of one size."""
    x, y = np.log(points.T)
    return float(np.polyfit(x, y, 1)[0]) if np.ptp(x) > 0 else None


def draw_lines(axes: Axes, panel: Panel, lines: Mapping[str, np.ndarray]) -> None:
    """Both axes by logarithms, so that a power of x is a straight line."""
    for place, (name, points) in enumerate(lines.items()):
        power = slope(points)
        label = name if power is None else f"{name}{name and ', '}power {power:.2f}"
        style = {"color": PALETTE[place % len(PALETTE)], "marker": MARKERS[place % len(MARKERS)], "markersize": 5}
        axes.plot(*points.T, label=label, linewidth=2.2 if name.startswith("ours") else 1.4, **style)
    axes.set(xscale="log", yscale="log", xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set_title(panel.title, fontsize=10)
    sizes = np.unique(np.concatenate([points[:, 0] for points in lines.values()]))
    if sizes.size < 2 or np.min(sizes[1:] / sizes[:-1]) >= 1.8:  # names of neighbours do not touch
        axes.set_xticks(sizes, [f"{float(f'{size:.2g}'):,.0f}" for size in sizes])
    else:
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** (0.09 * len(lines)))  # room for the legend above the lines
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 30 else (1.0,)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False, loc="upper left")


def wanted_for(benchmark: str, row: Row, column: str) -> Figure | None:
    """The figure that speaks of this number, if one does."""
    own = (f for f in FIGURES if (f.benchmark, f.column) == (benchmark, column) and f.over is None)
    return next((figure for figure in own if fits(row, figure.where)), None)


def name_of(benchmark: str, row: Row) -> str:
    """What tells a row from the others."""
    words = [benchmark]
    for column in ("part", "kind", "data", "search", "who", "C", "clusters", "n"):
        value = row.get(column)
        if value is not None and str(value) not in words:
            words.append(f"{column} = {value:,}" if isinstance(value, int | float) else str(value))
    return ", ".join(words)


def bars_of(documents: Sequence[Row], column: str, invert: bool = False) -> list[Bar]:
    """All rows with a number in a column; `invert` for ours over theirs, which is shown the other way round."""
    bars = []
    for document in documents:
        for row in document["rows"]:
            value = number(row.get(column))
            if value is None or value <= 0:
                continue
            wanted = wanted_for(document["benchmark"], row, column)
            limit = None if wanted is None else 1 / wanted.limit if invert else wanted.limit
            is_most = wanted is not None and (wanted.sense == AT_MOST) is not invert
            bars.append(Bar(name_of(document["benchmark"], row), 1 / value if invert else value, limit, is_most))
    return bars


def draw_bars(bars: Sequence[Bar], label: str) -> Picture | None:
    """One line each, with a mark where the limit is; bars beyond it in another colour."""
    if not bars:
        return None
    picture = Picture(figsize=(WIDTH, 1.0 + BAR_HEIGHT * len(bars)), layout="constrained")
    axes, places = picture.subplots(), np.arange(len(bars))[::-1]
    missed = [b.limit is not None and (b.value > b.limit if b.is_most else b.value < b.limit) for b in bars]
    axes.barh(places, [b.value - 1.0 for b in bars], left=1.0, color=[PALETTE[1] if bad else OURS for bad in missed])
    limits = [(place, b.limit) for place, b in zip(places, bars, strict=True) if b.limit is not None]
    if limits:
        at, marks = zip(*limits, strict=True)
        axes.plot(marks, at, "|", color="black", markersize=11, markeredgewidth=1.8, label="wanted")
        axes.legend(fontsize=8, loc="lower right")
    axes.axvline(1.0, color="black", linewidth=0.8)
    for place, bar in zip(places, bars, strict=True):
        beyond = max(bar.value, bar.limit or 0.0, 1.0), place
        options = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
        axes.annotate(short(bar.value), beyond, **options)
    axes.set_yticks(places, [b.name for b in bars], fontsize=7)
    axes.set(xscale="log", xlabel=label, ylim=(-0.7, len(bars) - 0.3))
    axes.margins(x=0.08)
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 300 else (1.0,)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", alpha=0.3)
    return picture


def short(value: float) -> str:
    """Two digits, and no powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def kept(documents: Sequence[Row], keep: Callable[[str, Row], bool]) -> list[Row]:
    """Documents with some of their rows."""
    return [{**one, "rows": [row for row in one["rows"] if keep(one["benchmark"], row)]} for one in documents]


def floors(documents: Sequence[Row]) -> Picture | None:
    """Our times over their floors; peers are in a picture of their own."""
    ours = kept(documents, lambda _, row: "ours_over_this" not in row or row["who"].startswith("ours"))
    return draw_bars(bars_of(ours, "over_floor"), "time over the floor (least arithmetic at this machine's rates)")


def peers(documents: Sequence[Row]) -> Picture | None:
    """Their time over ours; of several sizes the largest, and those of which something is wanted."""
    largest: dict[Any, int] = {}
    for row in (row for one in documents for row in one["rows"]):
        contest = row.get("kind"), row.get("who")
        largest[contest] = max(largest.get(contest, 0), row.get("n", 0))

    def is_shown(benchmark: str, row: Row) -> bool:
        is_largest = row.get("n", 0) == largest[row.get("kind"), row.get("who")]
        is_peer = not str(row.get("who")).startswith("our")
        return is_peer and (is_largest or wanted_for(benchmark, row, "ours_over_this") is not None)

    shown = kept(documents, is_shown)
    bars = [*bars_of(shown, "ours_over_this", invert=True), *bars_of(shown, "this_over_ours")]
    return draw_bars([*bars, *bars_of(shown, "time_over_ours")], "their time over ours: right of 1 we are faster")


def first_fits(documents: Sequence[Row]) -> Picture | None:
    """The wait for the first fit by the clock and in CPU seconds of the main process, and with a warm cache."""
    cold = rows_of(documents, "startup", {"cache": "cold"})
    if not cold:
        return None
    warm = {row["model"]: row for row in rows_of(documents, "startup", {"cache": "warm"})}
    picture = Picture(figsize=(WIDTH, 1.4 + 0.5 * len(cold)), layout="constrained")
    axes, places = picture.subplots(), np.arange(len(cold))[::-1]
    axes.barh(places + 0.26, [row["wall_seconds"] for row in cold], 0.26, color=OURS, label="nothing compiled, clock")
    axes.barh(places, [row["main_cpu_seconds"] for row in cold], 0.26, color=PALETTE[5],
              label="nothing compiled, CPU of the main process")  # fmt: skip
    own = [warm.get(row["model"], {}).get("fit_seconds", 0.0) for row in cold]
    axes.barh(places - 0.26, own, 0.26, color=PALETTE[2], label="compiled before, the fit alone, clock")
    axes.axvline(30.0, color="black", linewidth=1.0, linestyle="--", label="wanted of the first")
    axes.set_yticks(places, [row["model"] for row in cold])
    axes.set(xlabel="seconds")
    axes.legend(fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)
    axes.grid(axis="x", alpha=0.3)
    return picture


PICTURES: dict[str, Callable[[Sequence[Row]], Picture | None]] = {
    "rows": growth(ROWS),
    "growth": growth(GROWTH),
    "floors": floors,
    "peers": peers,
    "first-fits": first_fits,
}
