"""`BHMC` and `RBHMC`: what fits give, how trees are chosen, preparation of rows, new rows, refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import bayesgrove as bg
from bayesgrove import BHMC, RBHMC
from bayesgrove.core.errors import InvalidInputError
from bayesgrove.core.rng import generator
from bayesgrove.report.words import whether_to_trust
from bayesgrove.stats.paths import number_paths

pytestmark = pytest.mark.unit

SHORT = {"depth": 2, "n_chains": 2, "n_tune": 20, "n_draws": 40, "random_state": 3, "n_jobs": 1}
ONES = {"component_variance": 1.0, "base_variance": 1.0}
CHANCE = {"penalty": "chance", "margin_scale": "rms", "C": 0.03, "margin": 0.2}
KINDS = [BHMC, RBHMC]


@pytest.fixture(scope="module")
def rows():
    """Three groups of ten, two of them near each other."""
    rng = generator(0)
    return np.vstack([rng.normal(centre, 0.4, (10, 3)) for centre in ((-4, 0, 0), (-4, 3, 0), (5, -1, 2))])


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def fitted(request, rows):
    return request.param(component_variance=0.2, base_variance=10.0, **SHORT).fit(rows)


def test_what_a_fit_gives(fitted, rows):
    assert fitted.level_labels_.shape == (30, 2)
    np.testing.assert_array_equal(fitted.level_labels_, number_paths(fitted.level_labels_))
    np.testing.assert_array_equal(fitted.labels_, fitted.level_labels_[:, -1])
    assert fitted.n_clusters_ == fitted.labels_.max() + 1
    assert fitted.posterior_.paths.shape == (2, 40, 30, 2)
    assert fitted.tree_.n_leaves == 30
    assert set(fitted.tree_.columns) == {"level", "credibility", "log_merge_odds"}
    assert {"n_level_1", "n_components", "cdl"} <= set(fitted.posterior_.scalars)
    assert fitted.scores_["aid"] == pytest.approx(bg.metrics.aid(rows, fitted.level_labels_), nan_ok=True)
    assert fitted.scores_["aod"] == pytest.approx(bg.metrics.aod(rows, fitted.level_labels_), nan_ok=True)
    assert fitted.scores_["cdl"] == fitted.posterior_.scalars["cdl"][fitted.selected_draw_]
    assert isinstance(fitted.converged_, bool)
    assert fitted.result_.details["mean_n_clusters"] == pytest.approx(fitted.posterior_.scalars["n_clusters"].mean())


def test_rows_of_a_group_share_more_of_their_paths(fitted):
    """A leaf is a mixture, so that far groups may share one; rows of a group do so more often."""
    shared = fitted.posterior_.path_overlap()
    assert shared[:10, :10].mean() > shared[:10, 20:].mean() + 0.2


def test_new_rows_join_leaves_or_branch_off(fitted, rows):
    chances = fitted.predict_proba(rows)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert chances.shape == (30, fitted.n_clusters_ + 1)
    np.testing.assert_array_equal(fitted.predict(rows), chances[:, :-1].argmax(axis=1))
    paths = fitted.predict_paths(rows)
    assert paths.shape == (30, 2)
    assert paths.min() >= -1
    known = {tuple(path) for path in fitted.level_labels_}
    assert all(tuple(path) in known for path in paths[paths.min(axis=1) >= 0])
    first = fitted.predict_level_proba(rows, 1)
    np.testing.assert_allclose(first.sum(axis=1), 1.0)
    assert first.shape[1] == fitted.level_labels_[:, 0].max() + 2
    assert np.all(chances[:, -1] >= first[:, -1] - 1e-12)  # a branch off at level 1 is one at level 2
    pairs = fitted.predict_proba(rows, top_k=1)
    np.testing.assert_array_equal(pairs[0][:, 0], chances.argmax(axis=1))


def test_densities_are_higher_where_the_rows_are(fitted, rows):
    near, far = fitted.score_samples(rows), fitted.score_samples(rows + 30.0)
    assert near.min() > far.max()
    assert fitted.score(rows) == pytest.approx(near.mean())
    drawn = fitted.sample(500, random_state=0)
    assert drawn.shape == (500, 3)
    assert np.abs(drawn.mean(axis=0) - rows.mean(axis=0)).max() < 1.5  # spread 4: standard error about .2


def test_trees_are_chosen_as_asked(rows):
    base = BHMC(component_variance=0.2, base_variance=10.0, **SHORT).fit(rows)
    for select in ("central", "best", "frequent", "consensus"):
        model = base.set_params(select=select)
        model._summarise()
        posterior = model.posterior_
        if select == "central":
            expected = posterior.at(posterior.central_draw())
        elif select == "best":
            expected = posterior.at(np.unravel_index(np.argmax(posterior.scalars["cdl"]), (2, 40)))
        elif select == "frequent":
            expected = posterior.at(divmod(posterior.frequent_tree().draw, 40))
        else:
            assert model.selected_draw_ is None
            assert np.isnan(model.scores_["cdl"])
            continue
        np.testing.assert_array_equal(model.level_labels_, expected)


def test_no_strength_is_no_penalty(rows):
    """C = 0 draws the same trees as BHMC: discriminants have a stream of their own."""
    settings = {**SHORT, "component_variance": 0.2, "base_variance": 10.0}
    plain, free = BHMC(**settings).fit(rows), RBHMC(C=0.0, **settings).fit(rows)
    np.testing.assert_array_equal(plain.posterior_.paths, free.posterior_.paths)
    np.testing.assert_array_equal(plain.posterior_.scalars["cdl"], free.posterior_.scalars["cdl"])
    np.testing.assert_allclose(free.predict_proba(rows), plain.predict_proba(rows))


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": "auto", "gamma": "auto", "gamma0": "auto"},
        {"component_variance": "auto", "base_variance": "auto"},
        {"means": "collapsed"},
        {"n_components": 4},
        {"path": "mh", "regraft": False},
        {"split_merge": True, "depth": 3},
        {"sampler": "paper"},
        {"likelihood": "gaussian"},
        {"likelihood": bg.likelihoods.GaussianKnownVariance(variance=0.2)},
        {"depth": 1},
    ],
    ids=str,
)
def test_variants_of_the_model(rows, settings):
    model = BHMC(**{**SHORT, "n_draws": 15, **settings}).fit(rows)
    assert np.isfinite(model.score_samples(rows)).all()
    np.testing.assert_allclose(model.predict_proba(rows[:2]).sum(axis=1), 1.0)
    assert model.sample(3, random_state=0).shape == (3, 3)
    for name in ("alpha", "gamma", "gamma0", "component_variance", "base_variance"):
        if settings.get(name) == "auto":
            assert getattr(model, f"{name}_") == pytest.approx(model.posterior_.scalars[name].mean())


@pytest.mark.parametrize(
    "settings",
    [
        CHANCE,
        {**CHANCE, "discriminants": "gibbs"},
        {"penalty": "sum", "C": 0.05},
        {"penalty": "chance-max", "margin_scale": "rms", "C": 0.3, "margin": 0.1},
        {"discriminants": "augmented"},
        {"intercept": True},
        {"discriminant_scale": "auto"},
        {"sampler": "paper"},
        {"path": "mh"},
        {"C": 0.3, "n_temperatures": 3},
        {"split_merge": True, "penalty": "chance-max"},
    ],
    ids=str,
)
def test_variants_of_the_penalty(rows, settings):
    model = RBHMC(**{**SHORT, "n_draws": 15, "center": True, **settings}).fit(rows)
    assert np.isfinite(model.posterior_.scalars["rcdl"]).all()
    np.testing.assert_allclose(model.predict_proba(rows[:2]).sum(axis=1), 1.0)
    assert model.discriminant_scale_ > 0.0


def two_kinds_of_answers(rng):
    """Yes/no answers of twenty rows, the first ten of one kind."""
    return rng.random((20, 12)) < np.repeat([[0.9] * 6 + [0.1] * 6, [0.1] * 6 + [0.9] * 6], 10, axis=0)


def test_yes_no_tables_need_no_projection():
    model = BHMC(likelihood="bernoulli", **SHORT).fit(two_kinds_of_answers(generator(2)))
    shared = model.posterior_.path_overlap()
    assert shared[:10, :10].mean() > shared[:10, 10:].mean() + 0.2


@pytest.mark.slow
def test_word_counts_and_mixed_tables_go_in_as_they_are():
    """Slow: their kernels take long to compile."""
    rng = generator(2)
    flags = two_kinds_of_answers(rng)
    counts = csr_array(rng.poisson(np.where(flags, 6.0, 0.3)).astype(float))
    words = BHMC(likelihood="multinomial", **SHORT).fit(counts)
    assert words.n_features_in_ == 12
    assert words.predict(counts).shape == (20,)
    frame = pd.DataFrame({"size": rng.normal(size=20), "colour": ["red", "blue"] * 10})
    assert BHMC(likelihood="auto", **SHORT).fit(frame).labels_.size == 20


def test_missing_cells_are_left_out_where_means_are_integrated_out(rows):
    holes = rows.copy()
    holes[0, 0] = np.nan
    model = BHMC(means="collapsed", component_variance=0.2, base_variance=10.0, **SHORT).fit(holes)
    assert np.isfinite(model.score_samples(holes)).all()
    with pytest.raises(InvalidInputError, match='means="collapsed"'):
        BHMC(**SHORT).fit(holes)
    with pytest.raises(InvalidInputError, match="or take BHMC with"):
        RBHMC(means="collapsed", **SHORT).fit(holes)


def test_preparation_is_recorded_and_undone(rows):
    model = BHMC(n_pca=2, scale=2.0, **SHORT).fit(rows + 100.0)
    prepared = model._preparation
    scores = prepared.apply(rows + 100.0)
    assert scores.shape == (30, 2)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-9)
    assert scores[:, 0].var() >= scores[:, 1].var()
    centred = rows - rows.mean(axis=0)
    assert np.sum((2.0 * scores) ** 2) <= np.sum(centred**2)
    assert np.abs(model.sample(200, random_state=0).mean(axis=0) - (rows + 100.0).mean(axis=0)).max() < 3.0
    np.testing.assert_array_equal(model.posterior_.paths, BHMC(**SHORT).fit(scores).posterior_.paths)


def test_a_change_of_unit_changes_densities_by_its_logarithm(rows):
    plain = BHMC(center=True, **SHORT).fit(rows)
    wide = BHMC(center=True, scale=10.0, **SHORT).fit(10.0 * rows)
    np.testing.assert_allclose(wide.score_samples(10.0 * rows), plain.score_samples(rows) - 3.0 * np.log(10.0))
    unit = BHMC(scale="unit", **SHORT).fit(rows)
    assert unit._preparation.scale == pytest.approx(np.sqrt(np.mean(np.var(rows, axis=0))))


def test_one_row_equal_rows_and_frames(rows):
    one = BHMC(**SHORT).fit(rows[:1])
    assert one.labels_.tolist() == [0]
    same = RBHMC(**SHORT).fit(np.ones((6, 2)))
    assert same.posterior_.paths.shape == (2, 40, 6, 2)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = BHMC(n_pca=2, **SHORT).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.result_.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(model.predict(frame[["a", "b", "c"]]), model.predict(frame))


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (BHMC, {"depth": 0}, "depth must be a whole number of at least 1"),
        (BHMC, {"alpha": 0.0}, "alpha must be a positive number"),
        (BHMC, {"gamma": "best"}, "gamma must be a positive number or 'auto'"),
        (BHMC, {"gamma0": np.inf}, "gamma0 must be finite"),
        (BHMC, {"n_components": 0}, "n_components must be a whole number"),
        (BHMC, {"path": "slice"}, "path must be one of"),
        (BHMC, {"sampler": "printed"}, "sampler must be one of"),
        (BHMC, {"means": "drawn"}, "means must be one of"),
        (BHMC, {"select": "map"}, "select must be one of"),
        (BHMC, {"center": "yes"}, "center is True or False"),
        (BHMC, {"scale": -1.0}, "scale must be a positive number"),
        (BHMC, {"n_pca": 4}, "n_pca is at most the number of rows and of columns, 3"),
        (BHMC, {"resume": True}, "resume=True needs run_dir"),
        (RBHMC, {"C": -0.1}, "C must be a number of at least 0"),
        (RBHMC, {"margin": 0.0}, "margin must be a positive number"),
        (RBHMC, {"penalty": "mean"}, "penalty must be one of"),
        (RBHMC, {"margin_scale": "sd"}, "margin_scale must be one of"),
        (RBHMC, {"discriminants": "printed"}, "discriminants must be one of"),
        (RBHMC, {"discriminants": "augmented", "penalty": "sum"}, "'augmented' knows penalty='max' only"),
        (RBHMC, {"discriminants": "gibbs"}, "'gibbs' knows penalty='sum' and 'chance' only"),
        (RBHMC, {"sampler": "paper", "penalty": "chance"}, "printed sampler knows penalty='max' only"),
        (RBHMC, {"discriminant_scale": 0.0}, "discriminant_scale must be a positive number"),
        (RBHMC, {"paper_prior_precision": "nu0"}, "paper_prior_precision must be one of"),
        (RBHMC, {"n_temperatures": 0}, "n_temperatures must be a whole number"),
        (RBHMC, {"sampler": "paper", "n_temperatures": 2}, "printed sampler has one temperature"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(rows, kind, settings, message):
    with pytest.raises(ValueError, match=message):
        kind(**{**SHORT, **settings}).fit(rows)


def test_columns_of_categories_are_refused_where_numbers_are_due():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    with pytest.raises(InvalidInputError, match="column 'colour' holds categories"):
        BHMC(**SHORT).fit(frame)
    with pytest.raises(InvalidInputError, match="column 'colour' holds categories"):
        BHMC(likelihood="auto", center=True, **SHORT).fit(frame)


@pytest.mark.parametrize(("cell", "message"), [(np.inf, "finite"), (1e200, "squares overflow")])
def test_cells_that_cannot_be_squared_are_refused(rows, cell, message):
    broken = rows.copy()
    broken[1, 1] = cell
    with pytest.raises(ValueError, match=message):
        BHMC(**SHORT).fit(broken)


@pytest.mark.parametrize(
    ("settings", "factor", "words"),
    [
        (ONES, 0.01, "rows differ by less than this model takes for noise"),
        (ONES, 100.0, "cells are far larger than this model expects"),
        ({}, 0.01, None),
        ({}, 100.0, None),
        ({"likelihood": "gaussian"}, 100.0, None),
        ({"component_variance": 1e-4, "base_variance": 1e-2}, 0.01, None),
        ({**ONES, "scale": 0.01}, 0.01, None),
        ({**ONES, "component_variance": 0.1}, 1.0, None),
    ],
)
def test_rows_that_the_variances_do_not_fit_are_pointed_out(rows, caplog, settings, factor, words):
    model = bg.BHMC(depth=2, n_chains=1, n_tune=2, n_draws=4, random_state=0, **settings).fit(factor * rows)
    said = [record.getMessage() for record in caplog.records]
    assert [words in message for message in said] == ([True] if words else [])
    assert model.result_.details.get("advice") == (said[0] if words else None)
    trust = whether_to_trust(model.result_).removesuffix(f" {model.result_.details.get('check')}")
    assert trust.startswith(model.diagnostics_.verdict.sentence_for_readers)
    assert trust.endswith(said[0][1:] if words else model.diagnostics_.verdict.sentence_for_readers)


def test_projection_needs_complete_rows(rows):
    holes = rows.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="complete rows"):
        BHMC(n_pca=2, means="collapsed", **SHORT).fit(holes)


def test_levels_asked_for_must_be_there(fitted, rows):
    with pytest.raises(ValueError, match=r"levels are 1 \.\. 2, got 3"):
        fitted.predict_level_proba(rows, 3)
