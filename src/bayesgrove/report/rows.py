"""What a page shows of the rows: features, profiles of branches and clusters, a heat map, a plane."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.inference.description import Description
from bayesgrove.inference.overview import Plane
from bayesgrove.report.encode import number, pack

MISSING = 255
"""Code of a missing cell; 0 .. 254 run from the low to the high end of a column."""
TAIL = 0.02
"""Share of a column's cells beyond each end of its scale."""
MOST_CLUSTER_NUMBERS = 20_000
PARTS = ("mean", "low", "high", "telling")


def features_document(described: Description) -> list[dict[str, Any]]:
    """Name, column, kind and overall mean of each feature."""
    overall = described.clusters.overall
    return [
        {"name": feature.name, "column": feature.column, "is_rate": feature.is_rate, "overall": number(mean)}
        for feature, mean in zip(described.features, overall.tolist(), strict=True)
    ]


def profile_document(described: Description, most_nodes: int | None = None) -> dict[str, Any]:
    """The strongest features of the largest branches, and all features of the fitted clusters."""
    nodes, clusters = described.nodes, described.clusters
    # Nodes are sorted by id; large ones come late.
    shown = slice(None) if most_nodes is None else slice(max(0, nodes.node.size - most_nodes), None)
    kept = slice(None, max(1, MOST_CLUSTER_NUMBERS // max(len(clusters.features), 1)))
    return {
        "n_rows": described.n_profiled,
        "node": pack(nodes.node[shown], "i4"),
        "feature": pack(nodes.feature[shown], "i4"),
        **{part: pack(getattr(nodes, part)[shown], "f4") for part in PARTS},
        "cluster": {part: pack(getattr(clusters, part)[kept], "f4") for part in PARTS},
    }


def table_document(described: Description) -> dict[str, Any]:
    """Cells of the sampled rows as 0 .. 254 within their columns, 255 where missing."""
    cells = described.sample.values
    categories = described.sample.categories
    low, high = column_range(cells, categories)
    with np.errstate(invalid="ignore"):
        shades = np.rint(254.0 * np.clip((cells - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0))
    shades = np.where(np.isnan(cells), MISSING, shades)
    least, most = (
        [number(end(cells[seen, j])) if seen.any() else None for j, seen in enumerate(~np.isnan(cells.T))]
        for end in (np.min, np.max)
    )
    return {
        "items": pack(described.rows, "i4"),
        "columns": list(described.sample.names),
        "values": pack(shades, "u1"),
        "low": [number(value) for value in low.tolist()],
        "high": [number(value) for value in high.tolist()],
        "least": least,
        "most": most,
        "categories": {str(j): [str(label) for label in labels] for j, labels in categories.items()},
    }


def column_range(cells: np.ndarray, categories: Mapping[int, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The ends of each column's scale: quantiles, so that outliers do not bleach the rest; nan without cells.

    Categories run from the first to the last, as each is to be told from its shade.
    """
    ends = np.full((2, cells.shape[1]), np.nan)
    for j in range(cells.shape[1]):
        seen = cells[~np.isnan(cells[:, j]), j]
        if j in categories:
            ends[:, j] = 0, len(categories[j]) - 1
        elif seen.size:
            ends[:, j] = np.quantile(seen, (TAIL, 1.0 - TAIL))
            if ends[0, j] == ends[1, j]:
                ends[:, j] = seen.min(), seen.max()
    return ends[0], ends[1]


def embedding_document(plane: Plane) -> dict[str, Any]:
    """Rows in the plane of greatest variance."""
    return {
        "items": pack(plane.items, "i4"),
        "xy": pack(plane.xy, "f4"),
        "share": [round(float(share), 4) for share in plane.share],
    }
