"""IncrementalBHC(search="best"): streams end where BHC ends, however they are divided, saved and interrupted."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, IncrementalBHC, load
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_benchmark_blobs
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.likelihoods import GaussianDiagonal
from bayesgrove.models.bhc import rebuild
from bayesgrove.models.nrm import insertion

pytestmark = pytest.mark.unit


def blobs(n, n_centres, seed):
    """Blobs in the plane, which the published insertion chains together; columns standardised."""
    X, y = make_blobs(n, 2, centers=n_centres, cluster_std=0.6, center_box=(-10, 10), random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def stream(X, n_batches=20, **settings):
    model = IncrementalBHC(random_state=0, **settings)
    for batch in np.array_split(X, n_batches):
        model.partial_fit(batch)
    return model


def assert_same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.tree_.parent, other.tree_.parent)
    for name, column in model.tree_.columns.items():
        np.testing.assert_array_equal(column, other.tree_.columns[name])
    assert model.likelihood_ == other.likelihood_
    assert model.concentration_ == other.concentration_


@pytest.mark.parametrize("n_centres", [3, 5])
def test_streams_of_blobs_end_where_bhc_ends(n_centres):
    X, y = blobs(300, n_centres, 1)
    whole = adjusted_rand_score(y, BHC().fit(X).labels_)
    assert whole > 0.95
    assert adjusted_rand_score(y, IncrementalBHC(random_state=0).fit(X).labels_) == pytest.approx(whole, abs=0.01)
    assert adjusted_rand_score(y, stream(X).labels_) == pytest.approx(whole, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 2_000])
@pytest.mark.parametrize("n_centres", [3, 5, 10])
def test_acceptance_on_blobs(n_centres, n):
    found = []
    for seed in range(5):
        X, y = blobs(n, n_centres, seed)
        models = BHC().fit(X), IncrementalBHC(random_state=0).fit(X), stream(X)
        found.append([adjusted_rand_score(y, model.labels_) for model in models])
    exact, fitted, streamed = np.mean(found, axis=0)
    assert min(fitted, streamed) > exact - 0.03
    assert n_centres == 10 or min(fitted, streamed) > 0.95


def test_without_rebuilds_a_stream_is_lost(monkeypatch):
    """The trap: insertion alone, under what fifteen rows taught, does not find the clusters of this stream."""
    X, y = blobs(300, 5, 3)
    X = X[np.argsort(y, kind="stable")[::-1]]
    y = np.sort(y)[::-1]
    assert adjusted_rand_score(y, stream(X).labels_) > 0.95
    monkeypatch.setattr(insertion, "FIRST_REBUILD", 10**9)
    assert adjusted_rand_score(y, stream(X).labels_) < 0.9


@pytest.mark.parametrize("n_columns", [2, 10])
def test_one_cloud_stays_one_cluster(n_columns):
    X = generator(n_columns).normal(size=(1_000, n_columns))
    assert IncrementalBHC(random_state=0).fit(X).n_clusters_ == 1
    assert np.bincount(stream(X).labels_).max() >= 998  # a row far out may stand alone until the next rebuild


def few_rows_searched(monkeypatch):
    """Rebuilds of more than 60 rows go on from the present partition."""
    monkeypatch.setattr(rebuild, "MOST_SEARCHED", 60)
    monkeypatch.setattr(rebuild, "MOST_SLOWLY_SEARCHED", 60)


@pytest.mark.parametrize("settings", [{}, {"concentration": "auto"}, {"noisy": True}], ids=str)
@pytest.mark.parametrize("is_local", [False, True])
def test_the_division_into_calls_changes_nothing(monkeypatch, tmp_path, is_local, settings):
    if is_local:
        few_rows_searched(monkeypatch)
    X, _ = blobs(200, 4, 2)
    first = IncrementalBHC(random_state=0, **settings)
    whole = clone(first).partial_fit(X[:30]).partial_fit(X[30:])
    several, saved = clone(first).partial_fit(X[:30]), clone(first).partial_fit(X[:30])
    for last, batch in enumerate(np.split(X[30:], 17)):
        several.partial_fit(batch)
        saved.save(tmp_path / f"{last}.bg")
        saved = load(tmp_path / f"{last}.bg").partial_fit(batch)
    assert_same(several, whole)
    assert_same(saved, whole)
    assert several.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-12)
    np.testing.assert_array_equal(saved.score_samples(X[:9]), several.score_samples(X[:9]))


def test_rows_follow_a_fit_of_many(monkeypatch, tmp_path):
    few_rows_searched(monkeypatch)
    X, y = blobs(400, 5, 4)
    model = IncrementalBHC(random_state=0).fit(X[:300])
    model.save(tmp_path / "model.bg")
    loaded = load(tmp_path / "model.bg")
    assert_same(loaded.partial_fit(X[300:]), model.partial_fit(X[300:]))
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_local_rebuilds_find_what_a_search_finds(monkeypatch):
    X, _ = blobs(600, 5, 1)
    searched = stream(X)
    few_rows_searched(monkeypatch)
    local = stream(X)
    assert adjusted_rand_score(searched.labels_, local.labels_) > 0.97
    assert local.log_evidence_ == pytest.approx(searched.log_evidence_, abs=0.01 * abs(searched.log_evidence_))


def test_the_best_of_several_orders_is_kept(monkeypatch):
    few_rows_searched(monkeypatch)
    gains = []
    for seed in range(4):
        X, _ = make_benchmark_blobs("overlapping", 300, 3, random_state=seed)
        models = (IncrementalBHC(n_init=n, n_jobs=jobs, random_state=0) for n, jobs in ((1, 2), (4, 2), (4, 1)))
        one, more, again = (model.fit(X) for model in models)
        gains.append(more.log_evidence_ - one.log_evidence_)
        assert_same(again, more)
    assert min(gains) >= 0.0
    assert max(gains) > 0.0


def test_a_tiny_first_batch_does_not_fix_the_scale():
    X, y = blobs(200, 3, 0)
    X = 1_000.0 + X
    for n_first in (1, 2, 5):
        model = IncrementalBHC(random_state=0).partial_fit(X[:n_first]).partial_fit(X[n_first:])
        assert adjusted_rand_score(y, model.labels_) > 0.95


def test_hyperparameters_are_learned_again_and_shown():
    X, _ = blobs(200, 3, 0)
    model = IncrementalBHC(random_state=0).partial_fit(X[:20])
    before = model.likelihood_
    model.partial_fit(X[20:])
    assert model.likelihood_ != before
    weighed = BHC(model.likelihood_, hyper="fixed").fit(X)
    assert model.log_evidence_ == pytest.approx(weighed.log_evidence_, abs=10.0)  # bounds of one evidence
    given = GaussianDiagonal(mean=0.0, strength=0.1, shape=2.0, rate=0.05)
    model = IncrementalBHC(given, random_state=0).partial_fit(X[:20]).partial_fit(X[20:])
    assert model.likelihood_ == IncrementalBHC(given, random_state=0).partial_fit(X[:20]).likelihood_


def test_means_that_are_given_stay():
    X, _ = blobs(100, 3, 0)
    given = GaussianDiagonal(mean=3.0, strength="auto", shape="auto", rate="auto")
    model = IncrementalBHC(given, random_state=0).partial_fit(X[:20]).partial_fit(X[20:])
    assert model.likelihood_.mean == pytest.approx(3.0)
    assert model.likelihood_.rate != IncrementalBHC(given).partial_fit(X[:20]).likelihood_.rate


@pytest.mark.parametrize("is_local", [False, True])
def test_other_tables(monkeypatch, is_local, frame):
    if is_local:
        few_rows_searched(monkeypatch)
    rng, y = generator(6), np.arange(160) % 2
    X = rng.normal(size=(160, 3)) + 9.0 * y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    assert adjusted_rand_score(y, stream(X, 5).labels_) > 0.97
    bits = (rng.random((160, 12)) < np.where(y[:, None], 0.9, 0.1)).astype(float)
    assert adjusted_rand_score(y, stream(bits, 5, likelihood="bernoulli").labels_) > 0.9
    mixed = frame.loc[np.tile(frame.index, 4)]
    model = IncrementalBHC(random_state=0).partial_fit(mixed[:40]).partial_fit(mixed[40:])
    assert model.n_rows_seen_ == 160
    assert len(set(model.labels_[:20]) & set(model.labels_[20:40])) == 0


def test_constant_and_empty_columns_change_nothing(monkeypatch):
    few_rows_searched(monkeypatch)
    X, _ = blobs(150, 4, 2)
    plain = stream(X, 5)
    wide = stream(np.column_stack([X[:, 0], np.full(150, 7.0), X[:, 1], np.full(150, np.nan)]), 5)
    np.testing.assert_array_equal(wide.labels_, plain.labels_)


def test_a_model_may_go_on_by_the_other_search():
    X, y = blobs(120, 3, 0)
    model = IncrementalBHC(search="greedy", random_state=0).partial_fit(X[:40])
    model.set_params(search="best").partial_fit(X[40:])
    assert adjusted_rand_score(y, model.labels_) > 0.9
    model.set_params(search="greedy").partial_fit(X[:10])
    assert model.n_rows_seen_ == 130


def test_unknown_searches_are_refused():
    with pytest.raises(InvalidSettingError, match="search must be"):
        IncrementalBHC(search="random").fit(np.zeros((3, 1)))


def open_columns_cut(document, arrays):
    document["stream_basis"]["open"]["mean"] = [True]


def open_columns_of_numbers(document, arrays):
    document["stream_basis"]["open"]["grain"] = [5, 6]


def other_likelihood(document, arrays):
    document["stream_basis"]["likelihood"]["free"] = []


def infinite_where(document, arrays):
    arrays["stream_where"] = np.full_like(arrays["stream_where"], np.inf)


def no_where(document, arrays):
    del arrays["stream_where"]


@pytest.mark.parametrize(
    "spoil", [open_columns_cut, open_columns_of_numbers, other_likelihood, infinite_where, no_where]
)
def test_files_with_another_start_are_refused(tmp_path, spoil):
    X, _ = blobs(30, 3, 0)
    IncrementalBHC(random_state=0).fit(X).save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    document, arrays = file.document, dict(file.arrays)
    spoil(document, arrays)
    write_model(tmp_path / "spoiled.bg", file.kind, document, arrays)
    with pytest.raises(InvalidFileError, match="not consistent"):
        load(tmp_path / "spoiled.bg")


def test_files_of_earlier_versions_go_on(tmp_path):
    X, y = blobs(90, 3, 0)
    IncrementalBHC(random_state=0).fit(X[:60]).save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    document, arrays = file.document, dict(file.arrays)
    del document["stream_basis"], arrays["stream_where"]
    write_model(tmp_path / "old.bg", file.kind, document, arrays)
    assert adjusted_rand_score(y, load(tmp_path / "old.bg").partial_fit(X[60:]).labels_) > 0.95
