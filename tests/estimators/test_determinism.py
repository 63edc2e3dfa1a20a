"""One seed, one answer: for repeated fits, for any number of threads, from any process."""

import joblib
import numpy as np
import pytest

from bayesgrove import BHC, IncrementalBHC, NRMMixture, RandomizedBHC
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_benchmark_blobs

pytestmark = pytest.mark.unit

KINDS = ("separated", "nested", "overlapping")


def bytes_of(model, tmp_path):
    """All that is kept of a model, without the number of threads and the time."""
    model.n_jobs = None
    model.result_.provenance.clear()
    model.save(tmp_path / "model.bg")
    return (tmp_path / "model.bg").read_bytes()


def mixed_table():
    """Measurements, counts and flags, some cells missing."""
    rng = generator(9)
    group = rng.integers(0, 4, 2_000)
    X = np.column_stack([rng.normal(4.0 * group, 1), rng.poisson(1 + 5 * group), rng.random(2_000) < 0.2 + 0.2 * group])
    X[rng.random(X.shape) < 0.02] = np.nan
    return X


@pytest.mark.parametrize("kind", KINDS)
def test_randomized_tree_is_the_same_for_any_number_of_threads(kind, tmp_path):
    X, _ = make_benchmark_blobs(kind, 5_000, 4, random_state=3)
    settings = {"likelihood": "gaussian", "leaf_size": 64, "random_state": 5}
    found = {bytes_of(RandomizedBHC(n_jobs=n_jobs, **settings).fit(X), tmp_path) for n_jobs in (1, 2, 4, 1)}
    assert len(found) == 1


def test_mixed_randomized_tree_is_the_same_for_any_number_of_threads(tmp_path):
    X = mixed_table()
    settings = {"leaf_size": 64, "sample_size": 100, "random_state": 5}
    found = {bytes_of(RandomizedBHC(n_jobs=n_jobs, **settings).fit(X), tmp_path) for n_jobs in (1, 2, 4)}
    assert len(found) == 1


@pytest.mark.parametrize(
    "settings", [{"search": "best"}, {"search": "greedy"}, {"search": "greedy", "duplicates": "merge_first"}]
)
def test_exact_tree_is_the_same_for_any_number_of_threads(settings, tmp_path):
    X, _ = make_benchmark_blobs("overlapping", 1_500, 4, random_state=3)
    X = np.round(X, 1)
    found = {bytes_of(BHC(n_jobs=n, random_state=5, **settings).fit(X), tmp_path) for n in (1, 2, 4)}
    assert len(found) == 1


def test_incremental_tree_is_the_same_for_any_number_of_threads(tmp_path):
    X, _ = make_benchmark_blobs("overlapping", 1_500, 4, random_state=3)
    settings = {"likelihood": "gaussian", "n_init": 4, "random_state": 5}
    found = {bytes_of(IncrementalBHC(n_jobs=n_jobs, **settings).fit(X), tmp_path) for n_jobs in (1, 2, 4, 1)}
    assert len(found) == 1


def test_mixture_is_the_same_for_any_number_of_jobs(tmp_path):
    X, _ = make_benchmark_blobs("overlapping", 400, 4, random_state=3)
    settings = {"n_chains": 3, "n_tune": 5, "n_draws": 10, "random_state": 5}
    found = {bytes_of(NRMMixture(n_jobs=n_jobs, **settings).fit(X), tmp_path) for n_jobs in (1, 2, 4, 1)}
    assert len(found) == 1


def test_seeds_matter_where_numbers_are_drawn(X):
    settings = {"likelihood": "gaussian", "leaf_size": 8, "sample_size": 10, "regraft": False, "refine": 0}
    noise = generator(10).normal(size=(300, 2))
    trees = [RandomizedBHC(random_state=seed, **settings).fit(noise).tree_.parent.tobytes() for seed in range(4)]
    assert len(set(trees)) == 4
    greedy = {"likelihood": "gaussian", "search": "greedy"}
    orders = [IncrementalBHC(random_state=seed, **greedy).fit(noise).tree_.parent.tobytes() for seed in range(4)]
    assert len(set(orders)) == 4
    exact = [BHC(likelihood="gaussian", random_state=seed).fit(X) for seed in (0, 1)]
    np.testing.assert_array_equal(exact[0].tree_.parent, exact[1].tree_.parent)
    assert exact[0].log_evidence_ == exact[1].log_evidence_
    assert not np.array_equal(exact[0].sample(3), exact[1].sample(3))
    np.testing.assert_array_equal(exact[0].sample(3, random_state=7), exact[1].sample(3, random_state=7))


def test_generators_of_numpy_are_seeds(X):
    for kind in (np.random.default_rng, np.random.RandomState):
        first, second = (BHC(likelihood="gaussian", random_state=kind(4)).fit(X).sample(3) for _ in range(2))
        np.testing.assert_array_equal(first, second)


def test_without_a_seed_draws_differ(X):
    first, second = (BHC(likelihood="gaussian").fit(X).sample(3) for _ in range(2))
    assert not np.array_equal(first, second)


def test_global_state_is_left_alone(X):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    RandomizedBHC(leaf_size=8, sample_size=10).fit(X)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_backend_chosen_outside_changes_nothing(backend):
    """The work is done in place on shared arrays: a backend of processes must not take it away."""
    X = np.random.default_rng(7).normal(size=(1500, 3)) + 9.0 * (np.arange(1500)[:, None] % 3)
    alone = RandomizedBHC(likelihood="gaussian", random_state=0, n_jobs=1).fit(X)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        inside = RandomizedBHC(likelihood="gaussian", random_state=0).fit(X)
    np.testing.assert_array_equal(inside.labels_, alone.labels_)
    assert inside.log_evidence_ == alone.log_evidence_
