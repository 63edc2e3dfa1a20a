"""Every planted error of Bayesian hierarchical clustering is noticed by the test named for it."""

import pytest

from conftest import find_shared_file
from statistical.mutants.bhc import FAMILY
from statistical.mutants.runner import EXCUSED, KILLED, copy_package, run_tests, try_mutant

pytestmark = pytest.mark.exact


@pytest.fixture(autouse=True)
def _needed():
    for name in FAMILY.needs:
        find_shared_file(name)


def test_without_a_mutation_all_pass(tmp_path):
    returncode, output = run_tests(copy_package(tmp_path), FAMILY.tests, FAMILY.ignored_warnings)
    assert returncode == 0, output
    assert f"{len(FAMILY.tests)} passed" in output  # none was skipped


@pytest.mark.parametrize("mutant", FAMILY.mutants, ids=lambda mutant: mutant.name)
def test_mutants_are_killed(tmp_path, mutant):
    outcome = try_mutant(tmp_path, FAMILY, mutant)
    assert outcome.verdict == (KILLED if mutant.test else EXCUSED), outcome.output
