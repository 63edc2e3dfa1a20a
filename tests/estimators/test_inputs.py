"""All dresses of good input give finite numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from sklearn.metrics import adjusted_rand_score

from bayesgrove import RandomizedBHC
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    GaussianDiagonal,
    Multinomial,
    Poisson,
)
from bayesgrove.likelihoods.families import NAMED

pytestmark = pytest.mark.unit

TWO_HALVES = np.repeat([0, 1], 20)


def evidence_of(model):
    """What tells two fits apart: the evidence of a tree, the log joints of a mixture's draws."""
    if hasattr(model, "log_evidence_"):
        return [model.log_evidence_]
    return model.posterior_.scalars["log_joint"].ravel().tolist()


def assert_sound(model, X):
    """All that a fitted model says about X is finite and consistent."""
    n_rows = len(model.labels_)
    assert model.labels_.dtype == np.int64
    assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
    assert np.isfinite(evidence_of(model)).all()
    assert np.isfinite(model.concentration_)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.sample(3)).any()
    chances = model.predict_proba(X)
    assert chances.shape == (n_rows, model.n_clusters_ + 1)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
    if hasattr(model, "linkage_matrix_"):
        assert model.linkage_matrix_.shape == (n_rows - 1, 4)
        assert np.isfinite(model.linkage_matrix_).all()
    assert model.tree_.n_leaves == n_rows
    assert not np.isnan(model.tree_.columns["log_merge_odds"]).any()


def assert_halves(model):
    assert adjusted_rand_score(TWO_HALVES, model.labels_) == 1.0


@pytest.mark.parametrize(
    "dress",
    [
        np.asarray,
        np.ndarray.tolist,
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: np.round(X).astype(np.int64),
        lambda X: X.astype(object),
        pd.DataFrame,
        lambda X: pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}),
        lambda X: Table(np.ascontiguousarray(X), ("a", "b", "c"), ("float",) * 3),
    ],
    ids=["array", "lists", "fortran", "float32", "int", "object", "pandas", "polars", "table"],
)
def test_any_dress_of_the_same_numbers(estimator, X, dress):
    data = dress(X)
    model = estimator(random_state=0).fit(data)
    assert_sound(model, data)
    assert_halves(model)
    np.testing.assert_array_equal(model.predict(data), model.labels_)


def test_frame_of_all_types_gets_a_family_per_column(estimator, frame):
    model = estimator(random_state=0).fit(frame)
    assert_sound(model, frame)
    assert_halves(model)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 9
    families = [type(column) for column in model.likelihood_.likelihoods]
    assert families == [
        Bernoulli,
        Poisson,
        GaussianDiagonal,
        Categorical,
        Categorical,
        GaussianDiagonal,  # constant, and left out
        Bernoulli,
        Categorical,
        GaussianDiagonal,
    ]
    assert model.likelihood_.likelihoods[3].n_categories == 3  # the frame declares one that never occurs


def test_polars_names_nulls_and_texts(estimator, X):
    frame = pl.DataFrame({"a": X[:, 0], "s": np.where(X[:, 1] > 4, "x", "y").tolist(), "k": [1, None] * 20})
    model = estimator(random_state=0).fit(frame)
    assert_sound(model, frame)
    assert model.feature_names_in_.tolist() == ["a", "s", "k"]


def test_pandas_and_array_agree(estimator, X):
    by_array = estimator(likelihood="gaussian", random_state=0).fit(X)
    by_frame = estimator(likelihood="gaussian", random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert evidence_of(by_array) == evidence_of(by_frame)
    assert not hasattr(by_array, "feature_names_in_")


def test_columns_without_names_count_by_their_place(estimator, X):
    numbered = pd.DataFrame(X)
    by_array, by_frame = (estimator(random_state=0).fit(data) for data in (X, numbered))
    np.testing.assert_array_equal(by_array.predict(numbered), by_frame.predict(X))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_word_counts(estimator, kind):
    rng = generator(3)
    counts = np.vstack([rng.poisson([4, 4, 0.1, 0.1], (20, 4)), rng.poisson([0.1, 0.1, 4, 4], (20, 4))])
    dense = estimator(likelihood="multinomial", random_state=0).fit(counts)
    model = estimator(likelihood=Multinomial(), random_state=0).fit(kind(counts))
    assert evidence_of(model) == evidence_of(dense)
    np.testing.assert_array_equal(model.score_samples(kind(counts)), dense.score_samples(counts))
    assert_halves(model)
    assert_sound(model, kind(counts))


@pytest.mark.parametrize(
    "family", ["bernoulli", "binomial", "multinomial", "negative-binomial", "poisson", "zero-inflated"]
)
def test_sparse_rows_are_read_where_0_is_nothing(estimator, family):
    cells = generator(4).integers(0, 2, (9, 3)).astype(float)
    for likelihood in (family, NAMED[family](2) if family == "binomial" else NAMED[family]()):
        model = estimator(likelihood=likelihood)
        table = model._read_input(sparse.csr_array(cells), reset=True)
        np.testing.assert_array_equal(table.values, cells)
        assert model.__sklearn_tags__().input_tags.sparse


def test_sparse_flags(estimator):
    flags = np.repeat([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]], 20, axis=0)
    model = estimator(likelihood="bernoulli", random_state=0).fit(sparse.csr_array(flags))
    assert evidence_of(model) == evidence_of(estimator(likelihood="bernoulli", random_state=0).fit(flags))
    assert_halves(model)


def test_memory_map(estimator, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    model = estimator(random_state=0).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert evidence_of(model) == evidence_of(estimator(random_state=0).fit(X))


def test_blocks_and_files_give_the_tree_of_the_array(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    pd.DataFrame(X, columns=["a", "b", "c"]).to_parquet(tmp_path / "X.parquet")
    settings = {"likelihood": "gaussian", "leaf_size": 8, "sample_size": 10, "random_state": 0}
    whole = RandomizedBHC(**settings).fit(X)
    for source in (
        [X[:10], X[10:]],
        [X[:20], X[20:]],
        (block for block in (X[:1], X[1:])),
        tmp_path / "X.npy",
        str(tmp_path / "X.parquet"),
    ):
        model = RandomizedBHC(**settings).fit(source)
        np.testing.assert_array_equal(model.tree_.parent, whole.tree_.parent)
        assert evidence_of(model) == evidence_of(whole)


def test_missing_cells(estimator, X):
    X[generator(4).random(X.shape) < 0.2] = np.nan
    model = estimator(random_state=0).fit(X)
    assert_sound(model, X)
    assert adjusted_rand_score(TWO_HALVES, model.labels_) > 0.8


@pytest.mark.parametrize("likelihood", ["auto", "gaussian", "gaussian-known-variance"])
@pytest.mark.parametrize(
    "data",
    [
        np.array([[1.5, -2.0]]),
        np.array([[1.5, -2.0], [1.5, -2.0]]),
        np.array([[0.0], [1e-3], [7.0]]),
        np.full((10, 2), 3.25),
        np.column_stack([np.arange(12.0) ** 2, np.full(12, 7.0)]),
        np.column_stack([np.arange(12.0) ** 2, np.full(12, np.nan)]),
        np.full((5, 2), np.nan),
        np.repeat([[0.0, 1.0], [5.0, -5.0], [9.0, 2.0]], 30, axis=0),
    ],
    ids=["one-row", "two-rows", "one-column", "constant", "constant-column", "missing-column", "missing", "duplicates"],
)
def test_small_and_degenerate_tables(estimator, data, likelihood):
    assert_sound(estimator(likelihood=likelihood, random_state=0).fit(data), data)


def test_one_row_has_the_evidence_of_its_marginal(estimator):
    from bayesgrove.likelihoods import log_marginal

    likelihood, row = Poisson(shape=2, rate=0.5), [[3, 4]]
    model = estimator(likelihood=likelihood).fit(row)
    assert evidence_of(model) == pytest.approx([log_marginal(likelihood, row)] * len(evidence_of(model)), abs=1e-12)
    assert model.labels_.tolist() == [0]


def test_many_columns(estimator):
    data = generator(5).normal(size=(40, 5_000)) + 3.0 * TWO_HALVES[:, None]
    model = estimator(random_state=0).fit(data)
    assert_sound(model, data)
    assert_halves(model)


@pytest.mark.parametrize("concentration", [1e-8, 1e8, np.float32(2.0), 3, "auto"])
def test_concentrations(estimator, X, concentration):
    assert_sound(estimator(concentration=concentration, likelihood="gaussian").fit(X), X)


@pytest.mark.parametrize("cut", ["half", "map", 0.9, 1, 0.0])
def test_cuts(tree_estimator, X, cut):
    assert_sound(tree_estimator(cut=cut, likelihood="gaussian").fit(X), X)


def test_whole_numbers_of_numpy_are_whole_numbers(X):
    model = RandomizedBHC(leaf_size=np.int64(8), sample_size=np.int32(10), refine=np.int8(1)).fit(X)
    assert_sound(model, X)


def test_mixed_columns_by_name_and_place(estimator, frame):
    by_name = Columns({"flag": "bernoulli", "size": GaussianDiagonal(), "colour": Categorical()})
    data = frame[["flag", "size", "colour"]]
    model = estimator(likelihood=by_name, random_state=0).fit(data)
    by_place = estimator(likelihood=Columns([Bernoulli(), GaussianDiagonal(), Categorical()]), random_state=0).fit(data)
    assert evidence_of(model) == evidence_of(by_place)
    assert_sound(model, data)


def test_a_category_never_seen_has_its_reserved_share(estimator, frame):
    data = frame[["colour", "grade"]]
    model = estimator(likelihood=Categorical(unseen="reserve"), random_state=0).fit(data)
    new = pd.DataFrame({"colour": ["violet", "red"], "grade": data["grade"][:2].to_numpy()})
    scores = model.score_samples(new)
    assert np.isfinite(scores).all()
    assert scores[0] < scores[1]
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0, rtol=1e-12)


def test_a_row_without_cells_goes_by_cluster_sizes(tree_estimator, X):
    chances = tree_estimator(likelihood="gaussian").fit(X).predict_proba([[np.nan] * 3])[0]
    np.testing.assert_allclose(chances, [20 / 41, 20 / 41, 1 / 41], rtol=1e-6)


def test_far_rows_still_have_a_density(estimator, X):
    model = estimator(likelihood="gaussian").fit(X)
    assert np.isfinite(model.score_samples(X * 1e100)).all()


def test_masked_cells_are_missing(estimator, X):
    hidden = generator(3).random(X.shape) < 0.1
    masked = np.ma.masked_array(np.where(hidden, -999.0, X), hidden)
    holes = estimator(random_state=0).fit(np.where(hidden, np.nan, X))
    model = estimator(random_state=0).fit(masked)
    assert model.labels_.tolist() == holes.labels_.tolist()
    assert model.score_samples(masked).tolist() == holes.score_samples(np.where(hidden, np.nan, X)).tolist()


def test_arrow_tables_are_frames(estimator, X):
    import pyarrow as pa

    cells = {"a": X[:, 0], "n": [None, *range(len(X) - 1)], "town": ["Ulm", None, *["Bonn"] * (len(X) - 2)]}
    frame, arrow = pl.DataFrame(cells), pa.table(cells)
    model = estimator(random_state=0).fit(arrow)
    assert model.feature_names_in_.tolist() == ["a", "n", "town"]
    assert model.labels_.tolist() == estimator(random_state=0).fit(frame).labels_.tolist()
    assert model.predict(arrow).tolist() == model.predict(frame).tolist()
