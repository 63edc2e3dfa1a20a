"""Every planted error is noticed by the test named for it."""

import pytest

from conftest import find_shared_file
from statistical.mutants.families import FAMILIES
from statistical.mutants.runner import EXCUSED, KILLED, copy_package, plain_python, try_mutant

pytestmark = pytest.mark.exact
N_FAST = 2
"""So many mutants of each family are tried in the fast suite, seconds each; all of them by `make test-slow`."""
MUTANTS = [
    pytest.param(family, mutant, marks=() if place < N_FAST else pytest.mark.slow, id=f"{name}-{mutant.name}")
    for name, family in FAMILIES.items()
    for place, mutant in enumerate(family.mutants)
]


@pytest.fixture(scope="module")
def run():
    with plain_python() as found:
        yield found


def find_needed(family):
    for name in family.needs:
        find_shared_file(name)


LONG_FAMILIES = {"nrm", "cross", "nested", "trees"}
"""Whose tests take long without a mutation: left to `make test-slow`."""


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, id=name, marks=[pytest.mark.slow] if name in LONG_FAMILIES else [])
        for name, family in FAMILIES.items()
    ],
)
def test_without_a_mutation_all_pass(run, tmp_path, family):
    """Also all of the exact tests of the sources, which need plain Python."""
    find_needed(family)
    returncode, output = run(copy_package(tmp_path), family.unmutated_tests, family.ignored_warnings)
    assert returncode == 0, output
    assert "skipped" not in output


@pytest.mark.parametrize(("family", "mutant"), MUTANTS)
def test_mutants_are_killed(run, tmp_path, family, mutant):
    find_needed(family)
    outcome = try_mutant(run, tmp_path, family, mutant)
    assert outcome.verdict == (KILLED if mutant.test else EXCUSED), outcome.output
