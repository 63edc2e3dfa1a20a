"""Imputers: tables in and out, draws, intervals, scikit-learn's conventions, and what dependence gains."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.impute import BHCCImputer, CrossCatImputer

N = 120
CROSSCAT = CrossCatImputer(n_chains=1, n_tune=30, n_draws=40, random_state=0)
BHCC = BHCCImputer(random_state=0, n_jobs=1)


@pytest.fixture(scope="module")
def whole():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, N)
    size = rng.normal(8.0 * kind, 1.0)
    frame = pd.DataFrame({"a": size + 0.1 * rng.normal(size=N), "b": 2.0 * size, "c": rng.normal(size=N) - size})
    frame["kind"] = np.array(["small", "large"])[kind]
    return frame.set_axis([f"row {i}" for i in range(N)])


@pytest.fixture(scope="module")
def gaps(whole):
    hidden = np.random.default_rng(1).random(whole.shape) < 0.1
    return whole.mask(hidden)


@pytest.fixture(scope="module", params=[CROSSCAT, BHCC], ids=["CrossCat", "BHCC"])
def fitted(request, gaps):
    return clone(request.param).fit(gaps)


@pytest.mark.unit
def test_frames_come_back_as_frames(fitted, gaps, whole):
    filled = fitted.transform(gaps)
    assert isinstance(filled, pd.DataFrame)
    assert not filled.isna().any(axis=None)
    seen = gaps.notna()
    assert filled.index.equals(gaps.index)
    assert filled.columns.tolist() == gaps.columns.tolist()
    assert (filled.astype(object).where(seen, 0) == gaps.astype(object).where(seen, 0)).all(axis=None)
    wrong = filled.kind.astype(str)[gaps.kind.isna()] != whole.kind[gaps.kind.isna()]
    assert wrong.mean() < 0.2


@pytest.mark.unit
def test_fit_transform_fills_the_rows_of_the_fit(gaps):
    filled = clone(BHCC).fit_transform(gaps)
    seen = gaps.a.notna()
    assert np.array_equal(filled.a[seen], gaps.a[seen])
    assert not filled.isna().any(axis=None)


@pytest.mark.unit
def test_dependence_inside_clusters_is_used(fitted, gaps, whole):
    """Columns a and b are proportional inside clusters: independent columns cannot tell."""
    hidden = gaps.b.isna() & gaps.a.notna()
    linear, none = (fitted.model_.impute(dependence=how) for how in ("linear", "none"))
    error, other = (float(np.sqrt(np.mean((found.b - whole.b)[hidden] ** 2))) for found in (linear, none))
    assert error < 0.7 * other


@pytest.mark.unit
def test_draws_differ_where_cells_were_missing(fitted, gaps):
    tables = fitted.sample(3)
    assert [table.shape for table in tables] == [gaps.shape] * 3
    missing = gaps.a.isna()
    assert (tables[0].a[missing] != tables[1].a[missing]).all()
    np.testing.assert_allclose(tables[0].a[~missing], gaps.a[~missing])
    assert not pd.concat(tables).isna().any(axis=None)
    new = fitted.sample(2, gaps.iloc[:7])
    assert [table.shape for table in new] == [(7, 4)] * 2


@pytest.mark.statistical
def test_intervals_hold_draws(fitted, gaps):
    """90 % intervals hold .9 of 200 draws of about 36 cells; draws of a chain's 60 kept states repeat states."""
    found = fitted.model_.impute(level=0.9, draws=200)
    numeric = found.columns < 3
    inside = (found.low <= found.draws) & (found.draws <= found.high)
    assert 0.86 < inside[:, numeric].mean() < 0.94
    told = fitted.intervals(level=0.5)
    assert np.all(told.high[numeric] - told.low[numeric] < (found.high - found.low)[numeric])


@pytest.mark.unit
def test_outputs_of_scikit_learn(gaps):
    imputer = clone(BHCC).fit(gaps)
    assert imputer.get_feature_names_out().tolist() == ["a", "b", "c", "kind"]
    numbers = gaps[["a", "b", "c"]].to_numpy()
    pipeline = make_pipeline(clone(BHCC), StandardScaler())
    assert not np.isnan(pipeline.fit_transform(numbers)).any()
    framed = clone(BHCC).set_output(transform="pandas").fit(numbers).transform(numbers)
    assert framed.columns.tolist() == ["x0", "x1", "x2"]
    polars = pl.from_pandas(gaps)
    assert isinstance(clone(BHCC).fit(polars).transform(polars), pl.DataFrame)


@pytest.mark.unit
def test_wrong_settings_are_refused(gaps):
    with pytest.raises(InvalidSettingError, match="dependence must be one of"):
        BHCCImputer(dependence="cubic", n_jobs=1).fit_transform(gaps)
    with pytest.raises(InvalidSettingError, match="n_draws must be a whole number of at least 1, got 0"):
        clone(BHCC).fit(gaps).sample(0)


@pytest.mark.unit
def test_few_rows_and_one_column_are_filled_too():
    X = np.random.default_rng(3).normal(size=(12, 2))
    X[0, 0] = np.nan
    assert not np.isnan(clone(BHCC).fit_transform(X)).any()
    one = np.append(np.arange(30.0), np.nan)[:, np.newaxis]
    assert not np.isnan(clone(BHCC).fit_transform(one)).any()


@pytest.mark.slow
@parametrize_with_checks([BHCC, CROSSCAT])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.unit
def test_views_are_checked_by_view():
    rng = np.random.default_rng(4)
    first = rng.normal(8.0 * rng.integers(0, 2, 200), 1.0)
    X = np.column_stack([first, first + 0.3 * rng.normal(size=200), rng.normal(size=200)])
    found = bg.BHCC(random_state=0, n_jobs=1).fit(X).check()
    assert found.columns.tolist()[:3] == ["check", "column", "other"]
    assert set(found.check) >= {"tails", "values"}
