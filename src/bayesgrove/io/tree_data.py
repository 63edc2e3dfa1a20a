"""`TreeData`: trees with labels, the input of all models of trees."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.constants import NULL
from bayesgrove.core.table import SparseTable
from bayesgrove.io import tree_graphs, tree_labels
from bayesgrove.io.tree_choice import chosen_trees
from bayesgrove.io.tree_documents import make_options
from bayesgrove.io.tree_reading import Reading, Skipped, read_files, read_texts
from bayesgrove.io.tree_tables import count_table
from bayesgrove.trees import forest_checks
from bayesgrove.trees.forest import Forest, forest_from_parents

Texts = str | bytes | Iterable[str | bytes]


class LabelledTree(NamedTuple):
    """One tree of a `TreeData`: arrays over its nodes, every parent before its children."""

    labels: Any
    """List of texts (None: unknown), or an array of codes or of numbers where no texts were given."""
    parents: np.ndarray
    """-1 at the root, which is node 0."""
    positions: np.ndarray
    """0 at the root, else 1 .. max_outdegree."""
    internal: np.ndarray
    """False at leaves."""

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` from the root down; nodes carry `label` and `position`."""
        return tree_graphs.to_graph(self.labels, self.parents, self.positions)


class TreeSummary(NamedTuple):
    """What a set of trees is like."""

    n_trees: int
    n_nodes: int
    smallest: int
    median_size: float
    largest: int
    max_depth: int
    max_position: int
    n_labels_seen: int
    n_unique_subtrees: int
    n_unique_trees: int


@dataclass(frozen=True, eq=False, repr=False)
class TreeData:
    """Many rooted, positional, labelled trees.

    Attributes
    ----------
    forest : Forest
        The trees in flat arrays: labels, parents, positions, children, each different subtree once.
    vocabulary : tuple of str or None
        Labels by code, sorted by code point; None where codes or numbers were given.
    sources : tuple of str or None
        Where each tree comes from.
    targets : int64 array of shape (n_trees,) or None
        Known classes, where the format has them.
    origin : str
        The formats read; for Python with the version of the interpreter, as syntax trees differ.
    skipped : tuple of Skipped
        Documents left out when these trees were read, with the reasons.
    texts : tuple of str or None
        The first 4,096 characters of each document; empty where a document has several trees.
    n_overflowing, n_unseen : int
        Nodes whose position was beyond the largest, and nodes whose label is not in the vocabulary, when these trees
        were made.

    Notes
    -----
    `data[i]` is a tree, `data[2:5]`, `data[[4, 1]]` and `data[mask]` are `TreeData` with the same vocabulary, so that
    scikit-learn's `train_test_split` works.

    Examples
    --------
    >>> data = TreeData.from_newick(["((a,b)c,d)e;", "(a,d)e;"])
    >>> data
    TreeData(n_trees=2, n_nodes=8, n_labels=5, max_outdegree=2, origin='newick')
    >>> data[0].labels, data[0].parents.tolist(), data[0].positions.tolist()
    (['e', 'c', 'a', 'b', 'd'], [-1, 0, 1, 1, 0], [0, 1, 1, 2, 2])
    """

    forest: Forest
    vocabulary: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    targets: np.ndarray | None = None
    origin: str = "arrays"
    skipped: tuple[Skipped, ...] = ()
    n_overflowing: int = 0
    n_unseen: int = 0
    texts: tuple[str, ...] | None = None

    # Making

    @classmethod
    def from_xml(cls, texts: Texts, **options: Any) -> "TreeData":
        """A tree for each XML text, a node per element; options as in `read_trees`."""
        return cls._from_texts(texts, "xml", options)

    @classmethod
    def from_json(cls, texts: Texts, **options: Any) -> "TreeData":
        """A tree for each JSON text, a node per value; options as in `read_trees`."""
        return cls._from_texts(texts, "json", options)

    @classmethod
    def from_json_lines(cls, texts: Texts, **options: Any) -> "TreeData":
        """A tree for each line of JSON; options as in `read_trees`."""
        return cls._from_texts(texts, "jsonl", options)

    @classmethod
    def from_python_source(cls, texts: Texts, **options: Any) -> "TreeData":
        """The syntax tree of each Python source, which is parsed and never run; options as in `read_trees`."""
        return cls._from_texts(texts, "python", options)

    @classmethod
    def from_newick(cls, texts: Texts, **options: Any) -> "TreeData":
        """Trees in Newick form, any number in a text; options as in `read_trees`."""
        return cls._from_texts(texts, "newick", options)

    @classmethod
    def from_sexpr(cls, texts: Texts, **options: Any) -> "TreeData":
        """Trees as parenthesised text `(label child child ...)`, any number in a text; options as in `read_trees`."""
        return cls._from_texts(texts, "sexpr", options)

    @classmethod
    def from_inex(cls, texts: Texts, **options: Any) -> "TreeData":
        """Trees `class:label(child ...)`, one a line; labels are codes, classes are in `targets`."""
        return cls._from_texts(texts, "inex", options)

    @classmethod
    def from_parents(
        cls,
        labels: Sequence[Any],
        parents: Sequence[ArrayLike],
        positions: Sequence[ArrayLike] | None = None,
        max_outdegree: int | None = None,
        n_labels: int | None = None,
        *,
        internal: Sequence[ArrayLike] | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> "TreeData":
        """Trees from lists with one array per tree.

        Parameters
        ----------
        labels : list of arrays
            Codes from 0 (-1: unknown), texts (None: unknown), or floats, one number or row of numbers per node.
        parents : list of int arrays
            Node 0 is the root with parent -1; every parent stands before its children.
        positions : list of int arrays, optional
            0 at the root, else from 1; by default the k-th child stands at position k.
        max_outdegree, n_labels : int, optional
            By default what the arrays need.
        internal : list of bool arrays, optional
            By default the nodes with children; others may be internal with all places empty.
        vocabulary : sequence of str, optional
            Texts of the codes.
        """
        forest_checks.matching_sizes(labels)
        tree_labels.check_vocabulary(vocabulary)
        if any(tree_labels.has_texts(tree) for tree in labels):
            codes, vocabulary = tree_labels.coded(labels, vocabulary)
        else:
            codes = [forest_checks.as_array(tree, number, "labels") for number, tree in enumerate(labels)]
        if vocabulary is not None:
            n_labels = len(vocabulary)
        forest = forest_from_parents(codes, parents, positions, internal, max_outdegree, n_labels)
        return cls(forest, None if vocabulary is None else tuple(vocabulary))

    @classmethod
    def from_networkx(cls, graphs: Any, label: str = "label", position: str = "position") -> "TreeData":
        """Trees from a `networkx.DiGraph` or a list of them, edges from parents to children.

        Parameters
        ----------
        label, position : str
            Names of the nodes' attributes; without labels the nodes' own names are taken, without positions children
            stand in the order of the graph.
        """
        given = [graphs] if hasattr(graphs, "adj") else list(graphs)
        parts = [tree_graphs.from_graph(graph, number, label, position) for number, graph in enumerate(given)]
        labels, parents, positions = ([part[i] for part in parts] for i in range(3))
        return replace(cls.from_parents(labels, parents, positions), origin="networkx")

    @classmethod
    def _from_texts(cls, texts: Texts, kind: str, options: dict[str, Any]) -> "TreeData":
        return cls.from_reading(read_texts(texts, kind, make_options(options, (kind,))))

    @classmethod
    def from_reading(cls, reading: Reading) -> "TreeData":
        """What readers found."""
        return cls(
            reading.forest,
            reading.vocabulary,
            reading.sources,
            reading.targets,
            reading.origin,
            reading.skipped,
            reading.n_overflowing,
            texts=reading.texts,
        )

    # Looking

    def __len__(self) -> int:
        return self.forest.n_trees

    @property
    def shape(self) -> tuple[int]:
        """Number of trees, as scikit-learn asks for it."""
        return (self.forest.n_trees,)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.forest.n_trees

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees together."""
        return self.forest.n_nodes

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.forest.n_labels

    @property
    def max_outdegree(self) -> int:
        """Largest position."""
        return self.forest.max_outdegree

    def __repr__(self) -> str:
        forest = self.forest
        return (
            f"TreeData(n_trees={forest.n_trees}, n_nodes={forest.n_nodes}, n_labels={forest.n_labels}, "
            f"max_outdegree={forest.max_outdegree}, origin={self.origin!r})"
        )

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # scikit-learn asks for data[rows, ...]
            key = key[0]
        if isinstance(key, int | np.integer):
            return self._tree(int(key))
        return self._take(chosen_trees(key, len(self)))

    def _tree(self, number: int) -> LabelledTree:
        if not -len(self) <= number < len(self):
            raise IndexError(f"tree {number} of {len(self)}")
        forest = self.forest
        first, last = forest.offsets[number % len(self)], forest.offsets[number % len(self) + 1]
        codes = forest.labels[first:last]
        labels: Any = codes
        if forest.values is not None:
            labels = forest.values[first:last]
        elif self.vocabulary is not None:
            labels = [None if code == NULL else self.vocabulary[code] for code in codes.tolist()]
        parents = forest.parents[first:last]
        local = np.where(parents == NULL, NULL, parents - first).astype(np.int32)
        return LabelledTree(labels, local, forest.positions[first:last], forest.internal[first:last])

    def _take(self, chosen: np.ndarray) -> "TreeData":
        return replace(
            self,
            forest=self.forest.take(chosen),
            sources=None if self.sources is None else tuple(self.sources[tree] for tree in chosen.tolist()),
            targets=None if self.targets is None else self.targets[chosen],
            texts=None if self.texts is None else tuple(self.texts[tree] for tree in chosen.tolist()),
            skipped=(),
            n_overflowing=0,
            n_unseen=0,
        )

    def summary(self) -> TreeSummary:
        """Numbers of trees, nodes, labels and different subtrees; sizes, depth, positions."""
        forest, sizes = self.forest, self.forest.sizes
        if not len(self):
            return TreeSummary(0, 0, 0, 0.0, 0, 0, 0, 0, 0, 0)
        return TreeSummary(
            forest.n_trees,
            forest.n_nodes,
            int(sizes.min()),
            float(np.median(sizes)),
            int(sizes.max()),
            int(forest.depths.max()),
            int(forest.positions.max()),
            int(np.unique(forest.labels[forest.labels != NULL]).size),
            int(forest.subtrees.labels.size),
            int(np.unique(forest.subtrees.roots).size),
        )

    def to_networkx(self) -> list[Any]:
        """A `networkx.DiGraph` for every tree."""
        return [self._tree(number).to_networkx() for number in range(len(self))]

    def to_table(self, by: str = "labels", *, min_count: int = 1) -> SparseTable:
        """How often each label, edge or path occurs in each tree: a sparse table for models of tables.

        Parameters
        ----------
        by : {"labels", "edges", "paths"}
            Count labels, labels below the label of their parent, or paths of labels from the root.
        min_count : int
            Columns of fewer nodes in all trees together become one column, `<rare>`.

        Examples
        --------
        >>> data = TreeData.from_json(['{"name": "x", "sizes": [1, 2]}', '{"name": "y"}'])
        >>> data.to_table("paths").names
        ('object', 'object/name:string', 'object/sizes:array', 'object/sizes:array/number')
        >>> data.to_table("labels").counts.toarray().tolist()
        [[1, 2, 1, 1], [1, 0, 1, 0]]
        """
        return count_table(self.forest, self.vocabulary, by, min_count)

    # Fitting to a model

    def with_own_vocabulary(self, min_count: int = 1, *, reserve_rare: bool = False) -> "TreeData":
        """The same trees with only the labels that occur in them, as a model that is fitted to them needs.

        Parameters
        ----------
        min_count : int
            Labels of fewer nodes become `<rare>`.
        reserve_rare : bool
            Whether `<rare>` is a label even where none is; new data may then have it.
        """
        if self.vocabulary is None:
            return self
        labels, vocabulary = tree_labels.reduced(self.forest.labels, self.vocabulary, min_count, reserve_rare)
        return replace(self, forest=self.forest.with_labels(labels, len(vocabulary)), vocabulary=vocabulary)

    def with_vocabulary(self, vocabulary: Sequence[str] | int, *, unseen: str = "marginal") -> "TreeData":
        """The same trees in the codes of a fitted model.

        Parameters
        ----------
        vocabulary : sequence of str, or int
            The model's labels, or the number of its codes where it was fitted to codes.
        unseen : {"marginal", "rare", "error"}
            Labels the model does not know become unknown (-1) and are integrated out, or become `<rare>`, or are
            refused. `n_unseen` of the result counts their nodes.
        """
        labels, n_labels, n_unseen = tree_labels.translated(self.forest, self.vocabulary, vocabulary, unseen)
        names = None if isinstance(vocabulary, int | np.integer) else tuple(vocabulary)
        return replace(self, forest=self.forest.with_labels(labels, n_labels), vocabulary=names, n_unseen=n_unseen)

    def with_max_outdegree(self, max_outdegree: int, overflow: str = "share_last") -> "TreeData":
        """The same trees with positions up to the largest of a fitted model.

        Parameters
        ----------
        max_outdegree : int
            Number of positions.
        overflow : {"share_last", "truncate", "error"}
            Nodes beyond move to the last position, or go with all below them, or are refused. `n_overflowing` of the
            result counts them.
        """
        forest, n_overflowing = self.forest.with_max_outdegree(max_outdegree, overflow)
        return replace(self, forest=forest, n_overflowing=n_overflowing)


def read_trees(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], format: str = "auto", **options: Any
) -> TreeData:
    """Trees from files.

    Parameters
    ----------
    paths : path, pattern, or list of them
        Files, folders (all files of known endings below them), patterns as `"data/**/*.xml"`, and archives (.zip,
        .tar, .tar.gz, .tgz), which are read without extracting; single files may end in .gz.
    format : {"auto", "xml", "json", "jsonl", "python", "newick", "sexpr", "inex"}
        "auto" goes by the endings.
    **options
        Options of `bayesgrove.io.tree_documents.ReaderOptions`: what becomes a label, the largest out-degree, limits,
        `errors="skip"`, `progress`.

    Examples
    --------
    >>> import json
    >>> modules = read_trees(json.__path__[0], format="python")  # the syntax trees of a package
    >>> sorted(os.path.basename(source) for source in modules.sources)[:3]
    ['__init__.py', 'decoder.py', 'encoder.py']
    """
    return TreeData.from_reading(
        read_files(paths, format, make_options(options, () if format == "auto" else (format,)))
    )
