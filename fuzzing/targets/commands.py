"""Command lines: every command with odd words, in a folder of its own with real runs in it."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bayesgrove.cli.models import MODELS, model_class
from fuzzing.cases import Case, Target
from fuzzing.targets.places import RUNS, command, lay_out
from fuzzing.targets.values import MOST_WORK, WORK, decoded, encoded, harmless, inside

OPTIONS: dict[str, tuple[str, ...]] = {
    "fit": ("--out", "--set", "--index", "--drop", "--likelihood", "--seed", "--header", "--no-header", "--format",
            "--read", "-v", "--force"),
    "predict": ("-o", "--proba", "--force"),
    "impute": ("-o", "--level", "--force"),
    "export": ("--format", "-o", "--view", "--force"),
    "resume": ("--draws", "--data", "-v"),
    "status": (),
    "report": ("-o", "--title", "--force"),
    "watch": ("--host", "--port", "--no-browser"),
    "sweep": ("--out", "--grid", "--settings", "--set", "--repeats", "--metric", "--classes", "--index", "--drop",
              "--seed", "--header"),
    "demo": ("--out", "--force"),
    "doctor": (),
}  # fmt: skip
"""Those that start other processes (--jobs, --workers) or ask the network (--cluster) are left out."""
EXAMPLES: dict[str, list[list[str]]] = {
    "fit": [["bhc", "data.csv", "--out", "new", "--index", "id"], ["tree-hmm", "trees.nwk", "--out", "new"]],
    "predict": [["run", "data.csv", "--proba"], ["forest", "trees.nwk"]],
    "impute": [["views", "-o", "full.csv", "--level", "0.9"]],
    "export": [["run", "--format", "newick"], ["views", "--format", "newick", "--view", "columns"]],
    "resume": [["draws", "--draws", "4"]],
    "status": [["draws"], ["run"]],
    "report": [["run", "-o", "page.html"], ["draws", "-o", "page.html", "--title", "t"]],
    "watch": [["run", "--port", "0"]],
    "sweep": [["bhc", "data.csv", "--out", "new", "--grid", "concentration=0.5,1", "--index", "id"]],
    "demo": [],
    "doctor": [[]],
}
NUMBER = re.compile(r"\d+(\.\d*)?(e\d+)?")
NEVER = {"--jobs", "--workers", "--cluster", "--install-completion", "--show-completion"}


def attempt(case: Case, folder: Path) -> None:
    """Run the words, made harmless."""
    given = decoded(case.content)
    words = [str(word) for word in given] if isinstance(given, list) else []
    lay_out(folder)
    command([case.kind, *kept_in_place(case.kind, words)])


def kept_in_place(name: str, words: list[str]) -> list[str]:
    """Words that stay in the folder and ask for little work."""
    words = [inside(word) for word in words if word.split("=")[0] not in NEVER]
    words = [_little(before, word) for before, word in zip(["", *words], words, strict=False)]
    if name == "demo":
        words += ["--out", "data.csv"]  # a file, which is refused: the demonstration itself takes long
    return [*words, *_short_chains(name, words)]


def _little(before: str, word: str) -> str:
    """A word without a demand for much work."""
    if before in ("--draws", "--repeats") and NUMBER.fullmatch(word):
        return str(MOST_WORK)
    key, equals, value = word.partition("=")
    if equals and key.strip() in WORK:
        return f"{key}={','.join(str(MOST_WORK) if NUMBER.fullmatch(v.strip()) else v for v in value.split(','))}"
    return "n_jobs=1" if equals and key.strip() == "n_jobs" else word


def _short_chains(name: str, words: list[str]) -> list[str]:
    """Settings that shorten the fit of the model named first, unless they are given."""
    if name not in ("fit", "sweep") or not words or words[0] not in MODELS:
        return []
    known = model_class(words[0])().get_params(deep=False)
    short = {"n_chains": 1, "n_tune": 2, "n_draws": 3, "n_init": 1, "max_iter": 2, "n_starts": 1, "n_jobs": 1}
    given = {word.split("=")[0].strip() for word in words}
    wanted = {key: value for key, value in short.items() if key in known and key not in given}
    wanted.pop("n_jobs", None) if name == "sweep" else None
    return [word for key, value in harmless(wanted).items() for word in ("--set", f"{key}={value}")]


def structured(kind: str) -> SearchStrategy[bytes]:
    """Arguments, then options with values that they may or may not take."""
    places = st.sampled_from([*RUNS, "data.csv", "trees.nwk", "nothing", "", "new", "data.csv/x", "\x00", "é" * 300])
    models = st.sampled_from([*MODELS, "none"])
    first = st.one_of(models, models, places) if kind in ("fit", "sweep") else places
    words = st.one_of(places, st.sampled_from(WORDS.split()), st.text(max_size=5), st.integers(-2, 99).map(str))
    option = st.one_of(*(st.sampled_from(OPTIONS[kind]),) * bool(OPTIONS[kind]), st.sampled_from(["--help", "--none"]))
    pair: SearchStrategy[Any] = st.one_of(st.tuples(option, words), st.tuples(option))
    usual = st.sampled_from(EXAMPLES[kind] or [[]])
    rest = st.lists(pair, max_size=4).map(lambda pairs: [word for found in pairs for word in found])
    free = st.builds(lambda a, b, more: [a, b, *more], first, places, rest)
    return st.one_of(free, st.builds(lambda words, more: [*words, *more], usual, rest)).map(encoded)


WORDS = """concentration=0.5 likelihood=poisson cut=map depth=2 n_states=2 a=1,2 = x n_draws=x 1e9 concentration=nan
id a b gaussian labels newick json netcdf linkage views columns -1 ari max_depth=2 max_children=1 max_label=x 127.0.0.1
localhost 999.0.0.1 70000 0.5 1.5 nan [1] {"a":1} random_state=-1 verbose=2 n_clusters=0"""


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Commands that have to succeed."""
    return [encoded(words) for words in EXAMPLES[kind]]


TARGET = Target("commands", tuple(OPTIONS), structured, seeds, attempt)
