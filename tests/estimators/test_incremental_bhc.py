"""IncrementalBHC: streams, cuts, several orders, and what it promises of its tree."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, IncrementalBHC, load
from bayesgrove.core.errors import InvalidTableError, MemoryLimitError
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_benchmark_blobs
from bayesgrove.estimators import incremental_bhc
from bayesgrove.likelihoods import GaussianDiagonal

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def blobs():
    """A thousand rows of eight clusters at the corners of a cube, in no order."""
    rng = generator(20)
    y = rng.integers(0, 8, 1_000)
    corners = 10.0 * np.array([[corner >> j & 1 for j in range(3)] for corner in range(8)])
    return corners[y] + rng.normal(size=(1_000, 3)), y


def assert_same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.tree_.parent, other.tree_.parent)
    for name, column in model.tree_.columns.items():
        np.testing.assert_array_equal(column, other.tree_.columns[name])
    assert model.n_rows_seen_ == other.n_rows_seen_


def test_ten_batches_cluster_as_well_as_one_fit(blobs):
    X, y = blobs
    whole = IncrementalBHC(random_state=0).fit(X)
    stream = IncrementalBHC(random_state=0)
    for batch in np.split(X, 10):
        stream.partial_fit(batch)
    assert stream.n_rows_seen_ == whole.n_rows_seen_ == 1_000
    assert adjusted_rand_score(y, whole.labels_) > 0.98
    assert adjusted_rand_score(y, stream.labels_) > 0.98
    assert stream.log_evidence_ == pytest.approx(whole.log_evidence_, abs=0.01 * abs(whole.log_evidence_))


def test_streams_do_not_depend_on_how_they_are_divided(blobs):
    X, _ = blobs
    X = X[:120]
    first = IncrementalBHC(random_state=0).partial_fit(X[:40])
    several, one_by_one = clone(first).partial_fit(X[:40]), clone(first).partial_fit(X[:40])
    first.partial_fit(X[40:])
    for batch in np.split(X[40:], 8):
        several.partial_fit(batch)
    for row in X[40:]:
        one_by_one.partial_fit(row[None])
    assert_same(several, first)
    assert_same(one_by_one, first)
    assert one_by_one.log_evidence_ == pytest.approx(first.log_evidence_, rel=1e-12)


def test_a_stream_is_insertion_in_the_order_of_the_rows():
    """Where nothing is split, and so nothing waits, the queue of `fit` is the stream."""
    X = generator(21).normal(size=(60, 2)) + 20.0 * (np.arange(60)[:, None] % 3)
    likelihood = GaussianDiagonal(mean=20.0, strength=0.01, shape=2.0, rate=1.0)
    streamed = IncrementalBHC(likelihood, search="greedy").partial_fit(X)
    assert streamed.result_.details["n_placed"] == 60
    assert_same(streamed, IncrementalBHC(likelihood, search="greedy", shuffle=False).fit(X))


def test_rows_may_follow_a_fit_and_a_file(blobs, tmp_path):
    X, y = blobs
    model = IncrementalBHC(random_state=0).fit(X[:500])
    model.save(tmp_path / "model.bg")
    loaded = load(tmp_path / "model.bg")
    for one in (model, loaded):
        one.partial_fit(X[500:])
    assert_same(loaded, model)
    assert loaded.log_evidence_ == model.log_evidence_
    np.testing.assert_array_equal(loaded.score_samples(X[:9]), model.score_samples(X[:9]))
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert model.fit(X[:500]).n_rows_seen_ == 500  # fit forgets


def test_batches_bring_the_names_of_their_rows(X, tmp_path):
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(len(X))])
    model = IncrementalBHC(random_state=0).partial_fit(frame[:15])
    model.partial_fit(frame[15:30]).save(tmp_path / "model.bg")
    stream = load(tmp_path / "model.bg").partial_fit(frame[30:])
    assert stream.tree_.leaf_labels == tuple(frame.index)


def test_the_first_rows_fix_columns_and_categories(frame):
    model = IncrementalBHC(random_state=0).partial_fit(frame)
    model.partial_fit(frame.iloc[:5].assign(colour=["red", "blue", "red", None, "red"]))
    assert model.n_rows_seen_ == 45
    with pytest.raises(InvalidTableError, match=r"row 1, column 'colour' holds 'violet'"):
        model.partial_fit(frame.iloc[:2].assign(colour=["red", "violet"]))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        model.partial_fit(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="partial_fit needs at least one row, got none"):
        model.partial_fit(frame.iloc[:0])
    assert model.n_rows_seen_ == 45  # what was refused left no trace
    assert model.labels_.size == 45
    expected = IncrementalBHC(random_state=0).partial_fit(frame)
    expected.partial_fit(pd.concat([frame.iloc[:5].assign(colour=["red", "blue", "red", None, "red"])]))
    assert_same(model, expected)


@pytest.mark.parametrize("search", ["best", "greedy"])
def test_clusters_are_the_roots_or_a_cut(search):
    X, _ = make_benchmark_blobs("overlapping", 1_000, 4, random_state=3)
    settings = {"likelihood": "gaussian", "search": search, "random_state": 0}
    roots = IncrementalBHC(**settings).fit(X)
    assert roots.n_clusters_ == roots.result_.details["n_roots"] > 1
    in_forest = roots.tree_.columns["in_forest"]
    assert (in_forest == 0.0).sum() == roots.n_clusters_ - 1
    if search == "greedy":
        assert (roots.tree_.columns["log_merge_odds"][in_forest == 1.0] >= -1e-8).all()
    half = IncrementalBHC(cut="half", **settings).fit(X)
    np.testing.assert_array_equal(half.labels_, half.tree_.cut(probability=0.5))
    assert half.n_clusters_ <= roots.n_clusters_
    most = IncrementalBHC(cut="map", **settings).fit(X)
    np.testing.assert_array_equal(most.labels_, most.tree_.cut("map"))
    assert roots.cut(n_clusters=4).max() == 3


def test_more_orders_are_no_worse():
    X, _ = make_benchmark_blobs("overlapping", 400, 3, random_state=4)
    joint = []
    for n_init in (1, 8):
        model = IncrementalBHC("gaussian", search="greedy", n_init=n_init, random_state=0).fit(X)
        tree = model.tree_
        front = model._front(tree)
        odds = tree.columns["log_merge_odds"][front]
        joint.append(np.sum(tree.columns["log_q"][front] - np.logaddexp(0.0, -odds)))
    assert joint[1] > joint[0]


def test_noisy_is_another_tree(blobs):
    X, _ = blobs
    settings = {"likelihood": "gaussian", "search": "greedy", "random_state": 0}
    noisy, plain = (IncrementalBHC(noisy=noisy, **settings).fit(X) for noisy in (True, False))
    assert noisy.tree_.parent.tobytes() != plain.tree_.parent.tobytes()
    assert noisy.log_evidence_ < plain.log_evidence_


def test_evidence_lies_below_that_of_the_greedy_tree_of_few_rows(X):
    """Both are lower bounds of one number; on clear clusters they hardly differ."""
    greedy = BHC("gaussian", search="greedy").fit(X)
    incremental = IncrementalBHC("gaussian", search="greedy", random_state=0).fit(X)
    assert incremental.log_evidence_ == pytest.approx(greedy.log_evidence_, abs=5.0)
    np.testing.assert_array_equal(greedy.labels_, incremental.labels_)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_too_large_is_refused_before_it_is_allocated(blobs, method):
    X, _ = blobs
    with pytest.raises(MemoryLimitError, match=r"a forest over 1,000 rows needs about .* GiB"):
        getattr(IncrementalBHC("gaussian", memory_limit=1e5), method)(X)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_progress_is_reported(blobs, method):
    X, _ = blobs
    reports = []
    model = IncrementalBHC("gaussian", random_state=0)
    model._progress = lambda *at: reports.append(at)
    getattr(model, method)(X)
    assert reports[-1] == (1_000, 1_000)


@pytest.mark.parametrize(("search", "step"), [("best", "streamed"), ("best", "rebuilt"), ("greedy", "stream_into")])
def test_an_interrupted_batch_is_not_kept(blobs, monkeypatch, search, step):
    X, _ = blobs
    model = IncrementalBHC("gaussian", search=search, random_state=0).partial_fit(X[:100])

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(incremental_bhc, step, interrupt)
    with pytest.raises(KeyboardInterrupt, match="partial_fit was interrupted; none of its rows was kept"):
        model.partial_fit(X[100:])
    monkeypatch.undo()
    expected = IncrementalBHC("gaussian", search=search).partial_fit(X[:100])
    assert_same(model.partial_fit(X[100:200]), expected.partial_fit(X[100:200]))


def test_missing_cells_and_documents():
    X = generator(22).normal(size=(60, 3)) + 9.0 * (np.arange(60)[:, None] % 2)
    X[generator(23).random(X.shape) < 0.1] = np.nan
    model = IncrementalBHC(random_state=0).partial_fit(X[:30]).partial_fit(X[30:])
    assert adjusted_rand_score(np.arange(60) % 2, model.labels_) == 1.0
    words = generator(24).poisson(np.where(np.arange(40)[:, None] % 2, [9, 1, 1], [1, 1, 9]))
    model = IncrementalBHC("multinomial", random_state=0).partial_fit(words[:20]).partial_fit(words[20:])
    assert adjusted_rand_score(np.arange(40) % 2, model.labels_) == 1.0
