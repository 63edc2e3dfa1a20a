"""Documents say what is true: examples run, links lead somewhere, tables agree with the code."""

import doctest
import re
from dataclasses import fields
from pathlib import Path

import pytest

import bayesgrove as bg
from bayesgrove.cli.main import app
from bayesgrove.cli.models import MODELS
from bayesgrove.likelihoods.defaults import NAMED

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_to_files(document):
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("name", ["docs/likelihoods.md", "docs/posterior.md", "docs/trees.md"])
def test_examples_run(name):
    text = read(name).replace("```\n", "\n")  # the fence is no part of what is printed
    example = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def likelihood_rows() -> dict[str, list[str]]:
    """Cells of the table of families by class name."""
    found = {}
    for line in read("docs/likelihoods.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if match := re.match(r"`(\w+)\(", cells[0]):
            found[match[1]] = cells
    return found


def test_every_likelihood_stands_in_the_table():
    assert set(likelihood_rows()) == {kind.__name__ for kind in NAMED.values()} | {"Columns"}


@pytest.mark.parametrize("kind", NAMED.values(), ids=lambda kind: kind.__name__)
def test_the_table_of_likelihoods_agrees_with_the_code(kind):
    cells = likelihood_rows()[kind.__name__]
    parameters = re.search(r"\((.*)\)", cells[0])[1].split(", ")
    assert parameters == [field.name for field in fields(kind)]
    assert NAMED[cells[1].strip('`"')] is kind
    assert tuple(cells[5].split(", ")) == kind.learnable
    assert cells[6] == ("cells" if kind.per_column else "whole rows")


@pytest.mark.parametrize("folder", ["core", "stats", "trees", "io", "plot"])
def test_the_architecture_names_every_module(folder):
    text = read("docs/architecture.md")
    modules = [path.stem for path in (ROOT / "src" / "bayesgrove" / folder).glob("*.py") if path.stem[0] != "_"]
    row = next(line for line in text.splitlines() if line.startswith(f"| `{folder}/` |"))
    assert [module for module in modules if f"`{module}`" not in row] == []


def test_commands_and_models_are_documented():
    text = read("docs/command-line.md")
    for command in app.registered_commands:
        assert f"\nbayesgrove {command.name or command.callback.__name__}" in text
    for model in MODELS:
        assert f"`{model}`" in text


def test_papers_name_the_version():
    assert f"version: {bg.__version__}\n" in read("CITATION.cff")
    assert f"\n## {bg.__version__} " in read("CHANGELOG.md")
