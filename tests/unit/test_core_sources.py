"""The stamp of a module changes with what its code may depend on, and with nothing else."""

import json
import math
import os
import sys
import time
from pathlib import Path

import pytest

from bayesgrove.core.jit import PACKAGE_FOLDER
from bayesgrove.core.source_facts import ANYTHING, read_facts
from bayesgrove.core.sources import MEMO_NAME, Sources

pytestmark = pytest.mark.unit

PACKAGE = {
    "__init__": "def __getattr__(name): ...",
    "caller": "from tiny.inner import helper\nfrom tiny.contract import add\ndef f(): return helper.g() + add()",
    "contract": "@generic\ndef add(prior): 'To be registered.'",
    "again": "from tiny.contract import add",
    "poisson": "from tiny import contract\nfrom tiny.sums import s\n@contract.add.register(P)\ndef add_poisson(p): s()",
    "normal": "from tiny.again import add as plus\nplus.register(N)(body)",
    "other": "@generic\ndef remove(prior): pass\n@remove.register(N)\ndef remove_normal(p): pass",
    "sums": "def s():\n    'Docstring.'\n    return 1.0  # a comment",
    "lazy": "def f():\n    from .sums import s\n    return s()",
    "inner/__init__": "from tiny.sums import s",
    "inner/helper": "from . import deep\ndef g(): return deep.h()",
    "inner/deep": "x: int = 0\n'''What x is.'''\ndef h(): return x",
    "plot": "import tiny.inner.deep",
}


class Tiny:
    """A package written to disk, one text per module."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tiny"
        for name, text in PACKAGE.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def path(self, name: str) -> Path:
        return (self.folder / f"{name}.py").resolve()

    def stamp(self, name: str) -> str:
        """Stamp of a module as a new process would find it."""
        return Sources(self.folder, started=math.inf).stamp("unused", self.path(name), self.folder.parent)

    def closure(self, name: str, module: str = "") -> set[str]:
        sources = Sources(self.folder)
        path = self.path(name)
        found = sources.closure(sources.module_at(path) or module, path)
        return {each.removeprefix("tiny.") for each, _ in found}


@pytest.fixture
def tiny(tmp_path):
    return Tiny(tmp_path)


def test_imports_are_followed_to_the_end_and_bodies_belong_to_their_generic_function(tiny):
    assert tiny.closure("caller") == {
        "caller",
        "inner.helper",
        "inner.deep",
        "contract",
        "poisson",  # registers contract.add
        "sums",  # imported by poisson
        "normal",  # registers it under another name, through a module that hands it on
        "again",
    }


def test_imports_within_functions_and_relative_ones_count(tiny):
    assert tiny.closure("lazy") == {"lazy", "sums"}


def test_a_name_of_a_package_leads_to_the_file_of_the_package(tiny):
    tiny.write("user", "from tiny.inner import s")
    assert tiny.closure("user") == {"user", "inner", "sums"}


@pytest.mark.parametrize(
    "text", ["import tiny", "import tiny as t", "import tiny.sums", "from tiny import Lazy", "from tiny import *"]
)
def test_what_may_be_any_module_counts_as_all(tiny, text):
    tiny.write("user", text)
    everything = {each.replace("/", ".").removesuffix(".__init__") for each in PACKAGE} - {"__init__"}
    assert tiny.closure("user") == {*everything, "tiny", "user"}


@pytest.mark.parametrize(
    "text",
    [
        "for generic in ():\n    generic.register(int)",
        "import numba\n@numba.extending.overload(len)\ndef length(x): pass",
        "functions[0].register(int)",
        "this is not Python: register",
        pytest.param("register" + 10_000 * "(" + 10_000 * ")", id="too deep to parse"),
    ],
)
def test_a_body_for_an_unknown_function_belongs_to_every_module(tiny, text):
    tiny.write("unknown", text)
    assert "unknown" in tiny.closure("sums")


@pytest.mark.parametrize(
    ("edited", "text"),
    [
        ("sums", "def s():\n    '''Another\n    docstring.'''\n\n    # moved down\n    return 1.0"),
        ("inner/deep", "x: int = 0\n'''What else x is.'''\n\n\ndef h(): return x  # soon"),
        ("other", "def remove(prior): return 17"),
        ("plot", "import tiny.inner.deep as d\nprint(d)"),
        ("inner/__init__", ""),
    ],
)
def test_docstrings_comments_and_unrelated_modules_do_not_change_a_stamp(tiny, edited, text):
    before = tiny.stamp("caller")
    tiny.write(edited, text)
    assert tiny.stamp("caller") == before


@pytest.mark.parametrize("edited", ["caller", "inner/helper", "inner/deep", "contract", "poisson", "sums", "normal"])
def test_code_that_a_module_depends_on_changes_its_stamp(tiny, edited):
    before = tiny.stamp("caller")
    tiny.write(edited, PACKAGE[edited] + "\ny = 1")
    assert tiny.stamp("caller") != before


def test_a_new_body_in_a_new_file_changes_the_stamp(tiny):
    before = tiny.stamp("caller")
    tiny.write("gamma", "from tiny.contract import add\n@add.register(G)\ndef add_gamma(p): pass")
    assert tiny.stamp("caller") != before


def test_a_file_outside_the_package_depends_on_what_it_imports(tiny, monkeypatch):
    for name, text in {
        "user": "import numpy as np\nfrom helpers import h",
        "helpers": "from tiny.lazy import f",
    }.items():
        (tiny.folder.parent / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tiny.folder.parent)
    monkeypatch.setitem(sys.modules, "helpers", type(sys)("helpers"))
    sys.modules["helpers"].__file__ = str(tiny.folder.parent / "helpers.py")
    assert tiny.closure("../user", "user") == {"user", "helpers", "lazy", "sums"}


@pytest.mark.parametrize("text", ["not Python at all", None])
def test_a_file_outside_that_cannot_be_read_depends_on_everything(tiny, text):
    if text is not None:
        (tiny.folder.parent / "user.py").write_text(text)
    assert tiny.closure("../user", "user") > tiny.closure("caller")


def test_facts_are_stored_by_content_and_used_again(tiny, monkeypatch):
    before = tiny.stamp("caller")
    assert (tiny.folder.parent / MEMO_NAME).exists()
    parsed = []
    monkeypatch.setattr("bayesgrove.core.sources.read_facts", lambda text: parsed.append(text) or read_facts(text))
    assert tiny.stamp("caller") == before
    tiny.write("sums", "def s(): return 2.0")
    assert tiny.stamp("caller") != before
    assert parsed == [b"def s(): return 2.0"]


def test_facts_are_forgotten_when_there_are_too_many(tiny, monkeypatch):
    tiny.stamp("caller")
    stored = tiny.folder.parent / MEMO_NAME
    n_stored = len(json.loads(stored.read_text()))
    monkeypatch.setattr("bayesgrove.core.sources.MOST_FACTS", n_stored - 1)
    tiny.stamp("sums")
    assert len(json.loads(stored.read_text())) < n_stored


def test_a_folder_that_cannot_be_written_to_costs_only_time(tiny):
    sources = Sources(tiny.folder, started=math.inf)
    assert sources.stamp("", tiny.path("caller"), tiny.folder / "missing") == tiny.stamp("caller")


@pytest.mark.parametrize(
    ("edited", "age", "is_stamped"),
    [("sums", 50, False), ("sums", 200, True), ("sums", -50, True), ("other", 50, True)],
    ids=["edited since", "edited before", "by a wrong clock", "unrelated"],
)
def test_files_edited_since_they_were_imported_give_no_stamp(tiny, edited, age, is_stamped):
    """The kernel would be compiled from what was imported and stored under the stamp of what stands there now."""
    now = time.time()
    for path in tiny.folder.rglob("*.py"):
        os.utime(path, (now - 1000, now - 1000))
    os.utime(tiny.path(edited), (now - age, now - age))
    sources = Sources(tiny.folder, started=now - 100)
    assert (sources.stamp("", tiny.path("caller"), tiny.folder.parent) is not None) == is_stamped


def test_a_link_to_nothing_is_no_module(tiny):
    """Editors leave such links beside files that are being edited."""
    (tiny.folder / ".#sums.py").symlink_to("somebody@somewhere")
    assert tiny.stamp("caller")


def test_repeated_names_are_found_whatever_their_case():
    text = b"if a:\n    def f(): pass\nelse:\n    def F(): pass\nclass C:\n    def g(): pass\ndef g(): pass"
    assert read_facts(text).repeated == ("f",)


def test_kernels_of_the_package_depend_on_their_likelihoods_but_not_on_other_families():
    sources = Sources(PACKAGE_FOLDER)
    path = PACKAGE_FOLDER / "models" / "nrm" / "gibbs.py"
    found = {name for name, _ in sources.closure("bayesgrove.models.nrm.gibbs", path)}
    assert {"bayesgrove.likelihoods.poisson", "bayesgrove.scoring.count_lanes", "bayesgrove.core.jit"} <= found
    assert not {name for name in found if name.startswith(("bayesgrove.models.cross", "bayesgrove.estimators"))}


def test_every_registered_body_of_the_package_is_resolved():
    """Otherwise the stamp would be right but depend on too much; `generic` and `coded` overload what they are given.

    `compilation` registers a listener of numba's events, no body.
    """
    unresolved = {name for name, _, owners in Sources(PACKAGE_FOLDER)._registrants if ANYTHING in owners}
    assert unresolved == {f"bayesgrove.core.{name}" for name in ("coded", "compilation", "generic")}
