"""What a model file holds of the rows: profiles of clusters and branches, and a sample to draw."""

from typing import Any

import numpy as np

from bayesgrove.core.table import KINDS, Table
from bayesgrove.estimators.rules import Rules, check_rules, is_array
from bayesgrove.inference.description import Description, NodeFeatures
from bayesgrove.stats.profiles import Feature, Profile
from bayesgrove.trees import Tree

PREFIX = "described_"
CLUSTER_PARTS = ("mean", "low", "high", "telling")
NODE_PARTS = ("node", "feature", *CLUSTER_PARTS)
MOST_KEPT_CELLS = 1_000_000
"""A profile of more numbers is kept of the first clusters only."""


def description_parts(described: Description | None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A description as a document and arrays; nothing where there is none."""
    if described is None:
        return {}, {}
    clusters, nodes = described.clusters, described.nodes
    kept = slice(None, max(1, MOST_KEPT_CELLS // max(len(clusters.features), 1)))
    document = {
        "features": [list(feature) for feature in clusters.features],
        "kinds": list(described.sample.kinds),
        "n_profiled": described.n_profiled,
    }
    arrays = {
        **{f"cluster_{part}": getattr(clusters, part)[kept] for part in CLUSTER_PARTS},
        "overall": clusters.overall,
        **{f"node_{part}": getattr(nodes, part) for part in NODE_PARTS},
        "rows": described.rows,
        "columns": described.columns,
        "cells": described.sample.values,
    }
    return {"description": document}, {f"{PREFIX}{name}": array for name, array in arrays.items()}


def restored_description(
    document: dict[str, Any], arrays: dict[str, np.ndarray], tree: Tree, schema: tuple[tuple[str, ...], dict]
) -> Description | None:
    """The description of a file, checked; None for a file without one."""
    if "description" not in document:
        return None
    about = document["description"]
    found = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    names, categories = schema
    columns = found["columns"]
    kinds = tuple(str(kind) for kind in about["kinds"])
    check_rules(sample_rules(found, tree, names, kinds))
    features = tuple(
        Feature(str(name), int(j), bool(is_rate), int(code)) for name, j, is_rate, code in about["features"]
    )
    check_rules(profile_rules(found, tree, features, names))
    sample = Table(
        found["cells"],
        tuple(names[j] for j in columns),
        kinds,
        {place: categories[j] for place, j in enumerate(columns.tolist()) if j in categories},
    )
    return Description(
        clusters=Profile(
            features, overall=found["overall"], **{part: found[f"cluster_{part}"] for part in CLUSTER_PARTS}
        ),
        nodes=NodeFeatures(**{part: found[f"node_{part}"] for part in NODE_PARTS}),
        rows=found["rows"],
        sample=sample,
        columns=columns,
        n_profiled=int(about["n_profiled"]),
    )


def sample_rules(found: dict[str, np.ndarray], tree: Tree, names: tuple[str, ...], kinds: tuple[str, ...]) -> Rules:
    """The rows to draw."""
    rows, columns, cells = found["rows"], found["columns"], found["cells"]
    return (
        ("rows described are none of the tree's", lambda: are_numbers(rows, tree.n_leaves)),
        ("columns described are none of the table's", lambda: are_numbers(columns, len(names))),
        (
            "kinds of columns described are unknown",
            lambda: len(kinds) == columns.size and set(kinds) <= set(KINDS),
        ),
        ("cells described do not fit", lambda: is_array(cells, np.float64, (rows.size, columns.size))),
    )


def profile_rules(
    found: dict[str, np.ndarray], tree: Tree, features: tuple[Feature, ...], names: tuple[str, ...]
) -> Rules:
    """Profiles: shapes, and numbers of nodes and features in range."""
    top, n_clusters = found["node_feature"], len(found["cluster_mean"])
    return (
        ("features have no column", lambda: all(0 <= feature.column < len(names) for feature in features)),
        ("nodes described are none of the tree's", lambda: are_numbers(found["node_node"], tree.n_nodes)),
        ("features described are unknown", lambda: top.ndim == 2 and are_numbers(top.ravel(), len(features))),
        (
            "profiles do not fit together",
            lambda: (
                is_array(found["overall"], np.float64, (len(features),))
                and all(
                    is_array(found[f"cluster_{part}"], np.float64, (n_clusters, len(features)))
                    and is_array(found[f"node_{part}"], np.float64, (found["node_node"].size, top.shape[1]))
                    for part in CLUSTER_PARTS
                )
            ),
        ),
    )


def are_numbers(array: np.ndarray, below: int) -> bool:
    """Whether an array is a vector of whole numbers from 0 to `below` - 1."""
    return array.dtype == np.int64 and array.ndim == 1 and bool(np.all((array >= 0) & (array < below)))
