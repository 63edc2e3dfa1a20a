"""`Tree`: a frozen table of nodes that every hierarchy of the package ends in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.core.lazy import lazy_import
from bayesgrove.stats.numbering import by_size
from bayesgrove.trees import convert, cuts, html, invariants, newick, text, traverse
from bayesgrove.trees.heights import heights_from_odds, odds_offset

NODE_FIELDS = np.dtype(
    [
        ("id", np.int64),
        ("parent", np.int64),
        ("size", np.int64),
        ("log_merge_odds", np.float64),
        ("probability", np.float64),
        ("height", np.float64),
    ]
)


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A rooted tree whose leaves are data; n-ary, read-only, any depth.

    Attributes
    ----------
    parent : int64 array of shape (n_nodes,)
        Every parent's id is greater than its children's; the last node is the root, with parent -1.
    item : int64 array of shape (n_nodes,)
        The datum of a leaf (0 .. n_leaves - 1, each once), -1 at inner nodes.
    height : float64 array of shape (n_nodes,)
        Finite, not negative, nowhere above the parent's.
    columns : mapping of str to float64 array of shape (n_nodes,)
        What a model says about nodes: `log_merge_odds` (+inf at leaves), `log_q`, `log_d`, ...
    leaf_labels : tuple of str or None
        One name per item.

    Examples
    --------
    >>> tree = Tree.from_merges([[0, 1], [2, 3]], log_merge_odds=[4.0, -3.0])
    >>> tree.cut(probability=0.5).tolist()
    [0, 0, 1]
    """

    parent: np.ndarray
    item: np.ndarray
    height: np.ndarray
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    leaf_labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._set(self.parent, self.item, self.height, self.columns, self.leaf_labels)
        self.check()

    def _set(
        self,
        parent: ArrayLike,
        item: ArrayLike,
        height: ArrayLike,
        columns: Mapping[str, ArrayLike],
        leaf_labels: Sequence[str] | None,
    ) -> None:
        """Set the fields, read-only."""
        arrays = {str(name): _frozen(values, np.float64) for name, values in columns.items()}
        object.__setattr__(self, "parent", _frozen(parent, np.int64))
        object.__setattr__(self, "item", _frozen(item, np.int64))
        object.__setattr__(self, "height", _frozen(height, np.float64))
        object.__setattr__(self, "columns", MappingProxyType(arrays))
        object.__setattr__(self, "leaf_labels", None if leaf_labels is None else tuple(leaf_labels))

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree, (self.parent, self.item, self.height, dict(self.columns), self.leaf_labels)

    def check(self) -> None:
        """Raise `InvalidTreeError` when an invariant is broken."""
        invariants.check_parents(self.parent)
        invariants.check_items(self.parent, self.item)
        invariants.check_heights(self.parent, self.height)
        invariants.check_columns(self.parent, self.columns)
        invariants.check_labels(self.n_leaves, self.leaf_labels)

    # Making

    @classmethod
    def from_parents(
        cls,
        parent: ArrayLike,
        *,
        item: ArrayLike | None = None,
        height: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
        leaf_labels: Sequence[str] | None = None,
    ) -> "Tree":
        """A tree from parent ids; without items leaves are numbered by id.

        Without heights they come from the column `log_merge_odds`, or else are the levels above the leaves.
        """
        parents = _frozen(parent, np.int64)
        invariants.check_parents(parents)
        return cls._of_parents(parents, item, height, columns, leaf_labels)

    @classmethod
    def _of_parents(
        cls,
        parent: np.ndarray,
        item: ArrayLike | None,
        height: ArrayLike | None,
        columns: Mapping[str, ArrayLike] | None,
        leaf_labels: Sequence[str] | None,
    ) -> "Tree":
        """A tree of parents that obey the rules; what is made here does so by itself, what is given is checked."""
        items = traverse.items_by_id(parent) if item is None else _frozen(item, np.int64)
        if item is not None:
            invariants.check_items(parent, items)
        arrays = {str(name): _frozen(values, np.float64) for name, values in (columns or {}).items()}
        invariants.check_columns(parent, arrays)
        if height is None:
            odds = arrays.get("log_merge_odds")
            height = traverse.levels(parent) if odds is None else heights_from_odds(parent, items, odds)
        else:
            invariants.check_heights(parent, height := _frozen(height, np.float64))
        tree = object.__new__(cls)
        tree._set(parent, items, height, arrays, leaf_labels)
        invariants.check_labels(tree.n_leaves, tree.leaf_labels)
        return tree

    @classmethod
    def from_merges(
        cls,
        children: ArrayLike,
        log_merge_odds: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
        leaf_labels: Sequence[str] | None = None,
        heights: ArrayLike | None = None,
    ) -> "Tree":
        """A binary tree from merges: row t joins two ids into node n + t, leaves are 0 .. n - 1.

        Parameters
        ----------
        children : int array of shape (n - 1, 2)
            No row at all is a tree of a single leaf.
        log_merge_odds, heights : float array of shape (n - 1,) or (2n - 1,)
            One number per merge, or one per node.
        columns : mapping of str to float array of shape (2n - 1,)
        leaf_labels : sequence of str of length n
        """
        pairs = _pairs(children)
        arrays: dict[str, ArrayLike] = dict(columns or {})
        if log_merge_odds is not None:
            arrays["log_merge_odds"] = _per_node(log_merge_odds, len(pairs), np.inf, "log_merge_odds")
        height = None if heights is None else _per_node(heights, len(pairs), 0.0, "heights")
        return cls._of_parents(_parents_of_merges(pairs), None, height, arrays, leaf_labels)

    @classmethod
    def from_newick(cls, source: str, *, max_nodes: int = newick.MAX_NODES) -> "Tree":
        """A tree from Newick text; items follow the text unless the leaves are named 0 .. n - 1."""
        return cls.from_parents(**newick.tree_fields(newick.parse_newick(source, max_nodes=max_nodes)))

    @classmethod
    def from_json(cls, source: str, *, max_nodes: int = convert.MAX_NODES) -> "Tree":
        """The tree that `to_json` wrote."""
        return cls(**convert.fields_from_json(source, max_nodes))

    # Looking

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.parent.size)

    @property
    def root(self) -> int:
        """Id of the root: the last node."""
        return self.n_nodes - 1

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves, which is the number of items."""
        return int(np.count_nonzero(self.item != NULL))

    @cached_property
    def _links(self) -> tuple[np.ndarray, np.ndarray]:
        first_child, next_sibling = traverse.child_links(self.parent)
        return _frozen(first_child, np.int64), _frozen(next_sibling, np.int64)

    @property
    def first_child(self) -> np.ndarray:
        """Child of smallest id of every node, -1 for leaves."""
        return self._links[0]

    @property
    def next_sibling(self) -> np.ndarray:
        """Sibling of next greater id of every node, -1 for the last."""
        return self._links[1]

    @cached_property
    def size(self) -> np.ndarray:
        """Number of leaves below every node."""
        return _frozen(traverse.subtree_sizes(self.parent, self.item), np.int64)

    @cached_property
    def leaf_start(self) -> np.ndarray:
        """Place in `leaf_order` of the first leaf below every node."""
        return _frozen(traverse.leaf_positions(self.parent, self.size), np.int64)

    @cached_property
    def leaf_order(self) -> np.ndarray:
        """Items from left to right."""
        return _frozen(traverse.items_in_order(self.item, self.leaf_start, self.n_leaves), np.int64)

    @cached_property
    def leaf_of_item(self) -> np.ndarray:
        """Node id of every item's leaf."""
        return _frozen(traverse.leaves_of_items(self.item, self.n_leaves), np.int64)

    @property
    def log_merge_odds(self) -> np.ndarray | None:
        """The column of that name: log odds that a node's leaves are one cluster; None if there is none."""
        return self.columns.get("log_merge_odds")

    @cached_property
    def half_height(self) -> float | None:
        """Height of merge probability 1/2; None when the heights do not come from log merge odds."""
        odds = self.log_merge_odds
        if odds is None or not np.allclose(
            self.height, heights_from_odds(self.parent, self.item, odds), rtol=1e-9, atol=1e-9
        ):
            return None
        return odds_offset(self.item, odds)

    @property
    def nodes(self) -> np.ndarray:
        """Structured array with one row per node: id, parent, size, log_merge_odds, probability, height."""
        table = np.empty(self.n_nodes, NODE_FIELDS)
        odds = self.log_merge_odds
        table["id"] = np.arange(self.n_nodes)
        table["parent"], table["size"], table["height"] = self.parent, self.size, self.height
        table["log_merge_odds"] = np.where(self.item == NULL, np.nan, np.inf) if odds is None else odds
        with np.errstate(invalid="ignore"):  # nan stands for odds unknown
            table["probability"] = np.exp(-np.logaddexp(0.0, -table["log_merge_odds"]))
        return table

    def children(self, node: int) -> list[int]:
        """Ids of a node's children, ascending."""
        found: list[int] = []
        child = int(self.first_child[node])
        while child != NULL:
            found.append(child)
            child = int(self.next_sibling[child])
        return found

    def items_below(self, node: int) -> np.ndarray:
        """Items of the leaves below a node, left to right."""
        start = self.leaf_start[node]
        return self.leaf_order[start : start + self.size[node]]

    def label(self, item: int) -> str:
        """Name of an item: its label, or its number."""
        return str(item) if self.leaf_labels is None else self.leaf_labels[item]

    def lca(self, i: int, j: int) -> int:
        """Id of the lowest node that contains both items."""
        for wanted in (i, j):
            if not 0 <= wanted < self.n_leaves:
                raise InvalidSettingError(
                    f"items are 0 .. {self.n_leaves - 1}, got {wanted}. Ask for items, not for node ids."
                )
        return int(traverse.lowest_common_ancestor(self.parent, int(self.leaf_of_item[i]), int(self.leaf_of_item[j])))

    def cut(
        self,
        rule: str | None = None,
        *,
        probability: float | None = None,
        n_clusters: int | None = None,
        height: float | None = None,
    ) -> np.ndarray:
        """Flat labels per item, consecutive from 0, the largest cluster first; ties by first item.

        Parameters
        ----------
        rule : {"half", "map"}, optional
            "half" is `probability=0.5`; "map" the most probable partition consistent with the tree.
        probability : float
            From the root down, stop at the first node merged with at least this probability.
        n_clusters : int
            Open the least certain node until there are so many clusters (n-ary trees: at least so many).
        height : float
            From the root down, stop at the first node not above this height.
        """
        front = cuts.find_front(self, rule, probability, n_clusters, height)
        return by_size(cuts.labels_of_front(self, front))

    # Showing and writing

    def __repr__(self) -> str:
        extra = f", columns={sorted(self.columns)}" if self.columns else ""
        return f"Tree(n_leaves={self.n_leaves}, n_nodes={self.n_nodes}{extra})"

    def _repr_html_(self) -> str:
        return html.tree_to_html(self)

    def to_text(self, max_lines: int = 40) -> str:
        """A picture in box-drawing characters, small subtrees collapsed to keep within `max_lines`."""
        return text.tree_to_text(self, max_lines)

    def to_linkage(self) -> np.ndarray:
        """scipy's linkage matrix of shape (n_leaves - 1, 4); binary trees only."""
        return convert.tree_to_linkage(self)

    def cluster_linkage(self, labels: ArrayLike) -> np.ndarray:
        """scipy's linkage matrix of the merges above clusters, whose leaves are the labels; of any tree.

        Parameters
        ----------
        labels : int array of shape (n_leaves,)
            Cluster of each item, 0 .. n_clusters - 1: `labels_`, or a cut of this tree.

        Examples
        --------
        >>> tree = Tree.from_merges([[0, 1], [2, 4], [3, 5]], log_merge_odds=[4.0, -3.0, -5.0])
        >>> tree.cluster_linkage(tree.cut()).tolist()
        [[0.0, 1.0, 7.0, 2.0], [2.0, 3.0, 9.0, 3.0]]
        """
        return convert.clusters_to_linkage(self, _frozen(labels, np.int64))

    def to_newick(self, path: str | Path | None = None) -> str:
        """Newick text with branch lengths, also written to `path` when given."""
        written = newick.tree_to_newick(self)
        if path is not None:
            Path(path).write_text(written + "\n", encoding="utf-8")
        return written

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` with edges from parents to children."""
        return convert.tree_to_networkx(self)

    def to_json(self) -> str:
        """JSON text that `Tree.from_json` reads back exactly."""
        return convert.tree_to_json(self)

    def plot(self, ax: Any = None, kind: str = "dendrogram", **options: Any) -> Any:
        """Draw with matplotlib and return the axes; options as in `bg.plot.dendrogram` and `icicle`."""
        if kind not in ("dendrogram", "icicle"):
            raise InvalidSettingError(f'kind is "dendrogram" or "icicle", got {kind!r}. Choose one of these.')
        return lazy_import(f"bayesgrove.plot:{kind}")(self, ax=ax, **options)


def _frozen(values: ArrayLike, dtype: Any) -> np.ndarray:
    """A read-only view; floats are refused where ids are due, as truncating them would hide an error."""
    array = _as_array(values)
    if dtype is np.int64 and array.size and array.dtype.kind not in "iu":
        raise InvalidTreeError(f"ids are integers, got an array of {array.dtype}. Convert it to int64.")
    view = np.ascontiguousarray(_as_array(array, dtype)).view()
    view.setflags(write=False)
    return view


def _as_array(values: ArrayLike, dtype: Any = None) -> np.ndarray:
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidTreeError(f"a tree is made of arrays of numbers: {error}. Give lists of equal lengths.") from error


def _pairs(children: ArrayLike) -> np.ndarray:
    """Merges as integers of shape (n, 2); whole numbers may come as floats, as in scipy's linkage."""
    array = _as_array(children)
    if not array.size:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidTreeError(f"each merge joins two nodes: an array of shape (n, 2), got shape {array.shape}.")
    if array.dtype.kind == "i":
        return _as_array(array, np.int64)
    whole = _as_array(np.nan_to_num(_as_array(array, np.float64), posinf=-1.0).clip(-1.0, 2.0**53), np.int64)
    if not np.array_equal(whole, array):
        raise InvalidTreeError("merges hold ids, which are whole numbers. Give integers.")
    return whole


def _per_node(values: ArrayLike, n_merges: int, leaf_value: float, name: str) -> np.ndarray:
    array = _as_array(values, np.float64)
    if array.shape == (2 * n_merges + 1,):
        return array
    if array.shape != (n_merges,):
        raise InvalidTreeError(
            f"{name} need one number per merge ({n_merges}) or per node ({2 * n_merges + 1}), got shape {array.shape}."
        )
    return np.concatenate([np.full(n_merges + 1, leaf_value), array])


def _parents_of_merges(pairs: np.ndarray) -> np.ndarray:
    n_merges = len(pairs)
    parent = np.full(2 * n_merges + 1, NULL)
    row, node = traverse.write_parents(pairs, parent)
    if node != NULL:
        uses = int(np.count_nonzero(pairs == node))
        raise InvalidTreeError(
            f"every node but the root is merged exactly once, got node {node} merged {uses} times. "
            "Give the n - 1 merges of one tree."
        )
    if row != NULL:
        new_id = n_merges + 1 + row
        raise InvalidTreeError(
            f"merge {row} makes node {new_id} and may join ids 0 .. {new_id - 1}, "
            f"got {pairs[row].tolist()}. Order the merges so that children come first."
        )
    return parent
