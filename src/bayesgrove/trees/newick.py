"""Newick text: a parser without recursion, and a writer.

`parse_newick` keeps names of inner nodes and raw branch lengths; a `Tree` keeps leaf names and heights.
"""

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError
from bayesgrove.trees.traverse import child_counts, levels

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree

MAX_NODES = 10_000_000
MAX_NAME_LENGTH = 10_000
TOKEN = re.compile(
    r"\s+|(?P<mark>[(),;])|:\s*(?P<length>[^\s()\[\],;:']*)|'(?P<quoted>(?:[^']++|'')*+)'"
    r"|(?P<comment>\[)|(?P<name>[^\s()\[\],;:']+)"
)
PLAIN_NAME = re.compile(r"[^\s()\[\],;:'_]+")


class ParsedNewick(NamedTuple):
    """Nodes of a Newick text, every parent's id greater than its children's."""

    parent: np.ndarray
    """int64; the last node is the root."""
    names: list[str]
    """"" where the text has none."""
    lengths: np.ndarray
    """Branch above each node; nan where the text has none."""


class _Reader:
    """Nodes in the order in which they close, which numbers children before their parents."""

    def __init__(self, source: str, max_nodes: int) -> None:
        self.source, self.max_nodes = source, max_nodes
        self.open_children: list[list[int]] = [[]]
        self.parent: list[int] = []
        self.names: list[str] = []
        self.lengths: list[float] = []
        self.name: str | None = None
        self.length: float | None = None
        self.inside: list[int] | None = None

    def fail(self, position: int, message: str) -> InvalidTreeError:
        shown = self.source[position : position + 20]
        return InvalidTreeError(f"Newick, position {position} (at {shown!r}): {message}", position=position)

    def open(self, position: int) -> None:
        if self.inside is not None or self.name is not None or self.length is not None:
            raise self.fail(position, "a '(' starts a node, but one is already under way. Put a ',' before it.")
        self.open_children.append([])

    def close_node(self, position: int) -> None:
        node = len(self.parent)
        if node >= self.max_nodes:
            raise self.fail(position, f"the tree has more than {self.max_nodes} nodes. Raise max_nodes.")
        for child in self.inside or ():
            self.parent[child] = node
        self.parent.append(NULL)
        self.names.append(self.name or "")
        self.lengths.append(math.nan if self.length is None else self.length)
        self.open_children[-1].append(node)
        self.inside = self.name = self.length = None

    def close_group(self, position: int) -> None:
        if len(self.open_children) == 1:
            raise self.fail(position, "a ')' without its '('. Remove it or add the '('.")
        self.close_node(position)
        self.inside = self.open_children.pop()

    def set_name(self, position: int, name: str) -> None:
        if self.name is not None or self.length is not None:
            raise self.fail(position, "a second name for one node. Quote names with spaces: 'like this'.")
        if len(name) > MAX_NAME_LENGTH:
            raise self.fail(position, f"a name of {len(name)} characters, at most {MAX_NAME_LENGTH} are read.")
        self.name = name

    def set_length(self, position: int, written: str) -> None:
        try:
            value = float(written)
        except ValueError:
            value = math.nan
        if self.length is not None or not (math.isfinite(value) and value >= 0.0):
            raise self.fail(
                position, f"a branch length is one finite number >= 0 after ':', got {written!r}. Correct it."
            )
        self.length = value


def parse_newick(source: str, *, max_nodes: int = MAX_NODES) -> ParsedNewick:
    """Parents, names and branch lengths of one Newick tree; errors name the position in the text.

    Parameters
    ----------
    source : str
        Ends with `;`.
    max_nodes : int, default=10_000_000
        Larger trees are refused.

    Examples
    --------
    >>> from bayesgrove.trees import parse_newick
    >>> found = parse_newick("((cat:1,lion:1)felines:2,oak:3);")
    >>> found.parent.tolist(), found.names
    ([2, 2, 4, 4, -1], ['cat', 'lion', 'felines', 'oak', ''])
    """
    reader = _Reader(source, max_nodes)
    position = 0
    while position < len(source):
        match = TOKEN.match(source, position)
        if match is None:
            raise reader.fail(position, "a character that fits nowhere, or a quote never closed.")
        if match["mark"] == ";":
            return _finish(reader, position, match.end())
        position = _take(reader, match, position)
    raise reader.fail(position, "the text ends before ';'. Is the file complete?")


def _take(reader: _Reader, match: re.Match[str], position: int) -> int:
    """Handle one token; the position after it."""
    if match["mark"] == "(":
        reader.open(position)
    elif match["mark"] == ",":
        if len(reader.open_children) == 1:
            raise reader.fail(position, "a ',' outside all brackets: several roots. Put them into one '( )'.")
        reader.close_node(position)
    elif match["mark"] == ")":
        reader.close_group(position)
    elif match["comment"]:
        return _skip_comment(reader, position)
    elif match["length"] is not None:
        reader.set_length(position, match["length"])
    elif match["quoted"] is not None:
        reader.set_name(position, match["quoted"].replace("''", "'"))
    elif match["name"] is not None:
        reader.set_name(position, match["name"].replace("_", " "))
    return match.end()


def _skip_comment(reader: _Reader, position: int) -> int:
    end = reader.source.find("]", position)
    if end < 0:
        raise reader.fail(position, "a comment '[' without its ']'. Close it.")
    return end + 1


def _finish(reader: _Reader, position: int, end: int) -> ParsedNewick:
    if len(reader.open_children) > 1:
        missing = len(reader.open_children) - 1
        raise reader.fail(position, f"';' comes while {missing} '(' are still open. Add the ')'.")
    if reader.source[end:].strip():
        raise reader.fail(end, "text after ';'. Give one tree at a time.")
    reader.close_node(position)
    return ParsedNewick(np.array(reader.parent, np.int64), reader.names, np.array(reader.lengths))


def tree_fields(parsed: ParsedNewick) -> dict[str, Any]:
    """Arguments of `Tree.from_parents`: items, labels and heights of a parsed text."""
    leaves = np.flatnonzero(child_counts(parsed.parent) == 0)
    names = [parsed.names[leaf] for leaf in leaves]
    numbered = sorted(names, key=lambda name: (len(name), name)) == [str(i) for i in range(leaves.size)]
    item = np.full(parsed.parent.size, NULL)
    item[leaves] = [int(name) for name in names] if numbered else np.arange(leaves.size)
    labels = None if numbered or not any(names) else tuple(names)
    heights = heights_from_lengths(parsed.parent, parsed.lengths)
    return {"parent": parsed.parent, "item": item, "height": heights, "leaf_labels": labels}


def heights_from_lengths(parent: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Heights whose differences are the branch lengths; levels when there is no length at all.

    Leaves at equal distance from the root lie at 0 exactly; otherwise the deepest leaf does.
    """
    if np.isnan(lengths[:-1]).all():
        return levels(parent)
    branch = np.nan_to_num(lengths[:-1], nan=0.0).tolist()
    above = parent.tolist()
    height = [0.0] * parent.size
    for node, length in enumerate(branch):
        height[above[node]] = max(height[above[node]], height[node] + length)
    upward = np.array(height)
    for node in range(parent.size - 2, -1, -1):
        height[node] = max(0.0, height[above[node]] - branch[node])
    downward = np.array(height)
    is_even = np.abs(upward - downward).max() <= 1e-9 * upward[-1]
    return upward if is_even else downward


def tree_to_newick(tree: "Tree") -> str:
    """Newick text: leaf labels (or item numbers), branch lengths = differences of height."""
    lengths = tree.height[tree.parent[:-1]] - tree.height[:-1]
    tails = [f":{length!r}" for length in lengths.tolist()] + [""]
    first_child, next_sibling = tree.first_child.tolist(), tree.next_sibling.tolist()
    parent, item = tree.parent.tolist(), tree.item.tolist()
    parts: list[str] = []
    node = tree.root
    while node != NULL:
        while first_child[node] != NULL:
            parts.append("(")
            node = first_child[node]
        parts.append(_quoted(tree.label(item[node])) + tails[node])
        while node != NULL and next_sibling[node] == NULL:
            node = parent[node]
            if node != NULL:
                parts.append(")" + tails[node])
        if node != NULL:
            parts.append(",")
            node = next_sibling[node]
    return "".join(parts) + ";"


def _quoted(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) else "'" + name.replace("'", "''") + "'"
