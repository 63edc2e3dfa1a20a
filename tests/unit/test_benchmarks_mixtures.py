"""The smallest configuration of each part of `python -m benchmarks mixtures`: what is timed is what is claimed."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.stats.partitions import adjusted_rand

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benchmarks, which are beside the package, not in it."""
    sys.path.append(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.mixtures{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def blobs(bench):
    return bench(".data").draw_blobs(5, 600, 10, 4, "separated")


def test_overlapping_clusters_have_the_oracle_they_are_drawn_for(bench, blobs):
    data = bench(".data").draw_blobs(6, 3000, 10, 8, "overlapping")
    assert data.oracle_ari == pytest.approx(0.97, abs=0.005)
    assert data.target_ari == pytest.approx(data.oracle_ari - 0.02, abs=0.005)
    assert blobs.oracle_ari == 1.0
    assert blobs.target_ari == 0.95


def test_paper_prior_is_that_of_the_specification(bench):
    X = generator(0).normal(size=(50, 2)) * [1.0, 3.0]
    prior = bench(".chains").paper_prior(X)
    assert np.linalg.det(prior.scale) == pytest.approx(0.1)
    assert (prior.strength, prior.dof) == (0.1, 8.0)


@pytest.mark.slow
def test_all_contenders_at_hand_reach_the_target(bench, blobs):
    target = bench(".target")
    works = {name: work for name, work in target.contenders().items() if name in (target.OURS, target.VARIATIONAL)}
    found = target.run_in_turn(works, blobs, 1, "quick")
    for name, times in found.items():
        assert times.reached, name
        assert times.ari >= 0.95, name
        assert times.seconds > 0, name


def test_a_contender_that_does_not_arrive_is_stopped_and_says_so(bench, blobs):
    peers = bench(".peers")
    beyond = blobs._replace(oracle_ari=1.5, labels=generator(1).integers(0, 4, 600))
    found = peers.ours("gibbs", "one")(beyond, 1, 0.05)
    assert not found.reached
    assert 0.05 <= found.seconds < 5
    late = peers.Found(6.0, 6.0, 0.2, 9, False)
    ours = peers.Found(2.0, 2.0, 1.0, 0, True)
    row = bench(".target").summary([late], [ours], 2.0)
    assert (row["this_over_ours"], row["at_least"], row["holds"]) == (3.0, True, True)
    assert not bench(".target").summary([late], [ours._replace(reached=False)], 2.0)["holds"]


def test_ratios_are_judged_on_the_large_tables_only(bench):
    target = bench(".target")
    assert target.wanted_of(target.LACE, 10_000, 50) == 20.0
    assert target.wanted_of(target.LACE, 2_500, 50) is None
    assert target.wanted_of(target.OURS, 10_000, 50) is None


def test_the_worker_measures_agreement_as_the_library_does(bench):
    first, second = generator(2).integers(0, 3, 40), generator(3).integers(0, 5, 40)
    worker = bench(".lace_worker")
    assert worker.adjusted_rand(first, second) == pytest.approx(adjusted_rand(first, second), abs=1e-12)
    assert worker.adjusted_rand(first, first) == pytest.approx(1.0)
    assert set(bench(".peers").LACE_SCHEDULES) == set(worker.SCHEDULES)


def test_pylace_reaches_the_target(bench, blobs):
    peers = bench(".peers")
    if not peers.has_lace():
        pytest.skip("needs pylace in .venv-lace: run make bench-peers")
    found = peers.lace(blobs, 1, 20.0, ("20 split-merge + slice", "5 split-merge + gibbs"))
    assert found.reached
    assert found.note in ("20 split-merge + slice", "5 split-merge + gibbs")


def test_sweeps_of_pylace_start_from_the_clusters(bench, blobs):
    peers = bench(".peers")
    if not peers.has_lace():
        pytest.skip("needs pylace in .venv-lace: run make bench-peers")
    lines = peers.lace_sweeps(blobs, 1, 2, 20.0)
    assert [line["kernel"] for line in lines] == ["gibbs", "slice"]
    assert all(line["cpu_seconds"] > 0.0 and line["ari"] > 0.9 for line in lines)


def test_rows_of_absent_peers_say_so(bench, monkeypatch):
    sweep = bench(".sweep")
    monkeypatch.setattr(sweep.peers, "has_lace", lambda: False)
    rows = sweep.peer_rows(100, 4, 1, {"data": "100 x 10, 4 clusters", "cpu_seconds": 1.0})
    assert [row["who"] for row in rows] == ["pylace's gibbs sweep", "pylace's slice sweep"]
    assert all("make bench-peers" in row["note"] for row in rows)


@pytest.mark.slow
def test_the_floor_draws_what_the_scores_say(bench):
    sweep = bench(".sweep")
    case = sweep.cases(400, [5])[0]
    works = sweep._works(case)
    chosen = works["by block"]()
    # clusters are far apart: every draw is the point's own cluster, so both floors give the sum of labels
    assert chosen == works["by column"]() == case.state.clusters.labels.sum()
    works["gibbs"]()
    row = sweep._row(case, 2)
    assert row["over_floor"] == pytest.approx(row["cpu_seconds"] / row["floor_seconds"])


@pytest.mark.slow
def test_effective_draws_of_each_sampler(bench):
    mixing = bench(".mixing")
    if bench(".data").toy1300() is None:
        pytest.skip("needs the data set toy1300")
    rows = mixing.measure(1, 0.8, n_burn=20)
    wanted = [(t, c, s) for t in mixing.STARTS for c in mixing.SCALARS for s in mixing.SAMPLERS]
    assert [(row["start"], row["scalar"], row["who"]) for row in rows] == wanted
    gibbs = next(row for row in rows if row["who"] == "gibbs" and row["scalar"] == "log_joint")
    assert gibbs["this_over_gibbs"] == 1.0
    assert gibbs["ess_per_second"] == pytest.approx(gibbs["ess"] / gibbs["cpu_seconds"])


@pytest.mark.slow
def test_store_rows(bench):
    records, run, engine, memory = bench(".store").measure(200, 20, 20, 2)
    assert records["records_per_second"] == pytest.approx(20 / records["wall_seconds"])
    assert records["megabytes_per_second"] > 0
    assert run["sweeps"] == 20
    assert engine["over_floor"] > 0
    assert (memory["sweeps"], memory["holds"]) == (4_000, memory["growth"] <= 0.05)
