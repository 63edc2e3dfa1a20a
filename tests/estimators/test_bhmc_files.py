"""Runs, files and reports of `BHMC` and `RBHMC`: resumed, continued, saved, loaded, refused when tampered with."""

import json
import re
import zipfile

import numpy as np
import pytest

from bayesgrove import BHMC, RBHMC, load
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.inference.partial import partial_result
from bayesgrove.io.model_file import read_model, write_model

pytestmark = pytest.mark.unit

SHORT = {"depth": 2, "n_chains": 2, "n_tune": 7, "n_draws": 30, "random_state": 3, "n_jobs": 1}
PENALISED = {**SHORT, "penalty": "chance", "margin_scale": "rms", "C": 0.1, "margin": 0.2}
KINDS = [(BHMC, SHORT), (RBHMC, PENALISED), (RBHMC, {**PENALISED, "n_temperatures": 2})]
IDS = ["BHMC", "RBHMC", "coupled"]


@pytest.fixture(scope="module")
def rows():
    return generator(1).normal(0, 1.5, (16, 2))


def draws_of(model):
    posterior = model.posterior_
    return posterior.paths.tobytes(), {name: values.tobytes() for name, values in posterior.scalars.items()}


@pytest.mark.parametrize(("kind", "settings"), KINDS, ids=IDS)
def test_a_continued_or_resumed_run_is_a_longer_one(rows, tmp_path, kind, settings):
    whole = kind(**settings).fit(rows)
    continued = kind(**{**settings, "n_draws": 9}).fit(rows).continue_fit(21)
    assert draws_of(continued) == draws_of(whole)
    np.testing.assert_array_equal(continued.level_labels_, whole.level_labels_)
    np.testing.assert_array_equal(continued.predict_proba(rows), whole.predict_proba(rows))
    folder = tmp_path / "run"
    kind(**{**settings, "n_draws": 9, "run_dir": folder}).fit(rows)
    resumed = kind(**{**settings, "run_dir": folder, "resume": True}).fit(rows)
    assert draws_of(resumed) == draws_of(whole)
    assert resumed.acceptance_ == whole.acceptance_


@pytest.mark.parametrize(("kind", "settings"), KINDS, ids=IDS)
def test_draws_do_not_depend_on_the_number_of_jobs(rows, kind, settings):
    assert draws_of(kind(**{**settings, "n_jobs": 2}).fit(rows)) == draws_of(kind(**settings).fit(rows))


@pytest.mark.parametrize(
    ("kind", "settings", "change", "message"),
    [
        (BHMC, SHORT, {"depth": 3}, "depth"),
        (BHMC, SHORT, {"alpha": 0.5}, "numbers"),
        (BHMC, SHORT, {"center": True}, "data"),
        (BHMC, SHORT, {"sampler": "paper"}, "sampler"),
        (RBHMC, PENALISED, {"C": 0.2}, "penalty"),
        (RBHMC, PENALISED, {"margin_scale": None}, "data"),
    ],
    ids=str,
)
def test_a_run_with_other_settings_is_refused(rows, tmp_path, kind, settings, change, message):
    kind(**{**settings, "n_draws": 5, "run_dir": tmp_path / "run"}).fit(rows)
    with pytest.raises(InvalidFileError, match=message):
        kind(**{**settings, "run_dir": tmp_path / "run", "resume": True, **change}).fit(rows)


@pytest.fixture(
    scope="module",
    params=[(BHMC, {**SHORT, "n_pca": 1}), (BHMC, {**SHORT, "means": "collapsed"}), (RBHMC, PENALISED)],
    ids=["BHMC", "collapsed", "RBHMC"],
)
def fitted(request, rows):
    kind, settings = request.param
    return kind(**settings).fit(rows)


def test_a_saved_model_answers_alike(fitted, rows, tmp_path):
    fitted.save(tmp_path / "model.bg")
    read = load(tmp_path / "model.bg")
    assert type(read) is type(fitted)
    np.testing.assert_array_equal(read.level_labels_, fitted.level_labels_)
    np.testing.assert_array_equal(read.predict_proba(rows), fitted.predict_proba(rows))
    np.testing.assert_array_equal(read.predict_paths(rows), fitted.predict_paths(rows))
    np.testing.assert_array_equal(read.score_samples(rows), fitted.score_samples(rows))
    np.testing.assert_array_equal(read.sample(4, random_state=1), fitted.sample(4, random_state=1))
    assert draws_of(read) == draws_of(fitted)
    assert read.scores_ == fitted.scores_
    assert read.selected_draw_ == fitted.selected_draw_
    assert read.get_params() == fitted.get_params()
    assert [exhibit.title for exhibit in read.result_.exhibits] == [x.title for x in fitted.result_.exhibits]
    with pytest.raises(InvalidSettingError, match="has no data to continue with"):
        read.continue_fit(3)


def changed(arrays, name, change):
    array = arrays[name].copy()
    return {**arrays, name: change(array)}


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("paths", lambda a: a[:, :, :-1], "draws do not fit the labels"),
        ("paths", put((0, 0, 0, 0), 99), "draws are no paths"),
        ("components", lambda a: a[:1], "components do not fit"),
        ("levels", lambda a: a[:, ::-1].copy(), "levels are no paths|labels are not those"),
        ("levels", lambda a: a.astype(np.int32), "levels do not fit"),
        ("scalar_0", lambda a: a[:1], "arrays do not fit together"),
        ("kept_node_start", put(0, 1), "starts do not rise from 0"),
        ("kept_parent", put(1, 5), "parents do not come first"),
        ("kept_weight", lambda a: a[:-1], "weights do not fit"),
        ("kept_size", put(0, 0.0), "a node is empty"),
        ("kept_share", put((0, 0), 0.5), "shares do not sum to 1"),
        ("kept_values", put((0, 0), np.nan), "a number is not finite"),
        ("kept_discriminants", lambda a: np.zeros((len(a), 7)), "discriminants do not fit"),
        ("centre", lambda a: a[:-1], "the preparation does not fit"),
    ],
)
def test_a_file_with_other_numbers_is_refused(fitted, tmp_path, name, change, message):
    fitted.save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    write_model(tmp_path / "bad.bg", file.kind, file.document, changed(file.arrays, name, change))
    with pytest.raises(InvalidFileError, match=message):
        load(tmp_path / "bad.bg")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("scale", "0x0.0p+0", "a number is not positive"), ("numbers", ["nan"] * 5, "a number is not finite")],
)
def test_a_document_with_other_numbers_is_refused(fitted, tmp_path, key, value, message):
    fitted.save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    write_model(tmp_path / "bad.bg", file.kind, {**file.document, key: value}, file.arrays)
    with pytest.raises(InvalidFileError, match=message):
        load(tmp_path / "bad.bg")


def test_a_penalty_without_scale_is_refused(rows, tmp_path):
    RBHMC(**{**PENALISED, "n_draws": 5}).fit(rows).save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    numbers = {**file.document["extra_numbers"], "margin_norm": "-0x1.0p+0"}
    write_model(tmp_path / "bad.bg", file.kind, {**file.document, "extra_numbers": numbers}, file.arrays)
    with pytest.raises(InvalidFileError, match="a number of the penalty is not positive"):
        load(tmp_path / "bad.bg")


def page_data(path):
    """What the page was given, as JSON."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_the_report_shows_the_hierarchy_level_by_level(fitted, rows, tmp_path):
    classes = np.repeat(["a", "b"], 8)
    page = fitted.report(tmp_path / "page.html", classes=classes, images=np.random.default_rng(0).random((16, 3, 3)))
    titles = [exhibit["title"] for exhibit in page_data(page)["exhibits"]]
    assert titles[:4] == [
        "The hierarchy, level by level",
        "Agreement with known classes",
        "Levels",
        "Nodes of the hierarchy",
    ]
    assert "CDL by draw" in titles
    with pytest.raises(ValueError, match="classes are one per row, got 3 for 16"):
        fitted.report(tmp_path / "page.html", classes=[1, 2, 3])


def test_draws_so_far_have_a_tree(rows, tmp_path):
    BHMC(**{**SHORT, "run_dir": tmp_path / "run"}).fit(rows)
    found = partial_result(tmp_path / "run")
    assert found.model == "BHMC"
    assert "credibility" in found.tree.columns
    assert "Levels" in [exhibit.title for exhibit in found.exhibits]


def test_files_hold_no_pickles(fitted, tmp_path):
    fitted.save(tmp_path / "model.bg")
    with zipfile.ZipFile(tmp_path / "model.bg") as archive:
        assert not [name for name in archive.namelist() if "pickle" in name or name.endswith(".pkl")]
