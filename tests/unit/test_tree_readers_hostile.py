"""Hostile documents are refused with file, line and reason, or read within the limits, quickly and in little memory."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bayesgrove as bg
from reference.hostile import CASES, READ

pytestmark = pytest.mark.unit

MAX_SECONDS, MAX_SECONDS_OTHERS, MAX_MEGABYTES = 1.0, 2.0, 200
"""CPU time to refuse XML, JSON and archives; to read what is within the limits, and for the other formats."""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What became of each document in a process of its own."""
    tests = Path(__file__).resolve().parents[1]
    places = [str(tests), str(Path(bg.__file__).resolve().parents[1])]
    done = subprocess.run(
        [sys.executable, "-m", "reference.hostile", str(tmp_path_factory.mktemp("hostile"))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_document(name, found):
    _, seconds, megabytes, outcome = found[name]
    assert re.match(CASES[name].outcome, outcome), outcome
    assert (outcome == READ) == (CASES[name].outcome == READ)
    is_other = outcome == READ or CASES[name].ending in (".py", ".nwk", ".sexpr", ".tree")
    assert seconds < (MAX_SECONDS_OTHERS if is_other else MAX_SECONDS)
    assert megabytes < MAX_MEGABYTES
