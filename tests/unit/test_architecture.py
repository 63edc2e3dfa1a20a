"""House rules that no linter holds: printing, recursion, unpickling, randomness, paths of one machine."""

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bayesgrove"
MODULES = sorted(PACKAGE.rglob("*.py"))
WRITTEN = sorted(
    path
    for path in (
        *ROOT.glob("*.*"),
        ROOT / "Makefile",
        *(
            found
            for folder in (
                "src",
                "tests",
                "docs",
                "benchmarks",
                "examples",
                "fuzzing",
                "papers",
                "posteriors",
                ".github",
            )
            for found in (ROOT / folder).rglob("*")
        ),
    )
    if path.suffix in (".py", ".md", ".toml", ".cff", ".js", ".css", ".html", ".yaml", "")
    and path.is_file()
    and path.name != ".git"  # of a second working tree, it names the first
    and "_build" not in path.parts
)
UNPICKLERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal"}
MOST_LINES = 420
PRINTERS = {"print", "pprint", "breakpoint"}
GENERATOR_NAMES = {"Generator", "Philox", "SeedSequence", "default_rng"}
WALKERS = ("trees", "models", "plot", "report", "stats")
"""Folders whose functions may meet a tree 100,000 levels deep."""
# Put together here so that this file does not contain what it looks for.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:" + "|".join(("home", "root", "work", "Users", "opt", "mnt")) + r")/[\w.]")


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


@functools.cache
def text_of(module: Path) -> str:
    return module.read_text(encoding="utf-8")


@functools.cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(text_of(module))


def nodes(module: Path) -> Iterator[ast.AST]:
    return ast.walk(parsed(module))


def calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Name (dotted where it has dots) and line of everything called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def imported(module: Path) -> set[str]:
    """First part of every module imported, at the top or inside functions."""
    found: set[str] = set()
    for node in nodes(module):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def test_the_checks_look_at_something():
    assert len(MODULES) > 50
    assert {ROOT / "README.md", ROOT / "pyproject.toml", Path(__file__).resolve()} <= set(WRITTEN)


def offenders(modules: Iterable[Path], found: Callable[[Path], Any]) -> dict[str, Any]:
    """What was found in modules where anything was."""
    return {name_of(module): seen for module in modules if (seen := found(module))}


def test_nothing_prints_outside_the_command_line():
    inside = [module for module in MODULES if PACKAGE / "cli" not in module.parents]
    assert not offenders(inside, lambda module: [call for call in calls(parsed(module)) if call[0] in PRINTERS])


def test_nothing_unpickles_or_changes_the_limit_of_recursion():
    words = ("setrecursionlimit", "allow_pickle=True", "joblib.load")
    assert not offenders(MODULES, lambda module: [word for word in words if word in text_of(module)])
    assert not offenders(MODULES, lambda module: imported(module) & UNPICKLERS)


def test_no_file_is_longer_than_people_like_to_read():
    assert not offenders(MODULES, lambda module: max(0, text_of(module).count("\n") - MOST_LINES))


def test_nothing_asserts_what_a_user_gave():
    assert not offenders(MODULES, lambda m: [node.lineno for node in nodes(m) if isinstance(node, ast.Assert)])


def test_all_random_numbers_come_from_generators_passed_in():
    def legacy(module):
        return [
            (node.attr, node.lineno)
            for node in nodes(module)
            if isinstance(node, ast.Attribute)
            and ast.unparse(node.value) in ("np.random", "numpy.random")
            and node.attr not in GENERATOR_NAMES
        ]

    assert not offenders(MODULES, lambda module: imported(module) & {"random"})
    assert not offenders(MODULES, legacy)


def test_nothing_that_walks_trees_calls_itself():
    def recursive(module):
        for node in nodes(module):
            if isinstance(node, ast.FunctionDef):
                called = {name for statement in node.body for name, _ in calls(statement)}
                if {node.name, f"self.{node.name}"} & called:
                    yield node.name

    walkers = [module for module in MODULES if name_of(module).startswith(WALKERS)]
    assert not offenders(walkers, lambda module: list(recursive(module)))


def test_no_file_names_a_place_on_one_machine():
    assert not [(path, found) for path in WRITTEN if (found := MACHINE_PATH.search(path.read_text(encoding="utf-8")))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print('x')", {"print"}),
        ("def f():\n    g(h.i(1))", {"g", "h.i"}),
    ],
)
def test_calls_are_found(source, expected):
    assert {name for name, _ in calls(ast.parse(source))} == expected


@pytest.mark.parametrize("text", ["{}ho" + "me/ann/data.csv", 'open("{}wo' + 'rk/x")', "see {}ro" + "ot/.cache"])
def test_machine_paths_are_found(text):
    assert MACHINE_PATH.search(text.format("/"))
    assert not MACHINE_PATH.search(text.format("../shared/"))
