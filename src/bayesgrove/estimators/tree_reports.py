"""What a report of clusters of trees shows besides the exhibits of the result: pictures of trees, known classes."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.inference.exhibits import Exhibit, GridExhibit, PictureExhibit, TextsExhibit
from bayesgrove.inference.result import Result
from bayesgrove.inference.tree_exhibits import class_map
from bayesgrove.io.tree_data import TreeData
from bayesgrove.plot import typical_trees
from bayesgrove.stats.log_odds import log_odds

MOST_LINES = 60
"""Of each tree."""
MOST_PATHS, MOST_OUTLIERS, MOST_CLUSTERS = 6, 20, 30
LEAST_LABELS = 30
"""With fewer labels than this, paths say no more than labels and positions do."""


def report_result(model: Any, classes: Any = None) -> Result:
    """The result with typical trees, paths and outliers of the trees fitted, and the table of classes if given.

    A model that was loaded from a file no longer has its trees: paths and outliers are shown right after the fit only.
    """
    found: list[Exhibit] = [*typical_texts(model), *typical_picture(model)]
    if classes is not None:
        found.append(class_map(model.class_table(classes)))
    data, last = getattr(model, "_data", None), []
    if data is not None and data.forest.values is None:
        found += telling_paths(data, model.labels_)
        names = model.tree_.leaf_labels or range(len(data))
        last = [outliers(names, data.forest.sizes, model.labels_, model._log_likelihoods(data))]
    return replace(model.result_, exhibits=(*found, *model.result_.exhibits, *last))


def typical_picture(model: Any) -> list[Exhibit]:
    """The most typical trees side by side; nothing where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    n_lines = min(max((tree.parents.size for tree in model.typical_trees_), default=1), MOST_LINES)
    width = min(1.0 + 2.2 * min(model.n_clusters_, 8), 14.0)
    figure = Figure(figsize=(width, min(max(1.4 + 0.15 * n_lines, 2.6), 11.0)), layout="constrained")
    typical_trees(model, figure.subplots(), max_nodes=MOST_LINES)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    picture = PictureExhibit(
        title="Typical trees",
        note="Of each cluster the tree nearest to its mean, by how often labels stand at positions. Leaves of one "
        "label side by side share a line; (+n) counts nodes not drawn.",
        png=stream.getvalue(),
        alt=f"The most typical tree of each of {model.n_clusters_} clusters, as indented lists of labels.",
    )
    return [picture]


def typical_texts(model: Any) -> list[Exhibit]:
    """The typical documents as written; nothing for trees that no document was read for."""
    shown = [(cluster, text) for cluster, text in enumerate(model.typical_documents_[:MOST_CLUSTERS]) if text]
    if not shown:
        return []
    sizes, names = np.bincount(model.labels_), model.tree_.leaf_labels
    heads = [f"Cluster {cluster}, {sizes[cluster]} of {sizes.sum()}" for cluster, _ in shown]
    if names is not None:
        places = [names[model.typical_[cluster]] for cluster, _ in shown]
        heads = [f"{head}: {Path(place).name}" for head, place in zip(heads, places, strict=True)]
    note = "Of each cluster the document nearest to its mean, as written, shortened where it is long."
    return [TextsExhibit(title="Typical documents", note=note, names=heads, texts=[text for _, text in shown])]


def telling_paths(data: TreeData, labels: np.ndarray) -> list[Exhibit]:
    """Paths of labels from the root that set clusters of documents apart; nothing for one cluster or few labels."""
    sizes = np.bincount(labels)
    if sizes.size < 2 or data.n_labels < LEAST_LABELS or data.vocabulary is None:
        return []
    table = data.to_table("paths")
    (rows, columns), n_paths = table.counts.nonzero(), table.shape[1]
    cells = np.bincount(labels[rows] * n_paths + columns, minlength=sizes.size * n_paths)
    odds = log_odds(cells.reshape(sizes.size, -1), sizes)
    best = odds.strongest(MOST_PATHS).tolist()
    shown = [
        (cluster, table.names[path], float(odds.share[cluster, path]), float(odds.elsewhere[cluster, path]))
        for cluster in range(min(sizes.size, MOST_CLUSTERS))
        for path in best[cluster]
    ]
    note = "Share of the documents that have a path, in the cluster and elsewhere; the most telling paths first."
    columns_shown = ("cluster", "path", "share", "share elsewhere")
    return [GridExhibit(title="Paths that set clusters apart", note=note, columns=columns_shown, rows=shown)]


def outliers(
    names: Sequence[str | int], sizes: np.ndarray, labels: np.ndarray, log_likelihoods: np.ndarray
) -> GridExhibit:
    """Trees with the lowest log score per node under their own clusters; `log_likelihoods` is (cluster, tree)."""
    per_node = log_likelihoods[labels, np.arange(labels.size)] / sizes
    lowest = np.argsort(per_node, kind="stable")[:MOST_OUTLIERS].tolist()
    return GridExhibit(
        title="Outliers",
        note="Trees with the lowest log score per node under their own clusters.",
        columns=("tree", "cluster", "nodes", "log score per node"),
        rows=[(names[tree], int(labels[tree]), int(sizes[tree]), float(per_node[tree])) for tree in lowest],
    )
