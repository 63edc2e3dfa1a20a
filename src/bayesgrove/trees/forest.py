"""`Forest`: many rooted, positional, labelled trees in flat arrays, each different subtree known once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.trees import forest_checks, forest_shapes
from bayesgrove.trees.subtrees import UniqueSubtrees, unique_subtrees

MAX_NODES = 2**31 - 1
OVERFLOW_RULES = ("share_last", "truncate", "error")


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees one after another; within a tree every parent stands before its children, the root first."""

    labels: np.ndarray
    """(n_nodes,): codes 0 .. n_labels - 1; -1 is an unknown label."""
    parents: np.ndarray
    """(n_nodes,): index of the parent in these arrays, -1 at roots."""
    positions: np.ndarray
    """(n_nodes,): 0 at roots, else 1 .. max_outdegree; siblings may share one."""
    internal: np.ndarray
    """(n_nodes,): true where there are children; a node without children may be internal too, all its places being
    empty."""
    offsets: np.ndarray
    """(n_trees + 1,): nodes of tree i are offsets[i] .. offsets[i + 1] - 1."""
    n_labels: int
    max_outdegree: int
    values: np.ndarray | None = None
    """(n_nodes, n_features): continuous labels in place of codes; a row of nan is unknown."""

    def __post_init__(self) -> None:
        for name, dtype in (("labels", np.int32), ("parents", np.int32), ("positions", np.int32)):
            object.__setattr__(self, name, _frozen(getattr(self, name), dtype))
        object.__setattr__(self, "internal", _frozen(self.internal, np.bool_))
        object.__setattr__(self, "offsets", _frozen(self.offsets, np.int64))
        if self.values is not None:
            object.__setattr__(self, "values", _frozen(self.values, np.float64))
        forest_checks.check(self)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.labels, self.parents, self.positions, self.internal, self.offsets)
        return Forest, (*fields, self.n_labels, self.max_outdegree, self.values)

    # Making

    @classmethod
    def from_depths(cls, labels: np.ndarray, depths: np.ndarray, offsets: np.ndarray, n_labels: int) -> "Forest":
        """Trees from depths of nodes in preorder, which say all: the k-th child stands at position k."""
        parents = forest_shapes.parents_of_depths(np.asarray(depths, np.int32))
        positions = forest_shapes.ordinals(parents)
        largest = max(int(positions.max(initial=0)), 1)
        return cls(labels, parents, positions, forest_shapes.has_children(parents), offsets, n_labels, largest)

    def with_labels(self, labels: np.ndarray, n_labels: int) -> "Forest":
        """The same trees with other codes."""
        return replace(self, labels=labels, n_labels=n_labels)

    def take(self, trees: ArrayLike) -> "Forest":
        """Some trees, in the order asked for; one may be taken several times."""
        chosen = np.asarray(trees, np.int64)
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        shift = np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        nodes = shift + np.arange(offsets[-1])
        parents = self.parents[nodes]
        return replace(
            self,
            labels=self.labels[nodes],
            parents=np.where(parents == NULL, NULL, parents - shift),
            positions=self.positions[nodes],
            internal=self.internal[nodes],
            offsets=offsets,
            values=None if self.values is None else self.values[nodes],
        )

    def without(self, dropped: np.ndarray) -> "Forest":
        """The trees less some nodes, below which nothing may remain; internal nodes stay internal."""
        kept = np.flatnonzero(~dropped)
        new_index = np.cumsum(~dropped) - 1
        parents = self.parents[kept]
        return replace(
            self,
            labels=self.labels[kept],
            parents=np.where(parents == NULL, NULL, new_index[parents]),
            positions=self.positions[kept],
            internal=self.internal[kept],
            offsets=np.concatenate([[0], np.cumsum(~dropped)])[self.offsets],
            values=None if self.values is None else self.values[kept],
        )

    def as_binary(self) -> "Forest":
        """Left-child right-sibling form: position 1 is the first child, position 2 the next sibling."""
        parents, positions = forest_shapes.as_binary(self.parents)
        internal = forest_shapes.has_children(parents)
        return replace(self, parents=parents, positions=positions, internal=internal, max_outdegree=2)

    def with_max_outdegree(self, max_outdegree: int, overflow: str = "share_last") -> tuple["Forest", int]:
        """The trees with positions up to the largest allowed, and the number of nodes that stood beyond it.

        These move to the last position ("share_last"), go with all below them ("truncate") or are refused ("error").
        """
        check_overflow_rule(max_outdegree, overflow)
        beyond = self.positions > max_outdegree
        n_beyond = int(np.count_nonzero(beyond))
        if n_beyond and overflow == "error":
            tree, node = self.place_of(int(np.argmax(beyond)))
            raise InvalidTreeError(
                f"tree {tree}, node {node}: position {self.positions[np.argmax(beyond)]} is beyond the largest "
                f'out-degree {max_outdegree}. Raise it, or choose overflow="share_last" or "truncate".',
                tree=tree,
                node=node,
            )
        if n_beyond and overflow == "truncate":
            kept = forest_shapes.kept_within(self.parents, self.positions, max_outdegree)
            return replace(self.without(~kept), max_outdegree=max_outdegree), n_beyond
        return replace(self, positions=np.minimum(self.positions, max_outdegree), max_outdegree=max_outdegree), n_beyond

    # Looking

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.offsets.size - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees together."""
        return self.labels.size

    @property
    def sizes(self) -> np.ndarray:
        """Number of nodes of every tree."""
        return np.diff(self.offsets)

    def place_of(self, node: int) -> tuple[int, int]:
        """Tree and place within the tree of a node of the flat arrays."""
        tree = int(np.searchsorted(self.offsets, node, side="right")) - 1
        return tree, int(node - self.offsets[tree])

    @cached_property
    def depths(self) -> np.ndarray:
        """Number of edges from its root to every node."""
        return _frozen(forest_shapes.depths_of_parents(self.parents), np.int32)

    @cached_property
    def _child_lists(self) -> tuple[np.ndarray, np.ndarray]:
        start, children = forest_shapes.child_lists(self.parents, np.arange(self.n_nodes))
        if not self._is_sorted(start, children):
            order = np.argsort(self.positions, kind="stable")
            start, children = forest_shapes.child_lists(self.parents, order)
        return _frozen(start, np.int32), _frozen(children, np.int32)

    def _is_sorted(self, start: np.ndarray, children: np.ndarray) -> bool:
        falls = np.diff(self.positions[children]) < 0
        falls[start[(start > 0) & (start < children.size)] - 1] = False  # there the next node's list begins
        return not falls.any()

    @property
    def child_start(self) -> np.ndarray:
        """int32 (n_nodes + 1,): where each node's children begin in `children`."""
        return self._child_lists[0]

    @property
    def children(self) -> np.ndarray:
        """int32: children of all nodes, those of one node by position."""
        return self._child_lists[1]

    @cached_property
    def child_shares(self) -> np.ndarray:
        """For each entry of `children`, one over the number of siblings at its position."""
        return _frozen(forest_shapes.position_shares(self.child_start, self.positions[self.children]), np.float64)

    @cached_property
    def subtrees(self) -> UniqueSubtrees:
        """Each different subtree once; computed when first asked for."""
        symbols = self.labels
        if self.values is not None:
            symbols = np.unique(self.values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
        found = unique_subtrees(symbols, self.internal, self.positions, self.offsets, self.child_start, self.children)
        return found._replace(labels=self.labels[found.first_nodes])


def check_overflow_rule(max_outdegree: int, overflow: str) -> None:
    """Raise `InvalidSettingError` for an out-degree below 1 or an unknown rule."""
    if max_outdegree < 1:
        raise InvalidSettingError(f"the largest out-degree is at least 1, got {max_outdegree}. Raise it.")
    if overflow not in OVERFLOW_RULES:
        raise InvalidSettingError(f"overflow is one of {', '.join(OVERFLOW_RULES)}, got {overflow!r}. Choose one.")


def forest_from_parents(
    labels: Sequence[np.ndarray],
    parents: Sequence[ArrayLike],
    positions: Sequence[ArrayLike] | None,
    internal: Sequence[ArrayLike] | None,
    max_outdegree: int | None,
    n_labels: int | None,
) -> Forest:
    """A forest from arrays of each tree: codes (or rows of floats), parents within the tree, positions."""
    sizes = forest_checks.matching_sizes(labels, parents, positions, internal)
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    local = joined(parents, "parents")
    forest_checks.check_local_parents(local, offsets)
    flat = np.where(local == NULL, NULL, local + np.repeat(offsets[:-1], sizes))
    places = forest_shapes.ordinals(flat.astype(np.int32)) if positions is None else joined(positions, "positions")
    has_children = forest_shapes.has_children(flat.astype(np.int32))
    flags = has_children if internal is None else _flags(internal)
    is_continuous = any(label.dtype.kind == "f" for label in labels)
    codes = np.full(local.size, NULL) if is_continuous else joined(labels, "labels")
    largest = max(int(places.max(initial=0)), 1) if max_outdegree is None else _whole(max_outdegree, "max_outdegree")
    if n_labels is None:
        n_labels = int(codes.max(initial=-1)) + 1
    values = _joined_rows(labels) if is_continuous else None
    return Forest(codes, flat, places, flags, offsets, _whole(n_labels, "n_labels"), largest, values)


def joined_forest(forests: Sequence[Forest]) -> Forest:
    """The trees of several forests, one forest after another; labels and positions mean the same in all."""
    shift = np.cumsum([0, *(forest.n_nodes for forest in forests)])
    parents = [np.where(f.parents == NULL, NULL, f.parents + s) for f, s in zip(forests, shift, strict=False)]
    offsets = [f.offsets[:-1] + s for f, s in zip(forests, shift, strict=False)]
    values = [forest.values for forest in forests if forest.values is not None]
    return Forest(
        np.concatenate([forest.labels for forest in forests]),
        np.concatenate(parents),
        np.concatenate([forest.positions for forest in forests]),
        np.concatenate([forest.internal for forest in forests]),
        np.concatenate([*offsets, shift[-1:]]),
        max(forest.n_labels for forest in forests),
        max(forest.max_outdegree for forest in forests),
        np.concatenate(values) if values else None,
    )


def joined(arrays: Sequence[ArrayLike], name: str) -> np.ndarray:
    """All trees' integers one after another."""
    parts = [forest_checks.as_array(part, tree, name) for tree, part in enumerate(arrays)]
    wrong = next((i for i, part in enumerate(parts) if part.size and part.dtype.kind not in "iu"), None)
    if wrong is not None:
        raise InvalidTreeError(
            f"tree {wrong}: {name} are integers, got {parts[wrong].dtype}. Convert them.", tree=wrong
        )
    wrong = next((i for i, part in enumerate(parts) if part.ndim != 1), None)
    if wrong is not None:
        raise InvalidTreeError(
            f"tree {wrong}: {name} are one number per node, got shape {parts[wrong].shape}.", tree=wrong
        )
    flat = np.concatenate([part.astype(np.int64) for part in parts]) if parts else np.empty(0, np.int64)
    if flat.size > MAX_NODES or np.abs(flat).max(initial=0) > MAX_NODES:
        raise InvalidTreeError(f"{name} are numbers of 32 bits and at most {MAX_NODES} nodes. Take fewer trees.")
    return flat


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= MAX_NODES:
        raise InvalidTreeError(f"{name} is a whole number from 0 to {MAX_NODES}, got {value!r:.80}. Change it.")
    return int(value)


def _flags(internal: Sequence[ArrayLike]) -> np.ndarray:
    try:
        return np.concatenate([np.empty(0, np.bool_), *(np.asarray(flag, np.bool_) for flag in internal)])
    except (TypeError, ValueError) as error:
        raise InvalidTreeError(f"internal holds one truth value per node: {error}. Correct it.") from error


def _joined_rows(labels: Sequence[np.ndarray]) -> np.ndarray:
    try:
        return np.concatenate([values.astype(np.float64).reshape(len(values), -1) for values in labels])
    except (TypeError, ValueError) as error:
        raise InvalidTreeError(f"labels are equally many numbers at every node: {error}. Correct them.") from error


def _frozen(values: ArrayLike, dtype: Any) -> np.ndarray:
    view = np.ascontiguousarray(values, dtype=dtype).view()
    view.setflags(write=False)
    return view
