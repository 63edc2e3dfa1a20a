"""The page of a sweep: one HTML file with maps of the settings and the whole table, which asks nothing of anyone."""

import base64
import hashlib
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.io.atomic import write_text
from bayesgrove.plot.settings_maps import settings_map
from bayesgrove.report.page import asset
from bayesgrove.sweeps.table import Sweep, levels

MOST_ROWS = 2_000
MOST_LEVELS = 40
"""Values of a setting beyond which a map is left out."""
UNDRAWN = ("converged",)
MOST_DECIMALS = 6
SPREAD = " ± "
STYLE = """
.wide { overflow-x: auto; max-height: 90vh; overflow-y: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: right; padding: .15rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { position: sticky; top: 0; background: var(--paper); }
.maps section { margin: 0; max-width: 100%; }
.maps { display: flex; flex-wrap: wrap; align-items: flex-start; gap: .8rem; }
img { max-width: 100%; background: #ffffff; }
"""


def write_page(found: Sweep, path: Any, *, title: str | None = None) -> Path:
    """Write the page of a sweep, whole or not at all; gives the path."""
    write_text(path, page_html(found, title or f"{found.model}: {found.n_fits} fits"))
    return Path(path)


def page_html(found: Sweep, title: str) -> str:
    """The page as a text; everything that came from outside is escaped."""
    style = asset("page.css") + STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    name = html.escape(title)
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n<header><h1>{name}</h1></header>\n<main>",
            *summary_section(found),
            *map_section(found),
            *table_section(found),
            "</main>\n</body>\n</html>\n",
        )
    )


def summary_section(found: Sweep) -> list[str]:
    """Mean and spread over repeats of each measure, by settings."""
    return [
        "<h2>By setting</h2>",
        "<p>Mean of the repeats, and their standard deviation.</p>",
        grid(*by_setting(found)),
    ]


def by_setting(found: Sweep) -> tuple[list[str], list[list[str]]]:
    """Header and rows of texts: settings, fits, and of each measure the mean and the spread over repeats."""
    rows = []
    groups: dict[tuple[str, ...], list[int]] = {}
    for fit in range(found.n_fits):
        groups.setdefault(tuple(shown(found.columns[key][fit]) for key in found.settings), []).append(fit)
    for values, fits in groups.items():
        rows.append([*values, str(len(fits)), *(mean_words(found.columns[name], fits) for name in found.measures)])
    return [*found.settings, "fits", *found.measures], rows


def mean_words(cells: Sequence[Any], fits: Sequence[int]) -> str:
    """Mean and standard deviation of some cells, to two digits of the latter; how many of them are true."""
    known = [cells[fit] for fit in fits if cells[fit] is not None]
    if not known:
        return ""
    if all(isinstance(cell, bool) for cell in known):
        return f"{sum(known)} of {len(known)}"
    mean, spread = float(np.mean(known)), float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    if spread == 0.0:
        return f"{mean:.6g}" + (f"{SPREAD}0" if len(known) > 1 else "")
    n_decimals = max(1 - int(np.floor(np.log10(spread))), 0)
    if n_decimals > MOST_DECIMALS:
        return f"{mean:.6g}{SPREAD}{spread:.2g}"
    return f"{mean:.{n_decimals}f}{SPREAD}{spread:.{n_decimals}f}"


def map_section(found: Sweep) -> list[str]:
    """A heat map of every measure over each pair of settings that vary, or over the only one."""
    varied = [key for key in found.varied if len(levels(found.columns[key])) <= MOST_LEVELS]
    pairs: list[tuple[str, str | None]] = [
        (row, column) for place, row in enumerate(varied) for column in varied[place + 1 :]
    ]
    if not varied or not has_matplotlib():
        return []
    drawn = ["<h2>Maps</h2>", "<p>Means over repeats and all other settings.</p>", '<div class="maps">']
    for measure in (name for name in found.measures if name not in UNDRAWN):
        pictures = [picture(found, measure, *pair) for pair in pairs or [(varied[0], None)]]
        drawn += [f'<section><h3>{html.escape(measure)}</h3>\n<div class="maps">', *pictures, "</div></section>"]
    return [*drawn, "</div>"]


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def picture(found: Sweep, measure: str, row: str, column: str | None) -> str:
    """One heat map as an image inside the page."""
    from matplotlib.figure import Figure

    rows = (row, levels(found.columns[row]))
    columns = (column, levels(found.columns[column])) if column is not None else ("", ["all"])
    figure = Figure(figsize=(2.6 + 0.9 * len(columns[1]), 1.8 + 0.5 * len(rows[1])), layout="constrained")
    means = found.mean_by(measure, row, column)
    settings_map(means, rows, columns, figure.subplots(), name=measure, from_zero=False)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    words = html.escape(f"{measure} by {row}" + (f" and {column}" if column else ""), quote=True)
    return f'<img alt="{words}" src="data:image/png;base64,{data}">'


def table_section(found: Sweep) -> list[str]:
    """All fits, the first of them where there are very many."""
    n_shown = min(found.n_fits, MOST_ROWS)
    rows = [[shown(cells[fit]) for cells in found.columns.values()] for fit in range(n_shown)]
    note = [] if n_shown == found.n_fits else [f"<p>The first {n_shown} of {found.n_fits} fits.</p>"]
    return ["<h2>All fits</h2>", *note, grid(list(found.columns), rows)]


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    rows_and_head = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="wide" tabindex="0">{rows_and_head}</div>'


def shown(cell: Any) -> str:
    """A cell as people read it."""
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
