"""Every planted error of the sampler of nested hierarchies is noticed by the test named for it."""

import pytest

from statistical.mutants.nested import FAMILY
from statistical.mutants.runner import EXCUSED, KILLED, copy_package, run_tests, try_mutant

pytestmark = pytest.mark.exact
N_FAST = 2
"""So many of the mutants are tried in the fast suite, 4 s each; all of them by `make test-slow`."""
MUTANTS = [
    pytest.param(mutant, marks=() if place < N_FAST else pytest.mark.slow, id=mutant.name)
    for place, mutant in enumerate(FAMILY.mutants)
]


def test_without_a_mutation_all_pass(tmp_path):
    """All of the exact test of the sources, which needs plain Python."""
    returncode, output = run_tests(copy_package(tmp_path), ["tests/exact/test_nested_sources.py"])
    assert returncode == 0, output
    assert "skipped" not in output


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_killed(tmp_path, mutant):
    outcome = try_mutant(tmp_path, FAMILY, mutant)
    assert outcome.verdict == (KILLED if mutant.test else EXCUSED), outcome.output
