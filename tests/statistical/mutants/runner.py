"""Planted errors as data, and what runs them: each must make a named test of the real suite fail.

A mutant replaces one text of one file in a copy of the package; the named test then runs on the copy in a process of
its own, as plain Python (NUMBA_DISABLE_JIT), so that nothing is compiled.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import bayesgrove

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = Path(bayesgrove.__file__).resolve().parent
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


def run_tests(folder: Path, tests: Iterable[str], ignored_warnings: Iterable[str] = ()) -> tuple[int, str]:
    """Exit code and output of tests of the suite on the package in `folder`, as plain Python."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(folder)}
    environment.pop("PYTEST_ADDOPTS", None)
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # quicker to start
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    for warning in ignored_warnings:
        command += ["-W", warning]
    done = subprocess.run([*command, *tests], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


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


def try_mutant(folder: Path, family: Family, mutant: Mutant) -> Outcome:
    """Plant a mutant in a fresh copy of the package in `folder` and run the test that must notice."""
    if bool(mutant.test) == bool(mutant.reason):
        raise ValueError(f"a mutant has either a test or a reason why there is none: {mutant.name}")
    misplaced = plant(copy_package(folder), mutant)
    if misplaced:
        return Outcome(MISPLACED, misplaced)
    if mutant.reason:
        return Outcome(EXCUSED, mutant.reason)
    returncode, output = run_tests(folder, [mutant.test], family.ignored_warnings)
    return Outcome(judge(returncode, output), output)
