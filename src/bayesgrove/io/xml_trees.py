"""XML documents as trees: a node per element, streamed through expat with limits; nothing is expanded or fetched."""

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

import numpy as np

from bayesgrove.io.tree_documents import CodeOf, Document, LabelTable, RawTree, ReaderOptions, nodes_allowed

_BLOCK = 2**16
_ENCODINGS = {"utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii", "iso-8859-1", "latin-1", "latin1"}
_LONGEST_URI = 4096
"""Names of a namespace hold its address: a long one would be copied for every element."""
_WHITE = " \t\r\n"


def read_xml(document: Document, table: LabelTable, options: ReaderOptions) -> Iterator[RawTree]:
    """The one tree of an XML document."""
    reader = _Reader(document, table, options)
    reader.feed()
    yield RawTree(np.array(reader.codes, np.int32), reader.depths())


class _Reader:
    """Handlers for expat.

    A node is known by its code and by the number of nodes closed before it, which gives its depth: the two lists are
    all that a start tag adds to, and a built-in function takes end tags, as a million siblings must be quick.
    """

    def __init__(self, document: Document, table: LabelTable, options: ReaderOptions) -> None:
        self.document, self.table, self.options = document, table, options
        self.max_nodes = nodes_allowed("xml", options)
        self.codes: list[int] = []
        self.closed_before: list[int] = []
        self.closed: list[Any] = []
        self.code_of_tag = CodeOf(lambda name: table[shown_name(name, options.namespaces)])
        self.texts: list[bool] = []  # holds something after a text that is not white space
        self.parser = self.make_parser()

    def make_parser(self) -> Any:
        """A parser that knows the handlers the options ask for."""
        options = self.options
        keeps = options.namespaces == "keep"
        parser = expat.ParserCreate("utf-8" if self.document.is_text else None, " " if keeps else None)
        parser.ordered_attributes = True
        parser.XmlDeclHandler = self.declaration
        parser.StartDoctypeDeclHandler = self.doctype
        parser.SkippedEntityHandler = self.skipped_entity
        if keeps:
            parser.StartNamespaceDeclHandler = self.namespace
        if (options.attributes, options.label_from, options.text) == ("ignore", "tag", "ignore"):
            parser.StartElementHandler = self.plain_start()
        else:
            parser.StartElementHandler = self.full_start()
        parser.EndElementHandler = self.closed.append
        if options.text == "flag":
            parser.EndElementHandler = self.end_after_text()
            parser.CharacterDataHandler = self.characters
        return parser

    def feed(self) -> None:
        """Give the parser the document in blocks, looking at the limits between them.

        A tag longer than a block is scanned anew with each: blocks grow with what is pending.
        """
        content, at, pending = memoryview(self.document.content), 0, 0
        try:
            while at < len(content):
                n_before, room = len(self.codes), self.options.max_token + 1 - pending
                size = max(_BLOCK, min(pending, room))
                self.parser.Parse(content[at : at + size], False)
                at += size
                pending = min(at, len(content)) - self.parser.CurrentByteIndex
                self.check_limits(n_before, pending)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error.code))
            raise self.document.malformed(error.lineno, f"not XML ({reason}). Is the file complete?") from error

    def check_limits(self, n_before: int, pending: int) -> None:
        """Raise when the nodes so far are too many or too deep, or a tag is too long."""
        if pending > self.options.max_token:
            raise self.beyond("max_token", self.options.max_token)
        if len(self.codes) > self.max_nodes:
            raise self.beyond("max_nodes", self.max_nodes)
        if self.depths(n_before).max(initial=0) >= self.options.max_depth:
            raise self.beyond("max_depth", self.options.max_depth)

    def depths(self, first: int = 0) -> np.ndarray:
        """Depths of the nodes from a first one on."""
        return np.arange(first, len(self.codes), dtype=np.int32) - np.array(self.closed_before[first:], np.int32)

    def beyond(self, limit: str, allowed: int) -> Exception:
        """The error of a limit passed here."""
        return self.document.beyond(self.parser.CurrentLineNumber, limit, allowed)

    def malformed(self, reason: str) -> Exception:
        """The error of what is refused here."""
        return self.document.malformed(self.parser.CurrentLineNumber, reason)

    # Handlers

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        """Refuse encodings that expat does not know by itself."""
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            raise self.malformed(f"encoding {encoding!r} is not read. Convert the document to UTF-8.")

    def doctype(self, name: str, system_id: str | None, public_id: str | None, has_declarations: int) -> None:
        """Refuse declarations; a reference to a document type elsewhere is passed over, nothing is fetched."""
        if has_declarations:
            raise self.malformed(
                "a DOCTYPE with declarations, where entities may hide. Entities are refused: remove it."
            )

    def skipped_entity(self, name: str, is_parameter: int) -> None:
        """Refuse entities that nothing here defines."""
        raise self.malformed(f"the entity {name[:40]!r} is not defined in the document. Write the character itself.")

    def namespace(self, prefix: str | None, uri: str | None) -> None:
        """Refuse addresses that would be copied into every name."""
        if len(uri or "") > _LONGEST_URI:
            raise self.malformed(
                f"the name of a namespace has {len(uri or '')} characters, at most {_LONGEST_URI} are read."
            )

    def plain_start(self) -> Any:
        """A handler of start tags that takes nothing but the tag."""
        add_code, add_closed = self.codes.append, self.closed_before.append
        code_of_tag, closed = self.code_of_tag, self.closed

        def start(name: str, attributes: list[str]) -> None:
            add_code(code_of_tag[name])
            add_closed(len(closed))

        return start

    def full_start(self) -> Any:
        """A handler of start tags that also takes texts before them and attributes."""
        add_code, add_closed = self.codes.append, self.closed_before.append
        code_of_tag, closed, texts = self.code_of_tag, self.closed, self.texts

        def start(name: str, attributes: list[str]) -> None:
            if texts:
                self.end_text()
            if attributes:
                self.start_with_attributes(name, attributes)
            else:
                add_code(code_of_tag[name])
                add_closed(len(closed))

        return start

    def start_with_attributes(self, name: str, attributes: list[str]) -> None:
        """Add an element and leaves for its attributes; declarations of namespaces are none."""
        pairs = sorted(zip(attributes[::2], attributes[1::2], strict=True))
        written = [pair for pair in pairs if pair[0] != "xmlns" and not pair[0].startswith("xmlns:")]
        chosen = None
        if self.options.label_from != "tag":
            wanted = self.options.label_from[1:]
            chosen = next((value for key, value in written if local_name(key) == wanted), None)
        self.open(self.code_of_tag[name] if chosen is None else self.table[chosen])
        if self.options.attributes == "names":
            for key, _ in written:
                self.leaf("@" + local_name(key))

    def end_after_text(self) -> Any:
        """A handler of end tags that also takes texts before them."""
        close, texts = self.closed.append, self.texts

        def end(name: str) -> None:
            if texts:
                self.end_text()
            close(None)

        return end

    def characters(self, text: str) -> None:
        """Note a text that is not white space."""
        if not self.texts and text.strip(_WHITE):
            self.texts.append(True)

    def end_text(self) -> None:
        """Add the leaf of a text that ends here."""
        self.leaf("#text")
        self.texts.clear()

    def open(self, code: int) -> None:
        """Add a node that is still open."""
        self.codes.append(code)
        self.closed_before.append(len(self.closed))

    def leaf(self, label: str) -> None:
        """Add a node without children."""
        self.open(self.table[label])
        self.closed.append(None)


def shown_name(name: str, namespaces: str) -> str:
    """The label of a name as the parser gives it: `uri local` where namespaces are kept, else `prefix:local`."""
    if namespaces == "local":
        return local_name(name)
    uri, _, local = name.rpartition(" ")
    return f"{{{uri}}}{local}" if uri else local


def local_name(name: str) -> str:
    """A name without its prefix or address."""
    return name.rpartition(" ")[2].rpartition(":")[2] or name
