"""What the rows of a fit look like: profiles of clusters and branches, and a sample of rows to draw."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.table import Table
from bayesgrove.stats.profiles import Feature, Profile, features_of, profile_groups
from bayesgrove.trees import Tree

MOST_CELLS = 5_000_000
"""Larger tables are profiled by evenly spread rows."""
MOST_NODES = 4_000
MOST_CLUSTERS = 1_000
MOST_FEATURES = 1_000
TOP_FEATURES = 8
SAMPLE_ROWS = 1_000
SAMPLE_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """The features that best tell the rows of a node from all others.

    Attributes
    ----------
    node : int64 array of shape (n_nodes,)
        Ids in the tree.
    feature : int64 array of shape (n_nodes, n_top)
        Numbers of features, the most telling first.
    mean, low, high, telling : float64 arrays of shape (n_nodes, n_top)
        As in `Profile`.
    """

    node: np.ndarray
    feature: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    telling: np.ndarray


@dataclass(frozen=True, eq=False)
class Description:
    """Profiles and a sample, computed when a model is fitted, so that pictures and reports do not need the data.

    Attributes
    ----------
    clusters : Profile
        One group per cluster of the labels (the first 1,000). Given the labels: it does not average over partitions.
    nodes : NodeFeatures
        Of the largest inner nodes of the tree.
    rows : int64 array
        Items of the sample, in the order of the tree's leaves, evenly spread.
    sample : Table
        Their cells; of wide tables the columns that tell clusters apart best.
    columns : int64 array
        Numbers of these columns.
    n_profiled : int
        Rows that the profiles were computed from.
    """

    clusters: Profile
    nodes: NodeFeatures
    rows: np.ndarray
    sample: Table
    columns: np.ndarray
    n_profiled: int

    @property
    def features(self) -> tuple[Feature, ...]:
        """What the profiles are about."""
        return self.clusters.features


def describe_rows(
    read_rows: Callable[[np.ndarray], Table],
    n_columns: int,
    tree: Tree,
    labels: np.ndarray,
    columns: np.ndarray | None = None,
) -> Description:
    """Profiles of clusters and branches, and rows to draw; `read_rows(items)` gives the table of some items.

    `columns` are drawn, by default all of them or those that tell clusters apart best.
    """
    places = spread(labels.size, max(SAMPLE_ROWS, MOST_CELLS // max(n_columns, 1)))
    items = tree.leaf_order[places]
    in_order = read_rows(items)
    features = features_of(in_order)[:MOST_FEATURES]
    clusters = _profile_clusters(in_order, labels[items], features)
    drawn = spread(items.size, SAMPLE_ROWS)
    columns = _telling_columns(clusters, n_columns) if columns is None else columns
    sample = in_order.take(drawn).select_columns(columns.tolist())
    return Description(
        clusters=clusters,
        nodes=_node_features(in_order, tree, places, features),
        rows=items[drawn],
        sample=sample,
        columns=columns,
        n_profiled=items.size,
    )


def describe_view(described: Description, tree: Tree, labels: np.ndarray, columns: np.ndarray) -> Description | None:
    """What the sampled rows look like in some of the columns, divided by another tree; None if none was sampled."""
    place_of = {column: place for place, column in enumerate(described.columns.tolist())}
    places = [place_of[column] for column in columns.tolist() if column in place_of]
    if not places:
        return None
    position = np.argsort(tree.leaf_order)[described.rows]
    order = np.argsort(position)
    items, sample = described.rows[order], described.sample.take(order).select_columns(places)
    features = features_of(sample)[:MOST_FEATURES]
    numbers = described.columns[places]
    clusters = _profile_clusters(sample, labels[items], features)
    return Description(
        clusters=replace(clusters, features=tuple(f._replace(column=int(numbers[f.column])) for f in features)),
        nodes=_node_features(sample, tree, position[order], features),
        rows=items,
        sample=sample,
        columns=numbers,
        n_profiled=items.size,
    )


def spread(n: int, most: int) -> np.ndarray:
    """All of 0 .. n - 1, or `most` of them at even distances."""
    return np.arange(n) if n <= most else np.arange(most) * n // most


def _profile_clusters(rows: Table, labels: np.ndarray, features: tuple[Feature, ...]) -> Profile:
    order = np.argsort(labels, kind="stable")
    groups = np.arange(min(int(labels.max()) + 1, MOST_CLUSTERS))
    sorted_labels = labels[order]
    start, stop = np.searchsorted(sorted_labels, groups), np.searchsorted(sorted_labels, groups, side="right")
    return profile_groups(rows.take(order), start, stop, features)


def _node_features(rows: Table, tree: Tree, places: np.ndarray, features: tuple[Feature, ...]) -> NodeFeatures:
    nodes = _largest_nodes(tree)
    start = np.searchsorted(places, tree.leaf_start[nodes])
    stop = np.searchsorted(places, tree.leaf_start[nodes] + tree.size[nodes])
    profile = profile_groups(rows, start, stop, features)
    top = profile.strongest(TOP_FEATURES)
    parts = {part: getattr(profile, part) for part in ("mean", "low", "high", "telling")}
    return NodeFeatures(nodes, top, **{name: np.take_along_axis(part, top, axis=1) for name, part in parts.items()})


def _largest_nodes(tree: Tree) -> np.ndarray:
    """The inner nodes with most leaves, ids ascending; of equal ones those of smaller ids."""
    inner = np.flatnonzero(tree.item == NULL)
    if inner.size <= MOST_NODES:
        return inner
    sizes = tree.size[inner]
    least = np.partition(sizes, -MOST_NODES)[-MOST_NODES]
    larger, equal = inner[sizes > least], inner[sizes == least]
    return np.sort(np.concatenate([larger, equal[: MOST_NODES - larger.size]]))


def _telling_columns(clusters: Profile, n_columns: int) -> np.ndarray:
    """All columns, or those that tell most about the clusters, in the table's order."""
    if n_columns <= SAMPLE_COLUMNS:
        return np.arange(n_columns)
    bits = np.zeros(n_columns)
    np.add.at(bits, [feature.column for feature in clusters.features], clusters.telling.sum(axis=0))
    return np.sort(np.argsort(-bits, kind="stable")[:SAMPLE_COLUMNS])
