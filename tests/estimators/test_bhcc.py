"""BHCC and RandomizedBHCC as users meet them: views, prediction, questions, frames, errors."""

import logging
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesgrove import BHCC, RandomizedBHCC, load
from bayesgrove.core.errors import InvalidLikelihoodError, InvalidSettingError, InvalidTableError
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_cross_table
from bayesgrove.likelihoods import Bernoulli, Binomial, Categorical, Columns, GaussianDiagonal, Poisson
from bayesgrove.stats.partitions import adjusted_rand
from bayesgrove.trees import expected_clusters

pytestmark = pytest.mark.unit
N = 40
FIRST, SECOND = generator(3).integers(0, 2, (2, N))


def mixed_frame():
    """Two views: three columns that follow FIRST, three that follow SECOND; some cells missing."""
    rng = generator(4)
    frame = pd.DataFrame(
        {
            "size": rng.normal(6.0 * FIRST, 1.0),
            "count": rng.poisson(1.0 + 8.0 * FIRST),
            "kind": pd.Categorical(np.array(["low", "high"])[FIRST], categories=["low", "high"]),
            "flag": rng.random(N) < np.where(SECOND, 0.95, 0.05),
            "word": np.array(["left", "right"])[SECOND],
            "weight": rng.normal(6.0 * SECOND, 1.0),
        },
        index=[f"row {i}" for i in range(N)],
    )
    frame.iloc[3, 0] = np.nan
    frame.iloc[4, 2] = None
    frame.iloc[5, 4] = None
    return frame


LIKELIHOOD = Columns([GaussianDiagonal(), Poisson(), Categorical(), Bernoulli(), Categorical(), GaussianDiagonal()])


@pytest.fixture(scope="module")
def model():
    """Fitted to the mixed frame, numbers fixed."""
    return BHCC(LIKELIHOOD, random_state=0).fit(mixed_frame())


@pytest.fixture(scope="module", params=[BHCC, RandomizedBHCC])
def fitted(request):
    """Each estimator, fitted to the mixed frame."""
    return request.param(LIKELIHOOD, random_state=0).fit(mixed_frame())


def test_views_are_found(fitted):
    assert fitted.view_labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert fitted.n_views_ == 2
    assert [view.columns.tolist() for view in fitted.views_] == [[0, 1, 2], [3, 4, 5]]
    for view, truth in zip(fitted.views_, (FIRST, SECOND), strict=True):
        assert adjusted_rand(view.labels_, truth) > 0.9
        assert view.tree_.n_leaves == N
    assert fitted.labels_ is fitted.views_[0].labels_
    assert fitted.n_clusters_ == fitted.views_[0].n_clusters_
    assert fitted.column_tree_.leaf_labels == tuple(mixed_frame().columns)
    assert [view.name for view in fitted.result_.views] == ["view 0", "view 1"]
    assert fitted.result_.details["search"] == fitted.search_
    assert fitted.same_view_probability_[0, 1] > 0.99 > 0.01 > fitted.same_view_probability_[0, 3]


def test_the_search_is_chosen_by_size_and_named(caplog):
    X = make_cross_table(20, (3, 3), (2, 2), n_trials=9).X
    wide = make_cross_table(20, (200, 200), (2, 3), n_trials=9).X
    for table, expected in ((X, "exact"), (wide, "multistart")):
        with caplog.at_level(logging.INFO, "bayesgrove"):
            model = BHCC(Binomial(9), random_state=0, n_starts=1).fit(table)
        assert model.search_ == expected
        assert f"search {expected!r}" in caplog.text
    assert BHCC(Binomial(9), search="screen").fit(X).search_ == "screen"


def test_cuts_by_other_rules(model):
    strict = BHCC(LIKELIHOOD, cut=0.0, random_state=0).fit(mixed_frame())
    assert strict.n_views_ == 1
    assert strict.n_clusters_ == 1
    probable = BHCC(LIKELIHOOD, cut="map", random_state=0).fit(mixed_frame())
    assert probable.view_labels_.tolist() == model.view_labels_.tolist()
    assert probable.result_.details["flat_bound"] == pytest.approx(model.result_.details["flat_bound"], abs=1e-9)


def test_imputed_frames_keep_their_types(fitted):
    frame = mixed_frame()
    filled = fitted.impute(frame)
    assert list(filled.index) == list(frame.index)
    assert not filled.isna().any().any()
    assert filled["kind"].dtype == frame["kind"].dtype
    assert filled["flag"].dtype == frame["flag"].dtype
    assert filled["kind"].iloc[4] == ("low", "high")[FIRST[4]]
    assert filled["word"].iloc[5] == ("left", "right")[SECOND[5]]
    assert abs(filled["size"].iloc[3] - 6.0 * FIRST[3]) < 2.0
    assert filled["count"].tolist() == frame["count"].tolist()
    own = fitted.impute()
    assert isinstance(own, pd.DataFrame)
    assert own["kind"].iloc[4] == filled["kind"].iloc[4]


def test_a_filled_training_frame_fits_the_frame_it_came_from(tmp_path):
    """So that `frame.fillna(model.impute())` puts each cell where it belongs."""
    frame = mixed_frame().set_axis(range(10, 16), axis=1)
    model = BHCC(LIKELIHOOD, random_state=0).fit(frame)
    filled = model.impute()
    assert filled.index.equals(frame.index)
    assert filled.columns.equals(frame.columns)
    more = model.with_rows(frame[:2].rename(index=lambda name: f"again {name}"))
    assert more.impute().index.tolist() == [*frame.index, "again row 0", "again row 1"]
    assert more.tree_.leaf_labels == more.views_[-1].tree_.leaf_labels == tuple(more.impute().index)
    model.save(tmp_path / "model.bg")
    assert load(tmp_path / "model.bg").impute().index.equals(frame.index)


def test_imputed_polars_and_arrays():
    frame = pl.from_pandas(mixed_frame())
    model = BHCC(LIKELIHOOD, random_state=0).fit(frame)
    filled = model.impute()
    assert isinstance(filled, pl.DataFrame)
    assert filled.null_count().sum_horizontal().item() == 0
    assert filled["kind"][4] == ("low", "high")[FIRST[4]]
    assert isinstance(model.impute(frame), pl.DataFrame)
    X = mixed_frame()[["size", "count", "weight"]].to_numpy(float)
    model = BHCC("gaussian", random_state=0).fit(X)
    seen = ~np.isnan(X)
    assert isinstance(model.impute(), np.ndarray)
    np.testing.assert_allclose(model.impute()[seen], X[seen], atol=1e-12)
    assert np.array_equal(model.impute(X)[seen], X[seen])


def test_imputation_says_how_sure_it_is(fitted):
    told = fitted.impute(level=0.8, draws=400)
    assert list(zip(told.rows, told.columns, strict=True)) == [(3, 0), (4, 2), (5, 4)]
    assert told.low[0] < told.values.iloc[3, 0] < told.high[0]
    assert np.isnan(told.sd[1:]).all()
    assert told.probabilities[0] is None
    assert told.probabilities[1].sum() == pytest.approx(1.0)
    inside = (told.draws[:, 0] >= told.low[0]) & (told.draws[:, 0] <= told.high[0])
    assert abs(inside.mean() - 0.8) < 0.08  # four standard errors
    assert told.draws[:, 0].std() == pytest.approx(told.sd[0], rel=0.25)
    narrow = fitted.impute(level=0.2)
    assert narrow.high[0] - narrow.low[0] < told.high[0] - told.low[0]


def test_densities_are_in_the_units_of_the_data(model):
    grid = np.linspace(-20.0, 30.0, 4001)
    mass = np.trapezoid(np.exp(model.cell_log_density(np.zeros(4001, int), ["size"] * 4001, grid)), grid)
    assert mass == pytest.approx(1.0, abs=1e-3)
    chances = np.exp(model.cell_log_density([0, 0], ["kind", "kind"], ["low", "high"]))
    assert chances.sum() == pytest.approx(1.0, abs=1e-9)
    surprise = model.surprisal([0, 3], ["size", "kind"])
    assert np.isnan(surprise[1, 0])
    value = mixed_frame()["kind"].iloc[0]
    assert surprise[0, 1] == pytest.approx(-model.cell_log_density([0], ["kind"], [value])[0], abs=1e-12)


def test_a_row_of_a_frame_can_be_given(model):
    row = mixed_frame().loc["row 3"]  # its size is missing
    drawn = model.simulate(20, given=row, random_state=1)
    assert set(drawn["word"]) == {row["word"]}
    assert set(drawn["count"]) == {row["count"]}
    assert drawn["size"].nunique() == 20
    assert drawn.equals(model.simulate(20, given=row.dropna().to_dict(), random_state=1))


def test_conditions_shift_what_is_simulated(model):
    drawn = model.simulate(400, given={"kind": "high"}, columns=["size", "weight"], random_state=1)
    free = model.simulate(400, random_state=1)
    assert list(drawn.columns) == ["size", "weight"]
    assert drawn["size"].mean() > 4.5
    assert 1.0 < free["size"].mean() < 5.0
    assert set(free["word"]) == {"left", "right"}
    given = model.simulate(5, given={"kind": "high", "count": 3}, random_state=1)
    assert (given["kind"] == "high").all()
    assert (given["count"] == 3).all()


def test_conditional_densities_are_ratios(model):
    both = mixed_frame().iloc[:3].drop(index=[])
    asked, given = both.copy(), both.copy()
    for name in ("count", "weight"):
        asked[name] = np.nan
    for name in ("size", "flag"):
        given[name] = np.nan
    asked["kind"], asked["word"] = pd.Categorical([None] * 3, ["low", "high"]), np.array([None] * 3, object)
    expected = model.score_samples(both) - model.score_samples(given)
    np.testing.assert_allclose(model.conditional_log_density(asked, given), expected, atol=1e-10)
    with pytest.raises(InvalidTableError, match="asked for or given, not both: row 0, column 'size'"):
        model.conditional_log_density(both, both)


def test_new_columns_prefer_their_view(model):
    rng = generator(9)
    likelihood = GaussianDiagonal(mean=3.0, strength=0.1, shape=2.0, rate=2.0)
    related, noise = rng.normal(6.0 * FIRST, 1.0), rng.permutation(rng.normal(6.0 * FIRST, 1.0))
    known, unknown = (model.column_log_density(y, likelihood) for y in (related, noise))
    assert known > unknown + 20.0
    labels = np.array(["a", "b"], object)[FIRST]
    labels[0] = None
    assert model.column_log_density(labels) > -20.0
    with pytest.raises(InvalidTableError, match="a cell for each of 40 rows, got 3"):
        model.column_log_density([1.0, 2.0, 3.0])


def test_forms_in_print_have_other_masses():
    """The printed form of a new column has the mass of the expected number of views (E2), ours 1."""
    table = make_cross_table(5, (2, 2), (2, 2), n_trials=1, random_state=2).X
    model = BHCC(Bernoulli(0.5, 0.5), search="exact").fit(table)
    columns = (np.arange(32)[:, None] >> np.arange(5)) & 1
    likelihood = Bernoulli(0.5, 0.5)
    ours = sum(math.exp(model.column_log_density(y, likelihood, new_view="exact")) for y in columns)
    theirs = sum(math.exp(model.column_log_density(y, likelihood, form="paper")) for y in columns)
    assert ours == pytest.approx(1.0, abs=1e-9)
    assert theirs == pytest.approx(expected_clusters(model.column_tree_), abs=1e-9)
    assert theirs > 1.0 + 1e-6
    rows = (np.arange(16)[:, None] >> np.arange(4)) & 1
    assert np.exp(model.score_samples(rows)).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.exp(model.score_samples(rows, form="paper")).sum() > 1.0 + 1e-6


def test_similarity_and_information(model):
    similar = model.row_similarity([0], weight="columns")
    same_first, same_second = np.equal(FIRST, FIRST[0]), np.equal(SECOND, SECOND[0])
    agree = same_first.astype(float) + same_second
    assert np.corrcoef(similar[0], agree)[0, 1] > 0.95
    first_only = model.row_similarity([0], columns=["size"])[0]
    assert first_only[same_first].min() > first_only[~same_first].max()
    values, errors = model.mutual_information([("kind", "word"), ("kind", "count")], return_error=True)
    assert values[0] < 1e-6 < 0.3 < values[1]
    assert errors[0] == 0.0
    matrix = model.mutual_information(normalise="linfoot", n_samples=500)
    assert np.isnan(np.diag(matrix)).all()
    np.testing.assert_array_equal(matrix, matrix.T)
    pair = [("flag", "word")]
    raw = model.mutual_information(pair)[0]
    lowest, joint, root = (model.mutual_information(pair, normalise=how)[0] for how in ("min", "joint", "sqrt"))
    assert raw < joint < root <= lowest <= 1.0
    apart = model.mutual_information([("flag", "kind")], normalise="vi")[0]
    assert apart > model.mutual_information(pair, normalise="vi")[0]
    with pytest.raises(InvalidSettingError, match="column 'size' holds measurements"):
        model.mutual_information([("size", "kind")], normalise="min")


def test_predictions_by_view(fitted):
    frame = mixed_frame()
    for k, truth in enumerate((FIRST, SECOND)):
        assert adjusted_rand(fitted.predict(frame, view=k), truth) > 0.9
        chances = fitted.predict_proba(frame, view=k)
        assert chances.shape == (N, fitted.views_[k].n_clusters_ + 1)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-9)
    best, _ = fitted.predict_proba(frame, view=1, top_k=1)
    assert np.array_equal(best[:, 0], fitted.predict_proba(frame, view=1).argmax(axis=1))
    with pytest.raises(InvalidSettingError, match="views are numbered 0 to 1, got 2"):
        fitted.predict(frame, view=2)


def test_further_rows_are_placed(fitted):
    frame = mixed_frame()
    more = fitted.with_rows(frame.iloc[:7])
    assert fitted.labels_.size == N
    assert more.labels_.size == N + 7
    assert np.array_equal(more.view_labels_, fitted.view_labels_)
    for view in more.views_:
        assert np.array_equal(view.labels_[N:], view.labels_[:7])
    assert more.impute().shape == (N + 7, 6)
    assert more.likelihood_ == fitted.likelihood_


def test_unseen_categories():
    frame = mixed_frame()
    strange = frame.iloc[:2].copy()
    strange["word"] = ["left", "up"]
    model = BHCC(LIKELIHOOD, random_state=0).fit(frame)
    with pytest.raises(InvalidTableError, match="column 'word' holds 'up'"):
        model.score_samples(strange)
    with pytest.raises(InvalidTableError, match="column 'word' holds 'up'"):
        model.cell_log_density([0], ["word"], ["up"])
    open_minded = BHCC(LIKELIHOOD, unseen="reserve", random_state=0).fit(frame)
    scores = open_minded.score_samples(strange)
    assert np.isfinite(scores).all()
    chances = np.exp(open_minded.cell_log_density([0] * 3, ["word"] * 3, ["left", "right", "up"]))
    assert chances.sum() == pytest.approx(1.0, abs=1e-9)
    assert 0.0 < chances[2] < 0.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": "best"}, "search must be one of"),
        ({"evidence": "exact"}, "evidence must be one of"),
        ({"row_search": "exact"}, "row_search must be one of"),
        ({"cut": "third"}, 'a cut by name is "half" or "map"'),
        ({"cut": None}, "cut must be 'half', 'map' or a probability"),
        ({"row_concentration": 0.0}, "row_concentration must be a positive number or 'auto', got 0.0"),
        ({"column_concentration": "large"}, "column_concentration must be a positive number"),
        ({"unseen": "guess"}, "unseen must be one of"),
        ({"polish": 2}, "polish must be one of"),
        ({"n_starts": 0}, "n_starts must be a whole number of at least 1"),
        ({"row_method": "fast"}, "row_method must be one of"),
        ({"row_sample": 1}, "row_sample must be a whole number of at least 2"),
        ({"hyper": "all"}, "hyper must be 'auto', 'optimize' or 'fixed'"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        BHCC(**settings).fit(np.zeros((4, 2)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_levels": -1}, "max_levels must be a whole number of at least 0"),
        ({"sample_size": 1}, "sample_size must be a whole number of at least 2"),
        ({"leaf_size": 2}, "leaf_size must be a whole number of at least 3"),
        ({"filter_rule": "none"}, "filter_rule must be one of"),
        ({"polish": "auto"}, "polish must be one of"),
    ],
)
def test_settings_of_the_randomized_search_are_checked(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        RandomizedBHCC(**settings).fit(np.zeros((4, 2)))


def test_questions_are_checked(model):
    for ask, message in (
        (lambda: model.cell_log_density([0], ["colour"], [1]), "columns are named as in training, got 'colour'"),
        (lambda: model.cell_log_density([0], [6], [1]), "columns are numbered 0 to 5, got 6"),
        (lambda: model.cell_log_density([40], [0], [1]), "rows are numbered 0 to 39"),
        (lambda: model.cell_log_density([0, 1], [0], [1, 2, 3]), "of one length, got 2, 1 and 3"),
        (lambda: model.impute(level=1.0), "level is a probability between 0 and 1"),
        (lambda: model.score_samples(mixed_frame(), form="short"), "form must be one of"),
        (lambda: model.mutual_information(["size"]), "pairs are of two different columns"),
    ):
        with pytest.raises(InvalidSettingError, match=message):
            ask()
    with pytest.raises(InvalidTableError, match="column 'size' holds numbers, got 'big'"):
        model.simulate(1, given={"size": "big"})
    with pytest.raises(InvalidTableError, match="given is one row, got 2"):
        model.simulate(1, given=mixed_frame().iloc[:2])
    with pytest.raises(InvalidTableError, match="has one dimension, got 2"):
        model.column_log_density(np.zeros((40, 2)))
    with pytest.raises(InvalidTableError, match="have a row each, got 3 and 2"):
        model.conditional_log_density(mixed_frame().iloc[:3], mixed_frame().iloc[:2])
    with pytest.raises(InvalidLikelihoodError, match="a likelihood for each column by itself, got GaussianFull"):
        BHCC("gaussian-full").fit(np.zeros((4, 2)))


@pytest.mark.parametrize("estimator", [BHCC, RandomizedBHCC])
def test_odd_tables(estimator):
    """One row, one column, constant and empty columns."""
    one_row = estimator("gaussian", random_state=0).fit([[1.0, 2.0, 3.0]])
    assert one_row.labels_.tolist() == [0]
    one_column = estimator(random_state=0).fit([[1.0], [1.5], [9.0]])
    assert one_column.view_labels_.tolist() == [0]
    X = np.column_stack([np.ones(6), np.full(6, np.nan), [0.0, 0.1, 0.2, 7.0, 7.1, 7.2]])
    odd = estimator(random_state=0).fit(X)
    assert odd.view_labels_.size == 3
    assert not np.isnan(odd.impute()).any()
