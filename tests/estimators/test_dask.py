"""On a Dask cluster: the same draws, trees and sweeps to the last bit, whatever happens to workers."""

import pickle
import random
import threading
import time

import joblib
import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.estimators import dask_input
from bayesgrove.inference import dask_cluster
from bayesgrove.inference.worker import run_chain
from bayesgrove.likelihoods import base
from reference.dask_kills import kill_one_worker
from reference.estimators import chain_estimators, data_for, make, same_draws, variants

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.exact,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(centre, 1, (20, 3)) for centre in (0, 6)])
VARIANTS = [(name, settings) for name in chain_estimators() for settings in variants(name)]


@pytest.fixture(scope="module")
def client():
    """Two workers in threads of this process: quick to start."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as workers,
        distributed.Client(workers) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def processes():
    """Two workers in processes that can be killed; those who die are replaced."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
        distributed.Client(workers) as found,
    ):
        yield found


def many_rows(n=1500):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)) + 12.0 * rng.normal(size=(5, 3))[rng.integers(0, 5, n)]


def fit_thrice(name, folder, **settings):
    """One after another in this process, and on the cluster in memory and with logs."""
    data = data_for(name)
    alone = make(name, n_jobs=1, **settings).fit(data)
    with joblib.parallel_config(backend="dask"):
        return alone, make(name, **settings).fit(data), make(name, run_dir=folder, **settings).fit(data)


@pytest.mark.parametrize("name", chain_estimators())
def test_chains_are_the_same_and_the_data_travel_once(client, name, tmp_path, monkeypatch):
    calls, submit = [], client.submit
    monkeypatch.setattr(client, "submit", lambda *given, **how: calls.append(given) or submit(*given, **how))
    alone, together, on_disk = fit_thrice(name, tmp_path / "run")
    assert same_draws(alone, together)
    assert same_draws(alone, on_disk)
    assert sorted(path.name for path in (tmp_path / "run").glob("*.log")) == ["chain-0.log", "chain-1.log"]
    sent = [given for given in calls if given[0] is dask_cluster.itself]
    chains = [given for given in calls if given[0] is run_chain]
    assert (len(sent), len(chains)) == (2, 4)
    assert len(calls) == 6
    assert all(hasattr(given[1], "fingerprint") for given in sent)  # the sampler, which holds the data
    for _, shared, *rest in chains:
        assert isinstance(shared, distributed.Future)
        assert len(pickle.dumps(rest)) < 4_000


def test_a_tree_of_a_dask_array_is_that_of_the_array(client, monkeypatch):
    monkeypatch.setattr(base, "SUM_ROWS", 250)
    monkeypatch.setattr(dask_input, "SUM_ROWS", 250)
    rows = many_rows()
    one = bg.RandomizedBHC("gaussian", random_state=0, n_jobs=1).fit(rows)
    other = bg.RandomizedBHC("gaussian", random_state=0).fit(da.from_array(rows, chunks=(400, 2)))
    assert one.log_evidence_ == other.log_evidence_
    assert np.array_equal(one.tree_.parent, other.tree_.parent)
    assert np.array_equal(one.labels_, other.labels_)
    lazy = other.predict(da.from_array(rows, chunks=(700, 3)))
    assert lazy.chunks == ((700, 700, 100),)
    assert np.array_equal(lazy.compute(), one.predict(rows))
    chances = other.predict_proba(da.from_array(rows, chunks=(700, 3)))
    assert chances.shape == (1500, one.n_clusters_ + 1)
    assert np.array_equal(chances.compute(), one.predict_proba(rows))


def test_parquet_folders_are_read_where_the_work_is(client, tmp_path, monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setattr(base, "SUM_ROWS", 250)
    monkeypatch.setattr(dask_input, "SUM_ROWS", 250)
    rows = many_rows(900)
    for number, (low, high) in enumerate(((0, 333), (333, 340), (340, 900))):
        frame = pl.DataFrame(rows[low:high], schema=["a", "b", "c"], orient="row")
        frame.write_parquet(tmp_path / f"part-{number}.parquet", row_group_size=100)
    one = bg.RandomizedBHC("gaussian", random_state=0, n_jobs=1).fit(rows)
    other = bg.RandomizedBHC("gaussian", random_state=0).fit(tmp_path)
    assert other.feature_names_in_.tolist() == ["a", "b", "c"]
    assert one.log_evidence_ == other.log_evidence_
    assert np.array_equal(one.tree_.parent, other.tree_.parent)
    assert np.array_equal(other.predict(tmp_path), one.predict(rows))
    assert np.array_equal(other.score_samples(tmp_path), one.score_samples(rows))


def test_a_sweep_is_the_same(client, tmp_path):
    grid = {"concentration": [0.5, 2.0]}
    model, told = bg.BHC("gaussian"), []
    alone = bg.sweep(model, X, grid, n_repeats=2)
    with joblib.parallel_config(backend="dask"):
        how = {"folder": tmp_path / "sweep", "progress": lambda *done: told.append(done)}
        found = bg.sweep(model, X, grid, n_repeats=2, **how)
    assert timeless(found) == timeless(alone)
    assert told == [(done, 4) for done in range(5)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), VARIANTS, ids=lambda given: str(given))
def test_every_chain_is_the_same_in_processes(processes, name, settings, tmp_path):
    alone, together, on_disk = fit_thrice(name, tmp_path / "run", **settings)
    assert same_draws(alone, together)
    assert same_draws(alone, on_disk)


def kill_workers(client, n_kills, pause, is_over):
    """Kill a worker now and then, a new one each time; gives a list of those killed and the thread that does it."""
    killed, moments = [], random.Random(n_kills)

    def work():
        while len(killed) < n_kills and not is_over.wait(moments.uniform(0.5 * pause, 1.5 * pause)):
            kill_one_worker(client, killed)

    thread = threading.Thread(target=work)
    thread.start()
    return killed, thread


@pytest.mark.slow
def test_kills_change_no_table(processes, tmp_path, monkeypatch):
    """A sweep whose workers are killed, six of them, has the table of one in this process; it is resumed in the end."""
    estimator, grid = bg.NRMMixture(n_chains=2, n_tune=100, n_draws=1500), {"concentration": [0.5, 1.0, 2.0, "auto"]}
    rows = np.vstack([RNG.normal(centre, 1, (100, 3)) for centre in (0, 3, 6)])
    start = time.monotonic()
    alone = bg.sweep(estimator, rows, grid, n_repeats=3, n_jobs=1)
    pause = (time.monotonic() - start) / 15
    is_over, n_sweeps = threading.Event(), 0
    killed, thread = kill_workers(processes, 6, max(pause, 0.3), is_over)
    try:
        with joblib.parallel_config(backend="dask"):
            while thread.is_alive():  # until all kills are done, in sweeps of folders of their own
                n_sweeps += 1
                found = bg.sweep(estimator, rows, grid, n_repeats=3, folder=tmp_path / str(n_sweeps))
                assert timeless(found) == timeless(alone)
    finally:
        is_over.set()
        thread.join()
    assert len(killed) == 6
    monkeypatch.setattr(bg.NRMMixture, "fit", refuse)
    again = bg.sweep(estimator, rows, grid, n_repeats=3, folder=tmp_path / str(n_sweeps), n_jobs=1)
    # seconds may differ: a fit that Dask gave to another worker may have ended in both
    assert timeless(again) == timeless(found)


def refuse(*_):
    raise AssertionError("all fits are in the folder")


def timeless(found):
    """All columns but the seconds."""
    return {name: cells for name, cells in found.columns.items() if name != "seconds"}


@pytest.mark.slow
def test_ten_kills_change_no_draw(processes, tmp_path):
    settings = {"n_chains": 3, "n_tune": 200, "n_draws": 6000, "random_state": 3}
    rows = np.vstack([RNG.normal(centre, 1, (150, 3)) for centre in (0, 3, 6)])
    alone = bg.NRMMixture(**settings, n_jobs=1).fit(rows)
    start = time.monotonic()
    with joblib.parallel_config(backend="dask"):
        bg.NRMMixture(**settings).fit(rows)
        pause = 0.5 * (time.monotonic() - start)
        is_over = threading.Event()
        killed, thread = kill_workers(processes, 10, max(pause, 1.0), is_over)
        model = bg.NRMMixture(**settings, run_dir=tmp_path / "run")
        try:
            while thread.is_alive():  # until all kills are done, in runs that go on with each other
                model.fit(rows)
                model.set_params(resume=True, n_draws=model.n_draws + 6000)
        finally:
            is_over.set()
            thread.join()
    assert len(killed) == 10
    assert np.array_equal(alone.posterior_.labels, model.posterior_.labels[:, :6000])
