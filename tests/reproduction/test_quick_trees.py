"""`python -m papers htmm-synthetic | htmm-inex05`, quick, from the data to the pictures."""

import csv

import pytest
from papers.__main__ import main

from conftest import find_shared_file

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "data", "tables"),
    [
        ("htmm-synthetic", "synt_bacciu_castellana.json.gz", ("table-1", "ours", "absent-children")),
        ("htmm-inex05", "inex05.train.elastic.tree.gz", ("table-2", "table-3", "ours")),
    ],
)
def test_a_quick_run(name, data, tables, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    home = find_shared_file(f"data/trees/{data}").parents[1]
    out = tmp_path / "found"
    assert main([name, "--quick", "--data-home", str(home), "--out", str(out)]) == 0
    assert "Bacciu" in capsys.readouterr().out
    with open(out / "claims.csv", newline="") as stream:
        claims = list(csv.DictReader(stream))
    assert {claim["verdict"] for claim in claims} <= {"holds", "fails", "undecided"}
    ours = [claim for claim in claims if claim["paper"].startswith("ours")]
    assert {claim["verdict"] for claim in ours} == {"holds"}
    for table in (*tables, "components-by-sweep", "clusters-by-class"):
        assert (out / f"{table}.csv").stat().st_size > 0
    assert {path.stem for path in out.glob("*.png")} > {"components-of-inf"}
