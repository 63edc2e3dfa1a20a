"""House rules that no linter holds: printing, recursion, unpickling, randomness, paths of one machine."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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
    and "_build" not in path.parts
)
UNPICKLERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal"}
PRINTERS = {"print", "pprint", "breakpoint"}
GENERATOR_NAMES = {"Generator", "Philox", "SeedSequence", "default_rng"}
WALKERS = ("trees", "models", "plot", "report", "stats")
"""Folders whose functions may meet a tree 100,000 levels deep."""
# Put together here so that this file does not contain what it looks for.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:" + "|".join(("home", "root", "work", "Users", "opt", "mnt")) + r")/[\w.]")


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def nodes(module: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(module.read_text(encoding="utf-8")))


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


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_house_rules(module):
    """Nothing prints outside cli, changes the limit of recursion, unpickles, or asserts what a user gave."""
    source = module.read_text(encoding="utf-8")
    if PACKAGE / "cli" not in module.parents:
        assert not [(name, line) for name, line in calls(ast.parse(source)) if name in PRINTERS]
    assert "setrecursionlimit" not in source
    assert not imported(module) & UNPICKLERS
    assert "allow_pickle=True" not in source
    assert "joblib.load" not in source
    assert not [node.lineno for node in nodes(module) if isinstance(node, ast.Assert)]


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_all_random_numbers_come_from_generators_passed_in(module):
    assert "random" not in imported(module)
    legacy = [
        (node.attr, node.lineno)
        for node in nodes(module)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("np.random", "numpy.random")
        and node.attr not in GENERATOR_NAMES
    ]
    assert not legacy


@pytest.mark.parametrize("module", [module for module in MODULES if name_of(module).startswith(WALKERS)], ids=name_of)
def test_nothing_that_walks_trees_calls_itself(module):
    for node in nodes(module):
        if isinstance(node, ast.FunctionDef):
            called = {name for statement in node.body for name, _ in calls(statement)}
            assert not {node.name, f"self.{node.name}"} & called, node.name


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_names_a_place_on_one_machine(path):
    found = MACHINE_PATH.search(path.read_text(encoding="utf-8"))
    assert found is None, found


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
