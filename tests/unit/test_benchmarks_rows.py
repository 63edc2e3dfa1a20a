"""Rows of `cross`, `startup` and `randomized-bhc`: what they say is what was measured."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from bayesgrove import CrossCat

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benchmarks, which are beside the package, not in it."""
    sys.path.append(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    sys.path.remove(str(ROOT))


def entry(schedule, seconds, log_score, ms, near=(True,) * 4):
    return {"schedule": schedule, "seconds": list(seconds), "log_score": log_score, "accuracy": 0.8 + log_score}  | {
        "ms_per_sweep": ms, "near_best": list(near)
    }  # fmt: skip


def test_views_are_compared_with_the_best_schedule_of_the_peer(bench):
    target, data = bench("cross.target"), bench("cross.data")
    table = data.Hidden("made up", np.zeros((2, 2)), np.array([2, 2]), np.array([0, 1]), *[np.zeros(1)] * 3)
    ours = [entry("default", [0.1] * 4, -0.42, 2.0), entry("default", [0.3] * 4, -0.43, 2.0, (True, True, True, False))]
    slow = entry("gibbs + sams", [2.0] * 4, -0.40, 10.0)
    good = entry("slice + sams", [0.9, 0.9, None, 1.1], -0.425, 5.0)
    first, peer, *schedules = target.table_rows("binary", table, ours, [[slow, good]] * 2)
    assert (first["near_best"], first["holds"]) == ("7/8", False)
    assert peer["schedule"] == "slice + sams"
    assert peer["reached"] == "6/8"
    assert peer["time_over_ours"] == pytest.approx(1.0 / 0.2)
    assert (peer["least_ahead_per_cell"], peer["most_ahead_per_cell"]) == pytest.approx((-0.005, 0.005))
    assert peer["ours_ahead_in_accuracy"] == pytest.approx(0.0)
    assert not peer["holds"]  # behind by .005 on one table
    assert {row["who"]: row["sweep_over_ours"] for row in schedules} == {
        "pylace, gibbs + sams": 5.0,
        "pylace, slice + sams": 2.5,
    }


def test_without_the_peer_the_row_says_so(bench):
    target, data = bench("cross.target"), bench("cross.data")
    table = data.Hidden("made up", np.zeros((2, 2)), np.array([2, 2]), None, *[np.zeros(1)] * 3)
    rows = target.table_rows("zoo", table, [entry("default", [], -0.4, 2.0)], [[]])
    assert rows[-1]["note"] == "not measured: run make bench-peers"


def test_long_tables_have_three_views_of_mixed_columns(bench):
    X, views = bench("cross.large").long_table(2_000, 12, 5)
    assert X.shape == (2_000, 12)
    assert np.isnan(X).mean() == pytest.approx(0.2, abs=0.02)
    assert np.bincount(views).tolist() == [4, 4, 4]
    kinds = [np.unique(column[~np.isnan(column)]).size for column in X.T]
    assert kinds[:3] == [2, 2, 2]
    assert kinds[3:6] == [4, 4, 4]
    assert min(kinds[6:9]) > 1_000


def test_a_command_that_fails_is_not_measured(bench, monkeypatch):
    startup, timing = bench("startup"), bench("timing")
    peer = timing.Cost(2.0, 3.0, 0, "")
    monkeypatch.setattr(startup, "cost_of", lambda command, environment, check: timing.Cost(1.0, 4.0, 2, ""))
    assert startup._whole_command("demo", peer)["note"] == "not measured: the command ended with code 2"
    monkeypatch.setattr(startup, "cost_of", lambda command, environment, check: timing.Cost(1.0, 4.0, 0, ""))
    row = startup._whole_command("papers", peer)
    assert (row["wall_seconds"], row["cpu_over_sklearn_import"]) == (4.0, 0.5)


def test_first_fits_tell_cold_from_warm_and_the_main_process_from_all(bench, monkeypatch):
    startup, timing = bench("startup"), bench("timing")
    said = '{"import_seconds": 2.0, "fit_seconds": %g, "main_cpu_seconds": 9.0}'
    costs = iter([timing.Cost(40.0, 25.0, 0, "noise\n" + said % 20.0), timing.Cost(3.0, 4.0, 0, said % 0.5)])
    monkeypatch.setattr(startup, "cost_of", lambda command, environment: next(costs))
    cold, warm = startup._first_fits("BHC", 1, timing.Cost(2.0, 2.0, 0, ""))
    assert (cold["cache"], cold["wall_seconds"], cold["cpu_seconds"], cold["main_cpu_seconds"]) == (
        "cold", 25.0, 40.0, 9.0,
    )  # fmt: skip
    assert (warm["model"], warm["fit_seconds"]) == ("BHC", 0.5)


def test_time_to_trust_names_the_verdict_and_the_slowest_scalar(bench, monkeypatch):
    trust = bench("trust")
    short = {"n_jobs": 1, "n_tune": 5, "n_draws": 60, "time_limit": None}
    monkeypatch.setattr(trust.bg, "CrossCat", lambda **given: CrossCat(**{**given, **short}))
    rng = np.random.default_rng(0)
    row = trust.time_to_trust("CrossCat", rng.normal(size=(20, 2)), 0, 60.0)
    assert (row["verdict"], row["stopped"], row["draws"]) == ("not trusted", "all draws made", 60)
    assert row["ess"] < 400
    assert row["ess_per_second"] == pytest.approx(row["ess"] / row["wall_seconds"])


def test_cost_of_a_command(bench):
    timing = bench("timing")
    code = "import time; start = time.process_time()\nwhile time.process_time() < start + 0.3: pass\nprint('done')"
    cost = timing.cost_of([sys.executable, "-c", code])
    assert 0.3 <= cost.cpu < 5.0
    assert cost.wall >= 0.3
    assert (cost.code, cost.output) == (0, "done\n")
    assert timing.cost_of([sys.executable, "-c", "raise SystemExit(3)"], check=False).code == 3


def test_times_in_turns(bench, monkeypatch):
    """CPU seconds leave out waiting, the clock does not."""
    import time

    def busy():
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        return "result"

    timing = bench("timing")
    monkeypatch.setattr(timing.gc, "collect", lambda: 0)  # half a second each beside all other tests' objects
    found = timing.interleaved({"busy": busy, "waits": lambda: time.sleep(0.05)}, 3)
    assert found["busy"]["result"] == "result"
    assert 0.02 <= found["busy"]["fastest"] <= found["busy"]["seconds"] <= found["busy"]["slowest"]
    assert found["waits"]["seconds"] < 0.05 <= found["waits"]["wall"]


@pytest.mark.parametrize(
    ("seconds", "repeats", "wanted"), [(1.0, 3, 6), (4.0, 3, 3), (0.0, 3, 25), (0.0, 30, 30), (0.1, 1, 1)]
)
def test_short_works_take_more_turns(bench, monkeypatch, seconds, repeats, wanted):
    timing, clock, calls = bench("timing"), [0.0], []

    def work():
        calls.append(1)
        clock[0] += seconds

    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(timing.gc, "collect", lambda: 0)
    timing.interleaved({"work": work}, repeats)
    assert len(calls) == 1 + wanted
