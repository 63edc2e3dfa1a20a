"""`bayesgrove reproduce rbhmc-animals | rbhmc-fashion`, quick, from the data to the pictures."""

import csv

import pytest

from bayesgrove.cli.main import main
from conftest import find_shared_file

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "data", "other"),
    [("rbhmc-animals", "animals/animals.csv", "wine"), ("rbhmc-fashion", "fashion/fashion_mnist_1000.npz", "digits")],
)
def test_a_quick_run(name, data, other, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    home = find_shared_file(f"data/{data}").parents[1]
    out = tmp_path / "found"
    assert main(["reproduce", name, "--quick", "--data-home", str(home), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "[printed sampler]" in shown.replace("\n", " ")
    with open(out / "claims.csv", newline="") as stream:
        claims = list(csv.DictReader(stream))
    assert {claim["verdict"] for claim in claims} <= {"holds", "fails", "undecided"}
    assert sum(f"ours, {other}" in claim["paper"] for claim in claims) == 2
    for table in ("traces", "bhmc", "settings", "matched", "case-trees", "levels", other, f"{other}-matched"):
        assert (out / f"{table}.csv").stat().st_size > 0
    pictures = {path.stem for path in out.glob("*.png")}
    assert {"levels", "aid-max-exact-sampler", "tree-bhmc", "traces-max-1-1-printed-sampler"} <= pictures
