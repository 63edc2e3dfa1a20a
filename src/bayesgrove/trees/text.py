"""A tree in box-drawing characters for the terminal."""

from typing import TYPE_CHECKING

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.trees.layout import describe_merge, describe_size, opened_nodes

if TYPE_CHECKING:
    from bayesgrove.trees.table import Tree

N_NAMES = 3
MAX_NAME = 30


def tree_to_text(tree: "Tree", max_lines: int = 40) -> str:
    """At most `max_lines` lines: sizes, merge probabilities, names of leaves and of a few collapsed items.

    Examples
    --------
    >>> from bayesgrove.trees.table import Tree
    >>> print(Tree.from_merges([[0, 1], [2, 3]], [4.0, -3.0], leaf_labels=("cat", "lion", "oak")).to_text())
    3 items, merge probability .05
    ├─ oak
    └─ 2 items, merge probability .98
       ├─ cat
       └─ lion
    """
    if max_lines < 1:
        raise InvalidSettingError(f"a picture has at least one line, got max_lines={max_lines}.")
    opened = opened_nodes(tree, (max_lines + 1) // 2)
    lines: list[str] = []
    stack = [(tree.root, "", "")]
    while stack:
        node, lead, indent = stack.pop()
        lines.append(lead + _describe(tree, node, node in opened))
        children = tree.children(node) if node in opened else []
        branches = [("├─ ", "│  ")] * (len(children) - 1) + [("└─ ", "   ")]
        below = [(child, indent + lead, indent + rest) for child, (lead, rest) in zip(children, branches, strict=False)]
        stack.extend(reversed(below))
    if len(lines) > max_lines:
        lines[max_lines - 1 :] = [f"… {len(lines) - max_lines + 1} more lines"]
    return "\n".join(lines)


def _describe(tree: "Tree", node: int, is_opened: bool) -> str:
    if tree.item[node] != NULL:
        return _short_name(tree, int(tree.item[node]))
    size = int(tree.size[node])
    words = ", ".join(filter(None, (describe_size(size), describe_merge(tree, node))))
    if is_opened:
        return words
    names = ", ".join(_short_name(tree, int(item)) for item in tree.items_below(node)[:N_NAMES])
    more = ", …" if size > N_NAMES else ""
    return f"▸ {words}: {names}{more}"


def _short_name(tree: "Tree", item: int) -> str:
    name = "".join(letter if letter.isprintable() else "�" for letter in tree.label(item))
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"
