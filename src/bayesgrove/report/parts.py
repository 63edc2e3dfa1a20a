"""What a page shows of one hierarchy of rows: of a result, or of one of its views."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.inference.overview import (
    CountDistribution,
    cluster_certainty,
    count_distribution,
    pair_sample,
    principal_plane,
)
from bayesgrove.inference.result import Result
from bayesgrove.report import words
from bayesgrove.report.encode import number, pack
from bayesgrove.report.rows import embedding_document, features_document, profile_document, table_document
from bayesgrove.report.tree import MOST_LEAVES, tree_document

MOST_PAIRS = 600
VIEW_LEAVES, VIEW_NODES, VIEW_LABELS = 9_000, 2_000, 200_000
"""Of all views together: leaves of trees, branches with profiles, labels of rows."""


class Bounds(NamedTuple):
    """How much a page holds of one hierarchy."""

    leaves: int = MOST_LEAVES
    pairs: int = MOST_PAIRS
    nodes: int | None = None
    labels: int = MOST_LEAVES


def bounds_of_view(n_views: int) -> Bounds:
    """A page of many views holds less of each, so that it stays about as large as a page of one."""
    return Bounds(
        leaves=VIEW_LEAVES // n_views,
        pairs=int(MOST_PAIRS / n_views**0.5),
        nodes=VIEW_NODES // n_views,
        labels=min(MOST_LEAVES, VIEW_LABELS // n_views),
    )


def hierarchy_document(result: Result, bounds: Bounds) -> dict[str, Any]:
    """Everything a page shows of the labels and the tree of a result."""
    distribution, certainty, described = count_distribution(result), cluster_certainty(result), result.description
    return {
        "summary": _summary(result, distribution, certainty),
        "items": _items(result, bounds.labels),
        "tree": tree_document(result, bounds.leaves),
        "clusters": _clusters(result, certainty),
        "features": None if described is None else features_document(described),
        "profile": None if described is None else profile_document(described, bounds.nodes),
        "similarity": _similarity(result, bounds.pairs),
        "table": None if described is None else table_document(described),
        "embedding": None if described is None else embedding_document(principal_plane(described)),
        "counts": None if distribution is None else _counts(result, distribution),
    }


def _summary(result: Result, distribution: CountDistribution | None, certainty: np.ndarray | None) -> dict[str, Any]:
    return {
        "n_items": int(result.labels.size),
        "n_columns": len(result.feature_names),
        "noun": result.noun,
        "n_clusters": result.n_clusters,
        "log_evidence": None if result.log_evidence is None else number(result.log_evidence),
        "how_many": words.how_many(result, distribution),
        "how_sure": words.how_sure(result, certainty),
        "which_features": words.which_features(result),
        "trust": words.whether_to_trust(result),
        "converged": None if result.diagnostics is None else bool(result.diagnostics.converged),
    }


def _items(result: Result, most: int) -> dict[str, Any]:
    is_small, names = result.labels.size <= most, result.tree.leaf_labels
    return {
        "n": int(result.labels.size),
        "names": list(names) if is_small and names is not None else None,
        "labels": pack(result.labels, "i4") if is_small else None,
    }


def _clusters(result: Result, certainty: np.ndarray | None) -> dict[str, Any]:
    sizes = np.bincount(result.labels)
    return {
        "size": pack(sizes, "i4"),
        "certainty": pack(np.full(sizes.size, np.nan) if certainty is None else certainty, "f4"),
    }


def _similarity(result: Result, most: int) -> dict[str, Any] | None:
    found = pair_sample(result, most)
    if found is None:
        return None
    lower = found.similarity[np.tril_indices(found.items.size)]
    return {
        "items": pack(found.items, "i4"),
        "values": pack(np.rint(255.0 * lower), "u1"),
        "is_sampled": found.is_sampled,
    }


def _counts(result: Result, distribution: CountDistribution) -> dict[str, Any]:
    kept = distribution.probability >= 1e-4
    return {
        "n_components": result.n_components if words.counts_components(result) else None,
        "counts": distribution.counts[kept].tolist(),
        "probability": [round(float(p), 6) for p in distribution.probability[kept]],
        "is_sampled": distribution.is_sampled,
    }
