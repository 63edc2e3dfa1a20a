"""Every planted error of the sampler of nested hierarchies is noticed by the test named for it."""

import pytest

from statistical.mutants.nested import FAMILY
from statistical.mutants.runner import EXCUSED, KILLED, copy_package, run_tests, try_mutant

pytestmark = pytest.mark.exact


def test_without_a_mutation_all_pass(tmp_path):
    """All of the exact test of the sources, which needs plain Python."""
    returncode, output = run_tests(copy_package(tmp_path), ["tests/exact/test_nested_sources.py"])
    assert returncode == 0, output
    assert "skipped" not in output


@pytest.mark.parametrize("mutant", FAMILY.mutants, ids=lambda mutant: mutant.name)
def test_mutants_are_killed(tmp_path, mutant):
    outcome = try_mutant(tmp_path, FAMILY, mutant)
    assert outcome.verdict == (KILLED if mutant.test else EXCUSED), outcome.output
