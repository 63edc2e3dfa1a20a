"""The public names: sorted, all there, documented with an example, and quick to import."""

import importlib
import inspect
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesgrove as bg
from bayesgrove.likelihoods.defaults import NAMED

pytestmark = pytest.mark.unit

PACKAGES = (
    "bayesgrove",
    "bayesgrove.datasets",
    "bayesgrove.likelihoods",
    "bayesgrove.metrics",
    "bayesgrove.plot",
    "bayesgrove.trees",
)
CLASSES = [name for name in bg.__all__ if name[0].isupper()]
LIKELIHOODS = sorted({kind.__name__ for kind in NAMED.values()} | {"Columns"})
HEAVY = ("numba", "sklearn", "pandas", "polars", "pyarrow", "scipy", "matplotlib", "dask")
MAX_IMPORT_CPU_SECONDS = 0.5
IMPORT = f"""
import json, sys, time
import bayesgrove
heavy = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps({{"heavy": heavy, "seconds": time.process_time()}}))
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_resolve(package):
    module = importlib.import_module(package)
    assert module.__all__ == sorted(set(module.__all__))
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_dir_shows_every_public_name():
    assert set(bg.__all__) <= set(dir(bg))


def test_an_unknown_name_is_refused_by_its_name():
    with pytest.raises(AttributeError, match="module 'bayesgrove' has no attribute 'BCH'"):
        bg.BCH  # noqa: B018


def sections(documentation: str) -> list[str]:
    """Titles of numpydoc sections, which are underlined."""
    lines = documentation.splitlines()
    return [title for title, line in itertools.pairwise(lines) if title and line == "-" * len(title)]


def check_documentation(kind: type) -> None:
    """A first line that says what it is, parameters, and an example that is run."""
    documentation = inspect.getdoc(kind)
    assert documentation
    assert documentation.splitlines()[0].endswith(".")
    titles = sections(documentation)
    assert {"Parameters", "Attributes"} & set(titles)
    assert "Examples" in titles
    assert ">>> " in documentation[documentation.index("Examples\n") :]


@pytest.mark.parametrize("name", CLASSES)
def test_a_public_class_is_documented_with_an_example(name):
    check_documentation(getattr(bg, name))


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_likelihood_is_documented_with_an_example(name):
    check_documentation(getattr(bg.likelihoods, name))


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_says_what_it_gives(name):
    kind = getattr(bg, name)
    for method, value in vars(kind).items():
        if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod | property)):
            assert inspect.getdoc(getattr(kind, method)), f"{name}.{method}"


def test_importing_the_package_loads_nothing_heavy_and_is_quick():
    settings = {"PYTHONPATH": str(Path(bg.__file__).resolve().parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["heavy"] == []
    assert found["seconds"] < MAX_IMPORT_CPU_SECONDS
