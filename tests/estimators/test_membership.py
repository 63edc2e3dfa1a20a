"""Certainty of labels, membership probabilities as features, and clusters numbered by size, of every estimator."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesgrove as bg
from bayesgrove.estimators.registry import MODELS
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel
from reference.estimators import data_for, make, public_estimators

pytestmark = pytest.mark.unit

ALL = tuple(public_estimators())
NESTED = ("BHMC", "RBHMC")
"""Their labels follow the numbers of paths, which are by first appearance."""


@pytest.fixture(scope="module")
def fitted():
    made = {}

    def of(name):
        if name not in made:
            made[name] = make(name, n_jobs=1).fit(data_for(name))
        return made[name]

    return of


def unequal_rows():
    """Three far clusters; the smallest comes first in the table."""
    rng = np.random.default_rng(5)
    return np.vstack([rng.normal(centre, 1.0, (n, 3)) for centre, n in ((0.0, 10), (30.0, 15), (60.0, 25))])


@pytest.mark.parametrize("name", ALL)
def test_every_label_has_a_certainty(name, fitted, tmp_path):
    model = fitted(name)
    found = model.probabilities_
    assert found.shape == model.labels_.shape
    assert found.dtype == np.float64
    assert found.min() >= 0.0
    assert found.max() <= 1.0 + 1e-12
    assert found.mean() > 0.5  # the groups are far apart
    model.save(tmp_path / "model.bg")
    assert bg.load(tmp_path / "model.bg").probabilities_.tobytes() == found.tobytes()


@pytest.mark.parametrize("name", ALL)
def test_transform_gives_named_memberships(name, fitted):
    model, data = fitted(name), data_for(name)
    names = model.get_feature_names_out()
    plain = model.transform(data)
    assert plain.shape == (len(model.labels_), names.size)
    assert names[0] == "cluster0"
    np.testing.assert_allclose(plain.sum(axis=1), 1.0)
    assert np.array_equal(plain, model.predict_proba(data))


@pytest.mark.parametrize("name", [name for name in ALL if not MODELS[name].takes_trees])
def test_set_output_makes_frames(name, fitted):
    model, data = copy.copy(fitted(name)), data_for(name)
    frame = model.set_output(transform="pandas").transform(data)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    assert frame.columns[-1] == "new_cluster"


def test_names_of_other_columns_are_refused(fitted):
    model = fitted("BHC")
    assert model.get_feature_names_out(["x0", "x1", "x2"]).size == model.n_clusters_ + 1
    with pytest.raises(ValueError, match="length equal to number of features"):
        model.get_feature_names_out(["x0"])


def test_memberships_feed_a_pipeline():
    X = unequal_rows()
    steps = make_pipeline(StandardScaler(), bg.BHC("gaussian", random_state=0), StandardScaler())
    assert steps.fit_transform(X).shape == (50, 4)


def test_a_row_between_two_clusters_is_less_sure():
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(-4.0, 1.0, 60), rng.normal(4.0, 1.0, 60), [0.0]])[:, np.newaxis]
    for model in (
        bg.BHC(random_state=0),
        bg.NRMMixture(n_chains=2, n_tune=50, n_draws=200, random_state=0),
    ):
        found = model.fit(X).probabilities_
        assert found[-1] < found[:-1].min()
        assert np.median(found) > 0.95


def test_certainties_are_calibrated_on_overlapping_clusters():
    """Mean certainty is the share of rows in the right cluster, within sampling error.

    Six sets of 300 rows, of which 4.5 % lie on the wrong side: the share has a standard error of .005. False alarms:
    about 1e-4 at four of them.
    """
    known = bg.likelihoods.GaussianKnownVariance(1.0, 0.0, 25.0)
    certain, right = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 300)
        model = bg.BHC(known, clusters="components", random_state=0).fit(rng.normal(3.4 * truth, 1.0)[:, np.newaxis])
        assert model.n_clusters_ == 2
        agree = np.mean(model.labels_ == truth)
        certain.append(model.probabilities_.mean())
        right.append(max(agree, 1.0 - agree))
    assert abs(np.mean(certain) - np.mean(right)) < 0.02


def test_certainty_of_draws_is_the_mean_similarity(fitted):
    model = fitted("NRMMixture")
    similarity = model.cluster_posterior_.similarity()
    row, label = 3, model.labels_[3]
    others = np.setdiff1d(np.flatnonzero(model.labels_ == label), [row])
    assert model.probabilities_[row] == pytest.approx(similarity[row, others].mean())


@pytest.mark.parametrize("name", [name for name in ALL if not MODELS[name].takes_trees and name not in NESTED])
def test_the_largest_cluster_of_rows_is_number_0(name):
    model = make(name, n_jobs=1).fit(unequal_rows())
    sizes = np.bincount(model.labels_)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    assert np.array_equal(model.predict(unequal_rows()), model.labels_)


@pytest.mark.parametrize("name", [name for name in ALL if MODELS[name].takes_trees])
def test_the_largest_cluster_of_trees_is_number_0(name):
    texts = 3 * ["((a,b)c,d)e;"] + 9 * ["(x,(y,y)x,x)z;", "(x,(y,y)x)z;"] + ["((a,b)c)e;"]
    trees = bg.TreeData.from_newick(texts)
    model = make(name).fit(trees)
    sizes = np.bincount(model.labels_)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    assert np.array_equal(model.predict(trees), model.labels_)


def test_other_cuts_are_numbered_by_size_too():
    model = bg.BHC("gaussian", random_state=0).fit(unequal_rows())
    for labels in (model.cut(n_clusters=2), model.tree_.cut(n_clusters=3), model.component_labels_):
        assert np.array_equal(labels, by_size(relabel(labels)))


def test_clusters_of_equal_size_keep_the_order_of_their_first_items():
    assert by_size(np.array([3, 2, 1, 1, 0])).tolist() == [1, 2, 0, 0, 3]


def test_files_of_older_versions_have_no_certainty():
    model = make("BHC").fit(data_for("BHC"))
    del model._own_probabilities  # as `load` leaves it
    with pytest.raises(AttributeError, match="saved by an older version"):
        _ = model.probabilities_
