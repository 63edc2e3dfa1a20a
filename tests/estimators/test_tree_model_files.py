"""Files and reports of models of trees: read back alike, refused when tampered with, pages with typical trees."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from bayesgrove import InfiniteTreeHMMMixture, TreeHMM, TreeHMMMixture, load
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.io.model_file import read_model, write_model

sys.path.append(str(Path(__file__).parent))
from tree_trees import KINDS, documents, numbered_trees

pytestmark = pytest.mark.unit

QUICK = {"n_init": 1, "max_iter": 5, "random_state": 0}
CHAINS = {"n_states": 2, "n_chains": 2, "n_tune": 3, "n_draws": 6, "n_init": 1, "random_state": 0, "n_jobs": 1}


def make(name):
    if name == "chains":
        return InfiniteTreeHMMMixture(**CHAINS).fit(documents())
    if name == "vb":
        return InfiniteTreeHMMMixture(2, method="vb", prior_strength={"emission": 0.7}, **QUICK).fit(documents())
    if name == "numbers":
        return TreeHMMMixture(2, 1, **QUICK).fit(numbered_trees(generator(1)))
    if name == "mixture":
        return TreeHMMMixture(2, 2, 1.1, **QUICK).fit(documents())
    return TreeHMM(2, **QUICK).fit(documents())


@pytest.fixture(scope="module", params=["hmm", "mixture", "numbers", "vb", "chains"])
def fitted(request):
    return request.param, make(request.param)


@pytest.fixture(scope="module")
def chains():
    return make("chains")


def trees_of(name):
    return numbered_trees(generator(2)) if name == "numbers" else documents()


def test_a_saved_model_answers_alike(fitted, tmp_path):
    name, model = fitted
    model.save(tmp_path / "model.bg")
    read, data = load(tmp_path / "model.bg"), trees_of(name)
    assert type(read) is type(model)
    assert read.get_params() == model.get_params()
    for method in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(read, method)(data), getattr(model, method)(data))
    ours, theirs = (own.sample(5, random_state=1).forest for own in (model, read))
    np.testing.assert_array_equal(ours.parents, theirs.parents)
    np.testing.assert_array_equal(read.labels_, model.labels_)
    assert read.telling_labels() == model.telling_labels()
    assert [list(map(str, t.labels)) for t in read.typical_trees_] == [
        list(map(str, t.labels)) for t in model.typical_trees_
    ]
    assert [x.title for x in read.result_.exhibits] == [x.title for x in model.result_.exhibits]
    np.testing.assert_array_equal(read.tree_.parent, model.tree_.parent)
    assert read.tree_.leaf_labels == model.tree_.leaf_labels


def test_draws_and_the_hierarchy_are_kept(chains, tmp_path):
    chains.save(tmp_path / "model.bg")
    read = load(tmp_path / "model.bg")
    np.testing.assert_array_equal(read.posterior_.labels, chains.posterior_.labels)
    assert read.acceptance_ == chains.acceptance_
    np.testing.assert_array_equal(read.cut(1), chains.cut(1))
    assert read.diagnostics_.verdict == chains.diagnostics_.verdict
    with pytest.raises(InvalidSettingError, match="has no data to continue with"):
        read.continue_fit(3)


def test_a_model_made_from_tables_is_kept(tmp_path):
    model = TreeHMM.from_parameters(
        [[0.5, 0.5, 0.0], [0.3, 0.3, 0.4]], [[0.2, 0.8], [0.7, 0.3]], [1.0], [[[0.5, 0.5]] * 3]
    )
    model.save(tmp_path / "model.bg")
    read = load(tmp_path / "model.bg")
    np.testing.assert_array_equal(read.transition_, model.transition_)
    assert not hasattr(read, "labels_")


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weights", lambda a: a[:0], "there is no component"),
        ("initial", lambda a: a[:, 1:], "arrays do not fit together"),
        ("transition", put((0, 0, 0, 0), np.nan), "a number is not finite"),
        ("switching", put((0, 0), -0.5), "a probability is negative"),
        ("labels", lambda a: a[:-1], "labels do not fit the tree"),
        ("labels", put(0, 5), "labels are not 0, 1"),
        ("typical_parents", put(1, 5), "parent|tree"),
        ("typical_labels", put(0, 99), "label"),
        ("skeleton_positions", put(-1, 99), "position"),
        ("skeleton_clusters", put(0, 9), "skeletons are of no cluster"),
        ("counts_labels", lambda a: a[:, :-1], "arrays do not fit together"),
        ("draws", lambda a: a[:, :, :-1], "draws do not fit the labels"),
        ("draws", put((0, 0, 0), 99), "draws are no labels"),
        ("scalar_0", lambda a: a[:1], "arrays do not fit together"),
        ("kept_start", put(0, 1), "start does not rise from 0"),
        ("kept_emission", lambda a: a[:, :-1], "arrays do not fit together"),
        ("kept_initial", put((0, 0, 0), -1.0), "a probability is negative"),
        ("kept_share", put((0, 0), 0.5), "shares do not sum to 1"),
        ("components_item", lambda a: a[::-1].copy(), "leaf|leaves|item"),
    ],
)
def test_a_file_with_other_numbers_is_refused(chains, tmp_path, name, change, message):
    chains.save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    arrays = {**file.arrays, name: change(file.arrays[name].copy())}
    write_model(tmp_path / "bad.bg", file.kind, file.document, arrays)
    with pytest.raises(InvalidFileError, match=message):
        load(tmp_path / "bad.bg")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("vocabulary", ["a"], "labels do not fit"),
        ("strengths", ["x"] * 4, "not consistent"),
        ("concentration", "-0x1.0p+0", "a number is not positive"),
        ("n_states", 3, "arrays do not fit together"),
        ("scalars", ["a", "b"], "scalars are missing"),
        ("typical_texts", ["one"], "there is no typical document of each cluster"),
    ],
)
def test_a_document_with_other_numbers_is_refused(chains, tmp_path, key, value, message):
    chains.save(tmp_path / "model.bg")
    file = read_model(tmp_path / "model.bg")
    write_model(tmp_path / "bad.bg", file.kind, {**file.document, key: value}, file.arrays)
    with pytest.raises(InvalidFileError, match=message):
        load(tmp_path / "bad.bg")


def test_a_report_shows_typical_trees_and_classes(chains, tmp_path):
    page = chains.report(tmp_path / "page.html", classes=KINDS, title="Letters <and> books")
    text = page.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    titles = [exhibit["title"] for exhibit in data["exhibits"]]
    assert titles[:5] == [
        "Typical documents",
        "Typical trees",
        "Clusters and known classes",
        "Labels that set clusters apart",
        "Positions that set clusters apart",
    ]
    assert titles[-1] == "Outliers"
    assert data["exhibits"][0]["texts"] == chains.typical_documents_
    assert sorted(text[1:5] for text in chains.typical_documents_) == ["book", "lett"]
    chains.save(tmp_path / "model.bg")
    assert load(tmp_path / "model.bg").typical_documents_ == chains.typical_documents_
    assert "24 trees in" in data["summary"]["how_many"]
    assert {"nodes", "share of chapter", "child at 1"} <= {feature["name"] for feature in data["features"]}
    assert "_html_repr" not in chains._html_repr()
    assert "trees in" in chains._html_repr()
