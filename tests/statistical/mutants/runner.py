"""Planted errors as data, and what runs them: each must make a named test of the real suite fail.

A mutant replaces one text of one file in a copy of the package; the named test then runs on the copy in a process of
its own, as plain Python (NUMBA_DISABLE_JIT), so that nothing is compiled. These processes are copies of one that has
imported what takes longer than most tests.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import bayesgrove

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = Path(bayesgrove.__file__).resolve().parent
SCRIPT = """
import json, os, sys
import hypothesis, numba, pytest, scipy.optimize, scipy.stats

for line in sys.stdin:
    folder, output, arguments = json.loads(line)
    child = os.fork()
    if child == 0:
        for stream in (1, 2):
            os.dup2(os.open(output, os.O_CREAT | os.O_WRONLY | os.O_APPEND), stream)
        sys.path.insert(0, folder)
        code = pytest.main(arguments)
        sys.stdout.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
Run = Callable[[Path, Iterable[str], Iterable[str]], tuple[int, str]]
"""Exit code and output of tests of the suite, given the folder of a copy of the package and warnings to ignore."""
KILLED, SURVIVED, CRASHED = "killed", "survived", "crashed"
SKIPPED, EXCUSED, MISPLACED = "skipped", "excused", "misplaced"


class Mutant(NamedTuple):
    """A text of one file (there once), what takes its place, and the test that must notice, or why none can."""

    name: str
    file: str
    """Below the package."""
    old: str
    new: str
    test: str = ""
    """Node id from the project's root."""
    reason: str = ""
    """Why no test can notice, such as "equal by symmetry"; given instead of a test."""


class Family(NamedTuple):
    """The mutants of one family of models, and what their tests need."""

    name: str
    mutants: tuple[Mutant, ...]
    needs: tuple[str, ...] = ()
    """Shared files without which the tests that must notice would be skipped."""
    ignored_warnings: tuple[str, ...] = ()
    """For pytest's -W: what plain Python warns of and compiled code does not."""
    whole_files: tuple[str, ...] = ()
    """Tests that need plain Python, so that only the run without a mutation makes all of them."""

    @property
    def unmutated_tests(self) -> list[str]:
        """What must pass on the package as it is."""
        return [*(test for test in self.tests if test.partition("::")[0] not in self.whole_files), *self.whole_files]

    @property
    def tests(self) -> list[str]:
        """Every test that kills a mutant, once."""
        return sorted({mutant.test for mutant in self.mutants if mutant.test})


class Outcome(NamedTuple):
    """What became of a mutant, and what pytest wrote."""

    verdict: str
    """KILLED (the test compared and failed), SURVIVED, CRASHED (it failed otherwise, or did not run), SKIPPED (the test
    was), EXCUSED (there is a reason and no test) or MISPLACED (the text does not stand in the file just once)."""
    output: str


def copy_package(folder: Path) -> Path:
    """Copy the package into `folder`, to be imported from there."""
    shutil.copytree(PACKAGE, folder / "bayesgrove", ignore=shutil.ignore_patterns("*.nb?", "__pycache__"))
    return folder


@contextlib.contextmanager
def plain_python() -> Iterator[Run]:
    """A process without compiler that makes a copy of itself for each run of tests; gives what asks for one."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("PYTHONPATH", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=PROJECT, env=environment, **pipes) as process:

        def run(folder: Path, tests: Iterable[str], ignored_warnings: Iterable[str] = ()) -> tuple[int, str]:
            output = folder / "output.txt"
            ignored = [argument for warning in ignored_warnings for argument in ("-W", warning)]
            arguments = ["-q", "--tb=short", "-p", "no:cacheprovider", *ignored, *tests]
            process.stdin.write(json.dumps([str(folder), str(output), arguments]) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline()), output.read_text()

        yield run
        process.stdin.close()


def plant(folder: Path, mutant: Mutant) -> str:
    """Replace the mutant's text in the copy; what is wrong with its place, or nothing."""
    path = folder / "bayesgrove" / mutant.file
    source = path.read_text() if path.exists() else ""
    if source.count(mutant.old) != 1:
        return f"the text to replace stands {source.count(mutant.old)} times in {mutant.file}"
    path.write_text(source.replace(mutant.old, mutant.new))
    return ""


def judge(returncode: int, output: str) -> str:
    """The verdict on a mutant from what pytest said of its one test."""
    if returncode == 0:
        return SKIPPED if re.search(r"\b1 skipped\b", output) else SURVIVED
    compared = "AssertionError" in output or "E   assert" in output
    return KILLED if returncode == 1 and re.search(r"\b1 failed\b", output) and compared else CRASHED


def try_mutant(run: Run, folder: Path, family: Family, mutant: Mutant) -> Outcome:
    """Plant a mutant in a fresh copy of the package in `folder` and run the test that must notice."""
    if bool(mutant.test) == bool(mutant.reason):
        raise ValueError(f"a mutant has either a test or a reason why there is none: {mutant.name}")
    misplaced = plant(copy_package(folder), mutant)
    if misplaced:
        return Outcome(MISPLACED, misplaced)
    if mutant.reason:
        return Outcome(EXCUSED, mutant.reason)
    returncode, output = run(folder, [mutant.test], family.ignored_warnings)
    return Outcome(judge(returncode, output), output)
