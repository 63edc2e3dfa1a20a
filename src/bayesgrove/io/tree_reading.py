"""From texts and files to a forest: every document goes through its reader, and what is left out is noted."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.io.bracket_trees import read_inex, read_newick, read_parentheses
from bayesgrove.io.document_texts import opening
from bayesgrove.io.json_trees import read_json
from bayesgrove.io.python_trees import PYTHON_VERSION, read_python
from bayesgrove.io.tree_documents import (
    LARGEST_DEFAULT_OUTDEGREE,
    Document,
    LabelTable,
    RawTree,
    ReaderOptions,
    bytes_allowed,
)
from bayesgrove.io.tree_files import BY_LINE, FORMATS, Paths, documents, entries, find_paths
from bayesgrove.io.xml_trees import read_xml
from bayesgrove.trees.forest import MAX_NODES, Forest

Reader = Callable[[Document, LabelTable, ReaderOptions], Iterator[RawTree]]
READERS: dict[str, Reader] = {
    "xml": read_xml,
    "json": read_json,
    "jsonl": read_json,
    "python": read_python,
    "newick": read_newick,
    "sexpr": read_parentheses,
    "inex": read_inex,
}


class Skipped(NamedTuple):
    """A document left out, and why."""

    source: str
    reason: str


class Reading(NamedTuple):
    """What reading gives."""

    forest: Forest
    vocabulary: tuple[str, ...] | None
    """Labels sorted by code point; None for codes."""
    sources: tuple[str, ...]
    targets: np.ndarray | None
    skipped: tuple[Skipped, ...]
    n_overflowing: int
    origin: str
    texts: tuple[str, ...]
    """Of each tree the beginning of its document; empty where a document has several trees."""


def read_texts(texts: str | bytes | Iterable[str | bytes], kind: str, options: ReaderOptions) -> Reading:
    """Trees of texts of one format."""
    collector = _Collector(options)
    given = [texts] if isinstance(texts, str | bytes) else list(texts)
    for number, text in enumerate(given):
        for document in _text_documents(text, f"text {number}", kind):
            collector.read(document, kind)
        collector.tell_progress(number + 1, len(given), f"text {number}")
    return collector.result()


def _text_documents(text: str | bytes, name: str, kind: str) -> Iterator[Document]:
    if not isinstance(text, str | bytes):
        raise InvalidSettingError(
            f"{name}: a text is str or bytes, got {type(text).__name__}. Use read_trees for files."
        )
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    document = Document(name, content, is_text=isinstance(text, str))
    if kind not in BY_LINE:
        yield document
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield document._replace(content=line, first_line=number)


def read_files(paths: Paths, kind: str, options: ReaderOptions) -> Reading:
    """Trees of files; the format is told by the ending where it is "auto"."""
    if kind not in (*FORMATS, "auto"):
        raise InvalidSettingError(f"format is one of auto, {', '.join(FORMATS)}, got {kind!r}. Choose one.")
    collector = _Collector(options)
    found = find_paths(paths)
    for number, path in enumerate(found):
        with collector.skipping(str(path)):
            for entry in entries(path, kind, options):
                with collector.skipping(entry.name):
                    for document in documents(entry, bytes_allowed(entry.format, options)):
                        collector.read(document, entry.format)
                collector.tell_progress(number, len(found), entry.name)
        collector.tell_progress(number + 1, len(found), str(path))
    return collector.result()


class _Collector:
    """Trees read so far."""

    def __init__(self, options: ReaderOptions) -> None:
        self.options = options
        self.table = LabelTable(options.max_label)
        self.trees: list[RawTree] = []
        self.sources: list[str] = []
        self.texts: list[str] = []
        self.skipped: list[Skipped] = []
        self.kinds: set[str] = set()
        self.n_nodes = 0

    def read(self, document: Document, kind: str) -> None:
        """Take the trees of a document, or note why not."""
        name = f"{document.name}:{document.first_line}" if kind in BY_LINE else document.name
        with self.skipping(name):
            allowed = bytes_allowed(kind, self.options)
            if len(document.content) > allowed:
                raise document.beyond(document.first_line, "max_bytes", allowed)
            trees = list(READERS[kind](document, self.table, self.options))
            self.take(trees, kind, name)
            self.texts += [opening(document.content)] if len(trees) == 1 else len(trees) * [""]

    def take(self, trees: list[RawTree], kind: str, name: str) -> None:
        """Take trees that are whole."""
        self.kinds.add(kind)
        if "inex" in self.kinds and len(self.kinds) > 1:
            raise InvalidSettingError("trees of INEX's form have numbers for labels. Read them apart from others.")
        self.n_nodes += sum(len(tree.labels) for tree in trees)
        if self.n_nodes > MAX_NODES:
            raise InvalidFileError(f"{name}: more than {MAX_NODES} nodes together. Read fewer files at a time.")
        self.trees += [RawTree(np.asarray(t.labels, np.int32), np.asarray(t.depths, np.int32), t.target) for t in trees]
        self.sources += [name if tree.line is None else f"{name}:{tree.line}" for tree in trees]

    @contextmanager
    def skipping(self, source: str) -> Iterator[None]:
        """Note what cannot be read and go on, where the options say so."""
        try:
            yield
        except InvalidFileError as error:
            if self.options.errors == "raise":
                raise
            self.skipped.append(Skipped(source, str(error)))
            logging.getLogger("bayesgrove").warning("left out: %s", error)

    def tell_progress(self, done: int, total: int, name: str) -> None:
        """Tell whoever asked to be told."""
        if self.options.progress is not None:
            self.options.progress(done, total, name)

    def result(self) -> Reading:
        """All trees as a forest, shaped as the options say."""
        if not self.trees:
            if not self.skipped:
                raise InvalidFileError("nothing was read: there are no documents. Give at least one.")
            left = f"{len(self.skipped):,} document{' was' if len(self.skipped) == 1 else 's were'} left out"
            raise InvalidFileError(f"nothing was read, {left}. The first reason: {self.skipped[0].reason}")
        offsets = np.cumsum([0, *(tree.labels.size for tree in self.trees)])
        codes = np.concatenate([tree.labels for tree in self.trees])
        depths = np.concatenate([tree.depths for tree in self.trees])
        forest, n_overflowing = shaped(Forest.from_depths(codes, depths, offsets, int(codes.max()) + 1), self.options)
        vocabulary = None
        if "inex" not in self.kinds:
            forest, vocabulary = _with_sorted_labels(forest, list(self.table))
        targets = [tree.target for tree in self.trees]
        return Reading(
            forest,
            vocabulary,
            tuple(self.sources),
            None if None in targets else np.array(targets, np.int64),
            tuple(self.skipped),
            n_overflowing,
            " and ".join(sorted(_origin(kind) for kind in self.kinds)),
            tuple(self.texts),
        )


def shaped(forest: Forest, options: ReaderOptions) -> tuple[Forest, int]:
    """The trees in the encoding asked for and within the largest out-degree, and how many nodes were beyond it."""
    if options.encoding == "lcrs":
        return forest.as_binary(), 0
    largest = options.max_children or min(forest.max_outdegree, LARGEST_DEFAULT_OUTDEGREE)
    return forest.with_max_outdegree(largest, options.overflow)


def _with_sorted_labels(forest: Forest, names: list[str]) -> tuple[Forest, tuple[str, ...]]:
    """Codes that follow the order of the labels that occur."""
    used = sorted(np.unique(forest.labels).tolist(), key=names.__getitem__)
    new_code = np.zeros(len(names), np.int32)
    new_code[used] = np.arange(len(used))
    return forest.with_labels(new_code[forest.labels], len(used)), tuple(names[code] for code in used)


def _origin(kind: str) -> str:
    return f"python {PYTHON_VERSION}" if kind == "python" else kind
