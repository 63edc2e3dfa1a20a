"""Report pages of results with hostile names and odd numbers."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import bayesgrove as bg
from bayesgrove.inference.result import Result
from bayesgrove.report.document import report_document
from bayesgrove.report.page import page_html
from fuzzing.cases import Case, Target
from fuzzing.grammars import WORDS
from fuzzing.targets.values import decoded, encoded

HOSTILE = ("</script>", "<!--", "<script>", "]]>", "{{", "${x}", "\u2028", "\x00", "\ud800", "'\"", "&lt;", "\\u003c")
SCRIPTS = re.compile(r"<script|</script", re.IGNORECASE)


def attempt(case: Case, folder: Path) -> None:
    """Make the page; no name may add to its scripts."""
    given = decoded(case.content)
    given = given if isinstance(given, dict) else {}
    page = page_html(report_document(result(given), title=_text(given.get("title"))))
    (folder / "page.html").write_text(page, encoding="utf-8")
    if len(SCRIPTS.findall(page)) != len(SCRIPTS.findall(page_html(report_document(result({}))))):
        raise AssertionError("a name added a script to the page")


def result(given: dict[str, Any]) -> Result:
    """A result of four rows in two clusters, as a model would hand it over."""
    odds = [_number(value) for value in _list(given.get("odds"), 3)]
    names = tuple(_text(value) or "" for value in _list(given.get("rows"), 4))
    tree = bg.Tree.from_merges([[0, 1], [2, 3], [4, 5]], log_merge_odds=odds, leaf_labels=names)
    columns = tuple(_text(value) or "" for value in _list(given.get("columns"), 2))
    settings = given.get("settings") if isinstance(given.get("settings"), dict) else {}
    provenance = {"model": _text(given.get("model")), "parameters": settings, "seed": given.get("seed")}
    evidence = None if given.get("evidence") is None else _number(given["evidence"])
    labels = np.array([0, 0, 1, 1])
    return Result(_text(given.get("model")) or "Model", labels, tree, evidence, None, columns, provenance, settings)


def _list(value: Any, n: int) -> list[Any]:
    found = list(value) if isinstance(value, list) else []
    return [*found, *([1] * n)][:n]


def _number(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.5
    return found


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def structured(kind: str) -> SearchStrategy[bytes]:
    """Names made to break out, numbers made to break."""
    words = st.one_of(st.sampled_from(HOSTILE), WORDS, st.builds(str.__add__, WORDS, st.sampled_from(HOSTILE)))
    numbers = st.one_of(st.floats(), st.integers(), st.none())
    return st.fixed_dictionaries(
        {},
        optional={
            "rows": st.lists(words, max_size=4),
            "columns": st.lists(words, max_size=2),
            "odds": st.lists(numbers, max_size=3),
            "title": words,
            "model": words,
            "evidence": numbers,
            "seed": st.one_of(numbers, words),
            "settings": st.dictionaries(words, st.one_of(numbers, words, st.lists(words, max_size=2)), max_size=3),
        },
    ).map(encoded)


def seeds(kind: str) -> Sequence[bytes]:
    """A plain result."""
    return [encoded({"rows": ["a", "b", "c", "d"], "columns": ["x", "y"], "odds": [1, 2, -1], "title": "t", "seed": 1})]


TARGET = Target("reports", ("result",), structured, seeds, attempt)
