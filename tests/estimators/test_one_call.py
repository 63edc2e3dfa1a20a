"""`cluster`: the model it chooses, what it says, and what it refuses."""

import logging
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.estimators.cluster_table import MOST_ROWS, SECONDS_OF_MOST_ROWS, plan_for, words_of_clusters

pytestmark = pytest.mark.unit


def blobs(n_each=40):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(c, 1, (n_each, 2)) for c in (0, 8)])


def test_a_small_table_is_clustered_by_bhc_and_three_lines_say_why(caplog):
    with caplog.at_level(logging.INFO, logger="bayesgrove"):
        model = bg.cluster(pd.DataFrame(blobs(), columns=["a", "b"]), random_state=3)
    assert isinstance(model, bg.BHC)
    assert model.random_state == 3
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 40))
    table, why, clusters = (caplog.messages[place] for place in (0, 1, -1))
    assert table == "80 rows x 2 columns (2 float), 0 missing cells"
    assert why.startswith("BHC: at most 5,000 rows")
    assert clusters == "2 clusters: the mixture components; every two are separated by a density valley"


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "time_limit", "name"),
    [
        (MOST_ROWS, 2, None, "BHC"),
        (MOST_ROWS + 1, 2, None, "RandomizedBHC"),
        (2_000, 1_000, None, "RandomizedBHC"),
        (MOST_ROWS, 2, SECONDS_OF_MOST_ROWS / 4, "RandomizedBHC"),
        (MOST_ROWS // 2, 2, SECONDS_OF_MOST_ROWS / 4, "BHC"),
    ],
)
def test_the_model_follows_from_size_and_time(n_rows, n_columns, time_limit, name):
    assert plan_for(np.zeros((n_rows, n_columns)), time_limit, {}).model.name == name


def test_rows_in_blocks_are_clustered_by_samples():
    plan = plan_for([blobs(), blobs()], None, {})
    assert plan.model.name == "RandomizedBHC"
    assert "blocks" in plan.reasons[1]


def test_a_sparse_matrix_is_clustered_as_counts():
    rng = np.random.default_rng(0)
    counts = np.vstack([rng.poisson(rates, (30, 4)) for rates in ([5, 5, 0.1, 0.1], [0.1, 0.1, 5, 5])])
    model = bg.cluster(sparse.csr_matrix(counts))
    assert isinstance(model.likelihood_, bg.likelihoods.Multinomial)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], 30)) > 0.9


def test_a_sentence_says_what_the_clusters_of_mixed_tables_are(caplog):
    frame = pd.DataFrame(blobs(), columns=["a", "b"]).assign(colour=["red", "blue"] * 40)
    frame.iloc[0, 0] = np.nan
    with caplog.at_level(logging.INFO, logger="bayesgrove"):
        model = bg.cluster(frame)
    assert caplog.messages[0] == "80 rows x 3 columns (2 float, 1 category), 1 missing cell"
    assert caplog.messages[-1] == "2 clusters: the mixture components; no two overlap"
    assert model.n_clusters_ == model.n_components_


@pytest.mark.parametrize(
    ("n_clusters", "n_components", "likelihood", "words"),
    [
        (1, 1, bg.likelihoods.GaussianFull(), "1 cluster: a single mixture component"),
        (
            1,
            3,
            bg.likelihoods.GaussianFull(),
            "1 cluster: the union of 3 mixture components that no density valley separates",
        ),
        (2, 3, bg.likelihoods.Columns([]), "2 clusters: unions of 3 mixture components that overlap"),
    ],
)
def test_the_sentence_about_clusters_counts_them(n_clusters, n_components, likelihood, words):
    model = SimpleNamespace(n_clusters_=n_clusters, n_components_=n_components, likelihood_=likelihood)
    assert words_of_clusters(model) == words


def test_settings_go_to_the_model_and_unknown_ones_are_refused():
    assert bg.cluster(blobs(20), cut=0.9, concentration=2.0).concentration == 2.0
    with pytest.raises(InvalidSettingError, match="BHC has no setting 'colour'; it has "):
        bg.cluster(blobs(20), colour=1)
    with pytest.raises(InvalidSettingError, match="time_limit"):
        bg.cluster(blobs(20), time_limit=0)


def test_trees_and_vectors_are_refused():
    with pytest.raises(InvalidTableError, match="got trees"):
        bg.cluster(bg.TreeData.from_newick(["(a,b);", "(c,d);"]))
    with pytest.raises(InvalidTableError, match="rows and columns"):
        bg.cluster(np.zeros(3))
