"""Quick runs of every experiment: what is committed of it has the same claims, so none is of an older form."""

import json
from pathlib import Path

import pytest
from papers.__main__ import main
from papers.experiments import EXPERIMENTS

from conftest import find_shared_file

pytestmark = pytest.mark.slow
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_committed_results_have_the_claims_of_a_quick_run(name, tmp_path):
    committed = RESULTS / name / "outcome.json"
    if not committed.is_file():
        pytest.skip(f"no full run of {name} is committed")
    home = find_shared_file("data/animals/animals.csv").parents[1]
    assert main([name, "--quick", "--data-home", str(home), "--out", str(tmp_path / "found")]) == 0
    quick, full = (json.loads(path.read_text()) for path in (tmp_path / "found" / "outcome.json", committed))
    assert {claim["paper"] for claim in quick["claims"]} <= {claim["paper"] for claim in full["claims"]}
    assert set(quick["tables"]) == set(full["tables"])
