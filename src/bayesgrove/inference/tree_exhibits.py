"""What models of trees add to a report: what sets clusters apart, classes, hidden states, number of components."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.inference.description import spread
from bayesgrove.inference.exhibits import Exhibit, GridExhibit, HeatMapExhibit, LinesExhibit
from bayesgrove.inference.tree_features import ClusterCounts, Telling, label_name, telling_labels, telling_positions
from bayesgrove.stats.partitions import class_codes

MOST_TOLD, MOST_PLACES = 6, 4
"""Labels and positions of each cluster in a report."""
MOST_CLUSTERS, MOST_MAPS, MOST_LABELS = 30, 6, 30
MOST_POINTS = 1_000


class ClassTable(NamedTuple):
    """How clusters meet known classes."""

    classes: tuple[Any, ...]
    """Sorted."""
    counts: np.ndarray
    """int64 (n_clusters, n_classes)"""


def make_class_table(labels: np.ndarray, n_clusters: int, classes: Any) -> ClassTable:
    """Number of items of each class in each cluster."""
    names, codes = class_codes(classes)
    counts = np.bincount(labels * names.size + codes, minlength=n_clusters * names.size)
    return ClassTable(tuple(names.tolist()), counts.reshape(n_clusters, names.size))


def class_map(table: ClassTable) -> HeatMapExhibit:
    """The table of classes as colours."""
    return HeatMapExhibit(
        title="Clusters and known classes",
        note="Number of trees of each class in each cluster. The model was not told the classes.",
        values=table.counts.astype(np.float64),
        row_names=[f"cluster {cluster}" for cluster in range(len(table.counts))],
        column_names=[str(name) for name in table.classes],
        unit="trees",
    )


def telling_exhibits(counts: ClusterCounts, names: tuple[str, ...] | None) -> list[Exhibit]:
    """Labels and positions that set clusters apart; nothing for one cluster, labels that are numbers, one position."""
    found: list[Exhibit] = []
    labels = telling_labels(counts, names, MOST_TOLD) if counts.nodes.any() else []
    if labels:
        note = (
            "Share of nodes with a label, in the cluster and elsewhere. Log odds in nats; an error counts nodes as if"
        )
        found.append(_grid("Labels that set clusters apart", f"{note} they were independent.", "label", labels))
    places = telling_positions(counts, MOST_PLACES)
    if places and counts.positions.shape[1] > 1:
        note = "Share of internal nodes that have a child at a position, in the cluster and elsewhere."
        found.append(_grid("Positions that set clusters apart", note, "position", places))
    return found


def _grid(title: str, note: str, what: str, tellings: Sequence[Telling]) -> GridExhibit:
    rows = [
        (t.cluster, t.name, round(t.share, 4), round(t.elsewhere, 4), round(t.log_odds, 2), round(t.error, 2))
        for t in tellings
        if t.cluster < MOST_CLUSTERS
    ]
    return GridExhibit(
        title=title,
        note=note,
        columns=("cluster", what, "share", "share elsewhere", "log odds", "error"),
        rows=rows,
    )


def count_lines(values: np.ndarray, what: str = "draw") -> LinesExhibit:
    """Number of components (chain, draw), a line per chain."""
    chosen = spread(values.shape[1], MOST_POINTS)
    return LinesExhibit(
        title=f"Number of components by {what}",
        note=f"How many components hold trees after each {what}, a line per chain.",
        x=chosen + 1.0,
        series={f"chain {chain}": own[chosen] for chain, own in enumerate(values)},
        x_label=what,
        y_label="components",
    )


def emission_maps(emission: np.ndarray, names: tuple[str, ...] | None, nouns: str = "cluster") -> list[Exhibit]:
    """Probabilities of the most probable labels in every state; `emission` is (component, label, state)."""
    return [
        _emission_map(table, names, f"{nouns} {k}" if len(emission) > 1 else "all trees")
        for k, table in enumerate(emission[:MOST_MAPS])
    ]


def _emission_map(table: np.ndarray, names: tuple[str, ...] | None, whose: str) -> HeatMapExhibit:
    best = table.max(axis=1)
    chosen = np.argsort(-best, kind="stable")[:MOST_LABELS]
    chosen = chosen[np.argsort(table[chosen].argmax(axis=1), kind="stable")]
    return HeatMapExhibit(
        title=f"Labels by hidden state: {whose}",
        note="Probability of a label in each hidden state; the labels most probable in any.",
        values=table[chosen].T.astype(np.float64),
        row_names=[f"state {state}" for state in range(table.shape[1])],
        column_names=[label_name(int(code), names) for code in chosen],
        unit="probability",
    )


def switch_map(switching: np.ndarray) -> HeatMapExhibit:
    """Which positions nodes look at, component by component."""
    return HeatMapExhibit(
        title="Positions that nodes depend on",
        note="Probability that the state of a node depends on its child at a position.",
        values=np.asarray(switching, np.float64),
        row_names=[f"cluster {k}" for k in range(len(switching))],
        column_names=[str(position) for position in range(1, switching.shape[1] + 1)],
        unit="probability",
    )
