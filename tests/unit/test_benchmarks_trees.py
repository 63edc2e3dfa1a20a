"""The smallest configuration of each part of `python -m benchmarks trees`: what is timed is what is claimed."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.datasets import make_asymmetric_trees
from bayesgrove.models.tree_hmm.links import plain_links

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benchmarks, which are beside the package, not in it."""
    sys.path.append(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.trees{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def trees():
    return make_asymmetric_trees(3, random_state=1)


def test_the_twin_counts_what_the_engine_counts(bench, trees):
    data, estep = bench(".data"), bench(".estep")
    tables = data.component(trees.forest, 2, 0)
    (log_likelihoods,), counts = data.estep(plain_links(trees.forest), tables)
    total, theirs, _ = estep.twin_work(trees.forest, tables)()
    assert log_likelihoods.sum() == pytest.approx(total)
    assert np.allclose(counts.emission[0].T, theirs.emission)


def test_the_floor_is_an_upward_pass_without_absent_children(bench, trees):
    """With all positions filled or none it is the likelihood itself."""
    data, floor = bench(".data"), bench(".floor")
    tables = data.component(trees.forest, 3, 0)
    bottomless = tables._replace(transition=tables.transition.copy(), initial=tables.initial.copy())
    bottomless.transition[:, :, -1] = 0.0
    bottomless.initial[:, 1:, -1] = 1.0
    links = plain_links(trees.forest)
    assert floor.make_floor(links, bottomless)() == pytest.approx(data.estep(links, bottomless)[0].sum())
    assert floor.multiply_adds(10, 4) == 10 * (3 * 16 + 8)


def test_passes_are_judged_by_the_twin_and_the_floor(bench):
    judged = bench(".estep").judged
    assert judged({"over_floor": 2.0}, 150.0)["holds"]
    assert not judged({"over_floor": 3.0}, 150.0)["holds"]
    assert not judged({"over_floor": 2.0}, 50.0)["holds"]
    assert judged({"over_floor": 2.0}, None)["note"] == "twin not measured"


@pytest.mark.slow
def test_rows_of_passes_and_sharing(bench, trees):
    estep = bench(".estep")
    row = estep.compare("synthetic", trees, 2, {"l1_flops_per_s": 1e10}, 0, 1)
    assert row["nodes"] == trees.forest.n_nodes
    assert row["twin_over_ours"] > 1.0
    shared = estep.share("INEX05", trees, 2, 0, 1)
    assert shared["largest_difference"] < 1e-10
    assert shared["holds"] == (shared["plain_over_dag"] >= 2.0)


@pytest.mark.slow
def test_growth(bench):
    growth = bench(".growth")
    rows = growth.measure([5_000, 20_000], 0, 1)
    assert [row["nodes"] for row in rows] == pytest.approx([5_000, 20_000], rel=0.2)
    assert rows[-1]["exponent"] == pytest.approx(
        np.log(rows[1]["seconds"] / rows[0]["seconds"]) / np.log(rows[1]["nodes"] / rows[0]["nodes"])
    )


def test_fits_that_are_missing_say_so(bench, monkeypatch):
    fits = bench(".fits")
    monkeypatch.setattr(fits, "inex05", lambda part="train": None)
    monkeypatch.setattr(fits, "warm_up", lambda data, seed: None)
    monkeypatch.setattr(fits, "synthetic_works", lambda data, seed: [("synthetic: nothing", lambda: None, 2.0)])
    done, missing = fits.measure(0, quick=False)
    assert done["holds"]
    assert done["wanted"] == "<= 2"
    assert "BAYESGROVE_DATA" in missing["note"]
    assert {name.split(":")[0] for name, *_ in fits.inex_works(make_asymmetric_trees(1), None, 0)} == {"INEX05"}
