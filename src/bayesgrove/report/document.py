"""The content of a page: a result in JSON's types, bounded in size whatever the data.

`docs/report-data.md` describes every field; the scripts of `assets/` read nothing else.
"""

from typing import Any

import numpy as np

from bayesgrove.inference.overview import (
    CountLaw,
    cluster_certainty,
    count_law,
    pair_sample,
    principal_plane,
)
from bayesgrove.inference.result import Result
from bayesgrove.plot.colours import PALETTE
from bayesgrove.report import words
from bayesgrove.report.chains import chains_document
from bayesgrove.report.encode import number, pack
from bayesgrove.report.exhibits import exhibit_document
from bayesgrove.report.rows import embedding_document, features_document, profile_document, table_document
from bayesgrove.report.tree import MOST_LEAVES, tree_document

FORMAT = 1
MOST_PAIRS = 600


def report_document(result: Result, title: str | None = None) -> dict[str, Any]:
    """Everything a page shows of a result."""
    law, certainty, described = count_law(result), cluster_certainty(result), result.description
    return {
        "format": FORMAT,
        "title": title or f"{result.model}: {words.count(result.n_clusters, 'cluster')}",
        "model": result.model,
        "palette": list(PALETTE),
        "summary": _summary(result, law, certainty),
        "items": _items(result),
        "tree": tree_document(result),
        "clusters": _clusters(result, certainty),
        "features": None if described is None else features_document(described),
        "profile": None if described is None else profile_document(described),
        "similarity": _similarity(result),
        "table": None if described is None else table_document(described),
        "embedding": None if described is None else embedding_document(principal_plane(described)),
        "counts": None if law is None else _counts(law),
        "chains": chains_document(result),
        "exhibits": [exhibit_document(exhibit) for exhibit in result.exhibits],
        "settings": _settings(result),
        "provenance": _provenance(result),
    }


def _summary(result: Result, law: CountLaw | None, certainty: np.ndarray | None) -> dict[str, Any]:
    return {
        "n_items": int(result.labels.size),
        "n_columns": len(result.feature_names),
        "n_clusters": result.n_clusters,
        "log_evidence": None if result.log_evidence is None else number(result.log_evidence),
        "how_many": words.how_many(result, law),
        "how_sure": words.how_sure(result, certainty),
        "which_features": words.which_features(result),
        "trust": words.whether_to_trust(result),
        "converged": None if result.diagnostics is None else bool(result.diagnostics.converged),
    }


def _items(result: Result) -> dict[str, Any]:
    is_small, names = result.labels.size <= MOST_LEAVES, result.tree.leaf_labels
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


def _similarity(result: Result) -> dict[str, Any] | None:
    found = pair_sample(result, MOST_PAIRS)
    if found is None:
        return None
    lower = found.similarity[np.tril_indices(found.items.size)]
    return {
        "items": pack(found.items, "i4"),
        "values": pack(np.rint(255.0 * lower), "u1"),
        "is_sampled": found.is_sampled,
    }


def _counts(law: CountLaw) -> dict[str, Any]:
    kept = law.probability >= 1e-4
    return {
        "counts": law.counts[kept].tolist(),
        "probability": [round(float(p), 6) for p in law.probability[kept]],
        "is_sampled": law.is_sampled,
    }


def _settings(result: Result) -> list[list[str]]:
    given = result.provenance.get("settings", {})
    rows = sorted([str(name), str(value)] for name, value in given.items())
    return [*rows, ["likelihood used", str(result.likelihood)]]


def _provenance(result: Result) -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in {**result.provenance, **result.details}.items():
        if name == "settings":
            continue
        if isinstance(value, dict):
            rows.extend([f"{name}: {key}", str(inner)] for key, inner in value.items())
        else:
            rows.append([str(name), str(value)])
    return sorted(rows)  # files keep no order
