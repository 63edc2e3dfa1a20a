"""Means over the sets, and how often BHC wins and loses."""

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.scorecard.methods import METHODS, PEERS
from benchmarks.scorecard.sets import SCORECARD
from benchmarks.scorecard.store import Row, write_rows
from benchmarks.timing import format_rows

MARGIN = 0.02
"""Smaller differences count as ties."""
MEANS = ("ari", "log_ratio", "ari_at_k", "purity", "cpu_seconds")
MEDIAN = "median_log_density"
"""Densities of overfitted mixtures reach -10^6, and their mean says nothing of the other sets."""
COMPARED = ("ari", "ari_at_k", "purity", "log_density")
OURS = "BHC"


def report(rows: Sequence[Row], folder: Path) -> str:
    """Both tables of the scorecard's own sets as text; also written as `summary.csv` and `wins.csv`."""
    own = [row for row in rows if row["group"] == SCORECARD]
    means, wins = mean_rows(own), win_rows(own)
    write_rows(folder / "summary.csv", means, ("method", "sets", *MEANS, MEDIAN))
    write_rows(folder / "wins.csv", wins, ("peer", "measure", "wins", "ties", "losses"))
    if not means:
        return "No results on the scorecard's sets."
    parts = [f"Means over the scorecard's sets\n{format_rows([rounded(row) for row in means])}"]
    if wins:
        parts.append(f"{OURS} against peers, differences over {MARGIN}\n{format_rows(wins)}")
    return "\n\n".join(parts)


def rounded(row: Row) -> Row:
    """Three decimals for the eye."""
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}


def mean_rows(rows: Sequence[Row]) -> list[Row]:
    """Mean figures of each method over the sets that it finished."""
    found = []
    for method in METHODS:
        own = [row for row in rows if row["method"] == method and not row.get("error")]
        if own:
            values = {name: mean([log_ratio(r) if name == "log_ratio" else r.get(name) for r in own]) for name in MEANS}
            densities = [row["log_density"] for row in own if row.get("log_density") is not None]
            values[MEDIAN] = statistics.median(densities) if densities else None
            found.append({"method": method, "sets": len(own), **values})
    return found


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of what is known."""
    known = [float(value) for value in values if value is not None]
    return statistics.fmean(known) if known else None


def log_ratio(row: Row) -> float | None:
    """|log(K / true K)|; no cluster at all counts as one."""
    if row.get("clusters") is None or row.get("true_clusters") is None:
        return None
    return abs(math.log(max(row["clusters"], 1) / row["true_clusters"]))


def win_rows(rows: Sequence[Row]) -> list[Row]:
    """Wins, ties and losses of BHC against each peer by each measure that both have."""
    table = by_set(rows)
    found = []
    for peer in PEERS:
        for measure in COMPARED:
            pairs = [(own.get(OURS, {}).get(measure), own.get(peer, {}).get(measure)) for own in table.values()]
            gaps = [ours - theirs for ours, theirs in pairs if ours is not None and theirs is not None]
            if gaps:
                found.append({"peer": peer, "measure": measure, **counted(gaps)})
    return found


def counted(gaps: Sequence[float]) -> dict[str, int]:
    """Numbers of differences above, within and below the margin."""
    wins, losses = sum(gap > MARGIN for gap in gaps), sum(gap < -MARGIN for gap in gaps)
    return {"wins": wins, "ties": len(gaps) - wins - losses, "losses": losses}


def by_set(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Set -> method -> row."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        table.setdefault(row["set"], {})[row["method"]] = row
    return table
