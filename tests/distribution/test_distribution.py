"""The wheel and the sdist: what is in them, that both give the same, and that they work where nothing else is.

Under the interpreter of the tests and every other `python3.11` to `python3.13` that is found and runs.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest

from unit.test_architecture import MACHINE_PATH, PACKAGE, ROOT

pytestmark = pytest.mark.slow

VERSIONS = ("3.11", "3.12", "3.13")
SMOKE = ROOT / "tests" / "reference" / "installed.py"
SELECTED = (
    "tests/unit/test_io_tables.py",
    "tests/unit/test_io_model_file.py",
    "tests/unit/test_io_record_log.py",
    "tests/unit/test_tree_readers.py",
    "tests/unit/test_tree_readers_files.py",
    "tests/unit/test_trees_table.py",
    "tests/unit/test_trees_text.py",
    "tests/unit/test_core_errors.py",
    "tests/unit/test_core_jit.py",
    "tests/unit/test_found_by_fuzzing.py",
    "tests/cli/test_commands.py",
)
"""Readers, files, trees and commands: what depends on Python itself and compiles little."""
TOOLS = ("pytest", "hypothesis", "mpmath", "networkx")


def run(*words, **options):
    """A command that has to succeed; what it said is shown where it does not."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def interpreter(version):
    """An interpreter of a version on the path; one that is found but does not run is none."""
    if sys.version.startswith(f"{version}."):
        return sys.executable
    found = shutil.which(f"python{version}")
    if found is not None and subprocess.run([found, "--version"], capture_output=True).returncode == 0:
        return found
    pytest.skip(f"no python{version} on the path")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist with the wheel made from it, and the wheel made from the source tree."""
    pytest.importorskip("build", reason="building needs the package build: pip install 'bayesgrove[test]'")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder / "both", ROOT)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "direct", ROOT)
    (sdist,), (wheel,), (direct,) = (
        list((folder / place).glob(pattern))
        for place, pattern in (("both", "*.tar.gz"), ("both", "*.whl"), ("direct", "*.whl"))
    )
    return sdist, wheel, direct


def wheel_files(path):
    """Contents by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sdist_files(path):
    """Contents by name below the one folder."""
    with tarfile.open(path) as archive:
        members = [member for member in archive if member.isfile()]
        return {member.name.split("/", 1)[1]: archive.extractfile(member).read() for member in members}


def package_files():
    """All that is in the package's folder but what Python and numba left there."""
    paths = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(PACKAGE.parent).as_posix() for path in paths}


def test_the_wheel_holds_the_package_and_nothing_else(built):
    files = wheel_files(built[1])
    about = {name for name in files if name.split("/")[0].endswith(".dist-info")}
    assert set(files) - about == package_files()
    assert {"bayesgrove/py.typed", "bayesgrove/report/assets/d3.min.js"} <= set(files)
    assert b"Permission to use, copy, modify" in files["bayesgrove/report/assets/d3-LICENSE.txt"]
    licences = [name for name in about if "LICENSE" in name]
    assert [files[name] for name in licences] == [(ROOT / "LICENSE").read_bytes()]
    assert any(name.endswith("entry_points.txt") for name in about)


def test_the_sdist_gives_the_same_wheel(built):
    """Bit for bit, so that anyone can build the published wheel again."""
    sdist, wheel, direct = built
    assert wheel.read_bytes() == direct.read_bytes()
    names = set(sdist_files(sdist))
    assert {f"src/{name}" for name in package_files()} <= names
    assert {"LICENSE", "README.md", "pyproject.toml", "CHANGELOG.md"} <= names
    left_out = ("tests/", "benchmarks/", "docs/", "fuzzing/", "papers/", "posteriors/")
    assert not [name for name in names if name.startswith(left_out)]


def test_no_file_names_a_place_on_one_machine(built):
    contents = {**wheel_files(built[1]), **sdist_files(built[0])}
    texts = {name: content.decode("utf-8") for name, content in contents.items()}
    assert [name for name, text in texts.items() if MACHINE_PATH.search(text)] == []


def environment(folder, version, *wanted):
    """The interpreter of a new environment that holds some packages and what they depend on."""
    run(interpreter(version), "-m", "venv", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    return python


@pytest.fixture(scope="module", params=VERSIONS)
def installed(request, built, tmp_path_factory):
    """The interpreter of a new environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp(f"python-{request.param}")
    return request.param, environment(folder, request.param, f"{built[1]}[plot,tables]")


def outside():
    """An environment that does not lead back to the source tree."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BAYESGROVE"))}


def test_the_installed_package_works(installed, tmp_path):
    version, python = installed
    said = json.loads(run(python, SMOKE, cwd=tmp_path, env=outside()))
    assert said["python"].startswith(f"{version}.")


DRAW = """
import bayesgrove as bg
model = bg.BHC(likelihood="gaussian").fit([[0.0], [0.1], [5.0], [5.1]])
model.tree_.plot().figure.savefig("tree.png")
"""


def test_the_extra_for_plots_is_enough_to_draw(built, tmp_path):
    """Without pandas and all other extras."""
    python = environment(tmp_path / "new", "3.11", f"{built[1]}[plot]")
    run(python, "-c", DRAW, cwd=tmp_path, env=outside())
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def oldest(*extras):
    """The lowest versions that the project says it works with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(each for name in extras for each in project["optional-dependencies"][name])]
    return [f"{each.partition(',')[0].replace('>=', '==')}.*" for each in wanted]


def test_the_oldest_dependencies_will_do(built, tmp_path):
    """The first releases that the lower bounds admit, under the oldest Python."""
    python = environment(tmp_path / "old", VERSIONS[0], built[1], *oldest("plot", "tables"))
    said = json.loads(run(python, SMOKE, cwd=tmp_path, env=outside()))
    assert said["python"].startswith(f"{VERSIONS[0]}.")


def test_selected_tests_pass(installed, tmp_path):
    """The tests import the installed package, since the source tree is not on the path."""
    _, python = installed
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS)
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    settings = ("-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path)
    chosen = [tmp_path / name for name in SELECTED]
    paths = os.pathsep.join(str(tmp_path / "tests" / name) for name in ("", "cli"))
    said = run(python, "-m", "pytest", *settings, *chosen, cwd=tmp_path, env={**outside(), "PYTHONPATH": paths})
    assert " passed" in said
