"""Pictures of the scorecard: a dot plot of all methods, and BHC's clusters of the sets with two columns."""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from bayesgrove.plot.colours import MARKERS, PALETTE
from benchmarks.scorecard import sets
from benchmarks.scorecard.methods import OURS, PEERS
from benchmarks.scorecard.store import Row
from benchmarks.scorecard.summary import OURS as MAIN
from benchmarks.scorecard.summary import by_set
from benchmarks.scorecard.work import labels_file

WIDTH, LINE_HEIGHT, N_ACROSS, PANEL = 9.0, 0.21, 6, 1.75
DOTS_PER_INCH, N_COLOURS = 80, 128
"""Pictures in docs/images stay below 150 kB."""


def draw_all(rows: Sequence[Row], arguments: argparse.Namespace) -> None:
    """Every picture that there are results for."""
    own = [row for row in rows if row["group"] == sets.SCORECARD and not row.get("error")]
    arguments.plots.mkdir(parents=True, exist_ok=True)
    for name, picture in {"ari": dot_plot(own), "clusters": scatter_grid(own, arguments)}.items():
        if picture is None:
            print(f"scorecard-{name}: no results for it", file=sys.stderr)
            continue
        path = arguments.plots / f"scorecard-{name}.png"
        save(picture, path)
        print(path, file=sys.stderr)


def save(picture: Figure, path: Path) -> None:
    """A PNG with few colours, a third as large."""
    whole = io.BytesIO()
    picture.savefig(whole, dpi=DOTS_PER_INCH)
    few = Image.open(whole).convert("RGB").quantize(N_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def dot_plot(rows: Sequence[Row]) -> Figure | None:
    """Adjusted Rand index of each method on each set, sets sorted by that of BHC."""
    table = by_set([row for row in rows if row.get("ari") is not None])
    names = sorted(table, key=lambda name: table[name].get(MAIN, {}).get("ari", -1.0))
    shown = [method for method in (*PEERS, *reversed(OURS)) if any(method in own for own in table.values())]
    if not shown:
        return None
    picture = Figure(figsize=(WIDTH, 1.3 + LINE_HEIGHT * len(names)), layout="constrained")
    axes = picture.subplots()
    for place, method in enumerate(shown):
        points = [(table[name][method]["ari"], y) for y, name in enumerate(names) if method in table[name]]
        axes.plot(*zip(*points, strict=True), label=method, linestyle="", **marks(method, place))
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set(xlabel="adjusted Rand index", xlim=(-0.05, 1.03), ylim=(-0.7, len(names) - 0.3))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)
    return picture


def marks(method: str, place: int) -> dict[str, object]:
    """BHC large and filled, our other models small and filled, peers hollow."""
    marker = MARKERS[place % len(MARKERS)]
    if method == MAIN:
        return {"marker": "o", "markersize": 8, "color": PALETTE[0], "zorder": 4}
    if method in OURS:
        return {"marker": marker, "markersize": 4, "color": PALETTE[5], "zorder": 3}
    colour = PALETTE[1 + place % 4]
    return {"marker": marker, "markersize": 5, "color": colour, "markerfacecolor": "none", "zorder": 2}


def scatter_grid(rows: Sequence[Row], arguments: argparse.Namespace) -> Figure | None:
    """The sets with two columns, coloured by BHC's labels."""
    found = [(row, path) for row in rows if row["method"] == MAIN and row["columns"] == 2
             and (path := labels_file(arguments.out, row["set"], MAIN)).exists()]  # fmt: skip
    if not found:
        return None
    n_down = -(-len(found) // N_ACROSS)
    picture = Figure(figsize=(PANEL * N_ACROSS, (PANEL + 0.15) * n_down), layout="constrained")
    axes = picture.subplots(n_down, N_ACROSS, squeeze=False).ravel()
    for own, (row, path) in zip(axes, found, strict=False):
        draw_set(own, row, path, arguments)
    for unused in axes[len(found) :]:
        unused.remove()
    return picture


def draw_set(axes: Axes, row: Row, path: Path, arguments: argparse.Namespace) -> None:
    """One panel; clusters that are large get colours first, so that neighbours rarely share one."""
    X = sets.read(row["set"], arguments.data, arguments.limit_rows).ours
    labels = np.load(path)
    sizes = np.bincount(labels)
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    axes.scatter(*X.T, s=1.2, c=[PALETTE[place % len(PALETTE)] for place in rank[labels]], linewidths=0)
    axes.set_title(title_of(row), fontsize=6)
    axes.set(xticks=[], yticks=[], aspect="equal")


def title_of(row: Row) -> str:
    """Such as "sipu-a3 ARI .93, K 31/50"."""
    return f"{row['set']} ARI {short(row['ari'])}, K {row['clusters']}/{row['true_clusters']}"


def short(value: float) -> str:
    """Two decimals without the zero before the point."""
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
