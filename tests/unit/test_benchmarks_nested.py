"""The smallest configuration of each part of `python -m benchmarks nested`: what is timed is what is claimed."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.datasets import sample_bhmc
from reference.state_checks import check_nested

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benchmarks, which are beside the package, not in it."""
    sys.path.append(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.nested{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def table():
    return sample_bhmc(60, 3, depth=2, alpha=0.5, base_variance=9.0, random_state=2)


@pytest.mark.parametrize("strength", [0.0, 0.01])
def test_chains_start_at_the_truth(bench, table, strength):
    chains = bench(".chains")
    sampler = chains.make_sampler(table.X, strength=strength, depth=2, base_variance=9.0)
    state, rng = chains.state_at_truth(sampler, table, 0)
    check_nested(state, sampler.target)
    assert np.array_equal(sampler.draw(state)["paths"], table.levels)
    size = chains.size_of(state)
    assert (size["leaves"], size["components"]) == (table.levels[:, -1].max() + 1, len(table.means))
    assert chains.seconds_of(sampler, rng, state, 2) > 0.0
    check_nested(state, sampler.target)


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.0, 0.01])
def test_the_twin_goes_on_from_our_state(bench, table, strength):
    chains, sweeps = bench(".chains"), bench(".sweeps")
    sampler = chains.make_sampler(table.X[:8], strength=strength, depth=2)
    state, _ = chains.burnt_in(sampler, 1, 3)
    assert sweeps.twin_seconds(sampler, state, 2, 0) > 0.0


def test_the_floor_chooses_by_weights(bench):
    """Node 1 alone has a chance in all sweeps, and every datum of every sweep takes it."""
    floor = bench(".sweeps").floor_sweeps
    data, means, weights = np.zeros((7, 2)), np.zeros((3, 2)), np.full((4, 3), 1 / 3)
    assert floor(generator(0), data, means, weights, np.array([0.0, 1.0, 0.0, 0.0]), 5) == 7 * 5
    assert weights.sum(axis=1) == pytest.approx(np.ones(4))


def test_sweeps_are_judged_by_seconds_and_by_the_twin(bench):
    row_of = bench(".sweeps").row_of
    assert row_of(0.0, 3e-4, [3e-2, 3e-2], 1e-4, 15_000)["holds"]
    assert not row_of(0.0, 4e-4, [3e-1], 1e-4, 15_000)["holds"]  # 6 s
    assert not row_of(0.0, 3e-4, [2e-2], 1e-4, 15_000)["holds"]  # 67 times
    alone = row_of(0.01, 3e-4, [None], 1e-4, 15_000)
    assert alone["holds"]
    assert "twin not measured" in alone["note"]
    assert alone["over_floor"] == pytest.approx(3.0)


@pytest.mark.slow
def test_growth(bench):
    rows = bench(".growth").measure_rows([40, 80], 1, 1)
    assert [(row["C"], row["rows"]) for row in rows] == [(0.0, 40), (0.0, 80), (0.001, 40), (0.001, 80)]
    assert rows[1]["exponent"] == pytest.approx(np.log2(rows[1]["ms_per_sweep"] / rows[0]["ms_per_sweep"]))
    paths = bench(".growth").measure_paths(60, 1, 1)
    assert paths[3]["leaves"] > paths[0]["leaves"]


@pytest.mark.slow
def test_effective_draws_of_level_1(bench):
    chains, mixing = bench(".chains"), bench(".mixing")
    X = chains.animal_rows()
    if X is None:
        pytest.skip("needs the data set animals")
    sampler = chains.make_sampler(X)
    state, _ = chains.burnt_in(sampler, 0, 5)
    number, share = mixing.first_level(state.tree)
    assert number == sampler.scalars(state)["n_level_1"]
    assert share == pytest.approx(np.bincount(sampler.draw(state)["paths"][:, 0]).max() / 33)
    rows = mixing.measure(1, 0.4)
    assert [(row["scalar"], row["who"]) for row in rows] == [(s, w) for s in mixing.SCALARS for w in mixing.MOVES]
    assert rows[0]["over_paper_move"] == 1.0
    assert rows[2]["wanted"] == ">= 10"


def test_the_anchor_says_where_it_is_missing(bench, monkeypatch):
    anchor = bench(".anchor")
    monkeypatch.setattr(anchor, "PEER", "a_module_that_is_not_there")
    ours, theirs = anchor.measure(0, 20, 1)
    assert ours["us_per_document_and_level"] == pytest.approx(1e3 * ours["ms_per_sweep"] / 60)
    assert theirs["note"] == "not measured: tomotopy is not installed"
