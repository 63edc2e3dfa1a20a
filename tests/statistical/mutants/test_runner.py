"""The runner of mutants tells what became of each: itself checked on errors nobody can miss, or find."""

import pytest

from bayesgrove.core.constants import NULL
from statistical.mutants import runner
from statistical.mutants.__main__ import main
from statistical.mutants.families import FAMILIES
from statistical.mutants.runner import Family, Mutant

pytestmark = pytest.mark.exact
HERE = "tests/statistical/mutants/test_runner.py::"
LINE = f"NULL = {NULL}"
FAMILY = Family("toy", ())


@pytest.fixture(scope="module")
def run():
    with runner.plain_python() as found:
        yield found


def test_a_constant_that_mutants_change():
    assert NULL < 0


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"new": "NULL = 1"}, runner.KILLED),
        ({"new": "NULL = -2"}, runner.SURVIVED),
        ({"new": "NULL = "}, runner.CRASHED),
        ({"new": "NULL = None"}, runner.CRASHED),
        ({"old": "NULL = 77"}, runner.MISPLACED),
        ({"file": "core/nothing.py"}, runner.MISPLACED),
        ({"test": "", "reason": "equal by symmetry"}, runner.EXCUSED),
    ],
    ids=lambda value: str(value),
)
def test_verdicts(run, tmp_path, changes, verdict):
    mutant = Mutant("toy", "core/constants.py", LINE, LINE, HERE + "test_a_constant_that_mutants_change")
    outcome = runner.try_mutant(run, tmp_path, FAMILY, mutant._replace(**changes))
    assert outcome.verdict == verdict, outcome.output


def test_a_skipped_test_kills_nothing():
    assert runner.judge(0, "1 skipped in 0.1s") == runner.SKIPPED


@pytest.mark.parametrize(("test", "reason"), [("", ""), ("a test", "a reason")])
def test_a_mutant_has_a_test_or_a_reason(run, tmp_path, test, reason):
    with pytest.raises(ValueError, match="either a test or a reason why there is none: toy"):
        runner.try_mutant(run, tmp_path, FAMILY, Mutant("toy", "core/constants.py", LINE, LINE, test, reason))


def test_the_table_of_mutants(capsys, monkeypatch):
    mutants = (
        Mutant("sign", "core/constants.py", LINE, "NULL = 1", HERE + "test_a_constant_that_mutants_change"),
        Mutant("same", "core/constants.py", LINE, "NULL = -2", reason="any number below 0 will do"),
    )
    monkeypatch.setitem(FAMILIES, "toy", Family("toy", mutants))
    assert main(["toy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["toy", "killed", "sign"]
    assert "test_runner.py::test_a_constant_that_mutants_change" in lines[0]
    assert lines[1].split()[:3] == ["toy", "excused", "same"]
    assert lines[2] == "1 of 2 killed, 1 excused"
    monkeypatch.setitem(FAMILIES, "toy", Family("toy", (mutants[0]._replace(old="gone"), mutants[1])))
    assert main(["toy"]) == 1
    assert "stands 0 times in core/constants.py" in capsys.readouterr().out
    assert main(["nothing"]) == 2
    assert "got nothing" in capsys.readouterr().err
