"""Likelihoods: those kept in files, and those made of numbers that a user gave."""

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bayesgrove.likelihoods import Columns, from_document, log_marginal, to_document
from bayesgrove.likelihoods.bind import bind
from bayesgrove.likelihoods.defaults import NAMED
from fuzzing.cases import Case, Target
from fuzzing.grammars import documents
from fuzzing.targets.values import ODD, decoded, encoded, with_changes

KINDS = ("document", "numbers")
ROWS, POSITIVE = [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 2.0], [1.0, 1.0]]
CLASSES = {kind.__name__: kind for kind in NAMED.values()}


def attempt(case: Case, folder: Path) -> None:
    """Read a likelihood back, or make one of its numbers and ask for a log marginal."""
    given = decoded(case.content)
    if case.kind == "document":
        again = to_document(from_document(given))
        if json.dumps(again) != json.dumps(to_document(from_document(again))):
            raise AssertionError("a likelihood does not survive its own document")
        return
    given = given if isinstance(given, dict) else {}
    kind = CLASSES.get(str(given.get("class")), CLASSES["GaussianDiagonal"])
    numbers = given.get("numbers")
    known = {field.name for field in fields(kind)}
    chosen = {name: value for name, value in (numbers if isinstance(numbers, dict) else {}).items() if name in known}
    value = log_marginal(kind(**chosen), given.get("rows", usual_rows(kind.__name__)))
    if value != value:
        raise AssertionError("a log marginal is no number")


def structured(kind: str) -> SearchStrategy[bytes]:
    """Documents with values replaced; classes with odd numbers."""
    if kind == "document":
        return st.one_of(with_changes(seeds(kind)), documents().map(encoded))
    cells = st.one_of(st.integers(0, 3), st.floats(-9, 9), st.floats(), st.none())
    rows = st.lists(st.lists(cells, min_size=2, max_size=2), max_size=4)
    names = sorted({field.name for likelihood in CLASSES.values() for field in fields(likelihood)})
    numbers = st.dictionaries(st.sampled_from(names), st.one_of(ODD, st.floats(0.1, 5)), max_size=3)
    return st.builds(
        lambda name, chosen, table: encoded({"class": name, "numbers": chosen, "rows": table}),
        st.sampled_from(sorted(CLASSES)),
        numbers,
        rows,
    )


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """One of each family."""
    if kind == "numbers":
        return [encoded({"class": name, "numbers": usual(name)}) for name in CLASSES]
    bound = [bind(CLASSES[name](**usual(name)), usual_rows(name)) for name in CLASSES]
    mixed = bind(Columns([CLASSES["Bernoulli"](), CLASSES["GaussianDiagonal"]()]), ROWS)
    return [encoded(to_document(found)) for found in (*bound, mixed)]


def usual_rows(name: str) -> list[list[float]]:
    """Rows that a likelihood describes."""
    return POSITIVE if name == "LogGaussian" else ROWS


def usual(name: str) -> dict[str, int]:
    """What a family should be told."""
    return {"n_trials": 3} if name == "Binomial" else {}


TARGET = Target("likelihoods", KINDS, structured, seeds, attempt)
