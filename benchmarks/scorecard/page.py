"""The page of the scorecard: everything in it comes from the results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.scorecard import LIMIT_ROWS, sets, summary
from benchmarks.scorecard.methods import METHODS, PEERS
from benchmarks.scorecard.store import Row
from benchmarks.scorecard.summary import MARGIN, OURS, by_set
from benchmarks.tables import markdown

TITLES = {
    "ari": "ARI",
    "log_ratio": "\\|log K/K\\*\\|",
    "ari_at_k": "ARI at K\\*",
    "purity": "dendrogram purity",
    "cpu_seconds": "CPU seconds",
    "log_density": "held-out log density",
    summary.MEDIAN: "held-out log density, median",
}
HEADINGS = {
    sets.SCORECARD: "Sets of the clustering benchmark suite",
    sets.TABLES: "Tables",
    sets.SKLEARN: "Sets of scikit-learn",
    sets.NULLS: "Sets that are one cluster",
}
PICTURES = {
    "scorecard-ari.png": "Adjusted Rand index of each method on each set",
    "scorecard-clusters.png": "Clusters that BHC finds in the sets with two columns",
}
INTRODUCTION = """# Scorecard

<!-- Written by `python -m benchmarks scorecard --page`: do not edit. -->

How well the estimators recover known classes on public data sets that none of the authors made, next to scikit-learn
and scipy. Ours run with their default settings, and nothing is set for a single data set. Variants of the search were
compared on the 37 sets of `scorecard`, however, so that their means are not held-out figures. Losses are shown as
plainly as wins.

```
python -m benchmarks scorecard [--group scorecard] [--only NAME] [--methods BHC,HDBSCAN] [--jobs N]
                               [--peers] [--force] [--no-density] [--limit-rows N] [--plots DIR] [--page]
```
"""
PROTOCOL = f"""
## Protocol

- The sets are 37 of the [benchmark suite for clustering algorithms](https://clustering-benchmarks.gagolewski.com) of
  Gagolewski et al., public tables with mixed columns, four sets of scikit-learn, and simulated sets that are one
  cluster, of 500 rows. Sets that are not on this computer are skipped with a message.
- `cluster` is `bayesgrove.cluster`, the call that chooses the model by the table; it takes `BHC` for tables of this
  size.
- At most {LIMIT_ROWS:,} rows (a fixed random subset). Numeric columns are standardised and constant columns dropped.
  On mixed tables our estimators get categories, integers and missing cells as they are; peers get one-hot columns,
  standardised, with missing cells imputed by the mean.
- **ARI**: adjusted Rand index at the method's own number of clusters K, against the reference partition that agrees
  best; rows that a reference marks as noise do not count. Rows that HDBSCAN marks as noise count as one more cluster;
  in "HDBSCAN + nearest" they join the cluster of the nearest row that has one.
- **K\\***: number of classes of that reference. **ARI at K\\***: the tree cut into K\\* clusters.
- **Dendrogram purity**: mean share of a class below the lowest common ancestor of two of its rows.
- **Held-out log density**: mean per row over a random fifth of the rows, after a fit to the others. For peers only on
  numeric sets without missing cells.
- **CPU seconds**: one fit on one thread, after compilation, including the search for the number of clusters. Peers'
  results are cached: their times were not measured on the same day as ours.
- k-means (10 starts) chooses K by the silhouette, the Gaussian mixture (full covariances) by BIC, both from a grid up
  to 60; the Bayesian mixture has up to 30 components and 500 iterations; HDBSCAN has `min_cluster_size=10`. Ward and
  average linkage give a tree only.
"""


def write(rows: Sequence[Row], path: Path) -> None:
    """The whole page."""
    own = [row for row in rows if row["group"] == sets.SCORECARD]
    parts = [INTRODUCTION, means_section(own), wins_section(own), *pictures(path.parent / "images"), PROTOCOL.strip()]
    for group, heading in HEADINGS.items():
        found = [row for row in rows if row["group"] == group]
        if found:
            parts.append(f"## {heading}\n\n{set_tables(found)}")
    path.write_text("\n\n".join(part.strip("\n") for part in parts) + "\n", encoding="utf-8")


def means_section(rows: Sequence[Row]) -> str:
    """Means over the scorecard's own sets."""
    named = [
        {
            "method": row["method"],
            "sets": row["sets"],
            **{TITLES[name]: decimal(row[name]) for name in (*summary.MEANS, summary.MEDIAN)},
        }
        for row in summary.mean_rows(rows)
    ]
    return f"## Means\n\n{table(named)}"


def wins_section(rows: Sequence[Row]) -> str:
    """Wins and losses, and the sets on which BHC is furthest behind the best peer."""
    counts = [{**row, "measure": TITLES[row["measure"]]} for row in summary.win_rows(rows)]
    lost = losses(rows)
    text = f"## {OURS} against each peer\n\nDifferences over {MARGIN}.\n\n{table(counts)}"
    if not lost:
        return text
    return f"{text}\n\n### Where {OURS} loses to the best peer\n\n{table(lost)}"


def losses(rows: Sequence[Row]) -> list[Row]:
    """Sets on which some peer is better by more than the margin, the widest gap first."""
    found = []
    for name, own in by_set(rows).items():
        ours = own.get(OURS, {}).get("ari")
        theirs = {peer: own[peer]["ari"] for peer in PEERS if own.get(peer, {}).get("ari") is not None}
        if ours is None or not theirs:
            continue
        best = max(theirs, key=theirs.__getitem__)
        found.append((theirs[best] - ours, {"set": name, OURS: decimal(ours), "best peer": best, "ARI": theirs[best]}))
    worst = sorted((pair for pair in found if pair[0] > MARGIN), key=lambda pair: -pair[0])
    return [{**row, "ARI": decimal(row["ARI"])} for _, row in worst]


def pictures(folder: Path) -> list[str]:
    """Links to the pictures that are there."""
    return [f"![{text}](images/{name})" for name, text in PICTURES.items() if (folder / name).exists()]


def set_tables(rows: Sequence[Row]) -> str:
    """Flat clusters and trees of all sets of a group."""
    flat = [set_row(name, own, flat_cell) for name, own in by_set(rows).items()]
    if rows[0]["group"] == sets.NULLS:  # of which any tree is right
        return f"ARI (1 for one cluster, 0 for several), and in brackets the number of clusters.\n\n{table(flat)}"
    trees = [set_row(name, own, tree_cell) for name, own in by_set(rows).items()]
    return (
        f"ARI, and in brackets the number of clusters.\n\n{table(flat)}\n\n"
        f"ARI at K\\*, and dendrogram purity.\n\n{table(trees)}"
    )


def set_row(name: str, own: dict[str, Row], cell_of: Any) -> Row:
    """A line of a table: one column per method that has something to show."""
    first = next(iter(own.values()))
    known = next((row["true_clusters"] for row in own.values() if row.get("true_clusters")), None)
    cells = {method: cell_of(own[method]) for method in METHODS if method in own}
    shown = {method: text for method, text in cells.items() if text is not None}
    return {"set": name, "rows": first["rows"], "K\\*": known, **shown}


def flat_cell(row: Row) -> str | None:
    """ARI and number of clusters; None for a method without flat clusters."""
    if row.get("error"):
        return "failed"
    if row.get("clusters") is None:
        return None
    return f"({row['clusters']})" if row.get("ari") is None else f"{row['ari']:.2f} ({row['clusters']})"


def tree_cell(row: Row) -> str | None:
    """ARI at the true number and purity; None for a method without a tree."""
    if row.get("ari_at_k") is None:
        return None
    return f"{row['ari_at_k']:.2f}, {row['purity']:.2f}"


def decimal(value: float | None) -> str:
    """Two decimals; nothing for nothing."""
    return "" if value is None else f"{value:.2f}"


def table(rows: Sequence[Row]) -> str:
    """A Markdown table, or a sentence in place of an empty one."""
    return markdown(rows) if rows else "No results yet."
