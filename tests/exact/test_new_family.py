"""A family that the package does not have, in every engine: one file and one line, nothing else is touched.

It is registered in a process of its own, whose kernels no other process should find.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesgrove

pytestmark = pytest.mark.exact
SOURCES, TESTS = Path(bayesgrove.__file__).resolve().parents[1], Path(__file__).resolve().parents[1]


def run_checks(**settings):
    """Names of the checks that passed."""
    done = subprocess.run(
        [sys.executable, "-m", "reference.new_family"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCES, TESTS))), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


def test_every_engine_takes_a_new_family_in_plain_python():
    assert run_checks(NUMBA_DISABLE_JIT="1")[-1] == "check_late"


@pytest.mark.slow
def test_every_engine_takes_a_new_family_compiled_and_from_a_cache_of_its_own(tmp_path):
    settings = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run_checks(**settings)[-1] == "check_late"
    names = [path.name for path in tmp_path.rglob("*.nbi*")]
    assert names, "no kernel was cached"
    assert not [name for name in names if name.endswith(".nbi")]
    before = len(names)
    assert run_checks(**settings)[-1] == "check_late"
    assert len(list(tmp_path.rglob("*.nbi*"))) == before
