"""Tables of many rows on a real Dask cluster: the same trees to the last bit, also when workers are killed."""

import threading

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.agglomeration import dask_parts as parts
from bayesgrove.estimators import dask_input
from bayesgrove.likelihoods import base
from bayesgrove.models.cross import column_tasks
from reference.dask_kills import kill_one_worker

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.exact,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def many_rows(n, n_columns=4):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, n_columns)) + 12.0 * rng.normal(size=(5, n_columns))[rng.integers(0, 5, n)]


def check_same_tree(one, other):
    assert one.log_evidence_ == other.log_evidence_
    assert np.array_equal(one.labels_, other.labels_)
    assert np.array_equal(one.tree_.parent, other.tree_.parent)
    for name, column in one.tree_.columns.items():
        assert np.array_equal(column, other.tree_.columns[name]), name


def test_views_of_a_dask_array_or_files_are_those_of_the_array(monkeypatch, tmp_path):
    """Two workers in threads of this process."""
    pl = pytest.importorskip("polars")
    monkeypatch.setattr(base, "SUM_ROWS", 100)
    monkeypatch.setattr(dask_input, "SUM_ROWS", 100)
    rows = many_rows(300)
    settings = {"row_method": "randomized", "row_sample": 50, "random_state": 0}
    one = bg.RandomizedBHCC("gaussian", **settings).fit(rows)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as workers,
        distributed.Client(workers),
    ):
        other = bg.RandomizedBHCC("gaussian", **settings).fit(da.from_array(rows, chunks=(120, 2)))
        assert np.array_equal(one.view_labels_, other.view_labels_)
        check_same_tree(one, other)
        assert np.array_equal(one.surprisal([5, 250]), other.surprisal([5, 250]))
        for number, low in enumerate((0, 170)):
            frame = pl.DataFrame(rows[low : low + 170], schema=list("abcd"), orient="row")
            frame.write_parquet(tmp_path / f"part-{number}.parquet")
        of_files = bg.RandomizedBHCC("gaussian", **settings).fit(tmp_path)
        assert of_files.feature_names_in_.tolist() == list("abcd")
        check_same_tree(one, of_files)
    assert np.array_equal(one.score_samples(rows[:30]), other.score_samples(rows[:30]))  # after the cluster is gone


@pytest.fixture
def processes():
    """Two workers in processes that can be killed; those who die are replaced."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def alone():
    """Many rows, and their tree without a cluster."""
    rows = many_rows(200_000)
    return rows, bg.RandomizedBHC("gaussian", random_state=0, n_jobs=1).fit(rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [
        "encode_part",
        "assign_part",
        "add_part",
        "part_clusters",
        "label_part",
        "assemble",
        "halve_part",
        "trees_of_part",
    ],
)
def test_a_worker_killed_at_any_step_changes_no_bit(processes, alone, monkeypatch, task):
    """A worker dies as soon as the first task of a kind has been sent."""
    (rows, one), killed, submit = alone, [], processes.submit

    def submit_and_kill(function, *arguments, **how):
        future = submit(function, *arguments, **how)
        if function.__name__ == task and not killed:
            kill_one_worker(processes, killed)
        return future

    monkeypatch.setattr(processes, "submit", submit_and_kill)
    other = bg.RandomizedBHC("gaussian", random_state=0).fit(da.from_array(rows, chunks=(65_536, 4)))
    assert hasattr(parts, task) or hasattr(dask_input, task)
    assert len(killed) == 1
    check_same_tree(one, other)


@pytest.mark.slow
def test_ten_kills_during_fits_of_many_rows_change_no_bit(processes, alone):
    """A worker dies now and then while fits go on, as soon as there are two of them again."""
    (rows, one), killed, is_over = alone, [], threading.Event()

    def kill_ten():
        while len(killed) < 10 and not is_over.wait(3.0):
            kill_one_worker(processes, killed)

    thread = threading.Thread(target=kill_ten)
    thread.start()
    try:
        while thread.is_alive():
            other = bg.RandomizedBHC("gaussian", random_state=0).fit(da.from_array(rows, chunks=(65_536, 4)))
            check_same_tree(one, other)
    finally:
        is_over.set()
        thread.join()
    assert len(killed) == 10


@pytest.mark.slow
def test_views_survive_the_death_of_a_worker(processes, monkeypatch):
    rows, killed = many_rows(4_000), []
    settings = {"row_sample": 200, "random_state": 0}
    one = bg.RandomizedBHCC("gaussian", **settings).fit(rows)
    submit = processes.submit

    def submit_and_kill(function, *arguments, **how):
        future = submit(function, *arguments, **how)
        if function is column_tasks.add_marginals and not killed:
            kill_one_worker(processes, killed)
        return future

    monkeypatch.setattr(processes, "submit", submit_and_kill)
    other = bg.RandomizedBHCC("gaussian", **settings).fit(da.from_array(rows, chunks=(1000, 4)))
    assert len(killed) == 1
    assert np.array_equal(one.view_labels_, other.view_labels_)
    check_same_tree(one, other)
