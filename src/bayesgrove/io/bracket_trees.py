"""Trees in brackets: Newick, parenthesised text, and the INEX form; no recursion, unbalanced text is refused."""

import re
from collections.abc import Iterator

from bayesgrove.io.tree_documents import Document, Growing, LabelTable, RawTree, ReaderOptions, utf8

_NEWICK = re.compile(r"\s+|[(),;:\[\]]|'(?:[^']++|'')*+'|'|[^\s()\[\],;:']+")
_NEWICK_LEAF = re.compile(r"\s*([^\s()\[\],;:']+)(?::[^\s()\[\],;:']*)?,")
"""A leaf with a sibling after it: most of a large tree."""
_NEWICK_LENGTH = re.compile(r"\s*[^\s()\[\],;:']*")
_PARENTHESES = re.compile(r"\s+|[()]|[^\s()]+")
_INEX_CLASS = re.compile(r"\s*(\d{1,9}):")
_INEX = re.compile(r"\s+|(\d{1,9})\(|\)|\$")


class _Text:
    """A document as text; positions are those of characters."""

    def __init__(self, document: Document) -> None:
        self.document = utf8(document)
        self.text = self.document.content.decode("utf-8")

    def line_of(self, at: int) -> int:
        """Number of the line of a character."""
        return self.document.first_line + self.text.count("\n", 0, at)

    def malformed(self, at: int, reason: str) -> Exception:
        """The error of text malformed at a character."""
        shown = self.text[at : at + 20]
        return self.document.malformed(self.line_of(at), f"{reason} (at {shown!r})" if shown else reason)


def read_newick(document: Document, table: LabelTable, options: ReaderOptions) -> Iterator[RawTree]:
    """Trees in Newick form, each ended by a semicolon; branch lengths and comments are passed over."""
    source = _Text(document)
    at, n_trees = _skip_white(source.text, 0), 0
    while at < len(source.text):
        reader = _NewickReader(source, table, options, at)
        yield reader.tree()
        at, n_trees = _skip_white(source.text, reader.at), n_trees + 1
    if n_trees == 0:
        raise source.malformed(0, "no tree. A tree in Newick form ends with ';'.")


def _skip_white(text: str, at: int) -> int:
    match = re.compile(r"\s*").match(text, at)
    return match.end() if match else at


class _NewickReader:
    """One tree of a Newick text."""

    def __init__(self, source: _Text, table: LabelTable, options: ReaderOptions, at: int) -> None:
        self.source, self.table, self.at = source, table, at
        self.empty = table[options.empty_label]
        self.growing = Growing(source.document, options, "newick", source.line_of)
        self.open_nodes: list[int] = []
        self.current: int | None = None
        self.may_name = True

    def tree(self) -> RawTree:
        """The tree up to its semicolon."""
        text, line = self.source.text, self.source.line_of(self.at)
        while self.at < len(text):
            if self.current is None and self.open_nodes and (leaf := _NEWICK_LEAF.match(text, self.at)):
                self.growing.add(self.table[leaf[1].replace("_", " ")], len(self.open_nodes), self.at)
                self.at = leaf.end()
                continue
            match = _NEWICK.match(text, self.at)
            token = match[0] if match else ""
            start, self.at = self.at, self.at + max(len(token), 1)
            if token == ";":
                self.finish(start)
                return self.growing.tree(line=line)
            if not token.isspace():
                self.take(token, start)
        raise self.source.malformed(self.at, "the text ends before ';'. Is the file complete?")

    def take(self, token: str, start: int) -> None:
        """One token that does not end the tree."""
        if token == "(":
            if self.current is not None:
                raise self.source.malformed(start, "a '(' after a node. Put a ',' before it.")
            self.open_nodes.append(self.add(start))
            self.current, self.may_name = None, True
        elif token == ",":
            if not self.open_nodes:
                raise self.source.malformed(start, "a ',' outside all brackets: several roots. Put ';' between trees.")
            self.end_node(start)
        elif token == ")":
            if not self.open_nodes:
                raise self.source.malformed(start, "a ')' without its '('. Remove it or add the '('.")
            self.end_node(start)
            self.current = self.open_nodes.pop()
        elif token == ":":
            self.pass_length(start)
        elif token == "[":
            self.pass_comment(start)
        elif token == "]":
            raise self.source.malformed(start, "a ']' without its '['. Remove it.")
        else:
            self.name(self.plain(token, start), start)

    def add(self, start: int) -> int:
        """A node without a name, and its number."""
        self.growing.add(self.empty, len(self.open_nodes), start)
        return len(self.growing.labels) - 1

    def end_node(self, start: int) -> None:
        """A node ends here; one of which nothing is written has no name."""
        if self.current is None:
            self.add(start)
        self.current, self.may_name = None, True

    def name(self, name: str, start: int) -> None:
        """Name the node under way, or a new leaf."""
        if not self.may_name:
            raise self.source.malformed(start, "a second name for one node. Quote names with blanks: 'like this'.")
        if self.current is None:
            self.current = self.add(start)
        if name:
            self.growing.labels[self.current] = self.table[name]
        self.may_name = False

    def plain(self, token: str, start: int) -> str:
        """The name a token stands for: in quotes two quotes are one, elsewhere underscores are blanks."""
        if token == "'":
            raise self.source.malformed(start, "a quote never closed. Close it.")
        return token[1:-1].replace("''", "'") if token[0] == "'" else token.replace("_", " ")

    def pass_length(self, start: int) -> None:
        """Pass over a branch length."""
        if self.current is None:
            self.current = self.add(start)
        self.may_name = False
        match = _NEWICK_LENGTH.match(self.source.text, self.at)
        self.at = match.end() if match else self.at

    def pass_comment(self, start: int) -> None:
        """Pass over a comment."""
        end = self.source.text.find("]", start)
        if end < 0:
            raise self.source.malformed(start, "a comment '[' without its ']'. Close it.")
        self.at = end + 1

    def finish(self, start: int) -> None:
        """The semicolon."""
        if self.open_nodes:
            raise self.source.malformed(start, f"';' while {len(self.open_nodes)} '(' are open. Add the ')'.")
        self.end_node(start)


def read_parentheses(document: Document, table: LabelTable, options: ReaderOptions) -> Iterator[RawTree]:
    """Trees as `(label child child ...)`, a bare word being a leaf; several may follow one another."""
    source = _Text(document)
    empty, n_trees = table[options.empty_label], 0
    growing = Growing(source.document, options, "newick", source.line_of)
    depth, unnamed, line = 0, -1, 1
    for match in _PARENTHESES.finditer(source.text):
        token, start = match[0], match.start()
        if token.isspace():
            continue
        if not growing.labels:
            line = source.line_of(start) if n_trees else source.line_of(0)
        if token == "(":
            unnamed = len(growing.labels)
            growing.add(empty, depth, start)
            depth += 1
        elif token == ")":
            if depth == 0 or unnamed == len(growing.labels) - 1:
                reason = "a ')' without its '('. Remove it." if depth == 0 else "'()' has no label. Give it one."
                raise source.malformed(start, reason)
            depth -= 1
        elif unnamed >= 0 and unnamed == len(growing.labels) - 1:
            growing.labels[unnamed], unnamed = table[token], -1
        else:
            growing.add(table[token], depth, start)
        if depth == 0:
            yield growing.tree(line=line)
            growing, n_trees, unnamed = Growing(source.document, options, "newick", source.line_of), n_trees + 1, -1
    if depth or not n_trees:
        reason = f"the text ends while {depth} '(' are open. Is the file complete?" if depth else "no tree."
        raise source.malformed(len(source.text), reason)


def read_inex(document: Document, table: LabelTable, options: ReaderOptions) -> Iterator[RawTree]:
    """The tree of a line `class:label(child child ...)` with `label($)` for leaves; labels are numbers from 1."""
    document = utf8(document)
    text = document.content.decode("utf-8").rstrip()
    growing = Growing(document, options, "inex")
    known_class = _INEX_CLASS.match(text)
    at, depth, is_done = known_class.end() if known_class else 0, 0, False
    while at < len(text):
        match = _INEX.match(text, at)
        if match is None or is_done or (match[0] in ("$", ")") and depth == 0):
            raise document.malformed(
                document.first_line, f"not INEX's form label(child ...) (at {text[at : at + 20]!r})"
            )
        if match[1]:
            growing.add(int(match[1]) - 1, depth, at)
            depth += 1
        elif match[0] == ")":
            depth -= 1
            is_done = depth == 0
        at = match.end()
    if not is_done:
        raise document.malformed(
            document.first_line, f"the line ends while {depth} '(' are open. Is the file complete?"
        )
    if min(growing.labels) < 0:
        raise document.malformed(document.first_line, "labels are numbers from 1, got 0. Correct it.")
    yield growing.tree(int(known_class[1]) if known_class else None)
