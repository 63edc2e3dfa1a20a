"""What the text of a Python file says about its dependencies, with a digest that ignores docstrings and comments."""

import ast
import hashlib
from collections.abc import Iterator
from typing import NamedTuple

ANYTHING = "*"
"""Stands for every module of the package: the text does not tell which."""


class Import(NamedTuple):
    """One name bound by an import. `name` is None in `import module`, `bound` is None in `import package.module`."""

    level: int
    module: str
    name: str | None
    bound: str | None


class Facts(NamedTuple):
    """What the text of one file says, wherever the file is stored."""

    digest: str
    imports: tuple[Import, ...]
    defined: tuple[str, ...]
    registers: tuple[str, ...]
    repeated: tuple[str, ...]


def read_facts(text: bytes) -> Facts:
    """Facts about a Python file; one that cannot be parsed may depend on anything."""
    try:
        tree = without_strings(ast.parse(text))
        digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        everything = Import(0, ANYTHING, None, ANYTHING)
        return Facts(hashlib.sha256(text).hexdigest(), (everything,), (), (ANYTHING,), ())
    nodes = list(ast.walk(tree))
    return Facts(
        digest=digest,
        imports=tuple(found for node in nodes for found in imports_of(node)),
        defined=tuple(sorted({name for node in tree.body for name in names_bound(node)})),
        registers=tuple(sorted({name for node in nodes for name in registered_by(node)})),
        repeated=tuple(sorted(repeated_names(tree))),
    )


def without_strings(tree: ast.Module) -> ast.Module:
    """The same tree without statements that consist of a string: docstrings, also those of attributes."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not is_string(statement)]
    return tree


def is_string(node: ast.AST) -> bool:
    """Whether a statement consists of a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def imports_of(node: ast.AST) -> Iterator[Import]:
    """Names that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (Import(0, alias.name, None, alias.asname) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (Import(node.level, node.module or "", each.name, each.asname or each.name) for each in node.names)


def names_bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement at the top of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def registered_by(node: ast.AST) -> Iterator[str]:
    """The function, as a dotted name, for which a call of `.register` or of numba's `overload` registers a body."""
    if not isinstance(node, ast.Call):
        return
    called = node.func
    if isinstance(called, ast.Attribute) and called.attr == "register":
        yield dotted(called.value) or ANYTHING
    elif node.args and (dotted(called) or "").rpartition(".")[2] == "overload":
        yield dotted(node.args[0]) or ANYTHING


def dotted(node: ast.AST) -> str | None:
    """The text of an expression like `a.b.c`; None for any other."""
    steps = []
    while isinstance(node, ast.Attribute):
        steps.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(steps)]) if isinstance(node, ast.Name) else None


def repeated_names(tree: ast.Module) -> set[str]:
    """Qualified names, in lower case, of several functions of one file, such as those in two branches of an `if`."""
    seen: set[str] = set()
    repeated: set[str] = set()
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inside = prefix
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = prefix + child.name.casefold()  # some file systems do not tell f from F
                (repeated if name in seen else seen).add(name)
                inside = name + "."
            waiting.append((child, inside))
    return repeated
