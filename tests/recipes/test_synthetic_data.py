"""The page on synthetic tables, judged by SDMetrics on the penguins."""

import numpy as np
import pandas as pd
import pytest

from recipes.pages import run_section

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
MISSING = "{} is not installed here: `make recipes` makes an environment that has it"


@pytest.fixture(scope="module")
def judged():
    """The names that the page leaves behind, and scores of the table with each column shuffled by itself."""
    pytest.importorskip("sdmetrics", reason=MISSING.format("sdmetrics"))
    from conftest import find_shared_file

    table = pd.read_csv(find_shared_file("data/tables/penguins.csv"))
    table["sex"] = table["sex"].str.lower()
    names = run_section("synthetic-data.md", "Draw rows", {"table": table})
    names = run_section("synthetic-data.md", "Judge the result", names)
    rng = np.random.default_rng(0)
    shuffled = table.dropna().apply(lambda column: rng.permutation(column))
    scores = {"simulated": names["report"].get_properties()}
    names["report"].generate({"penguins": table}, {"penguins": shuffled}, names["metadata"], verbose=False)
    scores["shuffled"] = names["report"].get_properties()
    return names, {name: found.set_index("Property")["Score"] for name, found in scores.items()}


def test_synthetic_rows_look_like_the_table(judged):
    names, scores = judged
    assert scores["simulated"]["Column Shapes"] > 0.9
    assert scores["simulated"]["Column Pair Trends"] > scores["shuffled"]["Column Pair Trends"] + 0.1
    synthetic, table = names["synthetic"], names["table"]
    assert synthetic.columns.tolist() == table.columns.tolist()
    assert not synthetic.isna().any(axis=None)
    assert synthetic["body_mass_g"].between(0.8 * table["body_mass_g"].min(), 1.2 * table["body_mass_g"].max()).all()
    assert set(synthetic["species"]) == set(table["species"])
    assert set(names["females"]["sex"]) == {"female"}
    assert names["females"]["body_mass_g"].mean() < synthetic["body_mass_g"].mean()


def test_synthetic_rows_are_new(judged):
    """Hardly any row comes near one of the table, and they lie no nearer to it than its rows lie to each other."""
    names, _ = judged
    assert names["new_rows"] > 0.95
    numbers = names["table"].select_dtypes("number").dropna()
    centre, scale = numbers.mean(), numbers.std()
    known = ((numbers - centre) / scale).to_numpy()
    drawn = ((names["synthetic"][numbers.columns] - centre) / scale).to_numpy()
    own = np.linalg.norm(known[:, None] - known, axis=2)
    np.fill_diagonal(own, np.inf)
    nearest = np.linalg.norm(drawn[:, None] - known, axis=2).min(axis=1)
    assert np.median(nearest) >= np.median(own.min(axis=1))
