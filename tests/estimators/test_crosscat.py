"""`CrossCat` as users meet it: views, what is learned, starts, files, runs that are cut and go on."""

import json

import numpy as np
import pandas as pd
import pytest

from bayesgrove import CrossCat, load
from bayesgrove.core.errors import InvalidFileError, InvalidLikelihoodError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.estimators import crosscat as crosscat_module
from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.likelihoods import (
    Bernoulli,
    Categorical,
    Columns,
    GaussianDiagonal,
    GaussianFull,
    GaussianKnownVariance,
)
from bayesgrove.models.cross import draw_tables
from bayesgrove.stats.partitions import adjusted_rand
from conftest import find_shared_file
from reference.golden import golden_table

SHORT = {"n_chains": 2, "n_tune": 10, "n_draws": 20, "random_state": 3}


def crosscat(**settings):
    return CrossCat(**{**SHORT, **settings})


def two_views(n_rows=40):
    """Three columns see one division of the rows into two, three another."""
    rng = generator(0)
    first, second = rng.integers(0, 2, (2, n_rows))
    centres = np.where(np.arange(6) < 3, first[:, None], second[:, None])
    return rng.normal(6.0 * centres, 1.0), first, second


@pytest.fixture(scope="module")
def fitted():
    X, first, second = two_views()
    X[3, 1] = np.nan
    return crosscat(n_draws=60).fit(X), X, first, second


@pytest.mark.unit
def test_views_and_clusters_are_found(fitted):
    model, X, first, second = fitted
    assert model.view_labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.n_views_ == 2
    assert model.n_features_in_ == 6
    for view, truth in zip(model.views_, (first, second), strict=True):
        assert adjusted_rand(view.labels_, truth) == 1.0
        np.testing.assert_array_equal(view.tree_.cut(n_clusters=2), view.labels_)
    np.testing.assert_array_equal(model.labels_, model.views_[0].labels_)
    assert model.same_view_probability_[0, 1] > 0.9 > 0.1 > model.same_view_probability_[0, 5]
    np.testing.assert_array_equal(model.predict(X), model.views_[0].labels_)
    np.testing.assert_array_equal(model.predict(X, view=1), model.views_[1].labels_)
    np.testing.assert_allclose(model.predict_proba(X, view=1).sum(axis=1), 1.0)
    assert isinstance(model.posterior_, CrossPosterior)
    assert model.column_tree_.n_leaves == 6
    assert len(model.result_.views) == 2
    assert {"log_joint", "n_views", "concentration_rows"} <= set(model.diagnostics_.table["name"])


@pytest.mark.unit
def test_what_is_said_of_cells_and_rows(fitted):
    model, X, first, _ = fitted
    filled = model.impute()
    assert abs(filled[3, 1] - 6.0 * first[3]) < 2.0
    np.testing.assert_allclose(np.delete(filled.ravel(), 3 * 6 + 1), np.delete(X.ravel(), 3 * 6 + 1))
    about = model.impute(level=0.9)
    assert about.low[0] < filled[3, 1] < about.high[0]
    asked = model.cell_log_density([3, 3], [1, 1], [6.0 * first[3], 6.0 * (1 - first[3])])
    assert asked[0] > asked[1] + 1.0
    with_gap = X[:5].copy()
    with_gap[:, 0] = np.nan
    assert np.all(np.abs(model.impute(with_gap)[:, 0] - 6.0 * first[:5]) < 3.0)
    together = model.row_similarity(columns=[0])
    assert together[0, first == first[0]].min() > 0.5 > together[0, first != first[0]].max()
    information = model.mutual_information([(0, 1), (0, 4)], n_samples=500)
    assert information[0] > 0.3
    assert information[1] < 0.1
    drawn = model.simulate(200, given={0: 6.0}, random_state=1)
    assert np.mean(drawn[:, 1]) > 4.0
    assert model.column_log_density(X[:, 0]) > model.column_log_density(X[::-1, 0])
    assert model.surprisal().shape == X.shape


@pytest.mark.unit
def test_further_rows_join_every_draw(fitted):
    model, X, first, _ = fitted
    grown = model.with_rows(X[:6])
    assert grown.labels_.shape == (46,)
    assert model.labels_.shape == (40,)
    assert adjusted_rand(grown.labels_, np.concatenate([first, first[:6]])) == 1.0
    np.testing.assert_array_equal(grown.posterior_.rows[:, :40], model.posterior_.rows)
    assert np.isfinite(grown.score_samples(X)).all()
    with pytest.raises(InvalidSettingError, match="has no data to continue with"):
        grown.continue_fit(3)


@pytest.mark.unit
def test_only_what_is_open_is_learned():
    X, _, _ = two_views(30)
    X[:, 0] = X[:, 0] > 3.0
    likelihoods = [
        Bernoulli(a=1.0, b=2.0),
        GaussianDiagonal(mean=1.0, strength="auto", shape=2.0, rate="auto"),
        *["auto"] * 4,
    ]
    model = crosscat(likelihood=Columns(likelihoods), row_concentration=0.7).fit(X)
    numbers = model.posterior_.extra["column_numbers"]
    varies = np.ptp(numbers, axis=(0, 1)) > 0.0
    assert varies.tolist() == [[False] * 4, [False, True, False, True], *[[True] * 4] * 4]
    assert model.row_concentration_ == 0.7
    assert np.ptp(model.posterior_.scalars["concentration_columns"]) > 0.0
    assert model.likelihood_.likelihoods[0] == Bernoulli(a=1.0, b=2.0)
    fixed = crosscat(likelihood="gaussian", hyper="fixed", row_concentration=1.0, column_concentration=2.0).fit(X)
    assert "column_numbers" not in fixed.posterior_.extra
    assert fixed.column_concentration_ == 2.0


@pytest.mark.unit
@pytest.mark.parametrize("one", [Bernoulli(a="auto", b=1.0), GaussianKnownVariance(variance="auto")], ids=str)
def test_numbers_that_cannot_be_learned_are_refused(one):
    with pytest.raises(InvalidLikelihoodError, match=r"learns all of .* of a column or none, .* column 'x0'"):
        crosscat(likelihood=Columns([one])).fit(np.array([[0.0], [1.0]] * 5))


@pytest.mark.unit
@pytest.mark.parametrize("init", ["bhcc", "prior", [3, 3, 3, 7, 7, 7]], ids=str)
def test_starts(init):
    X, first, _ = two_views()
    model = crosscat(init=init, n_tune=600).fit(X)  # from a draw of the prior views part late
    assert model.view_labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert adjusted_rand(model.labels_, first) == 1.0


@pytest.mark.unit
def test_one_view_is_where_a_chain_may_begin_and_stay():
    model = crosscat(init="one_view", n_tune=0, n_draws=1).fit(two_views(20)[0])
    assert (np.unique(model.posterior_.view_labels, return_counts=True)[1] >= 1).all()
    assert model.posterior_.n_views.max() <= 3


@pytest.mark.unit
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"init": "bhc"}, "init must be one of dependence, random, bhcc, .* or a label for each column, got 'bhc'"),
        ({"init": [0, 1]}, "init must have a whole number for each of the 6 columns"),
        ({"new_view": "other"}, "new_view must be one of"),
        ({"n_temperatures": 0}, "n_temperatures must be a whole number of at least 1"),
        ({"estimate": "mean"}, "estimate must be one of"),
        ({"row_concentration": -1.0}, "row_concentration must be a positive number or 'auto'"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        crosscat(**settings).fit(two_views()[0])


@pytest.mark.unit
@pytest.mark.parametrize("estimate", ["binder", "map"])
def test_other_estimates(estimate):
    X, first, _ = two_views()
    model = crosscat(estimate=estimate).fit(X)
    assert adjusted_rand(model.labels_, first) > 0.8


@pytest.mark.unit
def test_coupled_chains_report_their_swaps():
    model = crosscat(n_temperatures=3, new_view="prior").fit(two_views(20)[0])
    assert model.acceptance_["swap"].keys() == {f"swaps_{k}{end}" for k in range(2) for end in ("", "_accepted")}


# Runs


def draws_of(model):
    posterior = model.posterior_
    numbers = {**posterior.scalars, **posterior.extra}
    return posterior.labels.tobytes(), posterior.rows.tobytes(), {k: v.tobytes() for k, v in numbers.items()}


@pytest.mark.unit
def test_one_seed_one_result_however_it_is_run(tmp_path):
    X = two_views(25)[0]
    whole = crosscat().fit(X)
    assert draws_of(whole) == draws_of(crosscat(n_jobs=2).fit(X))
    assert draws_of(whole) != draws_of(crosscat(random_state=4).fit(X))
    pieces = crosscat(n_draws=7, run_dir=tmp_path / "run").fit(X)
    resumed = crosscat(n_draws=11, run_dir=tmp_path / "run", resume=True).fit(X).continue_fit(9)
    assert draws_of(resumed) == draws_of(whole)
    assert draws_of(pieces.continue_fit(13)) == draws_of(whole)
    for model in (resumed, pieces):
        np.testing.assert_array_equal(model.score_samples(X), whole.score_samples(X))
        np.testing.assert_array_equal(model.view_labels_, whole.view_labels_)


@pytest.mark.unit
def test_a_time_limit_ends_a_run():
    model = crosscat(n_draws=100_000, time_limit=1.0).fit(two_views(20)[0])
    assert 0 < model.posterior_.n_draws < 100_000


# Tables of all kinds


@pytest.fixture(scope="module")
def frame():
    X, first, second = two_views(50)
    rng = generator(5)
    table = pd.DataFrame(
        {
            "size": X[:, 0],
            "flag": first == 1,
            "count": rng.poisson(1 + 6 * first),
            "grade": pd.Categorical(np.where(second == 1, "good", "bad"), categories=["good", "bad", "never"]),
            "weight": X[:, 4],
            "empty": np.full(50, np.nan),
            "constant": np.ones(50),
        }
    )
    table.loc[::7, "size"] = np.nan
    table.loc[::9, "grade"] = None
    return table


@pytest.mark.unit
def test_mixed_tables_are_filled_and_saved(frame, tmp_path):
    model = crosscat(unseen="reserve").fit(frame)
    filled = model.impute()
    assert list(filled.columns) == list(frame.columns)
    assert not filled[["size", "grade"]].isna().any().any()
    assert filled["grade"].dtype == frame["grade"].dtype
    new = frame.assign(grade="excellent")
    assert np.isfinite(model.score_samples(new)).all()
    assert_same_after_saving(model, frame, tmp_path)
    with pytest.raises(ValueError, match="column 'grade' holds 'excellent'"):
        crosscat().fit(frame).predict(new)


@pytest.mark.unit
@pytest.mark.parametrize("shape", [(1, 3), (8, 1), (1, 1)], ids=str)
def test_one_row_or_one_column(shape, tmp_path):
    X = generator(6).normal(size=shape)
    model = crosscat().fit(X)
    assert model.view_labels_.shape == (shape[1],)
    assert_same_after_saving(model, X, tmp_path)


# Files


def assert_same_after_saving(model, X, tmp_path):
    """Every predictive bit."""
    model.save(tmp_path / "model.bg")
    other = load(tmp_path / "model.bg")
    for name in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(model, name)(X), getattr(other, name)(X))
    np.testing.assert_array_equal(model.surprisal(), other.surprisal())
    np.testing.assert_array_equal(model.row_similarity(), other.row_similarity())
    np.testing.assert_array_equal(model.same_view_probability_, other.same_view_probability_)
    first, second = (one.simulate(5, random_state=2) for one in (model, other))
    np.testing.assert_array_equal(first, second)
    assert draws_of(model) == draws_of(other)
    assert (model.likelihood_, model.acceptance_) == (other.likelihood_, other.acceptance_)
    assert (model.row_concentration_, model.column_concentration_) == (
        other.row_concentration_,
        other.column_concentration_,
    )
    for view, again in zip(model.views_, other.views_, strict=True):
        np.testing.assert_array_equal(view.columns, again.columns)
        np.testing.assert_array_equal(view.labels_, again.labels_)
        np.testing.assert_array_equal(view.tree_.parent, again.tree_.parent)
    other.save(tmp_path / "again.bg")
    assert (tmp_path / "again.bg").read_bytes() == (tmp_path / "model.bg").read_bytes()


@pytest.mark.unit
def test_a_saved_model_keeps_every_bit(fitted, tmp_path):
    model, X, _, _ = fitted
    assert_same_after_saving(model, X, tmp_path)
    labelled = crosscat(init=np.array([0, 0, 0, 1, 1, 1]), likelihood="gaussian").fit(X)
    assert_same_after_saving(labelled, X, tmp_path)


def broken(file, name, change):
    arrays = {key: value.copy() for key, value in file.arrays.items()}
    document = json.loads(json.dumps(file.document))
    if name in arrays:
        arrays[name] = change(arrays[name])
    else:
        document[name] = change(document[name])
    return document, arrays


def with_first(value):
    def change(array):
        array = array.astype(np.int64) if isinstance(value, int) else array
        array.flat[0] = value
        return array

    return change


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("draws", with_first(9), "draws are no labels"),
        ("draws", with_first(1), "draws are not numbered by first appearance"),
        ("draws", lambda a: a[:, :, :-1], "draws do not fit the columns"),
        ("row_draws", with_first(-1), "rows of draws are no labels"),
        ("row_draws", with_first(2), "rows of draws are not numbered"),
        ("row_draws", lambda a: a[:-1], "rows have a line for each view"),
        ("row_draws", lambda a: a[:, :-1], "draws do not fit the rows"),
        ("concentrations", with_first(-1.0), "a concentration is not positive"),
        ("concentrations", with_first(np.nan), "a number is not finite"),
        ("column_numbers", lambda a: -a, "numbers of a column cannot be"),
        ("column_numbers", lambda a: a[:, :, :-1], "arrays do not fit together"),
        ("scalars", lambda names: names[:1], "scalars are missing"),
        ("view_rows", lambda a: a[:1], "clusters do not fit the views"),
        ("view_rows", lambda a: a + 1, "labels are not those of the first view"),
        ("view1_parent", lambda a: a[:-1], "not consistent"),
        ("view1_odds", with_first(np.nan), "log_merge_odds must be numbers"),
        ("cells", with_first(np.inf), "a cell is infinite"),
    ],
)
def test_files_whose_parts_do_not_fit_are_refused(fitted, tmp_path, name, change, message):
    fitted[0].save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    write_model(tmp_path / "broken.bg", file.kind, *broken(file, name, change))
    with pytest.raises(InvalidFileError, match=message):
        load(tmp_path / "broken.bg")


@pytest.mark.unit
@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (np.array([[np.inf, 0.0], [1.0, 2.0]]), {}),
        (np.zeros((4, 0)), {}),
        ("a text", {}),
        (np.zeros((4, 2)), {"init": "nowhere"}),
        (np.zeros((4, 2)), {"likelihood": GaussianFull()}),
    ],
    ids=["infinite", "empty", "no table", "init", "likelihood"],
)
def test_what_is_refused_is_refused_before_anything_is_compiled(monkeypatch, X, settings):
    def compile_nothing(loss):
        raise AssertionError("kernels were compiled for a table that is refused")

    monkeypatch.setattr(crosscat_module, "compile_kernels", compile_nothing)
    with pytest.raises(ValueError, match=r"."):
        crosscat(**settings).fit(X)


@pytest.mark.unit
def test_categories_out_of_range_are_refused(tmp_path):
    X = generator(8).integers(0, 3, (20, 2)).astype(float)
    crosscat(likelihood=Columns([Categorical(n_categories=3)] * 2)).fit(X).save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    write_model(tmp_path / "broken.bg", file.kind, *broken(file, "cells", with_first(7.0)))
    with pytest.raises(InvalidFileError, match="not consistent"):
        load(tmp_path / "broken.bg")


# Exact numbers


@pytest.mark.exact
@pytest.mark.parametrize("name", ["nig_5x3", "mixed_5x4_missing"])
def test_golden_views_cells_and_similarities(name, monkeypatch):
    """Acceptance 18 by what users call, with all draws: 30,000, of which the limits are 2 to 8 times the error."""
    monkeypatch.setattr(draw_tables, "MOST_DRAWS", 10**6)
    numbers = json.loads(find_shared_file("golden/bhcc.json").read_text())["tables"][name]
    table = golden_table(numbers, as_columns=True)
    model = CrossCat(
        likelihood=table.likelihood,
        row_concentration=numbers["alpha_rows"],
        column_concentration=numbers["alpha_cols"],
        n_chains=2,
        n_tune=500,
        n_draws=15_000,
        random_state=2,
    ).fit(table.values)
    seen, counts = np.unique(
        model.posterior_.view_labels.reshape(-1, len(numbers["models"])), axis=0, return_counts=True
    )
    exact = {tuple(entry["labels"]): entry["p"] for entry in numbers["exact_column_partition_posterior"]}
    shares = {tuple(views): count / 30_000 for views, count in zip(seen.tolist(), counts, strict=True)}
    distance = 0.5 * sum(abs(shares.get(key, 0.0) - exact.get(key, 0.0)) for key in exact.keys() | shares.keys())
    assert distance < 0.03
    np.testing.assert_allclose(model.same_view_probability_, numbers["exact_p_same_view"], atol=0.02)
    for weight, key in (("views", "exact_row_similarity"), ("columns", "exact_row_similarity_column_weighted")):
        np.testing.assert_allclose(model.row_similarity(weight=weight), numbers[key], atol=0.02)
    for cell in numbers["cells"]:
        n_values = len(cell["values"])
        found = np.exp(model.cell_log_density([cell["i"]] * n_values, [cell["j"]] * n_values, cell["values"]))
        expected = np.exp(cell["log_p_exact"])
        if numbers["models"][cell["j"]][0] == "nig":
            np.testing.assert_allclose(found, expected, rtol=0.05)
        else:
            np.testing.assert_allclose(found, expected, atol=0.02)
