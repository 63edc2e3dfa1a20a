"""What readers of trees share: documents with a name, limits, options, and the table of labels."""

import codecs
import hashlib
from array import array
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, TreeLimitError, TreeParseError
from bayesgrove.trees.forest import check_overflow_rule

MIB = 2**20
DEFAULT_BYTES = 64 * MIB
PYTHON_BYTES = 4 * MIB
DEFAULT_NODES = 1_000_000
LARGEST_DEFAULT_OUTDEGREE = 64
_BLOCK = MIB
_CHOICES = {
    "encoding": ("positional", "lcrs"),
    "errors": ("raise", "skip"),
    "attributes": ("ignore", "names"),
    "text": ("ignore", "flag"),
    "namespaces": ("local", "keep"),
    "members": ("key:type", "key", "type"),
    "scalars": ("type", "value"),
    "key_order": ("sorted", "document"),
}


@dataclass(frozen=True)
class ReaderOptions:
    """Options of all readers.

    Parameters
    ----------
    encoding : {"positional", "lcrs"}
        The k-th child stands at position k; or left-child right-sibling, two positions for any out-degree.
    max_children : int, optional
        Largest position; by default the largest seen, at most 64.
    overflow : {"share_last", "truncate", "error"}
        Children beyond it share the last position, or go with all below them, or are refused.
    errors : {"raise", "skip"}
        What happens at a document that cannot be read; those skipped are listed in `skipped`.
    max_bytes : int, optional
        Largest document: 64 MiB, Python sources 4 MiB.
    max_nodes : int, optional
        Largest tree of a document: a million nodes, of a Python source a quarter of that.
    max_depth : int
        Deepest tree.
    max_label : int
        Longer labels are cut, with eight digits of a hash appended.
    max_token : int
        Largest tag with all its attributes or comment of XML, and key of JSON, in bytes.
    max_total_bytes, max_members : int
        Largest content of an archive, and number of files in it.
    label_from : str
        XML: "tag", or "@name" for the value of that attribute where an element has it.
    attributes : {"ignore", "names"}
        XML: no nodes for attributes, or a leaf `@name` for each.
    text : {"ignore", "flag"}
        XML: no nodes for texts, or a leaf `#text` for each that is not white space.
    namespaces : {"local", "keep"}
        XML: names without prefix, or `{uri}name`.
    members : {"key:type", "key", "type"}
        JSON: label of a member of an object.
    scalars : {"type", "value"}
        JSON: label of a number, text, truth value or null.
    key_order : {"sorted", "document"}
        JSON: order of members.
    identifiers : bool
        Python: append names to nodes that have one.
    isolate : bool
        Python: parse in a process of its own.
    empty_label : str
        Newick and parenthesised text: label of a node without one.
    progress : callable, optional
        Called after each file with the number done, the number of all, and the file's name.
    """

    encoding: str = "positional"
    max_children: int | None = None
    overflow: str = "share_last"
    errors: str = "raise"
    max_bytes: int | None = None
    max_nodes: int | None = None
    max_depth: int = 10_000
    max_label: int = 256
    max_token: int = 8 * MIB
    max_total_bytes: int = 512 * MIB
    max_members: int = 100_000
    label_from: str = "tag"
    attributes: str = "ignore"
    text: str = "ignore"
    namespaces: str = "local"
    members: str = "key:type"
    scalars: str = "type"
    key_order: str = "sorted"
    identifiers: bool = False
    isolate: bool = False
    empty_label: str = "*"
    progress: Callable[[int, int, str], None] | None = None

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InvalidSettingError(
                    f"{name} is one of {', '.join(allowed)}, got {getattr(self, name)!r}. Choose one."
                )
        check_overflow_rule(1 if self.max_children is None else self.max_children, self.overflow)
        for name in ("max_bytes", "max_nodes", "max_depth", "max_token", "max_total_bytes", "max_members"):
            value = getattr(self, name)
            if value is not None and not 1 <= value < 2**31:
                raise InvalidSettingError(f"{name} is 1 .. 2**31 - 1, got {value}. Change it.")
        if self.max_label < 16:
            raise InvalidSettingError(f"max_label is at least 16 (9 are for a hash), got {self.max_label}. Raise it.")
        if self.label_from != "tag" and not (self.label_from[:1] == "@" and self.label_from[1:]):
            raise InvalidSettingError(f'label_from is "tag" or "@name", got {self.label_from!r}. Choose one.')


def bytes_allowed(kind: str, options: ReaderOptions) -> int:
    """Largest document of a format in bytes."""
    return options.max_bytes or (PYTHON_BYTES if kind == "python" else DEFAULT_BYTES)


def nodes_allowed(kind: str, options: ReaderOptions) -> int:
    """Largest tree of a format; the parser of Python takes a kilobyte for each node."""
    return options.max_nodes or (DEFAULT_NODES // 4 if kind == "python" else DEFAULT_NODES)


OPTION_NAMES = frozenset(field.name for field in fields(ReaderOptions))
OPTIONS_OF = {
    "xml": ("label_from", "attributes", "text", "namespaces", "max_token"),
    "json": ("members", "scalars", "key_order", "max_token"),
    "jsonl": ("members", "scalars", "key_order", "max_token"),
    "python": ("identifiers", "isolate"),
    "newick": ("empty_label",),
    "sexpr": ("empty_label",),
}
"""Options that only some formats have."""


def make_options(options: dict[str, Any], formats: Collection[str] = ()) -> ReaderOptions:
    """The options, after a look at their names; with formats, those of other formats are refused."""
    others = {name for kind, names in OPTIONS_OF.items() if formats and kind not in formats for name in names}
    known = OPTION_NAMES - others | {name for kind in formats for name in OPTIONS_OF.get(kind, ())}
    unknown = sorted(set(options) - known)
    if unknown:
        raise InvalidSettingError(f"there is no option {unknown[0]!r} here. Options are {', '.join(sorted(known))}.")
    return ReaderOptions(**options)


class Document(NamedTuple):
    """Bytes to be read and how to name them in messages."""

    name: str
    content: bytes
    is_text: bool = False
    """True where a text was given, which is UTF-8 here whatever it declares."""
    first_line: int = 1

    def line_of(self, offset: int) -> int:
        """Number of the line that holds a byte."""
        return self.first_line + self.content.count(b"\n", 0, max(offset, 0))

    def malformed(self, line: int, reason: str) -> TreeParseError:
        """The error of a malformed document."""
        return TreeParseError(f"{self.name}, line {line}: {reason}", source=self.name, line=line)

    def malformed_at(self, offset: int, reason: str) -> TreeParseError:
        """The error of a document that is malformed at a byte."""
        return self.malformed(self.line_of(offset), reason)

    def beyond(self, line: int, limit: str, allowed: int) -> TreeLimitError:
        """The error of a document beyond a limit."""
        return TreeLimitError(
            f"{self.name}, line {line}: {limit} is {allowed} and the document is beyond it. "
            f"Raise {limit} if you trust the document.",
            source=self.name,
            line=line,
            limit=limit,
            allowed=allowed,
        )


class RawTree(NamedTuple):
    """One tree as readers make it: nodes in preorder with their depths."""

    labels: Any
    """Codes of the table of labels."""
    depths: Any
    target: int | None = None
    """Known class, where the format has it."""
    line: int | None = None
    """Line of a file with many trees."""


class LabelTable(dict[str, int]):
    """Codes of labels in the order in which they are met; a label too long is cut and marked by a hash."""

    def __init__(self, max_label: int) -> None:
        super().__init__()
        self.max_label = max_label

    def __missing__(self, label: str) -> int:
        if len(label) > self.max_label:
            return self[self.cut(label)]  # the long text itself is not kept
        code = self[label] = len(self)
        return code

    def cut(self, label: str) -> str:
        """A label's beginning and eight digits of its hash."""
        digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{label[: self.max_label - 9]}#{digest}"


class CodeOf(dict[Any, int]):
    """Codes by what a document writes, each worked out once; long writings are not kept."""

    def __init__(self, work_out: Callable[[Any], int]) -> None:
        super().__init__()
        self.work_out = work_out

    def __missing__(self, written: Any) -> int:
        code = self.work_out(written)
        if len(written) <= 1024:
            self[written] = code
        return code


def utf8(document: Document, codec: str = "utf-8") -> Document:
    """The document in UTF-8 without byte order mark or NUL; other codecs are told by their marks."""
    content = document.content
    for mark, name in _MARKS:
        if content.startswith(mark):
            codec, content = name, content[len(mark) :]
            break
    decoder = codecs.getincrementaldecoder(codec)()
    written = None if codec == "utf-8" else bytearray()
    for start in range(0, max(len(content), 1), _BLOCK):
        block = content[start : start + _BLOCK]
        try:
            text = decoder.decode(block, start + _BLOCK >= len(content))
        except UnicodeDecodeError as error:
            line = document.line_of(start + error.start)
            raise document.malformed(line, f"not {codec.upper()} text. Convert it to UTF-8.") from error
        if written is not None:
            written += text.encode("utf-8")
    plain = document._replace(content=content if written is None else bytes(written))
    nul = plain.content.find(b"\0")
    if nul >= 0:
        raise plain.malformed_at(nul, "a NUL: the file is binary, or text of another encoding. Convert it to UTF-8.")
    return plain


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Growing:
    """Labels and depths of one tree under way, held to the limits."""

    def __init__(
        self,
        document: Document,
        options: ReaderOptions,
        kind: str,
        line_of: Callable[[int], int] | None = None,
    ) -> None:
        self.document, self.max_depth, self.max_nodes = document, options.max_depth, nodes_allowed(kind, options)
        self.line_of = line_of or document.line_of
        self.labels = array("i")
        self.depths = array("i")

    def add(self, code: int, depth: int, offset: int) -> None:
        """One more node, its place in the document given for messages."""
        if len(self.labels) >= self.max_nodes:
            raise self.document.beyond(self.line_of(offset), "max_nodes", self.max_nodes)
        if depth >= self.max_depth:
            raise self.document.beyond(self.line_of(offset), "max_depth", self.max_depth)
        self.labels.append(code)
        self.depths.append(depth)

    def tree(self, target: int | None = None, line: int | None = None) -> RawTree:
        """What has grown."""
        return RawTree(np.frombuffer(self.labels, np.int32), np.frombuffer(self.depths, np.int32), target, line)
