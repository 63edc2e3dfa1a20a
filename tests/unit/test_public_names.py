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
    "bayesgrove.impute",
    "bayesgrove.likelihoods",
    "bayesgrove.metrics",
    "bayesgrove.outliers",
    "bayesgrove.plot",
    "bayesgrove.sc",
    "bayesgrove.topics",
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


def check_documentation(kind: object) -> None:
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


def test_the_likelihood_comes_first():
    parameters = {name: [*inspect.signature(getattr(bg, name)).parameters] for name in CLASSES}
    taking = {name for name, found in parameters.items() if "likelihood" in found and name != "Result"}
    assert {"BHC", "BHCC", "BHMC", "CrossCat", "NRMMixture", "RBHMC"} <= taking
    assert {name for name in taking if parameters[name][0] != "likelihood"} == set()


def test_importing_the_package_loads_nothing_heavy_and_is_quick():
    settings = {"PYTHONPATH": str(Path(bg.__file__).resolve().parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["heavy"] == []
    assert found["seconds"] < MAX_IMPORT_CPU_SECONDS


def documented_parameters(documentation: str) -> list[str] | None:
    """Names in the section Parameters of numpydoc; None without one."""
    lines = inspect.cleandoc(documentation).splitlines()
    if "Parameters" not in lines:
        return None
    body = lines[lines.index("Parameters") + 2 :]
    ends = [place for place, (title, line) in enumerate(itertools.pairwise(body)) if title and line == "-" * len(title)]
    entries = [line for line in body[: ends[0] if ends else None] if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for line in entries for name in line.split(" : ")[0].split(",")]


def public_callables() -> dict[str, object]:
    """Public functions, classes and their methods by name."""
    found: dict[str, object] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            kind = getattr(module, name)
            if callable(kind) and inspect.getmodule(kind).__name__.startswith("bayesgrove"):
                found[f"{package}.{name}"] = kind
            methods = inspect.getmembers(kind, inspect.isfunction) if inspect.isclass(kind) else []
            own = [(method, f) for method, f in methods if method[0] != "_" and f.__module__.startswith("bayesgrove")]
            found |= {f"{package}.{name}.{method}": function for method, function in own}
    return found


@pytest.mark.parametrize(
    ("name", "kind"), public_callables().items(), ids=lambda value: value if type(value) is str else ""
)
def test_documented_parameters_are_those_of_the_signature(name, kind):
    documented = documented_parameters(kind.__doc__ or "")
    if documented is None:  # one line says it all, or `Attributes` does
        return
    given = [key for key in inspect.signature(kind).parameters if key not in ("self", "cls")]
    assert set(documented) == set(given), name


def public_functions() -> dict[str, object]:
    """Public functions by name, without methods."""
    found = public_callables().items()
    return {name: kind for name, kind in found if inspect.isfunction(kind) and kind.__qualname__ == kind.__name__}


@pytest.mark.parametrize("name", public_functions())
def test_a_public_function_is_documented_with_an_example(name):
    check_documentation(public_functions()[name])


@pytest.mark.parametrize("name", [name for name in public_functions() if name.startswith("bayesgrove.plot.")])
def test_an_example_closes_its_figure(name):
    """Open figures of many examples are a warning of matplotlib, and so an error in whichever comes next."""
    examples = inspect.getdoc(public_functions()[name]).split("Examples\n")[1]
    assert examples.rstrip().endswith(">>> plt.close(ax.figure)")
