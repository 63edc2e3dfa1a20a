"""Text that users read is free of phrases that the style guide bans: pages, docstrings, help, errors, the report."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
import typer

import bayesgrove as bg
from bayesgrove.cli.main import app

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[2]
BANNED = {
    r"(?<!power )\blaws?\b": "distribution",
    r"hyper-parameter": "hyperparameter",
    r"(likelihood|prior)'s numbers": "hyperparameters",
    r"\bto the (same|last) bits?\b|\bthe same bits\b": "bit-identical, bit-for-bit",
    r"\bgo(es)? on to the\b.*\bbit": "resumes bit-for-bit",
    r"\b([Ff]its|[Cc]hains) at a time\b": "number of ... to run in parallel",
    r"\bOf (all )?models of\b": "For ... models",
    r"\btogether [.<>]": "merge probability",
    r"left out, and said|what is missing is left out": "skipped with a message",
    r"\bis no bayesgrove\b|\bno bayesgrove run\b": "is not a bayesgrove run",
    r"\bkeeps? (it|them) in mind\b": "stores",
    r"\bNumbers of the prior\b": "hyperparameters",
}
"""What is banned, and what to write instead."""
CODE = re.compile(r"```.*?```|`[^`\n]*`|^>>> .*$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
MODULES = ("datasets", "impute", "likelihoods", "metrics", "outliers", "plot", "sc", "topics", "trees")


def pages() -> dict[str, str]:
    """The README and the site, without records of decisions, which are history."""
    made = {"_build", "gallery", "adr"}
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in found if not made & set(path.parts)}


def docstrings() -> dict[str, str]:
    """Of all public classes, their public methods and properties, and functions."""
    holders = [bg, *(importlib.import_module(f"bayesgrove.{name}") for name in MODULES)]
    found = {}
    for holder in holders:
        for name in holder.__all__:
            thing = getattr(holder, name)
            where = f"{holder.__name__}.{name}"
            found[where] = inspect.getdoc(thing) or ""
            if inspect.isclass(thing):
                found |= {
                    f"{where}.{part}": inspect.getdoc(getattr(thing, part)) or ""
                    for part in dir(thing)
                    if not part.startswith("_") and "sklearn" not in str(getattr(thing, part, ""))
                }
    return found


def help_texts() -> dict[str, str]:
    """Of every command and its options."""
    root = typer.main.get_command(app)
    found = {}
    for name, command in root.commands.items():
        found[f"bayesgrove {name}"] = " ".join(
            [command.help or "", command.short_help or "", *(getattr(own, "help", "") or "" for own in command.params)]
        )
    return found


def messages() -> dict[str, str]:
    """Texts of errors that are raised, of log lines, and of what the command line prints."""
    found = {}
    for path in sorted((ROOT / "src" / "bayesgrove").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.Call) and is_said(node))
        texts = [
            part.value
            for call in calls
            for part in ast.walk(call)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        found[path.relative_to(ROOT).as_posix()] = "\n".join(texts)
    return found


def is_said(node: ast.AST) -> bool:
    """Whether users see the texts of a statement."""
    if isinstance(node, ast.Raise):
        return True
    name = getattr(node.func, "attr", "")
    return name in {"print", "warning", "info", "warn"}


def report_texts() -> dict[str, str]:
    """The report's page and scripts, without comments."""
    found = {}
    for path in sorted((ROOT / "src" / "bayesgrove" / "report" / "assets").iterdir()):
        if path.suffix in (".js", ".html") and "d3" not in path.name:
            found[path.name] = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text("utf-8"), flags=re.DOTALL)
    return found


@pytest.mark.parametrize("source", [pages, docstrings, help_texts, messages, report_texts])
def test_no_banned_phrase_is_left(source):
    texts = source()
    assert texts
    found = [
        f"{where}: {match[0]!r} (write: {instead})"
        for where, text in texts.items()
        for phrase, instead in BANNED.items()
        for match in re.finditer(phrase, CODE.sub(" ", text))
    ]
    assert not found, "\n".join(found)


def test_a_banned_phrase_is_found():
    assert any(re.search(phrase, "It has the same law.") for phrase in BANNED)
    assert not any(re.search(phrase, CODE.sub(" ", "a power law, `exact_partition_law`")) for phrase in BANNED)
