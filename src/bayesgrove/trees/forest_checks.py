"""The rules trees in flat arrays obey; a broken one is named with its tree and node."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError
from bayesgrove.trees.forest_shapes import has_children

if TYPE_CHECKING:
    from bayesgrove.trees.forest import Forest


def check(forest: "Forest") -> None:
    """Raise `InvalidTreeError` when a rule is broken."""
    _check_lengths(forest)
    check_no_empty_tree(forest.offsets)
    _check_parents(forest)
    _check_positions(forest)
    _check_labels(forest)
    _check_flags(forest)


def matching_sizes(*parts: Sequence[Any] | None) -> np.ndarray:
    """Number of nodes of every tree; all parts that are given must agree."""
    given = [part for part in parts if part is not None]
    is_missing = any(part is None for part in parts[:2])  # labels and parents are always given
    if is_missing or not all(_is_listed(part) and all(_is_listed(array) for array in part) for part in given):
        raise InvalidTreeError(
            "labels, parents, positions and flags are lists with one array per tree, got something else. "
            "For a single tree give lists of one array."
        )
    if len({len(part) for part in given}) > 1:
        raise InvalidTreeError(
            f"labels, parents, positions and flags are lists with one array per tree, got {[len(p) for p in given]} "
            "arrays. Complete the shorter ones."
        )
    for tree, arrays in enumerate(zip(*given, strict=True)):
        lengths = [len(array) for array in arrays]
        if len(set(lengths)) > 1:
            raise InvalidTreeError(
                f"tree {tree}: labels, parents and positions have one entry per node, got {lengths}. Complete them.",
                tree=tree,
            )
    return np.array([len(array) for array in given[0]], np.int64)


def as_array(values: Any, tree: int, name: str) -> np.ndarray:
    """The values of a tree's nodes as an array, one entry or row per node."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidTreeError(f"tree {tree}: {name} have one entry per node: {error}. Correct them.") from error


def _is_listed(value: Any) -> bool:
    """Whether a value has a length and is no text."""
    is_listed = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict)
    return is_listed and not (isinstance(value, np.ndarray) and value.ndim == 0)


def check_no_empty_tree(offsets: np.ndarray) -> None:
    """A tree has at least one node."""
    wrong = np.diff(offsets) < 1
    if wrong.any():
        tree = int(np.argmax(wrong))
        raise InvalidTreeError(f"tree {tree} is empty; a tree has at least its root. Leave it out.", tree=tree)


def check_local_parents(parents: np.ndarray, offsets: np.ndarray) -> None:
    """The root is node 0 of its tree; every other parent stands before its child in the same tree."""
    check_no_empty_tree(offsets)
    place = np.arange(parents.size) - np.repeat(offsets[:-1], np.diff(offsets))
    wrong = np.where(place == 0, parents != NULL, (parents < 0) | (parents >= place))
    if wrong.any():
        flat = int(np.argmax(wrong))
        tree = int(np.searchsorted(offsets, flat, side="right")) - 1
        raise InvalidTreeError(
            f"tree {tree}, node {place[flat]}: the root is node 0 with parent -1 and every other parent stands before "
            f"its children, got parent {parents[flat]}. Number the nodes from the root down; split a forest.",
            tree=tree,
            node=int(place[flat]),
        )


def _check_lengths(forest: "Forest") -> None:
    n_nodes = forest.labels.size
    parts = (forest.parents, forest.positions, forest.internal)
    values_fit = forest.values is None or (forest.values.ndim == 2 and len(forest.values) == n_nodes)
    if any(part.shape != (n_nodes,) for part in parts) or not values_fit:
        raise InvalidTreeError(f"labels, parents, positions and flags have one entry per node, {n_nodes} nodes.")
    if forest.offsets.size < 1 or forest.offsets[0] != 0 or forest.offsets[-1] != n_nodes:
        raise InvalidTreeError(f"offsets begin with 0 and end with the number of nodes {n_nodes}.")


def _check_parents(forest: "Forest") -> None:
    starts = np.repeat(forest.offsets[:-1], forest.sizes)
    check_local_parents(np.where(forest.parents == NULL, NULL, forest.parents - starts), forest.offsets)


def _check_positions(forest: "Forest") -> None:
    is_root = forest.parents == NULL
    wrong = np.where(is_root, forest.positions != 0, (forest.positions < 1) | (forest.positions > forest.max_outdegree))
    _refuse(
        forest,
        wrong,
        lambda node: (
            f"positions are 0 at the root and 1 .. {forest.max_outdegree} elsewhere, "
            f"got {forest.positions[node]}. Raise max_outdegree or correct it."
        ),
    )


def _check_labels(forest: "Forest") -> None:
    _refuse(
        forest,
        (forest.labels < NULL) | (forest.labels >= forest.n_labels),
        lambda node: (
            f"labels are 0 .. {forest.n_labels - 1}, or -1 where unknown, got {forest.labels[node]}. "
            "Raise n_labels or correct it."
        ),
    )
    if forest.values is not None:
        infinite = np.isinf(forest.values).any(axis=1)
        _refuse(forest, infinite, lambda node: "an infinite label. Give nan where it is unknown.")


def _check_flags(forest: "Forest") -> None:
    wrong = has_children(forest.parents) & ~forest.internal
    _refuse(forest, wrong, lambda node: "a node with children is marked as a leaf. Mark it as internal.")


def _refuse(forest: "Forest", wrong: np.ndarray, reason: Any) -> None:
    if wrong.any():
        flat = int(np.argmax(wrong))
        tree, node = forest.place_of(flat)
        raise InvalidTreeError(f"tree {tree}, node {node}: {reason(flat)}", tree=tree, node=node)
