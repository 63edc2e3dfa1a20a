"""Python sources as syntax trees: parsed, never run or imported, after a look for what would break the parser."""

import ast
import io
import platform
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import replace

from bayesgrove.core.errors import BayesgroveError
from bayesgrove.io.tree_documents import Document, Growing, LabelTable, RawTree, ReaderOptions, nodes_allowed

PYTHON_VERSION = ".".join(platform.python_version_tuple()[:2])
"""Syntax trees differ between versions of Python."""
_ENCODINGS = {"utf-8", "utf-8-sig", "ascii", "us-ascii", "iso-8859-1", "iso-8859-15", "cp1252"}
_LARGEST_NESTING = 200
_LONGEST_CHAIN = 2000
_OPERATOR_WORDS = frozenset({"not", "and", "or", "in", "is", "if", "else", "lambda", "await"})
_KEYWORDS = _OPERATOR_WORDS | {
    "def",
    "class",
    "return",
    "import",
    "from",
    "as",
    "for",
    "while",
    "try",
    "except",
    "with",
}
_TOKEN = re.compile(
    r"(?P<skip>[ \t\f]+|\\\r?\n|\#[^\r\n]*)|(?P<line>[\r\n]+)|[A-Za-z]{0,2}(?P<quote>'''|\"\"\"|'|\")"
    r"|(?P<number>\d[\w.]*)|(?P<word>\w+)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<stop>[,;]|=(?!=))|(?P<colon>:)"
    r"|(?P<operator>\*\*|//|<<|>>|[<>=!]=|[-+*/%@&|^~<>.])|(?P<other>.)",
    re.DOTALL,
)
_STRING_ENDS = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ("'''", '"""', "'", '"')}
_NAMES = {
    ast.Name: "id",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.arg: "arg",
    ast.Attribute: "attr",
    ast.keyword: "arg",
    ast.alias: "name",
}
_LEFT_OUT = (ast.expr_context, ast.type_ignore)


def read_python(document: Document, table: LabelTable, options: ReaderOptions) -> Iterator[RawTree]:
    """The syntax tree of a Python source."""
    labels, depths = (_nodes_elsewhere if options.isolate else syntax_nodes)(document, options)
    yield RawTree([table[label] for label in labels], depths)


def syntax_nodes(document: Document, options: ReaderOptions) -> tuple[list[str], list[int]]:
    """Labels and depths of a source's syntax tree in preorder."""
    text = _decoded(document)
    _look_ahead(document, text, options)
    root = _parsed(document, text)
    growing = Growing(document, options, "python")
    labels: list[str] = []
    stack: list[tuple[ast.AST, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        growing.add(0, depth, 0)
        labels.append(_label(node, options.identifiers))
        kept = [child for child in ast.iter_child_nodes(node) if not isinstance(child, _LEFT_OUT)]
        stack += [(child, depth + 1) for child in reversed(kept)]
    return labels, growing.depths.tolist()


def _label(node: ast.AST, identifiers: bool) -> str:
    kind = type(node).__name__
    name = getattr(node, _NAMES[type(node)]) if identifiers and type(node) in _NAMES else None
    return f"{kind}:{name}" if name else kind


def _decoded(document: Document) -> str:
    """The source as text, by its own declaration of the encoding; few are read, as some codecs are slow."""
    if document.is_text:
        return document.content.decode("utf-8", "replace")
    try:
        codec, _ = tokenize.detect_encoding(io.BytesIO(document.content).readline)
        if codec.lower() not in _ENCODINGS:
            raise document.malformed(1, f"encoding {codec!r} is not read. Convert the source to UTF-8.")
        return document.content.decode(codec)
    except (SyntaxError, UnicodeDecodeError) as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0
        raise document.malformed_at(at, f"not text of its encoding ({error}). Convert the source to UTF-8.") from error


def _parsed(document: Document, text: str) -> ast.AST:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes are the author's business
            return ast.parse(text)
    except SyntaxError as error:
        raise document.malformed(error.lineno or 1, f"not Python {PYTHON_VERSION} ({error.msg}).") from error
    except (RecursionError, MemoryError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise document.malformed(1, f"beyond Python's own parser ({reason}). Leave it out.") from error


class _Ahead:
    """Counts of one source: brackets open, operators in a row, operators in a chain, tokens that make nodes."""

    def __init__(self) -> None:
        self.chains = [0]
        self.n_in_row = 0
        self.n_operands = 0
        self.after_operand = False

    def take(self, kind: str, token: str) -> None:
        """One token."""
        if kind == "operator" or (kind == "word" and token in _OPERATOR_WORDS):
            self.chains[-1] += 1
            self.n_in_row += 1
            self.after_operand = False
        elif kind == "open":
            self.chains[-1] += self.after_operand
            self.chains.append(0)
            self.after_operand, self.n_in_row = False, 0
        elif kind == "close":
            self.chains = self.chains[:-1] or [0]
            self.after_operand, self.n_in_row = True, 0
        elif kind in ("word", "number", "quote"):
            self.n_operands += token not in _KEYWORDS
            self.after_operand, self.n_in_row = token not in _KEYWORDS, 0
        elif kind == "stop" or (kind == "line" and len(self.chains) == 1):
            self.chains[-1] = self.n_in_row = 0
            self.after_operand = False

    def reason(self) -> str:
        """Why the source is refused; empty while it is not."""
        if len(self.chains) > _LARGEST_NESTING + 1:
            return f"brackets nested more than {_LARGEST_NESTING} deep"
        if self.n_in_row > _LARGEST_NESTING:
            return f"more than {_LARGEST_NESTING} operators in a row"
        if self.chains[-1] > _LONGEST_CHAIN:
            return f"a chain of more than {_LONGEST_CHAIN} operators"
        return ""


def _look_ahead(document: Document, text: str, options: ReaderOptions) -> None:
    """Raise for nesting and chains that take Python's parser to the end of its stack."""
    ahead, at, max_nodes = _Ahead(), 0, nodes_allowed("python", options)
    while match := _TOKEN.match(text, at):
        start, at = at, match.end()
        kind = match.lastgroup or "other"
        if kind == "skip":
            continue
        if kind == "quote":
            at = _string_end(text, at, match["quote"])
        ahead.take(kind, match[0])
        reason = ahead.reason()
        if reason:
            raise document.malformed(1 + text.count("\n", 0, start), f"{reason}. Leave it out.")
        if ahead.n_operands > max_nodes:
            raise document.beyond(1 + text.count("\n", 0, start), "max_nodes", max_nodes)


def _string_end(text: str, at: int, quote: str) -> int:
    """Where a string ends whose opening quote has been read; the end of the text where it never does."""
    while match := _STRING_ENDS[quote].search(text, at):
        at = match.end()
        if match[0] == quote:
            return at
    return len(text)


def _nodes_elsewhere(document: Document, options: ReaderOptions) -> tuple[list[str], list[int]]:
    """`syntax_nodes` in a process of its own, whose crash is an error here."""
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=1)
    try:
        made: tuple[list[str], list[int]] = executor.submit(
            syntax_nodes, document, replace(options, progress=None)
        ).result()
        return made
    except BayesgroveError:
        raise
    except Exception as error:
        raise document.malformed(1, f"Python's parser crashed ({type(error).__name__}). Leave it out.") from error
    finally:
        executor.shutdown(wait=False, kill_workers=True)
