"""Trees as scipy linkage matrices, networkx graphs and JSON text."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError
from bayesgrove.trees.cuts import node_labels
from bayesgrove.trees.traverse import child_counts

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree

FORMAT = "bayesgrove-tree"
VERSION = 1
MAX_NODES = 10_000_000
MAX_CHARACTERS_PER_NODE = 1000


def tree_to_linkage(tree: "Tree") -> np.ndarray:
    """scipy's linkage matrix: rows sorted by height, leaves numbered by item.

    Row t makes scipy's node n + t, which is the tree's own id only where ids already ascend with heights.
    """
    inner = np.flatnonzero(tree.item == NULL)
    counts = child_counts(tree.parent)[inner]
    if (counts != 2).any():
        node = int(np.argmax(counts != 2))
        raise InvalidTreeError(
            f"a linkage matrix needs a binary tree, node {inner[node]} has {counts[node]} children. "
            "Use to_newick, to_json or to_networkx.",
            node=int(inner[node]),
        )
    order = inner[np.argsort(tree.height[inner], kind="stable")]
    scipy_id = tree.item.copy()
    scipy_id[order] = tree.n_leaves + np.arange(order.size)
    first = tree.first_child[order]
    pairs = np.sort(np.column_stack([scipy_id[first], scipy_id[tree.next_sibling[first]]]), axis=1)
    return np.column_stack([pairs, tree.height[order], tree.size[order]]).astype(np.float64)


def clusters_to_linkage(tree: "Tree", labels: np.ndarray) -> np.ndarray:
    """The merges above clusters as a linkage matrix; of nodes with many children pair after pair."""
    own = node_labels(tree, labels)
    place: dict[int, tuple[int, float, int]] = {}
    merges: list[tuple[int, int, float, int]] = []
    n_clusters = int(labels.max()) + 1
    for node in np.lexsort((np.arange(tree.n_nodes), tree.height)).tolist():
        if own[node] >= 0:
            place[node] = int(own[node]), 0.0, 1
            continue
        children = {place[child][0]: place[child] for child in tree.children(node)}  # parts of one cluster count once
        first, *others = sorted(children.values())
        for other in others:
            merges.append((first[0], other[0], float(tree.height[node]), first[2] + other[2]))
            first = n_clusters + len(merges) - 1, float(tree.height[node]), first[2] + other[2]
        place[node] = first
    if place[tree.root][2] != n_clusters:
        raise InvalidTreeError("every cluster must be a node of the tree. Use labels that a cut of this tree returned.")
    return np.array(merges, dtype=np.float64).reshape(-1, 4)


def tree_to_networkx(tree: "Tree") -> Any:
    """A directed graph from the root down; nodes carry item, label, size, height and the columns."""
    import networkx

    graph = networkx.DiGraph()
    columns = {name: values.tolist() for name, values in tree.columns.items()}
    facts = zip(tree.item.tolist(), tree.size.tolist(), tree.height.tolist(), strict=True)
    for node, (item, size, height) in enumerate(facts):
        label = {} if item == NULL else {"item": item, "label": tree.label(item)}
        extra = {name: values[node] for name, values in columns.items()}
        graph.add_node(node, size=size, height=height, **label, **extra)
    graph.add_edges_from(zip(tree.parent[:-1].tolist(), range(tree.n_nodes - 1), strict=True))
    return graph


def tree_to_json(tree: "Tree") -> str:
    """Strict JSON of all columns; infinite numbers are written as texts."""
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "parent": tree.parent.tolist(),
            "item": tree.item.tolist(),
            "height": tree.height.tolist(),
            "columns": {name: _plain_numbers(values) for name, values in tree.columns.items()},
            "leaf_labels": None if tree.leaf_labels is None else list(tree.leaf_labels),
        },
        allow_nan=False,
        separators=(",", ":"),
    )


def fields_from_json(source: str, max_nodes: int = MAX_NODES) -> dict[str, Any]:
    """The constructor arguments of a tree from its JSON text."""
    if len(source) > MAX_CHARACTERS_PER_NODE * max_nodes:
        raise InvalidTreeError(
            f"the text has {len(source)} characters, too many for {max_nodes} nodes. Raise max_nodes."
        )
    record = _read_record(source)
    columns = record.get("columns", {})
    labels = record.get("leaf_labels")
    if not isinstance(columns, dict) or not isinstance(labels, list | None):
        raise InvalidTreeError("columns must be an object and leaf_labels a list or null: write it with to_json.")
    lengths = [len(part) for part in (record["parent"], *columns.values()) if isinstance(part, list)]
    if max(lengths, default=0) > max_nodes:
        raise InvalidTreeError(f"the tree has {max(lengths)} nodes, more than {max_nodes}. Raise max_nodes.")
    return {
        "parent": _array(record["parent"], np.int64, "parent"),
        "item": _array(record["item"], np.int64, "item"),
        "height": _array(record["height"], np.float64, "height"),
        "columns": {name: _array(values, np.float64, name) for name, values in columns.items()},
        "leaf_labels": None if labels is None else tuple(labels),
    }


def _read_record(source: str) -> dict[str, Any]:
    try:
        record = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise InvalidTreeError(f"the text is not JSON ({error}). Write it with Tree.to_json.") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InvalidTreeError(f'the JSON has no "format": "{FORMAT}", so it is no tree. Write it with to_json.')
    if record.get("version") != VERSION:
        raise InvalidTreeError(
            f"the tree has version {record.get('version')!r}, this program reads {VERSION}. Update bayesgrove."
        )
    missing = [name for name in ("parent", "item", "height") if name not in record]
    if missing:
        raise InvalidTreeError(f"the tree lacks {missing}. Write it with Tree.to_json.")
    return record


def _plain_numbers(values: np.ndarray) -> list[float | str]:
    plain: list[float | str] = values.tolist()
    for index in np.flatnonzero(~np.isfinite(values)).tolist():
        plain[index] = str(plain[index])
    return plain


def _array(values: Any, dtype: Any, name: str) -> np.ndarray:
    allowed: tuple[type, ...] = (int,) if dtype is np.int64 else (int, float, str)
    if not isinstance(values, list) or not all(type(value) in allowed for value in values):
        raise InvalidTreeError(f"{name!r} must be a list of numbers. Write it with Tree.to_json.")
    try:
        return np.array([float(value) for value in values] if dtype is np.float64 else values, dtype)
    except (ValueError, OverflowError) as error:
        raise InvalidTreeError(f"{name!r} holds something that is no number ({error}).") from error
