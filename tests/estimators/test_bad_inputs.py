"""What is refused, by `fit` and after it: the message names the rule, the place and the value."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from bayesgrove import BHC, IncrementalBHC, NRMMixture, RandomizedBHC, sweep
from bayesgrove.core.errors import (
    InvalidFileError,
    InvalidLikelihoodError,
    InvalidSettingError,
    InvalidTableError,
    MemoryLimitError,
)
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import Binomial, GaussianDiagonal

pytestmark = pytest.mark.unit


def spoiled(X, value):
    X[3, 1] = value
    return X


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_cells_are_named(estimator, X, value):
    with pytest.raises(InvalidTableError, match=r"finite; row 3, column 'x1' holds -?inf.*NaN"):
        estimator().fit(spoiled(X, value))


def test_infinite_cells_of_a_frame_are_named(estimator, X):
    with pytest.raises(InvalidTableError, match="row 3, column 'b' holds inf"):
        estimator().fit(pd.DataFrame(spoiled(X, np.inf), columns=["a", "b", "c"]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([["a", "b"], ["c", "d"]]), "numeric"),
        (np.array([["a", 1.0]], dtype=object), "could not convert string to float"),
        (np.array([[1.0 + 1j]]), "Complex data not supported"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (pd.DataFrame(index=range(3)), "no columns"),
        (pd.DataFrame({"a": []}), "at least one row"),
        (Table(np.empty((0, 2)), ("a", "b"), ("float",) * 2), "at least one row and one column, got 0 x 2"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "two columns named 'a'"),
        (np.arange(3.0), "Expected 2D array"),
        (np.zeros((2, 2, 2)), "dim 3"),
    ],
)
def test_tables_that_are_none(estimator, data, message):
    with pytest.raises(ValueError, match=message):
        estimator().fit(data)


LAZY = "got a polars LazyFrame, which is a plan of a table. Give X.collect\\(\\)"
MAPPING = r"got a dict\. Give pandas\.DataFrame\(X\), or"
BUNCH = r"got a Bunch\. Give pandas\.DataFrame\(X\), or X\['data'\] of a dataset of scikit-learn"
PLACE = r"got the path '.*rows\.csv'\. Give bayesgrove\.io\.tables\.read_table\(path\) or pandas\.read_csv\(path\)"


@pytest.mark.parametrize(
    ("data", "message"),
    [(pl.LazyFrame({"a": [1.0, 2.0]}), LAZY), ({"a": [1.0, 2.0]}, MAPPING), (load_iris(), BUNCH)],
)
def test_what_is_not_yet_a_table_is_told_how_to_become_one(estimator, X, data, message):
    with pytest.raises(InvalidTableError, match=message):
        estimator().fit(data)
    with pytest.raises(InvalidTableError, match=message):
        estimator().fit(X).predict(data)
    with pytest.raises(InvalidTableError, match=message):
        sweep(estimator(), data, {"concentration": [1.0]})


@pytest.mark.parametrize("dress", [str, Path])
def test_a_path_is_no_table(dress):  # predict takes one: it goes by blocks
    with pytest.raises(InvalidTableError, match=PLACE):
        BHC().fit(dress("folder/rows.csv"))
    with pytest.raises(InvalidTableError, match=PLACE):
        sweep(BHC(), dress("folder/rows.csv"), {"concentration": [1.0]})


@pytest.mark.parametrize(
    ("likelihood", "data", "message"),
    [
        (Binomial(n_trials=2), [[1], [3]], "at most n_trials = 2; row 1, column 'x0' holds 3"),
        ("poisson", [[1], [-2]], "at least 0; row 1, column 'x0' holds -2"),
        ("multinomial", [[1, 2], [0, -1]], "at least 0; row 1, column 'x1' holds -1"),
        ("poisson", [[1.5]], "whole numbers.*holds 1.5"),
        ("bernoulli", [[0], [2]], "row 1, column 'x0' holds 2"),
        ("gaussian-full", [[1.0, 2.0], [np.nan, 1.0]], "complete; row 1, column 'x0' holds nan"),
    ],
)
def test_cells_that_do_not_fit_the_likelihood(estimator, likelihood, data, message):
    with pytest.raises(InvalidTableError, match=message):
        estimator(likelihood=likelihood).fit(data)


def test_sparse_needs_a_likelihood_of_counts(estimator):
    for likelihood in ("gaussian", "auto", {"x0": "poisson"}):
        words = (
            rf"with likelihood={re.escape(repr(likelihood))} does not take sparse .* do: bernoulli, .*, zero-inflated"
        )
        with pytest.raises(InvalidTableError, match=words):
            estimator(likelihood=likelihood).fit(sparse.eye_array(4).tocsr())


def test_number_of_trials_guessed_is_said(estimator):
    with pytest.warns(UserWarning, match="n_trials of 'x0' taken from the largest cells"):
        estimator(likelihood="binomial").fit([[1], [3]])


@pytest.mark.parametrize("likelihood", ["gausian", 3, None, GaussianDiagonal])
def test_likelihoods_that_are_none(estimator, X, likelihood):
    with pytest.raises(InvalidLikelihoodError, match="likelihood must be"):
        estimator(likelihood=likelihood).fit(X)


@pytest.mark.parametrize(
    "settings",
    [
        *({"concentration": value} for value in (0, -1.0, "x", np.nan, np.inf, True, None)),
        *({"hyper": value} for value in ("x", None)),
        *({"n_jobs": value} for value in (0, 1.5, "x", True)),
        *({"random_state": value} for value in ("x", -1, 1.5)),
    ],
    ids=str,
)
def test_settings_out_of_range(estimator, X, settings):
    with pytest.raises(InvalidSettingError, match=next(iter(settings))):
        estimator(**settings).fit(X)


@pytest.mark.parametrize("cut", ["x", 2.0, -0.1, None, True, np.nan])
def test_cuts_out_of_range(tree_estimator, X, cut):
    name = "a cut by name|probability" if cut not in (None, True) else "cut"
    with pytest.raises(InvalidSettingError, match=name):
        tree_estimator(cut=cut).fit(X)


@pytest.mark.parametrize("refine", [-1, 1.5, "a", None, True])
@pytest.mark.parametrize("kind", [BHC, RandomizedBHC])
def test_rounds_of_refinement_out_of_range(X, kind, refine):
    with pytest.raises(InvalidSettingError, match="refine must be a whole number of at least 0"):
        kind(refine=refine).fit(X)


@pytest.mark.parametrize(
    "settings",
    [
        *({"n_init": value} for value in (0, 1.5, None, True)),
        {"shuffle": "x"},
        {"noisy": None},
        {"memory_limit": 0},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_settings_of_incremental_bhc_out_of_range(X, settings, method):
    with pytest.raises(InvalidSettingError, match=f"{next(iter(settings))} must be"):
        getattr(IncrementalBHC(**settings), method)(X)


@pytest.mark.parametrize(
    "settings",
    [
        {"duplicates": "x"},
        {"scores": "x"},
        {"memory_limit": 0},
        {"memory_limit": "x"},
        {"memory_limit": np.nan},
    ],
    ids=str,
)
def test_settings_of_bhc_out_of_range(X, settings):
    with pytest.raises(InvalidSettingError, match=f"{next(iter(settings))} must be"):
        BHC(**settings).fit(X)


@pytest.mark.parametrize(
    "settings",
    [
        *({name: "x"} for name in ("split", "inner", "filter_rule", "regraft")),
        *({"leaf_size": value} for value in (1, 2.5, True)),
        {"sample_size": 1},
        {"fanout": 1},
        {"fanout": None},
        {"filter_nodes": 0},
        {"max_levels": -1},
        {"max_levels": "x"},
    ],
    ids=str,
)
def test_settings_of_randomized_bhc_out_of_range(X, settings):
    with pytest.raises(InvalidSettingError, match=f"{next(iter(settings))} must be"):
        RandomizedBHC(**settings).fit(X)


@pytest.mark.parametrize("settings", [{"scores": "matrix"}, {"scores": "matrix32"}, {"memory_limit": 1e5}], ids=str)
@pytest.mark.parametrize("duplicates", ["exact", "merge_first"])
def test_too_large_is_refused_before_it_is_allocated(settings, duplicates):
    data = generator(6).normal(size=(20_000, 2))
    limits = {"memory_limit": 1e9} if duplicates == "exact" else {"memory_limit": 1e5}
    model = BHC(likelihood="gaussian", search="greedy", duplicates=duplicates, **{**limits, **settings})
    tracemalloc.start()
    with pytest.raises(MemoryLimitError, match=r"20,000 rows need about \d+\.\d\d GiB .*RandomizedBHC") as caught:
        model.fit(data)
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert caught.value.estimate > model.memory_limit


def test_settings_are_checked_before_the_data(estimator):
    with pytest.raises(InvalidSettingError, match="n_jobs"):
        estimator(n_jobs=0).fit(np.empty((0, 0)))


def test_category_unseen_in_training_is_named(estimator, frame):
    model = estimator(random_state=0).fit(frame)
    new = frame.iloc[:3].assign(colour=["red", "violet", "red"])
    for method in (model.predict, model.predict_proba, model.score_samples):
        with pytest.raises(InvalidTableError, match=r"row 1, column 'colour' holds 'violet'.*unseen='reserve'"):
            method(new)


def test_other_columns_than_in_training(estimator, frame):
    model = estimator(random_state=0).fit(frame)
    with pytest.raises(ValueError, match="same order as they were in fit"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match=r"(?s)now missing:\n- flag"):
        model.predict(frame.drop(columns="flag"))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- Size"):
        model.predict(frame.rename(columns={"size": "Size"}))
    with pytest.raises(InvalidTableError, match="column 'colour' held labels in training and holds numbers now"):
        model.predict(frame.assign(colour=1.0))


def test_other_columns_of_a_table_than_in_training(estimator, X):
    def table(*names):
        return Table(np.ascontiguousarray(X[:, : len(names)]), names, ("float",) * len(names))

    model = estimator(random_state=0).fit(table("a", "b", "c"))
    with pytest.raises(InvalidTableError, match=r"X has 2 features, but \w+ is expecting 3 features"):
        model.predict(table("a", "b"))
    with pytest.raises(InvalidTableError, match=r"order of training, got \['a', 'c', 'b'\]"):
        model.predict(table("a", "c", "b"))
    with pytest.raises(InvalidTableError, match=r"missing: \['c'\], unexpected: \['d'\]"):
        model.predict(table("a", "b", "d"))


def test_other_shapes_and_cells_than_in_training(estimator, X):
    model = estimator(random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"X has 2 features, but \w+ is expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(InvalidTableError, match="row 3, column 'x1' holds inf"):
        model.score_samples(spoiled(X.copy(), np.inf))
    with pytest.raises(InvalidTableError, match=r"within 1e150 times the training data's spread.*Check its unit"):
        model.score_samples(spoiled(X.copy(), 1e200))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        estimator(likelihood="gaussian").fit(pd.DataFrame(X, columns=["a", "b", "c"])).predict(X)


def test_arguments_of_methods(estimator, X):
    model = estimator(random_state=0).fit(X)
    for top_k in (0, 4, 1.5):
        with pytest.raises(InvalidSettingError, match="top_k"):
            model.predict_proba(X, top_k=top_k)
    for n_samples in (-1, 1.5):
        with pytest.raises(InvalidSettingError, match="n_samples must be a whole number of at least 0"):
            model.sample(n_samples)
    with pytest.raises(InvalidSettingError, match=r"n_clusters lies between 1 and .* \(40\), got 1000"):
        model.tree_.cut(n_clusters=1000)
    best, chances = model.predict_proba(X, top_k=1)
    np.testing.assert_array_equal(best[:, 0], model.labels_)
    assert (chances > 0.5).all()


def test_nothing_works_before_fit(estimator, X, tmp_path):
    model = estimator()
    calls = (model.predict, model.predict_proba, model.score_samples, model.score)
    for call in (*(lambda c=call: c(X) for call in calls), model.sample):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.save(tmp_path / "model.bg")


def test_no_tree_before_fit(tree_estimator):
    model = tree_estimator()
    for call in (model.cut, model.node_summary, lambda: model.linkage_matrix_):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()


def test_no_chains_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        NRMMixture().continue_fit(3)


def test_sources_of_rows_that_are_none(tmp_path):
    model = RandomizedBHC()
    with pytest.raises(InvalidFileError, match=r"there is no file|cannot read|No such file"):
        model.fit(tmp_path / "absent.npy")
    with pytest.raises(InvalidTableError, match="block 1 has 3 columns where the first has 2"):
        model.fit([np.zeros((2, 2)), np.zeros((2, 3))])
    with pytest.raises(InvalidTableError, match="source of rows is empty"):
        model.fit(iter([]))
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(tmp_path / "texts.parquet")
    with pytest.raises(InvalidTableError, match=r"column 'a'.*holds texts; blocks of rows must be numbers"):
        model.fit(tmp_path / "texts.parquet")
