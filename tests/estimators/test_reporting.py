"""Reports of fitted and of loaded models, what notebooks show, and files whose description was tampered with."""

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest

from bayesgrove import BHC, CrossCat, IncrementalBHC, NRMMixture, RandomizedBHC, load
from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.rng import generator
from bayesgrove.estimators.layouts import DESCRIPTION, MOST_KEPT_CELLS
from bayesgrove.inference.partial import partial_result, posterior_so_far
from bayesgrove.inference.status import read_chains
from bayesgrove.inference.trace import Draw, MemoryTrace
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.report.document import report_document

pytestmark = pytest.mark.unit

NASTY = "<script>alert(1)</script>"
MODELS = (
    BHC(random_state=0),
    RandomizedBHC(random_state=0),
    IncrementalBHC(random_state=0),
    NRMMixture(n_chains=2, n_tune=10, n_draws=40, random_state=0),
)


@pytest.fixture(scope="module")
def frame():
    """Two groups of rows: a number in large units, a category, a count with holes."""
    rng = generator(4)
    group = np.arange(60) % 2
    return pd.DataFrame(
        {
            "income": 40_000.0 + 9_000.0 * group + rng.normal(0, 500, 60),
            NASTY: pd.Categorical(np.where(group == 0, "plain", NASTY)),
            "score": np.where(rng.random(60) < 0.2, np.nan, group * 5 + rng.normal(0, 1, 60)),
        }
    )


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def fitted(request, frame):
    return request.param.fit(frame)


def data_of(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1])


def test_every_estimator_reports_in_the_datas_own_units(fitted, frame, tmp_path):
    page = fitted.report(tmp_path / "page.html", title="Mine")
    assert page == tmp_path / "page.html"
    assert "<script>alert" not in page.read_text()
    data = data_of(page)
    assert (data["title"], data["model"]) == ("Mine", type(fitted).__name__)
    assert data["summary"]["n_clusters"] == fitted.n_clusters_
    overall = {feature["name"]: feature["overall"] for feature in data["features"]}
    assert overall["income"] == pytest.approx(frame["income"].mean())
    assert overall[f"{NASTY} = plain"] == pytest.approx(0.5)
    assert overall["score"] == pytest.approx(frame["score"].mean())
    assert (data["chains"] is not None) == isinstance(fitted, NRMMixture)


def test_profiles_are_means_of_the_labels(fitted, frame):
    described = fitted.result_.description
    names = [feature.name for feature in described.features]
    for name in ("income", "score"):
        means = frame[name].groupby(fitted.labels_).mean()
        np.testing.assert_allclose(described.clusters.mean[:, names.index(name)], means, rtol=1e-9)


def test_a_model_from_a_file_reports_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model.bg")
    loaded = load(tmp_path / "model.bg")
    first, second = (report_document(model.result_) for model in (fitted, loaded))
    assert json.dumps(first) == json.dumps(second)


def test_notebooks_show_the_answers_and_the_tree(fitted):
    shown = fitted._repr_html_()
    assert "<svg" in shown
    assert f"60 rows in {fitted.n_clusters_} cluster" in shown
    assert fitted._repr_mimebundle_()["text/html"].count("<svg") >= 1
    assert "rows in" not in type(fitted)()._repr_html_()


def test_names_in_notebooks_are_escaped(fitted):
    named = dataclasses.replace(fitted.tree_, leaf_labels=tuple(f"{NASTY}{i}" for i in range(60)))
    assert "<script>" not in named._repr_html_()


def test_a_posterior_in_a_notebook_has_bars():
    model = MODELS[-1]
    shown = model.posterior_._repr_html_()
    assert "2 chains of 40 draws, 60 items" in shown
    counts = np.unique([np.unique(draw).size for draw in model.posterior_.labels.reshape(-1, 60)])
    assert f"<td>{counts[0]}</td>" in shown


@pytest.fixture(scope="module")
def saved(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model.bg"
    BHC(random_state=0).fit(frame).save(path)
    return read_model(path)


DAMAGE = {
    "rows described are none of the tree's": ("described_rows", lambda rows: rows + 60),
    "columns described are none of the table's": ("described_columns", lambda columns: columns - 1),
    "cells described do not fit": ("described_cells", lambda cells: cells[:-1].copy()),
    "nodes described are none of the tree's": ("described_node_node", lambda nodes: nodes + 10_000),
    "features described are unknown": ("described_node_feature", lambda features: features + 100),
    "profiles do not fit together": ("described_cluster_low", lambda low: low[:, :-1].copy()),
}


@pytest.mark.parametrize("words", DAMAGE)
def test_a_description_that_does_not_fit_is_refused(words, saved, tmp_path):
    name, change = DAMAGE[words]
    arrays = {**saved.arrays, name: change(saved.arrays[name])}
    write_model(tmp_path / "bad.bg", "BHC", saved.document, arrays)
    with pytest.raises(InvalidFileError, match=words):
        load(tmp_path / "bad.bg")


def test_a_feature_without_a_column_is_refused(saved, tmp_path):
    document = json.loads(json.dumps(saved.document))
    document["description"]["features"][0][1] = 99
    write_model(tmp_path / "bad.bg", "BHC", document, saved.arrays)
    with pytest.raises(InvalidFileError, match="features have no column"):
        load(tmp_path / "bad.bg")


@pytest.mark.parametrize("kinds", [[], ["float"], ["number"] * 60])
def test_kinds_of_columns_that_do_not_fit_are_refused(kinds, saved, tmp_path):
    document = json.loads(json.dumps(saved.document))
    document["description"]["kinds"] = kinds
    write_model(tmp_path / "bad.bg", "BHC", document, saved.arrays)
    with pytest.raises(InvalidFileError, match="kinds of columns described are unknown"):
        load(tmp_path / "bad.bg")


def test_a_file_of_an_older_version_has_no_description(saved, tmp_path):
    document = {name: part for name, part in saved.document.items() if name != "description"}
    arrays = {name: array for name, array in saved.arrays.items() if not name.startswith("described_")}
    write_model(tmp_path / "old.bg", "BHC", document, arrays)
    model = load(tmp_path / "old.bg")
    assert model.result_.description is None
    assert data_of(model.report(tmp_path / "page.html"))["features"] is None


def test_files_keep_no_more_than_a_bounded_profile(frame):
    described = BHC(random_state=0).fit(frame).result_.description
    wide = np.zeros((2_000, 1_000))
    clusters = dataclasses.replace(
        described.clusters, features=described.features[:1] * 1_000, mean=wide, low=wide, high=wide, telling=wide
    )
    _, arrays = DESCRIPTION.write("description", dataclasses.replace(described, clusters=clusters))
    assert arrays["described_cluster_mean"].size == MOST_KEPT_CELLS
    assert DESCRIPTION.write("description", None) == ({}, {})


def test_draws_so_far_make_a_result(frame, tmp_path):
    model = NRMMixture(n_chains=2, n_tune=5, n_draws=30, random_state=0, run_dir=tmp_path / "run").fit(frame)
    result = partial_result(tmp_path / "run")
    np.testing.assert_array_equal(result.posterior.labels, model.posterior_.labels)
    assert result.diagnostics.verdict == model.diagnostics_.verdict
    assert result.tree.n_leaves == 60
    assert result.description is None
    assert partial_result(tmp_path / "run", leaf_labels=tuple(f"r{i}" for i in range(60))).tree.label(3) == "r3"


@pytest.mark.parametrize("names", [(), ("income", NASTY, "score")])
def test_draws_of_views_so_far_make_a_result(frame, tmp_path, names):
    model = CrossCat(n_chains=2, n_tune=5, n_draws=30, random_state=0, run_dir=tmp_path / "run").fit(frame)
    result = partial_result(tmp_path / "run", feature_names=names)
    np.testing.assert_array_equal(result.posterior.view_labels, model.posterior_.view_labels)
    assert sorted(np.concatenate([view.columns for view in result.views]).tolist()) == [0, 1, 2]
    assert result.column_tree.n_leaves == 3
    assert result.tree.n_leaves == result.labels.size == 60
    assert report_document(result)["model"] == "CrossCat"


def test_chains_far_behind_are_left_out(frame, tmp_path):
    NRMMixture(n_chains=2, n_tune=5, n_draws=30, random_state=0, run_dir=tmp_path / "run").fit(frame)
    first, second = read_chains(tmp_path / "run")
    (late, _) = read_chains(tmp_path / "run", n_draws=10)
    assert posterior_so_far([first, second], {}).labels.shape == (2, 30, 60)
    assert posterior_so_far([first, late], {}).labels.shape == (1, 30, 60)
    (half, _) = read_chains(tmp_path / "run", n_draws=20)
    assert posterior_so_far([first, half], {}).labels.shape == (2, 20, 60)
    assert posterior_so_far([MemoryTrace(5)], {}) is None


@pytest.mark.parametrize(
    "chains",
    [
        [({"places": np.zeros(3, np.int64)}, {"log_joint": 0.0})],
        [({"labels": np.zeros(3, np.int64)}, {"log_joint": 0.0}), ({"paths": np.zeros((3, 2), np.int32)}, {})],
        [({"labels": np.zeros(3, np.int64)}, {"log_joint": 0.0}), ({"labels": np.zeros(3, np.int64)}, {"u": 1.0})],
        [({"labels": np.zeros(3, np.int64)}, {}), ({"labels": np.zeros(4, np.int64)}, {})],
        [({"view_labels": np.zeros(3, np.int64)}, {})],
    ],
)
def test_chains_of_other_draws_are_damaged(chains):
    traces = []
    for arrays, scalars in chains:
        traces.append(MemoryTrace(1))
        traces[-1].append(Draw(0, arrays, scalars))
    with pytest.raises(InvalidFileError, match=r"the run is damaged: its chains hold \("):
        posterior_so_far(traces, {})


@pytest.mark.parametrize("second", [[2, 2], [1, 2]], ids=["another number", "changing"])
def test_chains_may_have_different_numbers_of_views(second):
    traces = []
    for views in ([1, 1], second):
        traces.append(MemoryTrace(2))
        for number, n_views in enumerate(views):
            columns = np.array([0, 0, n_views - 1])
            rows = np.zeros((n_views, 5), np.int64)
            traces[-1].append(Draw(number, {"view_labels": columns, "row_labels": rows}, {"log_joint": 0.0}))
    assert posterior_so_far(traces, {}).view_labels.shape == (2, 2, 3)
