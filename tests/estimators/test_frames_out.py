"""Summaries come as frames of the library that the table came in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesgrove as bg
from reference.estimators import data_for, make

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    values = np.vstack([rng.normal(centre, 1.0, (n, 2)) for centre, n in ((0.0, 12), (9.0, 30))])
    return pd.DataFrame(values, columns=["width", "height"])


@pytest.mark.parametrize(("convert", "kind"), [(lambda frame: frame, pd.DataFrame), (pl.from_pandas, pl.DataFrame)])
def test_frames_follow_the_input(frame, convert, kind):
    model = bg.BHC("gaussian", search="greedy", random_state=0).fit(convert(frame))
    for found in (model.cluster_summary(), model.node_summary(), model.columns_):
        assert isinstance(found, kind)
    clusters = model.cluster_summary()
    assert list(clusters["cluster"]) == [0, 1]
    assert list(clusters["size"]) == [30, 12]
    assert sum(clusters["share"]) == pytest.approx(1.0)
    certain = [model.probabilities_[model.labels_ == k].mean() for k in (0, 1)]
    np.testing.assert_allclose(np.asarray(clusters["certainty"]), certain)
    assert "height" in clusters["differs_by"][0]
    assert "overall" in clusters["differs_by"][0]
    nodes = model.node_summary()
    assert nodes["size"][0] == 42
    assert {nodes["left_size"][0], nodes["right_size"][0]} == {30, 12}
    assert "width" in nodes["split_by"][0]


def test_trees_have_a_summary_too():
    model = make("TreeHMMMixture").fit(data_for("TreeHMMMixture"))
    assert model.cluster_summary()["size"].sum() == model.labels_.size


def test_a_loaded_model_gives_pandas(frame, tmp_path):
    bg.BHC("gaussian", search="greedy").fit(pl.from_pandas(frame)).save(tmp_path / "model.bg")
    assert isinstance(bg.load(tmp_path / "model.bg").cluster_summary(), pd.DataFrame)
