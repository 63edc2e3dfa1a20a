"""`python -m papers rbhmc-animals | rbhmc-fashion | rbhmc-penalties`, quick, from the data to the pictures."""

import csv

import pytest
from papers.__main__ import main

from conftest import find_shared_file

pytestmark = pytest.mark.slow


def quick_claims(name, data, out):
    """The claims of a quick run, written to a folder."""
    home = find_shared_file(f"data/{data}").parents[1]
    assert main([name, "--quick", "--data-home", str(home), "--out", str(out)]) == 0
    with open(out / "claims.csv", newline="") as stream:
        claims = list(csv.DictReader(stream))
    assert {claim["verdict"] for claim in claims} <= {"holds", "fails", "undecided"}
    return claims


@pytest.mark.parametrize(
    ("name", "data"),
    [("rbhmc-animals", "animals/animals.csv"), ("rbhmc-fashion", "fashion/fashion_mnist_1000.npz")],
)
def test_a_quick_run(name, data, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "found"
    claims = quick_claims(name, data, out)
    assert "[printed sampler]" in capsys.readouterr().out.replace("\n", " ")
    assert sum("ours, " in claim["paper"] for claim in claims) == 2
    for table in ("traces", "bhmc", "settings", "matched", "case-trees", "levels"):
        assert (out / f"{table}.csv").stat().st_size > 0
    pictures = {path.stem for path in out.glob("*.png")}
    assert {"levels", "aid-max-exact-sampler", "tree-bhmc", "traces-max-1-1-printed-sampler"} <= pictures


def test_a_quick_comparison_of_penalties(tmp_path):
    out = tmp_path / "found"
    claims = quick_claims("rbhmc-penalties", "animals/animals.csv", out)
    for data in ("Animals", "Fashion", "wine", "digits"):
        assert sum(f"ours, {data}: at equal" in claim["paper"] for claim in claims) == 1
    for table in ("scores", "matched", "rows"):
        assert (out / f"{table}.csv").stat().st_size > 0
