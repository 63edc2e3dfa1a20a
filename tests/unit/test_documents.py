"""Documents say what is true: examples run, links lead somewhere, tables agree with the code."""

import doctest
import importlib
import inspect
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import bayesgrove as bg
from bayesgrove.cli.main import app
from bayesgrove.cli.models import MODELS
from bayesgrove.inference import exhibits
from bayesgrove.inference.diagnostics import Diagnostics
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods.defaults import NAMED
from bayesgrove.report.document import report_document

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[2]
MADE = {"_build", "gallery"}
"""Folders that building the site makes."""
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if not MADE & set(path.relative_to(ROOT).parts)),
]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
SECTIONS = ("Model", "Algorithm", "Validity", "Cost", "Settings worth knowing", "Worked example")
LARGEST_PICTURE, LARGEST_SCREENSHOT = 150_000, 400_000
SHARED = {"tree-hmm-mixture": "tree-hmm", "infinite-tree-hmm-mixture": "tree-hmm"}
"""Models whose page is that of another."""
SLOW = {"docs/nrm-mixture.md"}
"""Their examples are of real length: minutes."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_to_files(document):
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


CITATION = re.compile(r"docs/theory/([\w-]+\.md), ([A-Z][\w -]*)")


@pytest.mark.parametrize("folder", ["src", "papers", "benchmarks", "tests/reference"])
def test_citations_of_the_theory_name_its_sections(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for page, words in CITATION.findall(" ".join(path.read_text(encoding="utf-8").split())):
            sections = re.findall(r"^## (.+)$", read(f"docs/theory/{page}"), re.MULTILINE)
            assert any(words.startswith(section) for section in sections), (name_of(path), words)


def with_examples() -> list:
    """Documents with examples; the long ones are marked."""
    names = [name_of(path) for path in DOCUMENTS if ">>> " in path.read_text(encoding="utf-8")]
    return [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in names]


@pytest.mark.parametrize("name", with_examples())
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    text = read(name).replace("```\n", "\n")  # the fence is no part of what is printed
    example = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert example.examples
    said = []
    found = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert found.failed == 0, "".join(said)


def test_the_pages_with_examples_are_known():
    wanted = {
        "adding-a-model",
        "bhc",
        "bhcc",
        "bhmc",
        "crosscat",
        "golden-posteriors",
        "incremental-bhc",
        "likelihoods",
        "posterior",
        "quickstart",
        "randomized-bhc",
        "randomized-bhcc",
        "rbhmc",
        "tree-hmm",
        "trees",
        "trees-data",
    }
    marked = {name for name in with_examples() if isinstance(name, str)}
    assert {f"docs/{page}.md" for page in wanted} <= marked


def estimators() -> dict[str, str]:
    """Public estimators and their pages, which are called as on the command line."""
    pages = {place.split(":")[1]: f"docs/{SHARED.get(name, name)}.md" for name, place in MODELS.items()}
    public = [name for name in bg.__all__ if inspect.isclass(getattr(bg, name))]
    return {name: pages[name] for name in public if issubclass(getattr(bg, name), BaseEstimator)}


@pytest.mark.parametrize("name", estimators())
def test_every_estimator_has_a_page(name):
    page = estimators()[name]
    titles = re.findall(r"^## (.+)$", read(page), re.MULTILINE)
    assert [title for title in SECTIONS if title not in titles] == []
    assert f"]({Path(page).name})" in read("docs/choosing.md")
    assert f"`{name}`" in read("docs/choosing.md")
    assert f"bg.{name}" in read("README.md")


def documented() -> tuple[set[str], list]:
    """Names of modules that the reference shows whole, and all objects it shows."""
    modules, objects = set(), []
    for path in sorted((ROOT / "docs" / "api").glob("*.md")):
        current = "bayesgrove"
        for kind, name in re.findall(r"^\.\. (\w+):: ([\w.]+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            if kind == "currentmodule":
                current = name
            elif kind == "automodule":
                modules.add(name)
                module = importlib.import_module(name)
                objects += [getattr(module, member) for member in getattr(module, "__all__", vars(module))]
            elif kind in ("autoclass", "autofunction"):
                place, _, last = name.rpartition(".")
                objects.append(getattr(importlib.import_module(place or current), last))
    return modules, objects


def test_every_public_name_is_in_the_reference():
    modules, objects = documented()
    for name in bg.__all__:
        assert f"bayesgrove.{name}" in modules or any(getattr(bg, name) is known for known in objects), name
    kinds = [kind for kind in vars(exhibits).values() if inspect.isclass(kind) and issubclass(kind, exhibits.Exhibit)]
    for kind in (Result, Diagnostics, *kinds):
        assert any(kind is known for known in objects), kind


def test_the_fields_of_a_report_are_described():
    tree = bg.Tree.from_merges([[0, 1]], log_merge_odds=[1.0])
    result = Result("ByHand", tree.cut(), tree, None, None, (), {})
    lines = read("docs/report-data.md").split("| field | content |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    described = [name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(described) == sorted(report_document(result))


def test_pictures_are_small_and_used():
    text = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    for picture in (ROOT / "docs" / "images").iterdir():
        most = LARGEST_SCREENSHOT if picture.name.startswith("report-") else LARGEST_PICTURE
        assert picture.stat().st_size < most, picture.name
        assert f"images/{picture.name}" in text, picture.name


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


MODULE_GROUPS = sorted(
    path.parent.relative_to(ROOT / "src" / "bayesgrove").as_posix()
    for path in (ROOT / "src" / "bayesgrove").glob("*/**/__init__.py")
)
NOT_GROUPS = {"models"}
"""A folder of groups, and one that is described as the package `papers`."""


@pytest.mark.parametrize("folder", [folder for folder in MODULE_GROUPS if folder not in NOT_GROUPS])
def test_the_architecture_has_a_line_for_every_module_group(folder):
    lines = read("docs/architecture.md").splitlines()
    assert sum(line.startswith(f"| `{folder}/` |") for line in lines) == 1


DECISIONS = sorted((ROOT / "docs" / "adr").glob("0*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_every_decision_has_a_number_a_date_a_status_and_an_entry_in_the_index(path):
    title, _, state = path.read_text(encoding="utf-8").splitlines()[:3]
    assert title.startswith(f"# {int(path.stem[:4])}. ")
    assert re.fullmatch(r"Date: \d{4}-\d\d-\d\d\. Status: (accepted|superseded by decision \d+)(, .*)?\.", state)
    assert f"\n{path.stem}\n" in read("docs/adr/index.md")


def test_commands_and_models_are_documented():
    text = read("docs/command-line.md")
    for command in app.registered_commands:
        assert f"\nbayesgrove {command.name or command.callback.__name__}" in text
    for model in MODELS:
        assert f"`{model}`" in text


@pytest.mark.parametrize("name", ["numba", "numpy", "scikit-learn"])
def test_the_table_of_tested_versions_agrees_with_the_bounds(name):
    row = next(line for line in read("docs/stability.md").splitlines() if line.startswith(f"| {name} |"))
    tested, allowed = (cell.strip() for cell in row.split("|")[2:4])
    required = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    bounds = next(each.removeprefix(name) for each in required if re.match(rf"{name}[<>=]", each))
    lowest, _, highest = bounds.partition(",")
    assert allowed == f"{lowest.removeprefix('>=')} or later" + (f", before {highest[1:]}" if highest else "")
    if highest:
        major, minor = (int(part) for part in tested.split(".")[:2])
        assert highest == f"<{major}.{minor + 1}"


def test_hooks_run_the_commands_of_make_check():
    recipe = read("Makefile").partition("\ncheck: ")[2].partition("\n\n")[0]
    commands = [line.strip().removeprefix("$(BIN)/").removesuffix(" .") for line in recipe.splitlines()[1:]]
    entries = re.findall(r"entry: \.venv/bin/(.*)", read(".pre-commit-config.yaml"))
    assert [entry.removesuffix(" --force-exclude") for entry in entries] == commands


def test_papers_name_the_version():
    assert f"version: {bg.__version__}\n" in read("CITATION.cff")
    assert f"version = {{{bg.__version__}}}" in read("docs/citation.md")
    assert f"\n## {bg.__version__} " in read("CHANGELOG.md")
